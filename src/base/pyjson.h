/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pyjson.h: reads JSON as Python's json.loads(bytes) does.
 *
 * Datasets have their JSON from Python, which writes and reads more than RFC 8259 has: NaN
 * and Infinity, numbers of any size, \u0000, halves of UTF-16 pairs. It also reads UTF-16
 * and UTF-32. The last of several members with one name counts. Python's own limits do not
 * apply: some 1,000 levels of lists, 4,300 digits of an integer.
 *
 * A text is checked once, in one pass that keeps a bit for each level of nesting. Values
 * are pieces of the checked text, decoded where somebody asks. So no input takes more
 * memory or time than its length says.
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
	PYJSON_REAL, /* NaN, Infinity and -Infinity, too */
	PYJSON_STRING,
	PYJSON_ARRAY,
	PYJSON_OBJECT,
};

struct pyjson_value {
	enum pyjson_kind kind;
	const char *text; /* as it is written, quotes and brackets included */
	size_t size;
};

struct pyjson {
	struct pyjson_value root;
	char *copy; /* in UTF-8, of what is in UTF-16 or UTF-32 */
};

struct pyjson_fault {
	const char *what; /* "a string that does not end" */
	size_t line;      /* from 1 */
};

/*
 * Checks all of the text, which must live as long as its values: 0, -ENOMEM, or -EBADMSG
 * and a fault. Either way pyjson_end() must follow.
 */
int pyjson_begin(struct pyjson *json, const void *bytes, size_t n,
		 struct pyjson_fault *fault);
void pyjson_end(struct pyjson *json);

/* The items of an array or an object, in their order. Other values have none. */
struct pyjson_walk {
	const char *at, *end;
	bool keys;
};

struct pyjson_walk pyjson_items(const struct pyjson_value *list);

/* The next item; the key is that of an object's: a string. false: there is none. */
bool pyjson_next(struct pyjson_walk *walk, struct pyjson_value *key,
		 struct pyjson_value *item);

/* The last member of an object with that name: false where there is none. */
bool pyjson_find(const struct pyjson_value *object, const char *name, size_t n,
		 struct pyjson_value *out);

/*
 * Writes what a string says: UTF-8, where halves of UTF-16 pairs are as in utf8.h. Room
 * for `size` bytes of the value is enough. How many bytes it has; one may be 0.
 */
size_t pyjson_string(const struct pyjson_value *string, char *out);

/* Does a string say these bytes? */
bool pyjson_equals(const struct pyjson_value *string, const char *text, size_t n);

/* An integer within 64 bits. */
bool pyjson_integer(const struct pyjson_value *integer, int64_t *out);

/* What float() makes of a number: an infinity where it is too large. 0 or -ENOMEM. */
int pyjson_real(const struct pyjson_value *number, double *out);

#endif
