/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * central.h: the records of a zip's central directory, read in large pieces. Private to
 * format/zip/.
 */
#ifndef GRANARY_FORMAT_ZIP_CENTRAL_H
#define GRANARY_FORMAT_ZIP_CENTRAL_H

#include "format/zip/zip_archive.h"

struct zip_central {
	const struct zip_archive *archive;
	uint64_t at;        /* the next record */
	uint64_t held, held_end; /* positions of what the buffer holds */
	uint64_t count;     /* records that were taken */
	uint64_t announced; /* local headers before this record were announced */
	unsigned char *buffer;
};

/* 0 or -ENOMEM, told. */
int zip_central_open(struct zip_central *central, const struct zip_archive *archive);
void zip_central_close(struct zip_central *central);

/*
 * The next record: 1; 0 behind the last one, if they are as many as the end record says;
 * or an error. The memory of *out is valid until the next call.
 */
int zip_central_next(struct zip_central *central, struct zip_member *out);

/*
 * Has the kernel fetch the local headers of some records to come: storage that answers
 * slowly then answers for all of them at once.
 */
void zip_central_announce(struct zip_central *central);

#endif
