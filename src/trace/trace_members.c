/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/trace_members.h"

#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#if WITH_ZLIB
#include <zlib.h>

enum { FASTEST = 1, WINDOW_OF_GZIP = 15 + 16, MEMORY = 8 };

struct trace_members {
	z_stream z;
	gz_header header; /* of the first member */
	int file;
	off_t end; /* of the last whole member */
	unsigned char *packed;
	size_t room;
};

struct trace_members *trace_members_new(int file, const char *comment)
{
	struct trace_members *members = calloc(1, sizeof(*members));

	if (!members)
		return NULL;
	members->file = file;
	members->header.comment = (Bytef *)(uintptr_t)comment;
	members->header.os = 3; /* Unix */
	if (deflateInit2(&members->z, FASTEST, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		return members;
	free(members);
	return NULL;
}

void trace_members_free(struct trace_members *members)
{
	if (!members)
		return;
	deflateEnd(&members->z);
	free(members->packed);
	free(members);
}

static int make_room(struct trace_members *members, size_t size)
{
	unsigned char *grown;

	if (size <= members->room)
		return 0;
	grown = realloc(members->packed, size);
	if (!grown)
		return -ENOMEM;
	members->packed = grown;
	members->room = size;
	return 0;
}

static int write_all(int file, const unsigned char *bytes, size_t size, off_t at)
{
	while (size > 0) {
		ssize_t n = pwrite(file, bytes, size, at);

		if (n <= 0 && errno != EINTR)
			return n < 0 ? -errno : -ENOSPC;
		if (n > 0) {
			bytes += n;
			size -= (size_t)n;
			at += n;
		}
	}
	return 0;
}

int trace_members_write(struct trace_members *members, const void *text, size_t size)
{
	z_stream *z = &members->z;
	size_t packed;
	int err;

	deflateReset(z);
	if (members->end == 0)
		deflateSetHeader(z, &members->header);
	err = make_room(members, deflateBound(z, size));
	if (err)
		return err;
	z->next_in = (Bytef *)(uintptr_t)text;
	z->avail_in = (uInt)size;
	z->next_out = members->packed;
	z->avail_out = (uInt)members->room;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		return -EIO;
	packed = members->room - z->avail_out;
	err = write_all(members->file, members->packed, packed, members->end);
	if (err && ftruncate(members->file, members->end) < 0)
		return -errno;
	if (!err)
		members->end += (off_t)packed;
	return err;
}

#else

struct trace_members *trace_members_new(int file, const char *comment)
{
	(void)file;
	(void)comment;
	return NULL;
}

void trace_members_free(struct trace_members *members)
{
	(void)members;
}

int trace_members_write(struct trace_members *members, const void *text, size_t size)
{
	(void)members;
	(void)text;
	(void)size;
	return -ENOSYS;
}

#endif

/* ID1, ID2, CM, FLG with FCOMMENT alone, MTIME, XFL, OS; then the comment. */
bool trace_members_are_of(int file, const char *comment)
{
	enum { HEAD = 10, FLAGS_AT = 3, HAS_COMMENT = 16 };
	size_t size = HEAD + strlen(comment) + 1;
	unsigned char *head = malloc(size);
	bool same = head && pread(file, head, size, 0) == (ssize_t)size && head[0] == 0x1f &&
		    head[1] == 0x8b && head[FLAGS_AT] == HAS_COMMENT &&
		    memcmp(head + HEAD, comment, size - HEAD) == 0;

	free(head);
	return same;
}
