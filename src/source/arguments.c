/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/brace.h"
#include "base/cleanup.h"
#include "base/vec.h"
#include "os/steps.h"
#include "source/directory.h"
#include "source/saved_directory.h"
#include "source/shard_list.h"

struct argument {
	const char *text;    /* a literal path, owned or not; */
	char *owned;
	struct brace *brace; /* or a pattern, if it is one */
	size_t directory;    /* a listed file lies below these first bytes of its path, */
	uint64_t size;       /* and has this size, as its index says */
	uint32_t before;     /* files of the arguments before it */
};

struct arguments {
	uint32_t count;
	VEC(struct argument) items;
	size_t json_left; /* for json_names.h */
};

/* The words of a pattern for files with companions are visited one by one. */
enum { WORDS_MOST = 10000 };

/* The most files that could be opened at once. */
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

static int arguments_no_memory(struct error *e)
{
	return error_set(e, ERROR_SYSTEM, ENOMEM,
			 "there is not enough memory for the names of the packed files; "
			 "name fewer");
}

/* Takes ownership of the argument's members. */
static int add_argument(struct arguments *arguments, struct argument item, uint64_t files,
			struct error *e)
{
	int err;

	item.before = arguments->count;
	if (vec_push(&arguments->items, item) == 0)
		return add_files(arguments, item.text, files, e);
	err = arguments_no_memory(e);
	brace_free(item.brace);
	free(item.owned);
	return err;
}

static int add_owned(struct arguments *arguments, char *path, struct error *e)
{
	if (!path)
		return arguments_no_memory(e);
	return add_argument(arguments, (struct argument){ .text = path, .owned = path }, 1, e);
}

static bool is_same_path(const char *a, const char *b)
{
	while (strncmp(a, "./", 2) == 0)
		a += 2;
	while (strncmp(b, "./", 2) == 0)
		b += 2;
	return strcmp(a, b) == 0;
}

/* Adds a file, and its file of shown rows, unless the next argument names that one. */
static int arguments_add_file(struct arguments *arguments, struct argument file,
			      const char *next, struct error *e)
{
	struct path_list indices = { NULL, 0, 0 };
	int err = saved_indices_list(file.text, &arguments->json_left, &indices, e);

	if (err) {
		free(file.owned);
	} else {
		err = add_argument(arguments, file, 1, e);
	}
	for (size_t i = 0; i < indices.count && !err; i++) {
		if (i == 0 && next && is_same_path(next, indices.items[0]))
			break;
		err = add_owned(arguments, indices.items[i], e);
		indices.items[i] = NULL;
	}
	path_list_free(&indices);
	return err;
}

/* A pattern that stands for itself until a file is asked for, or words with files beside. */
static int arguments_add_pattern(struct arguments *arguments, const char *text,
				 struct error *e)
{
	static const char ending[] = "dataset.arrow";
	size_t n = strlen(text);
	struct brace *brace;
	int err = brace_parse(text, &brace, e);

	if (err)
		return err;
	if (n < strlen(ending) || strcmp(text + n - strlen(ending), ending) != 0 ||
	    brace_count(brace) > WORDS_MOST)
		return add_argument(arguments, (struct argument){ .text = text, .brace = brace },
				    brace_count(brace), e);
	for (uint64_t i = 0; i < brace_count(brace) && !err; i++) {
		char *word = brace_word(brace, i);

		err = word ? arguments_add_file(arguments,
						(struct argument){.text = word,
								  .owned = word},
						NULL, e)
			   : arguments_no_memory(e);
	}
	brace_free(brace);
	return err;
}

/* The shards that an index names: 1, 0 if it names none, or an error. */
static int arguments_add_shards(struct arguments *arguments, const char *text, bool directory,
				struct error *e)
{
	CLEANUP(shard_list_free) struct shard_list list = { NULL, 0, 0 };
	int there = directory ?
			    shard_list_of_directory(text, &arguments->json_left, &list, e) :
			    shard_list_of_file(text, &arguments->json_left, &list, e);
	int err = there < 0 ? there : 0;

	for (size_t i = 0; i < list.count && !err; i++) {
		struct shard_name *shard = &list.items[i];

		err = add_argument(arguments, (struct argument){ .text = shard->path,
				   .owned = shard->path, .directory = shard->directory,
				   .size = shard->size }, 1, e);
		shard->path = NULL;
	}
	return err ? err : there;
}

/*
 * A directory of a saved dataset, of LMDB or of shards stands for its files; any other
 * stays, and is refused later.
 */
static int arguments_add_directory(struct arguments *arguments, const char *text,
				struct error *e)
{
	struct path_list list = { NULL, 0, 0 };
	int there = saved_directory_list(text, &arguments->json_left, &list, e), err;

	if (there == 0)
		there = directory_list_databases(text, &list, e);
	err = there < 0 ? there : 0;

	for (size_t i = 0; i < list.count && !err; i++) {
		err = add_owned(arguments, list.items[i], e);
		list.items[i] = NULL;
	}
	path_list_free(&list);
	if (there == 0)
		there = err = arguments_add_shards(arguments, text, true, e);
	if (there != 0)
		return err < 0 ? err : 0;
	return add_argument(arguments, (struct argument){ .text = text }, 1, e);
}

static int arguments_add_text(struct arguments *arguments, const char *text,
			      const char *next, struct error *e)
{
	struct stat st;
	int there;

	steps_record(text);
	if (stat(text, &st) < 0)
		return arguments_add_pattern(arguments, text, e);
	if (S_ISDIR(st.st_mode))
		return arguments_add_directory(arguments, text, e);
	there = arguments_add_shards(arguments, text, false, e);
	if (there != 0)
		return there < 0 ? there : 0;
	return arguments_add_file(arguments, (struct argument){ .text = text }, next, e);
}

/* A pattern of the shell, train.tar.gz.part*, also finds the index beside the files. */
static bool is_index_name(const char *text)
{
	size_t length = strlen(text);

	return length > 5 && strcmp(text + length - 5, ".gidx") == 0;
}

int arguments_parse(char *const *texts, size_t n, struct arguments **out, struct error *e)
{
	struct arguments *arguments = calloc(1, sizeof(*arguments));
	int err = arguments ? 0 : arguments_no_memory(e);
	bool has_others = false;

	for (size_t i = 0; i < n; i++)
		has_others |= !is_index_name(texts[i]);

	if (!err && n == 0)
		err = error_set(e, ERROR_USAGE, EINVAL,
				"no source was named; name at least one packed file");
	if (arguments)
		arguments->json_left = JSON_BYTES_MOST;
	for (size_t i = 0; i < n && !err; i++) {
		if (has_others && is_index_name(texts[i]))
			continue;
		err = arguments_add_text(arguments, texts[i],
					 i + 1 < n ? texts[i + 1] : NULL, e);
	}
	if (err)
		arguments_free(arguments);
	else
		*out = arguments;
	return err;
}

void arguments_free(struct arguments *arguments)
{
	if (!arguments)
		return;
	for (size_t i = 0; i < arguments->items.count; i++) {
		brace_free(arguments->items.items[i].brace);
		free(arguments->items.items[i].owned);
	}
	vec_free(&arguments->items);
	free(arguments);
}

uint32_t arguments_count(const struct arguments *arguments)
{
	return arguments->count;
}

static const struct argument *find_argument(const struct arguments *arguments, uint32_t i)
{
	const struct argument *items = arguments->items.items;

	return &items[vec_find_last(&arguments->items, items[middle].before <= i)];
}

char *arguments_path(const struct arguments *arguments, uint32_t i)
{
	const struct argument *item = find_argument(arguments, i);

	return item->brace ? brace_word(item->brace, i - item->before) : strdup(item->text);
}

/* A shard that was cut off, or belongs to another dataset. */
static int check_size(const struct argument *shard, struct source **source, struct error *e)
{
	uint64_t size = source_size(*source);

	if (!shard->directory || shard->size == SHARD_SIZE_UNKNOWN || size == shard->size)
		return 0;
	source_close(*source);
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' has %llu bytes, and its index.json says %llu; copy it again, or "
			 "write the dataset again", shard->text, (unsigned long long)size,
			 (unsigned long long)shard->size);
}

int arguments_open(const struct arguments *arguments, uint32_t i, const char *path,
		   struct source **out, struct error *e)
{
	const struct argument *item = find_argument(arguments, i);
	int err = source_open_below(path, item->directory, out, e);

	return err ? err : check_size(item, out, e);
}
