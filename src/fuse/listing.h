/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * listing.h: the names of a directory, with or without attributes. Private to fuse/.
 */
#ifndef GRANARY_FUSE_LISTING_H
#define GRANARY_FUSE_LISTING_H

#include "fuse/ops.h"

/* Answers a listing from the position `offset` on, in at most `size` bytes. */
void listing_reply(fuse_req_t req, uint32_t directory, size_t size, off_t offset,
		   bool plus);

#endif
