/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/resume.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "packer/out_directory.h"
#include "packer/output.h"

enum { TEXT_BYTES = 64 };

static void resume_render(uint64_t digest, char *text)
{
	snprintf(text, TEXT_BYTES, "granary plan 1 %016" PRIx64 "\n", digest);
}

char *resume_path(const struct out_name *name)
{
	CLEANUP(cleanup_free) char *first = out_name_path(name, 0);
	char *out = NULL;
	const char *own;

	if (!first)
		return NULL;
	own = filename_of(first);
	if (asprintf(&out, "%.*s.%s.plan", (int)(own - first), first, own) < 0)
		return NULL;
	return out;
}

enum resume_found resume_compare_plan(const char *path, uint64_t digest)
{
	CLEANUP(cleanup_close) int fd = out_directory_open(path, O_RDONLY | O_NONBLOCK);
	char wanted[TEXT_BYTES], found[TEXT_BYTES] = "";

	if (fd < 0)
		return fd == -ENOENT ? RESUME_NOTHING : RESUME_OTHER;
	if (read(fd, found, sizeof(found) - 1) < 0)
		return RESUME_OTHER;
	resume_render(digest, wanted);
	return strncmp(found, wanted, strlen(wanted)) == 0 ? RESUME_SAME : RESUME_OTHER;
}

int resume_record_plan(const char *path, uint64_t digest, struct error *e)
{
	char text[TEXT_BYTES];

	resume_render(digest, text);
	return output_write(path, text, strlen(text), e);
}

int resume_record_size(const char *path, size_t number, uint64_t bytes, struct error *e)
{
	CLEANUP(cleanup_close) int fd = out_directory_open(path, O_WRONLY | O_APPEND |
							   O_NONBLOCK);
	char text[TEXT_BYTES];
	int length = snprintf(text, sizeof(text), "shard %zu %" PRIu64 "\n", number, bytes);

	if (fd < 0)
		return output_error(path, -fd, 0, e);
	if (write(fd, text, (size_t)length) != length)
		return output_error(path, errno ? errno : EIO, 0, e);
	return 0;
}

/* Sizes stay 0 for shards without a note, such as those of an earlier version. */
static void resume_read_sizes(const char *path, uint64_t *sizes, size_t count)
{
	int fd = out_directory_open(path, O_RDONLY | O_NONBLOCK);
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	char line[TEXT_BYTES], end;
	uint64_t bytes;
	size_t number;

	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "shard %zu %" SCNu64 "%c", &number, &bytes, &end) == 3 &&
		    end == '\n' && number < count)
			sizes[number] = bytes;
	}
	if (in)
		fclose(in);
}

/* A tar ends with two blocks of zeros. Indexing detects other truncated formats. */
static bool has_end(const struct pack_shard *shard)
{
	static const char zeros[2 * PLAN_BLOCK_BYTES];
	CLEANUP(cleanup_close) int fd = out_directory_open(shard->path, O_RDONLY |
							   O_NONBLOCK);
	char end[sizeof(zeros)];

	return fd >= 0 && shard->bytes >= sizeof(end) && shard->bytes % PLAN_BLOCK_BYTES == 0 &&
	       pread(fd, end, sizeof(end), (off_t)(shard->bytes - sizeof(end))) ==
		       (ssize_t)sizeof(end) &&
	       memcmp(end, zeros, sizeof(end)) == 0;
}

static int stat_shard(const char *path, struct stat *out)
{
	return fstatat(out_directory(path, NULL), filename_of(path), out,
		       AT_SYMLINK_NOFOLLOW);
}

int resume_mark(const char *path, struct pack_shard *shards, size_t count, bool tar,
		struct error *e)
{
	CLEANUP(cleanup_free) uint64_t *sizes = calloc(count, sizeof(*sizes));

	if (!sizes)
		return error_no_memory(e, NULL);
	resume_read_sizes(path, sizes, count);
	for (size_t i = 0; i < count; i++) {
		struct pack_shard *shard = &shards[i];
		struct stat st;

		shard->kept = stat_shard(shard->path, &st) == 0;
		shard->bytes = shard->kept ? (uint64_t)st.st_size : 0;
		shard->device = shard->kept ? st.st_dev : 0;
		shard->inode = shard->kept ? st.st_ino : 0;
		if (!shard->kept || (sizes[i] ? sizes[i] == shard->bytes : !tar || has_end(shard)))
			continue;
		return error_set(e, ERROR_SYSTEM, EBADMSG,
				 "%s: is there, and is not whole: it has %" PRIu64 " bytes, and %s; "
				 "remove it, then --resume makes it anew if the set is not complete "
				 "yet; or --force makes all", shard->path, shard->bytes,
				 sizes[i] ? "had others when it was made" : "no end of a tar");
	}
	return 0;
}
