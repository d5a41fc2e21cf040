/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/checksum.h"
#include "os/charset.h"

static const char *const missing_words[] = { "error", "skip", NULL };
static const char *const duplicates_words[] = { "error", "first", "last", NULL };
static const char *const nested_words[] = { "auto", "off", "npz", NULL };
static const char *const view_words[] = { "auto", "tree", "class", "arrays", NULL };
static const char *const checksums_words[] = { "on", "off", NULL };

enum { NAME_BYTES = 33 }; /* of an option's value in a short text */

#define AT(member) offsetof(struct dataset_config, member)
#define WORDS(...) (const char *const[]){ __VA_ARGS__, NULL }
#define FORMAT_OPTION(kind, option, words, value, help, of) \
	{ #option, OPTION_##kind, AT(formats.option), words, value, help },

const struct option_spec dataset_options[] = {
	{ "index", OPTION_TEXT, AT(index), NULL, "PATH|auto|off|require",
	  "where the index is kept (auto)" },
	{ "missing", OPTION_CHOICE, AT(missing), missing_words, "error|skip",
	  "shards that do not exist (error)" },
	{ "duplicates", OPTION_CHOICE, AT(duplicates), duplicates_words,
	  "error|first|last", "a file that two shards hold (error)" },
	{ "nested", OPTION_CHOICE, AT(nested), nested_words, "auto|off|npz",
	  "tars and zips inside are directories; .npz too (auto)" },
	{ "view", OPTION_CHOICE, AT(view), view_words, "auto|tree|class|arrays",
	  "paths: as stored, by class, or each array (auto)" },
#include "place/format_options.def"
	{ "classes", OPTION_TEXT, AT(classes), NULL, "FILE", "what the labels are called" },
	{ "names", OPTION_TEXT, AT(names), NULL, "FILE[:FILE...]",
	  "what the samples are called: label maps" },
	{ "wds2idx", OPTION_REMOVED, 0, NULL,
	  "the headers of a tar are read once, and its index keeps them", NULL },
	{ "checksums", OPTION_CHOICE, AT(checksums), checksums_words, "on|off",
	  "compare what is read with the checksums of the index (on)" },
	{ "spool", OPTION_TEXT, AT(spool), NULL, "DIR|auto|keep:DIR",
	  "unpack there what cannot be read at random" },
	{ "subdir", OPTION_TEXT, AT(subdir), NULL, "PATH", "show only this part" },
	{ "base", OPTION_SIZE, AT(base), NULL, "BYTES",
	  "where in the file the archive begins (0)" },
	{ "offset", OPTION_SIZE, AT(base), NULL, "BYTES", NULL },
	{ NULL, OPTION_IGNORED, 0, NULL, NULL, NULL },
};

/* Those of formats once more: they are named by number. */
static const struct option_spec format_specs[] = {
#include "place/format_options.def"
};
#undef FORMAT_OPTION

#define FORMAT_OPTION(kind, option, words, value, help, of) of,
static const char *const formats_of[] = {
#include "place/format_options.def"
};
#undef FORMAT_OPTION

enum { FORMAT_SPECS = sizeof(format_specs) / sizeof(*format_specs) };

int dataset_config_check(const struct dataset_config *config, struct error *e)
{
	if (config->base > INT64_MAX)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o base=%" PRIu64 ": no file is that large", config->base);
	if (config->formats.names_encoding && charset_load(config->formats.names_encoding) < 0)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o names_encoding=%s: no such character set is known here; "
				 "iconv -l lists them", config->formats.names_encoding);
	return 0;
}

bool dataset_index_is(const struct dataset_config *config, const char *word)
{
	return strcmp(config->index ? config->index : "auto", word) == 0;
}

const char *dataset_index_path(const struct dataset_config *config)
{
	if (dataset_index_is(config, "auto") || dataset_index_is(config, "off") ||
	    dataset_index_is(config, "require"))
		return NULL;
	return config->index;
}

void dataset_config_free(struct dataset_config *config)
{
	options_free(dataset_options, config);
}

/* A single packed file cannot have duplicates of another. */
static int effective_duplicates(const struct dataset_config *config, uint32_t sources)
{
	return sources > 1 ? config->duplicates : 0;
}

/*
 * Keeps a name that is allowed in a file's name, and hashes any other. No plain name
 * begins with the hash's sign.
 */
static const char *short_name(const char *name, char out[NAME_BYTES])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-.";

	if (strspn(name, plain) == strlen(name) && strlen(name) < NAME_BYTES)
		snprintf(out, NAME_BYTES, "%s", name);
	else
		snprintf(out, NAME_BYTES, "#%016" PRIx64, sum_of(name, strlen(name)));
	return out;
}

/* The text that was given for an option; in `out`, or the config's own. */
static const char *option_value(const struct option_spec *spec,
				const struct dataset_config *config, char out[NAME_BYTES])
{
	if (spec->kind == OPTION_TEXT)
		return *(char *const *)(const void *)((const char *)config + spec->at);
	options_value(spec, config, out, NAME_BYTES);
	return out;
}

/* The end of both texts: the options of formats that are not at their default. */
static void append_formats(const struct dataset_config *config, char *out)
{
	char value[NAME_BYTES], name[NAME_BYTES];
	char *end = out + CONFIG_TEXT_BYTES, *at = out + strlen(out);

	for (size_t i = 0; i < FORMAT_SPECS; i++)
		if (options_is_set(&format_specs[i], config) && at < end)
			at += snprintf(at, (size_t)(end - at), ",%s=%s", format_specs[i].name,
				       short_name(option_value(&format_specs[i], config,
							       value),
						  name));
}

char *dataset_config_shape(const struct dataset_config *config, uint32_t sources,
			   char *out)
{
	snprintf(out, CONFIG_TEXT_BYTES, "nested=%s,duplicates=%s,view=%s,base=%" PRIu64,
		 nested_words[config->nested],
		 duplicates_words[effective_duplicates(config, sources)],
		 view_words[config->view], config->base);
	append_formats(config, out);
	return out;
}

char *dataset_config_variant(const struct dataset_config *config, uint32_t sources,
			     char *out)
{
	char *at = out, *end = out + CONFIG_TEXT_BYTES;
	int duplicates = effective_duplicates(config, sources);

	*at = '\0';
	if (config->nested != NESTED_AUTO)
		at += snprintf(at, (size_t)(end - at), ",nested=%s",
			       nested_words[config->nested]);
	if (duplicates)
		at += snprintf(at, (size_t)(end - at), ",duplicates=%s",
			       duplicates_words[duplicates]);
	if (config->view != DATASET_VIEW_AUTO)
		at += snprintf(at, (size_t)(end - at), ",view=%s",
			       view_words[config->view]);
	if (config->base != 0)
		snprintf(at, (size_t)(end - at), ",base=%" PRIu64, config->base);
	append_formats(config, out);
	return out;
}

static void write_word(FILE *out, const char *option, const char *value)
{
	fprintf(out, ",%s=", option);
	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			putc('\\', out);
		putc(*value, out);
	}
}

/* Without the options of formats, which are there in full. */
static void write_words(const struct dataset_config *config, uint32_t sources, FILE *out)
{
	struct dataset_config rest = *config;
	char variant[CONFIG_TEXT_BYTES], value[NAME_BYTES];

	rest.formats = (struct format_options){ 0 };
	fprintf(out, "%s", dataset_config_variant(&rest, sources, variant));
	for (size_t i = 0; i < FORMAT_SPECS; i++)
		if (options_is_set(&format_specs[i], config))
			write_word(out, format_specs[i].name,
				   option_value(&format_specs[i], config, value));
	if (config->classes)
		write_word(out, "classes", config->classes);
	if (config->names)
		write_word(out, "names", config->names);
}

char *dataset_config_words(const struct dataset_config *config, uint32_t sources)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	write_words(config, sources, out);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	if (*text == ',')
		memmove(text, text + 1, size);
	return text;
}

const char *format_options_find_unused(const struct format_options *options,
				       const char *format, size_t *next)
{
	const struct dataset_config config = { .formats = *options };
	char word[NAME_BYTES];

	snprintf(word, sizeof(word), " %s ", format);
	for (size_t i = *next; i < FORMAT_SPECS; i++) {
		*next = i + 1;
		if (formats_of[i] && !strstr(formats_of[i], word) &&
		    options_is_set(&format_specs[i], &config))
			return format_specs[i].name;
	}
	return NULL;
}
