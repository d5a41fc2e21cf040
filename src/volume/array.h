/* SPDX-License-Identifier: GPL-3.0-or-later */
/* array.h: what volume.c asks of an array volume. Private to volume/. */
#ifndef GRANARY_VOLUME_ARRAY_H
#define GRANARY_VOLUME_ARRAY_H

#include "volume/volume.h"

/* From the first to the last stored byte of these: false where none is stored. */
bool array_span(const struct volume *volume, uint64_t offset, uint64_t length,
		struct volume_span *out);

/* Where the tile that holds this byte begins, if it is stored. */
bool array_locate(const struct volume *volume, uint64_t offset, uint64_t *out);

#endif
