/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What arrays of images and of labels are called. */
#include "unit.h"

#include "names/image_suffixes.h"
#include "names/label_words.h"

static const struct {
	const char *name, *key;
} keys[] = {
	{ "images", "" }, { "encoded_images", "" }, { "x", "" }, { "Y", "" },
	{ "trainX", "train" }, { "y_train", "train" }, { "train_set_x", "train set" },
	{ "training-labels", "train" }, { "validation_labels", "val" },
	{ "trainlabels", "train" }, { "xtest", "test" }, { "digit_pixel", "digit" },
	{ "img2", "2" }, { "fine_labels", "fine" }, { "", "" }, { "___", "" },
};

static void test_keys(void **state)
{
	size_t i = unit_row(state);
	char key[NAME_KEY_BYTES];

	name_key(keys[i].name, key);
	assert_string_equal(key, keys[i].key);
}

/* However long a name is, its key has an end. */
static void test_long_names(void **state)
{
	char name[4096], key[NAME_KEY_BYTES];

	(void)state;
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	name_key(name, key);
	assert_true(strlen(key) < NAME_KEY_BYTES);
	for (size_t i = 0; i < sizeof(name) - 1; i += 2)
		name[i] = '_';
	name_key(name, key);
	assert_true(strlen(key) < NAME_KEY_BYTES);
}

static const struct {
	const char *name;
	bool images, labels, any;
} names[] = {
	{ "targets", false, true, true }, { "y_train", false, true, false },
	{ "fine_labels", false, true, true }, { "num_labels", false, true, false },
	{ "label_names", false, true, false }, { "is_labeled", false, false, false },
	{ "center_y", false, true, false }, { "label_start_ix", false, true, false },
	{ "images_unlabeled", true, false, false }, { "cam_high", true, false, false },
	{ "yaw", false, false, false }, { "y", false, true, true },
};

static void test_roles(void **state)
{
	size_t i = unit_row(state);
	assert_int_equal(name_says_images(names[i].name), names[i].images);
	assert_int_equal(name_says_labels(names[i].name), names[i].labels);
	assert_int_equal(name_may_label_any(names[i].name), names[i].any);
}

static void test_splits(void **state)
{
	(void)state;
	assert_true(names_may_go_together("labels", "train_x"));
	assert_true(names_may_go_together("val_labels", "validation_images"));
	assert_false(names_may_go_together("trainY", "testX"));
	assert_true(name_is_chosen("attr", "attr", "images"));
	assert_true(name_is_chosen("train_attr", "attr", "train_images"));
	assert_false(name_is_chosen("train_attr", "attr", "test_images"));
	assert_false(name_is_chosen("train_attr", "train_attr", "test_images"));
}

static void test_files(void **state)
{
	(void)state;
	assert_true(names_are_pair("level_2_split_train_x.h5", "level_2_split_train_y.h5"));
	assert_false(names_are_pair("level_2_split_train_y.h5", "level_2_split_train_x.h5"));
	assert_false(names_are_pair("train_x.h5", "valid_y.h5"));
	assert_false(names_are_pair("train.h5", "val.h5"));
	assert_true(name_has_image_suffix("a/b.JPEG"));
	assert_false(name_has_image_suffix("jpeg"));
	assert_false(name_has_image_suffix("a.JPE"));
}

static const struct CMUnitTest tests[] = {
	unit_table(test_keys, keys, name),
	cmocka_unit_test(test_long_names),
	unit_table(test_roles, names, name),
	cmocka_unit_test(test_splits),
	cmocka_unit_test(test_files),
};

UNIT_MAIN_IN(tests, NULL, NULL)
