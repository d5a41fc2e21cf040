/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/out_name.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "packer/out_directory.h"

enum { WIDTH_MOST = 12 };

/* The length of a "%d" or "%06d" at `text`, and its width; 0 if there is none. */
static size_t number_pattern(const char *text, int *width)
{
	const char *at = text + 1;

	*width = 0;
	if (*text != '%')
		return 0;
	/* without the zero, printf would pad with blanks */
	if (*at == '0') {
		while (isdigit((unsigned char)*at) && *width <= WIDTH_MOST)
			*width = 10 * *width + (*at++ - '0');
	}
	return *at == 'd' && *width <= WIDTH_MOST ? (size_t)(at + 1 - text) : 0;
}

/* "%s", "%5d": a mistaken number pattern; "100%.tar" is a name. */
static bool is_number_pattern(const char *text)
{
	return *text == '%' && isalpha((unsigned char)text[1 + strspn(text + 1, "-+ #0123456789")]);
}

static int out_name_find_number(struct out_name *name, struct error *e)
{
	for (const char *at = filename_of(name->text); *at; at++) {
		int width;
		size_t length = number_pattern(at, &width);

		if (!length && is_number_pattern(at))
			return error_set(e, ERROR_USAGE, EINVAL,
					 "%s: '%.8s' is no place for the number of the shard; write "
					 "%%06d, or %%d", name->text, at);
		if (!length)
			continue;
		if (name->numbered)
			return error_set(e, ERROR_USAGE, EINVAL,
					 "%s: two places for the number of the shard; write one "
					 "%%06d", name->text);
		name->numbered = true;
		name->at = (size_t)(at - name->text);
		name->length = length;
		name->width = width;
	}
	return 0;
}

static bool ends_as_text(const char *text)
{
	size_t length = strlen(text);

	return length == 0 || text[length - 1] == '/';
}

static int expand(struct out_name *name, struct error *e)
{
	int err;

	if (!strchr(name->text, '{'))
		return 0;
	err = brace_parse(name->text, &name->brace, e);
	if (err)
		return err;
	if (brace_count(name->brace) == 1) {
		brace_free(name->brace); /* a single word is no pattern */
		name->brace = NULL;
	} else if (name->numbered) {
		return error_set(e, ERROR_USAGE, EINVAL,
				 "%s: braces and %%d both number the shards; write one of them",
				 name->text);
	}
	return 0;
}

int out_name_parse(const char *text, struct out_name *out, struct error *e)
{
	int err;

	*out = (struct out_name){ .text = text };
	if (ends_as_text(text))
		return error_set(e, ERROR_USAGE, EINVAL,
				 "'%s' is no file name; write one such as data.tar", text);
	err = out_name_find_number(out, e);
	return err ? err : expand(out, e);
}

void out_name_free(struct out_name *name)
{
	brace_free(name->brace);
}

uint64_t out_name_count(const struct out_name *name)
{
	return name->numbered ? 0 : name->brace ? brace_count(name->brace) : 1;
}

char *out_name_path(const struct out_name *name, uint64_t shard)
{
	char *out = NULL;

	if (name->brace)
		return brace_word(name->brace, shard);
	if (!name->numbered)
		return strdup(name->text);
	if (asprintf(&out, "%.*s%0*" PRIu64 "%s", (int)name->at, name->text, name->width, shard,
		     name->text + name->at + name->length) < 0)
		return NULL;
	return out;
}

char *out_name_pattern(const struct out_name *name, uint64_t shards)
{
	char *out = NULL;

	if (!name->numbered)
		return strdup(name->text);
	if (shards < 2)
		return out_name_path(name, 0);
	if (asprintf(&out, "%.*s{%0*d..%0*" PRIu64 "}%s", (int)name->at, name->text, name->width,
		     0, name->width, shards - 1, name->text + name->at + name->length) < 0)
		return NULL;
	return out;
}

char *out_name_sibling(const struct out_name *name, const char *file)
{
	CLEANUP(cleanup_free) char *first = out_name_path(name, 0);
	char *out = NULL;

	if (!first || asprintf(&out, "%.*s%s", (int)(filename_of(first) - first), first,
			       file) < 0)
		return NULL;
	return out;
}

/* Does `file` begin with a shard's name? Returns the rest of it, or NULL. */
static const char *after_number(const struct out_name *name, const char *file)
{
	const char *pattern = filename_of(name->text);
	size_t before = (size_t)(name->text + name->at - pattern);
	const char *after = name->text + name->at + name->length;

	if (strncmp(file, pattern, before) != 0 || !isdigit((unsigned char)file[before]))
		return NULL;
	file += before;
	while (isdigit((unsigned char)*file))
		file++;
	return strncmp(file, after, strlen(after)) == 0 ? file + strlen(after) : NULL;
}

static const char *after_word(const char *word, const char *file)
{
	const char *own = filename_of(word);

	return strncmp(file, own, strlen(own)) == 0 ? file + strlen(own) : NULL;
}

/* The packed file, its index, leftovers of either, and the plan. */
static bool is_owned(const char *behind, bool hidden)
{
	if (!behind)
		return false;
	if (hidden)
		return strcmp(behind, ".part") == 0 || strcmp(behind, ".plan") == 0 ||
		       strcmp(behind, ".plan.part") == 0;
	return !*behind || strstr(behind, ".gidx");
}

bool out_name_owns(const struct out_name *name, const char *file)
{
	bool hidden = *file == '.';
	const char *rest = hidden ? file + 1 : file;

	if (is_owned(name->numbered ? after_number(name, file) : NULL, false) ||
	    is_owned(hidden && name->numbered ? after_number(name, rest) : NULL, true))
		return true;
	for (uint64_t i = 0; name->brace && i < brace_count(name->brace); i++) {
		CLEANUP(cleanup_free) char *word = brace_word(name->brace, i);

		if (!word)
			return false;
		if (is_owned(after_word(word, file), false) ||
		    is_owned(hidden ? after_word(word, rest) : NULL, true))
			return true;
	}
	if (name->numbered || name->brace)
		return false;
	return is_owned(after_word(name->text, file), false) ||
	       is_owned(hidden ? after_word(name->text, rest) : NULL, true);
}

void out_name_remove_indexes(const struct out_name *name)
{
	CLEANUP(cleanup_free) char *path = out_name_sibling(name, ".");
	int fd = path ? out_directory_open(path, O_RDONLY | O_DIRECTORY) : -1;
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		const char *end = strstr(entry->d_name, ".gidx");

		if (end && strcmp(end, ".gidx") == 0 && out_name_owns(name, entry->d_name))
			unlinkat(dirfd(stream), entry->d_name, 0);
	}
	if (stream)
		closedir(stream);
}
