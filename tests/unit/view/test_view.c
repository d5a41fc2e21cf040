/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule that makes paths of samples. */
#include "unit.h"

#include <ctype.h>

#include "view/view_kit.h"
#include "base/log.h"

static const struct {
	const char *what, *script;
	enum view_kind view;
	const char *paths;
} views[] = {
	{ "no groups", "", VIEW_AUTO, "" },
	{ "labels", "train:images:targets:3:1,0,1", VIEW_AUTO,
	  "train/1/0.jpg train/0/1.jpg train/1/2.jpg" },
	{ "at the root", ":images:targets:2:4", VIEW_AUTO, "4/0.jpg 4/1.jpg" },
	{ "no labels", "train:images::2", VIEW_AUTO,
	  "train/images/0.jpg train/images/1.jpg" },
	{ "no labels at the root", ":images::1", VIEW_AUTO, "images/0.jpg" },
	{ "view=tree", "train:images:targets:2:5", VIEW_TREE,
	  "train/images/0.jpg train/images/1.jpg" },
	{ "view=tree at the root", ":images:targets:1:5", VIEW_TREE, "images/0.jpg" },
	{ "a split in a split", "a/b:images:t:1:0", VIEW_AUTO, "a/b/0/0.jpg" },
	{ "digits of labels", "t:i:l:3:5,100,17", VIEW_AUTO,
	  "t/005/0.jpg t/100/1.jpg t/017/2.jpg" },
	{ "digits of labels are those of all splits", "t:i:l:1:5 v:i:l:1:10", VIEW_AUTO,
	  "t/05/0.jpg v/10/0.jpg" },
	{ "and of all shards", "t:i:l:1:5|t:i:l:1:10", VIEW_AUTO,
	  "t/05/0.jpg | t/10/1.jpg" },
	{ "labels below 0 are none", "t:i:l:3:-1,0,7", VIEW_AUTO, "t/0.jpg t/0/1.jpg t/7/2.jpg" },
	{ "nor are they alone", "t:i:l:2:-1", VIEW_AUTO, "t/0.jpg t/1.jpg" },
	{ "but beside 1 alone", "t:i:l:2:-1,1 v:i:l:1:-1", VIEW_AUTO,
	  "t/-1/0.jpg t/01/1.jpg v/-1/0.jpg" },
	{ "the lowest and the highest",
	  "t:i:l:2:-9223372036854775807,9223372036854775807", VIEW_AUTO,
	  "t/0.jpg t/9223372036854775807/1.jpg" },
	{ "no label at all", "t:i:l:3:-9223372036854775808,-1,1", VIEW_AUTO,
	  "t/0.jpg t/-1/1.jpg t/01/2.jpg" },
	{ "fractions are no classes", "t:i:l:3:0.5,1,2", VIEW_AUTO,
	  "t/0/0.jpg t/1/1.jpg t/2/2.jpg" },
	{ "rows are counted on", "t:i:l:2:0|t:i:l:2:1|t:i:l:1:0", VIEW_AUTO,
	  "t/0/0.jpg t/0/1.jpg | t/1/2.jpg t/1/3.jpg | t/0/4.jpg" },
	{ "each split by itself", "t:i:l:2:0 v:i:l:1:0|v:i:l:1:0 t:i:l:1:0", VIEW_AUTO,
	  "t/0/0.jpg t/0/1.jpg v/0/0.jpg | v/0/1.jpg t/0/2.jpg" },
	{ "two arrays with labels in one split", "t:a:l:2:0 t:b:m:1:0", VIEW_AUTO,
	  "t/a/0/0.jpg t/a/0/1.jpg t/b/0/0.jpg" },
	{ "and each in another shard", "t:a:l:1:0|t:b:l:1:0", VIEW_AUTO,
	  "t/a/0/0.jpg | t/b/0/0.jpg" },
	{ "labels that one shard does not have", "t:a:l:1:0|t:a::1", VIEW_AUTO,
	  "t/a/0.jpg | t/a/1.jpg" },
	{ "labels of another column in one shard", "t:i:l:1:0|t:i:c:1:0|t:i:l:1:1", VIEW_AUTO,
	  "t/i/0.jpg | t/i/1.jpg | t/i/2.jpg" },
	{ "a column in one shard, names in another", "t:i:l:1:0|t:i:c:1:@a", VIEW_AUTO,
	  "t/i/0.jpg | t/i/1.jpg" },
	{ "another column in a shard without rows", "t:i:l:1:0|t:i:c:0|t:i:l:1:1", VIEW_AUTO,
	  "t/0/0.jpg | | t/1/1.jpg" },
	{ "and in the first one", "t:i:c:0|t:i:l:1:0|t:i:l:1:1", VIEW_AUTO,
	  "| t/0/0.jpg | t/1/1.jpg" },
	{ "two arrays without", "t:a::1 t:b::1|t:a::1", VIEW_AUTO,
	  "t/a/0.jpg t/b/0.jpg | t/a/1.jpg" },
	{ "with and without", "t:a:l:1:3 t:b::1", VIEW_AUTO, "t/3/0.jpg t/b/0.jpg" },
	{ "no rows", "t:i:l:0", VIEW_AUTO, "" },
	{ "no rows in one shard", "t:i:l:0|t:i:l:1:4", VIEW_AUTO, "| t/4/0.jpg" },
	{ "ten rows are one digit", ":i::10", VIEW_AUTO,
	  "i/0.jpg i/1.jpg i/2.jpg i/3.jpg i/4.jpg i/5.jpg i/6.jpg i/7.jpg i/8.jpg i/9.jpg" },
	{ "eleven are two, in the small split too", "v:i::1|t:i::6|t:i::5", VIEW_AUTO,
	  "v/i/00.jpg | t/i/00.jpg t/i/01.jpg t/i/02.jpg t/i/03.jpg t/i/04.jpg "
	  "t/i/05.jpg | t/i/06.jpg t/i/07.jpg t/i/08.jpg t/i/09.jpg t/i/10.jpg" },
};

static void test_paths(void **state)
{
	(void)state;
	log_level_now = LOG_LEVEL_ERROR; /* no warnings of missing labels */
	for (size_t i = 0; i < COUNT(views); i++) {
		struct run run = kit_run(views[i].script, views[i].view);
		char *paths = kit_paths(&run);

		if (strcmp(paths, views[i].paths) != 0)
			fail_msg("%s: %s", views[i].what, paths);
		free(paths);
		kit_end(&run);
	}
}

static void test_a_file_is_as_its_source(void **state)
{
	struct samples *samples = samples_new();
	struct sample_group group = { .split = "", .name = "i",
					      .extension = "png", .rows = 2 };
	struct view *view = view_new(&(struct view_config){ .kind = VIEW_AUTO });
	struct entries *log = entries_new();
	const struct entry *file;

	(void)state;
	samples_begin(samples, &group);
	samples_add(samples, &(struct sample){ .body = { 77, 5, 3 } });
	samples_add(samples, &(struct sample){ .body = { 99, 0, 9 } });
	assert_int_equal(view_measure(view, samples, "file"), 0);
	assert_int_equal(view_seal(view, NULL), 0);
	assert_int_equal(view_apply(view, samples, &kit_owner, log), 0);
	file = entries_get(log, 0);
	assert_int_equal(file->kind, ENTRY_FILE);
	assert_string_equal(file->path, "i/0.png");
	assert_int_equal(file->mode, 0640); /* and not to be executed */
	assert_int_equal(file->uid, 11);
	assert_int_equal(file->gid, 22);
	assert_int_equal(file->mtime, 1234567);
	assert_int_equal(file->mtime_ns, 89);
	assert_int_equal(file->size, 5);
	assert_int_equal(file->extent_count, 1);
	assert_int_equal(file->extents[0].offset, 77);
	assert_int_equal(file->extents[0].length, 5);
	assert_int_equal(file->extents[0].volume, 3);
	assert_int_equal(file->extents[0].file_offset, 0);
	file = entries_get(log, 1); /* an empty row: a file without an extent */
	assert_int_equal(file->size, 0);
	assert_int_equal(file->extent_count, 0);
	view_free(view);
	samples_free(samples);
	entries_free(log);
}

static void test_entries_with_names_are_left_alone(void **state)
{
	struct entries *log = entries_new();
	struct samples *none = samples_new();
	struct view *view = view_new(&(struct view_config){ .kind = VIEW_AUTO });
	struct index_summary summary = { .classes = 99 };

	(void)state;
	assert_int_equal(entries_add(log, &(struct entry){ .kind = ENTRY_FILE,
							   .path = "own/name" }), 0);
	assert_int_equal(view_measure(view, none, "file"), 0);
	assert_int_equal(view_seal(view, NULL), 0);
	assert_int_equal(view_apply(view, none, &kit_owner, log), 0);
	assert_int_equal(entries_count(log), 1);
	assert_string_equal(entries_get(log, 0)->path, "own/name");
	view_describe(view, &summary);
	assert_string_equal(summary.names, "as in the archive");
	assert_string_equal(summary.labels, "the directories");
	assert_int_equal(summary.classes, 0);
	view_free(view);
	samples_free(none);
	entries_free(log);
}

static const struct {
	const char *script;
	enum view_kind view;
	const char *labels;
	uint64_t classes;
} descriptions[] = {
	{ "train:i:targets:3:4,2,4", VIEW_AUTO, "/train/targets: 2 to 4; classes=FILE gives names", 2 },
	{ ":i:y:2:-1,1", VIEW_AUTO, "/y: -1 to 1; classes=FILE gives names", 2 },
	{ "train:i:t:1:0|val:i:t:2:1,2", VIEW_AUTO, "/train/t, /val/t: 0 to 2; classes=FILE gives names", 3 },
	{ "train:i:t:1:0|train:i:t:1:9", VIEW_AUTO, "/train/t: 0 to 9; classes=FILE gives names", 2 },
	{ "train:i::3", VIEW_AUTO, "none in the file; labels=NAME says what holds some", 0 },
	{ "train:i:t:3:1", VIEW_TREE, "none (view=tree)", 0 },
	{ "train:i:t:0", VIEW_AUTO, "none in the file; labels=NAME says what holds some", 0 },
	{ "train:i:t:1:7 extra:i::1", VIEW_AUTO, "/train/t: 7 only; classes=FILE gives names", 1 },
};

static void test_descriptions(void **state)
{
	size_t i = unit_row(state);
	struct run run = kit_run(descriptions[i].script, descriptions[i].view);
	struct index_summary summary = { 0 };

	view_describe(run.view, &summary);
	assert_non_null(strstr(summary.names,
			       "made from row numbers: the file holds no names"));
	assert_true(!strstr(summary.names, "; names=FILE gives some") ==
		    (strstr(descriptions[i].script, ":0") != NULL &&
		     summary.classes == 0));
	assert_string_equal(summary.labels, descriptions[i].labels);
	assert_int_equal(summary.classes, descriptions[i].classes);
	kit_end(&run);
}

/* Cut off where there is no more room; the text behind it is not touched. */
static void test_long_descriptions_are_cut(void **state)
{
	(void)state;
	for (unsigned n = 1; n < 300; n++) {
		char script[1024];
		struct index_summary summary;
		struct run run;

		snprintf(script, sizeof(script),
			 "%0*u:i:t:2:1000000000000000000,9223372036854775807 "
			 "v%0*u:i:t:1:1000000000000000000", (int)n, 1U, (int)n, 2U);
		run = kit_run(script, VIEW_AUTO);
		memset(&summary, 'x', sizeof(summary));
		view_describe(run.view, &summary);
		assert_true(memchr(summary.labels, '\0', sizeof(summary.labels)) != NULL);
		assert_true(memchr(summary.names, '\0', sizeof(summary.names)) != NULL);
		assert_int_equal(summary.options[0], 'x');
		assert_non_null(strstr(summary.labels,
				       ": 1000000000000000000 to 9223372036854775807"));
		assert_true(isdigit((unsigned char)summary.labels[1]));
		kit_end(&run);
	}
}

static const struct {
	const char *script, *said; /* NULL: nothing */
} shifts[] = {
	{ "t:i:l:3:0,1,2 v:i:l:3:2,1,0", NULL },
	{ "t:i:l:3:0,1,2 v:i:l:2:0,2", "/v has rows of only 2 of the 3 labels" },
	{ "t:i:l:2:1,2", "the 2 labels are not 0 to 1" },
	{ "t:i:l:2:0,2", "the 2 labels are not 0 to 1" },
	{ "t:i:l:2:-1,0", NULL },
	{ "t:i:l:2:-1,1", "the 2 labels are not 0 to 1" },
	{ "t:i:l:2:0,1 v:i::5", NULL },
	/* -1 is no label */
	{ "t:i:l:2:0,1 v:i:l:2:-1", NULL },
	{ "t:i:l:2:0,1 u:i:l:1:-1 v:i:l:1:1", "/v has rows of only 1 of the 2 labels" },
	{ "t:i:l:2:1,2 v:i:l:2:-1", "the 2 labels are not 0 to 1" },
	{ "t:i:l:2:cat,0", "some labels are numbers, and others names" },
	{ "t:i:l:2:0,1|t:i::2", "'i' in '/t' has labels in some of the files only" },
	{ "t:i:l:2:0,1|t:i:c:2:0,1", "'i' in '/t' has its labels in 'l' of 'the/file', and in 'c' of "
				     "'the/file': its rows are shown without; labels=NAME" },
};

static void warn_about(void *script)
{
	struct run run;

	log_level_now = LOG_LEVEL_WARN;
	run = kit_run(script, VIEW_AUTO);
	kit_end(&run);
	log_level_now = LOG_LEVEL_ERROR;
}

/* ImageFolder numbers directories: where these are not the labels, that is said. */
static void test_labels_that_a_loader_would_shift(void **state)
{
	size_t i = unit_row(state);
	char *said = unit_stderr_of(warn_about, (void *)(uintptr_t)shifts[i].script);

	if (shifts[i].said)
		assert_non_null(strstr(said, shifts[i].said));
	else
		assert_string_equal(said, "");
	free(said);
}

static const struct CMUnitTest view[] = {
	unit_table(test_labels_that_a_loader_would_shift, shifts, script),
	cmocka_unit_test(test_paths),
	cmocka_unit_test(test_a_file_is_as_its_source),
	cmocka_unit_test(test_entries_with_names_are_left_alone),
	unit_table(test_descriptions, descriptions, script),
	cmocka_unit_test(test_long_descriptions_are_cut),
};

UNIT_MAIN(view)
