/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/size.h"

static int options_parse_number(const char *text, int base, unsigned *out)
{
	char *end;
	unsigned long value;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoul(text, &end, base);
	if (*end || errno || value > UINT_MAX)
		return -EINVAL;
	*out = (unsigned)value;
	return 0;
}

static int set_choice(const struct option_spec *spec, const char *value, int *out)
{
	for (int i = 0; spec->choices[i]; i++) {
		if (strcmp(spec->choices[i], value) == 0) {
			*out = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int set_text(const char *value, char **out)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*out);
	*out = copy;
	return 0;
}

static int set_value(const struct option_spec *spec, void *config, const char *value)
{
	void *at = (char *)config + spec->at;

	switch (spec->kind) {
	case OPTION_TEXT:
		return set_text(value, at);
	case OPTION_CHOICE:
		return set_choice(spec, value, at);
	case OPTION_SIZE:
		return size_parse(value, at);
	case OPTION_UINT:
		return options_parse_number(value, 10, at);
	case OPTION_OCTAL:
		return options_parse_number(value, 8, at);
	case OPTION_FLAG:
	case OPTION_IGNORED:
	case OPTION_REMOVED:
		break;
	}
	return 0;
}

/* "x-*" matches every name with this prefix. */
static bool matches_name(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	if (n && pattern[n - 1] == '*')
		return strncmp(pattern, name, n - 1) == 0;
	return strcmp(pattern, name) == 0;
}

static const struct option_spec *find_spec(const struct option_target *targets,
					   size_t n, const char *name, void **config)
{
	for (size_t i = 0; i < n; i++) {
		for (const struct option_spec *s = targets[i].specs; s->name; s++) {
			if (matches_name(s->name, name)) {
				*config = targets[i].config;
				return s;
			}
		}
	}
	return NULL;
}

static int options_apply_one(char *word, const struct option_target *targets, size_t n,
			     struct error *e)
{
	char *value = strchr(word, '=');
	const struct option_spec *spec;
	void *config = NULL;

	if (value)
		*value++ = '\0';
	spec = find_spec(targets, n, word, &config);
	if (!spec)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "unknown option -o %s; --help lists them", word);
	if (spec->kind == OPTION_IGNORED)
		return 0;
	if (spec->kind == OPTION_REMOVED)
		return error_set(e, ERROR_USAGE, EINVAL, "-o %s is no option any more: %s",
				 word, spec->value);
	if (spec->kind == OPTION_FLAG) {
		if (value)
			return error_set(e, ERROR_USAGE, EINVAL,
					 "option -o %s takes no value", word);
		*(bool *)((char *)config + spec->at) = true;
		return 0;
	}
	if (!value || !*value)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "option -o %s needs a value: %s=%s", word, word,
				 spec->value);
	if (set_value(spec, config, value) < 0)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o %s=%s: not understood; it takes %s=%s", word,
				 value, word, spec->value);
	return 0;
}

/* Cuts the next word off *rest, in place; unescapes `\,` and `\\`. */
static char *options_next_word(char **rest)
{
	char *word = *rest, *from = *rest, *to = *rest;

	while (*from && *from != ',') {
		if (*from == '\\' && (from[1] == ',' || from[1] == '\\'))
			from++;
		*to++ = *from++;
	}
	*rest = *from ? from + 1 : NULL;
	*to = '\0';
	return word;
}

int options_apply(const char *text, const struct option_target *targets,
		  size_t n, struct error *e)
{
	CLEANUP(cleanup_free) char *copy = strdup(text);
	char *rest = copy;

	if (!copy)
		return error_no_memory(e, NULL);
	while (rest) {
		char *word = options_next_word(&rest);
		int err = *word ? options_apply_one(word, targets, n, e) : 0;

		if (err)
			return err;
	}
	return 0;
}

int options_getopt_error(int returned, char *const *argv, struct error *e)
{
	const char *problem = returned == ':' ? "needs a value" : "is unknown";

	const char *word = argv[optind - 1];
	bool long_with_value = strncmp(word, "--", 2) == 0 && strchr(word, '=');

	/* optopt is 0 for an unknown long option, and the short letter of one that got
	   a value and takes none */
	if (returned == '?' && optopt && long_with_value)
		return error_set(e, ERROR_USAGE, EINVAL, "option %.*s takes no value",
				 (int)strcspn(word, "="), word);
	if (optopt && (returned == '?' || strncmp(word, "--", 2) != 0))
		return error_set(e, ERROR_USAGE, EINVAL, "option -%c %s; --help lists them",
				 optopt, problem);
	return error_set(e, ERROR_USAGE, EINVAL, "option %s %s; --help lists them",
			 word, problem);
}

void options_free(const struct option_spec *specs, void *config)
{
	for (; specs->name; specs++) {
		if (specs->kind == OPTION_TEXT) {
			char **text = (char **)(void *)((char *)config + specs->at);

			free(*text);
			*text = NULL;
		}
	}
}

static void number_text(unsigned value, bool octal, char *out, size_t size)
{
	/* not set: the program chooses the value */
	if (value == UINT_MAX)
		snprintf(out, size, "default");
	else
		snprintf(out, size, octal ? "%03o" : "%u", value);
}

int options_value(const struct option_spec *spec, const void *config, char *out,
		  size_t size)
{
	const void *at = (const char *)config + spec->at;
	const char *text;

	switch (spec->kind) {
	case OPTION_FLAG:
		snprintf(out, size, "%s", *(const bool *)at ? "yes" : "no");
		return 0;
	case OPTION_TEXT:
		text = *(char *const *)at;
		snprintf(out, size, "%s", text ? text : "default");
		return 0;
	case OPTION_CHOICE:
		snprintf(out, size, "%s", spec->choices[*(const int *)at]);
		return 0;
	case OPTION_SIZE:
		snprintf(out, size, "%" PRIu64, *(const uint64_t *)at);
		return 0;
	case OPTION_UINT:
	case OPTION_OCTAL:
		number_text(*(const unsigned *)at, spec->kind == OPTION_OCTAL, out, size);
		return 0;
	case OPTION_IGNORED:
	case OPTION_REMOVED:
		break;
	}
	return -EINVAL;
}

bool options_is_set(const struct option_spec *spec, const void *config)
{
	const void *at = (const char *)config + spec->at;

	switch (spec->kind) {
	case OPTION_FLAG:
		return *(const bool *)at;
	case OPTION_TEXT:
		return *(char *const *)at != NULL;
	case OPTION_CHOICE:
		return *(const int *)at != 0;
	case OPTION_SIZE:
		return *(const uint64_t *)at != 0;
	case OPTION_UINT:
	case OPTION_OCTAL:
		return *(const unsigned *)at != 0;
	case OPTION_IGNORED:
	case OPTION_REMOVED:
		break;
	}
	return false;
}

void options_print(const struct option_spec *specs, FILE *out)
{
	for (; specs->name; specs++) {
		char left[64];

		if (!specs->help)
			continue;
		if (specs->value)
			snprintf(left, sizeof(left), "%s=%s", specs->name, specs->value);
		else
			snprintf(left, sizeof(left), "%s", specs->name);
		fprintf(out, "    -o %-28s %s\n", left, specs->help);
	}
}
