/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * front_kind.h: what may stand before a FUSE mount, so that the mount table shows that
 * instead: the kinds, as others than fuse/ have to know them. fuse/front.h puts one there.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_FRONT_KIND_H
#define GRANARY_OS_FRONT_KIND_H

#include <stdbool.h>

struct front_kind {
	const char *type; /* of its filesystem, in the mount table */

	/*
	 * By its options there: the number of the FUSE connection that answers behind it;
	 * 0: behind it is none of ours.
	 */
	unsigned (*recognise)(const char *options);

	unsigned name_bytes;      /* the kernel's memory for a name, beside FUSE's own */
	const char *hidden_xattr; /* attributes that begin so would redirect it */
};

/*
 * A read-only overlay. The last of its lower layers is a directory with this name and the
 * number of the FUSE connection: `lowerdir=/proc/self/fd/3::/proc/self/fd/5/granaryfs@57`.
 */
extern const struct front_kind front_kind_overlay;
#define FRONT_OVERLAY_LAYER "granaryfs@"

/* The kind that a mount of this type and these options is; NULL: none of ours. */
const struct front_kind *front_recognise(const char *type, const char *options,
					 unsigned *connection);

/* Would a kind obey this attribute of a file behind it? */
bool front_hides_xattr(const char *name);

#endif
