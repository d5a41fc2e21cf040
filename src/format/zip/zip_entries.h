/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zip_entries.h: members of a zip become entries. Private to format/zip/.
 */
#ifndef GRANARY_FORMAT_ZIP_ENTRIES_H
#define GRANARY_FORMAT_ZIP_ENTRIES_H

#include "base/vec.h"
#include "format/zip/member_name.h"
#include "format/zip/zip_archive.h"

/* Why a member is listed and cannot be read; the sentences are in zip_entries.c. */
enum zip_unreadable {
	ZIP_READABLE,
	ZIP_IS_ENCRYPTED,
	ZIP_OTHER_METHOD,
	ZIP_TOO_LARGE,
	ZIP_UNREADABLE_KINDS,
};

struct zip_entries {
	struct zip_archive *archive;
	struct zip_names names;
	VEC(struct entry_extent) extents;
	void *piece; /* memory of what is compared; or NULL */
	struct zip_name_count unreadable[ZIP_UNREADABLE_KINDS];
	uint64_t path_bytes, chunk_bytes; /* in all entries */
	uint64_t stored, coded, specials; /* members */
};

/* 0, or an error that was told. */
int zip_entries_open(struct zip_entries *entries, struct zip_archive *archive);

/* Appends a member whose `data` is known: 0, or an error that was told. */
int zip_entries_add(struct zip_entries *entries, const struct zip_member *member);

/* Tells what is not as a user expects it. */
void zip_entries_report(struct zip_entries *entries);
void zip_entries_close(struct zip_entries *entries);

#endif
