/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dataset.h: the contents of a mount, without FUSE: sources, index and volumes.
 *
 * Threads: dataset_open and dataset_close by one thread; everything else by
 * any number at once, without a lock.
 */
#ifndef GRANARY_DATASET_DATASET_H
#define GRANARY_DATASET_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "index/index.h"
#include "os/rights.h"
#include "place/config.h"
#include "source/source_set.h"

struct dataset;

/*
 * Opens the sources (paths and shard patterns), and finds an index that fits them or has
 * one made by a process `granary index`, whose progress goes to standard error. Returns
 * when that is done. `config` may be freed afterwards.
 */
int dataset_open(const struct dataset_config *config, char *const *sources,
		 size_t source_count, struct dataset **out, struct error *e);

/*
 * The same with another user's rights (os/rights.h; NULL: this process's own): all files
 * are opened as that user, with a deadline if storage hangs.
 */
int dataset_open_as(const struct rights *rights, const struct dataset_config *config,
		    char *const *sources, size_t source_count, struct dataset **out,
		    struct error *e);
void dataset_close(struct dataset *dataset);

/* The packed files; they live as long as the dataset. */
const struct source_set *dataset_sources(const struct dataset *dataset);

const struct tree *dataset_tree(const struct dataset *dataset);

/* The node shown as the root: `subdir`, or TREE_ROOT. */
uint32_t dataset_root(const struct dataset *dataset);

/*
 * Makes a dataset of open sources and an index that fits them. The caller owns both, and
 * they outlive the dataset. 0, or -ENOMEM and *e.
 */
int dataset_from_index(const struct source_set *sources, struct index *index,
		       struct dataset **out, struct error *e);

/*
 * Reads up to `length` bytes of a file: the number of bytes (fewer only at the end of
 * file, there 0), -EIO, or -EINVAL for a node that is no file. The cause of -EIO is in
 * the context's fault and in the log, with path, source and offset; not in the log for
 * READ_AHEAD.
 *
 * If the index has checksums, bytes are compared with them before they are returned, each
 * time that they come from storage: in blocks (index/block_sums.h), which are read whole.
 * A read of a wrong block is -EIO. An index of an older version has no checksums of
 * blocks: then whole files of up to DATASET_CHECK_MOST bytes are compared.
 */
enum { DATASET_CHECK_MOST = 4 << 20 };
ssize_t dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
		     size_t length, uint64_t offset, struct read_context *context);

/* The same without checksums, and without a line in the log. */
ssize_t dataset_read_plain(const struct dataset *dataset, uint32_t node, void *buffer,
			   size_t length, uint64_t offset, struct read_context *context);

/*
 * Checks all of the index, as granary index --check does: 0, or -EBADMSG and *e. Reads
 * need no such check, since each access to the index is checked. But a read cannot detect
 * names that were changed into others.
 */
int dataset_check(const struct dataset *dataset, struct error *e);

/* Has the index checksums? The checksum of a file: 0, -ENOENT if it has none, -EIO. */
bool dataset_has_sums(const struct dataset *dataset);
int dataset_sum(const struct dataset *dataset, uint32_t node, uint64_t *out);

/* Fills in the fault of a wrong checksum, of the block at `offset` of a file. */
void dataset_set_mismatch(const struct dataset *dataset, uint32_t node, uint64_t offset,
			  struct read_fault *out);

/* The stored place of some of a file's bytes. */
struct dataset_place {
	bool hole;
	uint64_t length;    /* bytes of the file, from the offset that was asked for */
	const char *source; /* path of the packed file; NULL: the index itself holds them */
	uint64_t offset;    /* bytes in the packed file: of the bytes, or their chunk */
	uint64_t stored;    /* bytes that they, or their chunk, take there */
	bool chunked;       /* the bytes are decoded together with others, */
	uint64_t inside;    /* and begin at this byte of the decoded chunk */
	char codecs[64];    /* "shuffle+zlib"; "": stored as they are */
};

/*
 * The place of the byte at `offset` and those that follow it in one piece: 0; -ENXIO at
 * the end of the file, -EINVAL for a node that is no file, -EIO.
 */
int dataset_place(const struct dataset *dataset, uint32_t node, uint64_t offset,
		  struct dataset_place *out);

/* The bytes that are compared with checksums when they are read. */
enum dataset_compared {
	COMPARED_NONE,   /* no checksums */
	COMPARED_OFF,    /* none, by the option checksums=off */
	COMPARED_FILES,  /* whole files of up to DATASET_CHECK_MOST bytes */
	COMPARED_BLOCKS, /* everything */
};

/* A word for the value; and the remedy if not all bytes are compared, or NULL. */
const char *dataset_compared_word(enum dataset_compared compared);
const char *dataset_compared_note(enum dataset_compared compared);

/* The facts that `granary info` shows. The pointers live as long as the dataset. */
struct dataset_info {
	struct index_summary summary;
	uint32_t sources;
	const char *first_source;
	const char *first_place; /* its place when it was opened */
	uint64_t source_bytes;
	const char *index_path; /* NULL: the index is in memory */
	uint64_t index_bytes;
	bool checksums; /* the index has one of each file */
	bool indexed;   /* when it was opened: the indexer has told its findings */
	enum dataset_compared compared;
};

int dataset_info(const struct dataset *dataset, struct dataset_info *out);

/* Calls `visit` with each note of the index. */
void dataset_for_each_note(const struct dataset *dataset,
			   void (*visit)(const char *line, void *context), void *context);

#endif
