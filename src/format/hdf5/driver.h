/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * driver.h: an HDF5 file opened by libhdf5 through a file driver of ours.
 *
 * The driver reads a window of a source, and remembers when the source could not
 * be read, so that broken storage is not taken for a damaged file. While it
 * records, raw data are not read: it notes where they would have been. That is
 * how the place of a chunk is found (H5Dget_chunk_info is linear at each call).
 *
 * Threads: libhdf5 serialises its calls or must not be called by two threads at
 * all; format_hdf5's scan holds one lock over everything here.
 */
#ifndef GRANARY_FORMAT_HDF5_DRIVER_H
#define GRANARY_FORMAT_HDF5_DRIVER_H

#define H5_USE_110_API
#include <hdf5.h>

#include <stdbool.h>
#include <stdint.h>

#include "format/hdf5/blocks.h"

struct hdf5_file {
	struct hdf5_blocks blocks;
	hid_t id, access; /* the file, and how it was opened */
	uint64_t base; /* the user block: what addresses in the file count from */
	size_t address_bytes, length_bytes; /* of addresses and lengths in the file */

	bool recording;
	unsigned noted;             /* reads of raw data since recording began */
	uint64_t noted_at, noted_size; /* the last of them, as the window counts */
};

/*
 * Opens the window; hdf5_file_close in any case. 0, -EBADMSG if libhdf5 cannot
 * (hdf5_file_reason says why), or what the source said.
 */
int hdf5_file_open(struct hdf5_file *file, const struct source *source, uint64_t base,
		   uint64_t length);
void hdf5_file_close(struct hdf5_file *file);

/*
 * Where the chunk is stored whose first element is `at`, a coordinate for each of the
 * dataset's dimensions: 0, or -EBADMSG, or -EFBIG beyond VOLUME_CHUNK_LIMIT, or -ENOMEM.
 */
struct hdf5_place {
	uint64_t at;      /* bytes from the start of the window */
	uint64_t size;    /* bytes; 0: it is not stored */
	uint32_t skipped; /* bit i: the filter number i was not applied */
};

int hdf5_file_find_chunk(struct hdf5_file *file, hid_t dataset, const hsize_t *at,
			 struct hdf5_place *out);

/* The innermost words of libhdf5's last error, and forgets it. */
void hdf5_file_reason(char *text, size_t room);

#endif
