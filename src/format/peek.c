/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/peek.h"

#include <archive.h>
#include <stdbool.h>

enum {
	PIECE = 64 * 1024,
	PIECES_MOST = 256, /* a block of xz may be large; more is not worth the time */
	LAYERS = 2,        /* one that is undone, and the bytes of the file itself */
};

struct input {
	const struct source *source;
	uint64_t at, end;
	unsigned pieces;
	unsigned char bytes[PIECE];
};

static la_ssize_t peek_read_piece(struct archive *a, void *context, const void **out)
{
	struct input *input = context;
	uint64_t left = input->end - input->at;
	size_t n = left < PIECE ? (size_t)left : PIECE;

	if (input->pieces++ == PIECES_MOST ||
	    source_pread(input->source, input->bytes, n, input->at) < 0)
		return -1;
	input->at += n;
	*out = input->bytes;
	return (la_ssize_t)n;
}

/* False where libarchive would run a program for one of them. */
static bool support_filters(struct archive *a)
{
	return archive_read_support_format_raw(a) == ARCHIVE_OK &&
	       archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
	       archive_read_support_filter_bzip2(a) == ARCHIVE_OK &&
	       archive_read_support_filter_compress(a) == ARCHIVE_OK &&
	       archive_read_support_filter_xz(a) == ARCHIVE_OK &&
	       archive_read_support_filter_lzma(a) == ARCHIVE_OK &&
	       archive_read_support_filter_lzip(a) == ARCHIVE_OK &&
	       archive_read_support_filter_lz4(a) == ARCHIVE_OK &&
	       archive_read_support_filter_zstd(a) == ARCHIVE_OK;
}

size_t peek(const struct source *source, uint64_t base, uint64_t length,
	    unsigned char *out, size_t room)
{
	struct input input = { .source = source, .at = base, .end = base + length };
	struct archive *a = archive_read_new();
	struct archive_entry *entry;
	size_t n = 0;
	la_ssize_t got = 0;

	if (a && support_filters(a) &&
	    archive_read_open(a, &input, NULL, peek_read_piece, NULL) == ARCHIVE_OK &&
	    archive_read_next_header(a, &entry) == ARCHIVE_OK &&
	    archive_filter_count(a) == LAYERS)
		while (n < room && (got = archive_read_data(a, out + n, room - n)) > 0)
			n += (size_t)got;
	archive_read_free(a);
	return n;
}
