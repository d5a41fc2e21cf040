/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * listing.h: the names in a directory, with their attributes or without. Private to
 * fuse/.
 */
#ifndef GRANARY_FUSE_LISTING_H
#define GRANARY_FUSE_LISTING_H

#include "fuse/ops.h"

/* Answers a request to list from `offset` on, which is a position, in `size` bytes. */
void listing_reply(fuse_req_t req, uint32_t directory, size_t size, off_t offset,
		   bool plus);

#endif
