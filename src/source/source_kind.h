/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_kind.h: the operations of a kind of source. Private to source/ and stream/.
 *
 * A kind is one file, and a line in the table of source.c. Its struct begins with a
 * struct source. source.c checks ranges, counts and times; a kind only fetches bytes.
 * local_file.c is the first kind.
 *
 * Threads: pread, hint, next_data and hand_over may be called by any number at once.
 */
#ifndef GRANARY_SOURCE_SOURCE_KIND_H
#define GRANARY_SOURCE_SOURCE_KIND_H

#include "source/source.h"

/* Any operation but pread may be NULL. */
struct source_ops {
	/*
	 * Opens the file of a name: 0, or a negative errno and *e. `owns`: is the name
	 * one of this kind? The table's last kind owns all remaining names. `directory`: as
	 * of source_open_below.
	 */
	bool (*owns)(const char *path);
	int (*open)(const char *path, size_t directory, struct source **out,
		    struct error *e);

	/*
	 * Reads exactly `length` bytes at *at, which lie within the source: 0 or a
	 * negative errno. Repeats temporary failures. *at advances; after an error it is
	 * the place of the error. `again`: the bytes will be read once more, so they stay
	 * where they can be had from at once.
	 */
	int (*pread)(const struct source *source, void *buffer, size_t length, uint64_t *at,
		     bool again);

	/* NULL: hints change nothing. */
	void (*hint)(const struct source *source, enum source_hint hint, uint64_t at,
		     uint64_t length);

	/*
	 * Reads the identity of the source, without samples; and the samples, of which 0 are
	 * unknown. NULL: source_identify_ends, and source_sample_pages.
	 */
	int (*identify)(const struct source *source, struct identity *out);
	uint64_t (*sample)(const struct source *source, unsigned samples);

	/* For source_next_data; NULL: no holes. */
	uint64_t (*next_data)(const struct source *source, uint64_t at);

	/* The descriptor; NULL: there is none. */
	int (*hand_over)(const struct source *source);

	/*
	 * Frees the kind's own members, not the struct, nor the members of struct source.
	 */
	void (*close)(struct source *source);
};

/* Constant from its opening to source_close. */
struct source {
	uint64_t magic; /* HANDLE_SOURCE */
	const struct source_ops *ops;
	char *path;     /* owned */
	char *place;    /* owned: absolute, without links; NULL: unknown */
	struct source_info info; /* filled in by the kind */
	bool listed;    /* source_is_listed */
};

/*
 * Allocates a kind's struct of `size` bytes, all zero except the source at its begin.
 * NULL: out of memory, and *e. source_close frees it.
 */
void *source_new(const struct source_ops *ops, size_t size, const char *path,
		 struct error *e);

/* An identity by size, time and bytes that are read: those of the ends, and samples. */
int source_identify_ends(const struct source *source, struct identity *out);
uint64_t source_sample_pages(const struct source *source, unsigned samples);

#endif
