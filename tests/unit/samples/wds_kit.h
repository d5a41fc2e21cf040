/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wds_kit.h: shards of WebDataset from tables of members, and what becomes of them. */
#ifndef GRANARY_TESTS_UNIT_INDEXER_WDS_KIT_H
#define GRANARY_TESTS_UNIT_INDEXER_WDS_KIT_H

#include "unit.h"

#include "build/findings.h"
#include "place/format_options.h"
#include "samples/webdataset.h"

struct member {
	const char *name;
	const char *bytes;
	size_t size;
	char type; /* 0: a file */
};

#define FILE_OF(name, text) { name, text, sizeof(text) - 1, 0 }

void kit_write_tar(const char *path, const struct member *members, size_t n);

/* A shard, scanned and taken apart. */
struct shard {
	struct source *source;
	struct scan scan;
	struct findings *told; /* of its scan */
	struct wds_findings findings;
	int result;
	struct error error;
};

struct shard kit_take(const char *path, const struct webdataset_config *wanted);
void kit_drop(struct shard *shard);

/*
 * SPLIT/CLASS/NAME=BYTES of all samples, -NAME=BYTES of what remains, between spaces; the
 * caller frees it.
 */
char *kit_text_of(const struct shard *shard);

/* Of a shard.tar of these members. What it says must hold `word`, or be nothing. */
void kit_expect(const struct member *members, size_t n, struct webdataset_config config,
		const char *wanted, const char *word);

#define EXPECT(members, config, wanted, word)                                          \
	kit_expect(members, COUNT(members), (struct webdataset_config)config, wanted, word)
#define COMMA ,
#define PLAIN { .sidecars = SIDECARS_SHOW }

#endif
