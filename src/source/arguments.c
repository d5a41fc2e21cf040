/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/brace.h"
#include "base/cleanup.h"
#include "os/steps.h"

struct argument {
	const char *text;    /* a literal path; */
	struct brace *brace; /* or a pattern, if it is one */
	uint32_t before;     /* files of the arguments before it */
};

struct arguments {
	size_t n;
	uint32_t count;
	struct argument items[];
};

static int parse_one(const char *text, struct argument *out, uint64_t *files,
		     struct error *e)
{
	struct stat st;
	int err = 0;

	*out = (struct argument){ .text = text };
	*files = 1;
	steps_at(text);
	if (stat(text, &st) == 0)
		return 0;
	err = brace_parse(text, &out->brace, e);
	if (!err)
		*files = brace_count(out->brace);
	return err;
}

/* Of more files than that the last ones could not be opened. */
static uint64_t most_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max > UINT32_MAX)
		return UINT32_MAX;
	return limit.rlim_max;
}

static int add_files(struct arguments *arguments, const char *text, uint64_t files,
		     struct error *e)
{
	const uint64_t most = most_files();

	if (files <= most && arguments->count <= most - files) {
		arguments->count += (uint32_t)files;
		return 0;
	}
	return error_set(e, ERROR_USAGE, E2BIG,
			 "with '%.200s' there are %llu files, and this process may have %llu open; "
			 "check the braces, raise the limit (ulimit -Hn), or pack larger shards",
			 text, (unsigned long long)(arguments->count + files),
			 (unsigned long long)most);
}

int arguments_parse(char *const *texts, size_t n, struct arguments **out, struct error *e)
{
	CLEANUP(cleanup_arguments) struct arguments *arguments =
		calloc(1, sizeof(*arguments) + n * sizeof(arguments->items[0]));

	if (!arguments)
		return error_set(e, ERROR_SYSTEM, ENOMEM,
				 "there is not enough memory for the names of the packed files; "
				 "name fewer");
	if (n == 0)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "no source was named; name at least one packed file");
	while (arguments->n < n) {
		struct argument *item = &arguments->items[arguments->n];
		uint64_t files;
		int err = parse_one(texts[arguments->n], item, &files, e);

		arguments->n++;
		item->before = arguments->count;
		if (!err)
			err = add_files(arguments, item->text, files, e);
		if (err)
			return err;
	}
	*out = arguments;
	arguments = NULL;
	return 0;
}

void arguments_free(struct arguments *arguments)
{
	for (size_t i = 0; arguments && i < arguments->n; i++)
		brace_free(arguments->items[i].brace);
	free(arguments);
}

uint32_t arguments_count(const struct arguments *arguments)
{
	return arguments->count;
}

char *arguments_path(const struct arguments *arguments, uint32_t i)
{
	size_t low = 0, high = arguments->n;
	const struct argument *item;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (arguments->items[middle].before <= i)
			low = middle;
		else
			high = middle;
	}
	item = &arguments->items[low];
	return item->brace ? brace_word(item->brace, i - item->before) : strdup(item->text);
}
