/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are compared with their checksums before they are given out. */
#include "dataset/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset/read_ahead.h"
#include "place/index_file.h"
#include "dataset/survey.h"
#include "stats/stats.h"
#include "index/block_sums.h"
#include "build/index_copy.h"
#include "index/layout.h"
#include "index/checksum.h"
#include "os/pool.h"
#include "../build/publish.h"

enum {
	SMALL = 100000, SMALL_AT = 5120,
	PARTS = 3 << 20, PARTS_AT = 1 << 20,
	LARGE = DATASET_CHECK_MOST + 1, LARGE_AT = 5 << 20,
	SOURCE = 12 << 20,
	HOLED = 300000, HOLED_AT = 512 << 10, HOLED_FROM = 100000, HOLED_BYTES = 90000,
	PIECE = 64 << 10, /* what is read of a file at a time */
	NODES = 16,
	BLOCKS_MOST = LARGE / BLOCK_BYTES + 1,
};

/* The result of a survey. */
struct found {
	uint64_t sums[NODES];
	uint64_t blocks[NODES][BLOCKS_MOST];
	uint64_t bytes;
	uint32_t files;
	uint32_t mismatches, failures;
	struct read_fault fault; /* the last one */
};

/* The tests run with one thread: nothing here is shared. */
static void count_bytes(void *context, unsigned worker, uint32_t node, uint64_t offset,
			const void *bytes, size_t length)
{
	struct found *found = context;

	(void)worker;
	assert_in_range(node, 0, NODES - 1);
	assert_int_equal(offset % BLOCK_BYTES, 0);
	found->bytes += length;
	for (size_t at = 0, n; at < length; at += n) {
		n = length - at < BLOCK_BYTES ? length - at : BLOCK_BYTES;
		assert_in_range((offset + at) / BLOCK_BYTES, 0, BLOCKS_MOST - 1);
		found->blocks[node][(offset + at) / BLOCK_BYTES] =
			sum_of((const char *)bytes + at, n);
	}
}

static bool note_file(void *context, unsigned worker, const struct survey_file *file)
{
	struct found *found = context;

	(void)worker;
	assert_in_range(file->node, 0, NODES - 1);
	found->files++;
	if (file->size)
		found->sums[file->node] = file->sum;
	if (file->fault) {
		found->mismatches += file->fault->mismatch;
		found->failures += !file->fault->mismatch;
		found->fault = *file->fault;
	}
	return true;
}

static struct found survey(struct dataset *ds)
{
	static const struct survey_ops ops = { count_bytes, note_file };
	struct found found = { .files = 0 };
	struct survey_progress progress = { 0 };
	const struct survey_config config = { 1, &ops, &found, &progress };

	assert_int_equal(survey_run(ds, &config), 0);
	assert_int_equal(atomic_load(&progress.files), found.files);
	assert_int_equal(atomic_load(&progress.all_files), found.files);
	return found;
}

static void fill_blocks(const struct index *index, const struct found *found,
			struct block_sums *out)
{
	assert_int_equal(block_sums_allocate(index, out), 0);
	for (uint32_t node = 0; node < tree_count(index_tree(index)); node++) {
		uint64_t *at = block_sums_of_file(index, out, node);
		struct tree_stat st;

		assert_int_equal(tree_stat(index_tree(index), node, &st), 0);
		for (uint64_t i = 0; at && i <= (st.size - 1) / BLOCK_BYTES; i++)
			at[i] = found->blocks[node][i];
	}
}

static void publish_sums(const struct found *found, bool of_blocks)
{
	const struct image_access access = { 0600, getuid(), getgid() };
	struct block_sums blocks;
	struct index *index;
	struct image image;

	assert_int_equal(index_open("made.gidx", &index, NULL), 0);
	assert_int_equal(index_copy(index, &image), 0);
	fill_blocks(index, found, &blocks);
	index_close(index);
	assert_int_equal(image_set_sums(&image, found->sums, of_blocks ? &blocks : NULL), 0);
	assert_int_equal(publish_at(&image, "made.gidx", &access, NULL), 0);
	image_free(&image);
	block_sums_free(&blocks);
}

static struct dataset *open_again(int checksums)
{
	char source[] = "0.bin", place[] = "made.gidx", *sources[] = { source };
	const struct dataset_config config = { .index = place, .checksums = checksums };
	struct dataset *ds;
	struct error e = { 0 };

	if (dataset_open(&config, sources, 1, &ds, &e) < 0)
		fail_msg("%s", e.text);
	return ds;
}

/* `of_blocks`: otherwise it is as version 0.1 made it. */
static struct dataset *open_made(bool of_blocks)
{
	const uint64_t sizes[MADE_SOURCES] = { SOURCE };
	struct entry_extent holed;
	struct dataset *ds;
	struct made made;
	struct found found;

	made_begin(&made, sizes);
	made_file(&made, "small", 0, SMALL_AT, SMALL);
	made_file(&made, "parts", 0, PARTS_AT, PARTS);
	made_file(&made, "large", 0, LARGE_AT, LARGE);
	made_file(&made, "empty", 0, 0, 0);
	holed = made_extent(&made, 0, HOLED_AT, HOLED_BYTES, HOLED_FROM);
	made_pieces(&made, "holed", HOLED, &holed, 1);
	ds = made_open(&made);
	assert_false(dataset_has_sums(ds));
	found = survey(ds);
	assert_int_equal(found.files, 5);
	assert_int_equal(found.bytes, SMALL + PARTS + LARGE + HOLED);
	assert_int_equal(found.mismatches + found.failures, 0);
	dataset_close(ds);
	publish_sums(&found, of_blocks);
	ds = open_again(CHECKSUMS_ON);
	assert_true(dataset_has_sums(ds));
	return ds;
}

static struct dataset *open_summed(void)
{
	return open_made(true);
}

/* As storage does it: nobody has written, and the time of change is the same. */
static void flip(uint64_t offset)
{
	int fd = open("0.bin", O_RDWR);
	struct timespec times[2];
	unsigned char byte;
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
	byte ^= 0x20;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

struct reading {
	struct dataset *ds;
	const char *path;
	uint64_t offset;
	size_t length;
	ssize_t result;
	unsigned char *bytes;
};

static void do_reading(void *argument)
{
	struct reading *r = argument;

	r->result = dataset_read(r->ds, made_node(r->ds, r->path), r->bytes, r->length,
				 r->offset, PLAIN_READ);
}

/* The result of a read; `place` is the file's offset in the source. */
static ssize_t read_at(struct dataset *ds, const char *path, uint64_t place, uint64_t offset,
		       size_t length)
{
	struct reading r = { ds, path, offset, length, 0, malloc(length + 1) };

	assert_non_null(r.bytes);
	free(unit_stderr_of(do_reading, &r));
	for (ssize_t i = 0; i < r.result; i++)
		assert_int_equal(r.bytes[i], made_byte(0, place + offset + (uint64_t)i));
	free(r.bytes);
	return r.result;
}

/* Nothing stays in memory. */
static void drop_cache(struct dataset *ds)
{
	dataset_limit_cache(ds, 0);
	dataset_limit_cache(ds, 64 << 20);
}

static void test_sound_files_are_given_out(void **state)
{
	struct dataset *ds = open_summed();
	uint64_t files = stats_get(COUNTER_files_checked);
	uint64_t blocks = stats_get(COUNTER_blocks_checked);

	(void)state;
	assert_int_equal(read_at(ds, "small", SMALL_AT, 0, 1 << 17), SMALL);
	assert_int_equal(stats_get(COUNTER_files_checked), files + 1);
	assert_int_equal(read_at(ds, "small", SMALL_AT, SMALL - 10, 100), 10);
	assert_int_equal(read_at(ds, "small", SMALL_AT, SMALL, 100), 0);
	assert_int_equal(stats_get(COUNTER_blocks_checked), blocks + 2);
	/* in parts: each block is compared once, and read once */
	blocks = stats_get(COUNTER_blocks_checked);
	for (uint64_t at = 0; at < PARTS; at += PIECE)
		assert_int_equal(read_at(ds, "parts", PARTS_AT, at, PIECE), PIECE);
	assert_int_equal(stats_get(COUNTER_blocks_checked), blocks + PARTS / BLOCK_BYTES);
	/* all of the block has been given out, so it is read and compared anew */
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 5, PIECE), PIECE);
	assert_int_equal(stats_get(COUNTER_blocks_checked), blocks + PARTS / BLOCK_BYTES + 1);
	assert_int_equal(stats_get(COUNTER_files_checked), files + 4);
	assert_int_equal(stats_get(COUNTER_checksum_errors), 0);
	dataset_close(ds);
}

/* Any part of files of any size, whose last block may be of one byte. */
static void test_any_part_is_what_it_should_be(void **state)
{
	static const size_t lengths[] = { 1, 4096, PIECE, BLOCK_BYTES, 1 << 20, LARGE };
	struct dataset *ds = open_summed();

	(void)state;
	for (size_t i = 0; i < COUNT(lengths); i++) {
		for (uint64_t at = 0; at < LARGE; at += 3 * BLOCK_BYTES / 2 + 1) {
			uint64_t rest = LARGE - at;
			ssize_t n = lengths[i] < rest ? (ssize_t)lengths[i] : (ssize_t)rest;

			assert_int_equal(read_at(ds, "large", LARGE_AT, at, lengths[i]), n);
		}
	}
	assert_int_equal(read_at(ds, "large", LARGE_AT, LARGE - 1, 100), 1);
	assert_int_equal(read_at(ds, "large", LARGE_AT, LARGE, 100), 0);
	assert_int_equal(read_at(ds, "large", LARGE_AT, (uint64_t)LARGE << 20, 100), 0);
	assert_int_equal(stats_get(COUNTER_checksum_errors), 0);
	dataset_close(ds);
}

static void test_damage_is_that_files_alone(void **state)
{
	struct dataset *ds = open_summed();

	(void)state;
	flip(SMALL_AT + 70000);
	assert_int_equal(read_at(ds, "small", SMALL_AT, 0, 1 << 17), -EIO);
	assert_int_equal(read_at(ds, "small", SMALL_AT, 0, 10), -EIO);
	assert_int_equal(read_at(ds, "small", SMALL_AT, SMALL - 10, 100), -EIO);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 0, PIECE), PIECE);
	assert_in_range(stats_get(COUNTER_checksum_errors), 3, 3);
	/* what is mended is given out */
	flip(SMALL_AT + 70000);
	assert_int_equal(read_at(ds, "small", SMALL_AT, 0, 1 << 17), SMALL);
	dataset_close(ds);
}

/* A byte in each block in turn, of each file: a survey names what reads refuse. */
static void damage_each_block(struct dataset *ds, const char *path, uint64_t place,
			      uint64_t size)
{
	for (uint64_t bad = 0; bad < size; bad += BLOCK_BYTES) {
		uint64_t last = size - bad < BLOCK_BYTES ? size - 1 : bad + BLOCK_BYTES - 1;
		struct found found;

		flip(place + last);
		found = survey(ds);
		assert_int_equal(found.mismatches, 1);
		assert_int_equal(found.failures, 0);
		assert_string_equal(found.fault.source, "0.bin");
		assert_int_equal(found.fault.at, place + bad);
		drop_cache(ds);
		for (uint64_t at = 0; at < size; at += BLOCK_BYTES) {
			ssize_t n = size - at < BLOCK_BYTES ? (ssize_t)(size - at) :
							      BLOCK_BYTES;

			assert_int_equal(read_at(ds, path, place, at, BLOCK_BYTES),
					 at == bad ? -EIO : n);
			assert_int_equal(read_at(ds, path, place, at, 1),
					 at == bad ? -EIO : 1);
		}
		/* and a read that touches it among others */
		assert_int_equal(read_at(ds, path, place, 0, size), -EIO);
		flip(place + last);
	}
	assert_int_equal(read_at(ds, path, place, 0, size), size);
}

static void test_damage_is_that_blocks_alone(void **state)
{
	struct dataset *ds = open_summed();

	(void)state;
	damage_each_block(ds, "small", SMALL_AT, SMALL);
	damage_each_block(ds, "parts", PARTS_AT, PARTS);
	damage_each_block(ds, "large", LARGE_AT, LARGE);
	dataset_close(ds);
}

/* A block that was right once is compared again when it is read again. */
static void test_what_was_right_may_rot(void **state)
{
	struct dataset *ds = open_summed();

	(void)state;
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 10, PIECE), PIECE);
	assert_int_equal(read_at(ds, "large", LARGE_AT, 0, LARGE), LARGE);
	flip(PARTS_AT + 100000);
	flip(LARGE_AT + 200000);
	/* what is in memory is what was compared */
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 20, PIECE), PIECE);
	drop_cache(ds);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 20, PIECE), -EIO);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, BLOCK_BYTES, PIECE), PIECE);
	assert_int_equal(read_at(ds, "large", LARGE_AT, 0, LARGE), -EIO);
	assert_int_equal(read_at(ds, "large", LARGE_AT, BLOCK_BYTES + 5, 10), -EIO);
	assert_int_equal(read_at(ds, "large", LARGE_AT, 2 * BLOCK_BYTES, LARGE),
			 LARGE - 2 * BLOCK_BYTES);
	flip(PARTS_AT + 100000);
	flip(LARGE_AT + 200000);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 20, PIECE), PIECE);
	assert_int_equal(read_at(ds, "large", LARGE_AT, 0, LARGE), LARGE);
	dataset_close(ds);
}

/* A block that was read ahead is wrong, and storage is not. */
static void test_what_is_wrong_in_memory_is_read_again(void **state)
{
	struct dataset *ds = open_summed();
	struct cache_pin *pin;

	(void)state;
	dataset_stream_sources(ds);
	flip(PARTS_AT + 100000);
	assert_int_equal(dataset_stage_aligned(ds, 0, PARTS_AT / VOLUME_BLOCK, &pin), 0);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 0, 2 * BLOCK_BYTES), -EIO);
	flip(PARTS_AT + 100000);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 0, 2 * BLOCK_BYTES), 2 * BLOCK_BYTES);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 10, 10), 10);
	dataset_unstage(ds, pin, true);
	dataset_close(ds);
}

static ssize_t read_holed(struct dataset *ds, uint64_t offset, size_t length)
{
	struct reading r = { ds, "holed", offset, length, 0, malloc(length) };
	ssize_t n;

	assert_non_null(r.bytes);
	free(unit_stderr_of(do_reading, &r));
	n = r.result;
	for (uint64_t i = 0; n > 0 && i < (uint64_t)n; i++) {
		uint64_t in = offset + i - HOLED_FROM;

		assert_int_equal(r.bytes[i], in < HOLED_BYTES ? made_byte(0, HOLED_AT + in) : 0);
	}
	free(r.bytes);
	return n;
}

/* An extent that lies in two blocks, and holes around it. */
static void test_holes_are_part_of_their_blocks(void **state)
{
	struct dataset *ds = open_summed();

	(void)state;
	assert_int_equal(read_holed(ds, 0, HOLED), HOLED);
	assert_int_equal(read_holed(ds, 5, 10), 10);
	flip(HOLED_AT + HOLED_BYTES - 1); /* in the second block */
	drop_cache(ds);
	assert_int_equal(read_holed(ds, 5, 10), 10);
	assert_int_equal(read_holed(ds, BLOCK_BYTES, 10), -EIO);
	assert_int_equal(read_holed(ds, 2 * BLOCK_BYTES, 10), 10);
	flip(HOLED_AT + HOLED_BYTES - 1);
	dataset_close(ds);
}

static enum dataset_compared compared(const struct dataset *ds)
{
	struct dataset_info info;

	assert_int_equal(dataset_info(ds, &info), 0);
	return info.compared;
}

/* As version 0.1 made it: whole files of up to 4 MiB, but each time that they are read. */
static void test_an_index_without_blocks(void **state)
{
	struct dataset *ds = open_made(false);
	struct found found;
	unsigned char byte;

	(void)state;
	assert_int_equal(compared(ds), COMPARED_FILES);
	for (uint64_t at = 0; at < PARTS; at += PIECE)
		assert_int_equal(read_at(ds, "parts", PARTS_AT, at, PIECE), PIECE);
	flip(PARTS_AT + PARTS - 1);
	drop_cache(ds);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 0, PIECE), -EIO);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, PIECE, PIECE), -EIO);
	flip(PARTS_AT + PARTS - 1);
	flip(LARGE_AT + 3);
	assert_int_equal(dataset_read(ds, made_node(ds, "large"), &byte, 1, 3, PLAIN_READ),
			 1);
	assert_int_equal(byte, made_byte(0, LARGE_AT + 3) ^ 0x20);
	found = survey(ds);
	assert_int_equal(found.mismatches, 1);
	assert_int_equal(found.fault.at, LARGE_AT);
	flip(LARGE_AT + 3);
	dataset_close(ds);
}

static void test_nothing_is_compared_where_it_is_off(void **state)
{
	struct dataset *ds = open_summed();
	unsigned char byte;

	(void)state;
	assert_int_equal(compared(ds), COMPARED_BLOCKS);
	dataset_close(ds);
	ds = open_again(CHECKSUMS_OFF);
	assert_int_equal(compared(ds), COMPARED_OFF);
	flip(SMALL_AT + 5);
	assert_int_equal(dataset_read(ds, made_node(ds, "small"), &byte, 1, 5, PLAIN_READ),
			 1);
	assert_int_equal(byte, made_byte(0, SMALL_AT + 5) ^ 0x20);
	assert_true(dataset_sum_matches(ds, made_node(ds, "small"), "wrong", 5, 0));
	flip(SMALL_AT + 5);
	dataset_close(ds);
}

static void test_what_is_pushed_is_vouched_for(void **state)
{
	struct dataset *ds = open_summed();
	uint32_t parts = made_node(ds, "parts");
	unsigned char *bytes = malloc(PARTS);

	(void)state;
	assert_non_null(bytes);
	for (uint64_t i = 0; i < PARTS; i++)
		bytes[i] = made_byte(0, PARTS_AT + i);
	assert_true(dataset_sum_matches(ds, parts, bytes, PARTS, 0));
	assert_true(dataset_sum_matches(ds, parts, bytes + (1 << 20), 1 << 20, 1 << 20));
	/* not whole blocks */
	assert_false(dataset_sum_matches(ds, parts, bytes, BLOCK_BYTES + 1, 0));
	assert_false(dataset_sum_matches(ds, parts, bytes + 1, BLOCK_BYTES, 1));
	bytes[PARTS - 1] ^= 1;
	assert_false(dataset_sum_matches(ds, parts, bytes, PARTS, 0));
	assert_true(dataset_sum_matches(ds, parts, bytes, PARTS - BLOCK_BYTES, 0));
	/* no checksum: nobody knows */
	assert_true(dataset_sum_matches(ds, made_node(ds, "empty"), bytes, 0, 0));
	free(bytes);
	dataset_close(ds);
}

/* The work of many threads: the same few files, in parts, one of them damaged. */
struct readers {
	struct dataset *ds;
	uint32_t parts, small;
	_Atomic unsigned right, refused, wrong;
};

static void read_parts(void *argument)
{
	struct readers *r = argument;
	static _Thread_local unsigned char buffer[PIECE];

	for (uint64_t at = 0; at + PIECE <= PARTS; at += 2 * PIECE) {
		bool whole = at % (8 * PIECE) == 0;
		uint64_t offset = whole ? 10 : at;
		ssize_t n = dataset_read(r->ds, whole ? r->small : r->parts, buffer, PIECE,
					 offset, PLAIN_READ);

		if (n < 0)
			r->refused++;
		else if (n == PIECE &&
			 buffer[77] == made_byte(0, (whole ? SMALL_AT : PARTS_AT) + offset + 77))
			r->right++;
		else
			r->wrong++;
	}
}

static void run_readers(void *argument)
{
	struct pool *pool;

	assert_int_equal(pool_start(&pool, 8), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(pool_add(pool, read_parts, argument), 0);
	pool_finish(pool);
}

static void test_many_readers_get_what_is_right(void **state)
{
	struct dataset *ds = open_summed();
	struct readers readers = { .ds = ds, .parts = made_node(ds, "parts"),
				   .small = made_node(ds, "small") };

	(void)state;
	dataset_limit_cache(ds, 1 << 20); /* less than the file */
	run_readers(&readers);
	assert_int_equal(readers.wrong + readers.refused, 0);
	assert_true(readers.right == 8 * 24);
	dataset_close(ds);
	ds = open_again(CHECKSUMS_ON);
	readers = (struct readers){ .ds = ds, .parts = made_node(ds, "parts"),
				    .small = made_node(ds, "small") };
	flip(PARTS_AT + BLOCK_BYTES + 5);
	free(unit_stderr_of(run_readers, &readers));
	assert_int_equal(readers.wrong, 0);
	assert_int_equal(readers.refused, 8); /* each once: that block */
	assert_int_equal(readers.right, 8 * 23);
	flip(PARTS_AT + BLOCK_BYTES + 5);
	dataset_close(ds);
}

/* The packed file became shorter while it was open. */
static void test_a_survey_goes_on_behind_what_cannot_be_read(void **state)
{
	struct dataset *ds = open_summed();
	struct found found;

	(void)state;
	assert_int_equal(truncate("0.bin", LARGE_AT + 100), 0);
	found = survey(ds);
	assert_int_equal(found.files, 5);
	assert_int_equal(found.failures, 1);
	assert_int_equal(found.mismatches, 0);
	assert_true(found.fault.storage);
	assert_int_equal(found.fault.at, LARGE_AT + 100);
	dataset_close(ds);
}

static const struct CMUnitTest sums[] = {
	cmocka_unit_test(test_sound_files_are_given_out),
	cmocka_unit_test(test_any_part_is_what_it_should_be),
	cmocka_unit_test(test_damage_is_that_files_alone),
	cmocka_unit_test(test_damage_is_that_blocks_alone),
	cmocka_unit_test(test_what_was_right_may_rot),
	cmocka_unit_test(test_what_is_wrong_in_memory_is_read_again),
	cmocka_unit_test(test_holes_are_part_of_their_blocks),
	cmocka_unit_test(test_an_index_without_blocks),
	cmocka_unit_test(test_nothing_is_compared_where_it_is_off),
	cmocka_unit_test(test_what_is_pushed_is_vouched_for),
	cmocka_unit_test(test_many_readers_get_what_is_right),
	cmocka_unit_test(test_a_survey_goes_on_behind_what_cannot_be_read),
};

UNIT_MAIN(sums)
