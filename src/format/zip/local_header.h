/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * local_header.h: the header before a member's bytes. Only this header says how long it
 * is itself. Private to format/zip/.
 */
#ifndef GRANARY_FORMAT_ZIP_LOCAL_HEADER_H
#define GRANARY_FORMAT_ZIP_LOCAL_HEADER_H

#include "format/zip/zip_archive.h"

struct zip_local {
	uint64_t held, held_end; /* positions of what the buffer holds */
	uint64_t last;           /* header that was read */
	unsigned char *buffer;
};

/* 0 or -ENOMEM, told. */
int zip_local_open(struct zip_local *local, const struct zip_archive *archive);
void zip_local_close(struct zip_local *local);

/*
 * Reads the member's local header, compares it with the record, and sets member->data:
 * all stored bytes lie before the central directory. Headers near the last one cost no
 * read of their own.
 */
int zip_local_find_data(struct zip_local *local, const struct zip_archive *archive,
			struct zip_member *member);

#endif
