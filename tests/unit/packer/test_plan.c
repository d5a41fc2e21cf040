/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The place, order and name of packed files. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "packer/distribute.h"
#include "packer/plan.h"
#include "packer/seeded_order.h"

enum { MOST = 4096 };

/* A scan that was not made from files: "d:" and "l:" are directories and links. */
struct tree {
	struct pack_scan scan;
	struct pack_scan_entry entries[MOST];
	char names[MOST][64];
};

static void add(struct tree *tree, const char *name, uint64_t size)
{
	struct pack_scan_entry *entry = &tree->entries[tree->scan.count];
	char *path = tree->names[tree->scan.count++];

	*entry = (struct pack_scan_entry){ .path = path, .kind = PACK_FILE, .size = size,
				      .mtime = 1000000000 };
	if (strncmp(name, "d:", 2) == 0)
		entry->kind = PACK_DIRECTORY;
	if (strncmp(name, "l:", 2) == 0)
		entry->kind = PACK_SYMLINK;
	snprintf(path, 64, "%s", entry->kind == PACK_FILE ? name : name + 2);
	tree->scan.entries = tree->entries;
}

static struct tree *new_tree(void)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	add(tree, "d:", 0);
	return tree;
}

/* `count` files in ten classes, sizes spread as photographs' are. */
static struct tree *photographs(size_t count)
{
	struct tree *tree = new_tree();
	struct shuffle sizes = { 7 };
	char name[64];

	for (size_t i = 0; i < count; i++) {
		if (i % (count / 10) == 0) {
			snprintf(name, sizeof(name), "d:c%zu", i / (count / 10));
			add(tree, name, 0);
		}
		snprintf(name, sizeof(name), "c%zu/%04zu.jpg", i / (count / 10), i);
		add(tree, name, 20000 + shuffle_below(&sizes, 200000));
	}
	return tree;
}

static void make(const struct tree *tree, const struct plan_config *config,
		 struct plan *plan)
{
	struct error e = { 0 };

	if (plan_make(&tree->scan, config, plan, &e) < 0)
		fail_msg("%s", e.text);
}

static void refuse(const struct tree *tree, const struct plan_config *config,
		   const char *words)
{
	struct error e = { 0 };
	struct plan plan;

	assert_true(plan_make(&tree->scan, config, &plan, &e) < 0);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" lacks \"%s\"", e.text, words);
	plan_free(&plan);
}

/* The paths, one behind the other. */
static void assert_order(const struct plan *plan, const char *wanted)
{
	char found[1024] = "";

	for (size_t i = 0; i < plan->count; i++) {
		size_t used = strlen(found);

		snprintf(found + used, sizeof(found) - used, "%s%s", i ? " " : "",
			 plan->items[i].path);
	}
	assert_string_equal(found, wanted);
}

static const char *const order[] = { "", "a", "a/b", "a/b/c", "a/b.c", "a-b", "a.b",
				     "aa", "b", "\xc3\xa9", "\xff" };

static void test_names_are_compared_directory_by_directory(void **state)
{
	size_t i = unit_row(state);

	for (size_t k = 0; k < COUNT(order); k++) {
		int wanted = (i > k) - (i < k);

		assert_int_equal(pack_path_compare(order[i], order[k]), wanted);
	}
}

/* Vigna's splitmix64.c with the seed 1234567 gives these. */
static void test_random_numbers_are_splitmix64(void **state)
{
	static const uint64_t wanted[] = { 6457827717110365317U, 3203168211198807973U,
					   9817491932198370423U, 4593380528125082431U,
					   16408922859458223821U };
	struct shuffle shuffle = { 1234567 };

	(void)state;
	for (size_t i = 0; i < COUNT(wanted); i++)
		assert_true(shuffle_next(&shuffle) == wanted[i]);
}

static void test_every_place_is_as_likely(void **state)
{
	enum { ROUNDS = 60000 };
	unsigned seen[3][3] = { { 0 } };

	(void)state;
	for (unsigned seed = 0; seed < ROUNDS; seed++) {
		uint32_t shuffled[3] = { 0, 1, 2 };

		shuffle_order(shuffled, 3, seed);
		assert_int_equal(shuffled[0] + shuffled[1] + shuffled[2], 3);
		for (int i = 0; i < 3; i++)
			seen[i][shuffled[i]]++;
	}
	for (int i = 0; i < 9; i++)
		assert_in_range(seen[i / 3][i % 3], ROUNDS / 3 - 500, ROUNDS / 3 + 500);
}

static void test_a_tree_keeps_its_order(void **state)
{
	struct tree *tree = new_tree();
	struct plan_config config = { .layout = PACK_TREE };
	struct plan plan;

	(void)state;
	add(tree, "d:a", 0);
	add(tree, "a/1", 5);
	add(tree, "l:a/2", 0);
	add(tree, "b", 7);
	make(tree, &config, &plan);
	assert_order(&plan, " a a/1 a/2 b");
	assert_int_equal(plan.shard_count, 1);
	assert_true(plan.shards[0].bytes == 5 * 512 + 2 * 512);
	plan_free(&plan);
	free(tree);
}

static void test_a_shuffle_moves_files_only_and_makes_links_files(void **state)
{
	struct tree *tree = new_tree();
	struct plan_config config = { .layout = PACK_TREE, .shuffle = true, .seed = 3 };
	struct plan plan, again;

	(void)state;
	add(tree, "d:a", 0);
	for (int i = 0; i < 50; i++) {
		char name[16];

		snprintf(name, sizeof(name), "a/%02d", i);
		add(tree, name, 1);
	}
	tree->entries[9].kind = PACK_HARDLINK;
	make(tree, &config, &plan);
	make(tree, &config, &again);
	assert_string_equal(plan.items[1].path, "a");
	assert_string_not_equal(plan.items[2].path, "a/00");
	for (size_t i = 0; i < plan.count; i++) {
		assert_string_equal(plan.items[i].path, again.items[i].path);
		assert_int_not_equal(plan.items[i].kind, PACK_HARDLINK);
	}
	assert_true(plan_digest(&plan) == plan_digest(&again));
	plan_free(&again);
	config.seed = 4;
	make(tree, &config, &again);
	assert_true(plan_digest(&plan) != plan_digest(&again));
	plan_free(&again);
	plan_free(&plan);
	free(tree);
}

/* Numbers differ by one at most, bytes by one in a hundred; all is there, once. */
static void assert_even(const struct plan *plan, size_t units)
{
	size_t least = SIZE_MAX, most = 0, at = 0;

	for (size_t s = 0; s < plan->shard_count; s++) {
		size_t files = 0;

		assert_int_equal(plan->shards[s].first, at);
		at += plan->shards[s].count;
		for (size_t i = 0; i < plan->shards[s].count; i++)
			files += plan->items[plan->shards[s].first + i].kind == PACK_FILE;
		least = files < least ? files : least;
		most = files > most ? files : most;
	}
	assert_int_equal(at, plan->count);
	assert_true(most - least <= units);
	assert_true(plan_imbalance(plan) <= 10);
}

static void test_shards_are_even_in_number_and_bytes(void **state)
{
	static const struct {
		uint64_t shards, multiple;
		bool shuffle;
		uint64_t wanted;
	} cases[] = {
		{ 2, 0, false, 2 },  { 7, 0, false, 7 },   { 16, 0, true, 16 },
		{ 13, 8, true, 16 }, { 16, 8, false, 16 }, { 30, 0, true, 30 },
	};
	struct tree *tree = photographs(3000);

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct plan_config config = {
			.layout = PACK_TREE, .shards = cases[i].shards,
			.multiple_of = cases[i].multiple, .shuffle = cases[i].shuffle,
		};
		struct plan plan;

		make(tree, &config, &plan);
		assert_int_equal(plan.shard_count, cases[i].wanted);
		assert_even(&plan, 1);
		plan_free(&plan);
	}
	free(tree);
}

static void test_shards_have_a_part_of_every_class(void **state)
{
	struct tree *tree = photographs(3000);
	struct plan_config config = { .layout = PACK_TREE, .shards = 10, .shuffle = true };
	struct plan plan;

	(void)state;
	make(tree, &config, &plan);
	for (size_t s = 0; s < plan.shard_count; s++) {
		unsigned classes[10] = { 0 };

		for (size_t i = 0; i < plan.shards[s].count; i++) {
			const char *path = plan.items[plan.shards[s].first + i].path;

			if (strchr(path, '/'))
				classes[path[1] - '0']++;
		}
		for (int c = 0; c < 10; c++)
			assert_in_range(classes[c], 10, 55); /* 30 are expected */
	}
	plan_free(&plan);
	free(tree);
}

static void test_a_size_decides_on_the_number(void **state)
{
	struct tree *tree = photographs(3000);
	struct plan_config config = { .layout = PACK_TREE, .shard_size = 20 << 20,
				      .multiple_of = 4 };
	struct plan plan;

	(void)state;
	make(tree, &config, &plan);
	assert_int_equal(plan.shard_count % 4, 0);
	assert_in_range(plan.shard_count, 16, 24);
	for (size_t s = 0; s < plan.shard_count; s++)
		assert_true(plan.shards[s].bytes <= config.shard_size);
	assert_even(&plan, 1);
	plan_free(&plan);
	config.shard_size = 100000;
	refuse(tree, &config, "does not fit shards of");
	config = (struct plan_config){ .layout = PACK_TREE, .shards = 3001 };
	refuse(tree, &config, "cannot be filled");
	free(tree);
}

/* Any deal is even: 5,000 random cases of a few sizes. */
static void test_dealing_keeps_numbers_even(void **state)
{
	struct shuffle chance = { 11 };

	(void)state;
	for (int round = 0; round < 5000; round++) {
		size_t count = 1 + shuffle_below(&chance, 40);
		uint32_t shards = 1 + (uint32_t)shuffle_below(&chance, count);
		uint64_t sizes[40], bytes[40] = { 0 }, dealt[40] = { 0 };
		uint32_t shard_of[40], numbers[40] = { 0 };

		for (size_t i = 0; i < count; i++)
			sizes[i] = shuffle_below(&chance, 5);
		assert_int_equal(distribute_over_shards(sizes, count, shards, shard_of,
							bytes), 0);
		for (size_t i = 0; i < count; i++) {
			assert_true(shard_of[i] < shards);
			numbers[shard_of[i]]++;
			dealt[shard_of[i]] += sizes[i];
		}
		for (uint32_t s = 0; s < shards; s++) {
			assert_true(dealt[s] == bytes[s]);
			assert_in_range(numbers[s], count / shards,
					count / shards + (count % shards != 0));
		}
	}
}

static void test_samples_lie_together_and_have_labels(void **state)
{
	struct tree *tree = new_tree();
	struct plan_config config = { .layout = PACK_WEBDATASET };
	struct plan plan;

	(void)state;
	add(tree, "d:a", 0);
	add(tree, "a/.hidden.jpg", 1);
	add(tree, "a/noextension", 1);
	add(tree, "a/one.JPEG", 9);
	add(tree, "a/one.k.jpg", 9); /* another sample, though it sorts between */
	add(tree, "a/one.txt", 9);
	add(tree, "d:b", 0);
	add(tree, "b/one.png", 9);
	add(tree, "b/two.cls", 1);
	add(tree, "b/two.jpg", 9);
	add(tree, "d:__c__", 0);
	add(tree, "__c__/one.jpg", 1);
	add(tree, "readme.txt", 9);
	make(tree, &config, &plan);
	assert_order(&plan, "a/one.cls a/one.jpg a/one.txt a/one_k.cls a/one_k.jpg "
			    "b/one.cls b/one.png b/two.cls b/two.jpg");
	assert_true(plan.items[0].is_label);
	assert_int_equal(plan.items[0].label, 0);
	assert_int_equal(plan.items[5].label, 1);
	assert_false(plan.items[7].is_label);
	assert_int_equal(plan.classes.count, 2);
	assert_string_equal(plan.classes.items[1], "b");
	assert_true(plan.no_class == 1 && plan.no_name == 3);
	plan_free(&plan);
	config.shuffle = true;
	config.shards = 2;
	make(tree, &config, &plan);
	for (size_t i = 0; i < plan.count; i++) {
		if (plan.items[i].is_label)
			assert_memory_equal(plan.items[i].path, plan.items[i + 1].path,
					    strlen(plan.items[i].path) - 3);
	}
	plan_free(&plan);
	free(tree);
}

/* As ImageFolder counts: an unreadable class must not move the others. */
static void test_every_directory_at_the_top_is_a_class(void **state)
{
	struct tree *tree = new_tree();
	struct plan_config config = { .layout = PACK_WEBDATASET };
	struct plan plan;

	(void)state;
	add(tree, "d:.hidden", 0);
	add(tree, "d:a", 0);
	add(tree, "d:a-empty", 0);
	add(tree, "d:b", 0);
	add(tree, "d:b/inner", 0);
	add(tree, "b/one.jpg", 9);
	add(tree, "d:c", 0);
	make(tree, &config, &plan);
	assert_order(&plan, "b/one.cls b/one.jpg");
	assert_int_equal(plan.items[0].label, 2);
	assert_int_equal(plan.classes.count, 4);
	assert_string_equal(plan.classes.items[1], "a-empty");
	assert_string_equal(plan.classes.items[3], "c");
	plan_free(&plan);
	free(tree);
}

static void test_samples_that_would_be_mixed_up_are_refused(void **state)
{
	static const char *const pairs[][2] = {
		{ "a/x.y.jpg", "a/x_y.txt" }, { "a/x.JPG", "a/x.jpg" },
		{ "a/x.jpeg", "a/x.jpg" },
	};
	struct plan_config config = { .layout = PACK_WEBDATASET };

	(void)state;
	for (size_t i = 0; i < COUNT(pairs); i++) {
		struct tree *tree = new_tree();

		add(tree, "d:a", 0);
		add(tree, pairs[i][0], 1);
		add(tree, pairs[i][1], 1);
		refuse(tree, &config, "rename one of them");
		free(tree);
	}
}

static void test_classes_with_control_characters_are_refused(void **state)
{
	static const char *const names[][2] = {
		{ "d:a\nb", "a\nb/x.jpg" }, { "d:b\r", "a/x.jpg" }, { "d:a", "\033/x.jpg" },
	};
	struct plan_config config = { .layout = PACK_WEBDATASET }, as_it_is = { .shards = 1 };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		struct tree *tree = new_tree();
		struct plan plan;

		add(tree, names[i][0], 0);
		add(tree, names[i][1], 1);
		refuse(tree, &config, "control characters");
		make(tree, &as_it_is, &plan);
		plan_free(&plan);
		free(tree);
	}
}

static void test_images_that_are_decoded_get_names_of_their_own(void **state)
{
	static const struct {
		const char *name, *decoded;
	} cases[] = {
		{ "a.JPEG", "a.ppm" },     { "b.jpg", "b.jpg.ppm" }, { "b.png", "b.png.ppm" },
		{ "c.jpg", "c.jpg.ppm" },  { "c.ppm", NULL },	     { "d.jpg", "d.ppm" },
		{ "d.jpg.txt", NULL },	   { "d.x.jpg", "d.x.ppm" }, { "e.gif", NULL },
		{ "jpg", NULL },
	};
	struct tree *tree = new_tree();
	struct plan_config config = { .layout = PACK_TREE, .decode = true };
	struct plan plan;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		add(tree, cases[i].name, 1);
	make(tree, &config, &plan);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *decoded = plan.items[i + 1].decoded;

		if (cases[i].decoded)
			assert_string_equal(decoded, cases[i].decoded);
		else
			assert_null(decoded);
	}
	plan_free(&plan);
	free(tree);
}

/* train/CLASS/FILE: one numbering for all splits. */
static void test_classes_of_splits_have_one_numbering(void **state)
{
	struct tree *tree = new_tree();
	struct plan_config config = { .layout = PACK_TREE, .split_classes = true };
	struct plan plan;

	(void)state;
	add(tree, "train/n01/x.jpg", 1);
	add(tree, "train/n03/x.jpg", 1);
	add(tree, "val/n02/x.jpg", 1);
	add(tree, "val/n03/x.jpg", 1);
	add(tree, "val/x.jpg", 1);
	make(tree, &config, &plan);
	assert_int_equal(plan.classes.count, 3);
	assert_int_equal(plan.items[1].label, 0);
	assert_int_equal(plan.items[2].label, 2);
	assert_int_equal(plan.items[3].label, 1);
	assert_int_equal(plan.items[4].label, 2);
	assert_int_equal(plan.items[5].label, -1);
	plan_free(&plan);
	free(tree);
}

/* As where a directory became a link after the tree was listed. */
static void test_no_link_leads_out_of_the_tree(void **state)
{
	int root, fd;

	(void)state;
	unit_shell("mkdir -p t/in away; echo secret > away/f; echo own > t/in/f; "
		   "ln -s ../away t/out");
	root = open("t", O_RDONLY | O_DIRECTORY);
	assert_true(root >= 0);
	fd = pack_scan_open(root, "in/f", O_RDONLY);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(pack_scan_open(root, "out/f", O_RDONLY), -ELOOP);
	assert_true(pack_scan_open(root, "out", O_RDONLY | O_DIRECTORY) < 0);
	close(root);
}

static const struct CMUnitTest tests[] = {
	unit_texts(test_names_are_compared_directory_by_directory, order),
	cmocka_unit_test(test_random_numbers_are_splitmix64),
	cmocka_unit_test(test_every_place_is_as_likely),
	cmocka_unit_test(test_a_tree_keeps_its_order),
	cmocka_unit_test(test_a_shuffle_moves_files_only_and_makes_links_files),
	cmocka_unit_test(test_shards_are_even_in_number_and_bytes),
	cmocka_unit_test(test_shards_have_a_part_of_every_class),
	cmocka_unit_test(test_a_size_decides_on_the_number),
	cmocka_unit_test(test_dealing_keeps_numbers_even),
	cmocka_unit_test(test_samples_lie_together_and_have_labels),
	cmocka_unit_test(test_every_directory_at_the_top_is_a_class),
	cmocka_unit_test(test_samples_that_would_be_mixed_up_are_refused),
	cmocka_unit_test(test_classes_with_control_characters_are_refused),
	cmocka_unit_test(test_images_that_are_decoded_get_names_of_their_own),
	cmocka_unit_test(test_classes_of_splits_have_one_numbering),
	cmocka_unit_test(test_no_link_leads_out_of_the_tree),
};

UNIT_MAIN(tests)
