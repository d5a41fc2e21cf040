/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/signature.h"

#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "source/remedies.h"

enum {
	KALDI_KEY_MOST = 256,
	SAFETENSORS_MOST = 100000000, /* bytes of its JSON, as its library has it */
};

/* A line of signatures.def. */
struct signature_row {
	bool (*matches)(const struct signature_row *row, const unsigned char *head,
			size_t n);
	size_t offset;
	const char *bytes;
	size_t size;
	struct signature found;
};

static bool begins(const struct signature_row *row, const unsigned char *head, size_t n)
{
	return n >= row->offset && n - row->offset >= row->size &&
	       memcmp(head + row->offset, row->bytes, row->size) == 0;
}

static bool is_text(const struct signature_row *row, const unsigned char *head, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (head[i] == 127 ||
		    (head[i] < ' ' && !(head[i] >= '\t' && head[i] <= '\r')))
			return false;
	return n > 0;
}

static bool is_text_with(const struct signature_row *row, const unsigned char *head,
			 size_t n)
{
	return is_text(row, head, n) && memmem(head, n, row->bytes, row->size);
}

/* An object or an array, as files of JSON and of JSON Lines begin. */
static bool is_json(const struct signature_row *row, const unsigned char *head, size_t n)
{
	size_t i = n >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (i < n && strchr(" \t\r\n", head[i]) && head[i])
		i++;
	if (n - i < 2 || !is_text(row, head, n))
		return false;
	return (head[i] == '{' && strchr("\"} \t\r\n", head[i + 1])) ||
	       (head[i] == '[' && strchr("\"{[]-0123456789 \t\r\n", head[i + 1]));
}

/* 8 bytes of length, and a JSON object of that length. */
static bool is_safetensors(const struct signature_row *row, const unsigned char *head,
			   size_t n)
{
	uint64_t length;

	if (n < 10)
		return false;
	length = little_endian(head, 8);
	return length >= 2 && length <= SAFETENSORS_MOST && head[8] == '{' &&
	       strchr("\"} \n", head[9]) && head[9] != '\0';
}

/* A key, a blank, and the mark of what is binary. */
static bool is_kaldi_ark(const struct signature_row *row, const unsigned char *head,
			 size_t n)
{
	size_t i = 0;

	while (i < n && i < KALDI_KEY_MOST && head[i] > ' ' && head[i] < 127)
		i++;
	return i > 0 && n - i >= 3 && memcmp(head + i, " \0B", 3) == 0;
}

#define ROW(matches, offset, bytes, what, remedy, stream) \
	{ matches, offset, bytes, sizeof(bytes) - 1, { what, remedy, stream } },
#define STREAM(magic, what, remedy) ROW(begins, 0, magic, what, remedy, true)
#define AT(offset, magic, what, remedy) ROW(begins, offset, magic, what, remedy, false)
#define SAYS(words, what, remedy) ROW(is_text_with, 0, words, what, remedy, false)
#define FITS(test, what, remedy) ROW(test, 0, "", what, remedy, false)

static const struct signature_row rows[] = {
#include "format/signatures.def"
};

const struct signature *signature_find(const unsigned char *head, size_t n)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].matches(&rows[i], head, n))
			return &rows[i].found;
	return NULL;
}
