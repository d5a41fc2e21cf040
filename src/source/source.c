/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/filename.h"
#include "base/invariant.h"
#include "os/steps.h"
#include "source/local_file.h"
#include "source/retry.h"
#include "stats/stats.h"

enum { WILL_NEED_BYTES = 512 << 10 };

/* Constant from source_open to source_close, hence without locks; but for `retry`. */
struct source {
	uint64_t magic; /* HANDLE_SOURCE */
	char *path;
	int fd;
	struct source_info info;
	struct retry retry;
	bool stays_open; /* to the end of the process: who closes it may wait for a user */
};

/* One without a file. */
static int make_source(const char *path, struct source **out, struct error *e)
{
	struct source *source = calloc(1, sizeof(*source));

	if (source)
		source->path = strdup(path);
	if (source && source->path) {
		source->magic = HANDLE_SOURCE;
		*out = source;
		return 0;
	}
	free(source);
	return error_set(e, ERROR_SYSTEM, ENOMEM,
			 "there is not enough memory to open '%s'; free "
			 "some and try again",
			 path);
}

/* Its file has been opened, or not. */
static int finish(struct source *source, int err, struct source **out)
{
	if (err) {
		free(source->path);
		free(source);
		return err;
	}
	retry_init(&source->retry, source->fd);
	*out = source;
	return 0;
}

int source_open(const char *path, struct source **out, struct error *e)
{
	struct source *source;
	int err = make_source(path, &source, e);

	if (err)
		return err;
	steps_at(path);
	err = file_open(path, &source->fd, &source->info, e);
	return finish(source, err, out);
}

int source_adopt(const char *path, int fd, struct source **out, struct error *e)
{
	struct source *source;
	int err = make_source(path, &source, e);

	if (err)
		return err;
	source->fd = fd;
	err = file_adopt(path, fd, &source->info, e);
	return finish(source, err, out);
}

int source_receive(const char *path, int fd, const struct source_info *info,
		   struct source **out, struct error *e)
{
	struct source *source;
	int err = make_source(path, &source, e);

	if (err)
		return err;
	source->fd = fd;
	source->info = *info;
	source->stays_open = true;
	return finish(source, 0, out);
}

void source_close(struct source *source)
{
	if (!source)
		return;
	HANDLE_CHECK(source, HANDLE_SOURCE);
	if (!source->stays_open)
		close(source->fd);
	retry_free(&source->retry);
	free(source->path);
	source->magic = HANDLE_DEAD;
	free(source);
}

int source_read(const struct source *source, void *buffer, size_t length, uint64_t offset,
		struct read_context *context)
{
	/* what is known of the storage is no part of what callers may not change */
	struct retry *retry = &((struct source *)(uintptr_t)source)->retry;
	uint64_t begin;
	int err;

	HANDLE_CHECK(source, HANDLE_SOURCE);
	if (!range_within(offset, length, source->info.size))
		return -EIO;
	begin = stats_clock();
	err = retry_pread(retry, source->fd, &source->info, buffer, length, &offset);
	stats_took(HISTOGRAM_source_read, begin, context->demand);
	stats_add(COUNTER_source_reads, 1);
	if (!err) {
		stats_add(COUNTER_source_read_bytes, length);
		return 0;
	}
	context->fault.storage = true;
	context->fault.source = source->path;
	context->fault.at = offset;
	return err;
}

/* The kernel takes no more of one call than a device takes of one request. */
void source_will_need(const struct source *source, uint64_t offset, uint64_t length)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	for (uint64_t end = offset + length; offset < end; offset += WILL_NEED_BYTES)
		posix_fadvise(source->fd, (off_t)offset, WILL_NEED_BYTES,
			      POSIX_FADV_WILLNEED);
}

void source_stream(struct source *source, bool ours)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_RANDOM);
	atomic_store(&source->retry.ours, ours);
	atomic_store(&source->retry.streaming, true);
}

int source_descriptor(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->fd;
}

const char *source_path(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->path;
}

void source_open_by(int (*open)(const char *place, const struct source_info *info, int *fd))
{
	retry_open_by(open);
}

int source_open_again(const struct source *source, int *fd)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return retry_open(source->retry.place, &source->info, fd);
}

const char *source_place(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->retry.place ? source->retry.place : source->path;
}

const char *source_own_name(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	/* what a device's name leads to may be another after the next start */
	return filename_of(source->info.device ? source->path : source_place(source));
}

uint64_t source_size(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->info.size;
}

const struct source_owner *source_owner(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return &source->info.owner;
}

const struct source_info *source_info(const struct source *source)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return &source->info;
}

uint64_t source_next_data(const struct source *source, uint64_t offset)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return file_next_data(source->fd, offset, source->info.size);
}
