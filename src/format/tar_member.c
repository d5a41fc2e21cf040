/* Members of a tar, as libarchive sees them, become entries. */
#include "format/tar_walk.h"

#include <string.h>

#include "format/limits.h"
#include "format/tar_header.h"
#include "format/tar_plain.h"
#include "util/checked.h"
#include "util/log.h"

enum { NOBODY = 65534 }; /* for ids that do not fit */

static const char *member_name(const struct tar_walk *walk)
{
	const char *name = archive_entry_pathname(walk->entry);

	return name ? name : "";
}

struct tar_place tar_walk_place(const struct tar_walk *walk)
{
	return (struct tar_place){ walk->scan->label, walk->window.base,
				   walk->window.length, walk->e };
}

int tar_walk_no_memory(struct tar_walk *walk)
{
	return format_no_memory(walk->scan->label, walk->e);
}

int tar_walk_refuse_read(struct tar_walk *walk, int err)
{
	struct tar_place place = tar_walk_place(walk);

	return tar_refuse_read(&place, walk->window.at, err);
}

int tar_walk_refuse_member(struct tar_walk *walk, const char *what)
{
	struct tar_place place = tar_walk_place(walk);

	return tar_refuse_member(&place, what, member_name(walk), walk->data);
}

static int refuse_truncated(struct tar_walk *walk, uint64_t stored)
{
	struct tar_place place = tar_walk_place(walk);

	return tar_refuse_truncated(&place, member_name(walk), walk->data, stored);
}

void tar_walk_warn(struct tar_walk *walk, const char *what)
{
	if (walk->warnings++ < LIMIT_WARNINGS)
		log_warn("'%s': member '%.200s' at byte %llu: %s", walk->scan->label,
			 member_name(walk), in_file(walk, walk->header), what);
}

/* Where a member's data are */

static int add_piece(struct tar_walk *walk, uint64_t file_offset, uint64_t position,
		     uint64_t length)
{
	struct entry_extent extent;
	uint64_t offset;
	int err;

	if (!range_within(position, length, walk->window.length) ||
	    !checked_add(walk->window.base, position, &offset))
		return refuse_truncated(walk, length);
	err = entries_raw_extent(entries_last(walk->scan->entries), walk->scan->source_number,
				 source_size(walk->window.source), offset, length,
				 &extent);
	if (err == -EBADMSG)
		return refuse_truncated(walk, length);
	extent.file_offset = file_offset;
	return err || vec_push(&walk->extents, extent) < 0 ? tar_walk_no_memory(walk) : 0;
}

/*
 * A file without a map of pieces. One that is all hole may have no map left,
 * and then no data are stored either.
 */
static int map_whole(struct tar_walk *walk, uint64_t size)
{
	uint64_t stored = walk->end - walk->data, padded;

	if (size == 0 || stored == 0)
		return 0;
	if (!tar_round_up(size, &padded) || padded != stored)
		return tar_walk_refuse_member(walk, "size");
	return add_piece(walk, 0, walk->data, size);
}

/* The pieces of a sparse file lie one behind the other, in the map's order. */
static int map_sparse(struct tar_walk *walk, uint64_t size)
{
	uint64_t stored = walk->end - walk->data, used = 0, behind = 0, padded;
	la_int64_t offset, length;

	while (archive_entry_sparse_next(walk->entry, &offset, &length) ==
	       ARCHIVE_OK) {
		int err;

		if (length == 0)
			continue; /* how a hole at the end is written */
		if (offset < 0 || length < 0 || (uint64_t)offset < behind ||
		    !range_within((uint64_t)offset, (uint64_t)length, size) ||
		    !range_within(used, (uint64_t)length, stored))
			return tar_walk_refuse_member(walk, "map of sparse data");
		err = add_piece(walk, (uint64_t)offset, walk->data + used,
				(uint64_t)length);
		if (err)
			return err;
		behind = (uint64_t)offset + (uint64_t)length;
		used += (uint64_t)length;
	}
	if (!tar_round_up(used, &padded) || padded != stored)
		return tar_walk_refuse_member(walk, "map of sparse data");
	return 0;
}

/* Bytes that the archive should hold for the member, for a message. */
static uint64_t expected_data(const struct tar_walk *walk)
{
	la_int64_t size = archive_entry_size(walk->entry), offset, length;
	uint64_t sum = 0, padded;

	if (archive_entry_sparse_reset(walk->entry) == 0)
		sum = size > 0 ? (uint64_t)size : 0;
	while (archive_entry_sparse_next(walk->entry, &offset, &length) ==
	       ARCHIVE_OK)
		if (length > 0 && !checked_add(sum, (uint64_t)length, &sum))
			return UINT64_MAX;
	return tar_round_up(sum, &padded) ? padded : UINT64_MAX;
}

la_int64_t tar_walk_position(const struct tar_walk *walk, la_int64_t counted)
{
	return counted < 0 ? counted : walk->start + counted;
}

int tar_step_over(struct tar_walk *walk)
{
	int r = archive_read_data_skip(walk->archive);
	la_int64_t end = tar_walk_position(walk, archive_filter_bytes(walk->archive, 0));

	if (walk->window.err)
		return tar_walk_refuse_read(walk, walk->window.err);
	if (r < ARCHIVE_WARN && walk->window.at_end)
		return refuse_truncated(walk, expected_data(walk));
	if (r < ARCHIVE_WARN || end < 0 || (uint64_t)end < walk->data ||
	    (uint64_t)end > walk->window.length)
		return tar_walk_refuse_member(walk, "size");
	walk->end = (uint64_t)end;
	return 0;
}

/* What else a member has */

static uint32_t owner_id(la_int64_t id)
{
	return id < 0 || id >= UINT32_MAX ? NOBODY : (uint32_t)id;
}

/*
 * libarchive takes the fraction of a time before 1970 for a positive one, and
 * loses the sign of "-0.5". So these are read from the pax header itself.
 */
static void correct_mtime(const struct tar_walk *walk, struct entry *entry)
{
	if (entry->mtime <= 0 && entry->mtime_ns != 0)
		tar_window_negative_mtime(&walk->window, walk->header, walk->data,
					  &entry->mtime, &entry->mtime_ns);
}

static bool has_xattr(const struct tar_walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->xattrs.count; i++)
		if (strcmp(walk->xattrs.items[i].name, name) == 0)
			return true;
	return false;
}

/* libarchive lists the last first, and the last of a name is the valid one. */
static int collect_xattrs(struct tar_walk *walk)
{
	struct entry_xattr xattr;
	size_t total = 0;

	walk->xattrs.count = 0;
	if (archive_entry_xattr_reset(walk->entry) == 0)
		return 0;
	while (archive_entry_xattr_next(walk->entry, &xattr.name, &xattr.value,
					&xattr.size) == ARCHIVE_OK) {
		if (!xattr.name || strncmp(xattr.name, "user.", 5) != 0 ||
		    !xattr.name[5])
			continue;
		if (walk->xattrs.count == LIMIT_XATTRS ||
		    strlen(xattr.name) > LIMIT_XATTR_NAME_BYTES ||
		    xattr.size > LIMIT_XATTR_VALUE_BYTES ||
		    xattr.size > LIMIT_XATTR_TOTAL_BYTES - total) {
			tar_walk_warn(walk, "extended attributes beyond the limits "
					  "are left out");
			continue;
		}
		if (has_xattr(walk, xattr.name))
			continue;
		if (vec_push(&walk->xattrs, xattr) < 0)
			return tar_walk_no_memory(walk);
		total += xattr.size;
	}
	return 0;
}

/* Members become entries */

static int take_file(struct tar_walk *walk, struct entry *entry)
{
	la_int64_t size = archive_entry_size(walk->entry);
	bool sparse = archive_entry_sparse_reset(walk->entry) > 0;
	int err;

	if (size < 0)
		return tar_walk_refuse_member(walk, "size");
	entry->size = (uint64_t)size;
	err = sparse ? map_sparse(walk, entry->size) : map_whole(walk, entry->size);
	if (err)
		return err;
	entry->extents = walk->extents.items;
	entry->extent_count = walk->extents.count;
	if (!sparse && walk->extents.count == 1)
		tar_offer_nested(walk->scan, entry, walk->window.base + walk->data);
	return 0;
}

/* Sets entry->kind, or returns false for what a dataset cannot hold. */
static bool find_kind(struct tar_walk *walk, struct entry *entry)
{
	size_t n = strlen(entry->path);

	entry->target = archive_entry_hardlink(walk->entry);
	entry->kind = ENTRY_HARDLINK;
	if (entry->target)
		return true;
	switch (archive_entry_filetype(walk->entry)) {
	case AE_IFREG: /* old tars knew no other sign of a directory */
		entry->kind = entry->path[n - 1] == '/' ? ENTRY_DIRECTORY :
							  ENTRY_FILE;
		return true;
	case AE_IFDIR:
		entry->kind = ENTRY_DIRECTORY;
		return true;
	case AE_IFLNK:
		entry->kind = ENTRY_SYMLINK;
		entry->target = archive_entry_symlink(walk->entry);
		return entry->target != NULL;
	case 0: /* the rest of a file whose beginning is in another archive */
		tar_walk_warn(walk, "is continued from another volume and is left out");
		return false;
	default:
		walk->specials++;
		entries_leave_out(entries_last(walk->scan->entries));
		return false;
	}
}

static void fill_attributes(struct tar_walk *walk, struct entry *entry)
{
	long ns = archive_entry_mtime_nsec(walk->entry);

	entry->mode = (uint32_t)archive_entry_perm(walk->entry) & 0777;
	entry->uid = owner_id(archive_entry_uid(walk->entry));
	entry->gid = owner_id(archive_entry_gid(walk->entry));
	entry->mtime = archive_entry_mtime(walk->entry);
	entry->mtime_ns = ns < 0 || ns > 999999999 ? 0 : (uint32_t)ns;
	correct_mtime(walk, entry);
}

static bool has_usable_path(struct tar_walk *walk, const char *path)
{
	bool usable = path && *path && strlen(path) <= LIMIT_PATH_BYTES;

	if (!usable)
		tar_walk_warn(walk, "has no name, or too long a one, and is left out");
	return usable;
}

int tar_take_member(struct tar_walk *walk)
{
	struct entry entry = { .path = archive_entry_pathname(walk->entry) };
	int err = tar_step_over(walk);

	if (err)
		return err;
	if (!has_usable_path(walk, entry.path) || !find_kind(walk, &entry))
		return 0;
	fill_attributes(walk, &entry);
	walk->extents.count = 0;
	err = collect_xattrs(walk);
	if (!err && entry.kind == ENTRY_FILE)
		err = take_file(walk, &entry);
	if (err)
		return err;
	entry.xattrs = walk->xattrs.items;
	entry.xattr_count = walk->xattrs.count;
	return entries_add(entries_last(walk->scan->entries), &entry) < 0 ? tar_walk_no_memory(walk) : 0;
}
