/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file that a user names for labels or classes: as any of the things that it may be. */
/* granary-fuzz: maps */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "maps/name_map.h"
#include "base/pickle.h"

static void read_map(const uint8_t *bytes, size_t n)
{
	struct error e = { 0 };
	struct name_map *map;
	int err = name_map_read(bytes, n, "map", NULL, &map, &e);

	fuzz_expect_sentence(err, &e);
	if (err)
		return;
	fuzz_say("a map of %zu names", name_map_count(map));
	for (size_t i = 0; i < name_map_count(map); i++) {
		const struct name_map_item *item = name_map_get(map, i);

		name_map_find(map, item->key);
		/* a byte of Latin-1, of a pickle of protocol 0, is two of UTF-8 */
		if (item->class_name && strlen(item->class_name) > 2 * n)
			abort(); /* longer than all that was read */
	}
	name_map_find(map, "no such file");
	name_map_free(map);
}

static void read_list(const uint8_t *bytes, size_t n)
{
	struct error e = { 0 };
	struct class_list *list;
	int err = class_list_read(bytes, n, "list", &list, &e);

	fuzz_expect_sentence(err, &e);
	if (err)
		return;
	if (class_list_count(list) > n + 1)
		abort(); /* more than it has bytes */
	fuzz_say("a list of %zu classes", class_list_count(list));
	for (int64_t label = -1; label < 100; label++)
		class_list_name(list, label);
	class_list_name(list, INT64_MIN);
	class_list_name(list, INT64_MAX);
	class_list_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	int64_t number;

	read_map(bytes, n);
	read_list(bytes, n);
	pickle_detect(bytes, n);
	if (pickle_int(bytes, n, &number) == 0)
		fuzz_say("a number: %lld", (long long)number);
	return 0;
}
