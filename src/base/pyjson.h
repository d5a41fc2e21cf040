/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pyjson.h: reads JSON as Python's json.loads(bytes) does.
 *
 * Datasets have JSON from Python, which accepts more than RFC 8259: NaN and Infinity,
 * numbers of any size, \u0000, halves of UTF-16 pairs, and texts in UTF-16 and UTF-32.
 * The last of several members with one name wins. Python's own limits do not apply: about
 * 1,000 levels of lists, 4,300 digits of an integer.
 *
 * A text is checked in one pass, with one bit a level of nesting. Values are slices of
 * the checked text, decoded on demand. So time and memory are linear in the text.
 *
 *	struct pyjson json;
 *	if (pyjson_begin(&json, bytes, n, &fault) == 0)
 *		... pyjson_find(&json.root, "label", 5, &value) ...
 *	pyjson_end(&json);
 *
 * Threads: any, each text in one at a time.
 */
#ifndef GRANARY_BASE_PYJSON_H
#define GRANARY_BASE_PYJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pyjson_kind {
	PYJSON_NULL,
	PYJSON_FALSE,
	PYJSON_TRUE,
	PYJSON_INTEGER,
	PYJSON_REAL, /* also NaN, Infinity and -Infinity */
	PYJSON_STRING,
	PYJSON_ARRAY,
	PYJSON_OBJECT,
};

struct pyjson_value {
	enum pyjson_kind kind;
	const char *text; /* raw, with quotes and brackets */
	size_t size;
};

struct pyjson {
	struct pyjson_value root;
	char *copy; /* UTF-8 copy of UTF-16 or UTF-32 */
};

struct pyjson_fault {
	const char *what; /* "a string that does not end" */
	size_t line;      /* from 1 */
};

/*
 * Checks all of the text, which must outlive its values: 0, -ENOMEM, or -EBADMSG and a
 * fault. Call pyjson_end() in any case.
 */
int pyjson_begin(struct pyjson *json, const void *bytes, size_t n,
		 struct pyjson_fault *fault);
void pyjson_end(struct pyjson *json);

/* The items of an array or an object, in order. Other values have none. */
struct pyjson_walk {
	const char *at, *end;
	bool keys;
};

struct pyjson_walk pyjson_items(const struct pyjson_value *list);

/* The next item, and in an object its key, a string. False: no more. */
bool pyjson_next(struct pyjson_walk *walk, struct pyjson_value *key,
		 struct pyjson_value *item);

/* The last member of an object with that name; false: none. */
bool pyjson_find(const struct pyjson_value *object, const char *name, size_t n,
		 struct pyjson_value *out);

/*
 * Decodes a string to UTF-8, with halves of UTF-16 pairs as in utf8.h. `out` holds `size`
 * bytes of the value. Returns the length; bytes may be 0.
 */
size_t pyjson_string(const struct pyjson_value *string, char *out);

/* Is the decoded string equal to these bytes? */
bool pyjson_equals(const struct pyjson_value *string, const char *text, size_t n);

/* The value of Python's float(): infinity if it is too large. 0 or -ENOMEM. */
int pyjson_real(const struct pyjson_value *number, double *out);

#endif
