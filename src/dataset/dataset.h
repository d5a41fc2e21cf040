/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dataset.h: everything that a mount serves, without FUSE: the sources, the
 * index, the volumes.
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
 * Opens the sources (paths and shard patterns), finds an index that fits them
 * or has one made by `granary index`, a process of its own, whose progress goes
 * to standard error. Blocks until that is done. `config` may be freed afterwards.
 */
int dataset_open(const struct dataset_config *config, char *const *sources,
		 size_t source_count, struct dataset **out, struct error *e);

/*
 * The same with another user's rights (os/rights.h; NULL: this process's own): all that
 * is opened by its name is opened as that user, within a bound where storage hangs.
 */
int dataset_open_as(const struct rights *rights, const struct dataset_config *config,
		    char *const *sources, size_t source_count, struct dataset **out,
		    struct error *e);
void dataset_close(struct dataset *dataset);

/* The packed files; they live as long as the dataset. */
const struct source_set *dataset_sources(const struct dataset *dataset);

const struct tree *dataset_tree(const struct dataset *dataset);

/* The node that is shown as the root: `subdir`, or TREE_ROOT. */
uint32_t dataset_root(const struct dataset *dataset);

/*
 * The same over sources and an index that fits them, which are the caller's and
 * outlive it. 0, or -ENOMEM and a sentence.
 */
int dataset_over(const struct source_set *sources, struct index *index,
		 struct dataset **out, struct error *e);

/*
 * Reads up to `length` bytes of a file: how many (fewer only at its end, where
 * it is 0), or -EIO, -EINVAL for what is no file. What is wrong, if it is -EIO, is the
 * context's fault, and in the log, with path, source and offset, but for READ_AHEAD.
 *
 * Where the index has checksums, what is read is compared with them before it is given
 * out, each time that it comes from storage: in blocks (index/block_sums.h), all of which are
 * read. A read of a block that is wrong is -EIO. An index of an older version knows none
 * of blocks: then whole files are compared, of up to DATASET_CHECK_MOST bytes.
 */
enum { DATASET_CHECK_MOST = 4 << 20 };
ssize_t dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
		     size_t length, uint64_t offset, struct read_context *context);

/* The same without checksums, and without a line in the log. */
ssize_t dataset_read_plain(const struct dataset *dataset, uint32_t node, void *buffer,
			   size_t length, uint64_t offset, struct read_context *context);

/*
 * Checks all of the index, as granary index --check does: 0, or -EBADMSG and a sentence.
 * Reading does without, since each of its answers is checked by itself; but names that
 * have become others are no error there.
 */
int dataset_check(const struct dataset *dataset, struct error *e);

/* Are there checksums, and a file's: 0, -ENOENT where there is none, -EIO. */
bool dataset_has_sums(const struct dataset *dataset);
int dataset_sum(const struct dataset *dataset, uint32_t node, uint64_t *out);

/* Says that the checksum is another: of the block that begins at `offset` of a file. */
void dataset_set_mismatch(const struct dataset *dataset, uint32_t node, uint64_t offset,
			  struct read_fault *out);

/* Where some of a file's bytes are stored. */
struct dataset_place {
	bool hole;
	uint64_t length;    /* bytes of the file, from the offset that was asked for */
	const char *source; /* path of the packed file; NULL: the index itself holds them */
	uint64_t offset;    /* bytes in it: theirs, or their chunk's */
	uint64_t stored;    /* bytes that they, or their chunk, take there */
	bool chunked;       /* they are decoded together with others, */
	uint64_t inside;    /* and begin at this byte of what comes out */
	char codecs[64];    /* "shuffle+zlib"; "": stored as they are */
};

/*
 * The place of the byte at `offset` and as many as lie behind it in one piece: 0; -ENXIO
 * at the end of the file, -EINVAL for what is no file, -EIO.
 */
int dataset_place(const struct dataset *dataset, uint32_t node, uint64_t offset,
		  struct dataset_place *out);

/* What is compared with its checksum when it is read. */
enum dataset_compared {
	COMPARED_NOT,    /* there are none */
	COMPARED_OFF,    /* nothing, by the option checksums=off */
	COMPARED_FILES,  /* whole files of up to DATASET_CHECK_MOST bytes: there are none of blocks */
	COMPARED_BLOCKS, /* everything */
};

/* The word of it, and where it is less than everything, what an admin can do: or NULL. */
const char *dataset_compared_word(enum dataset_compared compared);
const char *dataset_compared_note(enum dataset_compared compared);

/* What `granary info` shows. The pointers live as long as the dataset. */
struct dataset_info {
	struct index_summary summary;
	uint32_t sources;
	const char *first_source;
	const char *first_place; /* where that was when it was opened */
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
