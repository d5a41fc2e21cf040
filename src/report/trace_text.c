/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/trace_text.h"

#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#if WITH_ZLIB
#include <zlib.h>
#endif

enum { LINE_MOST = 64 * 1024, PIECE = 64 * 1024, ROOM = 4 * LINE_MOST };

static const uint64_t TEXT_MOST = UINT64_C(16) << 30;

struct trace_text {
	const struct source *source;
	uint64_t at; /* in the source */
	bool packed, cut, over;
	uint64_t given; /* bytes of text */
	unsigned char piece[PIECE];
	char text[ROOM]; /* [begin, end) are left */
	size_t begin, end;
	bool skips; /* the line is too long */
#if WITH_ZLIB
	z_stream z;
#endif
};

static bool is_gzip(const struct source *source)
{
	unsigned char magic[2];

	return source_size(source) > 2 && source_pread(source, magic, 2, 0) == 0 &&
	       magic[0] == 0x1f && magic[1] == 0x8b;
}

struct trace_text *trace_text_new(const struct source *source)
{
	struct trace_text *text = calloc(1, sizeof(*text));

	if (!text)
		return NULL;
	text->source = source;
	text->packed = is_gzip(source);
#if WITH_ZLIB
	if (inflateInit2(&text->z, 15 + 16) != Z_OK) {
		free(text);
		return NULL;
	}
#endif
	return text;
}

void trace_text_free(struct trace_text *text)
{
	if (!text)
		return;
#if WITH_ZLIB
	inflateEnd(&text->z);
#endif
	free(text);
}

/* Bytes of the file; 0: there are no more. */
static ssize_t read_piece(struct trace_text *text, void *out, size_t room)
{
	uint64_t left = source_size(text->source) - text->at;
	size_t n = left < room ? (size_t)left : room;
	int err = n ? source_pread(text->source, out, n, text->at) : 0;

	if (err)
		return err;
	text->at += n;
	return (ssize_t)n;
}

#if WITH_ZLIB
/* After a member: does another one follow? Zeros and other bytes behind it are an end. */
static bool begins_member(struct trace_text *text)
{
	return text->z.avail_in > 0 && text->z.next_in[0] == 0x1f &&
	       inflateReset(&text->z) == Z_OK;
}

static ssize_t unpack(struct trace_text *text, char *out, size_t room)
{
	z_stream *z = &text->z;

	z->next_out = (Bytef *)out;
	z->avail_out = (uInt)room;
	while (z->avail_out == room) {
		ssize_t n = z->avail_in ? 0 : read_piece(text, text->piece, PIECE);
		int state;

		if (n < 0)
			return n;
		if (n > 0) {
			z->next_in = text->piece;
			z->avail_in = (uInt)n;
		}
		if (z->avail_in == 0) {
			text->cut = z->total_in > 0;
			return 0;
		}
		if (z->total_in == 0 && z->next_in[0] != 0x1f)
			return 0;
		state = inflate(z, Z_NO_FLUSH);
		if (state == Z_STREAM_END) {
			if (!begins_member(text))
				inflateReset(z);
		} else if (state != Z_OK && state != Z_BUF_ERROR) {
			text->cut = true;
			text->over = true;
			break;
		}
	}
	return (ssize_t)(room - z->avail_out);
}
#else
static ssize_t unpack(struct trace_text *text, char *out, size_t room)
{
	(void)text;
	(void)out;
	(void)room;
	return -ENOSYS;
}
#endif

/* More text behind what is left: 1, 0 at the end, or a negative errno. */
static int fill_text(struct trace_text *text)
{
	ssize_t n;

	if (text->over || text->given > TEXT_MOST)
		return 0;
	memmove(text->text, text->text + text->begin, text->end - text->begin);
	text->end -= text->begin;
	text->begin = 0;
	n = text->packed ? unpack(text, text->text + text->end, ROOM - text->end) :
			   read_piece(text, text->text + text->end, ROOM - text->end);
	if (n <= 0)
		return (int)n;
	text->end += (size_t)n;
	text->given += (uint64_t)n;
	return 1;
}

/* A whole line that is there; false: there is none. */
static bool take_line(struct trace_text *text, const char **line, size_t *size)
{
	char *begin = text->text + text->begin;
	char *end = memchr(begin, '\n', text->end - text->begin);

	if (!end)
		return false;
	*line = begin;
	*size = (size_t)(end - begin);
	text->begin += *size + 1;
	return true;
}

/* A line without an end that is too long already is left out, up to its end. */
static void drop_long(struct trace_text *text)
{
	if (text->end - text->begin <= LINE_MOST)
		return;
	text->begin = text->end;
	text->skips = true;
}

int trace_text_line(struct trace_text *text, const char **line, size_t *size)
{
	for (;;) {
		int more;

		if (take_line(text, line, size)) {
			if (!text->skips)
				return 1;
			text->skips = false;
			continue;
		}
		drop_long(text);
		more = fill_text(text);
		if (more > 0)
			continue;
		if (more < 0 || text->begin == text->end || text->skips)
			return more;
		*line = text->text + text->begin; /* the last one has no end */
		*size = text->end - text->begin;
		text->begin = text->end;
		return 1;
	}
}

bool trace_text_is_cut(const struct trace_text *text)
{
	return text->cut;
}
