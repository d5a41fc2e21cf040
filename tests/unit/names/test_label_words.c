/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of arrays of images and of labels. */
#include "unit.h"

#include "names/column_titles.h"
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
	assert_int_equal(name_has_image_word(names[i].name), names[i].images);
	assert_int_equal(name_has_label_word(names[i].name), names[i].labels);
	assert_int_equal(name_may_label_any(names[i].name), names[i].any);
}

static void test_splits(void **state)
{
	(void)state;
	assert_true(names_splits_agree("labels", "train_x"));
	assert_true(names_splits_agree("val_labels", "validation_images"));
	assert_false(names_splits_agree("trainY", "testX"));
	assert_true(name_is_chosen("attr", "attr", "images"));
	assert_true(name_is_chosen("train_attr", "attr", "train_images"));
	assert_false(name_is_chosen("train_attr", "attr", "test_images"));
	assert_false(name_is_chosen("train_attr", "train_attr", "test_images"));
	assert_true(name_may_say_split("split"));
	assert_true(name_may_say_split("is_train"));
	assert_true(name_may_say_split("test_mask"));
	assert_true(name_may_say_split("Data Set"));
	assert_true(name_may_say_split("fold"));
	assert_true(name_may_say_split("train"));
	assert_true(name_may_say_split("train_or_test"));
	assert_false(name_may_say_split("x_train"));
	assert_false(name_may_say_split("train_labels"));
	assert_false(name_may_say_split("mask"));
}

static const struct {
	const char *name, *split; /* "": it is no list */
} lists[] = {
	{ "train_idx", "train" }, { "test", "test" }, { "split/val", "val" },
	{ "splits/train_idx", "train" }, { "splits/0/train", "train" },
	{ "splits/train/0", "train" }, { "fold_0/train", "train" }, { "cv/3/trn_rows", "trn" },
	{ "train_idx_0", "train" }, { "train_0", "" }, { "train_fold", "" }, { "fold_0", "" },
	{ "x/train", "" }, { "train_labels", "" }, { "train/test", "" }, { "splits", "" },
};

static void test_lists(void **state)
{
	size_t i = unit_row(state);
	char split[SPLIT_BYTES];
	bool is = name_is_split_list(lists[i].name, split);

	assert_int_equal(is, *lists[i].split != 0);
	if (is)
		assert_string_equal(split, lists[i].split);
}

static void test_files(void **state)
{
	static const struct {
		const char *images, *labels;
		bool pair;
	} files[] = {
		{ "level_2_split_train_x.h5", "level_2_split_train_y.h5", true },
		{ "level_2_split_train_y.h5", "level_2_split_train_x.h5", false },
		{ "train_x.h5", "valid_y.h5", false },
		{ "train.h5", "val.h5", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		char one[NAME_KEY_BYTES], two[NAME_KEY_BYTES];
		bool pair = name_pair(files[i].images, one) == NAME_PAIR_IMAGES &&
			    name_pair(files[i].labels, two) == NAME_PAIR_LABELS &&
			    strcmp(one, two) == 0;

		assert_int_equal(pair, files[i].pair);
	}
}

static const struct {
	const char *suffix;
	unsigned is, not;
} suffixes[] = {
	{ "JPEG", SUFFIX_IMAGE | SUFFIX_LOADED | SUFFIX_DECODED, SUFFIX_SURE },
	{ "jfif", SUFFIX_IMAGE | SUFFIX_DECODED, SUFFIX_LOADED },
	{ "gif", SUFFIX_IMAGE | SUFFIX_SURE, SUFFIX_LOADED },
	{ "bmp", SUFFIX_LOADED, SUFFIX_SURE | SUFFIX_DECODED },
	{ "img", SUFFIX_VAGUE, SUFFIX_IMAGE },
	{ "npy", SUFFIX_ARRAY, SUFFIX_IMAGE },
	{ "txt", 0, ~0U },
	{ "", 0, ~0U },
};

static void test_suffixes(void **state)
{
	size_t i = unit_row(state);
	unsigned is = image_suffix(suffixes[i].suffix);

	if ((is & suffixes[i].is) != suffixes[i].is || is & suffixes[i].not)
		fail_msg("%s: %u", suffixes[i].suffix, is);
}

static const struct {
	enum title_role role;
	const char *title, *before; /* another one that is less usual; NULL: no title */
} titles[] = {
	{ TITLE_LABEL, "Label", "class_id" },
	{ TITLE_LABEL, "CLASS", "wnid" },
	{ TITLE_LABEL, "weight", NULL },
	{ TITLE_LABEL, "la.bel", NULL },
	{ TITLE_FILE, "File Name", "id" },
	{ TITLE_FILE, "label", NULL },
	{ TITLE_CLASS_NUMBER, "Class-Id", "" },
	{ TITLE_CLASS_NAME, "sign_name", "wnid" },
};

static void test_titles(void **state)
{
	size_t i = unit_row(state);
	const char *title = titles[i].title, *other = titles[i].before;
	int rank = title_rank(titles[i].role, title, strlen(title));

	if (other ? rank < 0 || rank >= title_rank(titles[i].role, other, strlen(other)) :
		    rank >= 0)
		fail_msg("%s: %d", title, rank);
}

static void test_title_words(void **state)
{
	(void)state;
	assert_true(name_has_image_suffix("a/b.JPEG", SUFFIX_LOADED));
	assert_false(name_has_image_suffix("a/b.JPEG", SUFFIX_ARRAY));
	assert_false(name_has_image_suffix("jpeg", SUFFIX_IMAGE));
	assert_true(title_ends_as_number("sign_id", 7));
	assert_false(title_ends_as_number("sign", 4));
	assert_string_equal(title_of_class_list(0), "id2label");
	assert_int_equal(name_class_list_rank("names"), -1);
	assert_true(name_class_list_rank("class_names") < name_class_list_rank("categories"));
}

static const struct CMUnitTest tests[] = {
	unit_table(test_keys, keys, name),
	cmocka_unit_test(test_long_names),
	unit_table(test_roles, names, name),
	cmocka_unit_test(test_splits),
	unit_table(test_lists, lists, name),
	cmocka_unit_test(test_files),
	unit_table(test_suffixes, suffixes, suffix),
	unit_table(test_titles, titles, title),
	cmocka_unit_test(test_title_words),
};

UNIT_MAIN_IN(tests, NULL, NULL)
