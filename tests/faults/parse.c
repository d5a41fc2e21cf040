/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parse.c: what the environment asks for. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"

static const struct {
	const char *name;
	enum fault_kind kind;
	int errnum;
} kinds[] = {
	{ "eio", FAULT_ERROR, EIO },
	{ "estale", FAULT_ERROR, ESTALE },
	{ "etimedout", FAULT_ERROR, ETIMEDOUT },
	{ "eintr", FAULT_ERROR, EINTR },
	{ "eacces", FAULT_ERROR, EACCES },
	{ "stale", FAULT_STALE, ESTALE },
	{ "short", FAULT_SHORT, 0 },
	{ "zero", FAULT_ZERO, 0 },
	{ "late", FAULT_LATE, 0 },
	{ "garbage", FAULT_GARBAGE, 0 },
	{ "note", FAULT_NOTE, 0 },
};

static const struct {
	const char *name;
	int signal;
} signals[] = { { "SEGV", SIGSEGV }, { "ABRT", SIGABRT }, { "KILL", SIGKILL } };

static const struct fault_turns always = { 1, 1, UINT64_MAX };

_Noreturn void fault_refuse(const char *variable, const char *what)
{
	fprintf(stderr, "%s: this is not understood: %s\n", variable, what);
	_exit(99);
}

static bool parse_number(const char *text, uint64_t *out, char **end)
{
	errno = 0;
	*out = strtoull(text, end, 10);
	return *end != text && errno == 0 && *text != '-';
}

static bool parse_whole(const char *text, uint64_t least, uint64_t *out)
{
	char *end;

	return parse_number(text, out, &end) && *end == '\0' && *out >= least;
}

static bool parse_range(const char *text, struct fault *f)
{
	char *end;

	return parse_number(text, &f->begin, &end) && *end == '-' &&
	       parse_whole(end + 1, f->begin + 1, &f->end);
}

static bool parse_path(const char *text, char *out)
{
	int n = snprintf(out, FAULT_PATH_BYTES, "%s", text);

	return n > 0 && n < FAULT_PATH_BYTES;
}

static bool parse_kind(const char *text, struct fault *f)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(kinds[i].name, text) != 0)
			continue;
		f->kind = kinds[i].kind;
		f->errnum = kinds[i].errnum;
		return true;
	}
	return false;
}

static bool parse_signal(const char *text, int *out)
{
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		if (strcmp(signals[i].name, text) != 0)
			continue;
		*out = signals[i].signal;
		return true;
	}
	return false;
}

static bool parse_turns(const char *name, const char *value, struct fault_turns *turns)
{
	if (strcmp(name, "from") == 0)
		return parse_whole(value, 1, &turns->from);
	if (strcmp(name, "every") == 0)
		return parse_whole(value, 1, &turns->every);
	return strcmp(name, "count") == 0 && parse_whole(value, 1, &turns->count);
}

static bool parse_fault_field(const char *name, const char *value, void *out)
{
	struct fault *f = out;

	if (strcmp(name, "kind") == 0)
		return parse_kind(value, f);
	if (strcmp(name, "path") == 0)
		return parse_path(value, f->path);
	if (strcmp(name, "while") == 0)
		return parse_path(value, f->present);
	if (strcmp(name, "offset") == 0)
		return parse_range(value, f);
	if (strcmp(name, "ms") == 0)
		return parse_whole(value, 1, &f->ms);
	if (strcmp(name, "bytes") == 0)
		return parse_whole(value, 1, &f->bytes);
	return parse_turns(name, value, &f->turns);
}

static bool parse_crash_field(const char *name, const char *value, void *out)
{
	struct crash *c = out;

	if (strcmp(name, "node") == 0)
		return parse_whole(value, 1, &c->node);
	if (strcmp(name, "name") == 0)
		return parse_path(value, c->name);
	if (strcmp(name, "signal") == 0)
		return parse_signal(value, &c->signal);
	if (strcmp(name, "after") == 0)
		return parse_whole(value, 0, &c->after);
	return parse_turns(name, value, &c->turns);
}

typedef bool parse_field(const char *name, const char *value, void *out);

/* NAME=VALUE[,...], which is cut into its words. NULL, or the word that is wrong. */
static const char *parse_fields(char *text, parse_field *field, void *out)
{
	char *rest = NULL, *word;

	for (word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(word, '=');

		if (!value)
			return word;
		*value = '\0';
		if (!field(word, value + 1, out)) {
			*value = '=';
			return word;
		}
	}
	return NULL;
}

int faults_parse(const char *text, struct fault *out, unsigned room, const char **wrong)
{
	static char copy[4096];
	char *rest = NULL, *word;
	unsigned n = 0;

	*wrong = text;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -1;
	for (word = strtok_r(copy, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
		if (n == room)
			return -1;
		out[n] = (struct fault){ .turns = always, .end = UINT64_MAX };
		*wrong = parse_fields(word, parse_fault_field, &out[n]);
		if (*wrong)
			return -1;
		*wrong = text;
		if (out[n].kind == FAULT_NONE ||
		    (out[n].kind == FAULT_LATE && !out[n].ms && !*out[n].present))
			return -1;
		n++;
	}
	return n ? (int)n : -1;
}

int crash_parse(const char *text, struct crash *out, const char **wrong)
{
	static char copy[512];

	*out = (struct crash){ .signal = SIGSEGV, .turns = always };
	*wrong = text;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return -1;
	*wrong = parse_fields(copy, parse_crash_field, out);
	if (!*wrong && !out->node == !*out->name)
		*wrong = text;
	return *wrong ? -1 : 0;
}
