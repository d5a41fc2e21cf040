/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Members of a tar become entries. */
#include "build/findings.h"
#include "format/tar/walk_members.h"

#include <errno.h>
#include <string.h>

#include "base/checked.h"
#include "format/limits.h"
#include "format/tar/plain.h"

struct tar_place tar_walk_place(const struct tar_walk *walk)
{
	return (struct tar_place){ walk->scan->label, walk->window.base,
				   walk->window.length, walk->e };
}

int tar_walk_no_memory(struct tar_walk *walk)
{
	return format_no_memory(walk->scan->label, walk->e);
}

int tar_walk_refuse_read(struct tar_walk *walk)
{
	struct tar_place place = tar_walk_place(walk);

	if (walk->window.err == -ENODATA)
		return tar_refuse_cut(&place, walk->member.header);
	return tar_refuse_read(&place, walk->window.at, walk->window.err);
}

int tar_walk_refuse_member(struct tar_walk *walk, const char *what)
{
	struct tar_place place = tar_walk_place(walk);

	return tar_refuse_member(&place, what, walk->member.path, walk->member.data);
}

int tar_walk_refuse_truncated(struct tar_walk *walk)
{
	const struct tar_member *member = &walk->member;
	struct tar_place place = tar_walk_place(walk);
	uint64_t padded;

	if (!tar_round_up(member->stored, &padded))
		padded = UINT64_MAX;
	return tar_refuse_truncated(&place, member->path, member->data, padded);
}

void tar_walk_warn(struct tar_walk *walk, const char *what)
{
	findings_add(walk->scan->findings, FINDING_LEFT_OUT,
		     "member '%.200s' at byte %llu: %s", walk->member.path,
		     in_file(walk, walk->member.header), what);
}

/* Where a member's data are */

static int member_add_piece(struct tar_walk *walk, uint64_t file_offset,
			    uint64_t position, uint64_t length)
{
	struct entry_extent extent;
	uint64_t offset;
	int err;

	if (!checked_add(walk->window.base, position, &offset))
		return tar_walk_refuse_truncated(walk);
	err = entries_raw_extent(entries_last(walk->scan->entries), walk->scan->source_number,
				 source_size(walk->window.source), offset, length,
				 &extent);
	if (err == -EBADMSG)
		return tar_walk_refuse_truncated(walk);
	extent.file_offset = file_offset;
	return err || vec_push(&walk->extents, extent) < 0 ? tar_walk_no_memory(walk) : 0;
}

/*
 * The pieces of a sparse file lie one behind the other, in the map's order. Some
 * programs leave bytes behind the last one.
 */
static int map_sparse(struct tar_walk *walk)
{
	const struct tar_member *member = &walk->member;
	uint64_t used = 0, behind = 0, padded;

	for (size_t i = 0; i < member->map.pieces.count; i++) {
		const struct tar_piece *piece = &member->map.pieces.items[i];
		int err;

		if (piece->offset < behind ||
		    !range_within(piece->offset, piece->length, member->map.size) ||
		    !range_within(used, piece->length, member->stored))
			return tar_walk_refuse_member(walk, "map of sparse data");
		err = member_add_piece(walk, piece->offset, member->data + used,
				       piece->length);
		if (err)
			return err;
		behind = piece->offset + piece->length;
		used += piece->length;
	}
	if (tar_round_up(used, &padded) && padded < member->stored)
		tar_walk_warn(walk, "holds more bytes than its map of sparse data has; they "
				    "are left out");
	return 0;
}

/*
 * Where the next header is. The last member may lack the padding of its last block: all
 * of it is there.
 */
static int member_find_end(struct tar_walk *walk)
{
	const struct tar_member *member = &walk->member;
	uint64_t length = walk->window.length, padded;

	if (!range_within(member->data, member->stored, length))
		return tar_walk_refuse_truncated(walk);
	walk->last = member->header;
	walk->data_end = member->data + member->stored;
	if (!tar_round_up(member->stored, &padded) ||
	    !range_within(member->data, padded, length))
		walk->end = length;
	else
		walk->end = member->data + padded;
	return 0;
}

/* Members become entries */

static int member_add_file(struct tar_walk *walk, struct entry *entry)
{
	const struct tar_member *member = &walk->member;
	int err = 0;

	entry->size = member->sparse ? member->map.size : member->stored;
	if (entry->size > INT64_MAX)
		return tar_walk_refuse_member(walk, "size");
	if (member->sparse)
		err = map_sparse(walk);
	else if (entry->size)
		err = member_add_piece(walk, 0, member->data, entry->size);
	if (err)
		return err;
	entry->extents = walk->extents.items;
	entry->extent_count = walk->extents.count;
	if (!member->sparse && entry->extent_count == 1)
		format_offer_nested(walk->scan, entry, walk->window.base + member->data);
	return 0;
}

/* Sets entry->kind, or returns false for what a dataset cannot hold. */
static bool find_kind(struct tar_walk *walk, struct entry *entry)
{
	size_t n = strlen(entry->path);

	switch (walk->member.type) {
	case '1':
		entry->kind = ENTRY_HARDLINK;
		entry->target = walk->member.target;
		return true;
	case '2':
		entry->kind = ENTRY_SYMLINK;
		entry->target = walk->member.target;
		return true;
	case '3':
	case '4':
	case '6':
		walk->specials++;
		entries_leave_out(entries_last(walk->scan->entries));
		return false;
	case '5':
	case 'D': /* with a list of names, of GNU tar's incremental archives */
		entry->kind = ENTRY_DIRECTORY;
		return true;
	case 'V':
		return false;
	default: /* old tars knew no other sign of a directory */
		entry->kind = entry->path[n - 1] == '/' ? ENTRY_DIRECTORY : ENTRY_FILE;
		return true;
	}
}

static bool has_usable_path(struct tar_walk *walk, const char *path)
{
	bool usable = *path && strlen(path) <= LIMIT_PATH_BYTES;

	if (!usable)
		tar_walk_warn(walk, "has no name, or too long a one, and is left out");
	return usable;
}

int tar_add_member(struct tar_walk *walk)
{
	const struct tar_member *member = &walk->member;
	struct entry entry = {
		.path = member->path, .mode = member->mode, .uid = member->uid,
		.gid = member->gid, .mtime = member->mtime, .mtime_ns = member->mtime_ns,
	};
	int err = member_find_end(walk);

	if (err)
		return err;
	if (member->type != 'V' && !has_usable_path(walk, entry.path))
		return 0;
	if (!find_kind(walk, &entry))
		return 0;
	walk->extents.count = 0;
	err = tar_collect_xattrs(walk);
	if (!err && entry.kind == ENTRY_FILE)
		err = member_add_file(walk, &entry);
	if (err)
		return err;
	entry.xattrs = walk->xattrs.items;
	entry.xattr_count = walk->xattrs.count;
	return entries_add(entries_last(walk->scan->entries), &entry) < 0 ?
		       tar_walk_no_memory(walk) : 0;
}
