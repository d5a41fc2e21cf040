/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_input.c: entries of an input that is no directory. The input may be hostile: each
 * name lies in a directory that was added before, and the paths ascend, so that no entry
 * comes twice and a directory's contents come behind it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "os/whole.h"
#include "packer/input.h"
#include "packer/scan.h"

/* The sum of a plan's sizes must not overflow. */
static const uint64_t most_bytes = UINT64_C(1) << 61;

static bool scan_is_name(const char *name, size_t length)
{
	return length && !memchr(name, '/', length) && !memchr(name, '\0', length) &&
	       !(length == 1 && *name == '.') && !(length == 2 && memcmp(name, "..", 2) == 0);
}

/*
 * Counts bytes before they are copied: the names of a deep tree are in the paths of all
 * that is in it, and one attribute may belong to many files. 0 or -E2BIG.
 */
static int scan_count_copy(struct pack_scan *scan, size_t size)
{
	if (size > scan->input->copies_most - scan->copies)
		return -E2BIG;
	scan->copies += size;
	return 0;
}

/* The path of a name in an entry that is a directory; NULL: out of memory. */
static const char *path_in(struct pack_scan *scan, const struct pack_scan_entry *directory,
			   const char *name, size_t length)
{
	return arena_print(&scan->arena, "%s%s%.*s", directory->path,
			   *directory->path ? "/" : "", (int)length, name);
}

static bool attributes_are_sound(const struct pack_scan *scan,
				 const struct pack_scan_entry *entry)
{
	if (entry->mode > 07777 || entry->mtime_ns >= 1000000000U)
		return false;
	if (entry->kind == PACK_FILE)
		return entry->size <= most_bytes - scan->bytes;
	return (entry->kind == PACK_DIRECTORY || entry->kind == PACK_SYMLINK) &&
	       !entry->size && !entry->linked;
}

static int scan_make_room(struct pack_scan *scan)
{
	size_t room = scan->room ? 2 * scan->room : 1024;
	struct pack_scan_entry *entries;

	if (scan->count < scan->room)
		return 0;
	entries = reallocarray(scan->entries, room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	scan->entries = entries;
	scan->room = room;
	return 0;
}

/* Fills the path: 0, or -EBADMSG where the entry can be in no tree, -ENOMEM, -E2BIG. */
static int place_entry(struct pack_scan *scan, size_t directory, const char *name,
		       size_t length, struct pack_scan_entry *entry)
{
	int err;

	if (!scan->count) {
		entry->path = "";
		return entry->kind == PACK_DIRECTORY && !length ? 0 : -EBADMSG;
	}
	if (directory >= scan->count || scan->entries[directory].kind != PACK_DIRECTORY ||
	    !scan_is_name(name, length))
		return -EBADMSG;
	err = scan_count_copy(scan, strlen(scan->entries[directory].path) + length + 2);
	if (err)
		return err;
	entry->path = path_in(scan, &scan->entries[directory], name, length);
	if (!entry->path)
		return -ENOMEM;
	return pack_path_compare(scan->entries[scan->count - 1].path, entry->path) < 0 ?
		       0 : -EBADMSG;
}

int pack_scan_add(struct pack_scan *scan, size_t directory, const char *name, size_t length,
		  const struct pack_scan_entry *attributes)
{
	struct pack_scan_entry entry = *attributes;
	int err;

	if (!attributes_are_sound(scan, &entry) || scan->count >= UINT32_MAX - 1)
		return -EBADMSG;
	err = place_entry(scan, directory, name, length, &entry);
	if (!err && entry.kind == PACK_SYMLINK)
		err = scan_count_copy(scan, strlen(entry.target) + 1);
	if (!err && entry.kind == PACK_SYMLINK) {
		entry.target = arena_copy(&scan->arena, entry.target, strlen(entry.target));
		err = entry.target ? 0 : -ENOMEM;
	}
	entry.xattrs = NULL;
	entry.xattr_count = 0;
	if (!err)
		err = scan_make_room(scan);
	if (err)
		return err;
	if (entry.kind == PACK_FILE)
		scan->bytes += entry.size;
	scan->entries[scan->count++] = entry;
	return 0;
}

/* The array has room for a power of two: NULL: out of memory. */
static struct pack_xattr *scan_xattr_room(struct pack_scan *scan,
					  const struct pack_scan_entry *entry)
{
	uint32_t count = entry->xattr_count;
	struct pack_xattr *all;

	if (count & (count - 1))
		return (struct pack_xattr *)(uintptr_t)entry->xattrs;
	all = arena_alloc(&scan->arena, (count ? 2 * count : 1) * sizeof(*all));
	if (all && count)
		memcpy(all, entry->xattrs, count * sizeof(*all));
	return all;
}

static bool scan_xattr_is_sound(const struct pack_scan_entry *entry, const char *name,
				size_t size)
{
	uint32_t count = entry->xattr_count;

	return entry->kind != PACK_SYMLINK && strncmp(name, "user.", 5) == 0 &&
	       strlen(name) <= XATTR_NAME_MAX && size <= XATTR_SIZE_MAX &&
	       count < PACK_SCAN_XATTRS &&
	       (!count || strcmp(entry->xattrs[count - 1].name, name) < 0);
}

int pack_scan_add_xattr(struct pack_scan *scan, const char *name, const void *value,
			size_t size)
{
	struct pack_scan_entry *entry = scan->count ? &scan->entries[scan->count - 1] : NULL;
	struct pack_xattr one = { .size = size };
	struct pack_xattr *all;
	int err;

	if (!entry || !scan_xattr_is_sound(entry, name, size))
		return -EBADMSG;
	/* the arena keeps the arrays that were too small */
	err = scan_count_copy(scan, strlen(name) + size + 4 * sizeof(*all));
	if (err)
		return err;
	all = scan_xattr_room(scan, entry);
	one.name = arena_copy(&scan->arena, name, strlen(name));
	one.value = arena_copy(&scan->arena, value, size);
	if (!all || !one.name || !one.value)
		return -ENOMEM;
	all[entry->xattr_count++] = one;
	entry->xattrs = all;
	return 0;
}

int pack_scan_list(const struct pack_input *input, struct pack_scan *out, struct error *e)
{
	int err;

	*out = (struct pack_scan){ .root = -1, .input = input };
	err = input->list(input->context, out, e);
	if (err)
		return err;
	err = out->count ? pack_scan_find_links(out) : -EBADMSG;
	return err ? error_set(e, ERROR_SYSTEM, -err, "the tree cannot be listed: %s",
			       strerror(-err)) : 0;
}

/* A file that grew has its first bytes; one that shrank fewer. */
ssize_t pack_scan_read(const struct pack_scan *scan, const struct pack_scan_entry *entry,
		       void *bytes, size_t length, const char **where)
{
	CLEANUP(cleanup_close) int fd = -1;
	int err;

	*where = "read";
	if (scan->input) {
		length = length < entry->size ? length : (size_t)entry->size;
		err = scan->input->read(scan->input->context, entry, bytes, length, 0);
		return err ? err : (ssize_t)length;
	}
	fd = pack_scan_open(scan->root, entry->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return read_whole_at(fd, bytes, length, 0);
	*where = "opened";
	return fd;
}
