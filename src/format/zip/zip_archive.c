/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/zip/zip_archive.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "source/parts.h"

enum { FIELD_HEAD = 4 };

int zip_read(const struct zip_archive *archive, void *out, size_t n, uint64_t at)
{
	const struct scan *scan = archive->scan;
	int err = range_within(at, n, scan->length) ?
			  source_pread(scan->source, out, n, scan->base + at) : -EIO;

	return err ? format_unreadable(scan->label, err, archive->e) : 0;
}

uint32_t zip_disk_count(const struct zip_archive *archive)
{
	const struct scan *scan = archive->scan;

	return scan->base == 0 && scan->length == source_size(scan->source) ?
	       source_part_count(scan->source) : 1;
}

uint64_t zip_disk_start(const struct zip_archive *archive, uint64_t disk)
{
	return disk < zip_disk_count(archive) ?
	       source_part_start(archive->scan->source, (uint32_t)disk) : 0;
}

int zip_no_memory(const struct zip_archive *archive)
{
	return format_no_memory(archive->scan->label, archive->e);
}

static unsigned long long zip_in_file(const struct zip_archive *archive, uint64_t at)
{
	return (unsigned long long)(archive->scan->base + at);
}

int zip_damaged(const struct zip_archive *archive, uint64_t at, const char *what)
{
	return error_set(
		archive->e, ERROR_DATASET, EBADMSG,
		"'%s' is damaged: %s at byte %llu; copy it again, or pack it again",
		archive->scan->label, what, zip_in_file(archive, at));
}

int zip_damaged_member(const struct zip_archive *archive, const struct zip_member *member,
		       const char *what)
{
	int length = member->name_length < 200 ? (int)member->name_length : 200;

	return error_set(
		archive->e, ERROR_DATASET, EBADMSG,
		"'%s' is damaged: %s of member '%.*s' (record at byte %llu); copy "
		"it again, or pack it again",
		archive->scan->label, what, length, member->name,
		zip_in_file(archive, member->at));
}

const unsigned char *zip_extra_field(const struct zip_member *member, unsigned id,
				     size_t *size)
{
	const unsigned char *at = member->extra;
	size_t left = member->extra_length;

	while (left >= FIELD_HEAD) {
		*size = (size_t)little_endian(at + 2, 2);
		if (*size > left - FIELD_HEAD)
			return NULL;
		if (little_endian(at, 2) == id)
			return at + FIELD_HEAD;
		at += FIELD_HEAD + *size;
		left -= FIELD_HEAD + *size;
	}
	return NULL;
}
