/* The log of entries that a format writes. */
#include "unit.h"

#include <errno.h>

#include "tree/entries.h"

static void test_everything_is_copied(void **state)
{
	struct entries *log = entries_new();
	char path[] = "a/b", target[] = "t", name[] = "user.x", value[] = "v\0w";
	struct entry_extent extent = { 1, 2, 3, 4 };
	struct entry_xattr xattr = { name, value, sizeof(value) };
	struct entry entry = { .path = path, .target = target, .size = 9,
			       .extents = &extent, .extent_count = 1,
			       .xattrs = &xattr, .xattr_count = 1 };
	const struct entry *got;

	(void)state;
	assert_int_equal(entries_add(log, &entry), 0);
	memset(path, 'X', 3);
	target[0] = name[0] = value[0] = 'X';
	extent.offset = 77;
	got = entries_get(log, 0);
	assert_int_equal(entries_count(log), 1);
	assert_string_equal(got->path, "a/b");
	assert_string_equal(got->target, "t");
	assert_int_equal(got->extents[0].offset, 2);
	assert_string_equal(got->xattrs[0].name, "user.x");
	assert_memory_equal(got->xattrs[0].value, "v\0w", 4);
	entries_free(log);
}

static const uint64_t limit = VOLUME_OFFSET_LIMIT;

static const struct {
	uint32_t source;
	uint64_t offset, length;
	int err;
	uint32_t volume;
	uint64_t at; /* in the volume */
} raws[] = {
	{ 0, 512, 10, 0, 0, 512 },
	{ 0, UINT64_C(1) << 39, 1, 0, 0, UINT64_C(1) << 39 },
	{ 0, (UINT64_C(1) << 40) - 1, 10, 0, 0, (UINT64_C(1) << 40) - 1 },
	{ 0, UINT64_C(1) << 40, 10, 0, 1, 0 },
	{ 1, 512, 10, 0, 2, 512 },
	{ 0, 7, 1, 0, 0, 7 },
	{ 0, (UINT64_C(1) << 41) + 5, UINT64_C(1) << 41, 0, 3, 5 },
	{ 0, (UINT64_C(1) << 42) - 1, 2, 0, 4, (UINT64_C(1) << 40) - 1 },
	{ 0, UINT64_C(1) << 43, 0, 0, 5, 0 },
	{ 0, (UINT64_C(1) << 43) - 1, 2, -EBADMSG, 0, 0 },
	{ 0, UINT64_MAX, 2, -EBADMSG, 0, 0 },
	{ 0, 0, UINT64_MAX, -EBADMSG, 0, 0 },
};

static void test_raw_extents_share_volumes(void **state)
{
	struct entries *log = entries_new();

	(void)state;
	for (size_t i = 0; i < COUNT(raws); i++) {
		struct entry_extent x = { 0 };

		assert_int_equal(entries_raw_extent(log, raws[i].source,
						    UINT64_C(1) << 43, raws[i].offset,
						    raws[i].length, &x), raws[i].err);
		if (raws[i].err)
			continue;
		assert_int_equal(x.volume, raws[i].volume);
		assert_int_equal(x.offset, raws[i].at);
		assert_int_equal(x.length, raws[i].length);
	}
	assert_int_equal(entries_volume_count(log), 6);
	assert_int_equal(entries_volume(log, 1)->base, limit);
	assert_int_equal(entries_volume(log, 1)->length, (UINT64_C(1) << 43) - limit);
	assert_int_equal(entries_volume(log, 2)->source, 1);
	entries_free(log);
}

static void add_nested(struct entries *log, struct entries *nested)
{
	struct entry entry = { .kind = ENTRY_NESTED, .path = "n.tar", .nested = nested };

	assert_int_equal(entries_add(log, &entry), 0);
}

static void test_left_out_counts_what_is_shown_of_nested_ones(void **state)
{
	struct entries *log = entries_new(), *good = entries_new(), *bad = entries_new();

	(void)state;
	add_nested(log, good);
	add_nested(log, bad);
	entries_leave_out(log);
	entries_leave_out(good);
	entries_leave_out(good);
	entries_leave_out(bad);
	entries_set_failed(bad);
	assert_int_equal(entries_left_out(log), 3);
	assert_true(entries_failed(bad));
	assert_false(entries_failed(good));
	entries_free(log); /* and the nested ones with it */
	entries_free(NULL);
}

static const struct CMUnitTest entries[] = {
	cmocka_unit_test(test_everything_is_copied),
	cmocka_unit_test(test_raw_extents_share_volumes),
	cmocka_unit_test(test_left_out_counts_what_is_shown_of_nested_ones),
};

UNIT_MAIN(entries)
