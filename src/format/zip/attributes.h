/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * attributes.h: kind, permissions, owner and time of a member. Private to format/zip/.
 */
#ifndef GRANARY_FORMAT_ZIP_ATTRIBUTES_H
#define GRANARY_FORMAT_ZIP_ATTRIBUTES_H

#include "format/zip/zip_archive.h"

/*
 * Fills an entry's kind, mode, uid, gid and mtime. `name` is the member's in UTF-8.
 * Returns false for what a dataset cannot hold (a device, a pipe, a socket).
 */
bool zip_set_attributes(const struct zip_archive *archive,
			const struct zip_member *member, const char *name,
			struct entry *entry);

#endif
