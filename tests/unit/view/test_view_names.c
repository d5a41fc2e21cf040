/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names and classes that samples, lists and maps have. */
#include "unit.h"

#include "told.h"
#include "view/view_kit.h"
#include "base/log.h"

#define A250 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/*
 * `classes` is a list, one a line; `map` and `other` are JSON. `paths` is what comes of
 * it, or a part of the error where it begins with a `!`.
 */
static const struct {
	const char *what, *script;
	enum view_kind view;
	const char *classes, *map, *other, *paths;
} cases[] = {
	{ "names and labels", "t:i:l:2:1,0:a.jpg,b.png", VIEW_AUTO, NULL, NULL, NULL,
	  "t/1/a.jpg t/0/b.png" },
	{ "directories that are classes", "t:i:l:3:1,0,1:x/a.jpg,y/b.jpg,z/x/c.jpg",
	  VIEW_AUTO, NULL, NULL, NULL, "t/x/a.jpg t/y/b.jpg t/z/x/c.jpg" },
	{ "and texts", "t:i:l:2:cat,dog:x/a.jpg,y/b.jpg", VIEW_AUTO, NULL, NULL, NULL,
	  "t/x/a.jpg t/y/b.jpg" },
	{ "unless asked for", "t:i:l:2:1,0:x/a.jpg,y/b.jpg", VIEW_CLASS, NULL, NULL, NULL,
	  "t/1/x/a.jpg t/0/y/b.jpg" },
	{ "two classes in one directory", "t:i:l:2:1,0:x/a.jpg,x/b.jpg", VIEW_AUTO, NULL,
	  NULL, NULL, "t/1/x/a.jpg t/0/x/b.jpg" },
	{ "one class in two", "t:i:l:2:1:x/a.jpg,y/b.jpg", VIEW_AUTO, NULL, NULL, NULL,
	  "t/1/x/a.jpg t/1/y/b.jpg" },
	{ "one without a directory", "t:i:l:2:1,0:x/a.jpg,b.jpg", VIEW_AUTO, NULL, NULL, NULL,
	  "t/1/x/a.jpg t/0/b.jpg" },
	{ "names in view=tree", "t:i:l:2:1,0:a.jpg,b.jpg", VIEW_TREE, NULL, NULL, NULL,
	  "t/a.jpg t/b.jpg" },
	{ "names without labels", "t:i::2::a.jpg,b.jpg", VIEW_AUTO, NULL, NULL, NULL,
	  "t/a.jpg t/b.jpg" },
	{ "two arrays with names", "t:i::1::a.jpg t:m::1::a.jpg", VIEW_AUTO, NULL, NULL,
	  NULL, "t/i/a.jpg t/m/a.jpg" },
	{ "one without a name", "t:i:l:2:0:a.jpg,", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0/a.jpg t/0/1.jpg" },
	{ "and without labels", "t:i::2::a.jpg,", VIEW_AUTO, NULL, NULL, NULL,
	  "t/a.jpg t/i/1.jpg" },
	{ "texts are classes", "t:i:l:3:cat,dog,cat", VIEW_AUTO, NULL, NULL, NULL,
	  "t/cat/0.jpg t/dog/1.jpg t/cat/2.jpg" },
	{ "arrays are classes", ":cat:n:1:@cat :dog:n:2:@dog", VIEW_AUTO, NULL, NULL, NULL,
	  "cat/0.jpg dog/0.jpg dog/1.jpg" },
	{ "with a split", "t:cat:n:1:@cat t:dog:n:1:@dog", VIEW_AUTO, NULL, NULL, NULL,
	  "t/cat/0.jpg t/dog/0.jpg" },
	{ "beside labels", "t:cat:n:1:@cat t:i:l:1:3", VIEW_AUTO, NULL, NULL, NULL,
	  "t/cat/cat/0.jpg t/i/3/0.jpg" },
	{ "odd texts", "t:i:l:4:a/b,..,.,c", VIEW_AUTO, NULL, NULL, NULL,
	  "t/a_b/0.jpg t/_../1.jpg t/_./2.jpg t/c/3.jpg" },
	{ "the name that a mount has for itself", ":i:l:3:.granaryfs,.granaryfsx,c", VIEW_AUTO,
	  NULL, NULL, NULL, "_.granaryfs/0.jpg .granaryfsx/1.jpg c/2.jpg" },
	{ "of an array that is a class", ":.granaryfs:n:1:@.granaryfs :dog:n:1:@dog", VIEW_AUTO,
	  NULL, NULL, NULL, "_.granaryfs/0.jpg dog/0.jpg" },
	{ "odd texts that would be one", "t:i:l:2:a/b,a_b", VIEW_AUTO, NULL, NULL, NULL,
	  "!the/file: two classes would both be the directory 'a_b', 'a_b' and 'a/b' of 'l' in "
	  "'/t'; show" },
	{ "two of them", "t:i:l:2:a/b_c,a_b/c", VIEW_AUTO, NULL, NULL, NULL,
	  "!two classes would both be the directory 'a_b_c', 'a/b_c' and "
	  "'a_b/c' of 'l' in '/t'; show" },
	{ "but not in a tree", "t:i:l:2:a/b,a_b", VIEW_TREE, NULL, NULL, NULL,
	  "t/i/0.jpg t/i/1.jpg" },
	{ "a text that is too long", "t:i:l:1:" A250 "aaaaaa", VIEW_AUTO, NULL, NULL, NULL,
	  "!too long for a directory" },
	{ "odd names", "t:i:l:6:0:../a.jpg,/b.jpg,./c//d.jpg,..,e/,.", VIEW_CLASS, NULL, NULL,
	  NULL, "t/0/0.jpg t/0/b.jpg t/0/c/d.jpg t/0/3.jpg t/0/4.jpg t/0/5.jpg" },
	{ "a name that is too long", "t:i:l:1:0:" A250 "aaaaaa", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0/0.jpg" },
	/* names that come twice */
	{ "twice in a class", "t:i:l:3:0:a.jpg,b.jpg,a.jpg", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0/0-a.jpg t/0/1-b.jpg t/0/2-a.jpg" },
	{ "twice, in two classes", "t:i:l:2:0,1:a.jpg", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0/a.jpg t/1/a.jpg" },
	{ "twice in two shards", "t:i:l:1:0:a.jpg|t:i:l:1:0:a.jpg", VIEW_AUTO, NULL, NULL,
	  NULL, "t/0/0-a.jpg | t/0/1-a.jpg" },
	{ "twice in a tree", "t:i::2::x/a.jpg", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0-x_a.jpg t/1-x_a.jpg" },
	{ "one is the other's directory", "t:i::2::a,a/b", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0-a t/1-a_b" },
	{ "one is as a row", "t:i:l:2:0:1.jpg,", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0/0-1.jpg t/0/1.jpg" },
	{ "what lies beside still does", "t:i:l:4:0:a.cls,a.jpg|t:i:l:2:0:a.cls,a.jpg",
	  VIEW_CLASS, NULL, NULL, NULL,
	  "t/0/0-a.cls t/0/0-a.jpg t/0/2-a.cls t/0/2-a.jpg | t/0/4-a.cls t/0/4-a.jpg" },
	{ "unless that is not enough", "t:i:l:4:0:a.x,a.y,a.z,a.y", VIEW_CLASS, NULL, NULL,
	  NULL, "t/0/0-a.x t/0/1-a.y t/0/2-a.z t/0/3-a.y" },
	/* lists */
	{ "a list", "t:i:l:3:1,0,1", VIEW_AUTO, "cat\ndog\n", NULL, NULL,
	  "t/dog/0.jpg t/cat/1.jpg t/dog/2.jpg" },
	{ "a list that is too short", "t:i:l:3:1,2,0", VIEW_AUTO, "cat\ndog\n", NULL, NULL,
	  "!the list has no name for label 2, which 'i' in '/t' has" },
	{ "no list has -1", "t:i:l:2:-1,0", VIEW_AUTO, "cat\ndog\n", NULL, NULL,
	  "t/0.jpg t/cat/1.jpg" },
	{ "nor have the file's names", "t:i:l:2:-1,0::cat,dog", VIEW_AUTO,
	  NULL, NULL, NULL, "t/0.jpg t/cat/1.jpg" },
	{ "where it is a class, it needs one", "t:i:l:2:-1,1", VIEW_AUTO, "cat\ndog\n", NULL, NULL,
	  "!the list has no name for label -1" },
	{ "a split without labels", "t:i:l:2:1,0 v:i:l:1:-1", VIEW_AUTO, "cat\ndog\n", NULL, NULL,
	  "t/dog/0.jpg t/cat/1.jpg v/0.jpg" },
	{ "two with one name in the file", "t:i:l:2:0,1::a/b,a_b", VIEW_AUTO, NULL, NULL, NULL,
	  "t/0/0.jpg t/1/1.jpg" },
	{ "one of them is not there", "t:i:l:1:0::a/b,a_b", VIEW_AUTO, NULL, NULL, NULL,
	  "t/a_b/0.jpg" },
	{ "a list in a tree", "t:i:l:1:7", VIEW_TREE, "cat\n", NULL, NULL, "t/i/0.jpg" },
	{ "the file's names", "t:i:l:2:1,0::cat,dog", VIEW_AUTO, NULL, NULL, NULL,
	  "t/dog/0.jpg t/cat/1.jpg" },
	{ "which the list replaces", "t:i:l:2:1,0::cat,dog", VIEW_AUTO, "a\nb\n", NULL, NULL,
	  "t/b/0.jpg t/a/1.jpg" },
	{ "and are not used where one lacks", "t:i:l:2:1,0::cat,-", VIEW_AUTO, NULL, NULL,
	  NULL, "t/1/0.jpg t/0/1.jpg" },
	{ "nor where shards differ", "t:i:l:1:1::a,b|t:i:l:1:0::b,a", VIEW_AUTO, NULL, NULL,
	  NULL, "!the/file: label 0 is called 'b', and 'a' in 'the/file': mount each alone" },
	{ "nor where a shard has none", "t:i:l:1:1::a,b|t:i:l:1:0", VIEW_AUTO, NULL, NULL, NULL,
	  "t/1/0.jpg | t/0/1.jpg" },
	/* maps */
	{ "a map", "train:i:l:2:7,3", VIEW_AUTO, NULL,
	  "{\"x/train/n2/a.JPEG\": 7, \"x/train/n1/b.JPEG\": 3}", NULL,
	  "train/n2/a.JPEG train/n1/b.JPEG" },
	{ "val from train", "train:i:l:2:7,3 validation:i:l:2:3,7", VIEW_AUTO, NULL,
	  "{\"x/train/n2/a.JPEG\": 7, \"x/train/n1/b.JPEG\": 3}",
	  "{\"x/val/c.JPEG\": 3, \"x/val/d.JPEG\": 7}",
	  "train/n2/a.JPEG train/n1/b.JPEG validation/n1/c.JPEG validation/n2/d.JPEG" },
	{ "both in one map", "train:i:l:1:7 val:i:l:1:7", VIEW_AUTO, NULL,
	  "{\"x/train/n2/a.JPEG\": 7, \"x/val/b.JPEG\": 7}", NULL,
	  "train/n2/a.JPEG val/n2/b.JPEG" },
	{ "val alone has numbers", "val:i:l:2:10,7", VIEW_AUTO, NULL,
	  "{\"val/a.JPEG\": 10, \"val/b.JPEG\": 7}", NULL, "val/10/a.JPEG val/07/b.JPEG" },
	{ "or a list's names", "val:i:l:2:1,0", VIEW_AUTO, "cat\ndog\n",
	  "{\"val/a.JPEG\": 1, \"val/b.JPEG\": 0}", NULL, "val/dog/a.JPEG val/cat/b.JPEG" },
	{ "train without a map has numbers", "train:i:l:1:1 val:i:l:1:1", VIEW_AUTO, NULL,
	  "{\"val/a.JPEG\": 1}", NULL, "train/1/0.jpg val/1/a.JPEG" },
	{ "a map for another split", "train:i:l:1:1", VIEW_AUTO, NULL,
	  "{\"train/n/a.JPEG\": 1}", "{\"val/a.JPEG\": 1}", "train/n/a.JPEG" },
	{ "names only, in a tree", "train:i:l:1:1 val:i:l:1:1", VIEW_TREE, NULL,
	  "{\"x/train/n/a.JPEG\": 1, \"x/val/b.JPEG\": 1}", NULL,
	  "train/n/a.JPEG val/b.JPEG" },
	{ "labels that the dataset lacks", "train:i::2", VIEW_AUTO, NULL,
	  "{\"train/n/a.JPEG\": 1, \"train/m/b.JPEG\": 0}", NULL,
	  "train/n/a.JPEG train/m/b.JPEG" },
	{ "no splits", ":i:l:1:1", VIEW_AUTO, NULL, "{\"x/train/n/a.JPEG\": 1}", NULL,
	  "n/a.JPEG" },
	{ "no splits, and two maps", ":i:l:2:1", VIEW_AUTO, NULL, "{\"x/train/n/a.JPEG\": 1}",
	  "{\"m/a.JPEG\": 1, \"m/b.JPEG\": 1}", "m/a.JPEG m/b.JPEG" },
	{ "a class that is called as a split", "train:i:l:1:1", VIEW_AUTO, NULL,
	  "{\"train/train/a.JPEG\": 1}", NULL, "train/train/a.JPEG" },
	{ "a directory that is called as a split", "train:i:l:1:1", VIEW_AUTO, NULL,
	  "{\"train/x/train/n/a.JPEG\": 1}", NULL, "train/n/a.JPEG" },
	{ "names that come twice", "train:i:l:2:1", VIEW_AUTO, NULL,
	  "{\"a/train/n/a.JPEG\": 1, \"b/train/n/a.JPEG\": 1}", NULL,
	  "train/n/0-a.JPEG train/n/1-a.JPEG" },
	{ "shards", "train:i:l:1:1|train:i:l:1:0", VIEW_AUTO, NULL,
	  "{\"train/n/a.JPEG\": 1, \"train/m/b.JPEG\": 0}", NULL,
	  "train/n/a.JPEG | train/m/b.JPEG" },
	{ "another label", "train:i:l:2:7,3", VIEW_AUTO, NULL,
	  "{\"x/train/n2/a.JPEG\": 7, \"x/train/n2/b.JPEG\": 7}", NULL,
	  "!the map says of row 1 of '/train', 'x/train/n2/b.JPEG', that its label is 7, and "
	  "'l' that it is 3" },
	{ "another label of a name in the file", "t:i:l:2:7,3:a.jpeg,b.jpeg", VIEW_AUTO, NULL,
	  "{\"t/a.JPEG\": 7, \"t/b.JPEG\": 4}", NULL,
	  "!the map says of 'b.jpeg' in '/t' that its label is '4', and 'l' of the/file that it "
	  "is '3'; is it the map of another dataset?" },
	{ "another class", "t:i:l:2:cat,dog:a.jpg,b.jpg", VIEW_AUTO, NULL,
	  "{\"a.jpg\": \"cat\"}", "{\"b.jpg\": \"cat\"}",
	  "!the other says of 'b.jpg' in '/t' that its label is 'cat', and 'l' of the/file that "
	  "it is 'dog'" },
	{ "the same labels", "t:i:l:2:7,3:a.jpg,b.jpg", VIEW_AUTO, NULL,
	  "{\"x/t/a.JPEG\": 7, \"b\": 3}", NULL, "t/7/a.jpg t/3/b.jpg" },
	{ "names of another split, or directory", "t:i:l:2:7,3:a.jpg,f/b.jpg", VIEW_AUTO, NULL,
	  "{\"val/a.JPEG\": 6, \"t/g/b.jpg\": 4}", NULL, "t/7/a.jpg t/3/f/b.jpg" },
	{ "no label, in one of the two", "t:i:l:2:-1,3:a.jpg,b.jpg", VIEW_AUTO, NULL,
	  "{\"a\": 6, \"b\": -1}", NULL, "t/a.jpg t/3/b.jpg" },
	{ "other words for a class", "t:i:l:1:cat:a.jpg", VIEW_AUTO, NULL,
	  "{\"a\": \"n02121808\"}", NULL, "t/cat/a.jpg" },
	{ "words for a number", "t:i:l:1:3:a.jpg", VIEW_AUTO, NULL, "{\"a\": \"cat\"}", NULL,
	  "t/3/a.jpg" },
	{ "too few names", "train:i:l:2:7", VIEW_AUTO, NULL, "{\"train/n/a.JPEG\": 7}", NULL,
	  "!the map has 1 names for '/train', whose array 'i' has 2 rows" },
	{ "a label in two directories", "train:i:l:2:7", VIEW_AUTO, NULL,
	  "{\"train/n/a.JPEG\": 7, \"train/m/b.JPEG\": 7}", NULL,
	  "!label 7 is called 'm' (train/m/b.JPEG) and 'n' (train/n/a.JPEG)" },
	{ "a directory of two labels", "train:i:l:2:7,8", VIEW_AUTO, NULL,
	  "{\"train/n/a.JPEG\": 7, \"train/n/b.JPEG\": 8}", NULL,
	  "!the labels 7 and 8 of '/train' would both be called 'n'" },
	{ "a label of val that train lacks", "train:i:l:1:7 val:i:l:1:8", VIEW_AUTO, NULL,
	  "{\"train/n/a.JPEG\": 7, \"val/b.JPEG\": 8}", NULL,
	  "!no path in the maps of -o names= says what label 8 of '/val' is called" },
};

static struct name_map *map_of(const char *text)
{
	struct name_map *map = NULL;
	struct error e;

	if (text && name_map_read(text, strlen(text), "a.json", NULL, &map, &e) < 0)
		fail_msg("%s", e.text);
	return map;
}

static struct class_list *list_of(const char *text)
{
	struct class_list *list = NULL;
	struct error e;

	if (text && class_list_read(text, strlen(text), "a list", &list, &e) < 0)
		fail_msg("%s", e.text);
	return list;
}

static void check_case(size_t i)
{
	struct class_list *list = list_of(cases[i].classes);
	struct view_map maps[] = { { map_of(cases[i].map), "the map" },
				   { map_of(cases[i].other), "the other" } };
	const struct view_config config = {
		.kind = cases[i].view, .classes = list, .classes_path = "the list",
		.names = maps, .name_count = !cases[i].map ? 0 : !cases[i].other ? 1 : 2,
	};
	struct run run = kit_run_with(cases[i].script, &config);
	const char *wanted = cases[i].paths;
	char *paths = run.err ? strdup(run.why.text) : kit_paths(&run);

	if (*wanted == '!' ? !run.err || !strstr(paths, wanted + 1) :
			     run.err || strcmp(paths, wanted) != 0)
		fail_msg("%s: %s", cases[i].what, paths);
	free(paths);
	kit_end(&run);
	class_list_free(list);
	for (size_t k = 0; k < config.name_count; k++)
		name_map_free((struct name_map *)(uintptr_t)maps[k].map);
}

static void test_cases(void **state)
{
	size_t i = unit_row(state);
	log_level_now = LOG_LEVEL_ERROR;
	check_case(i);
}

/* Names in an order that is not their labels', as ImageFolder sees it. */
static void warn(void *order)
{
	const char *text = order;
	struct class_list *list = list_of(text);
	struct run run;

	log_level_now = LOG_LEVEL_WARN;
	run = kit_run_with("t:i:l:2:0,1", &(struct view_config){ .kind = VIEW_AUTO,
								 .classes = list });
	kit_end(&run);
	log_level_now = LOG_LEVEL_ERROR;
	class_list_free(list);
}

/* A map that no row is asked for in, or finds itself in. */
static void warn_of_map(void *script)
{
	const struct view_map map = { map_of("{\"x/a.jpg\": 0}"), "x.json" };
	struct view_config config = { .kind = VIEW_AUTO, .names = &map, .name_count = 1 };
	struct run run;

	log_level_now = LOG_LEVEL_WARN;
	run = kit_run_with(script, &config);
	kit_end(&run);
	log_level_now = LOG_LEVEL_ERROR;
	name_map_free((struct name_map *)(uintptr_t)map.map);
}

static const char *const runs[][2] = {
	{ "x:i:l:1:0", "" },
	{ "t:i:l:1:0", "names= does nothing here: no row gets a name from it" },
	{ "x:i:l:1:0:b.jpg",
	  "names= does nothing here: the rows have names and labels in the file" },
};

static void test_maps_without_effect_are_said(void **state)
{
	size_t i = unit_row(state);
	char *said = unit_stderr_of(warn_of_map, (void *)(uintptr_t)runs[i][0]);

	if (*runs[i][1] ? !strstr(said, runs[i][1]) : *said)
		fail_msg("%s: %s", runs[i][0], said);
	free(said);
}

static void test_names_that_are_not_in_order_are_said(void **state)
{
	char ascending[] = "a\nb\n", descending[] = "b\na\n", *said;

	(void)state;
	said = unit_stderr_of(warn, ascending);
	assert_string_equal(said, "");
	free(said);
	said = unit_stderr_of(warn, descending);
	assert_non_null(strstr(said, "label 0 is called 'b' and label 1 'a'"));
	assert_non_null(strstr(said, "-o classes=FILE of names that sort as the labels do"));
	free(said);
}

static const struct {
	const char *script;
	enum view_kind view;
	const char *said_of_view, *names, *labels, *notes;
	size_t classes;
} descriptions[] = {
	{ "t:i:l:2:1,0:a.jpg", VIEW_AUTO, "class (auto: the samples have labels)",
	  "from the file", "/t/l: 0 to 1; classes=FILE gives names", "", 2 },
	{ "t:i:l:2:1,0:x/a.jpg,y/b", VIEW_AUTO, "tree (auto: the names have a directory for",
	  "from the file", "none are looked at", "", 0 },
	{ "t:i:l:2:cat,dog", VIEW_CLASS, "class (view=class)", "made from row numbers",
	  "/t/l: 2 classes", "", 2 },
	{ "t:i:l:3:cat,-9223372036854775808,dog", VIEW_AUTO, "class (auto", "made from row numbers",
	  "/t/l: 2 classes",
	  "in '/t' 1 of 3 files have no label (empty, null, NaN or below 0): they lie beside the "
	  "directories of classes, where ImageFolder does not see them", 2 },
	{ "t:cat:names:1:@cat v:cat:names:1:@cat", VIEW_AUTO, "class (auto",
	  "made from row numbers", "names: 1 class", "", 1 },
	{ "t:i:l:1:cat t:k:l:1:cat t:m:m:1:cat", VIEW_AUTO, "class (auto",
	  "made from row numbers", "/t/l, /t/m: 1 class", "", 1 },
	{ "t:i:l:2:1,0::cat,dog", VIEW_AUTO, "class (auto", "made from row numbers",
	  "/t/l: 0 to 1, called as the file says", "", 2 },
	{ "t:i:l:2:1:a.jpg", VIEW_AUTO, "class", "from the file", "/t/l: 1 only; classes=FILE gives names",
	  "the only label is 1: ImageFolder's class number is 0\n"
	  "in '/t' names come more than once: each has the number of its row before it", 1 },
	{ "t:i:l:2:1,0::dog,cat", VIEW_AUTO, "class (auto", "made from row numbers",
	  "/t/l: 0 to 1, called as the file says", "label 0 is called 'dog' and label 1 'cat': "
	  "ImageFolder numbers classes by their names, so its numbers are others; -o "
	  "classes=FILE of names that sort as the labels do, such as 0000, 0001 (one a line), "
	  "keeps them", 2 },
	{ "t:i:l:2:1,0::zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz,yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
	  VIEW_AUTO, "class (auto", "made from row numbers",
	  "/t/l: 0 to 1, called as the file says",
	  "label 0 is called 'zzzzzzzzzzzzzzzzzzzz' and label 1 "
	  "'yyyyyyyyyyyyyyyyyyyy': ImageFolder numbers classes by their names, so its "
	  "numbers are others; -o classes=FILE of names that sort as the labels do, such as 0000, "
	  "0001 (one a line), keeps them", 2 },
	{ "t:i::1", VIEW_ARRAYS, "arrays (view=arrays)", "made from row numbers",
	  "none in the file; labels=NAME says what holds some", "", 0 },
	{ "t:i::3::a.jpg,..,", VIEW_CLASS, "tree (view=class: the samples have no labels)",
	  "from the file; row numbers where there are none",
	  "none in the file; labels=NAME says what holds some",
	  "in '/t' 1 names can be no file's: these rows have their numbers", 0 },
};

static void test_descriptions(void **state)
{
	size_t i = unit_row(state);
	struct run run = kit_run(descriptions[i].script, descriptions[i].view);
	struct index_summary s = { 0 };
	char *notes;

	view_describe(run.view, &s);
	notes = told(run.findings);
	if (!strstr(s.view, descriptions[i].said_of_view) ||
	    strncmp(s.names, descriptions[i].names, strlen(descriptions[i].names)) ||
	    (strcmp(s.labels, "/t/l: 2 classes") == 0 && strstr(s.names, "names=")) ||
	    strcmp(s.labels, descriptions[i].labels) ||
	    strcmp(notes, descriptions[i].notes) || s.classes != descriptions[i].classes)
		fail_msg("%s: %s; %s; %s; %s; %zu", descriptions[i].script, s.view,
			 s.names, s.labels, notes, (size_t)s.classes);
	free(notes);
	kit_end(&run);
}

static const struct CMUnitTest names[] = {
	unit_table(test_cases, cases, what),
	cmocka_unit_test(test_names_that_are_not_in_order_are_said),
	unit_texts(test_maps_without_effect_are_said, runs),
	unit_table(test_descriptions, descriptions, script),
};

UNIT_MAIN(names)

