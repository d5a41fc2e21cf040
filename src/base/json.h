/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.h: writes one JSON value to a stream, member by member.
 *
 * Bytes that are not valid UTF-8 (as in names of archives) become the escapes of U+DC80
 * to U+DCFF, which Python's surrogateescape reads back:
 * json.loads(text)["name"].encode("utf-8", "surrogateescape").
 *
 * Not for concurrent use. Errors are the stream's: ferror().
 */
#ifndef GRANARY_BASE_JSON_H
#define GRANARY_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool comma; /* this level has a value */
};

/* `key` is NULL within an array and at the top. */
void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_text(struct json *json, const char *key, const char *text);
void json_uint(struct json *json, const char *key, uint64_t value);
void json_int(struct json *json, const char *key, int64_t value);
void json_bool(struct json *json, const char *key, bool value);

#endif
