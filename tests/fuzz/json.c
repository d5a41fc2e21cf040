/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON: what is said of a text must lie within it, and each value is a text of its own. */
/* granary-fuzz: json */
#include "fuzz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/pyjson.h"

enum { DEPTH_MOST = 50, VALUES_MOST = 2000 };

static void expect_string(const struct pyjson_value *string)
{
	char *text = malloc(string->size);
	size_t n;

	if (!text)
		abort();
	n = pyjson_string(string, text);
	if (n > string->size - 2 || !pyjson_equals(string, text, n))
		abort();
	free(text);
}

/* The value alone, in memory of its size, must be the same. */
static void expect_alone(const struct pyjson_value *value)
{
	char *copy = malloc(value->size);
	struct pyjson_fault fault;
	struct pyjson json;

	if (!copy)
		abort();
	memcpy(copy, value->text, value->size);
	if (pyjson_begin(&json, copy, value->size, &fault) != 0 ||
	    json.root.kind != value->kind || json.root.size != value->size)
		abort();
	pyjson_end(&json);
	free(copy);
}

static void expect_value(const struct pyjson_value *value, unsigned depth, unsigned *left)
{
	struct pyjson_walk walk = pyjson_items(value);
	struct pyjson_value key, item, found;
	double real;

	if (value->kind == PYJSON_STRING)
		expect_string(value);
	else if (value->kind == PYJSON_REAL && pyjson_real(value, &real) < 0)
		abort();
	while (depth < DEPTH_MOST && *left && pyjson_next(&walk, &key, &item)) {
		--*left;
		if (item.text < value->text ||
		    item.text + item.size >= value->text + value->size)
			abort();
		if (walk.keys)
			expect_string(&key);
		expect_alone(&item);
		expect_value(&item, depth + 1, left);
	}
	pyjson_find(value, "label", 5, &found);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const char *const kinds[] = { "null", "false", "true", "an integer", "a real",
					     "a string", "an array", "an object" };
	unsigned left = VALUES_MOST;
	struct pyjson_fault fault;
	struct pyjson json;
	int err = pyjson_begin(&json, bytes, n, &fault);

	if (err == 0) {
		expect_value(&json.root, 0, &left);
		fuzz_say("%s", kinds[json.root.kind]);
	} else if (err != -EBADMSG || !fault.what || fault.line == 0) {
		abort();
	} else {
		fuzz_say("line %zu: %s", fault.line, fault.what);
	}
	pyjson_end(&json);
	return 0;
}
