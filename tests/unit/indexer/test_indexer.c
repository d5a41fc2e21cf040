/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From shards to an index. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "indexer/indexer.h"
#include "source/load.h"
#include "source/source_set.h"
#include "index/card.h"
#include "../build/publish.h"

enum { SHARDS = 8 };

/* Shards s0.tar to s7.tar: files, links, and tars in tars. */
static void make_shards(void)
{
	static bool made;

	if (made)
		return;
	made = true;
	unit_shell("set -e; for i in 0 1 2 3 4 5 6 7; do"
		   " mkdir -p t/d$i/sub in/c$i; echo $i > t/d$i/sub/file;"
		   " ln t/d$i/sub/file t/d$i/hard; ln -s sub/file t/d$i/soft;"
		   " for k in 1 2 3 4 5; do head -c $((k * 1000)) /dev/zero > in/c$i/$k; done;"
		   " tar -C in -cf t/d$i/inner.tar c$i;"
		   " tar -C t -cf t/outer$i.tar d$i/inner.tar d$i/sub;"
		   " tar -C t --sort=name -cf s$i.tar d$i outer$i.tar; done");
}

static struct source_set open_set(const char *pattern)
{
	char text[64], *argument = text;
	struct source_set set;
	struct error e;

	snprintf(text, sizeof(text), "%s", pattern);
	if (source_set_open(&argument, 1, false, &set, &e) < 0)
		fail_msg("%s", e.text);
	return set;
}

static int run(const char *pattern, const struct indexer_config *config,
	       struct indexer_progress *progress, struct image *image, struct error *e)
{
	struct source_set set = open_set(pattern);
	int err = indexer_run(&set, config, progress, image, e);

	source_set_close(&set);
	return err;
}

/* The index as a file; its bytes, which the caller frees. */
static char *index_bytes(const char *pattern, unsigned threads, size_t *size)
{
	struct indexer_config config = { .nested = true, .threads = threads,
					 .options = "o" };
	struct image_access access = { 0600, getuid(), getgid() };
	struct image image;
	struct error e = { 0 };

	if (run(pattern, &config, NULL, &image, &e) < 0 ||
	    publish_at(&image, "x.gidx", &access, &e) < 0)
		fail_msg("%s", e.text);
	image_free(&image);
	return unit_read("x.gidx", size);
}

static void test_the_result_does_not_depend_on_threads(void **state)
{
	static const unsigned threads[] = { 2, 16, 0, 1, 16 };
	size_t size, other;
	char *bytes, *again;

	(void)state;
	make_shards();
	bytes = index_bytes("s{0..7}.tar", 1, &size);
	for (size_t i = 0; i < COUNT(threads); i++) {
		again = index_bytes("s{0..7}.tar", threads[i], &other);
		assert_int_equal(size, other);
		assert_memory_equal(bytes, again, size);
		free(again);
	}
	free(bytes);
}

static struct index *open_index(const char *path)
{
	struct source *source;
	struct index *index;
	int memory;

	assert_int_equal(source_open(path, &source, NULL), 0);
	assert_int_equal(source_load(source, &memory, NULL), 0);
	source_close(source);
	assert_int_equal(index_open_memory(memory, getuid(), path, &index, NULL), 0);
	return index;
}

static struct index *index_of(const char *pattern, const struct indexer_config *config)
{
	struct image_access access = { 0600, getuid(), getgid() };
	struct index *index;
	struct image image;
	struct error e = { 0 };

	if (run(pattern, config, NULL, &image, &e) < 0 ||
	    publish_at(&image, "x.gidx", &access, &e) < 0)
		fail_msg("%s", e.text);
	image_free(&image);
	index = open_index("x.gidx");
	assert_int_equal(index_check(index, &e), 0);
	return index;
}

static bool there(const struct index *index, const char *path, enum tree_kind kind)
{
	struct tree_stat st;
	uint32_t node;

	return tree_walk(index_tree(index), TREE_ROOT, path, &node) == 0 &&
	       tree_stat(index_tree(index), node, &st) == 0 && st.kind == kind;
}

static void test_nested_ones_are_directories_unless_off(void **state)
{
	struct indexer_config config = { .nested = true };
	struct index *index;

	(void)state;
	make_shards();
	index = index_of("s3.tar", &config);
	assert_true(there(index, "d3/inner/c3/5", TREE_FILE));
	assert_true(there(index, "outer3/d3/inner/c3/1", TREE_FILE));
	assert_true(there(index, "d3/soft", TREE_SYMLINK));
	assert_false(there(index, "d3/inner.tar", TREE_FILE));
	index_close(index);
	config.nested = false;
	index = index_of("s3.tar", &config);
	assert_true(there(index, "d3/inner.tar", TREE_FILE));
	assert_false(there(index, "d3/inner", TREE_DIRECTORY));
	index_close(index);
}

static void test_summary_and_sources(void **state)
{
	struct indexer_config config = { .nested = true, .options = "shape" };
	struct source_set set;
	struct identity ids[SHARDS];
	struct index_summary s;
	struct index *index;

	(void)state;
	make_shards();
	set = open_set("s{0..7}.tar");
	index = index_of("s{0..7}.tar", &config);
	assert_int_equal(source_set_identify(&set, ids, NULL), 0);
	assert_int_equal(card_accept(index_card(index), ids, SHARDS, "shape", NULL), 0);
	assert_int_equal(index_summary(index, &s), 0);
	assert_string_equal(s.format, "tar");
	/* each shard: sub/file, five files twice, sub/file again */
	assert_int_equal(s.files, SHARDS * 12);
	assert_int_equal(s.links, SHARDS);
	assert_int_equal(s.symlinks, SHARDS);
	index_close(index);
	source_set_close(&set);
}

static void test_samples_only_of_what_is_saved(void **state)
{
	struct indexer_config config = { .options = "shape" };

	(void)state;
	make_shards();
	for (int unsaved = 0; unsaved < 2; unsaved++) {
		struct index *index;

		config.unsaved = unsaved;
		index = index_of("s3.tar", &config);
		assert_int_equal(card_source(index_card(index), 0)->identity.samples == 0, unsaved);
		index_close(index);
	}
}

static void test_progress_comes_to_its_end(void **state)
{
	struct indexer_config config = { .nested = true, .threads = 4 };
	struct indexer_progress progress = { 0 };
	struct image image;

	(void)state;
	make_shards();
	assert_int_equal(run("s{0..7}.tar", &config, &progress, &image, NULL), 0);
	image_free(&image);
	assert_int_equal(progress.shards, SHARDS);
	assert_int_equal(progress.done, SHARDS);
	assert_in_range(progress.entries, SHARDS * 15, SHARDS * 40);
	assert_in_range(progress.position, 1, progress.total);
}

/* Several bad ones: the first in order is named, whoever is done first. */
static void test_the_first_bad_shard_is_the_error(void **state)
{
	struct indexer_config config = { .nested = true, .threads = 16 };
	struct image image;

	(void)state;
	make_shards();
	unit_shell("for i in 0 1 2 3 4 5 6 7; do cp s$i.tar b$i.tar; done;"
		   "for i in 2 4 5 6 7; do echo no tar > b$i.tar; done");
	for (int i = 0; i < 300; i++) {
		struct error e = { 0 };

		assert_int_equal(run("b{0..7}.tar", &config, NULL, &image, &e), -EBADMSG);
		assert_int_equal(e.status, ERROR_DATASET);
		if (!strstr(e.text, "b2.tar"))
			fail_msg("run %d: %s", i, e.text);
	}
}

static void test_a_duplicate_names_both_shards(void **state)
{
	struct indexer_config config = { .nested = true };
	struct image image;
	struct error e = { 0 };

	(void)state;
	make_shards();
	unit_shell("cp s0.tar c0.tar; cp s0.tar c1.tar");
	assert_int_equal(run("c{0,1}.tar", &config, NULL, &image, &e), -EEXIST);
	assert_non_null(strstr(e.text, "c0.tar and c1.tar"));
	config.duplicates = DUPLICATES_LAST;
	assert_int_equal(run("c{0,1}.tar", &config, NULL, &image, &e), 0);
	image_free(&image);
}

static void index_damaged(void *index)
{
	struct indexer_config config = { .nested = true };

	*(struct index **)index = index_of("damaged.tar", &config);
}

static void test_a_nested_one_that_is_damaged_is_a_file(void **state)
{
	struct index *index;
	char *log;

	(void)state;
	make_shards();
	/* behind its first header, so that it still looks like one */
	unit_shell("set -e; mkdir -p dam; cp t/d0/inner.tar dam/bad.tar;"
		   "printf 'XXXXXXXX' | dd of=dam/bad.tar bs=1 seek=660 conv=notrunc"
		   " 2>/dev/null; cp t/d0/inner.tar dam/good.tar;"
		   "tar -C dam -cf damaged.tar bad.tar good.tar");
	log = unit_stderr_of(index_damaged, &index);
	assert_true(there(index, "bad.tar", TREE_FILE));
	assert_true(there(index, "good/c0/1", TREE_FILE));
	assert_int_equal(unit_occurrences(log, "shown as a file"), 1);
	assert_non_null(strstr(log, "damaged.tar: bad.tar"));
	free(log);
	index_close(index);
}

/* n1.tar holds n2.tar holds ... the last one is too deep and stays a file. */
static void test_nesting_has_a_limit(void **state)
{
	struct indexer_config config = { .nested = true };
	struct index *index;

	(void)state;
	unit_shell("set -e; mkdir -p deep; cd deep; echo x > leaf; tar -cf n12.tar leaf;"
		   "for i in 11 10 9 8 7 6 5 4 3 2 1 0; do"
		   " tar -cf n$i.tar n$((i + 1)).tar; done; mv n0.tar ..");
	index = index_of("n0.tar", &config);
	assert_true(there(index, "n1/n2/n3/n4/n5/n6/n7/n8", TREE_DIRECTORY));
	assert_true(there(index, "n1/n2/n3/n4/n5/n6/n7/n8/n9.tar", TREE_FILE));
	index_close(index);
}

static void test_base_is_where_the_tar_begins(void **state)
{
	struct indexer_config config = { .nested = true, .base = 4096 };
	struct index *index;
	struct image image;
	struct error e = { 0 };

	(void)state;
	make_shards();
	unit_shell("(head -c 4096 /dev/urandom; cat s1.tar) > based.tar");
	index = index_of("based.tar", &config);
	assert_true(there(index, "d1/inner/c1/5", TREE_FILE));
	index_close(index);
	config.base = 1 << 30;
	assert_int_equal(run("based.tar", &config, NULL, &image, &e), -EINVAL);
	assert_non_null(strstr(e.text, "based.tar: base="));
}

static const struct indexer_map good_map = { "{\"x/a.jpg\": 1}", 14, "good.json" };
static const struct indexer_map bad_map = { "\x80\x04R.", 4, "bad.pkl" };

/* Options that change nothing here, and a part of what is said of them. */
static const struct {
	struct indexer_config config;
	const char *note; /* NULL: nothing is said */
} unused[] = {
	{ { .view = VIEW_AUTO }, NULL },
	{ { .view = VIEW_TREE }, NULL },
	{ { .view = VIEW_CLASS }, "view=class does nothing here" },
	{ { .view = VIEW_ARRAYS }, "view=arrays does nothing here" },
	{ { .formats.labels = (char[]){ "cls" } }, "labels=cls does nothing here" },
	{ { .formats.labels = (char[]){ "cls" }, .view = VIEW_TREE },
	  "labels=cls does nothing here: view=tree" },
	{ { .classes = { "cat\n", 4, "c.txt" } }, "classes= does nothing here" },
	{ { .view = VIEW_TREE, .names = &good_map, .name_count = 1 },
	  "names= does nothing here" },
	{ { .formats.sidecars = SIDECARS_HIDE }, "sidecars=hide does nothing here" },
};

static void add_note(const char *line, void *text)
{
	snprintf((char *)text + strlen(text), 1024 - strlen(text), "%s\n", line);
}

static void test_options_without_effect_are_said(void **state)
{
	struct index_summary s;

	(void)state;
	make_shards();
	for (size_t i = 0; i < COUNT(unused); i++) {
		struct index *index = index_of("s1.tar", &unused[i].config);
		char notes[1024] = "";

		assert_int_equal(index_summary(index, &s), 0);
		assert_string_equal(s.view, "tree (the files have names of their own)");
		index_for_each_note(index, add_note, notes);
		if (unused[i].note ? !strstr(notes, unused[i].note) : *notes != 0)
			fail_msg("%zu: %s", i, notes);
		index_close(index);
	}
}

static void test_a_map_that_is_none_is_the_error(void **state)
{
	const struct indexer_map maps[] = { good_map, bad_map };
	struct indexer_config names = { .names = maps, .name_count = 2 };
	struct indexer_config classes = { .classes = { "a\n\xff/\n", 5, "list.txt" } };
	struct image image;
	struct error e = { 0 };

	(void)state;
	make_shards();
	assert_int_equal(run("s1.tar", &names, NULL, &image, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "bad.pkl"));
	assert_int_equal(e.status, ERROR_DATASET);
	assert_int_equal(run("s1.tar", &classes, NULL, &image, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "list.txt"));
}

static const struct CMUnitTest indexing[] = {
	cmocka_unit_test(test_options_without_effect_are_said),
	cmocka_unit_test(test_a_map_that_is_none_is_the_error),
	cmocka_unit_test(test_the_result_does_not_depend_on_threads),
	cmocka_unit_test(test_nested_ones_are_directories_unless_off),
	cmocka_unit_test(test_summary_and_sources),
	cmocka_unit_test(test_samples_only_of_what_is_saved),
	cmocka_unit_test(test_progress_comes_to_its_end),
	cmocka_unit_test(test_the_first_bad_shard_is_the_error),
	cmocka_unit_test(test_a_duplicate_names_both_shards),
	cmocka_unit_test(test_a_nested_one_that_is_damaged_is_a_file),
	cmocka_unit_test(test_nesting_has_a_limit),
	cmocka_unit_test(test_base_is_where_the_tar_begins),
};

UNIT_MAIN(indexing)

