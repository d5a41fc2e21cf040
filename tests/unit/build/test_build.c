/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sealed tree: its order, its depth, its size, what stat says. */
#include "build/kit.h"

#include <errno.h>
#include <limits.h>

#include "index/layout.h"

static int by_bytes(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

/* Names of all lengths over all bytes, in an order of their own. */
static void make_names(char **names, size_t n)
{
	unsigned seed = 12345;

	for (size_t i = 0; i < n; i++) {
		char text[32];
		size_t length = (size_t)snprintf(text, sizeof(text), "%zu", i);

		seed = seed * 1103515245U + 12345U;
		for (unsigned k = seed >> 16 & 7; k > 0; k--)
			text[length++] = (char)(128 + (seed >> k & 127));
		text[length] = '\0';
		for (size_t k = 0; k < length / 2; k++) {
			char c = text[k];

			text[k] = text[length - 1 - k];
			text[length - 1 - k] = c;
		}
		names[i] = strdup(text);
		assert_non_null(names[i]);
	}
}

static void check_sorted(const struct tree *tree, char *const *sorted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tree_name name;
		uint32_t node;

		assert_int_equal(tree_child(tree, TREE_ROOT, (uint32_t)i, &name), 0);
		assert_int_equal(name.length, strlen(sorted[i]));
		assert_memory_equal(name.name, sorted[i], name.length);
		assert_int_equal(tree_lookup(tree, TREE_ROOT, sorted[i],
					     strlen(sorted[i]), &node), 0);
		assert_int_equal(node, name.node);
		assert_int_equal(tree_lookup(tree, TREE_ROOT, sorted[i],
					     strlen(sorted[i]) + 1, &node), -ENOENT);
	}
}

enum { DIRECTORIES = 4, IN_DIRECTORY = 30, MADE = 400 };

/* A script of files in directories, each as often and in the order as `made` says. */
static char *script_of(const unsigned *made, size_t n)
{
	char *script = malloc(n * 24 + 1), *at = script;

	assert_non_null(script);
	*at = '\0';
	for (size_t i = 0; i < n; i++)
		at += sprintf(at, "f:d%u/n%02u:%zu ", made[i] / IN_DIRECTORY, made[i] % IN_DIRECTORY,
			      1 + i);
	return script;
}

/* The same, but in order, and without what was replaced. */
static char *sorted_script_of(const unsigned *made, size_t n)
{
	size_t last[DIRECTORIES * IN_DIRECTORY] = { 0 };
	char *script = malloc(DIRECTORIES * IN_DIRECTORY * 24 + 1), *at = script;

	assert_non_null(script);
	*at = '\0';
	for (size_t i = 0; i < n; i++)
		last[made[i]] = i + 1;
	for (unsigned i = 0; i < DIRECTORIES * IN_DIRECTORY; i++)
		if (last[i])
			at += sprintf(at, "f:d%u/n%02u:%zu ", i / IN_DIRECTORY, i % IN_DIRECTORY, last[i]);
	return script;
}

/* Names in order are found without a table: then some come that are not in order. */
static void test_names_come_in_any_order(void **state)
{
	unsigned made[MADE], seed = 7;

	(void)state;
	for (unsigned in_order = 0; in_order < DIRECTORIES * IN_DIRECTORY; in_order += 13) {
		char *script, *sorted, *got, *wanted;

		for (unsigned i = 0; i < MADE; i++) {
			seed = seed * 1103515245U + 12345U;
			made[i] = i < in_order ? i : (seed >> 16) % (DIRECTORIES * IN_DIRECTORY);
		}
		script = script_of(made, MADE);
		sorted = sorted_script_of(made, MADE);
		got = kit_result(script, DUPLICATES_ERROR);
		wanted = kit_result(sorted, DUPLICATES_ERROR);
		assert_string_equal(got, wanted);
		assert_non_null(strstr(got, "d3/n29="));
		free(script);
		free(sorted);
		free(got);
		free(wanted);
	}
}

static void test_many_names_are_sorted_by_their_bytes(void **state)
{
	enum { N = 20000 };
	char **names = calloc(N, sizeof(*names));
	struct entries *log = entries_new();
	struct index *index;
	struct tree_name past;
	uint32_t count;

	(void)state;
	assert_non_null(names);
	make_names(names, N);
	for (size_t i = 0; i < N; i++)
		kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = names[i] });
	index = kit_index_of(log);
	qsort(names, N, sizeof(*names), by_bytes);
	check_sorted(index_tree(index), names, N);
	assert_int_equal(tree_child_count(index_tree(index), TREE_ROOT, &count), 0);
	assert_int_equal(count, N);
	assert_int_equal(tree_child(index_tree(index), TREE_ROOT, N, &past), -ENOENT);
	assert_int_equal(index_check(index, NULL), 0);
	index_close(index);
	for (size_t i = 0; i < N; i++)
		free(names[i]);
	free(names);
}

static void test_prefixes_come_before_what_they_begin(void **state)
{
	char *got = kit_result("f:b:1 f:a-:1 f:a.b:1 d:a f:a/z:1 f:ab:1 f:a\xff:1",
			       DUPLICATES_ERROR);

	(void)state;
	assert_string_equal(got, "a/ a/z=1 a-=1 a.b=1 ab=1 a\xff=1 b=1");
	free(got);
}

enum { DEPTH = 10000 };

/* "d/d/.../d/f" */
static char *deep_path(void)
{
	char *path = malloc(2 * DEPTH + 2);

	assert_non_null(path);
	for (size_t i = 0; i < DEPTH; i++)
		memcpy(path + 2 * i, "d/", 2);
	memcpy(path + (size_t)2 * DEPTH, "f", 2);
	return path;
}

static void test_ten_thousand_directories_deep(void **state)
{
	struct entries *log = entries_new();
	char *path = deep_path(), *back = malloc(2 * DEPTH + 2), part[8];
	struct entry entry = { .kind = ENTRY_FILE, .path = path };
	struct index *index;
	uint32_t node;

	(void)state;
	kit_add(log, &entry);
	index = kit_index_of(log);
	assert_int_equal(index_check(index, NULL), 0);
	node = kit_node(index_tree(index), path);
	assert_int_equal(node, DEPTH + 1);
	assert_string_equal(tree_path(index_tree(index), node, back, 2 * DEPTH + 2), path);
	assert_string_equal(tree_path(index_tree(index), node, part, sizeof(part)),
			    "d/d/d/f");
	index_close(index);
	free(path);
	free(back);
}

static const struct {
	const char *path;
	size_t size;
	const char *shown;
} cuts[] = {
	{ "ab/cd/ef", 100, "ab/cd/ef" }, { "ab/cd/ef", 10, "ab/cd/ef" },
	{ "ab/cd/ef", 8, "cd/ef" }, { "ab/cd/ef", 5, "ef" }, { "ab/cd/ef", 3, "" },
	{ "ab/cd/ef", 1, "" }, { "ab", 100, "ab" }, { "", 100, "" },
};

static void test_paths_are_cut_at_the_left(void **state)
{
	size_t i = unit_row(state);
	struct index *index = kit_make("f:ab/cd/ef:1");
	char out[100];
	uint32_t node = kit_node(index_tree(index), cuts[i].path);

	assert_string_equal(tree_path(index_tree(index), node, out, cuts[i].size),
			    cuts[i].shown);
	index_close(index);
}

static const struct {
	const char *path;
	uint32_t links;
	enum tree_kind kind;
	uint32_t mode;
} stats[] = {
	{ "", 4, TREE_DIRECTORY, 0755 }, { "a", 2, TREE_DIRECTORY, 0700 },
	{ "b", 3, TREE_DIRECTORY, 0755 }, { "b/c", 2, TREE_DIRECTORY, 0755 },
	{ "x", 1, TREE_FILE, 0644 }, { "y", 2, TREE_FILE, 0644 },
	{ "s", 1, TREE_SYMLINK, 0777 },
};

static void test_links_kinds_and_modes(void **state)
{
	size_t i = unit_row(state);
	struct index *index = kit_make("d:a:6700 f:b/c/d:1 f:x:1 f:y:2 h:z:y s:s:x");
	struct tree_stat st;
	uint32_t node = kit_node(index_tree(index), stats[i].path);

	assert_int_equal(tree_stat(index_tree(index), node, &st), 0);
	assert_int_equal(st.links, stats[i].links);
	assert_int_equal(st.kind, stats[i].kind);
	assert_int_equal(st.mode, stats[i].mode);
	assert_int_equal(st.size, stats[i].kind == TREE_DIRECTORY ? 0 :
			 stats[i].kind == TREE_SYMLINK ? 1 :
			 stats[i].links);
	assert_int_equal(st.uid, *stats[i].path && stats[i].path[0] != 'b' ?
			 KIT_UID : 1);
	index_close(index);
}

static void test_walking(void **state)
{
	struct index *index = kit_make("f:a/b/c:1 s:a/s:b");
	const struct tree *tree = index_tree(index);
	uint32_t node, there = kit_node(tree, "a/b");

	(void)state;
	assert_int_equal(kit_node(tree, "//a/./b//"), there);
	assert_int_equal(kit_node(tree, ""), TREE_ROOT);
	assert_int_equal(tree_walk(tree, there, "c", &node), 0);
	assert_int_equal(node, kit_node(tree, "a/b/c"));
	assert_int_equal(tree_walk(tree, TREE_ROOT, "a/x", &node), -ENOENT);
	assert_int_equal(tree_walk(tree, TREE_ROOT, "a/..", &node), -ENOENT);
	assert_int_equal(tree_walk(tree, TREE_ROOT, "a/b/c/d", &node), -ENOTDIR);
	assert_int_equal(tree_walk(tree, TREE_ROOT, "a/s/c", &node), -ENOTDIR);
	assert_int_equal(tree_lookup(tree, TREE_ROOT, "", 0, &node), -ENOENT);
	assert_int_equal(tree_child_count(tree, kit_node(tree, "a/s"), &node), -ENOTDIR);
	assert_int_equal(tree_stat(tree, tree_count(tree), &(struct tree_stat){ 0 }), -EIO);
	index_close(index);
}

static const struct {
	int64_t given, shown;
	uint32_t ns_given, ns_shown;
} times[] = {
	{ 0, 0, 0, 0 }, { 1500000000, 1500000000, 999999999, 999999999 },
	{ -1, -1, 5, 5 }, { INT64_C(-4294967297), INT64_C(-4294967297), 0, 0 },
	{ INT64_C(4294967296), INT64_C(4294967296), 1, 1 },
	{ (INT64_C(1) << 39) - 1, (INT64_C(1) << 39) - 1, 0, 0 },
	{ INT64_C(1) << 39, (INT64_C(1) << 39) - 1, 0, 0 },
	{ INT64_MAX, (INT64_C(1) << 39) - 1, 0, 0 },
	{ -(INT64_C(1) << 39), -(INT64_C(1) << 39), 0, 0 },
	{ INT64_MIN, -(INT64_C(1) << 39), 0, 0 },
	{ 1, 1, 1000000000, 0 }, { 1, 1, UINT32_MAX, UINT32_MAX % 1000000000 },
};

static void test_times(void **state)
{
	struct entries *log = entries_new();
	struct index *index;

	(void)state;
	for (size_t i = 0; i < COUNT(times); i++) {
		char name[8];

		snprintf(name, sizeof(name), "%02zu", i);
		kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = name,
					      .mtime = times[i].given,
					      .mtime_ns = times[i].ns_given });
	}
	index = kit_index_of(log);
	for (size_t i = 0; i < COUNT(times); i++) {
		struct tree_stat st;

		assert_int_equal(tree_stat(index_tree(index), (uint32_t)i + 1, &st), 0);
		assert_int_equal(st.mtime, times[i].shown);
		assert_int_equal(st.mtime_ns, times[i].ns_shown);
	}
	index_close(index);
}

static void test_names_up_to_255_bytes(void **state)
{
	char script[1000], name[257];
	struct index *index;
	uint32_t node;

	(void)state;
	memset(name, 'n', 256);
	name[256] = '\0';
	snprintf(script, sizeof(script), "f:%s:1 f:%s:2 f:d/%s/x:3", name + 1, name, name);
	index = kit_make(script);
	node = kit_node(index_tree(index), name + 1);
	assert_int_equal(node, 1);
	assert_int_equal(tree_count(index_tree(index)), 2);
	assert_int_equal(tree_lookup(index_tree(index), TREE_ROOT, name, 256, &node),
			 -ENOENT);
	index_close(index);
}

static void test_summary_counts(void **state)
{
	struct index *index = kit_make("f:a:10 h:b:a f:d/c:5 s:e:x f:d/f:0 f:a2:1 f:a2:7");
	struct index_summary s;

	(void)state;
	assert_int_equal(index_summary(index, &s), 0);
	assert_int_equal(s.files, 4);
	assert_int_equal(s.links, 1);
	assert_int_equal(s.directories, 2);
	assert_int_equal(s.symlinks, 1);
	assert_int_equal(s.bytes, 22);
	assert_string_equal(s.format, "tar");
	assert_string_equal(s.options, "shape=kit");
	index_close(index);
}

static void test_what_cannot_be_shown_is_counted(void **state)
{
	struct index *index = kit_make("f:.granaryfs:1 f:..:2 f:a/b:3 f:a:4 h:c:none f:d:5");
	struct index_summary s;

	(void)state;
	assert_int_equal(index_summary(index, &s), 0);
	assert_int_equal(s.files, 2);
	assert_int_equal(s.left_out, 4);
	index_close(index);
}

/* The system has links to 4095 bytes at most; one more hurts nobody else. */
static void test_links_too_long_for_the_system_are_left_out(void **state)
{
	struct entries *log = entries_new();
	char target[TREE_TARGET_BYTES + 1], back[TREE_TARGET_BYTES];
	struct entry entry = { .kind = ENTRY_SYMLINK, .target = target };
	struct index_summary s;
	struct index *index;

	(void)state;
	memset(target, 't', TREE_TARGET_BYTES);
	target[TREE_TARGET_BYTES] = '\0';
	entry.path = "long";
	kit_add(log, &entry);
	entry.path = "a/long";
	kit_add(log, &entry);
	target[TREE_TARGET_BYTES - 1] = '\0';
	entry.path = "longest";
	kit_add(log, &entry);
	index = kit_index_of(log);
	assert_int_equal(index_summary(index, &s), 0);
	assert_int_equal(s.symlinks, 1);
	assert_int_equal(s.left_out, 2);
	assert_int_equal(tree_readlink(index_tree(index),
				       kit_node(index_tree(index), "longest"), back), 0);
	assert_string_equal(back, target);
	index_close(index);
}

/* 200 classes of 1,000 files with names as ImageNet's, 21 bytes. */
static void test_a_file_costs_at_most_64_bytes(void **state)
{
	enum { FILES = 200000 };
	struct entries *log = entries_new();
	struct index *index;
	char path[64];

	(void)state;
	for (unsigned i = 0; i < FILES; i++) {
		struct entry_extent x;
		struct entry entry = { .kind = ENTRY_FILE, .path = path, .mode = 0644,
				       .size = 110000, .extents = &x, .extent_count = 1 };

		snprintf(path, sizeof(path), "n%08u/ILSVRC_val_%05u.JPEG", i / 1000, i % 1000);
		assert_int_equal(strlen(path), 10 + 21);
		assert_int_equal(entries_raw_extent(log, 0, KIT_SOURCE_SIZE,
						    UINT64_C(110592) * i + 512,
						    entry.size, &x), 0);
		kit_add(log, &entry);
	}
	index = kit_index_of(log);
	assert_int_equal(tree_count(index_tree(index)), FILES + 201);
	assert_in_range(index_size(index) / FILES, 36, 63);
	assert_int_equal(sizeof(struct layout_node), 36);
	index_close(index);
}

static const struct CMUnitTest build[] = {
	cmocka_unit_test(test_many_names_are_sorted_by_their_bytes),
	cmocka_unit_test(test_names_come_in_any_order),
	cmocka_unit_test(test_prefixes_come_before_what_they_begin),
	cmocka_unit_test(test_ten_thousand_directories_deep),
	unit_table(test_paths_are_cut_at_the_left, cuts, path),
	unit_table(test_links_kinds_and_modes, stats, path),
	cmocka_unit_test(test_walking),
	cmocka_unit_test(test_times),
	cmocka_unit_test(test_names_up_to_255_bytes),
	cmocka_unit_test(test_summary_counts),
	cmocka_unit_test(test_what_cannot_be_shown_is_counted),
	cmocka_unit_test(test_links_too_long_for_the_system_are_left_out),
	cmocka_unit_test(test_a_file_costs_at_most_64_bytes),
};

UNIT_MAIN(build)
