/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.h: the index: a tree and its volumes as one file, read once into memory.
 *
 * An index belongs to its sources (their identities, in order) and to the options that
 * shaped it; card_accept compares them.
 *
 * Threads: any number may read an open index; index_close when none does.
 */
#ifndef GRANARY_INDEX_INDEX_H
#define GRANARY_INDEX_INDEX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "index/tree.h"
#include "index/volume_desc.h"

struct card;
struct index;

/* A summary for `granary info`, stored in the file in this form. */
struct index_summary {
	uint64_t files;       /* hard links counted once */
	uint64_t directories; /* the root included */
	uint64_t symlinks;
	uint64_t links;       /* further names of files */
	uint64_t bytes;       /* of all files, holes included */
	uint64_t left_out;    /* devices, FIFOs, sockets and others not shown */
	uint64_t classes;     /* distinct labels; 0 if names are stored */
	char format[64];      /* "tar" */
	char detail[96];      /* "zstd, blocks of 128 KiB"; of the first source */
	char names[192];      /* source of the names */
	char labels[192];     /* source of the labels */
	char options[256];    /* the options that shaped the tree */
	char view[192];       /* rule of the paths, and its reason */
	char notes[768];      /* the notes in an index of 0.1, one a line */
};

/*
 * Opens an index in a memfd, sealed against writes and resizing, and owns it from then
 * on. Checks the header, the bounds of each section, and its checksum; no process can
 * change a byte later. `owner`: of the original file. The caller judges owner, mode and
 * content. -EBADMSG with a reason if it is no index.
 */
int index_open_memory(int memory, uid_t owner, const char *label, struct index **out,
		      struct error *e);

void index_close(struct index *index);

/* The card (index/card.h); lives as long as the index. */
const struct card *index_card(const struct index *index);

/* The memfd, which the index owns. */
int index_descriptor(const struct index *index);

/* Checks every node: 0, or -EBADMSG with the first fault. */
int index_check(const struct index *index, struct error *e);

const struct tree *index_tree(const struct index *index);
int index_summary(const struct index *index, struct index_summary *out);

/* Calls `visit` with each note: a sentence for the index's user (build/findings.h). */
void index_for_each_note(const struct index *index,
			 void (*visit)(const char *line, void *context), void *context);
uint32_t index_volume_count(const struct index *index);
int index_volume(const struct index *index, uint32_t i, struct volume_desc *out);

/*
 * The chunk of a coded volume that has the byte at `offset`: its number in the table of
 * chunks, itself, and its decoded size at most. 0 or -EIO.
 */
int index_chunk(const struct index *index, const struct volume_desc *volume,
		uint64_t offset, uint64_t *number, struct volume_chunk *out,
		uint64_t *plain);

/*
 * The numbers of an array volume, checked against its length and tiles, and their measure
 * (index/array_tiles.h); and a tile by its number in the array: its number in the table
 * of chunks, and itself. 0 or -EIO.
 */
struct array_measure;
int index_array(const struct index *index, const struct volume_desc *volume,
		struct volume_array *out, struct array_measure *measure);
int index_tile(const struct index *index, const struct volume_desc *volume, uint64_t tile,
	       uint64_t *number, struct volume_chunk *out);

/* The entry point of chunk `number` (of index_chunk) of a stream: 0 or -EIO. */
int index_point(const struct index *index, const struct volume_desc *volume,
		uint64_t number, struct volume_point *out);

/* The packed window of a point, as long as the index; NULL: it is not there. */
const void *index_window(const struct index *index, const struct volume_point *point);

/* The size of the literal bytes, and a copy of some: 0 or -EIO. */
uint64_t index_literals_size(const struct index *index);
int index_read_literals(const struct index *index, void *buffer, size_t length,
			uint64_t offset);

/*
 * The checksum of a file's bytes (index/checksum.h) when the index was made: 0, -ENOENT
 * without one, -EIO. An index has checksums of all files that are not empty, or none.
 */
bool index_has_sums(const struct index *index);
int index_sum(const struct index *index, uint32_t node, uint64_t *out);

/* The bytes of section number `i` (index/layout.h), or NULL. */
const void *index_section(const struct index *index, uint32_t i, uint64_t *length);

/* Size of the file, in bytes. */
uint64_t index_size(const struct index *index);

#endif
