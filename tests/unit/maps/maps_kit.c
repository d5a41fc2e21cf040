/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps_kit.h"

#include <errno.h>

#include "maps/name_map.h"

/* The items of a file, as Python reads them: one line each, "KEY=LABEL" or "KEY=#7". */
static char *text_of_map(const struct name_map *map)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (size_t i = 0; i < name_map_count(map); i++) {
		const struct name_map_item *item = name_map_get(map, i);

		if (item->class_name)
			fprintf(out, "%s=%s\n", item->key, item->class_name);
		else
			fprintf(out, "%s=#%lld\n", item->key, (long long)item->label);
	}
	fclose(out);
	return text;
}

static char *text_of_list(const struct class_list *list)
{
	char *text = NULL;
	size_t size, seen = 0;
	struct class_list_labels labels;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	for (int64_t label = -2000; label < 2000; label++) {
		const char *name = class_list_name(list, label);

		if (name)
			fprintf(out, "%lld=%s\n", (long long)label, name);
		seen += name != NULL;
	}
	fclose(out);
	class_list_labels(list, &labels);
	if (labels.first >= -2000 && labels.last < 2000)
		assert_int_equal(seen, class_list_count(list));
	return text;
}

/* A copy without a byte to spare, so that a look beyond it is seen. */
void *exactly(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

char *read_map(const void *bytes, size_t n)
{
	struct error e = { 0 };
	struct name_map *map;
	void *copy = exactly(bytes, n);
	int err = name_map_read(copy, n, "map", NULL, &map, &e);
	char *text;

	free(copy);
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_int_equal(e.status, ERROR_DATASET);
		assert_null(map);
		return strdup(e.text);
	}
	text = text_of_map(map);
	name_map_free(map);
	return text;
}

char *read_list(const void *bytes, size_t n)
{
	struct error e = { 0 };
	struct class_list *list;
	void *copy = exactly(bytes, n);
	int err = class_list_read(copy, n, "list", &list, &e);
	char *text;

	free(copy);
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_int_equal(e.status, ERROR_DATASET);
		assert_null(list);
		return strdup(e.text);
	}
	text = text_of_list(list);
	class_list_free(list);
	return text;
}

void check_case(const struct fixture *fixture, char *(*read)(const void *, size_t))
{
	char *got = read(fixture->bytes, fixture->n);
	bool same = strchr(fixture->want, '\n') ? strcmp(got, fixture->want) == 0 :
						  strstr(got, fixture->want) != NULL;

	if (!same)
		fail_msg("'%s', not '%s'", got, fixture->want);
	free(got);
}

void check_damage(const struct fixture *fixture, char *(*read)(const void *, size_t))
{
	static const char others[] = "\"\n,{[}]:\\.(\0\x80\xff";
	char *copy = exactly(fixture->bytes, fixture->n);

	for (size_t n = 0; n < fixture->n; n++)
		free(read(copy, n));
	for (size_t k = 0; k < fixture->n * (sizeof(others) - 1); k++) {
		char *byte = &copy[k / (sizeof(others) - 1)], before = *byte;

		*byte = others[k % (sizeof(others) - 1)];
		free(read(copy, fixture->n));
		*byte = before;
	}
	free(copy);
}
