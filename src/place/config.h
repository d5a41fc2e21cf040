/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * config.h: the options of a dataset, for both programs.
 */
#ifndef GRANARY_PLACE_CONFIG_H
#define GRANARY_PLACE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"
#include "place/format_options.h"

enum { NESTED_AUTO, NESTED_OFF, NESTED_NPZ };
enum { DATASET_VIEW_AUTO, DATASET_VIEW_TREE, DATASET_VIEW_CLASS, DATASET_VIEW_ARRAYS };
enum { MISSING_ERROR, MISSING_SKIP };
enum { CHECKSUMS_ON, CHECKSUMS_OFF };

struct dataset_config {
	char *index;    /* NULL or "auto", "off", "require", or a path */
	int missing;    /* MISSING_ */
	int duplicates; /* enum duplicates */
	int nested;     /* NESTED_ */
	int view;       /* DATASET_VIEW_ */
	char *classes;  /* the file of the classes' names, or NULL */
	char *names;    /* "FILE:FILE", the samples' names, or NULL */
	int checksums;  /* CHECKSUMS_ */
	char *spool;    /* NULL, or "DIR", "auto", "keep:DIR": place/spool.h */
	struct format_options formats;
	char *subdir;   /* what to show as the root, or NULL */
	uint64_t base;  /* where the packed file begins in each source */
	bool tells_all; /* no option: an indexer also tells findings that are usual */
};

/* The table for options_apply. */
extern const struct option_spec dataset_options[];

/* 0, or -EINVAL and *e: values contradict each other. */
int dataset_config_check(const struct dataset_config *config, struct error *e);
void dataset_config_free(struct dataset_config *config);

/* Has -o index= (default "auto") this value? */
bool dataset_index_is(const struct dataset_config *config, const char *word);

/* The path that the user named with -o index=, or NULL. */
const char *dataset_index_path(const struct dataset_config *config);

enum { CONFIG_TEXT_BYTES = 256 };

/*
 * The options that shape the tree of `sources` packed files: an index fits only the same
 * ones. Long values are hashed; place/map_files.h adds the contents of the files of
 * classes= and names=. Returns `out`, of CONFIG_TEXT_BYTES.
 */
char *dataset_config_shape(const struct dataset_config *config, uint32_t sources,
			   char *out);

/* The same as a part of a file's name, without defaults: ",nested=off", or "". */
char *dataset_config_variant(const struct dataset_config *config, uint32_t sources,
			     char *out);

/*
 * The same in the syntax of -o, in full: "nested=off,labels=y". The caller frees it;
 * NULL: out of memory.
 */
char *dataset_config_words(const struct dataset_config *config, uint32_t sources);

#endif
