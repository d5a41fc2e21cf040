#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "source/file.h"
#include "source/retry.h"
#include "stats/stats.h"
#include "util/checked.h"
#include "util/cleanup.h"
#include "util/steps.h"

enum { IDENTITY_BYTES = 4096, WILL_NEED_BYTES = 512 << 10 };

/* Constant from source_open to source_close, hence without locks; but for `retry`. */
struct source {
	char *path;
	int fd;
	struct source_info info;
	struct retry retry;
	bool stays_open; /* to the end of the process: who closes it may wait for a user */
};

static _Thread_local struct {
	const struct source *source; /* NULL: none */
	uint64_t offset;
} failure;

/* One without a file. */
static int make_source(const char *path, struct source **out, struct error *e)
{
	struct source *source = calloc(1, sizeof(*source));

	if (source)
		source->path = strdup(path);
	if (source && source->path) {
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
	if (!source->stays_open)
		close(source->fd);
	retry_free(&source->retry);
	free(source->path);
	free(source);
}

int source_pread(const struct source *source, void *buffer, size_t length,
		 uint64_t offset)
{
	/* what is known of the storage is no part of what callers may not change */
	struct retry *retry = &((struct source *)(uintptr_t)source)->retry;
	uint64_t begin;
	int err;

	if (!range_within(offset, length, source->info.size))
		return -EIO;
	begin = stats_clock();
	err = retry_pread(retry, source->fd, &source->info, buffer, length, &offset);
	stats_took(HISTOGRAM_source_read, begin);
	stats_add(COUNTER_source_reads, 1);
	if (!err) {
		stats_add(COUNTER_source_read_bytes, length);
		return 0;
	}
	failure.source = source;
	failure.offset = offset;
	return err;
}

/* The kernel takes no more of one call than a device takes of one request. */
void source_will_need(const struct source *source, uint64_t offset, uint64_t length)
{
	for (uint64_t end = offset + length; offset < end; offset += WILL_NEED_BYTES)
		posix_fadvise(source->fd, (off_t)offset, WILL_NEED_BYTES,
			      POSIX_FADV_WILLNEED);
}

void source_stream(struct source *source, bool ours)
{
	posix_fadvise(source->fd, 0, 0, POSIX_FADV_RANDOM);
	atomic_store(&source->retry.ours, ours);
	atomic_store(&source->retry.streaming, true);
}

bool source_failure(const char **path, uint64_t *offset)
{
	if (!failure.source)
		return false;
	*path = failure.source->path;
	*offset = failure.offset;
	return true;
}

void source_forget_failure(void)
{
	failure.source = NULL;
}

int source_descriptor(const struct source *source)
{
	return source->fd;
}

const char *source_path(const struct source *source)
{
	return source->path;
}

const char *source_place(const struct source *source)
{
	return source->retry.place ? source->retry.place : source->path;
}

uint64_t source_size(const struct source *source)
{
	return source->info.size;
}

const struct source_owner *source_owner(const struct source *source)
{
	return &source->info.owner;
}

const struct source_info *source_info(const struct source *source)
{
	return &source->info;
}

/* Times that do not fit in 64 bits of nanoseconds are all the same one. */
static int64_t nanoseconds(const struct source_owner *owner)
{
	int64_t ns;

	if (__builtin_mul_overflow(owner->mtime, INT64_C(1000000000), &ns) ||
	    __builtin_add_overflow(ns, (int64_t)owner->mtime_ns, &ns))
		return owner->mtime < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

/*
 * A device does not say when it was written, and what is packed on it may take a small
 * part of it. So more of it counts: blocks ever farther apart, a few in each power of
 * two, each with the digest of those before as its seed.
 */
static int add_samples(const struct source *source, uint64_t *digest)
{
	unsigned char bytes[IDENTITY_BYTES];
	uint64_t size = source->info.size;

	for (uint64_t block = 1; range_within(block * IDENTITY_BYTES, IDENTITY_BYTES, size);
	     block += 1 + block / 4) {
		int err = source_pread(source, bytes, sizeof(bytes), block * IDENTITY_BYTES);

		if (err)
			return err;
		*digest = XXH3_64bits_withSeed(bytes, sizeof(bytes), *digest);
	}
	return 0;
}

/*
 * The digest is XXH3-64, seed 0, over the first min(size, 4096) bytes and
 * then the last min(size - 4096, 4096) bytes of those that are left: no byte
 * counts twice, and a file of up to 8 KiB counts as a whole.
 */
int source_identity(const struct source *source, struct identity *out)
{
	unsigned char bytes[2 * IDENTITY_BYTES];
	uint64_t size = source->info.size;
	size_t head = size < IDENTITY_BYTES ? (size_t)size : IDENTITY_BYTES;
	uint64_t left = size - head;
	size_t tail = left < IDENTITY_BYTES ? (size_t)left : IDENTITY_BYTES;
	int err;

	steps_at(source->path);
	err = source_pread(source, bytes, head, 0);
	if (!err)
		err = source_pread(source, bytes + head, tail, size - tail);
	if (err)
		return err;
	out->size = size;
	out->mtime_ns = nanoseconds(&source->info.owner);
	out->digest = XXH3_64bits(bytes, head + tail);
	return source->info.device ? add_samples(source, &out->digest) : 0;
}

uint64_t source_next_data(const struct source *source, uint64_t offset)
{
	return file_next_data(source->fd, offset, source->info.size);
}
