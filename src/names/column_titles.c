/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "names/column_titles.h"

#include <ctype.h>
#include <string.h>

enum { TITLE_BYTES = 32, SURE_SPLITS = 5 };

/* Each list ends with NULL. */
static const char *const labels[] = {
	"label", "labels", "target", "targets", "class", "cls", "y", "finelabel",
	"finelabels", "classid", "labelid", "category", "coarselabel", "classname", "wnid",
	"synset", "predictionstring", NULL,
};

/* Beside a file's name an id is not the name. */
static const char *const files[] = {
	"filepath", "imagepath", "filename", "fname", "file", "path", "imagename", "image",
	"images", "img", "imageid", "name", "key", "id", NULL,
};

static const char *const class_numbers[] = {
	"classid", "labelid", "categoryid", "classindex", "classidx", "classnumber", "label",
	"id", "ids", "index", "idx", "target", "number", "num", "no", "nr", "code", "key",
	"value", "y", "class", "", NULL,
};

static const char *const class_names[] = {
	"name", "names", "classname", "classnames", "labelname", "categoryname", "signname",
	"label", "labels", "class", "classes", "category", "categories", "title", "wnid",
	"synset", "species", "description", "supercategory", NULL,
};

/* The first SURE_SPLITS say the split whatever their words are. */
static const char *const splits[] = {
	"split", "splits", "subset", "partition", "datasplit", "set", "dataset", "fold",
	"phase", "usage", NULL,
};

static const char *const *const roles[] = {
	[TITLE_LABEL] = labels, [TITLE_FILE] = files, [TITLE_CLASS_NUMBER] = class_numbers,
	[TITLE_CLASS_NAME] = class_names, [TITLE_SPLIT] = splits,
};

static bool plain_title(const char *title, size_t size, char out[TITLE_BYTES])
{
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		if (strchr(" _-#", title[i]))
			continue;
		if (!isalnum((unsigned char)title[i]) || n + 1 == TITLE_BYTES)
			return false;
		out[n++] = (char)tolower((unsigned char)title[i]);
	}
	out[n] = '\0';
	return true;
}

int title_rank(enum title_role role, const char *title, size_t n)
{
	char plain[TITLE_BYTES];

	if (!plain_title(title, n, plain))
		return -1;
	for (int i = 0; roles[role][i]; i++)
		if (strcmp(roles[role][i], plain) == 0)
			return i;
	return -1;
}

bool title_is_better(enum title_role role, const char *title, size_t n, int *best)
{
	int rank = title_rank(role, title, n);

	if (rank < 0 || (*best >= 0 && rank >= *best))
		return false;
	*best = rank;
	return true;
}

bool title_is_split(const char *title, size_t n)
{
	int rank = title_rank(TITLE_SPLIT, title, n);

	return rank >= 0 && rank < SURE_SPLITS;
}

bool title_ends_as_number(const char *title, size_t n)
{
	static const char *const ends[] = { "id", "ids", "index", "idx", "number", "label" };
	char plain[TITLE_BYTES];
	size_t length;

	if (!plain_title(title, n, plain))
		return false;
	length = strlen(plain);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (length >= strlen(ends[i]) &&
		    strcmp(plain + length - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

const char *title_of_class_list(size_t i)
{
	static const char *const keys[] = {
		"id2label", "label2id", "names", "list_classes", "class_names", "label_names",
		"classes", "categories", "labels",
	};

	return i < sizeof(keys) / sizeof(*keys) ? keys[i] : NULL;
}
