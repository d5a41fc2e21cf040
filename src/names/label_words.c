/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/label_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "names/column_titles.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The most usual first. */
static const char *const label_words[] = {
	"targets", "labels", "label", "target", "y", "ans", "class", "classes", "category",
};

static const char *const image_words[] = {
	"images", "image", "imgs", "img", "x", "data", "pixels", "pixel", "jpegs", "jpeg",
	"jpgs", "jpg", "png", "pngs", "rows", "records", "record", "photos", "photo",
	"pictures", "picture", "frames", "frame", "features", "rgb", "cam", "camera",
	"encoded", "bytes",
};

static const char *const file_lists[] = { "filenames", "filename", "file_names", "names" };

/* Of rows, besides the word for the split. */
static const char *const index_words[] = {
	"idx", "idxs", "index", "indices", "indexes", "inds", "id", "ids", "rows", "keys",
	"names", "files", "split", "splits",
};

/* Beside these words: which of several partitions it is. */
static const char *const fold_words[] = { "fold", "folds", "cv", "kfold" };

/*
 * In names of arrays these are splits, too; directories that are called so may be
 * classes.
 */
static const char *const short_splits[] = { "trn", "tst", "dev", "eval" };

/* Names that begin like those of labels and hold none. */
static const char *const no_labels[] = {
	"num", "count", "len", "name", "offset", "weight", "_start", "_end",
};

enum { WORD_BYTES = 64 };

enum role { ROLE_OTHER, ROLE_IMAGES, ROLE_LABELS, ROLE_SPLIT };

/* A word of a name, in small letters. */
struct word {
	char text[WORD_BYTES];
	size_t length;
};

static int label_words_find(const char *const *words, size_t n, const char *text,
			    size_t length)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0)
			return (int)i;
	return -1;
}

static enum role role_of(const char *text, size_t n)
{
	if (label_words_find(label_words, COUNT(label_words), text, n) >= 0)
		return ROLE_LABELS;
	if (label_words_find(image_words, COUNT(image_words), text, n) >= 0)
		return ROLE_IMAGES;
	if (label_words_find(short_splits, COUNT(short_splits), text, n) >= 0)
		return ROLE_SPLIT;
	return split_is_word(text, n) ? ROLE_SPLIT : ROLE_OTHER;
}

/* "trainlabels": how long the first of two known words is; 0: it is one word. */
static size_t first_of_two(const char *text, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		enum role a = role_of(text, i), b = role_of(text + i, n - i);

		if (a != ROLE_OTHER && b != ROLE_OTHER && a != b &&
		    (a == ROLE_SPLIT || b == ROLE_SPLIT || (i > 2 && n - i > 2)))
			return i;
	}
	return 0;
}

/* "trainX" has two words, "RGB" and "x1" have one and two. */
static bool begins_word(const char *at)
{
	unsigned char before = (unsigned char)at[-1], here = (unsigned char)*at;

	return !isalnum(here) || (isupper(here) && islower(before)) ||
	       !isdigit(here) != !isdigit(before);
}

/* How long the next run of letters or digits from *at on is; 0: there is none. */
static size_t next_run(const char **at)
{
	size_t n = 1;

	while (**at && !isalnum((unsigned char)**at))
		++*at;
	if (!**at)
		return 0;
	while ((*at)[n] && !begins_word(*at + n))
		n++;
	return n;
}

/* The next word from *at on; false: there is none. */
static bool label_words_next_word(const char **at, struct word *out)
{
	size_t n = next_run(at), first = first_of_two(*at, n);
	const char *from = *at;

	if (n == 0)
		return false;
	if (first)
		n = first;
	*at = from + n;
	out->length = n < WORD_BYTES - 1 ? n : WORD_BYTES - 1;
	for (size_t i = 0; i < out->length; i++)
		out->text[i] = (char)tolower((unsigned char)from[i]);
	out->text[out->length] = '\0';
	return true;
}

static enum role role_of_word(const struct word *word)
{
	return role_of(word->text, word->length);
}

/* "val" and "validation" are one split: the shortest word for it. */
static const char *split_word(const struct word *word)
{
	static const char *const splits[] = { "train", "val", "test" };

	for (size_t i = 0; i < COUNT(splits); i++)
		if (split_is_same(splits[i], strlen(splits[i]), word->text, word->length))
			return splits[i];
	return word->text;
}

void name_key(const char *name, char out[NAME_KEY_BYTES])
{
	struct word word;

	*out = '\0';
	while (label_words_next_word(&name, &word)) {
		enum role role = role_of_word(&word);

		if (role == ROLE_OTHER || role == ROLE_SPLIT)
			buffer_print(out, NAME_KEY_BYTES, "%s%s", *out ? " " : "",
				     role == ROLE_SPLIT ? split_word(&word) : word.text);
	}
}

static bool has_role(const char *name, enum role role)
{
	struct word word;

	while (label_words_next_word(&name, &word))
		if (role_of_word(&word) == role)
			return true;
	return false;
}

bool name_has_image_word(const char *name)
{
	return has_role(name, ROLE_IMAGES) || strstr(name, "image") || strstr(name, "img") ||
	       strstr(name, "data");
}

bool name_has_label_word(const char *name)
{
	return has_role(name, ROLE_LABELS);
}

unsigned name_label_rank(const char *name)
{
	struct word word;

	while (label_words_next_word(&name, &word)) {
		int rank = label_words_find(label_words, COUNT(label_words), word.text,
					    word.length);

		if (rank >= 0)
			return (unsigned)rank;
	}
	return COUNT(label_words);
}

bool name_may_label_any(const char *name)
{
	static const char *const before[] = { "is_", "has_", "n_" };
	bool says = false;
	struct word word;

	for (size_t i = 0; i < COUNT(no_labels); i++)
		if (strcasestr(name, no_labels[i]))
			return false;
	for (size_t i = 0; i < COUNT(before); i++)
		if (strncasecmp(name, before[i], strlen(before[i])) == 0)
			return false;
	for (const char *at = name; label_words_next_word(&at, &word);)
		says |= strncmp(word.text, "label", 5) == 0 ||
			strncmp(word.text, "target", 6) == 0;
	return says || strcasecmp(name, "y") == 0;
}

bool name_is_vague(const char *name)
{
	return strcmp(name, "class") == 0 || strcmp(name, "classes") == 0 ||
	       strcmp(name, "category") == 0;
}

static bool has_part(const char *name, const char *const *words)
{
	while (*words && !strcasestr(name, *words))
		words++;
	return *words;
}

bool name_hints_label(const char *name)
{
	static const char *const words[] = { "cls",    "class",   "label", "target",
					     "categ",  "species", "wnid",  "synset", NULL };

	return has_part(name, words);
}

bool name_may_be_rival(const char *name)
{
	if (!name_hints_label(name))
		return false;
	for (size_t i = 0; i < COUNT(no_labels); i++)
		if (strcasestr(name, no_labels[i]) && strcmp(no_labels[i], "name") != 0)
			return false;
	return !name_hints_other(name);
}

bool name_hints_other(const char *name)
{
	static const char *const words[] = { "width",  "height", "size",   "count", "index",
					     "inx",    "length", "time",   "date",  "status",
					     "score",  "url",    "path",   "file",  "hash",
					     "error",  "shard",  "licen",  "text",  "caption",
					     "exif",   "page",   "offset", "seed",  NULL };

	return has_part(name, words);
}

int name_class_list_rank(const char *name)
{
	const char *key;

	/* beside arrays these are lists of files, and labels */
	if (strcasecmp(name, "names") == 0 || strcasecmp(name, "labels") == 0)
		return -1;
	for (int i = 0; (key = title_of_class_list((size_t)i)); i++)
		if (strcasecmp(name, key) == 0)
			return i;
	return -1;
}

int name_file_list_rank(const char *name)
{
	return label_words_find(file_lists, COUNT(file_lists), name, strlen(name));
}

bool name_is_split_column(const char *name)
{
	return title_is_split(name, strlen(name));
}

/* Asked of each item of each .json: no word of images or labels is looked for. */
bool name_may_say_split(const char *name)
{
	static const char *const beside[] = { "is", "in", "or", "mask", "flag" };
	unsigned splits = 0, others = 0;
	const char *at = name;
	size_t n;

	for (; (n = next_run(&at)) > 0; at += n) {
		if (split_is_word(at, n) ||
		    label_words_find(short_splits, COUNT(short_splits), at, n) >= 0)
			splits++;
		else if (others++ || label_words_find(beside, COUNT(beside), at, n) < 0)
			return title_rank(TITLE_SPLIT, name, strlen(name)) >= 0;
	}
	return splits > 0;
}

/* "0", "fold": it tells folds apart, each of which has all splits. */
static bool is_fold_word(const struct word *word)
{
	return isdigit((unsigned char)*word->text) ||
	       label_words_find(fold_words, COUNT(fold_words), word->text, word->length) >= 0;
}

bool name_is_split_list(const char *name, char out[SPLIT_BYTES])
{
	bool path = strchr(name, '/');
	unsigned splits = 0, lists = 0, folds = 0, others = 0;
	struct word word;

	*out = '\0';
	while (label_words_next_word(&name, &word)) {
		if (role_of_word(&word) == ROLE_SPLIT && word.length < SPLIT_BYTES) {
			memcpy(out, word.text, word.length + 1);
			splits++;
		} else if (label_words_find(index_words, COUNT(index_words), word.text,
					    word.length) >= 0) {
			lists++;
		} else if (is_fold_word(&word)) {
			folds++;
		} else {
			others++;
		}
	}
	return splits == 1 && others == 0 && (lists || path || folds == 0);
}

bool name_has_split_word(const char *name)
{
	return has_role(name, ROLE_SPLIT);
}

bool name_is_wnid(const char *name, size_t n)
{
	if (n != 9 || name[0] != 'n')
		return false;
	for (size_t i = 1; i < n; i++)
		if (!isdigit((unsigned char)name[i]))
			return false;
	return true;
}

bool names_splits_agree(const char *a, const char *b)
{
	struct word one, two;
	const char *first = NULL, *second = NULL;
	char split[WORD_BYTES];

	while (!first && label_words_next_word(&a, &one))
		if (role_of_word(&one) == ROLE_SPLIT)
			first = split_word(&one);
	if (!first)
		return true;
	snprintf(split, sizeof(split), "%s", first);
	while (!second && label_words_next_word(&b, &two))
		if (role_of_word(&two) == ROLE_SPLIT)
			second = split_word(&two);
	return !second || strcmp(split, second) == 0;
}

enum name_pair name_pair(const char *name, char key[NAME_KEY_BYTES])
{
	bool images = has_role(name, ROLE_IMAGES), labels = has_role(name, ROLE_LABELS);

	name_key(name, key);
	return images == labels ? NAME_NO_PAIR : images ? NAME_PAIR_IMAGES : NAME_PAIR_LABELS;
}

/* "train" of "train_images": its length; 0: it begins otherwise. */
static size_t split_before(const char *name)
{
	size_t n = strcspn(name, "_");

	return name[n] == '_' && split_is_word(name, n) ? n : 0;
}

bool name_is_chosen(const char *name, const char *chosen, const char *array)
{
	size_t n = split_before(name), own = array ? split_before(array) : n;

	if (array && !names_splits_agree(name, array))
		return false;
	if (strcmp(name, chosen) == 0)
		return true;
	return n && own && strcmp(name + n + 1, chosen) == 0;
}
