/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The HDF5 format against h5py's reading of the same files. */
#include "config.h"
#if WITH_HDF5 && WITH_ZLIB && WITH_DEFLATE && WITH_LZF && WITH_BLOSC && \
	WITH_LZ4 && WITH_ZSTD
#include "hdf5_run.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "format/hdf5/heap.h"

enum { PREFIX = 777 };

/* Listings, in the form that hdf5_fixtures.py describes */

static void print_entry(FILE *out, const struct run *run, const struct entry *entry)
{
	const struct source_owner *owner = source_owner(run->source);

	assert_int_equal(entry->uid, owner->uid);
	if (entry->kind != ENTRY_FILE)
		assert_int_equal(entry->extent_count, 0);
	if (entry->kind == ENTRY_DIRECTORY) {
		assert_int_equal(entry->mode, 0755);
		fprintf(out, "d %s\n", entry->path);
	} else if (entry->kind == ENTRY_FILE) {
		assert_int_equal(entry->mode, owner->mode & 0666);
		assert_true(entry->mtime > 0);
		fprintf(out, "f %s %" PRIu64 " %08lx\n", entry->path, entry->size,
			sum_of_file(run, entry));
	} else {
		fprintf(out, "%c %s %s\n", entry->kind == ENTRY_HARDLINK ? 'h' : 'l',
			entry->path, entry->target);
	}
}

static void print_group(FILE *out, const struct run *run, size_t number)
{
	const struct sample_group *group = samples_group(run->samples, number);
	const char *split = *group->split ? group->split : "-";

	fprintf(out, "g %s %s %s %s %" PRIu64 "\n", split, group->name,
		group->labels ? group->labels : "-", group->extension, group->rows);
	for (uint64_t i = 0; i < group->rows; i++) {
		struct sample sample;

		samples_get(run->samples, number, i, &sample);
		fprintf(out, "s %s %s %" PRIu64 " %" PRIu64 " %08lx %" PRId64 "\n", split,
			group->name, i, sample.body.length, sum_of_sample(run, &sample),
			sample.label);
	}
}

static void compare(const char *name)
{
	char path[512];
	struct run run;

	snprintf(path, sizeof(path), "%s.h5", name);
	run_window(&run, path, 0);
	if (run.err)
		print_message("# %s\n", run.e.text);
	assert_int_equal(run.err, 0);
	assert_listed(name, ".list", run_listing(&run, print_entry, print_group));
	assert_true(run.position > 0 && run.position <= run.scan.length);
	assert_true(run.passed >= entries_count(run.entries));
	assert_true(*run.scan.detail);
	run_end(&run);
}

static void test_as_h5py(void **state)
{
	(void)state;
	assert_true(for_each(".list", compare) >= 33);
}

static void test_detail(void **state)
{
	struct run run;

	(void)state;
	run_window(&run, "course-earliest-0.h5", 0);
	assert_string_equal(run.scan.detail,
			    "images and targets: /large, /late, /mixed, /small");
	run_end(&run);
	run_window(&run, "links-latest-1024.h5", 0);
	assert_string_equal(run.scan.detail, "tree of datasets");
	run_end(&run);
}

/* Items that are not shown are counted. */
static void test_left_out(void **state)
{
	static const struct {
		const char *name;
		uint64_t count;
	} files[] = {
		{ "left-latest-1024.h5", 7 },  /* 5 links, a long path, a type */
		{ "links-latest-1024.h5", 2 }, /* second links to groups */
		{ "names.h5", 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct run run;

		run_window(&run, files[i].name, 0);
		assert_int_equal(run.err, 0);
		assert_int_equal(entries_left_out(run.entries), files[i].count);
		run_end(&run);
	}
}

/* A window that begins at an odd byte of the source. */
static void test_window(void **state)
{
	static const char *const names[] = { "course-latest-1024", "chunks-earliest-512",
					     "encodings-v110-0", "tables-earliest-0" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[64];
		struct run run;
		size_t n;
		char *bytes, *moved;

		snprintf(path, sizeof(path), "%s.h5", names[i]);
		bytes = unit_read(path, &n);
		moved = calloc(1, n + PREFIX);
		assert_non_null(moved);
		memcpy(moved + PREFIX, bytes, n);
		unit_write("window", moved, n + PREFIX);
		run_window(&run, "window", PREFIX);
		assert_int_equal(run.err, 0);
		assert_listed(names[i], ".list", run_listing(&run, print_entry, print_group));
		run_end(&run);
		free(bytes);
		free(moved);
	}
}

/* Errors */

static void test_refused(void **state)
{
	(void)state;
	assert_true(for_each(".refuse", run_refuse) >= 21);
}

/* Cut short, it is one sentence, and not an answer. */
static void test_truncated(void **state)
{
	size_t n;
	char *bytes = unit_read("course-earliest-512.h5", &n);

	(void)state;
	for (size_t part = 0; part < 16; part++) {
		struct run run;

		unit_write("cut.h5", bytes, n * part / 16 + (part == 0));
		run_window(&run, "cut.h5", 0);
		assert_refused(&run, -EBADMSG, ERROR_DATASET);
		run_end(&run);
	}
	free(bytes);
}

/* Trees of chunks that cannot be read are not chunks that were never written. */
static void test_damaged_chunks(void **state)
{
	static const char *const names[] = { "masks-earliest-0.h5",
					     "tables-earliest-0.h5" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n, trees = 0;
		char *bytes = unit_read(names[i], &n);
		struct run run;

		for (size_t at = 0; at + 5 < n; at++)
			if (memcmp(bytes + at, "TREE\1", 5) == 0) {
				bytes[at] = 'X';
				trees++;
			}
		assert_true(trees > 0);
		unit_write("trees.h5", bytes, n);
		run_window(&run, "trees.h5", 0);
		assert_refused(&run, -EBADMSG, ERROR_DATASET);
		assert_word(&run, "cannot find the chunks");
		run_end(&run);
		free(bytes);
	}
}

/* Storage that cannot be read is not a damaged file. */
static void test_storage(void **state)
{
	size_t n;
	char *bytes = unit_read("course-earliest-0.h5", &n);
	struct run run;

	(void)state;
	unit_write("shrinks.h5", bytes, n);
	memset(&run, 0, sizeof(run));
	assert_int_equal(source_open("shrinks.h5", &run.source, NULL), 0);
	run.entries = entries_new();
	run.samples = samples_new();
	run.scan = (struct scan){ .source = run.source, .length = n,
				  .label = "shrinks.h5", .entries = run.entries,
				  .samples = run.samples, .rows = &run.rows };
	assert_int_equal(truncate("shrinks.h5", (off_t)n / 2), 0);
	run.err = format_by_name("hdf5")->scan(&run.scan, &run.e);
	assert_refused(&run, -EIO, ERROR_SYSTEM);
	assert_word(&run, "cannot read");
	run_end(&run);
	free(bytes);
}

/* The table of rows, by itself */

static void put(unsigned char *at, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static void put_object(unsigned char *at, unsigned index, uint64_t size)
{
	memset(at, 0, 16);
	put(at, index, 2);
	put(at + 8, size, 8);
}

/* A collection at 256 of a file of 4096 bytes: objects 1 (5 bytes), 4, 2 (9), free. */
static void make_collection(unsigned char file[4096])
{
	memset(file, 0xee, 4096);
	memcpy(file + 256, "GCOL\1\0\0\0", 8);
	put(file + 264, 512, 8);
	put_object(file + 272, 1, 5);
	put_object(file + 296, 4, 0);
	put_object(file + 312, 2, 9);
	put_object(file + 344, 0, 424);
}

struct lookup {
	struct hdf5_row row;
	unsigned at, size; /* the number there is replaced by `value` */
	uint64_t value;
	const char *problem; /* NULL: none */
	uint64_t found;
};

static void look_up(const struct lookup *l)
{
	static struct hdf5_blocks blocks;
	static struct hdf5_heap heap;
	unsigned char file[4096];
	struct source *source;
	struct hdf5_found place;
	int err;

	make_collection(file);
	put(file + l->at, l->value, l->size);
	unit_write("heap", file, sizeof(file));
	assert_int_equal(source_open("heap", &source, NULL), 0);
	hdf5_blocks_open(&blocks, source, 0, sizeof(file));
	hdf5_heap_open(&heap, &blocks, 56);
	err = hdf5_heap_find_checked(&heap, &l->row, &place);
	if (err && (!l->problem || !strstr(heap.problem, l->problem)))
		print_message("# got %s, not %s\n", heap.problem, l->problem);
	assert_int_equal(err, l->problem ? -EBADMSG : 0);
	if (l->problem)
		assert_non_null(strstr(heap.problem, l->problem));
	else
		assert_int_equal(place.at, l->found);
	hdf5_heap_close(&heap);
	hdf5_blocks_close(&blocks);
	source_close(source);
}

static void test_heap(void **state)
{
	static const struct lookup lookups[] = {
		{ { 5, 200, 1 }, 0, 0, 0, NULL, 288 },
		{ { 9, 200, 2 }, 0, 0, 0, NULL, 328 },
		{ { 9, 200, 1 }, 272, 2, 7, "is not what its object", 0 },
		{ { 9, 200, 3 }, 0, 0, 0, "does not hold", 0 },
		{ { 8, 200, 2 }, 0, 0, 0, "another length", 0 },
		{ { 6, 200, 1 }, 0, 0, 0, "is not what its object", 0 },
		{ { 5, 200, 0 }, 0, 0, 0, "no object", 0 },
		{ { 9, 208, 2 }, 0, 0, 0, "no heap collection", 0 },
		{ { 9, 4000, 2 }, 0, 0, 0, "no heap collection", 0 },
		{ { 9, 4030, 2 }, 0, 0, 0, "lies outside", 0 },
		{ { 9, 4008, 1 }, 0, 0, 0, "reaches past", 0 },
		{ { 9, UINT64_MAX, 1 }, 0, 0, 0, "lies outside", 0 },
		{ { 9, UINT64_MAX - 60, 2 }, 0, 0, 0, "lies outside", 0 },
		{ { 9, 200, 2 }, 260, 1, 2, "no heap collection", 0 },
		{ { 9, 200, 2 }, 264, 8, 4096, "impossible size", 0 },
		{ { 9, 200, 2 }, 264, 8, UINT64_MAX, "impossible size", 0 },
		{ { 9, 200, 2 }, 264, 8, 8, "impossible size", 0 },
		{ { 9, 200, 2 }, 264, 8, 60, "does not hold", 0 },
		{ { 9, 200, 2 }, 280, 8, UINT64_MAX, "reach past", 0 },
		{ { 9, 200, 2 }, 280, 8, 600, "reach past", 0 },
		{ { 9, 200, 2 }, 296, 2, 2, "an index twice", 0 },
		{ { 9, 200, 2 }, 296, 2, 0, "does not hold", 0 },
		{ { 9, 200, 2 }, 272, 2, 0, "does not hold", 0 }, /* it holds no object */
		{ { 9, 200, 2 }, 320, 8, UINT64_MAX - 8, "reach past", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lookups) / sizeof(*lookups); i++)
		look_up(&lookups[i]);
}

static void open_heap(struct hdf5_heap *heap, struct hdf5_blocks *blocks,
		      struct source **source)
{
	assert_int_equal(source_open("heap", source, NULL), 0);
	hdf5_blocks_open(blocks, *source, 0, source_size(*source));
	hdf5_heap_open(heap, blocks, 0);
}

static void close_heap(struct hdf5_heap *heap, struct source *source)
{
	hdf5_heap_close(heap);
	hdf5_blocks_close(heap->blocks);
	source_close(source);
}

/* Rows from each of many full collections in turn: none is walked again. */
static void test_heap_any_order(void **state)
{
	enum { COLLECTIONS = 40, BYTES = 65536, OBJECTS = (BYTES - 16) / 24 };
	static struct hdf5_blocks blocks;
	static struct hdf5_heap heap;
	unsigned char *file = calloc(COLLECTIONS, BYTES);
	struct hdf5_found place;
	struct source *source;

	(void)state;
	assert_non_null(file);
	for (size_t c = 0; c < COLLECTIONS; c++) {
		memcpy(file + c * BYTES, "GCOL\1\0\0\0", 8);
		put(file + c * BYTES + 8, BYTES, 8);
		for (unsigned i = 0; i < OBJECTS; i++)
			put_object(file + c * BYTES + 16 + i * 24, i + 1, 8);
	}
	unit_write("heap", file, (size_t)COLLECTIONS * BYTES);
	open_heap(&heap, &blocks, &source);
	for (unsigned i = 1; i < OBJECTS; i++)
		for (uint64_t c = 0; c < COLLECTIONS; c++) {
			struct hdf5_row row = { 8, c * BYTES, i + 1 };

			assert_int_equal(hdf5_heap_find(&heap, &row, &place), 0);
			assert_int_equal(place.at, c * BYTES + 32 + i * 24);
			assert_false(place.guessed);
		}
	close_heap(&heap, source);
	free(file);
}

/* Numbers that were used up: object 1 lies behind the one that is first, and as long. */
static void test_heap_first_is_not_one(void **state)
{
	static const struct hdf5_row one = { 9, 256, 1 }, two = { 9, 256, 2 };
	static struct hdf5_blocks blocks;
	static struct hdf5_heap heap;
	unsigned char file[4096];
	struct hdf5_found place;
	struct source *source;

	(void)state;
	make_collection(file);
	put_object(file + 272, 2, 9);
	put_object(file + 304, 1, 9);
	put_object(file + 336, 0, 432);
	unit_write("heap", file, sizeof(file));
	for (unsigned before = 0; before < 3; before++) {
		open_heap(&heap, &blocks, &source);
		if (before == 1)
			assert_int_equal(hdf5_heap_find_checked(&heap, &one, &place), 0);
		if (before == 2)
			assert_int_equal(hdf5_heap_find(&heap, &two, &place), 0);
		if (before)
			assert_int_equal(place.at, before == 1 ? 320 : 288);
		assert_int_equal(hdf5_heap_find(&heap, &one, &place), 0);
		/* what is guessed has a guard that wants number 1, and reading it fails */
		assert_int_equal(place.guessed, before == 0);
		assert_int_equal(place.at, before ? 320 : 288);
		close_heap(&heap, source);
	}
}

/* Collections inside each other would be walked without end. */
static void test_heap_overlap(void **state)
{
	static struct hdf5_blocks blocks;
	static struct hdf5_heap heap;
	unsigned char file[4096] = { 0 };
	struct source *source;
	struct hdf5_found place;
	unsigned found = 0;
	int err = 0;

	(void)state;
	for (unsigned i = 0; i < 128; i++) {
		memcpy(file + 32 * i, "GCOL\1\0\0\0", 8);
		put(file + 32 * i + 8, 4096 - 32 * i, 8);
		put_object(file + 32 * i + 16, i + 2, i < 127 ? 16 : 0);
	}
	unit_write("heap", file, sizeof(file));
	open_heap(&heap, &blocks, &source);
	for (unsigned i = 0; i < 128 && !err; i++) {
		struct hdf5_row row = { 16, 32 * i, i + 2 };

		err = hdf5_heap_find(&heap, &row, &place);
		found += !err;
	}
	assert_int_equal(err, -EBADMSG);
	assert_non_null(strstr(heap.problem, "overlap"));
	assert_in_range(found, 2, 3);
	close_heap(&heap, source);
}

/* Every byte of a row's descriptor, set to 255: an error that names the row. */
static void test_damaged_row(void **state)
{
	size_t n;
	char *bytes = unit_read("busy-earliest-0.h5", &n);
	size_t table = 0;
	unsigned refused = 0;

	(void)state;
	for (size_t i = 0; i + 480 < n && !table; i++) /* 20 to 79 bytes each */
		if (memcmp(bytes + i + 1, "\0\0\0", 3) == 0 && bytes[i] >= 20 &&
		    memcmp(bytes + i + 17, "\0\0\0", 3) == 0 && bytes[i + 16] >= 20 &&
		    memcmp(bytes + i + 33, "\0\0\0", 3) == 0 && bytes[i + 32] >= 20)
			table = i;
	assert_true(table > 0);
	for (size_t i = 0; i < 16; i++) {
		char kept = bytes[table + 16 + i];
		struct run run;

		bytes[table + 16 + i] = (char)0xff;
		unit_write("row.h5", bytes, n);
		run_window(&run, "row.h5", 0);
		assert_refused(&run, -EBADMSG, ERROR_DATASET);
		assert_word(&run, "'/images'");
		assert_word(&run, "row 1 (");
		run_end(&run);
		bytes[table + 16 + i] = kept;
		refused++;
	}
	assert_int_equal(refused, 16);
	free(bytes);
}

static void test_probe(void **state)
{
	static unsigned char head[65536];
	const struct format *format = format_by_name("hdf5");

	(void)state;
	for (size_t at = 0; at <= 32768; at = at ? 2 * at : 512) {
		memset(head, 0, sizeof(head));
		memcpy(head + at, "\211HDF\r\n\032\n", 8);
		assert_ptr_equal(format_probe(head, sizeof(head)), format);
		assert_null(format_probe(head, at + 7));
	}
	memset(head, 0, sizeof(head));
	memcpy(head + 100, "\211HDF\r\n\032\n", 8);
	assert_null(format_probe(head, sizeof(head)));
}

static int enter(void **state)
{
	(void)state;
	return run_enter("hdf5_fixtures.py");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_as_h5py),
	cmocka_unit_test(test_detail),
	cmocka_unit_test(test_left_out),
	cmocka_unit_test(test_window),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_truncated),
	cmocka_unit_test(test_damaged_chunks),
	cmocka_unit_test(test_storage),
	cmocka_unit_test(test_heap),
	cmocka_unit_test(test_heap_any_order),
	cmocka_unit_test(test_heap_first_is_not_one),
	cmocka_unit_test(test_heap_overlap),
	cmocka_unit_test(test_damaged_row),
	cmocka_unit_test(test_probe),
};

UNIT_MAIN_IN(tests, enter, run_leave)

#else
#include "left_out.h"
#endif
