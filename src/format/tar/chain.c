/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The headers of one member: those that say more of it, and its own. */
#include "build/findings.h"
#include "format/tar/walk_members.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

enum {
	HEADERS_MOST = 16 * 1024 * 1024, /* bytes before a member */
	NOBODY = 65534, /* for ids that do not fit */
};

static void clear_member(struct tar_member *member)
{
	tar_records_clear(&member->records);
	free(member->long_name);
	free(member->long_link);
	member->long_name = member->long_link = NULL;
	member->map.pieces.count = 0;
}

void tar_walk_free(struct tar_walk *walk)
{
	clear_member(&walk->member);
	tar_records_free(&walk->member.records);
	tar_records_free(&walk->global);
	vec_free(&walk->member.map.pieces);
	for (size_t i = 0; i < walk->decoded.count; i++)
		free(walk->decoded.items[i]);
	vec_free(&walk->decoded);
	vec_free(&walk->extents);
	vec_free(&walk->xattrs);
}

/* Headers that describe the member behind them */

/* Leaves `size` bytes and a NUL in *out. `header` is where their header is. */
static int chain_read_text(struct tar_walk *walk, uint64_t header, uint64_t size,
			   char **out)
{
	struct tar_place place = tar_walk_place(walk);
	uint64_t data = header + TAR_BLOCK;
	char *text;
	int err;

	if (!range_within(data, size, walk->window.length))
		return tar_refuse_cut(&place, header);
	if (size > HEADERS_MOST || data - walk->member.header > HEADERS_MOST)
		return tar_refuse_header(&place, header, "it says too much of the next one");
	text = malloc((size_t)size + 1);
	if (!text)
		return tar_walk_no_memory(walk);
	err = tar_window_bytes(&walk->window, text, (size_t)size, data);
	if (err) {
		free(text);
		return tar_walk_refuse_read(walk);
	}
	text[size] = '\0';
	*out = text;
	return 0;
}

static void warn_header(struct tar_walk *walk, uint64_t header, const char *what)
{
	findings_add(walk->scan->findings, FINDING_LEFT_OUT,
		     "the header at byte %llu %s", in_file(walk, header), what);
}

/* One part of a file that is spread over several tars: nothing else is as it should be. */
static int refuse_volume(struct tar_walk *walk, const char *file)
{
	struct tar_place place = tar_walk_place(walk);

	return tar_refuse_volume(&place, file);
}

static int parse_global(struct tar_walk *walk, uint64_t header,
			const struct tar_records *records)
{
	const struct tar_record *name = tar_records_find(records, "GNU.volume.filename");
	struct tar_place place = tar_walk_place(walk);
	int err;

	if (name)
		return refuse_volume(walk, name->value);
	err = tar_records_merge(&walk->global, records);
	if (err == -E2BIG)
		return tar_refuse_header(&place, header, "it says too much of all that follow");
	return err ? tar_walk_no_memory(walk) : 0;
}

static int chain_add_records(struct tar_walk *walk, uint64_t header,
			     struct tar_records *records, char *text, size_t n)
{
	int err = tar_records_add(records, text, n);

	if (err == -ENOMEM)
		return tar_walk_no_memory(walk);
	if (err)
		warn_header(walk, header, "is a pax header with a record that makes no "
					  "sense, and is read up to there");
	walk->pax = true;
	return 0;
}

/* Takes a text that belongs to it from now on. */
static int chain_parse_text(struct tar_walk *walk, uint64_t header, char type, char *text,
			    size_t n)
{
	struct tar_member *member = &walk->member;
	char **name = type == 'K' ? &member->long_link : &member->long_name;
	struct tar_records records = { 0 };
	int err;

	if (type == 'x' || type == 'X')
		return chain_add_records(walk, header, &member->records, text, n);
	if (type == 'g') {
		err = chain_add_records(walk, header, &records, text, n);
		if (!err)
			err = parse_global(walk, header, &records);
		tar_records_free(&records);
		return err;
	}
	if ((type == 'L' || type == 'K') && !*name)
		*name = text;
	else
		free(text);
	return 0;
}

/* The header at walk->end says more of the next one: goes behind that. */
static int parse_extension(struct tar_walk *walk, const unsigned char *block)
{
	struct tar_place place = tar_walk_place(walk);
	uint64_t header = walk->end, padded, end;
	char type = (char)block[TAR_TYPE], *text = NULL;
	int64_t size;
	int err;

	if (!tar_number(block + TAR_SIZE, TAR_LONG_BYTES, &size) || size < 0 ||
	    !tar_round_up((uint64_t)size, &padded) ||
	    !checked_add(header + TAR_BLOCK, padded, &end))
		return tar_refuse_header(&place, header, "its size makes no sense");
	err = chain_read_text(walk, header, (uint64_t)size, &text);
	if (!err)
		err = chain_parse_text(walk, header, type, text, (size_t)size);
	walk->end = end < walk->window.length ? end : walk->window.length;
	walk->window.extended = true;
	return err;
}

/* The member's own header */

/* The record of a member's pax header, or else of the global one; or NULL. */
static const struct tar_record *chain_find(const struct tar_walk *walk, const char *key)
{
	const struct tar_record *record = tar_records_find(&walk->member.records, key);

	if (!record)
		record = tar_records_find(&walk->global, key);
	return record && record->size ? record : NULL;
}

static uint32_t owner_id(const struct tar_walk *walk, const char *key,
			 const unsigned char *field)
{
	const struct tar_record *record = chain_find(walk, key);
	int64_t id;

	if (!record || !tar_record_number(record, &id))
		tar_number(field, TAR_ID_BYTES, &id);
	return id < 0 || id >= UINT32_MAX ? NOBODY : (uint32_t)id;
}

static void parse_mtime(struct tar_walk *walk, const unsigned char *block)
{
	struct tar_member *member = &walk->member;
	const struct tar_record *record = chain_find(walk, "mtime");

	if (record && tar_record_time(record, &member->mtime, &member->mtime_ns))
		return;
	if (record)
		warn_header(walk, member->header, "has an mtime that is no number");
	member->mtime_ns = 0;
	tar_number(block + TAR_MTIME, TAR_LONG_BYTES, &member->mtime);
}

static void parse_names(struct tar_walk *walk, const unsigned char *block)
{
	struct tar_member *member = &walk->member;
	const struct tar_record *path = chain_find(walk, "GNU.sparse.name");
	const struct tar_record *link = chain_find(walk, "linkpath");

	if (!path)
		path = chain_find(walk, "path");
	tar_header_path(block, member->name);
	memcpy(member->link, block + TAR_LINK, TAR_NAME_BYTES);
	member->link[TAR_NAME_BYTES] = '\0';
	member->path = path ? path->value :
		       member->long_name ? member->long_name : member->name;
	member->target = link ? link->value :
			 member->long_link ? member->long_link : member->link;
}

static bool is_at_header(struct tar_walk *walk, uint64_t position)
{
	unsigned char block[TAR_BLOCK];

	return tar_window_peek(&walk->window, block, TAR_BLOCK, position) == 0 &&
	       tar_header_fits(block);
}

/*
 * Do data follow the header? A hard link with a size may have them since pax: where the
 * archive is not known to be pax, a header in the place of the data says that it has none.
 */
static bool has_data(struct tar_walk *walk, const unsigned char *block)
{
	enum tar_dialect dialect = tar_header_dialect(block);

	if (block[TAR_TYPE] && strchr("23456V", block[TAR_TYPE]))
		return false;
	if (block[TAR_TYPE] != '1' || walk->pax)
		return true;
	return dialect != TAR_V7 && dialect != TAR_GNU &&
	       !is_at_header(walk, walk->member.data);
}

static int chain_parse_size(struct tar_walk *walk, const unsigned char *block)
{
	const struct tar_record *record = chain_find(walk, "size");
	int64_t size;

	if (!has_data(walk, block)) {
		walk->member.stored = 0;
		return 0;
	}
	if ((record ? !tar_record_number(record, &size) :
		      !tar_number(block + TAR_SIZE, TAR_LONG_BYTES, &size)) || size < 0)
		return tar_walk_refuse_member(walk, "size");
	walk->member.stored = (uint64_t)size;
	return 0;
}

static int explain_map(struct tar_walk *walk, int err)
{
	struct tar_place place = tar_walk_place(walk);

	switch (err) {
	case 0:
		return 0;
	case -EBADMSG:
		return tar_walk_refuse_member(walk, "map of sparse data");
	case -ENOMEM:
		return tar_walk_no_memory(walk);
	case -ENODATA:
		return tar_refuse_cut(&place, walk->member.header);
	default:
		return tar_walk_refuse_read(walk);
	}
}

/* The map of a sparse member, wherever it is. `block` is not valid afterwards. */
static int parse_map(struct tar_walk *walk, const unsigned char *block)
{
	struct tar_member *member = &walk->member;
	const struct tar_records *records = &member->records;
	enum tar_dialect dialect = tar_header_dialect(block);
	bool old = block[TAR_TYPE] == 'S' && (dialect == TAR_GNU || dialect == TAR_STAR);
	const struct tar_record *real = chain_find(walk, "SCHILY.realsize");
	int64_t size;
	int err = 0;

	member->sparse = true;
	if (old)
		err = tar_map_header(&member->map, &walk->window, block, &member->data);
	else if (tar_map_is_in_records(records))
		err = tar_map_records(&member->map, records);
	else if (!tar_map_is_in_data(records))
		member->sparse = false;
	else if (!range_within(member->data, member->stored, walk->window.length))
		return tar_walk_refuse_truncated(walk);
	else
		err = tar_map_data(&member->map, &walk->window, records, &member->data,
				   &member->stored);
	if (!err && old && real && tar_record_number(real, &size) && size >= 0)
		member->map.size = (uint64_t)size;
	return explain_map(walk, err);
}

static int parse_header(struct tar_walk *walk, const unsigned char *block)
{
	struct tar_member *member = &walk->member;
	int64_t mode;
	int err;

	tar_number(block + TAR_MODE, TAR_ID_BYTES, &mode);
	member->mode = (uint32_t)mode & 0777;
	member->type = (char)block[TAR_TYPE];
	member->uid = owner_id(walk, "uid", block + TAR_UID);
	member->gid = owner_id(walk, "gid", block + TAR_GID);
	member->data = walk->end + TAR_BLOCK;
	parse_names(walk, block);
	parse_mtime(walk, block);
	if (member->type == 'M')
		return refuse_volume(walk, member->path);
	err = chain_parse_size(walk, block);
	return err ? err : parse_map(walk, block);
}

int tar_read_headers(struct tar_walk *walk)
{
	struct tar_member *member = &walk->member;
	const unsigned char *block;
	bool alone = true;
	int err;

	clear_member(member);
	member->header = walk->end;
	for (;;) {
		block = tar_window_header(&walk->window, walk->end);
		if (!block && walk->window.err)
			return tar_walk_refuse_read(walk);
		if (!block || !tar_header_fits(block))
			break;
		if (!tar_header_extends(block)) {
			err = parse_header(walk, block);
			return err ? err : 1;
		}
		alone &= block[TAR_TYPE] == 'g';
		err = parse_extension(walk, block);
		if (err)
			return err;
	}
	if (!alone)
		warn_header(walk, member->header, "says more of a member that does not "
						  "follow");
	return 0;
}
