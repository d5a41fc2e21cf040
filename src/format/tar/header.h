/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * header.h: the fields of a tar's header blocks. Private to format/; pure
 * functions of bytes.
 *
 * Fields: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar's manual, "Basic Tar
 * Format"; star(5) for the place of star's sparse maps.
 */
#ifndef GRANARY_FORMAT_TAR_HEADER_H
#define GRANARY_FORMAT_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { /* of a header block */
	TAR_BLOCK = 512,

	TAR_NAME = 0,
	TAR_MODE = 100,
	TAR_UID = 108,
	TAR_GID = 116,
	TAR_SIZE = 124,
	TAR_MTIME = 136,
	TAR_CHECKSUM = 148,
	TAR_TYPE = 156,
	TAR_LINK = 157,
	TAR_MAGIC = 257,
	TAR_PREFIX = 345,

	TAR_NAME_BYTES = 100, /* of a link's target, too */
	TAR_ID_BYTES = 8,     /* mode and checksum, too */
	TAR_LONG_BYTES = 12,  /* size and mtime */
	TAR_PREFIX_BYTES = 155,
	TAR_PATH_BYTES = TAR_PREFIX_BYTES + 1 + TAR_NAME_BYTES,
};

enum tar_dialect {
	TAR_V7,    /* without a magic */
	TAR_POSIX, /* the front of a long path has a field of its own */
	TAR_STAR,  /* as POSIX, with other things in the end of that field */
	TAR_GNU,   /* with other things there */
};

/* `n` rounded up to whole blocks, or false where that does not fit. */
bool tar_round_up(uint64_t n, uint64_t *out);

/* Does the checksum of the TAR_BLOCK bytes fit? All zeros: no. */
bool tar_header_fits(const unsigned char *block);

enum tar_dialect tar_header_dialect(const unsigned char *block);

/*
 * Is it a header that says more of the next one, or of all that follow (pax's x, X, g,
 * GNU's L and K, Solaris's A)?
 */
bool tar_header_extends(const unsigned char *block);

/*
 * A number: octal, with blanks before it or one NUL, or base 256; nothing but blanks and
 * NULs is 0. False for anything else, and where it does not fit: *out is then what
 * could be read of it, or the nearest number.
 */
bool tar_number(const unsigned char *field, size_t n, int64_t *out);

/* Writes the path, NUL-terminated, to TAR_PATH_BYTES + 1 bytes. */
void tar_header_path(const unsigned char *block, char *out);

#endif
