/* SPDX-License-Identifier: GPL-3.0-or-later */
/* squashfs_run.h: one scan of a squashfs image. */
#ifndef GRANARY_TESTS_SQUASHFS_RUN_H
#define GRANARY_TESTS_SQUASHFS_RUN_H

#include "unit.h"

#include "format/format.h"

enum { SOURCE_NUMBER = 3 };

struct run {
	struct scan scan;
	struct source *source;
	struct entries *entries;
	struct error e;
	uint64_t position;
	int err;
};

static inline void advance(struct scan *scan, uint64_t bytes)
{
	struct run *run =
		(struct run *)(void *)((char *)scan - offsetof(struct run, scan));

	run->position += bytes;
}

static inline void run_prepare(struct run *run, const char *path)
{
	memset(run, 0, sizeof(*run));
	assert_int_equal(source_open(path, &run->source, NULL), 0);
	run->entries = entries_new();
	assert_non_null(run->entries);
	run->scan = (struct scan){ .source = run->source,
				  .source_number = SOURCE_NUMBER,
				  .length = source_size(run->source),
				  .label = path,
				  .entries = run->entries,
				  .advance = advance };
}

static inline void run_scan(struct run *run, const char *path)
{
	run_prepare(run, path);
	run->err = format_by_name("squashfs")->scan(&run->scan, &run->e);
	if (run->err)
		print_message("# %s\n", run->e.text);
}

static inline void run_end(struct run *run)
{
	entries_free(run->entries);
	source_close(run->source);
}

#endif
