/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * index.h: the index: a tree and its volumes as one file, read once into memory.
 *
 * An index belongs to the sources it was made from (their identities, in
 * order) and to the options that shaped it; card_accept says whether it fits.
 *
 * Threads: an open index may be read by any number of threads; index_close
 * when none does.
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

/* What was found, for `granary info`; also the file's own structure. */
struct index_summary {
	uint64_t files;       /* hard links counted once */
	uint64_t directories; /* the root included */
	uint64_t symlinks;
	uint64_t links;       /* further names of files */
	uint64_t bytes;       /* of all files, holes included */
	uint64_t left_out;    /* devices, FIFOs, sockets; what cannot be shown */
	uint64_t classes;     /* labels that samples have; 0 where names are stored */
	char format[64];      /* "tar" */
	char detail[96];      /* "zstd, blocks of 128 KiB"; of the first source */
	char names[192];      /* where the names come from */
	char labels[192];     /* where the labels come from */
	char options[256];    /* the options that shaped the tree */
	char view[192];       /* which rule made the paths, and why */
	char notes[768];      /* what else is to be said, one a line */
};

/*
 * Opens an index that lies in a memfd, sealed against writes and changes of its size, which
 * is taken over. Checks the header, the bounds of each section, and its checksum: no other
 * process can change a byte afterwards. `owner`: of the file that the memfd is a copy of;
 * owner, mode and content are the caller's to judge. -EBADMSG with a reason if it is no
 * index of ours.
 */
int index_open_memory(int memory, uid_t owner, const char *label, struct index **out,
		      struct error *e);

void index_close(struct index *index);

/* What it says of itself (index/card.h); lives as long as the index. */
const struct card *index_card(const struct index *index);

/* The memfd; it stays the index's own. */
int index_descriptor(const struct index *index);

/* Checks every node: 0, or -EBADMSG with the first fault. */
int index_check(const struct index *index, struct error *e);

const struct tree *index_tree(const struct index *index);
int index_summary(const struct index *index, struct index_summary *out);

/* Calls `visit` with each line of the notes. */
void index_for_each_note(const struct index_summary *summary,
			 void (*visit)(const char *line, void *context), void *context);
uint32_t index_volume_count(const struct index *index);
int index_volume(const struct index *index, uint32_t i, struct volume_desc *out);

/*
 * The chunk of a coded volume that holds the byte at `offset`: its number in the
 * table of chunks, itself, and how many bytes it may decode to. 0 or -EIO.
 */
int index_chunk(const struct index *index, const struct volume_desc *volume,
		uint64_t offset, uint64_t *number, struct volume_chunk *out,
		uint64_t *plain);

/*
 * The numbers of an array volume, which make sense and are those of its length and its
 * tiles, and what follows from them (index/array_tiles.h); and a tile by its number in the
 * array: its number in the table of chunks, and itself. 0 or -EIO.
 */
struct array_measure;
int index_array(const struct index *index, const struct volume_desc *volume,
		struct volume_array *out, struct array_measure *measure);
int index_tile(const struct index *index, const struct volume_desc *volume, uint64_t tile,
	       uint64_t *number, struct volume_chunk *out);

/* Bytes of the literal volumes: how many, and a copy of some: 0 or -EIO. */
uint64_t index_literals_size(const struct index *index);
int index_read_literals(const struct index *index, void *buffer, size_t length,
			uint64_t offset);

/*
 * The checksum of a file's bytes (index/checksum.h), as they were when it was made: 0, -ENOENT
 * where there is none, -EIO. An index has one of each file that is not empty, or none
 * at all.
 */
bool index_has_sums(const struct index *index);
int index_sum(const struct index *index, uint32_t node, uint64_t *out);

/* The bytes of section number `i` (index/layout.h), or NULL behind the last one. */
const void *index_section(const struct index *index, uint32_t i, uint64_t *length);

/* Bytes of the file. */
uint64_t index_size(const struct index *index);

#endif
