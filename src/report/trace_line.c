/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/trace_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static bool find(const struct pyjson_value *object, const char *name, struct pyjson_value *out)
{
	return object->kind == PYJSON_OBJECT && pyjson_find(object, name, strlen(name), out);
}

static bool is_text(const struct pyjson_value *value, const char *text)
{
	return value->kind == PYJSON_STRING && pyjson_equals(value, text, strlen(text));
}

/* A whole number that fits, or 0. */
static int64_t number_of(const struct pyjson_value *object, const char *name)
{
	struct pyjson_value value;
	char digits[24];

	if (!find(object, name, &value) || value.kind != PYJSON_INTEGER ||
	    value.size >= sizeof(digits))
		return 0;
	memcpy(digits, value.text, value.size);
	digits[value.size] = '\0';
	return strtoll(digits, NULL, 10);
}

static uint64_t count_of(const struct pyjson_value *object, const char *name)
{
	int64_t number = number_of(object, name);

	return number > 0 ? (uint64_t)number : 0;
}

/* Of a hash that is a text, or a number without quotes: equal for both. */
static uint64_t digest_of(const struct pyjson_value *object, const char *name)
{
	struct pyjson_value value;
	size_t quote;

	if (!find(object, name, &value))
		return 0;
	quote = value.kind == PYJSON_STRING;
	return hash_bytes(value.text + quote, value.size - 2 * quote, 0) | 1;
}

/* 1 or X: complete; 2 or C: a counter; 4 or M: metadata. */
static char phase_of(const struct pyjson_value *object)
{
	struct pyjson_value value;

	if (!find(object, "ph", &value) || value.size == 0)
		return 0;
	switch (value.text[value.kind == PYJSON_STRING && value.size > 2]) {
	case '1':
	case 'X':
		return 'X';
	case '2':
	case 'C':
		return 'C';
	case '4':
	case 'M':
		return 'M';
	default:
		return 0;
	}
}

struct event_name {
	const char *name, *category;
	enum line_kind kind;
	bool is_open;
};

static const struct event_name event_names[] = {
	{ "read", "POSIX", LINE_READ, false },
	{ "pread", "POSIX", LINE_READ, false },
	{ "pread64", "POSIX", LINE_READ, false },
	{ "open", "POSIX", LINE_REQUEST, true },
	{ "open64", "POSIX", LINE_REQUEST, true },
	{ "ioctl", "FUSE", LINE_REQUEST, true },
	{ NULL, "FUSE", LINE_REQUEST, false },
	{ NULL, "STORAGE", LINE_STORAGE, false },
	{ NULL, "DECODE", LINE_DECODE, false },
	{ NULL, "PUSH", LINE_PUSH, false },
};

static void parse_event(const struct pyjson_value *object, const struct pyjson_value *arguments,
			struct trace_line *out)
{
	struct pyjson_value category = { .kind = PYJSON_NULL };

	find(object, "cat", &category);
	for (size_t i = 0; i < sizeof(event_names) / sizeof(*event_names); i++) {
		const struct event_name *event = &event_names[i];

		if (!is_text(&category, event->category) ||
		    (event->name && !is_text(&out->name, event->name)))
			continue;
		out->kind = event->kind;
		out->is_open = event->is_open;
		break;
	}
	out->offset = count_of(arguments, "offset");
	out->result = number_of(arguments, "ret");
	out->storage = count_of(arguments, "storage") + count_of(arguments, "demand");
	if (is_text(&category, "dftracer") && is_text(&out->name, "end"))
		out->kind = LINE_DROPPED;
	if (is_text(&category, "dftracer") && is_text(&out->name, "start"))
		out->kind = LINE_START;
}

static void parse_facts(const struct pyjson_value *arguments, struct trace_line *out)
{
	if (out->kind == LINE_DROPPED)
		out->result = number_of(arguments, "dropped");
	if (out->kind == LINE_START) {
		out->name = (struct pyjson_value){ .kind = PYJSON_NULL };
		find(arguments, "dataset", &out->name);
		find(arguments, "mountpoint", &out->mountpoint);
	}
}

static void parse_metadata(const struct pyjson_value *arguments, struct trace_line *out)
{
	if (!is_text(&out->name, "FH") || !find(arguments, "name", &out->name) ||
	    out->name.kind != PYJSON_STRING)
		return;
	out->kind = LINE_FILE;
	out->file = digest_of(arguments, "value");
}

static void parse_object(const struct pyjson_value *object, struct trace_line *out)
{
	struct pyjson_value arguments = { .kind = PYJSON_NULL };
	char phase = phase_of(object);

	find(object, "args", &arguments);
	find(object, "name", &out->name);
	out->ts = count_of(object, "ts");
	out->dur = count_of(object, "dur");
	out->pid = count_of(object, "pid");
	out->tid = count_of(object, "tid");
	out->file = digest_of(&arguments, "fhash");
	if (phase == 'X')
		parse_event(object, &arguments, out);
	else if (phase == 'M')
		parse_metadata(&arguments, out);
	else if (phase == 'C' && is_text(&out->name, "dropped"))
		out->kind = LINE_DROPPED;
	parse_facts(&arguments, out);
}

bool trace_line_parse(const char *text, size_t size, struct trace_line *out)
{
	struct pyjson_fault fault;
	struct pyjson json;
	bool is_object;

	*out = (struct trace_line){ .kind = LINE_OTHER };
	while (size && (text[size - 1] == ',' || text[size - 1] == '\r'))
		size--;
	if (size < 2 || *text != '{')
		return false;
	is_object = pyjson_begin(&json, text, size, &fault) == 0 &&
		    json.root.kind == PYJSON_OBJECT && !json.copy;
	if (is_object)
		parse_object(&json.root, out);
	pyjson_end(&json);
	return is_object;
}
