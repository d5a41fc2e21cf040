/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unpack_sources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/size.h"
#include "format/format.h"
#include "progress.h"
#include "sandbox_child.h"
#include "stream/decoded.h"
#include "stream/unpack.h"

enum {
	TRIED_BYTES = 65 << 20,     /* more than a chunk may have */
	PIECE_BYTES = 1 << 20,
	ROOM_EACH = 8 << 20,       /* bytes between two looks at the room that is left */
	ROOM_PART = 10,             /* one of so many parts of the filesystem stays free */
	BOMB_RATIO = 250, BOMB_FREE = 1 << 30, /* as of streams that are indexed */
};

/* ---- Which ones --------------------------------------------------------------------- */

/* Decodes the beginning; damage is for the indexer to tell. */
static bool cannot_be_entered(struct decoded *stream)
{
	CLEANUP(cleanup_free) unsigned char *bytes = malloc(PIECE_BYTES);
	const struct source *source = decoded_source(stream);
	int err = bytes ? 0 : -ENOMEM;

	for (uint64_t at = 0; !err && at < TRIED_BYTES; at += PIECE_BYTES)
		err = source_pread(source, bytes, PIECE_BYTES, at);
	return decoded_cannot_enter(stream);
}

static bool has_to_be_unpacked(const struct source *source, uint64_t base)
{
	CLEANUP(cleanup_free) unsigned char *head = malloc(FORMAT_HEAD_BYTES);
	uint64_t length = source_size(source) - base;
	size_t n = length < FORMAT_HEAD_BYTES ? (size_t)length : FORMAT_HEAD_BYTES;
	const struct stream_kind *kind;
	struct decoded *stream;
	bool result;

	if (!head || source_pread(source, head, n, base) < 0)
		return false;
	kind = stream_kind_find(head, n);
	if (!kind)
		return unpack_alone_reads(head, n);
	if (stream_kind_needs(kind) ||
	    decoded_open(kind, source, base, length, source_path(source), &stream) < 0)
		return false;
	result = cannot_be_entered(stream);
	decoded_close(stream);
	return result;
}

/* ---- Writing ------------------------------------------------------------------------ */

struct unpacked_file {
	const struct source *source;
	int fd;
	uint64_t written, looked; /* bytes; those at the last look at the room */
	struct progress *progress;
	struct error *e;
};

static int refuse_room(const struct unpacked_file *file, const struct statfs *fs)
{
	char left[SIZE_TEXT_BYTES], written[SIZE_TEXT_BYTES];

	return error_set(file->e, ERROR_SYSTEM, ENOSPC,
			 "'%s' is not unpacked: after %s of it the filesystem of -o spool= has %s "
			 "left, and a tenth of it stays free; name a directory with more room",
			 source_path(file->source), size_text(file->written, written),
			 size_text((uint64_t)fs->f_bavail * (uint64_t)fs->f_bsize, left));
}

/* Filesystems that do not say how large they are count as large enough. */
static int check_room(struct unpacked_file *file)
{
	struct statfs fs;

	if (file->looked && file->written - file->looked < ROOM_EACH)
		return 0;
	file->looked = file->written;
	if (fstatfs(file->fd, &fs) < 0 || fs.f_blocks == 0)
		return 0;
	return fs.f_bavail < fs.f_blocks / ROOM_PART ? refuse_room(file, &fs) : 0;
}

static int refuse_unpacked_bomb(const struct unpacked_file *file)
{
	return error_set(file->e, ERROR_DATASET, EBADMSG,
			 "'%s' unpacks to more than %d times its size, as no dataset does; it is "
			 "refused as a decompression bomb", source_path(file->source), BOMB_RATIO);
}

static int write_unpacked(void *context, const void *bytes, size_t n)
{
	struct unpacked_file *file = context;
	const unsigned char *from = bytes;
	int err = check_room(file);

	while (!err && n > 0) {
		ssize_t done = pwrite(file->fd, from, n, (off_t)file->written);

		if (done < 0 && errno != EINTR)
			err = error_set(file->e, ERROR_SYSTEM, errno,
					"'%s' cannot be unpacked into the directory of -o spool=: "
					"%s; name another one, with more room",
					source_path(file->source), strerror(errno));
		if (done <= 0)
			continue;
		from += done;
		n -= (size_t)done;
		file->written += (uint64_t)done;
		atomic_fetch_add(&file->progress->bytes, (uint64_t)done);
	}
	if (!err && file->written > BOMB_FREE &&
	    file->written / BOMB_RATIO > source_size(file->source))
		err = refuse_unpacked_bomb(file);
	return err;
}

static int unpack_source(const struct source *source, uint64_t base, int fd, struct error *e)
{
	struct progress progress = { .subject = "unpacking", .terminal_only = true };
	struct unpacked_file file = { .source = source, .fd = fd, .progress = &progress, .e = e };
	char stored[SIZE_TEXT_BYTES];
	int err;

	log_notice("'%s', of %s, cannot be read at random: it is unpacked now",
		   source_path(source), size_text(source_size(source), stored));
	progress_start(&progress, false);
	err = unpack_stream(source, base, source_path(source), write_unpacked, &file, e);
	progress_stop(&progress);
	file.looked = 0; /* once more, in the end */
	return err ? err : check_room(&file);
}

struct unpack_all {
	const struct request *request;
	const struct index_wish *wish;
};

static int unpack_in_child(void *context)
{
	const struct unpack_all *all = context;
	const struct source_set *sources = all->wish->sources;
	uint64_t base = all->request->config.base;
	struct error e = { 0 };

	for (uint32_t i = 0; all->wish->unpack_to && i < sources->count; i++) {
		const struct source *source = sources->sources[i];
		int fd = all->wish->unpack_to[i];

		if (fd < 0 || base >= source_size(source) || !has_to_be_unpacked(source, base))
			continue;
		if (unpack_source(source, base, fd, &e) < 0)
			return report_error(&e);
	}
	return 0;
}

int unpack_sources(const struct request *request, const struct index_wish *wish)
{
	struct unpack_all all = { request, wish };

	return sandbox_child_run(&(struct sandbox_child){ .request = request,
							  .sources = wish->sources,
							  .work = unpack_in_child,
							  .context = &all });
}
