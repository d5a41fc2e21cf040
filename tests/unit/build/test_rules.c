/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The entry that is shown of several with one name. */
#include "build/kit.h"

#include <errno.h>

struct rule {
	const char *what, *script, *shown;
};

static void check(const struct rule *rule, enum duplicates duplicates)
{
	char *got = kit_result(rule->script, duplicates);

	if (strcmp(got, rule->shown) != 0)
		fail_msg("%s: %s: \"%s\" instead of \"%s\"", rule->what, rule->script, got,
			 rule->shown);
	free(got);
}

/* One test a table. */
#define RULES(name, table, duplicates)                           \
	static void name(void **state)                           \
	{                                                        \
		(void)state;                                     \
		for (size_t i = 0; i < COUNT(table); i++)        \
			check(&(table)[i], duplicates);          \
	}

static const struct rule same_shard[] = {
	{ "nothing", "", "" },
	{ "a file replaces a file", "f:x:1 f:x:2", "x=2" },
	{ "a link replaces a file", "f:x:1 s:x:t", "x>t" },
	{ "a file replaces a link", "s:x:t f:x:1", "x=1" },
	{ "a directory replaces a file", "f:x:1 d:x:700", "x/,700" },
	{ "a directory replaces a link", "s:x:t d:x f:x/y:1", "x/ x/y=1" },
	{ "a directory is one directory", "d:x:700 f:x/y:1 d:x:711", "x/,711 x/y=1" },
	{ "a file replaces an empty directory", "d:x f:x:1", "x=1" },
	{ "a link replaces an empty directory", "d:x s:x:t", "x>t" },
	{ "a file before a full directory is ignored", "f:x/y:1 f:x:2", "x/ x/y=1" },
	{ "a link before a full directory is ignored", "f:x/y:1 s:x:t", "x/ x/y=1" },
	{ "a member's directory replaces a file", "f:x:1 f:x/y:2", "x/ x/y=2" },
	{ "and again", "d:x f:x:1 f:x/y:2 f:x/y:3", "x/ x/y=3" },
	{ "nothing of a replaced directory comes back",
	  "d:x d:y f:x:1 d:x:700 f:x/a:1", "x/,700 x/a=1 y/" },
	{ "the same directory after it was replaced",
	  "d:a/b f:a/c:1 f:a/b:2 f:a/b/d:3 f:a/c:4", "a/ a/b/ a/b/d=3 a/c=4" },
	{ "families are told apart", "f:a/x:1 f:b/x:2 f:a/y:3 f:b/y:4",
	  "a/ a/x=1 a/y=3 b/ b/x=2 b/y=4" },
};
RULES(test_the_last_of_a_shard_wins, same_shard, DUPLICATES_ERROR)

static const struct rule implied[] = {
	{ "implied", "f:a/b/c:1", "a/ a/b/ a/b/c=1" },
	{ "described later", "f:a/b:1 d:a:700", "a/,700 a/b=1" },
	{ "described before", "d:a:700 f:a/b:1", "a/,700 a/b=1" },
	{ "a described one is not forgotten", "d:a:700 f:a/b/c:1", "a/,700 a/b/ a/b/c=1" },
	{ "described by a later shard", "f:a/b:1 | d:a:700", "a/,700 a/b=1" },
	{ "the first description is believed", "d:a:700 | d:a:711", "a/,700" },
	{ "the last one within a shard", "d:a:700 d:a:711 | d:a:755", "a/,711" },
	{ "through other spellings", "d:./a/:700 f:a//./b:1", "a/,700 a/b=1" },
};
RULES(test_directories_implied_and_described, implied, DUPLICATES_ERROR)

static const struct rule unsafe[] = {
	{ "absolute", "f:/a/b:1", "a/ a/b=1" },
	{ "upwards", "f:../../a:1 f:b/../c:2", "a=1 c=2" },
	{ "made the same", "f:/a:1 f:../a:2", "a=2" },
	{ "nothing left", "f:..:1 f:/:2 f:.:3 s:a/..:t h:./:x f:b:4", "b=4" },
	{ "dots", "f:./a:1 d:./b/. f:.//c/./d:2", "a=1 b/ c/ c/d=2" },
	{ "reserved", "f:.granaryfs/stats:1 d:.granaryfs f:./.granaryfs:2 f:a:3", "a=3" },
	{ "reserved after being made safe", "f:/.granaryfs:1 f:x/../.granaryfs:2", "" },
	{ "reserved at the root only", "f:a/.granaryfs:1", "a/ a/.granaryfs=1" },
	{ "not reserved", "f:.granaryfs2:1", ".granaryfs2=1" },
	{ "reserved in a nested one", "n:n.tar ( f:.granaryfs:1 )", "n/ n/.granaryfs=1" },
};
RULES(test_unsafe_names, unsafe, DUPLICATES_ERROR)

static const struct rule nested[] = {
	{ "without its suffix", "n:a/n1.tar ( f:x:1 d:y:700 )",
	  "a/ a/n1/ a/n1/x=1 a/n1/y/,700" },
	{ "only the last suffix", "n:a.b.tar ( f:x:1 )", "a.b/ a.b/x=1" },
	{ "no suffix", "n:a ( f:x:1 )", "a/ a/x=1" },
	{ "a dot in the directory", "n:a.b/c ( f:x:1 )", "a.b/ a.b/c/ a.b/c/x=1" },
	{ "nothing but a suffix", "n:.tar ( f:x:1 )", ".tar/ .tar/x=1" },
	{ "empty", "n:a.tar ( )", "a/" },
	{ "failed", "x:a.tar:9 ( f:x:1 )", "a.tar=9" },
	{ "who may read may search", "n:a.tar:640 ( )", "a/,750" },
	{ "its own dot describes it", "n:a.tar:640 ( d:.:711 f:./x:1 )", "a/,711 a/x=1" },
	{ "in each other", "n:a.tar ( n:b.tar ( f:c:1 ) f:d:2 ) f:e:3",
	  "a/ a/b/ a/b/c=1 a/d=2 e=3" },
	{ "absolute and upwards stay inside", "n:a.tar ( f:/x:1 f:../y:2 )",
	  "a/ a/x=1 a/y=2" },
	{ "beside a directory of its name", "d:a:700 f:a/x:1 n:a.tar ( f:y:2 )",
	  "a/ a/x=1 a/y=2" },
	{ "the last wins", "f:a/x:1 n:a.tar ( f:x:2 ) f:a/x:3", "a/ a/x=3" },
	{ "links stay inside", "f:x:1 n:a.tar ( f:x:2 h:y:x )",
	  "a/ a/x=2*2 a/y=2*2 x=1" },
};
RULES(test_nested_ones_are_directories, nested, DUPLICATES_ERROR)

static const struct rule with_error[] = {
	{ "directories merge", "f:d/a:1 | f:d/b:2", "d/ d/a=1 d/b=2" },
	{ "files", "f:x:1 | f:y:1 f:x:2",
	  "x is in both s0 and s1; say which is meant with -o duplicates=first or "
	  "-o duplicates=last" },
	{ "deep", "f:a/x:1 | f:y:1 | s:a/x:t",
	  "a/x is in both s0 and s2; say which is meant with -o duplicates=first or "
	  "-o duplicates=last" },
	{ "a described directory over a file", "f:x:1 | d:x",
	  "x is in both s0 and s1; say which is meant with -o duplicates=first or "
	  "-o duplicates=last" },
	{ "a file over a described directory", "d:x | f:x:1",
	  "x is in both s0 and s1; say which is meant with -o duplicates=first or "
	  "-o duplicates=last" },
	{ "a hard link", "f:x:1 f:z:3 | f:y:2 h:x:y",
	  "x is in both s0 and s1; say which is meant with -o duplicates=first or "
	  "-o duplicates=last" },
	{ "twice in one shard is no matter", "f:x:1 f:x:2 | f:y:1", "x=2 y=1" },
};
RULES(test_shards_may_not_hold_the_same, with_error, DUPLICATES_ERROR)

static const struct rule with_first[] = {
	{ "files", "f:x:1 | f:x:2 | f:x:3", "x=1" },
	{ "its own last one", "f:x:1 f:x:2 | f:x:3", "x=2" },
	{ "only what is twice", "f:x:1 | f:x:2 f:y:3", "x=1 y=3" },
	{ "directories merge", "d:d:700 f:d/a:1 | d:d:711 f:d/a:2 f:d/b:3",
	  "d/,700 d/a=1 d/b=3" },
	{ "a nested one over a file is ignored whole", "f:n:1 | n:n.tar ( f:x:2 )", "n=1" },
	{ "a directory over a file", "f:x:1 | d:x:700", "x=1" },
};
RULES(test_the_first_shard_wins, with_first, DUPLICATES_FIRST)

static const struct rule with_last[] = {
	{ "files", "f:x:1 | f:x:2 | f:x:3", "x=3" },
	{ "only what is twice", "f:x:1 f:y:2 | f:x:3", "x=3 y=2" },
	{ "a directory over a file", "f:x:1 | d:x:700", "x/,700" },
	{ "a file over an empty directory", "d:x | f:x:1", "x=1" },
	{ "a file over a full one", "f:x/y:1 | f:x:1", "x/ x/y=1" },
	{ "a member's directory over a file", "f:x:1 | f:x/y:2", "x/ x/y=2" },
};
RULES(test_the_last_shard_wins, with_last, DUPLICATES_LAST)

/* A directory that is only on the way to a member is a directory all the same. */
static const struct rule implied_error[] = {
	{ "a member's directory over a file", "f:x:1 | f:x/y:2",
	  "x is in both s0 and s1; say which is meant with -o duplicates=first or "
	  "-o duplicates=last" },
};
RULES(test_an_implied_directory_over_another_shards_file_is_an_error, implied_error,
      DUPLICATES_ERROR)

static const struct rule implied_first[] = {
	{ "a member's directory over a file", "f:x:1 | f:x/y:2", "x=1" },
	{ "even when it was described", "f:x:1 | d:x f:x/y:2", "x=1" },
};
RULES(test_an_implied_directory_does_not_oust_the_first_shards_file, implied_first,
      DUPLICATES_FIRST)

static const struct rule error_over_implied[] = {
	{ "a file over a member's directory", "f:x/y:2 | f:x:1",
	  "x is in both s0 and s1; say which is meant with -o duplicates=first or "
	  "-o duplicates=last" },
};
RULES(test_a_file_over_another_shards_implied_directory_is_an_error, error_over_implied,
      DUPLICATES_ERROR)

static const struct {
	const char *second; /* behind a file "x/y" */
	int result;
} again[] = {
	{ "x/z", 0 }, { "x/y", -EBADMSG }, { "x/y/z", -EBADMSG }, { "x", -EBADMSG },
};

/* A format without newer versions: a second thing of one name is damage. */
static void test_names_that_come_once(void **state)
{
	size_t i = unit_row(state);
	struct builder *builder = kit_builder(DUPLICATES_LAST);
	struct entries *log = entries_new();
	struct error e = { 0 };

	entries_forbid_duplicates(log);
	kit_add(log, &(struct entry){ .kind = ENTRY_DIRECTORY, .path = "x" });
	kit_add(log, &(struct entry){ .kind = ENTRY_DIRECTORY, .path = "x" });
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = "x/y" });
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE,
				      .path = again[i].second });
	if (builder_apply(builder, log, "s", &e) != again[i].result)
		fail_msg("%s: %s", again[i].second, e.text);
	if (again[i].result)
		assert_non_null(strstr(e.text, "twice"));
	entries_free(log);
	builder_free(builder);
}

/* Newer versions, and then what the view of samples adds, which replaces none of them. */
static const struct {
	const char *added;
	int result;
} cases[] = { { "y", 0 }, { "./x", -EBADMSG }, { "d/x", -EBADMSG } };

static void test_names_that_come_once_from_some_entry_on(void **state)
{
	size_t i = unit_row(state);
	struct builder *builder = kit_builder(DUPLICATES_LAST);
	struct entries *log = entries_new();
	struct error e = { 0 };

	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = "x" });
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = "d/x" });
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = "x" });
	entries_forbid_duplicates(log);
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE,
				      .path = cases[i].added });
	if (builder_apply(builder, log, "s", &e) != cases[i].result)
		fail_msg("%s: %s", cases[i].added, e.text);
	entries_free(log);
	builder_free(builder);
}

static const struct CMUnitTest rules[] = {
	unit_table(test_names_that_come_once_from_some_entry_on, cases, added),
	unit_table(test_names_that_come_once, again, second),
	cmocka_unit_test(test_the_last_of_a_shard_wins),
	cmocka_unit_test(test_directories_implied_and_described),
	cmocka_unit_test(test_unsafe_names),
	cmocka_unit_test(test_nested_ones_are_directories),
	cmocka_unit_test(test_shards_may_not_hold_the_same),
	cmocka_unit_test(test_the_first_shard_wins),
	cmocka_unit_test(test_the_last_shard_wins),
	cmocka_unit_test(test_an_implied_directory_over_another_shards_file_is_an_error),
	cmocka_unit_test(test_an_implied_directory_does_not_oust_the_first_shards_file),
	cmocka_unit_test(test_a_file_over_another_shards_implied_directory_is_an_error),
};

UNIT_MAIN(rules)
