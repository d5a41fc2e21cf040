/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/pickle_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "maps/pickle_text.h"

int pickle_refuse(struct pickle_reader *r, const char *format, ...)
{
	char what[256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return error_set(r->e, ERROR_DATASET, EBADMSG, "%s: byte %zu of the pickle: %s",
			 r->path, (size_t)(r->op - r->begin), what);
}

int pickle_no_memory(struct pickle_reader *r)
{
	return error_no_memory(r->e, r->path);
}

int pickle_cut_off(struct pickle_reader *r)
{
	return pickle_refuse(r, "the file ends within it; copy it again");
}

/* The next n bytes, or NULL with a sentence. */
static const unsigned char *take(struct pickle_reader *r, uint64_t n)
{
	const unsigned char *taken = r->at;

	if (n > (uint64_t)(r->end - r->at)) {
		pickle_cut_off(r);
		return NULL;
	}
	r->at += n;
	return taken;
}

int pickle_take_number(struct pickle_reader *r, unsigned width, uint64_t *out)
{
	const unsigned char *bytes = take(r, width);

	if (!bytes)
		return -EBADMSG;
	*out = little_endian(bytes, width);
	return 0;
}

/* What is before the next line break, which is skipped. */
static const char *take_line(struct pickle_reader *r, size_t *size)
{
	const unsigned char *begin = r->at;
	const unsigned char *newline = memchr(begin, '\n', (size_t)(r->end - begin));

	if (!newline) {
		pickle_cut_off(r);
		return NULL;
	}
	r->at = newline + 1;
	*size = (size_t)(newline - begin);
	return (const char *)begin;
}

int pickle_push_id(struct pickle_reader *r, uint32_t id)
{
	return vec_push(&r->stack, id) < 0 ? pickle_no_memory(r) : 0;
}

int pickle_push(struct pickle_reader *r, const struct pickle_value *value)
{
	if (vec_push(&r->out->values, *value) < 0)
		return pickle_no_memory(r);
	return pickle_push_id(r, (uint32_t)r->out->values.count - 1);
}

static int push_kind(struct pickle_reader *r, enum pickle_kind kind, int64_t number)
{
	return pickle_push(r, &(struct pickle_value){ .kind = kind, .number = number });
}

/* Texts */

static int push_text(struct pickle_reader *r, enum pickle_kind kind, const void *text,
		     size_t size)
{
	struct pickle_value value = {.kind = kind, .size = (uint32_t)size, .text = text};
	int err = 0;

	if (kind == PICKLE_STR)
		err = pickle_text_names(&r->out->arena, text, size, &value.text,
					&value.size);
	if (err == -ENOMEM)
		return pickle_no_memory(r);
	if (err)
		return pickle_refuse(r, "a str that is not UTF-8; the file is damaged");
	return pickle_push(r, &value);
}

static int sized_text(struct pickle_reader *r, enum pickle_kind kind, unsigned width)
{
	const unsigned char *text;
	uint64_t size;
	int err = pickle_take_number(r, width, &size);

	if (err)
		return err;
	text = take(r, size);
	return text ? push_text(r, kind, text, (size_t)size) : -EBADMSG;
}

int pickle_do_str(struct pickle_reader *r, unsigned width)
{
	return sized_text(r, PICKLE_STR, width);
}

int pickle_do_bytes(struct pickle_reader *r, unsigned width)
{
	return sized_text(r, PICKLE_BYTES, width);
}

int pickle_do_unicode(struct pickle_reader *r, unsigned width)
{
	size_t size, plain_size;
	const char *line = take_line(r, &size), *plain;
	int err;

	(void)width;
	if (!line)
		return -EBADMSG;
	err = pickle_text_unescape(&r->out->arena, line, size, &plain, &plain_size);
	if (err == -ENOMEM)
		return pickle_no_memory(r);
	if (err)
		return pickle_refuse(r,
				     "an escape in a str that means nothing; the file is "
				     "damaged");
	return push_text(r, PICKLE_STR, plain, plain_size);
}

/* Numbers */

int pickle_do_constant(struct pickle_reader *r, unsigned width)
{
	(void)width;
	if (*r->op == 'N')
		return push_kind(r, PICKLE_NONE, 0);
	return push_kind(r, PICKLE_BOOL, *r->op == 0x88);
}

int pickle_do_int(struct pickle_reader *r, unsigned width)
{
	uint64_t number;
	int err = pickle_take_number(r, width, &number);

	if (err)
		return err;
	/* BININT has a sign, the shorter ones have none */
	return push_kind(r, PICKLE_INT,
			 width == 4 ? (int64_t)(int32_t)(uint32_t)number
				    : (int64_t)number);
}

/* As many bytes as it takes, the sign in the highest. `width` is that of their count. */
int pickle_do_long(struct pickle_reader *r, unsigned width)
{
	const unsigned char *bytes;
	uint64_t size, number;
	int err = pickle_take_number(r, width, &size);

	if (err)
		return err;
	bytes = take(r, size);
	if (!bytes)
		return -EBADMSG;
	if (size > 8)
		return pickle_refuse(r, "a number that needs more than 64 bits");
	number = little_endian(bytes, (unsigned)size);
	if (size > 0 && size < 8 && bytes[size - 1] & 0x80)
		number |= ~UINT64_C(0) << (8 * size);
	return push_kind(r, PICKLE_INT, (int64_t)number);
}

int pickle_take_digits(struct pickle_reader *r, char out[PICKLE_LINE_MOST])
{
	size_t size;
	const char *line = take_line(r, &size);

	if (!line)
		return -EBADMSG;
	if (size == 0 || size >= PICKLE_LINE_MOST || memchr(line, '\0', size))
		return pickle_refuse(r,
				     "a number that is none, or needs more than 64 bits");
	memcpy(out, line, size);
	out[size] = '\0';
	return 0;
}

int pickle_do_decimal(struct pickle_reader *r, unsigned width)
{
	char digits[PICKLE_LINE_MOST], *end;
	int64_t number;
	int err = pickle_take_digits(r, digits);

	(void)width;
	if (err)
		return err;
	if (*r->op == 'I' && (strcmp(digits, "00") == 0 || strcmp(digits, "01") == 0))
		return push_kind(r, PICKLE_BOOL, digits[1] == '1');
	errno = 0;
	number = strtoll(digits, &end, 10);
	if (*r->op == 'L' && *end == 'L')
		end++;
	if (errno || *end || end == digits)
		return pickle_refuse(r,
				     "a number that is none, or needs more than 64 bits");
	return push_kind(r, PICKLE_INT, number);
}

int pickle_do_float(struct pickle_reader *r, unsigned width)
{
	struct pickle_value value = { .kind = PICKLE_FLOAT };
	char digits[PICKLE_LINE_MOST], *end;
	int err = pickle_take_digits(r, digits);

	(void)width;
	if (err)
		return err;
	value.real = strtod(digits, &end);
	return *end ? pickle_refuse(r, "a float that is none") : pickle_push(r, &value);
}

int pickle_do_binfloat(struct pickle_reader *r, unsigned width)
{
	struct pickle_value value = { .kind = PICKLE_FLOAT };
	uint64_t bits;
	int err = pickle_take_number(r, width, &bits);

	if (err)
		return err;
	bits = __builtin_bswap64(bits);
	memcpy(&value.real, &bits, sizeof(bits));
	return pickle_push(r, &value);
}
