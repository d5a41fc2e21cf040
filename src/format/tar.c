/*
 * tar archives, through libarchive.
 *
 * libarchive parses the headers and says where a member's data begin; the data
 * themselves are stepped over, not read. Everything that it says is checked
 * against the window: it was made to unpack a stream, and does not mind where
 * the pieces of a file lie.
 *
 * Names come out byte for byte because the scan runs in the C locale. There,
 * libarchive cannot convert a name of a pax header that is not ASCII, warns,
 * and keeps the bytes as they are. In a UTF-8 locale it would compose accents
 * (NFC), and a name would be found under other bytes than were packed.
 */
#include "format/format.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "format/limits.h"
#include "format/tar_header.h"
#include "format/tar_window.h"
#include "util/checked.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/vec.h"

enum {
	END_MARKER = 2 * TAR_BLOCK, /* zeros that end an archive */
	NOBODY = 65534, /* for ids that do not fit */
};

/* One scan. */
struct walk {
	struct scan *scan;
	struct tar_window window;
	struct archive *archive;
	struct archive_entry *entry; /* the member at hand */
	uint64_t header, data; /* where its headers and its data begin */
	uint64_t end;   /* behind the padded data of the last member */
	VEC(struct entry_extent) extents;
	VEC(struct entry_xattr) xattrs;
	uint64_t specials;
	unsigned warnings;
	struct error *e;
};

static const char *const suffixes[] = { ".tar", NULL };

static int tar_probe(const unsigned char *head, size_t n)
{
	bool magic = n >= TAR_BLOCK && memcmp(head + 257, "ustar", 5) == 0;

	if (n >= TAR_BLOCK && tar_header_fits(head))
		return magic ? 100 : 80;
	return magic ? 40 : 0; /* damaged: the scan says where */
}

/* What libarchive calls */

static la_ssize_t read_block(struct archive *archive, void *data, const void **out)
{
	struct tar_window *window = data;
	la_ssize_t n = tar_window_read(window, out);

	if (n < 0)
		archive_set_error(archive, -window->err, "read error");
	return n;
}

static la_int64_t skip_block(struct archive *archive, void *data, la_int64_t wanted)
{
	(void)archive;
	return wanted <= 0 ? 0 : (la_int64_t)tar_window_skip(data, (uint64_t)wanted);
}

/* Messages */

static unsigned long long in_file(const struct walk *walk, uint64_t position)
{
	return (unsigned long long)(walk->window.base + position);
}

static const char *member_name(const struct walk *walk)
{
	const char *name = archive_entry_pathname(walk->entry);

	return name ? name : "";
}

static int out_of_memory(struct walk *walk)
{
	return format_no_memory(walk->scan->label, walk->e);
}

static int refuse_read(struct walk *walk, int err)
{
	errno = -err;
	return error_set(walk->e, ERROR_SYSTEM, -err,
			 "cannot read '%s' near byte %llu: %m; check the storage, or "
			 "copy the file again",
			 walk->scan->label, in_file(walk, walk->window.at));
}

static int refuse_member(struct walk *walk, const char *what)
{
	return error_set(walk->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: the %s of member '%.200s' at byte %llu is "
			 "not right; copy it again, or pack it again",
			 walk->scan->label, what, member_name(walk),
			 in_file(walk, walk->data));
}

static int refuse_truncated(struct walk *walk, uint64_t stored)
{
	uint64_t want, missing = 0;

	if (checked_add(stored, walk->data, &want) && want > walk->window.length)
		missing = want - walk->window.length;
	return error_set(walk->e, ERROR_DATASET, EBADMSG,
			 "'%s' is truncated: it ends at byte %llu inside member "
			 "'%.200s', which needs %llu more bytes; copy it again",
			 walk->scan->label, in_file(walk, walk->window.length),
			 member_name(walk), (unsigned long long)missing);
}

static int refuse_header(struct walk *walk, uint64_t position, const char *reason)
{
	return error_set(walk->e, ERROR_DATASET, EBADMSG,
			 "'%s' is damaged: there is no valid tar header at byte %llu"
			 "%s%s; copy it again, or pack it again",
			 walk->scan->label, in_file(walk, position),
			 reason ? ": " : "", reason ? reason : "");
}

static void warn_member(struct walk *walk, const char *what)
{
	if (walk->warnings++ < LIMIT_WARNINGS)
		log_warn("'%s': member '%.200s' at byte %llu: %s", walk->scan->label,
			 member_name(walk), in_file(walk, walk->header), what);
}

/* Where a member's data are */

static int add_piece(struct walk *walk, uint64_t file_offset, uint64_t position,
		     uint64_t length)
{
	struct entry_extent extent;
	uint64_t offset;
	int err;

	if (!range_within(position, length, walk->window.length) ||
	    !checked_add(walk->window.base, position, &offset))
		return refuse_truncated(walk, length);
	err = entries_raw_extent(walk->scan->entries, walk->scan->source_number,
				 source_size(walk->window.source), offset, length,
				 &extent);
	if (err == -EBADMSG)
		return refuse_truncated(walk, length);
	extent.file_offset = file_offset;
	return err || vec_push(&walk->extents, extent) < 0 ? out_of_memory(walk) : 0;
}

/*
 * A file without a map of pieces. One that is all hole may have no map left,
 * and then no data are stored either.
 */
static int map_whole(struct walk *walk, uint64_t size)
{
	uint64_t stored = walk->end - walk->data, padded;

	if (size == 0 || stored == 0)
		return 0;
	if (!tar_round_up(size, &padded) || padded != stored)
		return refuse_member(walk, "size");
	return add_piece(walk, 0, walk->data, size);
}

/* The pieces of a sparse file lie one behind the other, in the map's order. */
static int map_sparse(struct walk *walk, uint64_t size)
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
			return refuse_member(walk, "map of sparse data");
		err = add_piece(walk, (uint64_t)offset, walk->data + used,
				(uint64_t)length);
		if (err)
			return err;
		behind = (uint64_t)offset + (uint64_t)length;
		used += (uint64_t)length;
	}
	if (!tar_round_up(used, &padded) || padded != stored)
		return refuse_member(walk, "map of sparse data");
	return 0;
}

/* Bytes that the archive should hold for the member, for a message. */
static uint64_t expected_data(const struct walk *walk)
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

/* Steps over the member's data, which says how much is stored. */
static int step_over(struct walk *walk)
{
	int r = archive_read_data_skip(walk->archive);
	la_int64_t end = archive_filter_bytes(walk->archive, 0);

	if (walk->window.err)
		return refuse_read(walk, walk->window.err);
	if (r < ARCHIVE_WARN && walk->window.at_end)
		return refuse_truncated(walk, expected_data(walk));
	if (r < ARCHIVE_WARN || end < 0 || (uint64_t)end < walk->data ||
	    (uint64_t)end > walk->window.length)
		return refuse_member(walk, "size");
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
static void correct_mtime(const struct walk *walk, struct entry *entry)
{
	if (entry->mtime <= 0 && entry->mtime_ns != 0)
		tar_window_negative_mtime(&walk->window, walk->header, walk->data,
					  &entry->mtime, &entry->mtime_ns);
}

static bool has_xattr(const struct walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->xattrs.count; i++)
		if (strcmp(walk->xattrs.items[i].name, name) == 0)
			return true;
	return false;
}

/* libarchive lists the last first, and the last of a name is the valid one. */
static int collect_xattrs(struct walk *walk)
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
			warn_member(walk, "extended attributes beyond the limits "
					  "are left out");
			continue;
		}
		if (has_xattr(walk, xattr.name))
			continue;
		if (vec_push(&walk->xattrs, xattr) < 0)
			return out_of_memory(walk);
		total += xattr.size;
	}
	return 0;
}

/* Members become entries */

static bool ends_in_suffix(const char *path)
{
	size_t n = strlen(path);

	for (const char *const *s = suffixes; *s; s++) {
		size_t m = strlen(*s);

		if (n > m && path[n - m - 1] != '/' &&
		    strcasecmp(path + n - m, *s) == 0)
			return true;
	}
	return false;
}

static void offer_nested(struct walk *walk, struct entry *entry)
{
	struct scan *scan = walk->scan;

	if (!scan->offer || entry->size == 0 || !ends_in_suffix(entry->path))
		return;
	entry->nested = scan->offer(scan, entry->path, walk->window.base + walk->data,
				    entry->size);
	if (entry->nested)
		entry->kind = ENTRY_NESTED;
}

static int take_file(struct walk *walk, struct entry *entry)
{
	la_int64_t size = archive_entry_size(walk->entry);
	bool sparse = archive_entry_sparse_reset(walk->entry) > 0;
	int err;

	if (size < 0)
		return refuse_member(walk, "size");
	entry->size = (uint64_t)size;
	err = sparse ? map_sparse(walk, entry->size) : map_whole(walk, entry->size);
	if (err)
		return err;
	entry->extents = walk->extents.items;
	entry->extent_count = walk->extents.count;
	if (!sparse && walk->extents.count == 1)
		offer_nested(walk, entry);
	return 0;
}

/* Sets entry->kind, or returns false for what a dataset cannot hold. */
static bool find_kind(struct walk *walk, struct entry *entry)
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
		warn_member(walk, "is continued from another volume and is left out");
		return false;
	default:
		walk->specials++;
		entries_leave_out(walk->scan->entries);
		return false;
	}
}

static void fill_attributes(struct walk *walk, struct entry *entry)
{
	long ns = archive_entry_mtime_nsec(walk->entry);

	entry->mode = (uint32_t)archive_entry_perm(walk->entry) & 0777;
	entry->uid = owner_id(archive_entry_uid(walk->entry));
	entry->gid = owner_id(archive_entry_gid(walk->entry));
	entry->mtime = archive_entry_mtime(walk->entry);
	entry->mtime_ns = ns < 0 || ns > 999999999 ? 0 : (uint32_t)ns;
	correct_mtime(walk, entry);
}

static bool has_usable_path(struct walk *walk, const char *path)
{
	bool usable = path && *path && strlen(path) <= LIMIT_PATH_BYTES;

	if (!usable)
		warn_member(walk, "has no name, or too long a one, and is left out");
	return usable;
}

static int take_member(struct walk *walk)
{
	struct entry entry = { .path = archive_entry_pathname(walk->entry) };
	int err = step_over(walk);

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
	return entries_add(walk->scan->entries, &entry) < 0 ? out_of_memory(walk) : 0;
}

/* The end, good or bad */

/* libarchive could not read on behind walk->end. */
static int explain_stop(struct walk *walk, int r)
{
	const char *label = walk->scan->label;
	la_int64_t done = archive_filter_bytes(walk->archive, 0);
	bool cut = r != ARCHIVE_RETRY && walk->window.at_end, valid;
	uint64_t start;
	int err;

	if (walk->window.err)
		return refuse_read(walk, walk->window.err);
	err = tar_window_find_nonzero(&walk->window, walk->end, &start);
	if (err)
		return refuse_read(walk, err);
	if (start == walk->window.length)
		return 0;
	valid = tar_window_has_header(&walk->window, start);
	if (start - walk->end >= END_MARKER && !valid) {
		log_warn("'%s': what is behind the end of the archive at byte %llu "
			 "is not a tar header and is left out",
			 label, in_file(walk, start));
		return 0;
	}
	if (cut)
		return error_set(walk->e, ERROR_DATASET, EBADMSG,
				 "'%s' is truncated: it ends at byte %llu inside the "
				 "header at byte %llu; copy it again",
				 label, in_file(walk, walk->window.length),
				 in_file(walk, start));
	if (valid && r == ARCHIVE_RETRY && done >= TAR_BLOCK)
		start = (uint64_t)done - TAR_BLOCK; /* behind a pax header, say */
	return refuse_header(walk, start,
			     valid && r != ARCHIVE_RETRY ?
				     archive_error_string(walk->archive) : NULL);
}

static int next_member(struct walk *walk)
{
	int r = archive_read_next_header(walk->archive, &walk->entry);
	la_int64_t header = archive_read_header_position(walk->archive);
	la_int64_t data = archive_filter_bytes(walk->archive, 0);
	const char *text;

	if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return r;
	if (header < 0 || data < header || (uint64_t)header < walk->end ||
	    (uint64_t)data > walk->window.length)
		return ARCHIVE_FATAL; /* it must not overlap the last one */
	walk->header = (uint64_t)header;
	walk->data = (uint64_t)data;
	text = r == ARCHIVE_WARN ? archive_error_string(walk->archive) : NULL;
	if (text && !strstr(text, "can't be converted")) /* that, we want */
		warn_member(walk, text);
	return ARCHIVE_OK;
}

static void report(const struct walk *walk)
{
	const char *label = walk->scan->label;

	if (walk->end == walk->window.length && log_allowed(LIMIT_WARNINGS))
		log_warn("'%s' has no mark at its end: all its members are whole, but "
			 "there may have been more", label);
	if (walk->window.at_end && walk->window.at < walk->window.length)
		log_warn("'%s': if anything is behind the gap at byte %llu, it is left "
			 "out", label, in_file(walk, walk->window.at));
	if (walk->specials)
		log_info("'%s': %llu devices, pipes or sockets are left out", label,
			 (unsigned long long)walk->specials);
	if (walk->warnings > LIMIT_WARNINGS)
		log_warn("'%s': %u more warnings", label,
			 walk->warnings - LIMIT_WARNINGS);
}

static int walk_members(struct walk *walk)
{
	int r, err;

	while ((r = next_member(walk)) == ARCHIVE_OK) {
		uint64_t before = walk->end;

		err = take_member(walk);
		if (err)
			return err;
		if (walk->scan->advance)
			walk->scan->advance(walk->scan, walk->end - before);
	}
	err = r == ARCHIVE_EOF ? 0 : explain_stop(walk, r);
	if (!err)
		report(walk);
	return err;
}

/* Set-up */

static void free_archive(struct archive **archive)
{
	if (*archive)
		archive_read_free(*archive);
}

static void restore_locale(locale_t *locale)
{
	uselocale(*locale);
}

static int open_archive(struct walk *walk)
{
	struct archive *archive = walk->archive;

	if (archive_read_support_format_tar(archive) != ARCHIVE_OK ||
	    archive_read_set_option(archive, "tar", "read_concatenated_archives",
				    "1") != ARCHIVE_OK ||
	    archive_read_set_read_callback(archive, read_block) != ARCHIVE_OK ||
	    archive_read_set_skip_callback(archive, skip_block) != ARCHIVE_OK ||
	    archive_read_set_callback_data(archive, &walk->window) != ARCHIVE_OK)
		return error_set(walk->e, ERROR_SYSTEM, ENOTSUP,
				 "cannot index '%s': libarchive does not do what is "
				 "needed (%s); update it",
				 walk->scan->label, archive_error_string(archive));
	if (archive_read_open1(archive) != ARCHIVE_OK)
		return walk->window.err ? refuse_read(walk, walk->window.err) :
					  explain_stop(walk, ARCHIVE_FATAL);
	return 0;
}

static int scan_in_c_locale(struct walk *walk)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	int err;

	if (c == (locale_t)0)
		return out_of_memory(walk);
	{
		CLEANUP(restore_locale) locale_t old = uselocale(c);

		(void)old;
		err = open_archive(walk);
		if (!err)
			err = walk_members(walk);
	}
	freelocale(c);
	return err;
}

static int tar_scan(struct scan *scan, struct error *e)
{
	CLEANUP(free_archive) struct archive *archive = archive_read_new();
	struct walk walk = { .scan = scan, .archive = archive, .e = e };
	int err;

	if (!archive)
		return out_of_memory(&walk);
	err = tar_window_open(&walk.window, scan->source, scan->base, scan->length);
	if (err)
		return err == -ENOMEM ? out_of_memory(&walk) : refuse_read(&walk, err);
	err = scan_in_c_locale(&walk);
	tar_window_close(&walk.window);
	vec_free(&walk.extents);
	vec_free(&walk.xattrs);
	return err;
}

const struct format format_tar = {
	.name = "tar",
	.description = "tar archive (v7, ustar, GNU, pax)",
	.nests = true,
	.appends = true,
	.probe = tar_probe,
	.scan = tar_scan,
};
