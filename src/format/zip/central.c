/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/zip/central.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

enum {
	RECORD_BYTES = 46,
	RECORD_MOST = RECORD_BYTES + 3 * 65535,
	BUFFER_BYTES = 1024 * 1024,
	EXTRA_ZIP64 = 1,
	AHEAD_BYTES = 64 * 1024, /* of records whose local headers are announced */
	LOCAL_BYTES = 512,       /* of a local header and a name */
};

int zip_central_open(struct zip_central *central, const struct zip_archive *archive)
{
	*central = (struct zip_central){ .archive = archive, .at = archive->directory,
					 .announced = archive->directory,
					 .buffer = malloc(BUFFER_BYTES) };
	return central->buffer ? 0 : zip_no_memory(archive);
}

void zip_central_close(struct zip_central *central)
{
	free(central->buffer);
}

static uint64_t central_end(const struct zip_central *central)
{
	return central->archive->directory + central->archive->directory_size;
}

/* Has the buffer hold a whole record at `at`, or all that is left. */
static int central_fill(struct zip_central *central)
{
	uint64_t left = central_end(central) - central->at;
	size_t n = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
	int err;

	if (central->at >= central->held && central->at < central->held_end &&
	    (central->held_end - central->at >= RECORD_MOST ||
	     central->held_end == central_end(central)))
		return 0;
	err = zip_read(central->archive, central->buffer, n, central->at);
	central->held = central->at;
	central->held_end = err ? central->at : central->at + n;
	return err;
}

/* The record at `at`, if the buffer holds all of it: its bytes; 0: it does not. */
static size_t record_size(const unsigned char *record, uint64_t left)
{
	size_t size;

	if (left < RECORD_BYTES || memcmp(record, "PK\001\002", 4) != 0)
		return 0;
	size = RECORD_BYTES + (size_t)little_endian(record + 28, 2) +
	       (size_t)little_endian(record + 30, 2) +
	       (size_t)little_endian(record + 32, 2);
	return size <= left ? size : 0;
}

static void parse_record(const unsigned char *record, struct zip_member *out)
{
	out->system = record[5];
	out->flags = (unsigned)little_endian(record + 8, 2);
	out->method = (unsigned)little_endian(record + 10, 2);
	out->time = (unsigned)little_endian(record + 12, 2);
	out->date = (unsigned)little_endian(record + 14, 2);
	out->crc = (uint32_t)little_endian(record + 16, 4);
	out->stored = little_endian(record + 20, 4);
	out->size = little_endian(record + 24, 4);
	out->name_length = (size_t)little_endian(record + 28, 2);
	out->extra_length = (size_t)little_endian(record + 30, 2);
	out->disk = (uint32_t)little_endian(record + 34, 2);
	out->attributes = (uint32_t)little_endian(record + 38, 4);
	out->header = little_endian(record + 42, 4);
	out->name = (const char *)record + RECORD_BYTES;
	out->extra = record + RECORD_BYTES + out->name_length;
}

/* Replaces a number that is `none` by the next one of the field; false: there is none. */
static bool take_wide(uint64_t *number, uint64_t none, unsigned bytes,
		      const unsigned char **field, size_t *left)
{
	if (*number != none)
		return true;
	if (*left < bytes)
		return false;
	*number = little_endian(*field, bytes);
	*field += bytes;
	*left -= bytes;
	return true;
}

/* Numbers that do not fit are in an extra field, one behind the other (4.5.3). */
static bool take_zip64(struct zip_member *member)
{
	size_t left = 0;
	const unsigned char *field = zip_extra_field(member, EXTRA_ZIP64, &left);
	uint64_t disk = member->disk;

	if (!field)
		return true; /* the numbers themselves, then */
	if (!take_wide(&member->size, UINT32_MAX, 8, &field, &left) ||
	    !take_wide(&member->stored, UINT32_MAX, 8, &field, &left) ||
	    !take_wide(&member->header, UINT32_MAX, 8, &field, &left) ||
	    !take_wide(&disk, UINT16_MAX, 4, &field, &left))
		return false;
	member->disk = (uint32_t)disk;
	return true;
}

/* Behind the last record there may be a digital signature. */
static int central_finish(const struct zip_central *central)
{
	const struct zip_archive *archive = central->archive;
	const unsigned char *bytes = central->buffer + (central->at - central->held);
	uint64_t left = central_end(central) - central->at;

	if (left && (left < 4 || memcmp(bytes, "PK\005\005", 4) != 0))
		return zip_damaged(archive, central->at,
				   "there is no record of the central directory");
	if ((central->count & archive->count_mask) !=
	    (archive->count & archive->count_mask))
		return zip_damaged(
			archive, central->at,
			"the central directory has another number of records than "
			"the end record says");
	return 0;
}

int zip_central_next(struct zip_central *central, struct zip_member *out)
{
	const unsigned char *record;
	size_t size;
	int err = central_fill(central);

	if (err)
		return err;
	record = central->buffer + (central->at - central->held);
	size = record_size(record, central->held_end - central->at);
	if (size == 0)
		return central_finish(central);
	out->at = central->at;
	parse_record(record, out);
	if (!take_zip64(out))
		return zip_damaged_member(central->archive, out,
					  "the field of 64-bit sizes");
	out->header += central->archive->shift + zip_disk_start(central->archive, out->disk);
	central->at += size;
	central->count++;
	return 1;
}

void zip_central_announce(struct zip_central *central)
{
	const struct scan *scan = central->archive->scan;
	uint64_t at = central->announced < central->at ? central->at : central->announced;
	uint64_t end = central->at + AHEAD_BYTES;

	/* half of them at a time */
	if (central->announced > central->at + AHEAD_BYTES / 2)
		return;
	while (at >= central->held && at < central->held_end && at < end) {
		const unsigned char *record = central->buffer + (at - central->held);
		size_t size = record_size(record, central->held_end - at);
		uint64_t header;

		if (size == 0)
			break;
		header = little_endian(record + 42, 4) + central->archive->shift +
			 zip_disk_start(central->archive, little_endian(record + 34, 2));
		if (range_within(header, LOCAL_BYTES, scan->length))
			source_hint(scan->source, HINT_SOON, scan->base + header,
				    LOCAL_BYTES);
		at += size;
	}
	central->announced = at;
}
