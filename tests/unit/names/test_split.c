/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a dataset that a file's name says. */
#include "unit.h"

#include "names/split_words.h"

static const struct {
	const char *path, *split;
} paths[] = {
	{ "d/bedroom_val_lmdb/data.mdb", "val" }, { "train/data.mdb", "train" },
	{ "d/x/data.mdb", "" }, { "test/x/data.mdb", "test" }, { "data.mdb", "" },
	{ "ImageNet_train.arrow", "train" },
	{ "/a/ImageNet-val.arrow", "val" },
	{ "/d/imagenet-train-000003.tar", "train" },
	{ "validation.tar", "validation" },
	{ "Test0.tar", "Test" },
	{ "x.trainval.h5", "trainval" },
	{ "dev-clean.tar", "dev" },
	{ "svhn-eval-000000.tar", "eval" },
	{ "Eval/x.tar", "Eval" },
	{ "evaluation.tar", "" },
	{ "x-train-train.arrow", "train" },
	{ "a.tar: b/imagenet-1k-test-00000-of-00028.arrow", "test" },
	{ "train/val-00000-of-00010.arrow", "val" },
	{ "x/Train/data-00000-of-00010.arrow", "Train" },
	{ "train/shard-1.tar", "train" },
	{ "train_test_split.arrow", "" },
	{ "train/train_test_split.arrow", "" },
	{ "pretrained.arrow", "" },
	{ "trains-1.tar", "" },
	{ "trained/x.arrow", "" },
	{ "train/a/x.arrow", "" },
	{ "/x.arrow", "" },
	{ "x.arrow", "" },
	{ "", "" },
};

static void test_a_word_of_the_name_or_the_directory(void **state)
{
	size_t i = unit_row(state);
	char split[SPLIT_BYTES];

	assert_int_equal(split_of_path(paths[i].path, split), *paths[i].split != 0);
	assert_string_equal(split, paths[i].split);
}

/* Directories may be classes that are called so. */
static void test_words_of_files_are_none_of_directories(void **state)
{
	(void)state;
	assert_true(split_is_word("Test", 4));
	assert_false(split_is_word("eval", 4));
	assert_false(split_is_word("dev", 3));
}

static const struct {
	const char *a, *b;
	bool same;
} pairs[] = {
	{ "val", "validation", true }, { "valid", "val", true },
	{ "training", "train", true }, { "testing", "test", true },
	{ "a", "a", true }, { "", "", true }, { "train", "val", false },
	{ "Val", "val", false }, { "a", "b", false }, { "trains", "train", false },
};

static void test_words_for_one_split(void **state)
{
	size_t i = unit_row(state);

	assert_int_equal(split_is_same(pairs[i].a, strlen(pairs[i].a), pairs[i].b,
				       strlen(pairs[i].b)), pairs[i].same);
}

static const struct CMUnitTest split[] = {
	unit_table(test_words_for_one_split, pairs, a),
	unit_table(test_a_word_of_the_name_or_the_directory, paths, path),
	cmocka_unit_test(test_words_of_files_are_none_of_directories),
};

UNIT_MAIN(split)
