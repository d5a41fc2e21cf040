/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/zip/attributes.h"

#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"

enum {
	EXTRA_TIMES = 0x5455, /* Info-ZIP: seconds since the epoch */
	EXTRA_NTFS = 0x000a,
	EXTRA_OWNER = 0x7875, /* Info-ZIP: numbers of any width */
	NTFS_TIMES_AT = 8,    /* in its field; the time of change comes first */
	HAS_MTIME = 1,
	DOS_DIRECTORY = 0x10,
	UNIX_EXTENSION = 0x8000, /* 7-Zip: the upper half is a mode, on any system */
	NS_PER_TICK = 100,
};

static const int64_t TICKS = 10000000;          /* of NTFS, in a second */
static const int64_t NTFS_EPOCH = 11644473600;  /* seconds from 1601 to 1970 */

static uint32_t unix_mode(const struct zip_member *member)
{
	bool has = member->system == ZIP_UNIX || member->system == ZIP_MACOS ||
		   (member->attributes & UNIX_EXTENSION);

	return has ? member->attributes >> 16 : 0;
}

/* False: neither a file nor a directory nor a link. */
static bool set_kind(const struct zip_member *member, const char *name, uint32_t mode,
		     struct entry *entry)
{
	size_t n = strlen(name);

	entry->kind =
		(n && name[n - 1] == '/') || (!mode && member->size == 0 &&
					      (member->attributes & DOS_DIRECTORY)) ?
			ENTRY_DIRECTORY :
			ENTRY_FILE;
	if (!S_ISREG(mode) && !S_ISDIR(mode) && !S_ISLNK(mode) && (mode & S_IFMT))
		return false;
	if (entry->kind == ENTRY_FILE && S_ISDIR(mode))
		entry->kind = ENTRY_DIRECTORY;
	if (entry->kind == ENTRY_FILE && S_ISLNK(mode))
		entry->kind = ENTRY_SYMLINK;
	return true;
}

/* A system without permissions: those of the archive itself. */
static uint32_t default_mode(const struct zip_archive *archive, const struct entry *entry)
{
	uint32_t mode = source_owner(archive->scan->source)->mode & 0666;

	return entry->kind == ENTRY_DIRECTORY ? mode | (mode & 0444) >> 2 : mode;
}

/* Days from 1970 to a day of a year from 1980 on. */
static int64_t days_since_epoch(unsigned year, unsigned month, unsigned day)
{
	static const unsigned before[] = { 0,	31,  59,  90,  120, 151,
					   181, 212, 243, 273, 304, 334 };
	unsigned leap_days = (year - 1969) / 4 - (year > 2100);
	bool leap = year % 4 == 0 && year != 2100;

	return (int64_t)365 * (year - 1970) + leap_days + before[month - 1] + day - 1 +
	       (leap && month > 2);
}

/* MS-DOS has local time, and no zone: taken for UTC, so that all machines agree. */
static int64_t dos_time(const struct zip_member *member)
{
	unsigned month = member->date >> 5 & 15, day = member->date & 31;

	month = month < 1 ? 1 : month > 12 ? 12 : month;
	return days_since_epoch(1980 + (member->date >> 9), month, day ? day : 1) *
		       86400 +
	       (member->time >> 11) * 3600 + (member->time >> 5 & 63) * 60 +
	       (member->time & 31) * 2;
}

static void set_time(const struct zip_member *member, struct entry *entry)
{
	size_t size;
	const unsigned char *field = zip_extra_field(member, EXTRA_TIMES, &size);
	int64_t ticks;

	if (field && size >= 5 && (field[0] & HAS_MTIME)) {
		entry->mtime = (int32_t)little_endian(field + 1, 4);
		return;
	}
	field = zip_extra_field(member, EXTRA_NTFS, &size);
	if (!field || size < NTFS_TIMES_AT + 8 || little_endian(field + 4, 2) != 1) {
		entry->mtime = dos_time(member);
		return;
	}
	ticks = (int64_t)(little_endian(field + NTFS_TIMES_AT, 8) & INT64_MAX);
	entry->mtime = ticks / TICKS - NTFS_EPOCH;
	entry->mtime_ns = (uint32_t)(ticks % TICKS) * NS_PER_TICK;
}

static void set_owner(const struct zip_archive *archive, const struct zip_member *member,
		      struct entry *entry)
{
	const struct source_owner *owner = source_owner(archive->scan->source);
	size_t size, uid_size;
	const unsigned char *field = zip_extra_field(member, EXTRA_OWNER, &size);

	entry->uid = owner->uid;
	entry->gid = owner->gid;
	if (!field || size < 3 || field[0] != 1)
		return;
	uid_size = field[1];
	if (uid_size > 4 || size < 3 + uid_size || field[2 + uid_size] > 4 ||
	    size < 3 + uid_size + field[2 + uid_size])
		return;
	entry->uid = (uint32_t)little_endian(field + 2, (unsigned)uid_size);
	entry->gid = (uint32_t)little_endian(field + 3 + uid_size, field[2 + uid_size]);
}

bool zip_set_attributes(const struct zip_archive *archive,
			const struct zip_member *member, const char *name,
			struct entry *entry)
{
	uint32_t mode = unix_mode(member);

	if (!set_kind(member, name, mode, entry))
		return false;
	entry->mode = mode ? mode & 0777 : default_mode(archive, entry);
	set_time(member, entry);
	set_owner(archive, member, entry);
	return true;
}
