/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hard links: names apart from inodes. */
#include "build/kit.h"

#include "base/log.h"

struct shown {
	const char *what, *script, *shown;
};

static const struct shown links[] = {
	{ "backward", "f:a:1 h:b:a", "a=1*2 b=1*2" },
	{ "forward", "h:b:a f:a:1", "a=1*2 b=1*2" },
	{ "three names", "f:a:1 h:b:a h:c:b", "a=1*3 b=1*3 c=1*3" },
	{ "a chain forwards", "h:a:b h:b:c f:c:1", "a=1*3 b=1*3 c=1*3" },
	{ "a chain that was turned round", "h:b:c h:a:b f:c:1", "a=1*3 b=1*3 c=1*3" },
	{ "a chain there and back", "h:b:a h:c:b h:a:x f:x:1",
	  "a=1*4 b=1*4 c=1*4 x=1*4" },
	{ "to itself", "h:a:a", "" },
	{ "to itself, there already", "f:a:1 h:a:a", "a=1" },
	{ "to itself through another spelling", "f:d/a:1 h:d/a:./d//a", "d/ d/a=1" },
	{ "round in a circle", "h:a:b h:b:a", "" },
	{ "dangling", "f:a:1 h:b:no/such", "a=1" },
	{ "to a directory", "d:d h:b:d", "d/" },
	{ "to the root", "h:b:. h:c:/", "" },
	{ "to a directory that becomes a file", "d:d h:b:d f:d:1", "b=1*2 d=1*2" },
	{ "to something replaced later", "f:a:1 h:b:a f:a:2", "a=2 b=1" },
	{ "to something replaced before", "f:a:1 f:a:2 h:b:a", "a=2*2 b=2*2" },
	{ "twice the same", "f:a:1 h:b:a h:b:a", "a=1*2 b=1*2" },
	{ "over a file", "f:a:1 f:b:2 h:b:a", "a=1*2 b=1*2" },
	{ "over an empty directory", "f:a:1 d:b h:b:a", "a=1*2 b=1*2" },
	{ "over a full directory", "f:a:1 f:b/c:2 h:b:a", "a=1 b/ b/c=2" },
	{ "replaced by a file", "f:a:1 h:b:a f:b:2", "a=1 b=2" },
	{ "the first name goes, the second stays", "f:a:1 h:b:a d:a", "a/ b=1" },
	{ "to a symbolic link", "s:a:t h:b:a", "a>t*2 b>t*2" },
	{ "a forward one that was overtaken", "h:b:a f:b:2 f:a:1", "a=1 b=2" },
	{ "the last of two forward ones", "h:b:x h:b:y f:x:1 f:y:2", "b=2*2 x=1 y=2*2" },
	{ "makes its directories", "f:a:1 h:d/e/b:a", "a=1*2 d/ d/e/ d/e/b=1*2" },
	{ "absolute and upward targets", "f:a:1 h:b:/a h:c:../a", "a=1*3 b=1*3 c=1*3" },
	{ "a good one beside a dangling one", "f:d/a:1 h:b:d/a h:c:d/x", "b=1*2 d/ d/a=1*2" },
	{ "not out of a nested one", "f:a:1 n:n.tar ( h:b:../a h:c:/a )", "a=1 n/" },
	{ "forward in a nested one", "n:n.tar ( h:b:a f:a:1 )", "n/ n/a=1*2 n/b=1*2" },
	{ "to an empty file", "f:a:0 h:b:a", "a=0*2 b=0*2" },
};

/* Links to packed files that are directories here; x is one that cannot be read. */
static const struct shown to_opened[] = {
	{ "a symbolic link behind it", "n:a.tar ( f:f:1 ) s:b.tar:a.tar", "a/ a/f=1 b>a" },
	{ "and before it", "s:b.tar:a.tar n:c/a.tar ( ) s:c/d.tar:a.tar",
	  "b.tar>a.tar c/ c/a/ c/d>a" },
	{ "with another name", "n:d/a.tar ( f:f:1 ) s:latest:d/a.tar",
	  "d/ d/a/ d/a/f=1 latest>d/a" },
	{ "upwards, with dots and slashes", "n:d/a.TAR ( ) s:e/f/b.tar:../.././d//a.TAR/",
	  "d/ d/a/ e/ e/f/ e/f/b>../.././d//a" },
	{ "a link to a link", "s:c.tar:b.tar s:b.tar:a.tar n:a.tar ( )", "a/ b>a c>b" },
	{ "its shorter name is taken", "n:a.tar ( ) f:b:1 s:b.tar:a.tar", "a/ b=1 b.tar>a" },
	{ "a hard link", "n:a.tar ( f:f:1 ) h:b.tar:a.tar", "a/ a/f=1 b>a" },
	{ "a hard link before it, deeper", "h:x/y/b.tar:d/a.tar n:d/a.tar ( )",
	  "d/ d/a/ x/ x/y/ x/y/b>../../d/a" },
	{ "a hard link to a hard link", "n:a.tar ( ) h:b.tar:a.tar h:c.tar:b.tar",
	  "a/ b>a c>a" },
	{ "hard links of one inode, at two depths", "h:x/b.tar:a.tar h:c.tar:x/b.tar n:a.tar ( )",
	  "a/ c>a x/ x/b>../a" },
	{ "a hard link to a symbolic one", "n:a.tar ( ) s:b.tar:a.tar h:c.tar:b.tar",
	  "a/ b>a*2 c>a*2" },
	{ "a hard link in a nested one", "n:o.tar ( n:i.tar ( f:f:1 ) h:d/j.tar:i.tar )",
	  "o/ o/d/ o/d/j>../i o/i/ o/i/f=1" },
	{ "absolute", "n:a.tar ( ) s:b.tar:/a.tar", "a/ b.tar>/a.tar" },
	{ "out of the tree", "n:a.tar ( ) s:b.tar:../a.tar", "a/ b.tar>../a.tar" },
	{ "no packed file", "d:a s:b.tar:a.tar n:c.tar ( )", "a/ b.tar>a.tar c/" },
	{ "something has the whole name", "n:a.tar ( ) f:a.tar:1 s:b.tar:a.tar",
	  "a/ a.tar=1 b.tar>a.tar" },
	{ "one that cannot be read", "x:a.tar:5 ( ) s:b.tar:a.tar n:c.tar ( )",
	  "a.tar=5 b.tar>a.tar c/" },
	{ "to itself", "n:a.tar ( ) s:b.tar:b.tar", "a/ b.tar>b.tar" },
	{ "in a circle", "n:a.tar ( ) s:b.tar:c.tar s:c.tar:b.tar",
	  "a/ b.tar>c.tar c.tar>b.tar" },
	{ "replaced", "n:a.tar ( ) s:b.tar:a.tar f:b.tar:1", "a/ b.tar=1" },
};

static void assert_shown(const struct shown *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *got = kit_result(cases[i].script, DUPLICATES_ERROR);

		if (strcmp(got, cases[i].shown) != 0)
			print_message("# %s: %s: \"%s\" instead of \"%s\"\n", cases[i].what,
				 cases[i].script, got, cases[i].shown);
		free(got);
	}
}

static void test_what_hard_links_show(void **state)
{
	(void)state;
	assert_shown(links, COUNT(links));
}

static void test_links_to_opened_files(void **state)
{
	(void)state;
	assert_shown(to_opened, COUNT(to_opened));
}

/* Pending links are tried twice; a chain may need more. */
static void test_a_chain_in_any_order_holds_together(void **state)
{
	char *got = kit_result("h:x4:x3 h:x2:x1 h:x1:c h:x3:x2 f:c:1", DUPLICATES_ERROR);

	(void)state;
	assert_string_equal(got, "c=1*5 x1=1*5 x2=1*5 x3=1*5 x4=1*5");
	free(got);
}

static void test_within_a_shard_a_file_replaces_a_link_to_another_shard(void **state)
{
	char *got = kit_result("f:a:1 | h:b:a f:b:2", DUPLICATES_ERROR);

	(void)state;
	assert_string_equal(got, "a=1 b=2");
	free(got);
}

static void test_all_names_are_one_inode(void **state)
{
	struct index *index = kit_make("f:a:1 h:d/b:a h:c:a f:e:1");
	const struct tree *tree = index_tree(index);
	struct index_summary summary;

	(void)state;
	assert_int_equal(kit_node(tree, "a"), kit_node(tree, "d/b"));
	assert_int_equal(kit_node(tree, "a"), kit_node(tree, "c"));
	assert_int_not_equal(kit_node(tree, "a"), kit_node(tree, "e"));
	assert_int_equal(index_summary(index, &summary), 0);
	assert_int_equal(summary.files, 2);
	assert_int_equal(summary.links, 2);
	assert_int_equal(summary.bytes, 2);
	assert_int_equal(summary.directories, 2);
	assert_int_equal(tree_count(tree), 6);
	index_close(index);
}

/* The name of an alias is its own; its attributes are the other's. */
static void test_an_alias_answers_as_its_inode(void **state)
{
	struct index *index = kit_make("f:a:7 h:z:a");
	const struct tree *tree = index_tree(index);
	struct tree_stat st;
	struct tree_piece piece;
	uint32_t parent;

	(void)state;
	for (uint32_t node = 1; node <= 2; node++) {
		assert_int_equal(tree_stat(tree, node, &st), 0);
		assert_int_equal(st.node, 1);
		assert_int_equal(st.kind, TREE_FILE);
		assert_int_equal(st.links, 2);
		assert_int_equal(tree_piece(tree, node, 3, &piece), 0);
		assert_int_equal(piece.offset, 10);
		assert_int_equal(piece.length, 4);
		assert_int_equal(tree_parent(tree, node, &parent), 0);
		assert_int_equal(parent, TREE_ROOT);
	}
	index_close(index);
}

static void make_many_dangling(void *index)
{
	*(struct index **)index = kit_make("f:a:1 h:b1:no h:b2:no h:b3:no h:b4:no h:b5:no h:b6:no "
					   "h:b7:no h:b8:no h:b9:no h:c1:no h:c2:no h:c3:no");
}

static void make_dangling(void *index)
{
	*(struct index **)index = kit_make("f:a:1 h:b:no/such h:c:a");
}

static void test_a_dangling_link_is_named_in_the_log(void **state)
{
	struct index *index;
	char *got = unit_stderr_of(make_dangling, &index);

	(void)state;
	assert_int_equal(unit_occurrences(got, "\n"), 1);
	assert_non_null(strstr(got, "'s0': the hard link b"));
	assert_non_null(strstr(got, "no/such"));
	free(got);
	index_close(index);
}

static void test_dangling_links_beyond_ten_are_counted(void **state)
{
	struct index *index;
	char *got = unit_stderr_of(make_many_dangling, &index);

	(void)state;
	assert_int_equal(unit_occurrences(got, "hard link"), 10);
	assert_non_null(strstr(got, "2 more findings are not told"));
	free(got);
	index_close(index);
}

static const struct CMUnitTest hard_links[] = {
	cmocka_unit_test(test_what_hard_links_show),
	cmocka_unit_test(test_links_to_opened_files),
	cmocka_unit_test(test_a_chain_in_any_order_holds_together),
	cmocka_unit_test(test_within_a_shard_a_file_replaces_a_link_to_another_shard),
	cmocka_unit_test(test_all_names_are_one_inode),
	cmocka_unit_test(test_dangling_links_beyond_ten_are_counted),
	cmocka_unit_test(test_an_alias_answers_as_its_inode),
	cmocka_unit_test(test_a_dangling_link_is_named_in_the_log),
};

UNIT_MAIN(hard_links)
