/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/split_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/filename.h"

/* Words with one number are one split. */
static const struct {
	const char *word;
	int split;
} words[] = {
	{ "train", 1 }, { "training", 1 }, { "val", 2 }, { "valid", 2 },
	{ "validation", 2 }, { "test", 3 }, { "testing", 3 },
};

/* The number of the split that a text is a word for; 0: it is none. */
static int split_of(const char *text, size_t n,
		    int (*compare)(const char *word, const char *text, size_t n))
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i].word) == n && compare(words[i].word, text, n) == 0)
			return words[i].split;
	return 0;
}

bool split_is_word(const char *text, size_t n)
{
	return split_of(text, n, strncasecmp) != 0;
}

bool split_is_lowercase_word(const char *text, size_t n)
{
	return split_of(text, n, strncmp) != 0;
}

bool split_is_same(const char *a, size_t na, const char *b, size_t nb)
{
	int split = split_of(a, na, strncmp);

	if (na == nb && memcmp(a, b, na) == 0)
		return true;
	return split && split == split_of(b, nb, strncmp);
}

bool split_names_directory(const char *word)
{
	return *word && !strchr(word, '/') && strcmp(word, ".") != 0 && strcmp(word, "..") != 0;
}

/* In the name of a file these are no classes either. */
static bool is_file_word(const char *text, size_t n)
{
	static const char *const more[] = { "trainval", "dev", "eval" };

	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (strlen(more[i]) == n && strncasecmp(more[i], text, n) == 0)
			return true;
	return split_is_word(text, n);
}

/* How many of its words are splits that differ; the first one is left in *out. */
static unsigned find_words(const char *name, const char **out, size_t *length)
{
	unsigned found = 0;

	for (size_t n; *name; name += n ? n : 1) {
		for (n = 0; isalpha((unsigned char)name[n]);)
			n++;
		if (n == 0 || !is_file_word(name, n) ||
		    (found && *length == n && strncasecmp(*out, name, n) == 0))
			continue;
		if (found++ == 0) {
			*out = name;
			*length = n;
		}
	}
	return found;
}

bool split_of_path(const char *path, char out[SPLIT_BYTES])
{
	const char *name = filename_of(path), *word = name;
	size_t n = 0;
	unsigned found;

	/* LMDB's file has no name of its own; what follows the directory's is no split */
	if (strcmp(name, "data.mdb") == 0)
		directory_name_of(path, &name);
	found = find_words(name, &word, &n);
	if (found == 0 && name > path) {
		for (word = name - 1; word > path && word[-1] != '/';)
			word--;
		n = (size_t)(name - 1 - word);
		found = is_file_word(word, n);
	}
	if (found != 1)
		n = 0;
	memcpy(out, word, n);
	out[n] = '\0';
	return n > 0;
}
