/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings about shards of WebDataset, and about sets of them. */
#include "unit.h"

#include <errno.h>

#include "samples/wds_kit.h"
#include "samples/wds_report.h"
#include "told.h"

/* In the order of `ls *.jpg *.cls`, and with labels for some. */
static void test_a_shard_that_stays_says_why(void **state)
{
	static const struct member apart[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("b.jpg", "B"), FILE_OF("a.cls", "1"),
		FILE_OF("b.cls", "2"),
	};
	static const struct member few[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"), FILE_OF("b.jpg", "B"),
		FILE_OF("c.jpg", "C"),
	};
	static const struct member latex[] = {
		FILE_OF("a.cls", "\\x"), FILE_OF("a.tex", "A"), FILE_OF("b.tex", "B"),
		FILE_OF("c.tex", "C"), FILE_OF("d.cls", "\\x"), FILE_OF("e.jpg", "E"),
		FILE_OF("d.tex", "D"),
	};
	struct webdataset_config classes = { .classes = true }, labels = { .labels = "cls" };
	struct shard shard;

	(void)state;
	EXPECT(few, PLAIN, "-a.cls=1 -a.jpg=A -b.jpg=B -c.jpg=C ",
	       "'shard.tar' is shown as it is stored: only 1 of 3 samples have a label in .cls "
	       "('b' has none)");
	shard = kit_take("shard.tar", &classes);
	assert_int_equal(shard.result, -EBADMSG);
	kit_drop(&shard);
	EXPECT(apart, PLAIN, "-a.jpg=A -b.jpg=B -a.cls=1 -b.cls=2 ",
	       "the members of 'a' do not lie side by side");
	shard = kit_take("shard.tar", &labels);
	assert_int_equal(shard.result, -EBADMSG);
	assert_non_null(strstr(shard.error.text, "tar --sort=name"));
	kit_drop(&shard);
	EXPECT(latex, PLAIN, "-a.cls=\\x -a.tex=A -b.tex=B -c.tex=C -d.cls=\\x -e.jpg=E "
	       "-d.tex=D ", NULL);
}

/* Shards of a set: what they are called, which split they are, what they hold. */
struct set {
	size_t n;
	const char *splits[3];
	const struct member *members[3];
	size_t counts[3];
	const char *notes; /* of wds_report, until the next set is run */
};

static char noted[FINDINGS_BYTES_MOST];

static void run_set(void *argument)
{
	static const char *const paths[] = { "x0.tar", "d/x1.tar", "d/x2.tar" };
	struct wds_shard list[3];
	struct set *set = argument;
	struct shard shards[3];
	struct findings found = { 0 };
	char *notes;

	unit_shell("mkdir -p d");
	for (size_t i = 0; i < set->n; i++) {
		struct webdataset_config config = { .split = set->splits[i] };

		kit_write_tar(paths[i], set->members[i], set->counts[i]);
		shards[i] = kit_take(paths[i], &config);
		assert_int_equal(shards[i].result, 0);
		list[i] = (struct wds_shard){ &shards[i].scan, &shards[i].findings };
	}
	wds_report(list, set->n, &found);
	notes = told(&found);
	snprintf(noted, sizeof(noted), "%s", notes);
	free(notes);
	set->notes = noted;
	for (size_t i = 0; i < set->n; i++)
		kit_drop(&shards[i]);
}

/* The note about a shard, and whether it is a warning too; NULL: neither. */
static void expect_note(const struct member *members, size_t n, const char *word, bool warned)
{
	struct set set = { 1, { NULL }, { members }, { n }, NULL };
	char *said = unit_stderr_of(run_set, &set);

	if (word && !strstr(set.notes, word))
		fail_msg("noted: %s", set.notes);
	if (!word)
		assert_string_equal(set.notes, "");
	assert_int_equal(*said != '\0', warned);
	free(said);
}

#define EXPECT_NOTE(members, word, warned) expect_note(members, COUNT(members), word, warned)

static void test_labels_that_are_elsewhere_are_hinted_at(void **state)
{
	static const struct member wnids[] = {
		FILE_OF("n01440764_1.JPEG", "A"), FILE_OF("d/n01443537_2.JPEG", "B"),
	};
	static const struct member some_wnids[] = {
		FILE_OF("n01440764_1.JPEG", "A"), FILE_OF("x.JPEG", "B"),
	};
	static const struct member directories[] = {
		FILE_OF("n01440764/n01440764_1.JPEG", "A"), FILE_OF("x/1.JPEG", "B"),
		FILE_OF("x/n01440764/n01440764_2.JPEG", "A"),
	};
	static const struct member target[] = {
		FILE_OF("a.image.jpg", "A"), FILE_OF("a.target.cls", "1\n"),
		FILE_OF("b.image.jpg", "B"), FILE_OF("b.target.cls", "0"),
	};
	static const struct member pairs[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.coarse.cls", "1"), FILE_OF("a.fine.cls", "5"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.coarse.cls", "1"), FILE_OF("b.fine.cls", "6"),
	};
	static const struct member id[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.id", "1"), FILE_OF("b.jpg", "A"),
		FILE_OF("b.id", "1"), FILE_OF("c.jpg", "A"), FILE_OF("c.id", "2"),
	};
	static const struct member words[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.class", "1"), FILE_OF("b.jpg", "B"),
		FILE_OF("b.class", "x"),
	};
	static const struct member item[] = {
		FILE_OF("a.jpg", "A"),
		FILE_OF("a.json", "{\"category_id\": 3, \"f\": 0.5, \"name\": \"x\", \"n\": []}"),
	};
	static const struct member items[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"kind\": 3, \"n\": 1, \"x,y\": 3}"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"kind\": 4, \"n\": 2, \"x,y\": 4}"),
		FILE_OF("c.jpg", "C"), FILE_OF("c.json", "{\"kind\": 3, \"n\": 3, \"x,y\": 3}"),
	};
	static const struct member null[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": null, \"target\": 3}"),
	};
	static const struct member dots[] = {
		FILE_OF("d/a.1.jpg", "A"), FILE_OF("d/a.1.cls", "1"), FILE_OF("d/a.2.jpg", "B"),
		FILE_OF("d/a.2.cls", "2"),
	};
	static const struct member dots_in_json[] = {
		FILE_OF("a.x1.jpg", "A"), FILE_OF("a.x1.json", "{}"), FILE_OF("b.x2.jpg", "B"),
		FILE_OF("b.x2.json", "{}"),
	};
	static const struct member one_dot[] = {
		FILE_OF("a.1.jpg", "A"), FILE_OF("a.1.cls", "1"), FILE_OF("b.1.jpg", "B"),
		FILE_OF("b.1.cls", "2"),
	};
	static const struct member useless[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": [1, 1]}"),
	};
	static const struct member boxes[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"boxes\": [[1, 2]]}"),
	};

	(void)state;
	EXPECT_NOTE(wnids, "2 of 2 samples have names that begin with a wnid; view=class", true);
	EXPECT_NOTE(some_wnids, "1 of 2 samples have names", false);
	EXPECT_NOTE(directories, NULL, false);
	EXPECT_NOTE(target, "numbers in '.target.cls'; labels=target.cls", true);
	EXPECT_NOTE(id, "numbers in '.id'; labels=id", false);
	EXPECT_NOTE(words, NULL, false);
	EXPECT_NOTE(pairs, "numbers in '.coarse.cls, .fine.cls'; labels=coarse.cls or "
		    "labels=fine.cls takes them for the labels", true);
	EXPECT_NOTE(item, "in 'a.json'; labels=category_id takes another item for it", false);
	EXPECT_NOTE(items, "in 'a.json'; labels=kind takes another item for it", false);
	EXPECT_NOTE(null, "in 'a.json', which holds null for a label; labels=target takes", true);
	EXPECT_NOTE(useless, "no label or class that can be used is in 'a.json', which holds a "
		    "list for a label", true);
	EXPECT_NOTE(dots, "the first dot of 'd/a.2.jpg' ends its key for WebDataset, so '2.cls' is "
		    "the suffix of its label; pack it again without such dots: tar --sort=name "
		    "--transform='s,\\.\\([^/]\\),_\\1,g;s,_\\([^_/]*\\)$,.\\1,' -C DIRECTORY -cf NEW.tar .",
		    true);
	EXPECT_NOTE(dots_in_json, "the first dot of 'b.x2.jpg' ends its key", false);
	EXPECT_NOTE(one_dot, "numbers in '.1.cls'; labels=1.cls takes them", true);
	EXPECT_NOTE(boxes, NULL, false);
}

static void test_a_shard_without_labels_among_others_is_said(void **state)
{
	static const struct member with[] = { FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A") };
	static const struct member none[] = { FILE_OF("b.jpg", "B") };
	static const struct member empty[] = { FILE_OF("LICENSE", "") };
	struct set set = { 3, { NULL }, { with, none, none }, { 2, 1, 1 }, NULL };
	struct set test = { 2, { "train", "test" }, { with, none }, { 2, 1 }, NULL };
	struct set plain = { 2, { NULL }, { none, none }, { 1, 1 }, NULL };
	struct set licence = { 2, { NULL }, { with, empty }, { 2, 1 }, NULL };
	struct set *const silent[] = { &test, &plain, &licence };
	char *said;

	(void)state;
	said = unit_stderr_of(run_set, &set);
	assert_non_null(strstr(said, "'x1.tar' has no labels, but 'x0.tar' has"));
	assert_non_null(strstr(said, "(2 such shards)"));
	assert_non_null(strstr(set.notes, "'x1.tar' has no labels, but 'x0.tar' has"));
	free(said);
	for (size_t i = 0; i < COUNT(silent); i++) {
		said = unit_stderr_of(run_set, silent[i]);
		assert_string_equal(said, "");
		assert_int_equal(*silent[i]->notes != '\0', silent[i] == &test);
		free(said);
	}
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_shard_that_stays_says_why),
	cmocka_unit_test(test_labels_that_are_elsewhere_are_hinted_at),
	cmocka_unit_test(test_a_shard_without_labels_among_others_is_said),
};

UNIT_MAIN(tests)
