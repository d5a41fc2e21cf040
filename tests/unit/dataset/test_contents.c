/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files in guarded, coded and literal volumes, read through a dataset. */
#include "config.h"
#if WITH_LZ4
#include "build/kit.h"

#include <errno.h>
#include <unistd.h>

#include "codec/codec.h"
#include "dataset/dataset.h"
#include "source/source_set.h"
#include "../build/publish.h"

enum { SOURCE_BYTES = 4096, OBJECT = 40, HEADER = 16, CHUNK = 12 };

static unsigned char bytes[SOURCE_BYTES];

/* Places in the source: of objects with a header before them, and of chunks. */
static const struct {
	const char *path;
	uint64_t offset;
	uint64_t header; /* the size that the header says */
} objects[] = {
	{ "first", 100, OBJECT }, { "moved", 200, OBJECT + 1 }, { "third", 300, OBJECT },
};

static void write_object(uint64_t offset, uint64_t size)
{
	unsigned char *header = bytes + offset - HEADER;

	header[0] = 1;
	header[8] = (unsigned char)size;
	memset(bytes + offset, 'a' + (int)(offset / 100), OBJECT);
}

/* Chunks are LZ4 blocks of 12 literals; the second one is damaged. */
static void write_source(void)
{
	static const char texts[3][CHUNK + 1] = { "first chunk\n", "second chnk\n",
						  "third chunk\n" };

	memset(bytes, 0, sizeof(bytes));
	for (size_t i = 0; i < COUNT(objects); i++)
		write_object(objects[i].offset, objects[i].header);
	for (size_t i = 0; i < 3; i++) {
		bytes[1000 + 100 * i] = i == 1 ? 0xff : CHUNK << 4;
		memcpy(bytes + 1001 + 100 * i, texts[i], CHUNK);
	}
	unit_write("packed.bin", bytes, sizeof(bytes));
}

static void add_file(struct entries *log, const char *path, struct entry_extent x)
{
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path, .size = x.length,
				      .extents = &x, .extent_count = 1 });
}

static struct entries *make_log(void)
{
	static const uint32_t codecs[VOLUME_CODECS] = { CODEC_STEP(CODEC_LZ4, 0) };
	struct entries *log = entries_new();
	struct entry_extent x;

	for (size_t i = 0; i < COUNT(objects); i++) {
		assert_int_equal(entries_guarded_extent(log, 0, SOURCE_BYTES,
							GUARD_HDF5_HEAP, objects[i].offset,
							OBJECT, &x), 0);
		add_file(log, objects[i].path, x);
	}
	for (uint64_t i = 0; i < 3; i++) {
		struct entry_chunk chunk = {
			.source_size = SOURCE_BYTES, .codecs = codecs,
			.stored_at = 1000 + 100 * i, .stored_length = CHUNK + 1,
			.plain = CHUNK,
		};
		char path[] = "chunk-0";

		path[6] = (char)('0' + i);
		assert_int_equal(entries_coded_extent(log, &chunk, &x), 0);
		add_file(log, path, x);
	}
	assert_int_equal(entries_literal_extent(log, "literal", 7, &x), 0);
	add_file(log, "literal", x);
	return log;
}

static void make_index(void)
{
	const struct dataset_config usual = { 0 };
	const struct image_access access = { 0600, getuid(), getgid() };
	char name[] = "packed.bin", *names[] = { name };
	struct index_summary summary = { .format = "hdf5" };
	struct builder_source source = { .name = "packed.bin" };
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct entries *log = make_log();
	struct source_set set;
	struct image image;

	assert_int_equal(source_set_open(names, 1, false, &set, NULL), 0);
	assert_int_equal(source_set_identify(&set, &source.identity, NULL), 0);
	source_set_close(&set);
	dataset_config_shape(&usual, 1, summary.options);
	assert_int_equal(builder_apply(builder, log, "packed.bin", NULL), 0);
	entries_free(log);
	assert_int_equal(builder_seal(builder, &source, 1, &summary, &image, NULL), 0);
	builder_free(builder);
	assert_int_equal(publish_at(&image, "packed.bin.gidx", &access, NULL), 0);
	image_free(&image);
}

static struct dataset *open_dataset(void)
{
	char name[] = "packed.bin", *names[] = { name };
	struct dataset_config config = { 0 };
	struct dataset *ds;
	struct error e = { 0 };

	write_source();
	make_index();
	if (dataset_open(&config, names, 1, &ds, &e) < 0)
		fail_msg("%s", e.text);
	return ds;
}

struct reading {
	const struct dataset *ds;
	const char *path;
	uint64_t offset;
	ssize_t result;
	char got[100];
};

static void read_file(void *argument)
{
	struct reading *r = argument;

	r->result = dataset_read(r->ds, kit_node(dataset_tree(r->ds), r->path), r->got,
				 sizeof(r->got), r->offset, PLAIN_READ);
}

static int read_to_status(void *argument)
{
	struct reading *r = argument;

	read_file(r);
	return r->result == -EIO;
}

/* In a process of its own: of a file that fails again nothing is said for a while. */
static void fail_anew(void *argument)
{
	assert_int_equal(unit_child(read_to_status, argument), 1);
}

/* The log of a `read` of a file; the caller frees it. */
static char *read_logged(struct reading *r, void (*read)(void *), const char *path,
			 uint64_t offset)
{
	r->path = path;
	r->offset = offset;
	return unit_stderr_of(read, r);
}

static void expect(struct reading *r, const char *path, uint64_t offset,
		   const char *wanted)
{
	char *log = read_logged(r, read_file, path, offset);

	assert_string_equal(log, "");
	assert_int_equal(r->result, strlen(wanted));
	assert_memory_equal(r->got, wanted, strlen(wanted));
	free(log);
}

static void test_sound_files(void **state)
{
	struct dataset *ds = open_dataset();
	struct reading r = { .ds = ds };

	(void)state;
	expect(&r, "first", 0, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
	expect(&r, "first", 39, "b");
	expect(&r, "third", 0, "dddddddddddddddddddddddddddddddddddddddd");
	expect(&r, "third", 38, "dd");
	expect(&r, "chunk-0", 0, "first chunk\n");
	expect(&r, "chunk-2", 6, "chunk\n");
	expect(&r, "literal", 0, "literal");
	expect(&r, "literal", 7, "");
	dataset_close(ds);
}

static const struct {
	const char *path;
	uint64_t offset;
	const char *words[3];
} failures[] = {
	{ "moved", 0, { "moved:", "byte 0 ", "packed.bin at byte 200" } },
	{ "moved", 39, { "moved:", "byte 39 ", "packed.bin at byte 239" } },
	{ "chunk-1", 0, { "chunk-1:", "byte 0 ", "packed.bin at byte 1100" } },
	{ "chunk-1", 11, { "chunk-1:", "byte 11 ", "packed.bin at byte 1100" } },
};

static void test_damage_is_eio_and_one_line(void **state)
{
	size_t i = unit_row(state);
	struct dataset *ds = open_dataset();
	struct reading r = { .ds = ds };
	char *log = read_logged(&r, fail_anew, failures[i].path,
				failures[i].offset);

	assert_int_equal(unit_occurrences(log, "\n"), 1);
	for (size_t k = 0; k < 3; k++)
		if (!strstr(log, failures[i].words[k]))
			fail_msg("no '%s' in: %s", failures[i].words[k], log);
	free(log);
	expect(&r, "third", 39, "d"); /* the others go on */
	expect(&r, "chunk-2", 0, "third chunk\n");
	dataset_close(ds);
}

static const struct CMUnitTest contents[] = {
	cmocka_unit_test(test_sound_files),
	unit_table(test_damage_is_eio_and_one_line, failures, path),
};

UNIT_MAIN(contents)

#else
#include "left_out.h"
#endif
