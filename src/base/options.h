/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * options.h: parses `-o name=value,flag` options by tables.
 *
 * A table maps each option to a member of a struct. Values: OPTION_FLAG (bool),
 * OPTION_TEXT (char *, owned by the struct, freed by options_free), OPTION_CHOICE (int:
 * the index of a word in `choices`), OPTION_SIZE (uint64_t, "8G"), OPTION_UINT
 * (unsigned), OPTION_OCTAL (unsigned).
 */
#ifndef GRANARY_BASE_OPTIONS_H
#define GRANARY_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

enum option_kind {
	OPTION_FLAG,
	OPTION_TEXT,
	OPTION_CHOICE,
	OPTION_SIZE,
	OPTION_UINT,
	OPTION_OCTAL,
	OPTION_IGNORED, /* taken and forgotten: what mount(8) passes on */
	OPTION_REMOVED, /* of an older version: refused with the sentence in `value` */
};

struct option_spec {
	const char *name;           /* NULL ends a table; "x-*": all with this prefix */
	enum option_kind kind;
	size_t at;                  /* offsetof() into the struct */
	const char *const *choices; /* OPTION_CHOICE: words, NULL-ended */
	const char *value;          /* for the help text: "SIZE", "error|skip" */
	const char *help;
};

/* A table and its struct. */
struct option_target {
	const struct option_spec *specs;
	void *config;
};

/*
 * Applies one -o argument ("a,b=c"; `\,` is a comma in a value) to the first of the `n`
 * targets that knows each name. Otherwise -EINVAL with a sentence that names the option.
 */
int options_apply(const char *text, const struct option_target *targets,
		  size_t n, struct error *e);

/*
 * Sets a sentence that names the option, after getopt_long (with a table that begins with
 * `:`) returned '?' or ':'. Returns -EINVAL.
 */
int options_getopt_error(int returned, char *const *argv, struct error *e);

/* Frees the OPTION_TEXT values of `config`. */
void options_free(const struct option_spec *specs, void *config);

/*
 * Writes the value of an option as the user would; "default" if it is not set: 0, or
 * -EINVAL for an ignored option. Longer text is cut off.
 */
int options_value(const struct option_spec *spec, const void *config, char *out,
		  size_t size);

/* Does `config` have another value for an option than zero, its default? */
bool options_is_set(const struct option_spec *spec, const void *config);

/* One aligned line an option. */
void options_print(const struct option_spec *specs, FILE *out);

#endif
