/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log of entries that a format writes. */
#include "unit.h"

#include <errno.h>

#include "build/entries.h"

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

/* Of each kind some, at the edges of what is packed and beyond. */
static void make_entry(size_t i, struct entry *entry, struct entry_extent *x, char *path)
{
	static const int64_t times[] = { 0, -1, 1600000000, (INT64_C(1) << 39) - 1,
					 -(INT64_C(1) << 39), INT64_C(1) << 39, INT64_MIN };
	static const uint64_t sizes[] = { 0, 1, 110000, (UINT64_C(1) << 48) - 1,
					  UINT64_C(1) << 48, UINT64_MAX };
	size_t length = i % 97 == 0 ? 5000 : i % 40;

	memset(path, 'a' + (int)(i % 26), length);
	snprintf(path + length, 32, "/%zu", i);
	*x = (struct entry_extent){ .offset = i % 5 ? i : limit - 1 + i % 2,
				    .volume = i % 11 ? 3 : 1U << 24,
				    .file_offset = i % 13 == 0 };
	*entry = (struct entry){
		.kind = i % 7 ? ENTRY_FILE : ENTRY_DIRECTORY, .path = path,
		.target = i % 31 ? NULL : "target", .mode = (uint32_t)(i % 512),
		.uid = (uint32_t)(i % 3), .gid = UINT32_MAX - (uint32_t)(i % 2),
		.mtime = times[i % COUNT(times)], .mtime_ns = (uint32_t)(i * 7919),
		.size = sizes[i % COUNT(sizes)],
	};
	x->length = entry->size;
	if (entry->size) {
		entry->extents = x;
		entry->extent_count = 1;
	}
}

static void assert_same(const struct entry *got, const struct entry *want)
{
	assert_int_equal(got->kind, want->kind);
	assert_string_equal(got->path, want->path);
	assert_int_equal(!got->target, !want->target);
	assert_int_equal(got->mode, want->mode);
	assert_int_equal(got->uid, want->uid);
	assert_int_equal(got->gid, want->gid);
	assert_true(got->mtime == want->mtime);
	assert_int_equal(got->mtime_ns, want->mtime_ns);
	assert_int_equal(got->size, want->size);
	assert_int_equal(got->extent_count, want->extent_count);
	if (want->extent_count == 0)
		return;
	assert_int_equal(got->extents->file_offset, want->extents->file_offset);
	assert_int_equal(got->extents->offset, want->extents->offset);
	assert_int_equal(got->extents->length, want->extents->length);
	assert_int_equal(got->extents->volume, want->extents->volume);
}

static void compare_all(struct entries *log, size_t from, size_t count)
{
	struct entry_extent x;
	struct entry want;
	char path[6000];

	for (size_t k = from; k < count; k++) {
		size_t i = k % 3 ? k : count - 1 - (k - from); /* there and back */

		make_entry(i, &want, &x, path);
		assert_same(entries_get(log, i), &want);
	}
}

static void test_entries_come_back_as_they_were(void **state)
{
	enum { N = 30000 };
	struct entries *log = entries_new();
	struct entry_extent x;
	struct entry entry;
	char path[6000];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		make_entry(i, &entry, &x, path);
		assert_int_equal(entries_add(log, &entry), 0);
	}
	assert_int_equal(entries_count(log), N);
	compare_all(log, 0, N);
	for (size_t i = 0; i < N; i += 1000) {
		entries_get(log, i);
		entries_release(log, i);
		compare_all(log, i, i + 1000);
	}
	compare_all(log, N - 1000, N);
	entries_free(log);
}

static void test_some_are_in_hand(void **state)
{
	const struct entry *held[ENTRIES_CACHED];
	struct entries *log = entries_new();
	struct entry_extent x;
	struct entry want;
	char path[6000];

	(void)state;
	for (size_t i = 0; i < ENTRIES_CACHED; i++) {
		make_entry(i + 1, &want, &x, path);
		assert_int_equal(entries_add(log, &want), 0);
	}
	for (size_t i = 0; i < ENTRIES_CACHED; i++)
		held[i] = entries_get(log, i);
	for (size_t i = 0; i < ENTRIES_CACHED; i++) {
		make_entry(i + 1, &want, &x, path);
		assert_same(held[i], &want);
	}
	entries_free(log);
}


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

/* Guarded and plain extents of the same source are in volumes of their own. */
static void test_guards_have_volumes_of_their_own(void **state)
{
	struct entries *log = entries_new();
	struct entry_extent plain, guarded, far;

	(void)state;
	assert_int_equal(entries_raw_extent(log, 0, 2 * limit, 100, 10, &plain), 0);
	assert_int_equal(entries_guarded_extent(log, 0, 2 * limit, GUARD_HDF5_HEAP, 100, 10,
						&guarded), 0);
	assert_int_equal(entries_guarded_extent(log, 0, 2 * limit, GUARD_HDF5_HEAP,
						limit + 1, 10, &far), 0);
	assert_int_equal(plain.volume, 0);
	assert_int_equal(guarded.volume, 1);
	assert_int_equal(guarded.offset, 100);
	assert_int_equal(far.volume, 2);
	assert_int_equal(far.offset, 1);
	assert_int_equal(entries_guarded_extent(log, 0, 2 * limit, GUARD_HDF5_HEAP, 500, 20,
						&guarded), 0);
	assert_int_equal(guarded.volume, 1);
	assert_int_equal(entries_guarded_extent(log, 0, 100, GUARD_HDF5_HEAP, 95, 6,
						&guarded), -EBADMSG);
	assert_int_equal(entries_volume_count(log), 3);
	assert_int_equal(entries_volume(log, 0)->guard, GUARD_NONE);
	assert_int_equal(entries_volume(log, 1)->guard, GUARD_HDF5_HEAP);
	assert_int_equal(entries_volume(log, 2)->base, limit);
	entries_free(log);
}

static const uint32_t zlib[VOLUME_CODECS] = { 1 }, shuffled[VOLUME_CODECS] = { 0x406, 1 };

static int add_chunk(struct entries *log, uint32_t source, const uint32_t *codecs,
		     uint64_t plain, struct entry_extent *out)
{
	struct entry_chunk chunk = { .source = source, .source_size = 10000,
				     .codecs = codecs, .stored_at = 70, .skipped = 1,
				     .stored_length = 30, .plain = plain };

	return entries_coded_extent(log, &chunk, out);
}

static const struct {
	uint32_t source;
	const uint32_t *codecs;
	uint64_t plain;
	uint32_t volume;
	uint64_t at;
} chunks[] = {
	{ 0, zlib, 100, 0, 0 }, { 0, zlib, 50, 0, 100 }, { 0, shuffled, 10, 1, 0 },
	{ 1, zlib, 10, 2, 0 },  { 0, zlib, 7, 0, 150 },  { 0, shuffled, 1, 1, 10 },
};

static void test_chunks_lie_one_behind_the_other(void **state)
{
	struct entries *log = entries_new();
	const struct volume_chunk *got;

	(void)state;
	for (size_t i = 0; i < COUNT(chunks); i++) {
		struct entry_extent x = { .file_offset = 99 };

		assert_int_equal(add_chunk(log, chunks[i].source, chunks[i].codecs,
					   chunks[i].plain, &x), 0);
		assert_int_equal(x.volume, chunks[i].volume);
		assert_int_equal(x.offset, chunks[i].at);
		assert_int_equal(x.length, chunks[i].plain);
		assert_int_equal(x.file_offset, 0);
	}
	assert_int_equal(entries_volume_count(log), 3);
	assert_int_equal(entries_volume(log, 0)->kind, VOLUME_CODED);
	assert_int_equal(entries_volume(log, 0)->length, 157);
	assert_int_equal(entries_volume(log, 0)->chunk_count, 3);
	assert_memory_equal(entries_volume(log, 1)->codecs, shuffled, sizeof(shuffled));
	got = entries_chunks(log, 0);
	assert_int_equal(got[2].start, 150);
	assert_int_equal(got[2].stored_at, 70);
	assert_int_equal(got[2].stored_length, 30);
	assert_int_equal(got[2].skipped, 1);
	entries_free(log);
}

static void test_a_full_volume_is_followed_by_another(void **state)
{
	const uint64_t most = VOLUME_CHUNK_LIMIT;
	struct entries *log = entries_new();
	struct entry_extent x;

	(void)state;
	for (uint64_t i = 0; i < limit / most - 1; i++)
		assert_int_equal(add_chunk(log, 0, zlib, most, &x), 0);
	assert_int_equal(add_chunk(log, 0, zlib, most - 1, &x), 0);
	assert_int_equal(x.volume, 0);
	assert_int_equal(add_chunk(log, 0, zlib, 2, &x), 0); /* one byte too many */
	assert_int_equal(x.volume, 1);
	assert_int_equal(x.offset, 0);
	assert_int_equal(add_chunk(log, 0, zlib, 1, &x), 0); /* not back into the first */
	assert_int_equal(x.volume, 1);
	assert_int_equal(x.offset, 2);
	assert_int_equal(entries_volume(log, 0)->length, limit - 1);
	assert_int_equal(entries_volume(log, 0)->chunk_count, limit / most);
	assert_int_equal(entries_volume(log, 1)->chunk_count, 2);
	entries_free(log);
}

static const struct {
	const char *what;
	uint64_t stored_at, stored_length, plain;
} bad_chunks[] = {
	{ "nothing stored", 10, 0, 5 },
	{ "nothing in it", 10, 5, 0 },
	{ "past the end", 9990, 11, 5 },
	{ "wraps round", UINT64_MAX, 2, 5 },
	{ "too much stored", 0, VOLUME_CHUNK_LIMIT + UINT64_C(1), 5 },
	{ "32 bits and more stored", 0, (UINT64_C(1) << 32) + 5, 5 },
	{ "too much in it", 10, 5, VOLUME_CHUNK_LIMIT + UINT64_C(1) },
	{ "endless", 10, 5, UINT64_MAX },
};

static void test_chunks_that_make_no_sense_are_refused(void **state)
{
	struct entries *log = entries_new();
	struct entry_extent x;

	(void)state;
	for (size_t i = 0; i < COUNT(bad_chunks); i++) {
		struct entry_chunk chunk = {
			.source_size = i > 3 ? UINT64_C(1) << 40 : 10000, .codecs = zlib,
			.stored_at = bad_chunks[i].stored_at, .plain = bad_chunks[i].plain,
			.stored_length = bad_chunks[i].stored_length,
		};

		if (entries_coded_extent(log, &chunk, &x) != -EBADMSG)
			fail_msg("%s: was taken", bad_chunks[i].what);
	}
	assert_int_equal(entries_volume_count(log), 0);
	entries_free(log);
}

static void test_literals_are_copied(void **state)
{
	struct entries *log = entries_new();
	struct entry_extent x;
	char text[] = "one";

	(void)state;
	assert_int_equal(entries_literal_extent(log, text, 3, &x), 0);
	assert_int_equal(x.offset, 0);
	memcpy(text, "two", 3);
	assert_int_equal(entries_literal_extent(log, text, 3, &x), 0);
	assert_int_equal(x.volume, 0);
	assert_int_equal(x.offset, 3);
	assert_int_equal(x.length, 3);
	text[0] = '!';
	assert_int_equal(entries_volume(log, 0)->kind, VOLUME_LITERAL);
	assert_int_equal(entries_volume(log, 0)->length, 6);
	assert_memory_equal(entries_literals(log, 0), "onetwo", 6);
	entries_free(log);
}

static void test_what_grows_is_not_added_with_a_length(void **state)
{
	struct entries *log = entries_new();
	struct volume_desc desc = { .kind = VOLUME_LITERAL, .length = 1 };

	(void)state;
	assert_int_equal(entries_add_volume(log, &desc), -EINVAL);
	desc.kind = VOLUME_CODED;
	assert_int_equal(entries_add_volume(log, &desc), -EINVAL);
	assert_int_equal(entries_volume_count(log), 0);
	desc.kind = VOLUME_RAW;
	assert_int_equal(entries_add_volume(log, &desc), 0);
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
	cmocka_unit_test(test_entries_come_back_as_they_were),
	cmocka_unit_test(test_some_are_in_hand),
	cmocka_unit_test(test_raw_extents_share_volumes),
	cmocka_unit_test(test_guards_have_volumes_of_their_own),
	cmocka_unit_test(test_chunks_lie_one_behind_the_other),
	cmocka_unit_test(test_a_full_volume_is_followed_by_another),
	cmocka_unit_test(test_chunks_that_make_no_sense_are_refused),
	cmocka_unit_test(test_literals_are_copied),
	cmocka_unit_test(test_what_grows_is_not_added_with_a_length),
	cmocka_unit_test(test_left_out_counts_what_is_shown_of_nested_ones),
};

UNIT_MAIN(entries)
