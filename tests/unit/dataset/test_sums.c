/* Files that are compared with their checksums before they are given out. */
#include "dataset/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset/ahead.h"
#include "dataset/index_file.h"
#include "dataset/survey.h"
#include "stats/stats.h"
#include "tree/layout.h"
#include "util/pool.h"

enum {
	SMALL = 100000, SMALL_AT = 5120,
	PARTS = 3 << 20, PARTS_AT = 1 << 20,
	LARGE = DATASET_CHECK_MOST + 1, LARGE_AT = 5 << 20,
	SOURCE = 12 << 20,
	PIECE = 64 << 10, /* what is read of a file at a time */
	NODES = 16,
};

/* What a survey has found. */
struct found {
	uint64_t sums[NODES];
	uint64_t bytes;
	uint32_t files;
	uint32_t mismatches, failures;
	struct dataset_fault fault; /* the last one */
};

/* The tests run with one thread: nothing here is shared. */
static void count_bytes(void *context, unsigned worker, uint32_t node, uint64_t offset,
			const void *bytes, size_t length)
{
	struct found *found = context;

	(void)worker;
	(void)node;
	(void)offset;
	assert_non_null(bytes);
	found->bytes += length;
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

static void publish_sums(const uint64_t *sums)
{
	const struct image_access access = { 0600, getuid(), getgid() };
	struct index *index;
	struct image image;

	assert_int_equal(index_open("made.gidx", &index, NULL), 0);
	assert_int_equal(index_copy(index, &image), 0);
	index_close(index);
	assert_int_equal(image_set_sums(&image, sums, NULL), 0);
	assert_int_equal(image_publish(&image, "made.gidx", &access, NULL), 0);
	image_free(&image);
}

static struct dataset *open_again(void)
{
	char source[] = "0.bin", place[] = "made.gidx", *sources[] = { source };
	const struct dataset_config config = { .index = place };
	struct dataset *ds;
	struct error e = { 0 };

	if (dataset_open(&config, sources, 1, &ds, &e) < 0)
		fail_msg("%s", e.text);
	return ds;
}

static struct dataset *open_summed(void)
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
	holed = made_extent(&made, 0, 512, 1000, 5000);
	made_pieces(&made, "holed", 9000, &holed, 1);
	ds = made_open(&made);
	assert_false(dataset_has_sums(ds));
	found = survey(ds);
	assert_int_equal(found.files, 5);
	assert_int_equal(found.bytes, SMALL + PARTS + LARGE + 9000);
	assert_int_equal(found.mismatches + found.failures, 0);
	dataset_close(ds);
	publish_sums(found.sums);
	ds = open_again();
	assert_true(dataset_has_sums(ds));
	return ds;
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
				 r->offset);
}

/* What a read gives; `place` is where the file lies in the source. */
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

static void test_sound_files_are_given_out(void **state)
{
	struct dataset *ds = open_summed();
	uint64_t before = stats_get(COUNTER_files_checked);

	(void)state;
	assert_int_equal(read_at(ds, "small", SMALL_AT, 0, 1 << 17), SMALL);
	assert_int_equal(stats_get(COUNTER_files_checked), before + 1);
	assert_int_equal(read_at(ds, "small", SMALL_AT, SMALL - 10, 100), 10);
	assert_int_equal(read_at(ds, "small", SMALL_AT, SMALL, 100), 0);
	/* in parts: compared once, and read once */
	before = stats_get(COUNTER_files_checked);
	for (uint64_t at = 0; at < PARTS; at += PIECE)
		assert_int_equal(read_at(ds, "parts", PARTS_AT, at, PIECE), PIECE);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 5, PIECE), PIECE);
	assert_int_equal(stats_get(COUNTER_files_checked), before + 1);
	assert_int_equal(read_at(ds, "large", LARGE_AT, 77, PIECE), PIECE);
	assert_int_equal(stats_get(COUNTER_files_checked), before + 1);
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

/* Not a byte of it, though the part that is read is sound. */
static void test_no_part_of_a_damaged_file_is_given_out(void **state)
{
	struct dataset *ds = open_summed();

	(void)state;
	flip(PARTS_AT + PARTS - 1);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, 0, PIECE), -EIO);
	assert_int_equal(read_at(ds, "parts", PARTS_AT, PIECE, PIECE), -EIO);
	assert_int_equal(read_at(ds, "small", SMALL_AT, 0, 1 << 17), SMALL);
	flip(PARTS_AT + PARTS - 1);
	dataset_close(ds);
}

/* Somebody writes into the index while it is mapped: a file's size is another one. */
/* The bound that docs/granary.1 names: who wants to know asks granary verify. */
static void test_a_large_file_is_not_compared(void **state)
{
	struct dataset *ds = open_summed();
	uint32_t node = made_node(ds, "large");
	struct found found;
	unsigned char byte;

	(void)state;
	flip(LARGE_AT + 3);
	assert_int_equal(dataset_read(ds, node, &byte, 1, 3), 1);
	assert_int_equal(byte, made_byte(0, LARGE_AT + 3) ^ 0x20);
	found = survey(ds);
	assert_int_equal(found.files, 5);
	assert_int_equal(found.mismatches, 1);
	assert_int_equal(found.failures, 0);
	assert_string_equal(found.fault.source, "0.bin");
	assert_int_equal(found.fault.at, LARGE_AT);
	flip(LARGE_AT + 3);
	dataset_close(ds);
}

static void test_what_is_pushed_is_vouched_for(void **state)
{
	struct dataset *ds = open_summed();
	uint32_t small = made_node(ds, "small");
	unsigned char *bytes = malloc(SMALL);

	(void)state;
	assert_non_null(bytes);
	for (uint64_t i = 0; i < SMALL; i++)
		bytes[i] = made_byte(0, SMALL_AT + i);
	assert_true(dataset_vouches(ds, small, bytes, SMALL));
	bytes[SMALL - 1] ^= 1;
	assert_false(dataset_vouches(ds, small, bytes, SMALL));
	/* no checksum: nobody knows */
	assert_true(dataset_vouches(ds, made_node(ds, "empty"), bytes, 0));
	free(bytes);
	dataset_close(ds);
}

/* What many threads have to do: the same few files, in parts, one of them damaged. */
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
					 offset);

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
	ds = open_again();
	readers = (struct readers){ .ds = ds, .parts = made_node(ds, "parts"),
				    .small = made_node(ds, "small") };
	flip(PARTS_AT + 5);
	free(unit_stderr_of(run_readers, &readers));
	assert_int_equal(readers.wrong, 0);
	assert_true(readers.refused > 0 && readers.right > 0);
	assert_true(readers.refused == 3 * readers.right); /* those of the damaged one */
	flip(PARTS_AT + 5);
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
	cmocka_unit_test(test_damage_is_that_files_alone),
	cmocka_unit_test(test_no_part_of_a_damaged_file_is_given_out),
	cmocka_unit_test(test_a_large_file_is_not_compared),
	cmocka_unit_test(test_what_is_pushed_is_vouched_for),
	cmocka_unit_test(test_many_readers_get_what_is_right),
	cmocka_unit_test(test_a_survey_goes_on_behind_what_cannot_be_read),
};

UNIT_MAIN(sums)
