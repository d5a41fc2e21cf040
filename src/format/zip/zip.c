/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zip archives.
 *
 * The central directory at the end has all names and sizes; each member's local header
 * says where its bytes begin. Names, numbers and places are checked against one another:
 * what programs read differently is refused.
 */
#include "format/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "build/findings.h"
#include "config.h"
#include "format/zip/central.h"
#include "format/zip/local_header.h"
#include "format/zip/zip_archive.h"
#include "format/zip/zip_entries.h"

static int zip_probe(const unsigned char *head, size_t n)
{
	static const char *const begins[] = {
		"PK\003\004", /* a local header */
		"PK\005\006", /* the end record of an empty archive */
		"PK\007\010", /* the first of several parts */
		"PK00PK\003\004", /* the only one of several parts */
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (n >= strlen(begins[i]) &&
		    memcmp(head, begins[i], strlen(begins[i])) == 0)
			return 90;
	return 0;
}

#if WITH_DEFLATE

/* The bytes of a member, its local header included. */
struct zip_range {
	uint64_t start, end;
};

struct zip_walk {
	struct zip_archive archive;
	struct zip_central central;
	struct zip_local local;
	struct zip_entries entries;
	VEC(struct zip_range) ranges;
	bool disordered; /* members are in another order than their records */
};

static int ranges_in_order(const void *left, const void *right)
{
	const struct zip_range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Members that share bytes are a bomb: a few bytes are each of many large files. */
static int check_ranges(struct zip_walk *walk)
{
	struct zip_range *ranges = walk->ranges.items;

	if (walk->disordered)
		qsort(ranges, walk->ranges.count, sizeof(*ranges), ranges_in_order);
	for (size_t i = 1; i < walk->ranges.count; i++)
		if (ranges[i].start < ranges[i - 1].end)
			return zip_damaged(&walk->archive, ranges[i].start,
					   "two members share the bytes");
	return 0;
}

static int add_range(struct zip_walk *walk, const struct zip_member *member)
{
	struct zip_range range = { member->header, member->data + member->stored };
	size_t n = walk->ranges.count;

	if (n && range.start < walk->ranges.items[n - 1].start)
		walk->disordered = true;
	return vec_push(&walk->ranges, range) < 0 ? zip_no_memory(&walk->archive) : 0;
}

static int walk_member(struct zip_walk *walk, struct zip_member *member)
{
	struct scan *scan = walk->archive.scan;
	int err;

	if (member->disk >= zip_disk_count(&walk->archive))
		return zip_damaged_member(&walk->archive, member,
					  "the number of the part");
	zip_central_announce(&walk->central);
	err = zip_local_find_data(&walk->local, &walk->archive, member);
	if (!err)
		err = add_range(walk, member);
	if (!err)
		err = zip_entries_add(&walk->entries, member);
	if (!err && scan->advance)
		scan->advance(scan, member->stored);
	return err;
}

static int walk_members(struct zip_walk *walk)
{
	struct zip_member member;
	int r;

	while ((r = zip_central_next(&walk->central, &member)) > 0) {
		r = walk_member(walk, &member);
		if (r)
			return r;
	}
	return r ? r : check_ranges(walk);
}

static int scan_opened(struct zip_walk *walk)
{
	int err = zip_central_open(&walk->central, &walk->archive);

	if (!err)
		err = zip_local_open(&walk->local, &walk->archive);
	if (!err)
		err = zip_entries_open(&walk->entries, &walk->archive);
	if (!err)
		err = walk_members(walk);
	if (!err)
		zip_entries_report(&walk->entries);
	return err;
}

static int zip_scan(struct scan *scan, struct error *e)
{
	struct zip_walk walk = { .archive = { .scan = scan, .e = e } };
	int err = zip_find_directory(&walk.archive);

	if (err)
		return err;
	err = scan_opened(&walk);
	zip_entries_close(&walk.entries);
	zip_local_close(&walk.local);
	zip_central_close(&walk.central);
	vec_free(&walk.ranges);
	return err;
}

#endif /* WITH_DEFLATE */

const struct format format_zip = {
	.name = "zip",
	.nests = true,
	.appends = true,
	.probe = zip_probe,
	.probe_end = zip_probe_end,
	IF_DEFLATE(.scan = zip_scan,)
	UNLESS_DEFLATE(.needs = NEEDS_DEFLATE,)
};
