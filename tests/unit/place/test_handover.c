/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Open sources on their way to the indexer: the list, and what is no list. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "place/handover.h"
#include "source/memory_source.h"
#include "source/parts.h"

/* A path may hold anything that ends no string. */
static char strange[] = "a\nsource 0 b  ", other[] = "other one";
static char classes[] = "the classes", names[] = "names one:names 9 two";

/* As the indexer has it, which is handed the maps, and as the launcher has it. */
static struct dataset_config config, with_maps = { .classes = classes, .names = names };
static struct source_set sources;
static struct index_wish wish;

static void make_wish(void)
{
	char *paths[] = { strange, other };

	unit_write(strange, "first", 5);
	unit_write(other, "the second", 10);
	unit_write(classes, "classes", 7);
	unit_write("names one", "n1", 2);
	unit_write("names 9 two", "names2", 6);
	assert_int_equal(source_set_open(paths, 2, false, &sources, NULL), 0);
	assert_int_equal(index_wish_make(&with_maps, &sources, &wish, NULL), 0);
}

static void free_wish(void)
{
	index_wish_free(&wish);
	source_set_close(&sources);
}

static bool is_file(const struct source *source, const char *path, const char *bytes)
{
	size_t n = strlen(bytes);
	char got[16];

	return strcmp(source_path(source), path) == 0 && source_size(source) == n &&
	       source_pread(source, got, n, 0) == 0 && memcmp(got, bytes, n) == 0;
}

static bool maps_are_there(const struct map_files *maps)
{
	return maps->classes.count == 1 && maps->names.count == 2 &&
	       is_file(maps->classes.sources[0], classes, "classes") &&
	       is_file(maps->names.sources[0], "names one", "n1") &&
	       is_file(maps->names.sources[1], "names 9 two", "names2");
}

/* In a child, which has descriptors of its own, and the files no more. */
static int read_back(void *argument)
{
	struct source_set got = { NULL, 0 };
	struct index_wish taken;
	bool same;

	if (handover_read(argument, &config, &got, &taken, NULL) < 0)
		return 1;
	same = got.count == 2 && strcmp(source_path(got.sources[0]), strange) == 0 &&
	       is_file(got.sources[1], other, "the second") &&
	       strcmp(taken.shape, wish.shape) == 0 &&
	       memcmp(taken.identities, wish.identities, 2 * sizeof(*wish.identities)) == 0 &&
	       taken.places.count == wish.places.count && !taken.places.named &&
	       taken.places.beside &&
	       maps_are_there(&taken.maps);
	for (unsigned i = 0; i < wish.places.count && same; i++)
		same = strcmp(taken.places.paths[i], wish.places.paths[i]) == 0;
	index_wish_free(&taken);
	source_set_close(&got);
	return same ? 0 : 2;
}

static void test_there_and_back(void **state)
{
	char number[16];
	int list;

	(void)state;
	setenv("XDG_CACHE_HOME", "/a cache", 1);
	make_wish();
	assert_int_equal(wish.places.count, 2);
	assert_int_equal(handover_write(&wish, &list, NULL), 0);
	assert_true(fcntl(list, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(unlink(strange) | unlink(other) | unlink(classes), 0);
	assert_int_equal(unlink("names one") | unlink("names 9 two"), 0);
	snprintf(number, sizeof(number), "%d", list);
	assert_int_equal(unit_child(read_back, number), 0);
	close(list);
	free_wish();
}

/* A source of two parts, and one that is unpacked. */
static int read_parts_back(void *argument)
{
	struct source_set got = { NULL, 0 };
	struct index_wish taken;
	bool same;

	if (handover_read(argument, &config, &got, &taken, NULL) < 0)
		return 1;
	same = got.count == 2 && source_part_count(got.sources[0]) == 2 &&
	       is_file(source_part(got.sources[0], 1), "x.tar.ab", "there") &&
	       source_part_count(got.sources[1]) == 1 &&
	       memcmp(taken.identities, wish.identities, 2 * sizeof(*wish.identities)) == 0 &&
	       taken.unpack_to && taken.unpack_to[0] == -1 &&
	       write(taken.unpack_to[1], "unpacked", 8) == 8;
	free(taken.unpack_to);
	index_wish_free(&taken);
	source_set_close(&got);
	return same ? 0 : 2;
}

static void test_parts_and_files_to_unpack_to(void **state)
{
	char first[] = "x.tar.aa", *paths[] = { first, other }, number[16];
	int unpack_to[] = { -1, memfd_create("unpacked", MFD_CLOEXEC) }, list;

	(void)state;
	unit_write("x.tar.aa", "here", 4);
	unit_write("x.tar.ab", "there", 5);
	unit_write(other, "the second", 10);
	assert_int_equal(source_set_open(paths, 2, false, &sources, NULL), 0);
	assert_int_equal(index_wish_make(&config, &sources, &wish, NULL), 0);
	wish.unpack_to = unpack_to;
	assert_int_equal(handover_write(&wish, &list, NULL), 0);
	snprintf(number, sizeof(number), "%d", list);
	assert_int_equal(unit_child(read_parts_back, number), 0);
	assert_int_equal(lseek(unpack_to[1], 0, SEEK_END), 8);
	close(unpack_to[1]);
	close(list);
	free_wish();
}

static bool stays_open(int fd)
{
	return fcntl(fd, F_GETFD) == 0;
}

static int keep(void *argument)
{
	int list = open("/dev/null", O_RDONLY | O_CLOEXEC), memory = dup(list);
	int foreign = dup(list), far = fcntl(list, F_DUPFD, 900);

	(void)argument;
	if (handover_keep(&wish, list, memory) < 0)
		return 1;
	return stays_open(list) && stays_open(memory) && stays_open(STDERR_FILENO) &&
	       stays_open(source_hand_over(sources.sources[0], NULL)) &&
	       stays_open(source_hand_over(sources.sources[1], NULL)) &&
	       stays_open(source_hand_over(wish.maps.classes.sources[0], NULL)) &&
	       stays_open(source_hand_over(wish.maps.names.sources[0], NULL)) &&
	       stays_open(source_hand_over(wish.maps.names.sources[1], NULL)) &&
	       !stays_open(foreign) && !stays_open(far) ? 0 : 2;
}

static void test_what_stays_open(void **state)
{
	(void)state;
	make_wish();
	assert_int_equal(unit_child(keep, NULL), 0);
	free_wish();
}

static void test_only_local_files_are_handed_over(void **state)
{
	struct source_set memory = memory_set("there", "x", 1);
	const struct index_wish asked = { .sources = &memory };
	struct error e;
	int list;

	(void)state;
	assert_int_equal(handover_write(&asked, &list, &e), -ENOTSUP);
	assert_non_null(strstr(e.text, "'there' is no local file"));
	source_set_close(&memory);
}

#define LIST(text) { text, sizeof(text) }
#define HEAD "granary sources 1\0"

/* Descriptor 9 is a file, 8 a map, 7 an empty one; the string's own NUL ends the last record. */
static const struct {
	const char *bytes;
	size_t size;
} broken[] = {
	{ "", 0 },
	LIST(""),
	LIST("granary sources 2\0source 9 a\0end"),
	LIST("granary sources\0source 9 a\0end"),
	LIST("source 9 a\0end"),
	LIST(HEAD "end"),
	LIST(HEAD "source 9 a"),
	LIST(HEAD "source 9 a\0en"),
	{ HEAD "source 9 a\0end", sizeof(HEAD "source 9 a\0end") - 1 },
	LIST(HEAD "source 9 \0end"),
	LIST(HEAD "source 9\0end"),
	LIST(HEAD "source a\0end"),
	LIST(HEAD "source -9 a\0end"),
	LIST(HEAD "source 9x a\0end"),
	LIST(HEAD "source 99999999999999999999 a\0end"),
	LIST(HEAD "source 4294967305 a\0end"),
	LIST(HEAD "source 700 a\0end"),
	LIST(HEAD "source 9 a\0source 9 b\0end"),
	LIST(HEAD "\0source 9 a\0end"),
	LIST(HEAD "what is this\0source 9 a\0end"),
	LIST(HEAD "place a\0place b\0place c\0source 9 a\0end"),
	LIST(HEAD "place a\0beside b\0source 9 a\0end"),
	LIST(HEAD "classes 9 a\0end"),
	LIST(HEAD "source 9 a\0classes 700 b\0end"),
	LIST(HEAD "source 9 a\0classes x\0end"),
	LIST(HEAD "source 9 a\0classes 8 b\0classes 8 c\0end"),
	LIST(HEAD "source 9 a\0names 8 b\0classes 8 c\0end"),
	LIST(HEAD "source 9 a\0names 8 b\0names 8 c\0end"),
	LIST(HEAD "source 9 a\0names 7 empty\0end"),
	LIST(HEAD "part 8 a\0source 9 a\0end"),
	LIST(HEAD "source 9 a\0part x b\0end"),
	LIST(HEAD "source 9 a\0part 700 b\0end"),
	LIST(HEAD "unpack 8 a\0source 9 a\0end"),
	LIST(HEAD "source 9 a\0unpack x\0end"),
	LIST(HEAD "source 9 a\0unpack 8 a\0unpack 7 a\0end"),
};

static int read_broken(void *argument)
{
	size_t i = *(size_t *)argument;
	struct source_set got = { NULL, 0 };
	struct index_wish taken;
	struct error e = { 0 };
	char number[16];
	int list = memfd_create("list", 0), file = open("file", O_RDONLY);
	int map = open("map", O_RDONLY), empty = memfd_create("empty", 0);

	dup2(file, 9);
	dup2(map, 8);
	dup2(empty, 7);
	if (write(list, broken[i].bytes, broken[i].size) != (ssize_t)broken[i].size)
		return 2;
	snprintf(number, sizeof(number), "%d", list);
	return handover_read(number, &config, &got, &taken, &e) < 0 && *e.text &&
	       fcntl(list, F_GETFD) < 0 ? 0 : 1;
}

static void test_what_is_no_list(void **state)
{
	size_t i = unit_row(state);
	unit_write("file", "x", 1);
	unit_write("map", "m", 1);
	if (unit_child(read_broken, &i) != 0)
		fail_msg("list %zu was taken", i);
}

static int read_number(void *argument)
{
	struct source_set got = { NULL, 0 };
	struct index_wish taken;
	struct error e = { 0 };

	return handover_read(argument, &config, &got, &taken, &e) == -EINVAL &&
	       e.status == ERROR_USAGE && strstr(e.text, "list of sources") ? 0 : 1;
}

static void test_what_is_no_descriptor(void **state)
{
	char numbers[][32] = { "", "-1", "x", "700", "7x", "99999999999999999999", "1e1" };

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		if (unit_child(read_number, numbers[i]) != 0)
			fail_msg("'%s' was taken", numbers[i]);
	}
}

static const struct CMUnitTest handover[] = {
	cmocka_unit_test(test_there_and_back),
	cmocka_unit_test(test_parts_and_files_to_unpack_to),
	cmocka_unit_test(test_what_stays_open),
	cmocka_unit_test(test_only_local_files_are_handed_over),
	unit_table(test_what_is_no_list, broken, bytes),
	cmocka_unit_test(test_what_is_no_descriptor),
};

UNIT_MAIN(handover)
