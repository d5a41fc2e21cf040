/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/tar_compressor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "config.h"
#include "os/whole.h"

#if WITH_ZLIB
#include <zlib.h>
#endif
#if WITH_ZSTD
#include <zstd.h>
#endif
#if WITH_LZMA
#include <lzma.h>
#endif

enum {
	PIECE = 1 << 20,
	ROOM = PIECE + (64 << 10), /* of a piece that does not get smaller */
};

/* Compresses a piece: its bytes in `out`, at most ROOM, or a negative errno. */
typedef ssize_t compress_piece(const unsigned char *in, size_t n, int level,
			       unsigned char *out);

#if WITH_ZLIB
static ssize_t compress_gzip(const unsigned char *in, size_t n, int level, unsigned char *out)
{
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)in, .avail_in = (uInt)n,
		       .next_out = out, .avail_out = ROOM };
	int status;

	if (deflateInit2(&z, level, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	status = deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return status == Z_STREAM_END ? (ssize_t)(ROOM - z.avail_out) : -EIO;
}
#endif

#if WITH_ZSTD
static ssize_t compress_zstd(const unsigned char *in, size_t n, int level, unsigned char *out)
{
	size_t got = ZSTD_compress(out, ROOM, in, n, level);

	return ZSTD_isError(got) ? -ENOMEM : (ssize_t)got;
}
#endif

#if WITH_LZMA
static ssize_t compress_xz(const unsigned char *in, size_t n, int level, unsigned char *out)
{
	lzma_options_lzma options;
	lzma_filter filters[] = { { LZMA_FILTER_LZMA2, &options },
				  { LZMA_VLI_UNKNOWN, NULL } };
	size_t got = 0;

	if (lzma_lzma_preset(&options, (uint32_t)level))
		return -EINVAL;
	options.dict_size = PIECE; /* more than a piece is never looked at */
	return lzma_stream_buffer_encode(filters, LZMA_CHECK_CRC64, NULL, in, n, out, &got,
					 ROOM) == LZMA_OK ? (ssize_t)got : -ENOMEM;
}
#endif

/* A row of a library that this build leaves out has no function, and says why. */
static const struct tar_compression {
	const char *name;
	int least, usual, most;
	compress_piece *compress;
	const char *needs;
} compressions[] = {
	IF_ZLIB({ "gzip", 1, 6, 9, compress_gzip, NULL },)
	UNLESS_ZLIB({ "gzip", 1, 6, 9, NULL, NEEDS_ZLIB },)
	IF_ZSTD({ "zstd", 1, 3, 22, compress_zstd, NULL },)
	UNLESS_ZSTD({ "zstd", 1, 3, 22, NULL, NEEDS_ZSTD },)
	IF_LZMA({ "xz", 0, 6, 9, compress_xz, NULL },)
	UNLESS_LZMA({ "xz", 0, 6, 9, NULL, NEEDS_LZMA },)
};

struct tar_compressor {
	const struct tar_compression *compression;
	int level;
	size_t used; /* bytes of the piece */
	unsigned char piece[PIECE];
	unsigned char out[ROOM];
};

static const struct tar_compression *find_compression(const char *name)
{
	for (size_t i = 0; i < sizeof(compressions) / sizeof(*compressions); i++)
		if (strcmp(compressions[i].name, name) == 0)
			return &compressions[i];
	return NULL;
}

int tar_compressor_new(const char *name, int level, struct tar_compressor **out,
		       struct error *e)
{
	const struct tar_compression *compression = find_compression(name);

	if (!compression)
		return error_set(e, ERROR_USAGE, EINVAL, "--compress=%s: no tar is compressed so; "
				 "known are gzip, zstd, xz", name);
	if (compression->needs)
		return error_set(e, ERROR_USAGE, ENOTSUP, "--compress=%s: this granaryfs was "
				 "built without %s", name, compression->needs);
	if (level >= 0 && (level < compression->least || level > compression->most))
		return error_set(e, ERROR_USAGE, EINVAL, "--compress=%s:%d: its levels are %d to "
				 "%d", name, level, compression->least, compression->most);
	*out = malloc(sizeof(**out));
	if (!*out)
		return error_no_memory(e, NULL);
	(*out)->compression = compression;
	(*out)->level = level < 0 ? compression->usual : level;
	(*out)->used = 0;
	return 0;
}

void tar_compressor_free(struct tar_compressor *c)
{
	free(c);
}

int tar_compressor_end(struct tar_compressor *c, int fd)
{
	ssize_t n = c->used ? c->compression->compress(c->piece, c->used, c->level, c->out) : 0;

	c->used = 0;
	return n < 0 ? (int)n : write_whole(fd, c->out, (size_t)n);
}

int tar_compressor_write(struct tar_compressor *c, int fd, const void *bytes, size_t length)
{
	const unsigned char *from = bytes;
	int err = 0;

	while (length && !err) {
		size_t n = PIECE - c->used < length ? PIECE - c->used : length;

		memcpy(c->piece + c->used, from, n);
		c->used += n;
		from += n;
		length -= n;
		if (c->used == PIECE)
			err = tar_compressor_end(c, fd);
	}
	return err;
}
