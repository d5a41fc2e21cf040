/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shards of WebDataset become samples with classes. */
#include "unit.h"

#include <errno.h>

#include "samples/wds_kit.h"
#include "told.h"

static void test_a_cls_beside_each_is_the_class(void **state)
{
	static const struct member members[] = {
		FILE_OF("0.cls", "7"), FILE_OF("0.jpg", "A"), FILE_OF("1.cls", " 12\n"),
		FILE_OF("1.jpg", "B"), FILE_OF("2.cls", "-3"), FILE_OF("2.jpg", ""),
	};

	(void)state;
	EXPECT(members, PLAIN, "/7/0.cls=7 /7/0.jpg=A /12/1.cls= 12\n /12/1.jpg=B "
	       "/-3/2.cls=-3 /-3/2.jpg= ", NULL);
	EXPECT(members, { .sidecars = SIDECARS_HIDE }, "/7/0.jpg=A /12/1.jpg=B /-3/2.jpg= ", NULL);
	EXPECT(members, { .split = "val" }, "val/7/0.jpg=A val/12/1.jpg=B val/-3/2.jpg= ",
	       NULL);
}

static void test_a_cls_that_is_the_class_is_left_out(void **state)
{
	static const struct member images[] = {
		FILE_OF("a.CLS", "7"), FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{}"),
		FILE_OF("b.cls", "x"), FILE_OF("b.jpg", "B"), FILE_OF("c.cls", "8"),
		FILE_OF("d.cls", "7"), FILE_OF("d.x.cls", "1"), FILE_OF("d.flac", "D"),
	};
	static const struct member chosen[] = {
		FILE_OF("d.cls", "7"), FILE_OF("d.x.cls", "1"), FILE_OF("d.flac", "D"),
	};

	(void)state;
	EXPECT(images, { .labels = NULL }, "/7/a.jpg=A /7/a.json={} "
	       "/7/d.x.cls=1 /7/d.flac=D -b.cls=x -b.jpg=B -c.cls=8 ", "'b.cls'");
	EXPECT(chosen, { .labels = "x.cls" }, "/1/d.cls=7 /1/d.flac=D ", NULL);
	EXPECT(images, { .sidecars = SIDECARS_SHOW }, "/7/a.CLS=7 /7/a.jpg=A /7/a.json={} "
	       "/7/d.cls=7 /7/d.x.cls=1 /7/d.flac=D -b.cls=x -b.jpg=B -c.cls=8 ", "'b.cls'");
}

static void test_keys_are_grouped_as_webdataset_does(void **state)
{
	static const struct member members[] = {
		{ "d/", "", 0, '5' },
		FILE_OF("d/a.x.JPG", "A"), FILE_OF("__key__", "-"), FILE_OF("d/.hidden", "h"),
		FILE_OF("noext", "n"), { "l.jpg", "d/a.cls", 0, '2' }, FILE_OF("d/a.CLS", "1"),
		FILE_OF("./train/b.cls", "2"), FILE_OF("./train/b.tar.gz", "B"),
		FILE_OF("/val/b.cls", "2"), FILE_OF("/val/b.wav", "C"),
		FILE_OF("__meta__/b.cls", "9"), FILE_OF("__meta__/b.wav", "C"),
	};

	(void)state;
	EXPECT(members, PLAIN, "/1/d/a.x.JPG=A /1/d/a.CLS=1 train/2/b.cls=2 "
	       "train/2/b.tar.gz=B val/2/b.cls=2 val/2/b.wav=C -d/.hidden=h -noext=n -l.jpg= ",
	       "'shard.tar': '__key__' is not shown by class, as WebDataset skips such names "
	       "(3 in all)");
}

static void test_json_holds_labels_or_classes(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": 3, \"class\": 9}"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"class\": \"dog\"}"),
		FILE_OF("c.jpg", "C"), FILE_OF("c.json", "{\"label\": \"4\", \"k\": \"x\"}"),
	};

	(void)state;
	EXPECT(members, { .sidecars = SIDECARS_HIDE }, "/3/a.jpg=A /dog/b.jpg=B /4/c.jpg=C ",
	       "'class' of the .json could be the label, too");
	EXPECT(members, { .classes = true COMMA .sidecars = SIDECARS_HIDE },
	       "/3/a.jpg=A /dog/b.jpg=B /4/c.jpg=C ",
	       "'class' of the .json could be the label, too");
}

static void test_json_numbers_may_be_floats_or_alone(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": 3.0}"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "7"),
		FILE_OF("c.jpg", "C"), FILE_OF("c.json", "-1.0\n"),
		FILE_OF("d.jpg", "D"), FILE_OF("d.json", "{\"label\": 0.5}"),
		FILE_OF("e.jpg", "E"), FILE_OF("e.json", "1e300"),
	};
	static const struct member words[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "\"a caption\""),
	};

	(void)state;
	EXPECT(members, { .sidecars = SIDECARS_HIDE }, "/3/a.jpg=A /7/b.jpg=B /-1/c.jpg=C "
	       "-d.jpg=D -d.json={\"label\": 0.5} -e.jpg=E -e.json=1e300 ",
	       "the label 'd.json' holds a label that is no whole number");
	EXPECT(words, PLAIN, "-a.jpg=A -a.json=\"a caption\" ", NULL);
}

/* A caption is no label, whatever it is written in. */
static void test_what_has_no_labels_stays(void **state)
{
	static const struct member captions[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"caption\": \"3\"}"),
		FILE_OF("a.txt", "5"), FILE_OF("b.jpg", "B"), FILE_OF("b.txt", "x"),
	};
	static const struct member skipped[] = {
		FILE_OF("__x__/a.json", "{}"), FILE_OF("a.jpg", "A"), FILE_OF("a.txt", "x"),
	};
	static const struct member tree[] = {
		FILE_OF("n01440764/n01440764_1.JPEG", "A"),
		FILE_OF("n01440764/n01440764_2.JPEG", "B"), FILE_OF("LICENSE", "C"),
	};
	static const struct member links[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.cls", "1"), { "b.jpg", "a.jpg", 0, '1' },
	};

	(void)state;
	EXPECT(skipped, PLAIN, "-__x__/a.json={} -a.jpg=A -a.txt=x ", NULL);
	EXPECT(captions, PLAIN, "-a.jpg=A -a.json={\"caption\": \"3\"} -a.txt=5 -b.jpg=B "
	       "-b.txt=x ", NULL);
	EXPECT(tree, PLAIN, "-n01440764/n01440764_1.JPEG=A -n01440764/n01440764_2.JPEG=B "
	       "-LICENSE=C ", NULL);
	EXPECT(tree, { .classes = true }, "-n01440764/n01440764_1.JPEG=A "
	       "-n01440764/n01440764_2.JPEG=B -LICENSE=C ", NULL);
	EXPECT(links, PLAIN, "-a.jpg=A -a.cls=1 -b.jpg= ", NULL);
}

static void test_a_wnid_is_a_class_where_classes_are_asked_for(void **state)
{
	static const struct member members[] = {
		FILE_OF("n01440764_10026.JPEG", "A"), FILE_OF("n01443537_2.JPEG", "B"),
		FILE_OF("x.jpg", "C"), FILE_OF("n0144353700_2.jpg", "D"),
	};

	(void)state;
	EXPECT(members, PLAIN, "-n01440764_10026.JPEG=A -n01443537_2.JPEG=B -x.jpg=C "
	       "-n0144353700_2.jpg=D ", NULL);
	EXPECT(members, { .classes = true }, "/n01440764/n01440764_10026.JPEG=A "
	       "/n01443537/n01443537_2.JPEG=B -x.jpg=C -n0144353700_2.jpg=D ", NULL);
}

static void test_another_suffix_or_item_if_it_is_named(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.fine.txt", "cat\n"), FILE_OF("a.jpg", "A"),
		FILE_OF("a.json", "{\"id\": 1}"), FILE_OF("b.fine.txt", "7"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"id\": 2}"),
	};
	struct webdataset_config none = { .labels = ".nothing" };
	struct shard shard;

	(void)state;
	EXPECT(members, { .labels = "fine.txt" COMMA .sidecars = SIDECARS_HIDE },
	       "/cat/a.jpg=A /7/b.jpg=B ", NULL);
	EXPECT(members, { .labels = "id" COMMA .sidecars = SIDECARS_HIDE }, "/1/a.jpg=A /2/b.jpg=B ",
	       NULL);
	EXPECT(members, { .labels = ".fine.txt" COMMA .sidecars = SIDECARS_HIDE },
	       "/cat/a.jpg=A /7/b.jpg=B ", NULL);
	shard = kit_take("shard.tar", &none);
	assert_int_equal(shard.result, -EINVAL);
	assert_non_null(strstr(shard.error.text, "'.nothing'"));
	assert_non_null(strstr(shard.error.text, "a .json with 'nothing'"));
	kit_drop(&shard);
}

/* The first members are fine; the last ones are one of these. */
static const struct {
	const char *label, *word;
} bad[] = {
	{ "", "is empty" }, { "x", "not a number" }, { "1 2", "not a number" },
	{ "\xef\xbb\xbf", "is empty" }, { "+", "not a number" }, { "-", "not a number" },
	{ "0x10", "not a number" }, { "3.5", "not a number" }, { "_1", "not a number" },
	{ "1_", "not a number" }, { "1__0", "not a number" }, { "--1", "not a number" },
	{ "\xd9\xa3", "not a number" }, { "1\n2", "not a number" }, { "NaN", "not a number" },
};

static void test_labels_that_cannot_be_used(void **state)
{
	size_t i = unit_row(state);
	const struct member members[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.cls", "0"),
		{ "c.cls", bad[i].label, strlen(bad[i].label), 0 },
		FILE_OF("c.jpg", "C"),
	};
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "/1/a.cls=1 /1/a.jpg=A /0/b.jpg=B /0/b.cls=0 "
		 "-c.cls=%s -c.jpg=C ", bad[i].label);
	EXPECT(members, PLAIN, wanted, bad[i].word);
	EXPECT(members, PLAIN, wanted, "'c.cls'");
}

static void test_odd_samples_stay(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.cls", "1"), FILE_OF("a.jpg", "A"), FILE_OF("b.cls", "1"),
		FILE_OF("b.jpg", "B"), FILE_OF("c.cls", "1"), FILE_OF("c.jpg", "C"),
		FILE_OF("d.cls", "1"), FILE_OF("d.jpg", "D"), FILE_OF("a.jpg", "a"),
		FILE_OF("a.JPG", "b"), FILE_OF("a.cls", "1"), FILE_OF("x/../e.cls", "1"),
		FILE_OF("x/../e.jpg", "E"), FILE_OF("f.cls", "1"), FILE_OF("g.jpg", "G"),
	};

	(void)state;
	EXPECT(members, { .sidecars = SIDECARS_HIDE }, "/1/a.jpg=A /1/b.jpg=B /1/c.jpg=C /1/d.jpg=D "
	       "-a.jpg=a -a.JPG=b -a.cls=1 -x/../e.cls=1 -x/../e.jpg=E -f.cls=1 -g.jpg=G ",
	       "two members with one suffix");
}

static void test_a_shard_of_broken_labels_stays_or_is_refused(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.cls", "x"), FILE_OF("a.jpg", "A"), FILE_OF("b.cls", "y"),
		FILE_OF("b.jpg", "B"), FILE_OF("c.cls", "1"), FILE_OF("c.jpg", "C"),
	};
	struct webdataset_config classes = { .classes = true };
	struct shard shard;

	(void)state;
	EXPECT(members, PLAIN, "-a.cls=x -a.jpg=A -b.cls=y -b.jpg=B -c.cls=1 -c.jpg=C ",
	       "2 of 3 samples");
	shard = kit_take("shard.tar", &classes);
	assert_int_equal(shard.result, -EBADMSG);
	assert_non_null(strstr(shard.error.text, "'a.cls' is not a number"));
	kit_drop(&shard);
}

static void test_classes_must_be_names_of_directories(void **state)
{
	static const struct member members[] = {
		FILE_OF("a.jpg", "A"), FILE_OF("a.json", "{\"label\": \"x\"}"),
		FILE_OF("b.jpg", "B"), FILE_OF("b.json", "{\"label\": \"../x\"}"),
		FILE_OF("c.jpg", "C"), FILE_OF("c.json", "{\"label\": \"y\"}"),
		FILE_OF("d.jpg", "D"), FILE_OF("d.json", "{\"label\": \"..\"}"),
	};

	(void)state;
	EXPECT(members, { .sidecars = SIDECARS_HIDE }, "/x/a.jpg=A /y/c.jpg=C -b.jpg=B "
	       "-b.json={\"label\": \"../x\"} -d.jpg=D -d.json={\"label\": \"..\"} ",
	       "the label 'b.json' has a slash in it, and a directory's name cannot");
	/* where none is, that is said too */
	kit_expect(members + 2, 2, (struct webdataset_config)PLAIN,
		   "-b.jpg=B -b.json={\"label\": \"../x\"} ", "has a slash in it");
}

static void run_sparse(void *argument)
{
	*(struct shard *)argument = kit_take("sparse.tar", &(struct webdataset_config){
		.sidecars = SIDECARS_HIDE });
}

/* GNU tar, with a label that is one hole, an image with one, and a sample without. */
static void test_sparse_members(void **state)
{
	struct shard shard;
	char *said, *text;

	(void)state;
	unit_shell("set -e; mkdir -p sp; cd sp; for i in a b c d; do echo 1 > $i.cls;"
		   " echo $i > $i.jpg; done; rm b.cls; truncate -s 3000 b.cls;"
		   " truncate -s 9000 d.jpg; tar --format=gnu -S --sort=name -cf ../sparse.tar *");
	run_sparse(&shard);
	said = told(shard.told);
	assert_int_equal(shard.result, 0);
	assert_non_null(strstr(said, "the label 'b.cls' is not a number"));
	assert_non_null(strstr(said, "sample 'd' has a sparse member"));
	text = kit_text_of(&shard);
	assert_ptr_equal(strstr(text, "/1/a.jpg=a\n /1/c.jpg=c\n -b.cls="), text);
	free(text);
	free(said);
	kit_drop(&shard);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_cls_beside_each_is_the_class),
	cmocka_unit_test(test_a_cls_that_is_the_class_is_left_out),
	cmocka_unit_test(test_keys_are_grouped_as_webdataset_does),
	cmocka_unit_test(test_json_holds_labels_or_classes),
	cmocka_unit_test(test_json_numbers_may_be_floats_or_alone),
	cmocka_unit_test(test_what_has_no_labels_stays),
	cmocka_unit_test(test_a_wnid_is_a_class_where_classes_are_asked_for),
	cmocka_unit_test(test_another_suffix_or_item_if_it_is_named),
	unit_table(test_labels_that_cannot_be_used, bad, label),
	cmocka_unit_test(test_odd_samples_stay),
	cmocka_unit_test(test_a_shard_of_broken_labels_stays_or_is_refused),
	cmocka_unit_test(test_classes_must_be_names_of_directories),
	cmocka_unit_test(test_sparse_members),
};

UNIT_MAIN(tests)
