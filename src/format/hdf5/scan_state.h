/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_state.h: one scan of an HDF5 file, as the files hdf5*.c share it: where the
 * walk is, what it has seen, and what it says when it cannot go on.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_SCAN_STATE_H
#define GRANARY_FORMAT_HDF5_SCAN_STATE_H

#include "base/idmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "format/format.h"
#include "format/hdf5/driver.h"
#include "format/hdf5/heap.h"

/* An object that other links may lead to. */
struct hdf5_seen {
	haddr_t address;
	size_t entry; /* its number in the log; SIZE_MAX: a group, or rows */
};

/* A group that holds nothing to show. */
struct hdf5_empty {
	char *path; /* owned */
	time_t mtime;
};

struct hdf5_walk {
	struct scan *scan;
	struct error *e;
	struct hdf5_file file;
	struct hdf5_heap heap;
	struct text path;          /* "/train/images" */
	const char *beside;        /* a neighbour of it that is looked at, or NULL */
	unsigned depth;            /* groups above what the path names */
	VEC(struct entry_extent) extents; /* of the file at hand */
	VEC(struct hdf5_empty) empty;
	bool labelled;             /* some samples have classes */
	struct hdf5_walk *partner; /* of the file that scan->labels_in is, once it is open */
	bool partners;             /* labels of the file that scan->labels_of names are here */
	bool labels_found;         /* what the option labels=NAME says */
	VEC(struct hdf5_seen) seen;
	struct idmap seen_by_address;

	/* The budgets that are left of this file, for all of its datasets together */
	uint64_t stored_budget;  /* bytes of chunks, and those that headers hold */
	uint64_t row_budget;     /* rows */
	uint64_t decoded_budget; /* bytes of tables, labels and names, each time anew */
	uint64_t missing_budget; /* chunks that are not stored */
	uint64_t fill_budget;    /* bytes of fill values other than zeros */

	struct entry_extent fills[256]; /* 64 KiB of a byte; length 0: not made yet */
	uint64_t path_bytes;       /* of all paths and targets: see limits.h */
	uint64_t links;            /* that have been followed, in all groups */
	uint64_t files;            /* what can be shown: files, links, arrays of rows */
	uint64_t arrays;           /* of rows */
	uint64_t npy;              /* files that are arrays */
	uint64_t left_out;
	uint64_t advanced;         /* bytes of the window that were said to be passed */
	char left_out_names[1000];
	char candidates[400];      /* what could be labels */
	char unfit[500];           /* why what labels=NAME says does not label its rows */
	char arrays_text[78];      /* for scan->detail */
	int err;                   /* of a callback, which libhdf5 does not carry */
};

/*
 * Opens the file of a scan, with its budgets: 0, or a negative errno and a sentence.
 * hdf5_walk_close in any case.
 */
int hdf5_walk_open(struct hdf5_walk *walk, struct scan *scan, struct error *e);
void hdf5_walk_close(struct hdf5_walk *walk);

/* For a broken file: what libhdf5 says of it, and a remedy. -EBADMSG or -E... */
int hdf5_refuse_library(struct hdf5_walk *walk, const char *what);

/* "'x.h5': dataset '/a/b' WHAT". -EBADMSG. */
int hdf5_refuse(struct hdf5_walk *walk, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

int hdf5_out_of_memory(struct hdf5_walk *walk);

/*
 * Counts `n` paths of `bytes` each: is that too much for a file of this size, as
 * links to long paths may say in few bytes? Then it is refused.
 */
int hdf5_charge_paths(struct hdf5_walk *walk, uint64_t n, uint64_t bytes);

/* The sentence for an error of hdf5_blocks: storage, memory, a place outside. */
int hdf5_refuse_read(struct hdf5_walk *walk, int err);

/* One more entry has been passed, and so many bytes of the window. */
void hdf5_advance(struct hdf5_walk *walk, uint64_t bytes);

#endif
