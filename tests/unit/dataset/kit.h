/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kit.h: datasets whose files lie where a test says.
 *
 * The sources are files in the test's directory, "0.bin", "1.bin" and so on, and the byte
 * at each place of each differs from its neighbours. A source of more than
 * MADE_WRITTEN_MOST bytes is one hole.
 */
#ifndef GRANARY_TESTS_UNIT_DATASET_KIT_H
#define GRANARY_TESTS_UNIT_DATASET_KIT_H

#include "dataset/dataset.h"
#include "build/kit.h"

enum { MADE_SOURCES = 4, MADE_WRITTEN_MOST = 64 << 20 };

/* The parts of a dataset. */
struct made {
	struct entries *log;
	uint64_t sizes[MADE_SOURCES]; /* bytes of each source; 0: there is none */
};

/* Writes the sources; `sizes` ends at the first 0. */
void made_begin(struct made *made, const uint64_t *sizes);

/* The byte of a source. */
unsigned char made_byte(uint32_t source, uint64_t offset);

/* A file that lies in one piece. */
void made_file(struct made *made, const char *path, uint32_t source, uint64_t offset,
	       uint64_t length);

/* A piece of a source as an extent, which begins at `file_offset` of its file. */
struct entry_extent made_extent(struct made *made, uint32_t source, uint64_t offset,
				uint64_t length, uint64_t file_offset);

/* A file of any pieces. */
void made_pieces(struct made *made, const char *path, uint64_t size,
		 const struct entry_extent *extents, size_t count);

/* Publishes the index and opens the dataset; the caller closes it. */
struct dataset *made_open(struct made *made);

uint32_t made_node(const struct dataset *dataset, const char *path);

#endif
