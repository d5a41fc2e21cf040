/* SPDX-License-Identifier: GPL-3.0-or-later */
/* array.h: array volumes, for volume.c. Private to volume/. */
#ifndef GRANARY_VOLUME_ARRAY_H
#define GRANARY_VOLUME_ARRAY_H

#include "volume/volume.h"

/* The span from the first to the last stored byte of these. False: none is stored. */
bool array_span(const struct volume *volume, uint64_t offset, uint64_t length,
		struct volume_span *out);

/* The tile that holds this byte, if it is stored: its number in the table of chunks. */
bool array_find_chunk(const struct volume *volume, uint64_t offset, uint64_t *number,
		      struct volume_chunk *out);

#endif
