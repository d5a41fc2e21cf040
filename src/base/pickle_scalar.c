/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/pickle_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pickle_text.h"

static int __attribute__((format(printf, 3, 0)))
refuse_with(struct pickle_reader *r, int errnum, const char *format, va_list arguments)
{
	char what[256];

	vsnprintf(what, sizeof(what), format, arguments);
	return error_set(r->e, ERROR_DATASET, errnum, "%s: byte %llu of the pickle: %s",
			 r->path, (unsigned long long)(r->op - r->input->begin), what);
}

int pickle_refuse(struct pickle_reader *r, const char *format, ...)
{
	va_list arguments;
	int err;

	va_start(arguments, format);
	err = refuse_with(r, EBADMSG, format, arguments);
	va_end(arguments);
	return err;
}

int pickle_refuse_unsupported(struct pickle_reader *r, const char *format, ...)
{
	va_list arguments;
	int err;

	va_start(arguments, format);
	err = refuse_with(r, ENOTSUP, format, arguments);
	va_end(arguments);
	return err;
}

int pickle_no_memory(struct pickle_reader *r)
{
	return error_no_memory(r->e, r->path);
}

int pickle_truncated(struct pickle_reader *r)
{
	return pickle_refuse(r, "the file ends within it; copy it again");
}

/* The next n bytes. */
static int pickle_scalar_read(struct pickle_reader *r, uint64_t n,
			      const unsigned char **out)
{
	static const unsigned char nothing[1];
	int err = 0;

	*out = nothing;
	if (n > r->input->end - r->at)
		return pickle_truncated(r);
	if (n)
		err = r->input->get(r->input->context, r->at, (size_t)n, out);
	r->at += n;
	return err;
}

int pickle_read_number(struct pickle_reader *r, unsigned width, uint64_t *out)
{
	const unsigned char *bytes;
	int err = pickle_scalar_read(r, width, &bytes);

	*out = err ? 0 : little_endian(bytes, width);
	return err;
}

/* Reads up to the next line break, and skips that. */
int pickle_read_line(struct pickle_reader *r, const char **out, size_t *size)
{
	uint64_t left = r->input->end - r->at, begin = r->at;
	size_t most = r->policy->line_most;
	const unsigned char *bytes, *newline;
	int err = pickle_scalar_read(r, most && left > most ? most : left, &bytes);

	if (err)
		return err;
	newline = memchr(bytes, '\n', (size_t)(r->at - begin));
	if (!newline && most && left > most)
		return pickle_refuse_unsupported(r, "a line of more than %zu bytes",
						 most);
	if (!newline)
		return pickle_truncated(r);
	*out = (const char *)bytes;
	*size = (size_t)(newline - bytes);
	r->at = begin + *size + 1;
	return 0;
}

int pickle_push_id(struct pickle_reader *r, uint32_t id)
{
	return vec_push(&r->stack, id) < 0 ? pickle_no_memory(r) : 0;
}

struct pickle_value *pickle_at(struct pickle_reader *r, uint32_t id)
{
	return &r->out->values.items[id];
}

int pickle_add_value(struct pickle_reader *r, const struct pickle_value *value, uint32_t *id)
{
	size_t most = r->policy->values_most;

	if (most && r->out->values.count >= most)
		return pickle_refuse_unsupported(r, "more than %zu values", most);
	*id = (uint32_t)r->out->values.count;
	return vec_push(&r->out->values, *value) < 0 ? pickle_no_memory(r) : 0;
}

int pickle_push(struct pickle_reader *r, const struct pickle_value *value)
{
	uint32_t id;
	int err = pickle_add_value(r, value, &id);

	return err ? err : pickle_push_id(r, id);
}

static int push_kind(struct pickle_reader *r, enum pickle_kind kind, int64_t number)
{
	return pickle_push(r, &(struct pickle_value){ .kind = kind, .number = number });
}

/* Texts */

/* A text whose bytes last, or a copy. */
static int pickle_scalar_push_text(struct pickle_reader *r, enum pickle_kind kind,
				   const void *text, size_t size)
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

static int push_lasting(struct pickle_reader *r, enum pickle_kind kind, const void *text,
			size_t size)
{
	if (!r->input->lasting)
		text = arena_copy(&r->out->arena, text, size);
	return text ? pickle_scalar_push_text(r, kind, text, size) : pickle_no_memory(r);
}

static int sized_text(struct pickle_reader *r, enum pickle_kind kind, unsigned width)
{
	const unsigned char *text;
	uint64_t size, most = r->policy->text_most;
	int err = pickle_read_number(r, width, &size);

	if (err)
		return err;
	if (size > r->input->end - r->at)
		return pickle_truncated(r);
	if (size > UINT32_MAX)
		return pickle_refuse_unsupported(r, "a text of more than 4 GiB");
	if (kind == PICKLE_BYTES ? r->policy->leave_bytes : most && size > most) {
		r->at += size;
		return pickle_push(r, &(struct pickle_value){ .kind = kind,
							      .size = (uint32_t)size,
							      .place = r->at - size });
	}
	err = pickle_scalar_read(r, size, &text);
	return err ? err : push_lasting(r, kind, text, (size_t)size);
}

int pickle_do_str(struct pickle_reader *r, unsigned width)
{
	return sized_text(r, PICKLE_STR, width);
}

int pickle_do_bytes(struct pickle_reader *r, unsigned width)
{
	return sized_text(r, PICKLE_BYTES, width);
}

/* Reads the plain text of a line that is written with escapes. */
typedef int read_plain(struct arena *arena, const char *line, size_t size,
		       const char **plain, size_t *plain_size);

static int line_text(struct pickle_reader *r, enum pickle_kind kind, read_plain *read,
		     const char *damage)
{
	size_t size = 0, plain_size;
	const char *line, *plain;
	int err = pickle_read_line(r, &line, &size);

	if (err)
		return err;
	err = read(&r->out->arena, line, size, &plain, &plain_size);
	if (err == -ENOMEM)
		return pickle_no_memory(r);
	if (err)
		return pickle_refuse(r, "%s; the file is damaged", damage);
	return pickle_scalar_push_text(r, kind, plain, plain_size);
}

int pickle_do_unicode(struct pickle_reader *r, unsigned width)
{
	return line_text(r, PICKLE_STR, pickle_text_unescape,
			 "an escape in a str that means nothing");
}

/* Python 2's str: a literal in quotes, with its escapes. */
int pickle_do_string(struct pickle_reader *r, unsigned width)
{
	return line_text(r, PICKLE_BYTES, pickle_text_literal,
			 "a str that is not in quotes, or has an escape that means nothing");
}

/* Numbers */

int pickle_do_constant(struct pickle_reader *r, unsigned width)
{
	if (r->code == 'N')
		return push_kind(r, PICKLE_NONE, 0);
	return push_kind(r, PICKLE_BOOL, r->code == 0x88);
}

int pickle_do_int(struct pickle_reader *r, unsigned width)
{
	uint64_t number;
	int err = pickle_read_number(r, width, &number);

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
	int err = pickle_read_number(r, width, &size);

	if (err)
		return err;
	if (size > 8 && size <= r->input->end - r->at && r->policy->objects) {
		r->at += size; /* of a tag of an image */
		return push_kind(r, PICKLE_NONE, 0);
	}
	if (size > r->input->end - r->at)
		return pickle_truncated(r);
	if (size > 8)
		return pickle_refuse(r, "a number that needs more than 64 bits");
	err = pickle_scalar_read(r, size, &bytes);
	if (err)
		return err;
	number = little_endian(bytes, (unsigned)size);
	if (size > 0 && size < 8 && bytes[size - 1] & 0x80)
		number |= ~UINT64_C(0) << (8 * size);
	return push_kind(r, PICKLE_INT, (int64_t)number);
}

int pickle_read_digits(struct pickle_reader *r, char out[PICKLE_LINE_MOST])
{
	size_t size = 0;
	const char *line;
	int err = pickle_read_line(r, &line, &size);

	if (err)
		return err;
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
	int err = pickle_read_digits(r, digits);

	if (err)
		return err;
	if (r->code == 'I' && (strcmp(digits, "00") == 0 || strcmp(digits, "01") == 0))
		return push_kind(r, PICKLE_BOOL, digits[1] == '1');
	errno = 0;
	number = strtoll(digits, &end, 10);
	if (r->code == 'L' && *end == 'L')
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
	int err = pickle_read_digits(r, digits);

	if (err)
		return err;
	value.real = strtod(digits, &end);
	return *end ? pickle_refuse(r, "a float that is none") : pickle_push(r, &value);
}

int pickle_do_binfloat(struct pickle_reader *r, unsigned width)
{
	struct pickle_value value = { .kind = PICKLE_FLOAT };
	uint64_t bits;
	int err = pickle_read_number(r, width, &bits);

	if (err)
		return err;
	bits = __builtin_bswap64(bits);
	memcpy(&value.real, &bits, sizeof(bits));
	return pickle_push(r, &value);
}
