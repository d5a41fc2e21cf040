/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/pickle_writer.h"

#include <string.h>

#include "base/utf8.h"

enum { BATCH = 1000 }; /* items in one SETITEMS, as in Python's own pickler */

static void put_number(FILE *file, uint32_t number, unsigned bytes)
{
	for (; bytes; bytes--, number >>= 8)
		putc((int)(number & 0xff), file);
}

/* The length of the UTF-8 character at `text`; 0: no UTF-8. */
static size_t character(const unsigned char *text, size_t left)
{
	uint32_t found;
	size_t n = utf8_decode(text, left, &found);

	return n && utf8_is_surrogate(found) ? 0 : n;
}

/* Writes the key in UTF-8 if there is a file; returns its length in bytes. */
static uint32_t put_text(FILE *file, const char *key)
{
	const unsigned char *at = (const unsigned char *)key, *end = at + strlen(key);
	uint32_t length = 0;
	size_t n;

	for (; at < end; at += n) {
		n = character(at, (size_t)(end - at));
		length += n ? (uint32_t)n : 3;
		if (file && n) {
			fwrite(at, 1, n, file);
		} else if (file) { /* U+DC00 and the byte */
			putc(0xed, file);
			putc(0xb0 | *at >> 6, file);
			putc(0x80 | (*at & 0x3f), file);
		}
		n = n ? n : 1;
	}
	return length;
}

void pickle_writer_begin(struct pickle_writer *pickle, FILE *file)
{
	*pickle = (struct pickle_writer){ .file = file };
	fwrite("\x80\x04}", 1, 3, file); /* PROTO 4, EMPTY_DICT */
}

void pickle_writer_add(struct pickle_writer *pickle, const char *key, uint16_t number)
{
	const uint32_t length = put_text(NULL, key);

	if (pickle->in_batch++ == 0)
		putc('(', pickle->file); /* MARK */
	putc(length < 256 ? 0x8c : 'X', pickle->file); /* SHORT_BINUNICODE, BINUNICODE */
	put_number(pickle->file, length, length < 256 ? 1 : 4);
	put_text(pickle->file, key);
	putc(number < 256 ? 'K' : 'M', pickle->file); /* BININT1, BININT2 */
	put_number(pickle->file, number, number < 256 ? 1 : 2);
	if (pickle->in_batch == BATCH) {
		putc('u', pickle->file); /* SETITEMS */
		pickle->in_batch = 0;
	}
}

void pickle_writer_end(struct pickle_writer *pickle)
{
	if (pickle->in_batch)
		putc('u', pickle->file);
	putc('.', pickle->file); /* STOP */
}
