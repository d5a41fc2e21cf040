#include "dataset/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

static const char *const missing_words[] = { "error", "skip", NULL };
static const char *const duplicates_words[] = { "error", "first", "last", NULL };
static const char *const nested_words[] = { "auto", "off", NULL };
static const char *const view_words[] = { "auto", "tree", NULL };

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
	{ "view", OPTION_CHOICE, AT(view), view_words, "auto|tree",
	  "samples without names: by label, or as they are stored (auto)" },
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

/* One packed file has no duplicates that could be decided upon. */
static int effective_duplicates(const struct dataset_config *config, uint32_t sources)
{
	return sources > 1 ? config->duplicates : 0;
}

char *dataset_config_shape(const struct dataset_config *config, uint32_t sources,
			   char *out)
{
	snprintf(out, CONFIG_TEXT_BYTES, "nested=%s,duplicates=%s,view=%s,base=%" PRIu64,
		 nested_words[config->nested],
		 duplicates_words[effective_duplicates(config, sources)],
		 view_words[config->view], config->base);
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
	return out;
}
