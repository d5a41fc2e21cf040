/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tar_writer.c: tar through libarchive, in the pax format.
 *
 * A member has a plain ustar header if all attributes fit. Others go into a pax header
 * before it: nanoseconds, long names and targets, names that are not ASCII, large
 * numbers, xattrs (as SCHILY.xattr, which GNU tar and star know). A name that is not
 * UTF-8 is kept byte for byte (hdrcharset=BINARY).
 *
 * Contents go from the caller's buffer to the file by one writev, together with the
 * headers before them. libarchive's own blocking is off, so it passes buffers through.
 */
#include "packer/writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/cleanup.h"
#include "packer/tar_compressor.h"

enum { GATHERED_BYTES = 64 << 10, DIRECT_BYTES = 4 << 10 };

struct writer {
	struct archive *archive;
	struct archive_entry *entry;
	locale_t utf8;        /* libarchive's locale for names; or 0 */
	const char *path;
	int fd;
	int errnum;           /* of write(2) */
	bool discards;        /* ignore output: the file is thrown away */
	struct tar_compressor *compressor; /* NULL: none */
	size_t gathered;      /* bytes in `gather`: headers and small contents */
	char gather[GATHERED_BYTES];
};

/* Writes `n` buffers and consumes them: 0 or -errno. */
static int write_parts(int fd, struct iovec *parts, int n)
{
	while (n) {
		ssize_t written = writev(fd, parts, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		while (n && (size_t)written >= parts->iov_len) {
			written -= (ssize_t)parts->iov_len;
			parts++;
			n--;
		}
		if (n) {
			parts->iov_base = (char *)parts->iov_base + written;
			parts->iov_len -= (size_t)written;
		}
	}
	return 0;
}

/* All that was gathered, and these bytes, into the compressor: 0 or -errno. */
static int compress_with(struct writer *w, const void *bytes, size_t length)
{
	int err = tar_compressor_write(w->compressor, w->fd, w->gather, w->gathered);

	if (!err)
		err = tar_compressor_write(w->compressor, w->fd, bytes, length);
	return err;
}

static int flush_with(struct writer *w, const void *bytes, size_t length)
{
	/* iovec has no const pointer */
	struct iovec parts[2] = { { w->gather, w->gathered },
				  { (void *)(uintptr_t)bytes, length } };
	int err = w->compressor ? compress_with(w, bytes, length) :
				  write_parts(w->fd, parts, 2);

	w->gathered = 0;
	w->errnum = -err;
	return err;
}

static int write_rest(struct writer *w)
{
	int err = flush_with(w, NULL, 0);

	if (!err && w->compressor) {
		err = tar_compressor_end(w->compressor, w->fd);
		w->errnum = -err;
	}
	return err;
}

/* libarchive's write callback: the bytes accepted, or -1. */
static ssize_t emit(struct archive *archive, void *context, const void *bytes, size_t length)
{
	struct writer *w = context;
	int err = 0;

	if (w->discards)
		return (ssize_t)length;
	if (length >= DIRECT_BYTES) {
		err = flush_with(w, bytes, length);
	} else {
		if (length > GATHERED_BYTES - w->gathered)
			err = flush_with(w, NULL, 0);
		memcpy(w->gather + w->gathered, bytes, length);
		w->gathered += length;
	}
	if (!err)
		return (ssize_t)length;
	archive_set_error(archive, -err, "%s", strerror(-err));
	return -1;
}

static int tar_writer_fail(struct writer *w, struct error *e)
{
	int errnum = w->errnum ? w->errnum : archive_errno(w->archive);
	const char *text = archive_error_string(w->archive);

	if (errnum <= 0)
		errnum = EIO;
	return error_set(e, ERROR_SYSTEM, errnum, "%s: it cannot be written: %s", w->path,
			 text ? text : strerror(errnum));
}

/*
 * Pax headers are in UTF-8. libarchive converts names from the locale's encoding; in a
 * UTF-8 locale they stay as they are.
 */
static locale_t utf8_locale(void)
{
	static const char *const names[] = { "C.UTF-8", "C.utf8", "en_US.UTF-8" };
	locale_t locale = (locale_t)0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !locale; i++)
		locale = newlocale(LC_CTYPE_MASK, names[i], (locale_t)0);
	return locale;
}

static void free_writer(struct writer *w)
{
	archive_entry_free(w->entry);
	archive_write_free(w->archive);
	tar_compressor_free(w->compressor);
	if (w->utf8)
		freelocale(w->utf8);
	free(w);
}

static int set_up(struct writer *w)
{
	struct archive *archive = w->archive;

	if (archive_write_set_format_pax(archive) != ARCHIVE_OK ||
	    archive_write_set_format_option(archive, "pax", "xattrheader", "SCHILY") !=
		    ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(archive, 0) != ARCHIVE_OK)
		return -EINVAL;
	return archive_write_open(archive, w, NULL, emit, NULL) == ARCHIVE_OK ? 0 : -EINVAL;
}

static int open_tar(struct writer **out, int fd, const char *path,
		    const struct writer_config *config, struct error *e)
{
	struct writer *w = calloc(1, sizeof(*w));
	bool plain = !config->compressor || strcmp(config->compressor, "none") == 0;
	int err;

	if (!w)
		return error_no_memory(e, NULL);
	err = plain ? 0 : tar_compressor_new(config->compressor, config->level,
					     &w->compressor, e);
	if (err) {
		free(w);
		return err;
	}
	w->fd = fd;
	w->path = path;
	w->utf8 = utf8_locale();
	w->archive = archive_write_new();
	w->entry = archive_entry_new();
	err = w->archive && w->entry ? set_up(w) : -ENOMEM;
	if (err) {
		free_writer(w);
		return error_set(e, ERROR_SYSTEM, -err,
				 "%s: libarchive cannot write a tar: %s", path,
				 strerror(-err));
	}
	*out = w;
	return 0;
}

static void tar_writer_set_target(struct archive_entry *to,
				  const struct pack_entry *entry)
{
	switch (entry->kind) {
	case PACK_DIRECTORY:
		archive_entry_set_filetype(to, AE_IFDIR);
		break;
	case PACK_SYMLINK:
		archive_entry_set_filetype(to, AE_IFLNK);
		archive_entry_set_symlink(to, entry->target);
		break;
	case PACK_HARDLINK:
		archive_entry_set_filetype(to, AE_IFREG);
		archive_entry_set_hardlink(to, entry->target);
		break;
	case PACK_FILE:
		archive_entry_set_filetype(to, AE_IFREG);
		break;
	}
}

/*
 * libarchive writes seconds and nanoseconds side by side, and readers take "-1.25" for
 * 1.25 seconds before 1970. libarchive cannot write "-0.25", so a time within the last
 * second before 1970 becomes -1.
 */
static void set_time(struct archive_entry *to, const struct pack_entry *entry)
{
	if (entry->mtime >= 0 || !entry->mtime_ns)
		archive_entry_set_mtime(to, entry->mtime, (long)entry->mtime_ns);
	else if (entry->mtime == -1)
		archive_entry_set_mtime(to, -1, 0);
	else
		archive_entry_set_mtime(to, entry->mtime + 1,
					1000000000L - (long)entry->mtime_ns);
}

static void set_entry(struct archive_entry *to, const struct pack_entry *entry)
{
	archive_entry_clear(to);
	archive_entry_set_pathname(to, *entry->path ? entry->path : ".");
	tar_writer_set_target(to, entry);
	archive_entry_set_perm(to, entry->mode);
	archive_entry_set_uid(to, entry->uid);
	archive_entry_set_gid(to, entry->gid);
	set_time(to, entry);
	archive_entry_set_size(to, entry->kind == PACK_FILE ? (la_int64_t)entry->size : 0);
	for (size_t i = 0; i < entry->xattr_count; i++)
		archive_entry_xattr_add_entry(to, entry->xattrs[i].name,
					      entry->xattrs[i].value, entry->xattrs[i].size);
}

static int begin_member(struct writer *w, const struct pack_entry *entry, struct error *e)
{
	locale_t before = w->utf8 ? uselocale(w->utf8) : (locale_t)0;
	int status;

	set_entry(w->entry, entry);
	status = archive_write_header(w->archive, w->entry);
	if (w->utf8)
		uselocale(before);
	/* a warning: the name is not UTF-8, and is kept as it is */
	return status < ARCHIVE_WARN ? tar_writer_fail(w, e) : 0;
}

static int write_data(struct writer *w, const void *bytes, size_t length, struct error *e)
{
	while (length) {
		la_ssize_t n = archive_write_data(w->archive, bytes, length);

		if (n <= 0)
			return tar_writer_fail(w, e);
		bytes = (const char *)bytes + n;
		length -= (size_t)n;
	}
	return 0;
}

static int end_member(struct writer *w, struct error *e)
{
	return archive_write_finish_entry(w->archive) < ARCHIVE_WARN
		       ? tar_writer_fail(w, e)
		       : 0;
}

static int close_tar(struct writer *w, bool complete, struct error *e)
{
	int err = 0;

	if (!complete) {
		w->discards = true;
		archive_write_fail(w->archive); /* the member need not be completed */
	}
	if (archive_write_close(w->archive) < ARCHIVE_WARN && complete)
		err = tar_writer_fail(w, e);
	if (complete && !err && write_rest(w) < 0)
		err = tar_writer_fail(w, e);
	free_writer(w);
	return err;
}

const struct writer_ops tar_writer = {
	.name = "tar",
	.open = open_tar,
	.begin = begin_member,
	.data = write_data,
	.end = end_member,
	.close = close_tar,
};
