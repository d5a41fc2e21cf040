/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/checksum.h"

static const char *const missing_words[] = { "error", "skip", NULL };
static const char *const duplicates_words[] = { "error", "first", "last", NULL };
static const char *const nested_words[] = { "auto", "off", NULL };
static const char *const view_words[] = { "auto", "tree", "class", "arrays", NULL };
static const char *const checksums_words[] = { "on", "off", NULL };
static const char *const wds2idx_words[] = { "off", "use", NULL };
static const char *const sidecars_words[] = { "show", "hide", NULL };

enum { NAME_BYTES = 33 }; /* of an option's value in a short text */

#define AT(member) offsetof(struct dataset_config, member)

const struct option_spec dataset_options[] = {
	{ "index", OPTION_TEXT, AT(index), NULL, "PATH|auto|off|require",
	  "where the index is kept (auto)" },
	{ "missing", OPTION_CHOICE, AT(missing), missing_words, "error|skip",
	  "shards that do not exist (error)" },
	{ "duplicates", OPTION_CHOICE, AT(duplicates), duplicates_words,
	  "error|first|last", "a file that two shards hold (error)" },
	{ "nested", OPTION_CHOICE, AT(nested), nested_words, "auto|off",
	  "a tar inside a tar is a directory (auto)" },
	{ "view", OPTION_CHOICE, AT(view), view_words, "auto|tree|class|arrays",
	  "paths: as stored, by class, or each array (auto)" },
	{ "labels", OPTION_TEXT, AT(labels), NULL, "NAME", "the array, column or suffix of labels" },
	{ "classes", OPTION_TEXT, AT(classes), NULL, "FILE", "what the labels are called" },
	{ "names", OPTION_TEXT, AT(names), NULL, "FILE[:FILE...]",
	  "what the samples are called: label maps" },
	{ "sidecars", OPTION_CHOICE, AT(sidecars), sidecars_words, "show|hide",
	  "what lies beside an image, by class (show)" },
	{ "wds2idx", OPTION_CHOICE, AT(wds2idx), wds2idx_words, "off|use",
	  "a shard's files as its .idx of wds2idx lists them (off)" },
	{ "checksums", OPTION_CHOICE, AT(checksums), checksums_words, "on|off",
	  "compare what is read with the checksums of the index (on)" },
	{ "subdir", OPTION_TEXT, AT(subdir), NULL, "PATH", "show only this part" },
	{ "base", OPTION_SIZE, AT(base), NULL, "BYTES",
	  "where in the file the archive begins (0)" },
	{ "offset", OPTION_SIZE, AT(base), NULL, "BYTES", NULL },
	{ NULL, OPTION_IGNORED, 0, NULL, NULL, NULL },
};

int dataset_config_check(const struct dataset_config *config, struct error *e)
{
	if (config->base > INT64_MAX)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o base=%" PRIu64 ": no file is that large", config->base);
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

/* The common part of both texts: options that are not the default. */
static void append_rest(const struct dataset_config *config, char *out)
{
	char name[NAME_BYTES];
	char *end = out + CONFIG_TEXT_BYTES, *at = out + strlen(out);

	if (config->labels)
		at += snprintf(at, (size_t)(end - at), ",labels=%s",
			       short_name(config->labels, name));
	if (config->sidecars != SIDECARS_SHOW)
		at += snprintf(at, (size_t)(end - at), ",sidecars=%s",
			       sidecars_words[config->sidecars]);
	if (config->wds2idx != WDS2IDX_OFF)
		snprintf(at, (size_t)(end - at), ",wds2idx=%s",
			 wds2idx_words[config->wds2idx]);
}

char *dataset_config_shape(const struct dataset_config *config, uint32_t sources,
			   char *out)
{
	snprintf(out, CONFIG_TEXT_BYTES, "nested=%s,duplicates=%s,view=%s,base=%" PRIu64,
		 nested_words[config->nested],
		 duplicates_words[effective_duplicates(config, sources)],
		 view_words[config->view], config->base);
	append_rest(config, out);
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
	append_rest(config, out);
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

/* All options but labels=, which is written in full. */
static void write_words(const struct dataset_config *config, uint32_t sources, FILE *out)
{
	struct dataset_config rest = *config;
	char variant[CONFIG_TEXT_BYTES];

	rest.labels = NULL;
	fprintf(out, "%s", dataset_config_variant(&rest, sources, variant));
	if (config->labels)
		write_word(out, "labels", config->labels);
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
