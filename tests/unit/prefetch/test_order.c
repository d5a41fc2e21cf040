/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of storage, and the blocks that are cut of it. */
#include "dataset/kit.h"

#include <time.h>

#include "prefetch/order.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

static struct made made;
static struct dataset *dataset;
static struct order order;

static void begin(uint64_t first, uint64_t second, uint64_t third)
{
	const uint64_t sizes[MADE_SOURCES] = { first, second, third };

	made_begin(&made, sizes);
}

/* Sorted, apart from each other, not too large, and within their sources. */
static void check_blocks(void)
{
	for (uint32_t i = 0; i < order.block_count; i++) {
		const struct volume_span *b = &order.blocks[i], *last = b - 1;

		assert_true(b->source < MADE_SOURCES);
		assert_true(b->start <= b->end && b->end - b->start <= VOLUME_BLOCK_MOST);
		assert_true(b->start == b->end || b->end <= made.sizes[b->source]);
		if (i > 0)
			assert_true(last->source < b->source ||
				    (last->source == b->source && last->end <= b->start));
	}
}

/* Each file is in one block, or is all pieces of one run of blocks. */
static void check_files(void)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < order.block_count; i++) {
		const struct block_files *f = &order.files[i];
		bool goes_on = i > 0 && f->count == 0 && order.files[i - 1].count == 0 &&
			       order.files[i - 1].first == f->first;

		if (goes_on)
			continue;
		assert_int_equal(f->first, next);
		next += f->count ? f->count : 1;
	}
	assert_int_equal(next, order.count);
}

/* Are all bytes from `start` to `end` in blocks? */
static bool is_covered(uint32_t source, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < order.block_count && start < end; i++) {
		const struct volume_span *b = &order.blocks[i];

		if (b->source == source && b->start <= start && start < b->end)
			start = b->end;
	}
	return start >= end;
}

static void check_coverage(void)
{
	for (uint32_t i = 0; i < order.count; i++) {
		struct volume_span stored;
		struct tree_stat st;

		assert_int_equal(tree_stat(dataset_tree(dataset), order.nodes[i], &st), 0);
		assert_true(dataset_stored(dataset, order.nodes[i], 0, st.size, &stored,
					   NULL));
		if (!is_covered(stored.source, stored.start, stored.end))
			fail_msg("file %u of the order", i);
	}
}

/* Opens what was made and orders it. */
static void make(void)
{
	dataset = made_open(&made);
	assert_int_equal(order_make(dataset, &order), 0);
	check_blocks();
	check_files();
}

static void end(void)
{
	order_free(&order);
	assert_int_equal(order.block_count, 0);
	dataset_close(dataset);
}

/* The names of the files in their order, apart by spaces. */
static void check_names(const char *const *names, uint32_t count)
{
	assert_int_equal(order.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(order.nodes[i], made_node(dataset, names[i]));
}

static void test_by_place_and_not_by_name(void **state)
{
	static const char *const names[] = { "z", "y/b", "a", "y/a", "m" };

	(void)state;
	begin(2 * MIB, 0, 0);
	made_file(&made, "a", 0, 600 * KIB, 1000);
	made_file(&made, "m", 0, 900 * KIB, 1000);
	made_file(&made, "y/a", 0, 700 * KIB, 1000);
	made_file(&made, "y/b", 0, 500 * KIB, 1000);
	made_file(&made, "z", 0, 0, 1000);
	make();
	check_names(names, COUNT(names));
	check_coverage();
	end();
}

static void test_source_by_source(void **state)
{
	static const char *const names[] = { "c", "b", "a", "d", "e" };

	(void)state;
	begin(2 * MIB, 2 * MIB, 2 * MIB);
	made_file(&made, "a", 1, 0, 1000);
	made_file(&made, "b", 0, 1000, 1000);
	made_file(&made, "c", 0, 0, 1000);
	made_file(&made, "d", 1, 2 * MIB - 1000, 1000);
	made_file(&made, "e", 2, 0, 2 * MIB);
	make();
	check_names(names, COUNT(names));
	check_coverage();
	for (uint32_t i = 0; i < order.block_count; i++)
		for (uint32_t k = 0; k < order.files[i].count; k++) {
			struct volume_span stored;

			assert_true(dataset_stored(dataset,
						   order.nodes[order.files[i].first + k],
						   0, 1, &stored, NULL));
			assert_int_equal(stored.source, order.blocks[i].source);
		}
	end();
}

/* A file without stored bytes is not in the order, and a second name is not either. */
static void test_what_is_left_out(void **state)
{
	static const char *const names[] = { "f", "hole-first" };
	struct entry_extent literal, piece;

	(void)state;
	begin(2 * MIB, 0, 0);
	made_file(&made, "f", 0, 10, 1000);
	made_file(&made, "empty", 0, 0, 0);
	made_pieces(&made, "hole", MIB, NULL, 0);
	assert_int_equal(entries_literal_extent(made.log, "abc", 3, &literal), 0);
	made_pieces(&made, "literal", 3, &literal, 1);
	piece = made_extent(&made, 0, 5000, 10, 900000);
	made_pieces(&made, "hole-first", MIB, &piece, 1);
	kit_add(made.log, &(struct entry){ .kind = ENTRY_HARDLINK, .path = "again",
					   .target = "f" });
	kit_add(made.log, &(struct entry){ .kind = ENTRY_SYMLINK, .path = "s",
					   .target = "f" });
	make();
	check_names(names, COUNT(names));
	assert_true(is_covered(0, 10, 1010) && is_covered(0, 5000, 5010));
	end();
}

static void test_nothing_at_all(void **state)
{
	(void)state;
	begin(1, 0, 0);
	made_file(&made, "empty", 0, 0, 0);
	make();
	assert_int_equal(order.count, 0);
	assert_int_equal(order.block_count, 0);
	end();
}

/* Files of which the same bytes are stored once. */
static void make_duplicates(unsigned count)
{
	begin(2 * MIB, 0, 0);
	for (unsigned i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		made_file(&made, name, 0, 4096, 300 * KIB);
	}
	make();
	assert_int_equal(order.count, count);
	assert_int_equal(order.blocks[0].end - order.blocks[0].start, 300 * KIB);
}

/* They go by with one read. */
static void test_duplicates_share_a_block(void **state)
{
	(void)state;
	make_duplicates(20);
	assert_int_equal(order.block_count, 1);
	assert_int_equal(order.files[0].count, 20);
	end();
}

/* But a block is no more than a few MiB of files, whatever it is stored in. */
static void test_many_duplicates_are_several_blocks(void **state)
{
	(void)state;
	make_duplicates(100);
	assert_int_equal(order.block_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_in_range(order.files[i].count, 1, 27); /* of 8 MiB */
		assert_true(i == 0 || order.blocks[i].start == order.blocks[i].end);
	}
	end();
}

/* Small files with headers between them: about a MiB a block, and not much more. */
static void test_small_files_come_together(void **state)
{
	const uint64_t most = VOLUME_BLOCK;

	(void)state;
	begin(40 * MIB, 0, 0);
	for (unsigned i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		made_file(&made, name, 0, (uint64_t)i * 110 * KIB + 512, 109 * KIB);
	}
	make();
	check_coverage();
	assert_in_range(order.block_count, 30, 50);
	for (uint32_t i = 0; i < order.block_count; i++)
		assert_true(order.blocks[i].end - order.blocks[i].start <= most);
	end();
}

/* A little that is stored far away from the rest costs no read of what lies between. */
static void test_gaps_are_not_read(void **state)
{
	(void)state;
	begin(40 * MIB, 0, 0);
	for (unsigned i = 0; i < 40; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		made_file(&made, name, 0, i * MIB, 1000);
	}
	make();
	assert_int_equal(order.block_count, 40);
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(order.blocks[i].end - order.blocks[i].start, 1000);
	end();
}

/* Sizes about which a large file begins to come in pieces. */
static const uint64_t large_sizes[] = { MIB, 4 * MIB, 4 * MIB + 1, 5 * MIB - 1, 5 * MIB,
					8 * MIB, 8 * MIB + 1, 20 * MIB + 77 };

static void test_large_files_come_in_pieces(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(large_sizes); k++) {
		uint64_t at = 0;

		begin(40 * MIB, 0, 0);
		made_file(&made, "before", 0, 5, 2000);
		made_file(&made, "large", 0, 5000, large_sizes[k]);
		made_file(&made, "other", 0, 5000 + large_sizes[k], 5 * MIB);
		make();
		check_coverage();
		for (uint32_t i = 0; i < order.block_count; i++) {
			const struct volume_span *b = &order.blocks[i];

			if (order.files[i].count || order.files[i].first != 1)
				continue;
			assert_int_equal(order_piece(&order, i), at);
			assert_int_equal(b->start, 5000 + at);
			at += b->end - b->start;
		}
		assert_int_equal(at, large_sizes[k] > 4 * MIB ? large_sizes[k] : 0);
		end();
	}
}

/* A packed file may be one huge file: each place is found at once. */
static void test_a_huge_file_has_many_pieces(void **state)
{
	const uint64_t size = UINT64_C(256) << 30;
	struct timespec begun, now;

	(void)state;
	begin(size, 0, 0);
	made_file(&made, "huge", 0, 0, size);
	make();
	assert_int_equal(order.block_count, size / MIB);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (uint32_t i = 0; i < order.block_count; i++)
		assert_int_equal(order_piece(&order, i), i * MIB);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert_true(now.tv_sec - begun.tv_sec < 10);
	end();
}

/* Pieces that lie in two places, and the larger one comes first or last. */
static void test_files_in_several_places(void **state)
{
	struct entry_extent pieces[3];

	(void)state;
	begin(40 * MIB, 3 * MIB, 0);
	pieces[0] = made_extent(&made, 0, 20 * MIB, MIB, 0);
	pieces[1] = made_extent(&made, 0, 2 * MIB, 9 * MIB, MIB);
	pieces[2] = made_extent(&made, 1, 0, 2 * MIB, 10 * MIB);
	made_pieces(&made, "scattered", 12 * MIB, pieces, 3);
	pieces[0] = made_extent(&made, 0, 30 * MIB, 10, 0);
	pieces[1] = made_extent(&made, 0, 30 * MIB + 10, 10 * MIB - 10, 10);
	made_pieces(&made, "in-two", 10 * MIB, pieces, 2);
	make();
	assert_int_equal(order.count, 2);
	assert_true(is_covered(0, 20 * MIB, 21 * MIB));
	end();
}

/* Hostile overlaps: each byte is in one block, and blocks are not many more than files. */
static void check_bounds(void)
{
	uint64_t most = order.count;

	for (unsigned i = 0; i < MADE_SOURCES; i++)
		most += made.sizes[i] / MIB + 1;
	assert_true(order.block_count <= most);
}

static void test_files_that_all_are_everything(void **state)
{
	(void)state;
	begin(16 * MIB, 0, 0);
	for (unsigned i = 0; i < 1000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		made_file(&made, name, 0, 0, 16 * MIB);
	}
	make();
	check_bounds();
	check_coverage();
	end();
}

static void test_files_that_overlap_anyhow(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		begin(24 * MIB, 12 * MIB, 1);
		for (unsigned i = 0; i < 300; i++) {
			uint32_t source = (unsigned)rand_r(&seed) % 2;
			uint64_t size = made.sizes[source];
			uint64_t start = (uint64_t)rand_r(&seed) % size;
			uint64_t left = size - start, length;
			char name[16];

			length = (uint64_t)rand_r(&seed) % (i % 10 ? 300 * KIB : 9 * MIB);
			snprintf(name, sizeof(name), "f%u", i);
			made_file(&made, name, source, start,
				  length < left ? length : left);
		}
		make();
		check_bounds();
		end();
	}
}

/* Up to the last byte of a source, and a source of one byte. */
static void test_the_ends_of_sources(void **state)
{
	(void)state;
	begin(3 * MIB + 1, 1, 0);
	made_file(&made, "last", 0, 3 * MIB, 1);
	made_file(&made, "before", 0, 2 * MIB, MIB);
	made_file(&made, "one", 1, 0, 1);
	make();
	check_coverage();
	end();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_by_place_and_not_by_name),
	cmocka_unit_test(test_source_by_source),
	cmocka_unit_test(test_what_is_left_out),
	cmocka_unit_test(test_nothing_at_all),
	cmocka_unit_test(test_duplicates_share_a_block),
	cmocka_unit_test(test_many_duplicates_are_several_blocks),
	cmocka_unit_test(test_small_files_come_together),
	cmocka_unit_test(test_gaps_are_not_read),
	cmocka_unit_test(test_large_files_come_in_pieces),
	cmocka_unit_test(test_a_huge_file_has_many_pieces),
	cmocka_unit_test(test_files_in_several_places),
	cmocka_unit_test(test_files_that_all_are_everything),
	cmocka_unit_test(test_files_that_overlap_anyhow),
	cmocka_unit_test(test_the_ends_of_sources),
};

UNIT_MAIN(tests)
