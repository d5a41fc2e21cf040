/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sparse.h: the maps of sparse members: which pieces of the file are stored.
 * Private to format/tar/.
 *
 * Old GNU: GNU tar's manual, "Basic Tar Format"; pax 0.0, 0.1 and 1.0: "Storing Sparse
 * Files" there; star's: star(5).
 */
#ifndef GRANARY_FORMAT_TAR_SPARSE_H
#define GRANARY_FORMAT_TAR_SPARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "format/tar/pax_records.h"
#include "format/tar/window.h"

struct tar_piece {
	uint64_t offset, length; /* of the file */
};

struct tar_map {
	VEC(struct tar_piece) pieces; /* in the order in which they are stored */
	uint64_t size;                /* of the file, holes included */
};

/*
 * All return 0, -EBADMSG where the map makes no sense, -ENOMEM, -ENODATA where the
 * window ends in it, or what the storage says.
 */

/*
 * The map in the header block of an old sparse member, and in the blocks behind it:
 * *data is moved behind these.
 */
int tar_map_header(struct tar_map *map, struct tar_window *window,
		   const unsigned char *block, uint64_t *data);

/* Do the records describe a sparse file, whose map they hold, or that has it before
   its data? */
bool tar_map_is_in_records(const struct tar_records *records);
bool tar_map_is_in_data(const struct tar_records *records);

int tar_map_records(struct tar_map *map, const struct tar_records *records);

/* *data and *stored, in bytes, are moved behind the map. */
int tar_map_data(struct tar_map *map, struct tar_window *window,
		 const struct tar_records *records, uint64_t *data, uint64_t *stored);

#endif
