/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * format.h: compilers from a packed format to entries.
 *
 * A format module runs while a dataset is indexed, in the indexer's process,
 * and never while it is read. It looks at a window of a source and appends
 * what it finds to a log of entries; its libraries' types stay in its file.
 *
 * docs/HACKING.md, "Add a format", has the files that a new format needs.
 */
#ifndef GRANARY_FORMAT_FORMAT_H
#define GRANARY_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "build/entries.h"
#include "build/samples.h"
#include "place/format_options.h"
#include "source/source.h"

enum {
	FORMAT_HEAD_BYTES = 64 * 1024, /* what a probe may look at */
	FORMAT_TAIL_BYTES = 66 * 1024,
};

struct findings;

/* How the rows of a dataset without file names become files. */
struct row_options {
	const char *labels; /* labels=NAME: the array or column that has them; else NULL */
	const char *split;  /* which part of the dataset this file is, where it is one of
			       several whose names say so ("train"); else NULL */
	bool tree;          /* view=tree: labels are no matter */
	bool arrays;        /* view=arrays: every array as .npy files, none as images */
};

/* One packed file, or one inside another: what a scan is given. */
struct scan {
	const struct source *source;
	uint32_t source_number;
	uint64_t base;             /* the window: bytes from the source's start */
	uint64_t length;
	const char *label;         /* for messages: path, or path and member */
	struct entries *entries;   /* appended to; owned by the caller */
	struct samples *samples;   /* appended to; owned by the caller */

	const struct row_options *rows;        /* of formats of rows */
	const struct format_options *options; /* of single formats: see format_options.def */

	/* A file of the set whose name pairs with this one's ("x" and "y"), or NULL: it may
	   hold the labels of this one's rows; or this one those of its, where `labels_of` says
	   so, and then nothing may be to show. */
	const struct source *labels_in;
	const char *labels_of; /* its own name */

	/* The index.json of this file's directory, if it is in the set before it, or NULL. */
	const struct source *listed_in;

	bool alone; /* nothing else is scanned meanwhile: it may use several threads */

	struct findings *findings; /* for the user (build/findings.h); may be NULL */

	/* The format's description of this file for `granary info`, if any:
	   "zstd, blocks of 128 KiB". */
	char detail[96];

	/* An Arrow file of numbers: the rows of the source before it that are shown, in this
	   order. Freed by the indexer. */
	bool selects;
	VEC(uint64_t) selection;

	bool unended; /* it has no mark at its end: more may have followed */

	bool opens_npz; /* a member .npz may be a packed file, too */

	/* Contents of which the format has a checksum, and a read will not compare it, are
	   read now. A mismatch is -EBADMSG. */
	bool compares;

	/*
	 * Offers the window [base, base + length) of the same source as a packed
	 * file of its own, named `member`. Returns the log that its entries will
	 * be in (owned by whoever puts it into an ENTRY_NESTED), or NULL where it
	 * is not wanted or not recognised, and then it is a plain file.
	 */
	struct entries *(*offer)(struct scan *scan, const char *member,
				 uint64_t base, uint64_t length);

	/*
	 * Opens the compressed stream in the window [base, base + length) of the same source,
	 * which is deflate or begins with a signature, to be entered in its middle. Its bytes
	 * are decoded as they are read from what is returned, once, in order; extents lie on
	 * the source *number. All of it must be read. NULL: it cannot be read so. May be NULL.
	 */
	const struct source *(*open_stream)(struct scan *scan, bool deflate, uint64_t base,
					    uint64_t length, uint32_t *number);

	/* One more entry has been passed, and so many bytes of the window. May be
	   NULL. If `alone`, several threads may call it. */
	void (*advance)(struct scan *scan, uint64_t bytes);
	void *indexer;             /* the indexer's own, for both */
};

struct format {
	const char *name; /* "tar" */

	/* A compressed stream is scanned while it is decoded: the window's length may be
	   more than there is. Others are scanned once all of it has been decoded. */
	bool in_order;
	bool nests;              /* one inside another is a directory there */
	bool rows;               /* it holds rows or arrays, not files with names */
	bool appends;            /* a name may come again, and its last entry counts */

	/* How sure: 0 not at all, 100 beyond doubt. `head` is the first n bytes. */
	int (*probe)(const unsigned char *head, size_t n);

	/* The same by the last n bytes of a file whose head nobody knows; NULL: never. */
	int (*probe_end)(const unsigned char *tail, size_t n);

	/*
	 * Reads the window through. A damaged window is -EBADMSG with a sentence
	 * that names the label, the offset in the file, and a remedy.
	 */
	int (*scan)(struct scan *scan, struct error *e);

	/* In place of `scan`: the library that this build lacks, and how to get it. */
	const char *needs;
};

/* Reads the window through, or says that this build cannot (-EBADMSG). */
int format_scan(const struct format *format, struct scan *scan, struct error *e);
/* Errors that every format may have, of the file that `label` names. */
int format_no_memory(const char *label, struct error *e);
int format_unreadable(const char *label, int err, struct error *e);

/* "'x' WHAT", of the dataset. -EBADMSG. */
int format_refuse(const struct scan *scan, struct error *e, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The most likely format of a head, or NULL. */
const struct format *format_probe(const unsigned char *head, size_t n);

/* May a member be offered: does its path end in the suffix of a packed file? */
bool format_may_nest(const struct scan *scan, const char *path);

/*
 * Makes the file `entry`, whose bytes begin at `offset` of the source, a packed file inside
 * if it may be one, and begins like one.
 */
void format_offer_nested(struct scan *scan, struct entry *entry, uint64_t offset);

/* Its word in formats.def: "HDF5". */
const char *format_word(const struct format *format);

/* The format of that name, or NULL. */
const struct format *format_by_name(const char *name);

/*
 * The format of a window, or an error (-EBADMSG, ERROR_DATASET) of one
 * sentence: what was seen (a JPEG, a gzip stream, ...) and what is supported,
 * with the command that helps where there is one.
 */
int format_of_window(const struct source *source, uint64_t base, uint64_t length,
		     const char *label, const struct format **out,
		     struct error *e);

/*
 * Is the window what tar, Python and libarchive write where there is no member: zeros, up
 * to a record of 20 blocks? 1, 0, or a negative errno.
 */
int format_is_blank_tar(const struct source *source, uint64_t base, uint64_t length);

#endif
