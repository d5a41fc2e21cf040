/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * end_record.c: the end record of a zip, which says where its central directory lies.
 *
 * It is the last thing in the file but for a comment, of which only the record itself
 * tells the length, and which may hold the like of another record.
 */
#include "format/zip/zip_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "base/cleanup.h"

enum {
	END_BYTES = 22,
	TAIL_MOST = END_BYTES + 65535,
	LOCATOR_BYTES = 20, /* before the end record: where its 64-bit form lies, */
	END64_BYTES = 56,   /* mostly before the locator */
};

/* An end record, from the worst to the best. */
enum end_grade { END_NONE, END_EMPTY, END_BEFORE_OTHERS, END_EXACT_EMPTY, END_EXACT };

struct end_record {
	uint64_t at;
	uint64_t before; /* where what the directory lies before begins */
	uint64_t disk, directory_disk, here, count, size, offset;
	bool zip64;
	bool parts;      /* of an archive in several */
	enum end_grade grade;
	uint64_t directory, shift;
};

static void parse_end(const unsigned char *bytes, struct end_record *end)
{
	end->disk = little_endian(bytes + 4, 2);
	end->directory_disk = little_endian(bytes + 6, 2);
	end->here = little_endian(bytes + 8, 2);
	end->count = little_endian(bytes + 10, 2);
	end->size = little_endian(bytes + 12, 4);
	end->offset = little_endian(bytes + 16, 4);
}

static void parse_end64(const unsigned char *bytes, struct end_record *end)
{
	end->disk = little_endian(bytes + 16, 4);
	end->directory_disk = little_endian(bytes + 20, 4);
	end->here = little_endian(bytes + 24, 8);
	end->count = little_endian(bytes + 32, 8);
	end->size = little_endian(bytes + 40, 8);
	end->offset = little_endian(bytes + 48, 8);
	end->zip64 = true;
}

/* Is `small`, of so many bytes, the number, or says it that the number is elsewhere? */
static bool end_agrees(uint64_t small, unsigned bytes, uint64_t number)
{
	return small == number || small == (UINT64_C(1) << 8 * bytes) - 1;
}

static bool both_agree(const struct end_record *end, const struct end_record *end64)
{
	return end_agrees(end->disk, 2, end64->disk) &&
	       end_agrees(end->directory_disk, 2, end64->directory_disk) &&
	       end_agrees(end->here, 2, end64->here) &&
	       end_agrees(end->count, 2, end64->count) &&
	       end_agrees(end->size, 4, end64->size) &&
	       end_agrees(end->offset, 4, end64->offset);
}

/* The 64-bit record at `at`, if it agrees with *end: replaces the numbers of *end. */
static int take_end64(const struct zip_archive *archive, uint64_t at,
		      struct end_record *end, bool *taken)
{
	unsigned char bytes[END64_BYTES];
	struct end_record end64 = *end;
	int err;

	if (*taken || !range_within(at, END64_BYTES + LOCATOR_BYTES, end->at))
		return 0;
	err = zip_read(archive, bytes, sizeof(bytes), at);
	if (err || memcmp(bytes, "PK\006\006", 4) != 0)
		return err;
	parse_end64(bytes, &end64);
	if (!both_agree(end, &end64))
		return 0;
	*end = end64;
	end->before = at;
	*taken = true;
	return 0;
}

/* The numbers of the 64-bit record, where there is one. */
static int find_end64(const struct zip_archive *archive, struct end_record *end)
{
	unsigned char locator[LOCATOR_BYTES];
	bool taken = false;
	int err;

	if (end->at < LOCATOR_BYTES + END64_BYTES)
		return 0;
	err = zip_read(archive, locator, sizeof(locator), end->at - LOCATOR_BYTES);
	if (err || memcmp(locator, "PK\006\007", 4) != 0)
		return err;
	end->parts = little_endian(locator + 16, 4) > 1;
	err = take_end64(archive, little_endian(locator + 8, 8) +
			 zip_disk_start(archive, little_endian(locator + 4, 4)), end, &taken);
	return err ? err : take_end64(archive, end->at - LOCATOR_BYTES - END64_BYTES, end,
				      &taken);
}

static int has_directory_at(const struct zip_archive *archive, uint64_t at, bool *out)
{
	unsigned char signature[4];
	int err;

	*out = false;
	if (!range_within(at, sizeof(signature), archive->scan->length))
		return 0;
	err = zip_read(archive, signature, sizeof(signature), at);
	*out = !err && memcmp(signature, "PK\001\002", 4) == 0;
	return err;
}

/*
 * Where the directory is: directly before the end, or, where something lies between,
 * where the record says. end->grade is END_NONE if it is at neither place.
 */
static int place_directory(const struct zip_archive *archive, struct end_record *end,
			   bool exact)
{
	bool there = false;
	int err = 0;

	end->grade = END_NONE;
	if (end->count == 0 && end->size == 0) {
		end->directory = end->before;
		end->grade = exact ? END_EXACT_EMPTY : END_EMPTY;
		return 0;
	}
	if (end->size <= end->before) {
		end->directory = end->before - end->size;
		end->shift = end->directory - end->offset;
		err = has_directory_at(archive, end->directory, &there);
	}
	if (!err && !there && range_within(end->offset, end->size, end->before)) {
		end->directory = end->offset;
		end->shift = 0;
		err = has_directory_at(archive, end->directory, &there);
	}
	if (there)
		end->grade = exact ? END_EXACT : END_BEFORE_OTHERS;
	return err;
}

static int examine_end(const struct zip_archive *archive, const unsigned char *bytes,
		       uint64_t at, struct end_record *end)
{
	uint64_t comment = little_endian(bytes + 20, 2);
	uint64_t behind = archive->scan->length - at - END_BYTES;
	int err;

	*end = (struct end_record){ .at = at, .before = at };
	if (comment > behind)
		return 0;
	parse_end(bytes, end);
	err = find_end64(archive, end);
	if (err)
		return err;
	if (end->disk && end->disk + 1 == zip_disk_count(archive)) {
		end->offset += zip_disk_start(archive, end->directory_disk);
		end->parts = false;
	} else {
		end->parts = end->parts || end->disk || end->directory_disk ||
			     end->here != end->count;
	}
	return place_directory(archive, end, comment == behind);
}

static int refuse_parts(const struct zip_archive *archive)
{
	if (zip_disk_count(archive) > 1)
		return error_set(archive->e, ERROR_DATASET, EBADMSG,
				 "'%s' is a zip archive in parts, of which %u are here, and its end "
				 "record has another number; put the missing parts beside them",
				 archive->scan->label, zip_disk_count(archive));
	return error_set(
		archive->e, ERROR_DATASET, EBADMSG,
		"'%s' is a part of a zip archive in several (.z01, .z02, ... and "
		".zip last); put all of them into one directory, and mount that .zip",
		archive->scan->label);
}

static int refuse_two(const struct zip_archive *archive, uint64_t at)
{
	return error_set(
		archive->e, ERROR_DATASET, EBADMSG,
		"'%s' has two end records, the second in the comment at byte %llu, and "
		"programs disagree which one counts; unpack it with a program that you "
		"trust, and pack that again",
		archive->scan->label, (unsigned long long)(archive->scan->base + at));
}

static int refuse_endless(const struct zip_archive *archive)
{
	return error_set(
		archive->e, ERROR_DATASET, EBADMSG,
		"'%s' is a truncated zip archive: it has no end record with a "
		"central directory in its last 64 KiB (it ends at byte %llu); copy "
		"it again, or see what zip -FF can save",
		archive->scan->label,
		(unsigned long long)(archive->scan->base + archive->scan->length));
}

static int refuse_empty(const struct zip_archive *archive)
{
	return error_set(
		archive->e, ERROR_DATASET, EBADMSG,
		"'%s' is an empty zip archive: it has no members; pack or copy it "
		"again",
		archive->scan->label);
}

/* The best record of the tail, which begins at `from`. */
static int search_tail(const struct zip_archive *archive, const unsigned char *tail,
		       size_t n, uint64_t from, struct end_record *best)
{
	for (size_t i = n - END_BYTES + 1; i-- > 0;) {
		struct end_record end;
		int err;

		if (memcmp(tail + i, "PK\005\006", 4) != 0)
			continue;
		err = examine_end(archive, tail + i, from + i, &end);
		if (err)
			return err;
		if (end.grade == END_EXACT && best->grade == END_EXACT)
			return refuse_two(archive, best->at);
		if (end.grade > best->grade)
			*best = end;
		else if (best->grade == END_NONE)
			best->parts |= end.parts;
	}
	return 0;
}

static int find_best(const struct zip_archive *archive, struct end_record *best)
{
	uint64_t length = archive->scan->length;
	size_t n = length < TAIL_MOST ? (size_t)length : TAIL_MOST;
	CLEANUP(cleanup_free) unsigned char *tail = malloc(TAIL_MOST);
	int err;

	if (!tail)
		return zip_no_memory(archive);
	err = zip_read(archive, tail, n, length - n);
	if (!err && n >= END_BYTES)
		err = search_tail(archive, tail, n, length - n, best);
	return err;
}

/* Does it begin as the first of several parts does? */
static int begins_as_part(const struct zip_archive *archive, bool *out)
{
	unsigned char head[4];
	int err = 0;

	*out = false;
	if (archive->scan->length >= sizeof(head)) {
		err = zip_read(archive, head, sizeof(head), 0);
		*out = !err && memcmp(head, "PK\007\010", 4) == 0;
	}
	return err;
}

int zip_find_directory(struct zip_archive *archive)
{
	struct end_record end = { .grade = END_NONE };
	bool part;
	int err = find_best(archive, &end);

	if (!err)
		err = begins_as_part(archive, &part);
	if (err)
		return err;
	if (end.parts || (part && end.grade == END_NONE))
		return refuse_parts(archive);
	if (end.grade == END_EXACT_EMPTY || (end.grade == END_EMPTY && end.at == 0))
		return refuse_empty(archive);
	if (end.grade < END_BEFORE_OTHERS)
		return refuse_endless(archive);
	archive->directory = end.directory;
	archive->directory_size = end.size;
	archive->count = end.count;
	archive->count_mask = end.zip64 ? UINT64_MAX : UINT16_MAX;
	archive->shift = end.shift;
	return 0;
}

int zip_probe_end(const unsigned char *tail, size_t n)
{
	for (size_t i = n < END_BYTES ? 0 : n - END_BYTES + 1; i-- > 0;)
		if (memcmp(tail + i, "PK\005\006", 4) == 0 &&
		    !all_zero(tail + i + 8, 8) &&
		    little_endian(tail + i + 20, 2) == n - i - END_BYTES)
			return 60;
	return 0;
}
