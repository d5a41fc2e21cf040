/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zip_archive.h: one zip archive that is being scanned, and its faults. Private to
 * format/zip/. Layouts: https://pkware.com/appnote, version 6.3.10.
 *
 * Positions are bytes from the window's start, if nothing else is said.
 */
#ifndef GRANARY_FORMAT_ZIP_ARCHIVE_H
#define GRANARY_FORMAT_ZIP_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "format/format.h"

struct zip_archive {
	struct scan *scan;
	struct error *e;
	uint64_t directory;      /* the central directory: its position and its bytes */
	uint64_t directory_size;
	uint64_t count;          /* of its records */
	uint64_t count_mask;     /* of `count`, the bits that are known */
	uint64_t shift; /* added to an offset of the archive, modulo 2^64, it is a
			   position: programs may lie before an archive */
};

/* A record of the central directory. */
struct zip_member {
	uint64_t at;         /* of the record */
	const char *name;    /* as stored, without a NUL */
	size_t name_length;
	const unsigned char *extra;
	size_t extra_length;
	unsigned system;     /* that made it: ZIP_UNIX, ... */
	unsigned flags, method;
	unsigned time, date; /* of MS-DOS */
	uint32_t crc;        /* CRC-32 of the decoded bytes */
	uint32_t attributes;
	uint32_t disk;
	uint64_t stored, size; /* bytes, as stored and decoded */
	uint64_t header;       /* the local header */
	uint64_t data; /* the stored bytes: known once the local header was read */
};

enum { ZIP_UNIX = 3, ZIP_MACOS = 19 };
enum { ZIP_ENCRYPTED = 1, ZIP_DESCRIPTOR = 8, ZIP_UTF8 = 2048, ZIP_MASKED = 8192 };
enum {
	ZIP_STORED = 0,
	ZIP_DEFLATE = 8,
	ZIP_DEFLATE64 = 9,
	ZIP_BZIP2 = 12,
	ZIP_LZMA = 14,
	ZIP_ZSTD = 93,
	ZIP_XZ = 95,
	ZIP_PPMD = 98,
	ZIP_AES = 99,
};

/*
 * The position of the byte 0 of a disk, by which programs mean a part of the archive
 * (.z01, .z02, ... and .zip), of `zip_disk_count`. An archive in one file has the disk 0.
 */
uint32_t zip_disk_count(const struct zip_archive *archive);
uint64_t zip_disk_start(const struct zip_archive *archive, uint64_t disk);

/* Reads `n` bytes: 0, or an error that was told. */
int zip_read(const struct zip_archive *archive, void *out, size_t n, uint64_t at);

int zip_no_memory(const struct zip_archive *archive);

/* -EBADMSG: "'x.zip' is damaged: WHAT at byte AT ...". */
int zip_damaged(const struct zip_archive *archive, uint64_t at, const char *what);

/* -EBADMSG: "'x.zip' is damaged: WHAT of member 'NAME' ...". */
int zip_damaged_member(const struct zip_archive *archive, const struct zip_member *member,
		       const char *what);

/* The field `id` of extra fields, and its size; NULL: there is none, or it is cut off. */
const unsigned char *zip_extra_field(const struct zip_member *member, unsigned id,
				     size_t *size);

/*
 * Finds the end record and the central directory: 0, or an error. Of several records the
 * one is taken that ends with the window and has a directory before it.
 */
int zip_find_directory(struct zip_archive *archive);

/* Does the tail of a file end with an end record? 0 (no) to 100. */
int zip_probe_end(const unsigned char *tail, size_t n);

#endif
