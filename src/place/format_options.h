/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * format_options.h: the options that formats have of their own, declared in
 * format_options.def. Neither program knows them by name: the format does.
 */
#ifndef GRANARY_PLACE_FORMAT_OPTIONS_H
#define GRANARY_PLACE_FORMAT_OPTIONS_H

#include <stddef.h>

enum { SIDECARS_AUTO, SIDECARS_SHOW, SIDECARS_HIDE };

#define FORMAT_OPTION_TEXT(name) char *name;
#define FORMAT_OPTION_CHOICE(name) int name;
#define FORMAT_OPTION(kind, name, words, value, help, formats) FORMAT_OPTION_##kind(name)

/* All zero: as without options. Texts are the config's (place/config.h). */
struct format_options {
#include "place/format_options.def"
};
#undef FORMAT_OPTION
#undef FORMAT_OPTION_TEXT
#undef FORMAT_OPTION_CHOICE

/*
 * Finds, from the number *next on, an option that was given and that the format of that name
 * does not have: its name, or NULL. Leaves the next number in *next.
 */
const char *format_options_find_unused(const struct format_options *options,
				       const char *format, size_t *next);

#endif
