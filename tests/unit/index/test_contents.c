/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of files: pieces, holes, extended attributes. */
#include "build/kit.h"

#include <errno.h>

#define LIMIT (UINT64_C(1) << 40)

/* A log with two volumes: 0 of 1000 bytes, 1 of the largest kind. */
static struct entries *log_with_volumes(void)
{
	struct entries *log = entries_new();
	struct volume_desc small = { .kind = VOLUME_RAW, .source = 0, .base = 0, .length = 1000 };
	struct volume_desc large = { .kind = VOLUME_RAW, .source = 0, .base = LIMIT, .length = 2 * LIMIT };

	assert_int_equal(entries_add_volume(log, &small), 0);
	assert_int_equal(entries_add_volume(log, &large), 1);
	return log;
}

struct contents {
	uint64_t size;
	struct entry_extent extents[4];
	size_t count;
	const char *pieces; /* "offset+length@volume:at" or "offset+length-" */
	uint64_t stored;
};

static void add_contents(struct entries *log, const char *path, const struct contents *c)
{
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path, .size = c->size,
				      .extents = c->extents, .extent_count = c->count });
}

static const struct contents good[] = {
	{ 0, { { 0 } }, 0, "", 0 },
	{ 10, { { 0, 5, 10, 0 } }, 1, "0+10@0:5 ", 10 },
	{ 1000, { { 0, 0, 1000, 0 } }, 1, "0+1000@0:0 ", 1000 },
	{ 10, { { 0 } }, 0, "0+10- ", 0 },
	{ 10, { { 0, 5, 4, 0 } }, 1, "0+4@0:5 4+6- ", 4 },
	{ 10, { { 6, 5, 4, 0 } }, 1, "0+6- 6+4@0:5 ", 4 },
	{ 20, { { 2, 5, 3, 0 }, { 5, 8, 3, 1 }, { 15, 0, 4, 0 } }, 3,
	  "0+2- 2+3@0:5 5+3@1:8 8+7- 15+4@0:0 19+1- ", 10 },
	{ (UINT64_C(1) << 48) - 1, { { (UINT64_C(1) << 48) - 2, 7, 1, 0 } }, 1,
	  "0+281474976710654- 281474976710654+1@0:7 ", 1 },
	{ LIMIT, { { 0, LIMIT - 1, LIMIT, 1 } }, 1,
	  "0+1099511627776@1:1099511627775 ", LIMIT },
};

static char *pieces_of(const struct tree *tree, uint32_t node, char *out, size_t size)
{
	struct tree_piece p;
	size_t n = 0;

	out[0] = '\0';
	for (uint64_t at = 0; tree_piece(tree, node, at, &p) == 0; at += p.length) {
		n += (size_t)snprintf(out + n, size - n, "%llu+%llu",
				      (unsigned long long)at, (unsigned long long)p.length);
		n += (size_t)(p.hole ? snprintf(out + n, size - n, "- ") :
			      snprintf(out + n, size - n, "@%u:%llu ", p.volume,
				       (unsigned long long)p.offset));
	}
	return out;
}

static void test_pieces_and_holes(void **state)
{
	size_t i = unit_row(state);
	struct entries *log = log_with_volumes();
	struct index *index;
	struct tree_stat st;
	char text[256];

	/* so that volumes keep their numbers */
	add_contents(log, "0", &good[1]);
	add_contents(log, "1", &good[8]);
	add_contents(log, "x", &good[i]);
	index = kit_index_of(log);
	assert_string_equal(pieces_of(index_tree(index), 3, text, sizeof(text)),
			    good[i].pieces);
	assert_int_equal(tree_stat(index_tree(index), 3, &st), 0);
	assert_int_equal(st.size, good[i].size);
	assert_int_equal(st.stored, good[i].stored);
	assert_int_equal(index_check(index, NULL), 0);
	index_close(index);
}

static void test_pieces_from_the_middle_and_the_end(void **state)
{
	struct entries *log = log_with_volumes();
	struct index *index;
	struct tree_piece p;

	(void)state;
	add_contents(log, "d/x", &good[6]);
	index = kit_index_of(log);
	assert_true(tree_has_holes(index_tree(index)));
	for (uint64_t at = 2; at < 5; at++) {
		assert_int_equal(tree_piece(index_tree(index), 2, at, &p), 0);
		assert_false(p.hole);
		assert_int_equal(p.offset, 5 + at - 2);
		assert_int_equal(p.length, 5 - at);
	}
	assert_int_equal(tree_piece(index_tree(index), 2, 9, &p), 0);
	assert_true(p.hole);
	assert_int_equal(p.length, 6);
	assert_int_equal(tree_piece(index_tree(index), 2, 20, &p), -ENXIO);
	assert_int_equal(tree_piece(index_tree(index), 2, UINT64_MAX, &p), -ENXIO);
	assert_int_equal(tree_piece(index_tree(index), 1, 0, &p), -EINVAL);
	index_close(index);
}

static const struct {
	const char *what;
	struct contents contents;
} bad[] = {
	{ "longer than the file", { 10, { { 0, 0, 11, 0 } }, 1, NULL, 0 } },
	{ "begins past the end", { 10, { { 11, 0, 1, 0 } }, 1, NULL, 0 } },
	{ "length 0", { 10, { { 0, 0, 0, 0 } }, 1, NULL, 0 } },
	{ "of an empty file", { 0, { { 0, 0, 1, 0 } }, 1, NULL, 0 } },
	{ "overlap", { 10, { { 0, 0, 5, 0 }, { 4, 0, 5, 0 } }, 2, NULL, 0 } },
	{ "backwards", { 10, { { 5, 0, 5, 0 }, { 0, 0, 5, 0 } }, 2, NULL, 0 } },
	{ "no such volume", { 10, { { 0, 0, 10, 2 } }, 1, NULL, 0 } },
	{ "past the volume's end", { 10, { { 0, 991, 10, 0 } }, 1, NULL, 0 } },
	{ "far past it", { 10, { { 0, 1001, 10, 0 } }, 1, NULL, 0 } },
	{ "beyond 2^40", { 10, { { 0, LIMIT, 10, 1 } }, 1, NULL, 0 } },
	{ "wraps round", { 10, { { UINT64_MAX, 0, 2, 0 } }, 1, NULL, 0 } },
	{ "wraps in the volume", { 10, { { 0, UINT64_MAX, 10, 0 } }, 1, NULL, 0 } },
	{ "2^48 bytes", { UINT64_C(1) << 48, { { 0 } }, 0, NULL, 0 } },
	{ "2^64 bytes", { UINT64_MAX, { { 0 } }, 0, NULL, 0 } },
};

static void test_pieces_that_make_no_sense_are_refused(void **state)
{
	size_t i = unit_row(state);
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct entries *log = log_with_volumes();
	struct error e;

	add_contents(log, "bad/file", &bad[i].contents);
	if (builder_apply(builder, log, "shard.tar", &e) != -EBADMSG)
		fail_msg("%s: was taken", bad[i].what);
	assert_int_equal(e.status, ERROR_DATASET);
	assert_non_null(strstr(e.text, "shard.tar: bad/file"));
	entries_free(log);
	builder_free(builder);
}

static void test_all_hole_files_are_no_reason_for_lseek(void **state)
{
	struct index *index;
	struct entries *log = log_with_volumes();

	(void)state;
	add_contents(log, "x", &good[3]);
	add_contents(log, "y", &good[1]);
	index = kit_index_of(log);
	assert_false(tree_has_holes(index_tree(index)));
	index_close(index);
}

/* Two shards with the same volumes, numbered the other way round. */
static void test_volumes_are_kept_once(void **state)
{
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct volume_desc a = { .kind = VOLUME_RAW, .length = 100 };
	struct volume_desc b = { .kind = VOLUME_RAW, .base = 50, .length = 100 };
	struct contents zero = { 5, { { 0, 1, 5, 0 } }, 1, NULL, 0 };
	struct contents one = { 5, { { 0, 1, 5, 1 } }, 1, NULL, 0 };
	struct entries *logs[] = { entries_new(), entries_new() };
	struct volume_desc got;
	struct tree_piece p;
	struct image image;
	struct index *index;

	(void)state;
	entries_add_volume(logs[0], &a);
	entries_add_volume(logs[0], &b);
	entries_add_volume(logs[1], &b);
	entries_add_volume(logs[1], &a);
	for (int i = 0; i < 2; i++) {
		add_contents(logs[i], i ? "1-zero" : "0-zero", &zero);
		add_contents(logs[i], i ? "1-one" : "0-one", &one);
		assert_int_equal(builder_apply(builder, logs[i], "s", NULL), 0);
		entries_free(logs[i]);
	}
	assert_int_equal(kit_seal(builder, &image, NULL), 0);
	builder_free(builder);
	index = kit_open(&image);
	assert_int_equal(index_volume_count(index), 2);
	for (uint32_t node = 1; node <= 4; node++) {
		/* sorted: 0-one 0-zero 1-one 1-zero */
		assert_int_equal(tree_piece(index_tree(index), node, 0, &p), 0);
		assert_int_equal(index_volume(index, p.volume, &got), 0);
		assert_int_equal(got.base, node == 1 || node == 4 ? 50 : 0);
	}
	assert_int_equal(index_volume(index, 2, &got), -EIO);
	index_close(index);
}

static struct index *index_with_xattrs(void)
{
	struct entry_xattr xattrs[] = { { "user.a", "value", 5 }, { "user.empty", "", 0 },
					{ "user.nul", "x\0y", 3 } };
	struct entry entry = { .kind = ENTRY_FILE, .path = "b", .xattrs = xattrs,
			       .xattr_count = 3 };
	struct entries *log = entries_new();

	kit_add(log, &entry);
	entry = (struct entry){ .kind = ENTRY_FILE, .path = "a" };
	kit_add(log, &entry);
	entry = (struct entry){ .kind = ENTRY_DIRECTORY, .path = "c", .xattrs = xattrs,
				.xattr_count = 1 };
	kit_add(log, &entry);
	entry = (struct entry){ .kind = ENTRY_HARDLINK, .path = "d", .target = "b" };
	kit_add(log, &entry);
	return kit_index_of(log);
}

static const struct {
	uint32_t node;
	const char *name;
	size_t size;
	int result;
	const char *value;
} gets[] = {
	{ 2, "user.a", 0, 5, "" }, { 2, "user.a", 5, 5, "value" },
	{ 2, "user.a", 100, 5, "value" }, { 2, "user.a", 4, -ERANGE, "" },
	{ 2, "user.a", 1, -ERANGE, "" }, { 2, "user.empty", 0, 0, "" },
	{ 2, "user.empty", 10, 0, "" }, { 2, "user.nul", 3, 3, "x" },
	{ 2, "user.b", 10, -ENODATA, "" }, { 2, "user", 10, -ENODATA, "" },
	{ 2, "user.aa", 10, -ENODATA, "" }, { 2, "", 10, -ENODATA, "" },
	{ 1, "user.a", 10, -ENODATA, "" }, { 3, "user.a", 10, 5, "value" },
	{ 3, "user.empty", 10, -ENODATA, "" }, { 0, "user.a", 10, -ENODATA, "" },
};

static void test_getxattr(void **state)
{
	struct index *index = index_with_xattrs();

	(void)state;
	for (size_t i = 0; i < COUNT(gets); i++) {
		char value[100] = "";

		assert_int_equal(tree_getxattr(index_tree(index), gets[i].node,
					       gets[i].name, value, gets[i].size),
				 gets[i].result);
		assert_string_equal(value, gets[i].value);
	}
	assert_true(tree_has_xattrs(index_tree(index)));
	index_close(index);
}

static void test_listxattr(void **state)
{
	static const char all[] = "user.a\0user.empty\0user.nul";
	struct index *index = index_with_xattrs();
	const struct tree *tree = index_tree(index);
	char list[100];

	(void)state;
	assert_int_equal(tree_listxattr(tree, 2, NULL, 0), sizeof(all));
	assert_int_equal(tree_listxattr(tree, 2, list, sizeof(all)), sizeof(all));
	assert_memory_equal(list, all, sizeof(all));
	assert_int_equal(tree_listxattr(tree, 2, list, sizeof(all) - 1), -ERANGE);
	assert_int_equal(tree_listxattr(tree, 2, list, 1), -ERANGE);
	assert_int_equal(tree_listxattr(tree, 1, list, sizeof(list)), 0);
	assert_int_equal(tree_listxattr(tree, 3, list, sizeof(list)), 7);
	index_close(index);
}

/* An alias is never handed out: its inode's number answers. */
static void test_a_hard_link_has_its_inodes_xattrs(void **state)
{
	struct index *index = index_with_xattrs();
	uint32_t node = kit_node(index_tree(index), "d");

	(void)state;
	assert_int_equal(node, 2);
	assert_int_equal(tree_listxattr(index_tree(index), node, NULL, 0), 27);
	index_close(index);
	index = kit_make("f:a:1");
	assert_false(tree_has_xattrs(index_tree(index)));
	index_close(index);
}

static void test_readlink(void **state)
{
	char script[1500], target[900];
	char got[TREE_TARGET_BYTES];
	struct index *index;

	(void)state;
	memset(target, 't', sizeof(target) - 1);
	target[sizeof(target) - 1] = '\0';
	snprintf(script, sizeof(script), "s:a:../x/y s:b:%s f:c:1 h:d:a", target);
	index = kit_make(script);
	assert_int_equal(tree_readlink(index_tree(index), 1, got), 0);
	assert_string_equal(got, "../x/y");
	assert_int_equal(tree_readlink(index_tree(index), 2, got), 0);
	assert_string_equal(got, target);
	assert_int_equal(tree_readlink(index_tree(index), 4, got), 0);
	assert_string_equal(got, "../x/y");
	assert_int_equal(tree_readlink(index_tree(index), 3, got), -EINVAL);
	assert_int_equal(tree_readlink(index_tree(index), 0, got), -EINVAL);
	index_close(index);
}

static const struct CMUnitTest contents[] = {
	unit_table(test_pieces_and_holes, good, pieces),
	cmocka_unit_test(test_pieces_from_the_middle_and_the_end),
	unit_table(test_pieces_that_make_no_sense_are_refused, bad, what),
	cmocka_unit_test(test_all_hole_files_are_no_reason_for_lseek),
	cmocka_unit_test(test_volumes_are_kept_once),
	cmocka_unit_test(test_getxattr),
	cmocka_unit_test(test_listxattr),
	cmocka_unit_test(test_a_hard_link_has_its_inodes_xattrs),
	cmocka_unit_test(test_readlink),
};

UNIT_MAIN(contents)
