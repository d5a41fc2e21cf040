/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Volumes: raw and literal, sound and not. */
#include "build/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "index/layout.h"
#include "volume/volume.h"

enum { SOURCE_BYTES = 1000 };

static const char literals[] = "0123456789";

/* The volumes of the index, by number. */
static const struct volume_desc descs[] = {
	{ .kind = VOLUME_RAW, .source = 0, .base = 0, .length = SOURCE_BYTES },
	{ .kind = VOLUME_RAW, .source = 0, .base = 100, .length = 50 },
	{ .kind = VOLUME_LITERAL, .source = 0, .base = 2, .length = 5 },
	{ .kind = VOLUME_RAW, .source = 0, .base = 100, .length = SOURCE_BYTES - 99 },      /* one too many */
	{ .kind = VOLUME_RAW, .source = 1, .base = 0, .length = 10 },                       /* no such source */
	{ .kind = VOLUME_RAW, .source = 0, .base = UINT64_MAX, .length = 2 },
	{ .kind = VOLUME_LITERAL, .source = 0, .base = 2, .length = sizeof(literals) - 1 }, /* past the literals */
	{ .kind = VOLUME_LITERAL, .source = 0, .base = UINT64_MAX, .length = 2 },
	{ .kind = (enum volume_kind)7, .source = 0, .base = 0, .length = 10 },
	{ .kind = VOLUME_RAW, .source = 0, .base = SOURCE_BYTES, .length = 0 },
};

struct fixture {
	struct index *index;
	struct source_set sources;
	struct volume_table table;
};

static void write_source(void)
{
	unsigned char bytes[SOURCE_BYTES];

	for (size_t i = 0; i < SOURCE_BYTES; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 256);
	unit_write("source", bytes, sizeof(bytes));
}

static void append_volumes(struct image *image)
{
	for (size_t i = 0; i < COUNT(descs); i++) {
		struct layout_volume v = { .kind = descs[i].kind,
					   .source = descs[i].source,
					   .base = descs[i].base,
					   .length = descs[i].length };

		image_append(image, SECTION_VOLUMES, &v, sizeof(v));
	}
	image_append(image, SECTION_LITERALS, literals, sizeof(literals) - 1);
}

static void open_fixture(struct fixture *f)
{
	char name[] = "source", *names[] = { name };
	struct image image;

	write_source();
	kit_image("d:d", &image);
	append_volumes(&image);
	f->index = kit_open(&image);
	assert_int_equal(source_set_open(names, 1, false, &f->sources, NULL), 0);
	assert_int_equal(volume_table_open(f->index, &f->sources, &f->table), 0);
}

static void close_fixture(struct fixture *f)
{
	volume_table_close(&f->table);
	source_set_close(&f->sources);
	index_close(f->index);
}

static const struct {
	uint32_t volume;
	uint64_t offset;
	size_t length;
	int result;
	uint64_t source; /* raw: the byte of the source; literal: of the literals */
} reads[] = {
	{ 0, 0, 1000, 0, 0 }, { 0, 999, 1, 0, 999 }, { 0, 1000, 0, 0, 0 },
	{ 0, 1000, 1, -EIO, 0 }, { 0, 999, 2, -EIO, 0 }, { 0, UINT64_MAX, 2, -EIO, 0 },
	{ 1, 0, 50, 0, 100 }, { 1, 49, 1, 0, 149 }, { 1, 49, 2, -EIO, 0 },
	{ 1, 50, 1, -EIO, 0 }, { 2, 0, 5, 0, 2 }, { 2, 4, 1, 0, 6 }, { 2, 4, 2, -EIO, 0 },
	{ 2, 5, 1, -EIO, 0 }, { 2, UINT64_MAX, 1, -EIO, 0 },
	{ 3, 0, 1, -EIO, 0 }, { 4, 0, 1, -EIO, 0 }, { 5, 0, 1, -EIO, 0 },
	{ 6, 0, 1, -EIO, 0 }, { 7, 0, 1, -EIO, 0 }, { 8, 0, 1, -EIO, 0 },
	{ 9, 0, 0, 0, 0 }, { 9, 0, 1, -EIO, 0 },
	{ COUNT(descs), 0, 1, -EIO, 0 }, { UINT32_MAX, 0, 1, -EIO, 0 },
};

static void test_reads_and_their_bounds(void **state)
{
	unsigned char buffer[SOURCE_BYTES];
	struct fixture f;
	size_t size;
	char *source;

	(void)state;
	open_fixture(&f);
	source = unit_read("source", &size);
	for (size_t i = 0; i < COUNT(reads); i++) {
		const char *from = reads[i].volume == 2 ? literals : source;

		if (volume_pread(&f.table, reads[i].volume, buffer, reads[i].length,
				 reads[i].offset, PLAIN_READ) != reads[i].result)
			fail_msg("read number %zu", i);
		if (reads[i].result == 0)
			assert_memory_equal(buffer, from + reads[i].source,
					    reads[i].length);
	}
	free(source);
	close_fixture(&f);
}

static void test_messages_name_the_source_and_its_byte(void **state)
{
	struct fixture f;
	uint64_t at;

	(void)state;
	open_fixture(&f);
	assert_string_equal(volume_locate(&f.table, 1, 7, &at), "source");
	assert_int_equal(at, 107);
	assert_string_equal(volume_locate(&f.table, 2, 3, &at), "the index");
	assert_string_equal(volume_locate(&f.table, 4, 3, &at), "the index");
	assert_string_equal(volume_locate(&f.table, UINT32_MAX, 3, &at), "the index");
	close_fixture(&f);
}

static void test_a_source_that_shrank_is_eio(void **state)
{
	char buffer[10];
	struct fixture f;

	(void)state;
	open_fixture(&f);
	assert_int_equal(truncate("source", 105), 0);
	assert_int_equal(volume_pread(&f.table, 1, buffer, 5, 0, PLAIN_READ), 0);
	assert_int_equal(volume_pread(&f.table, 1, buffer, 6, 0, PLAIN_READ), -EIO);
	close_fixture(&f);
}

static int read_a_closed_table(void *argument)
{
	struct fixture *f = argument;
	char byte;

	volume_table_close(&f->table);
	return volume_pread(&f->table, 0, &byte, 1, 0, PLAIN_READ);
}

static void test_a_closed_table_is_no_handle(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	open_fixture(&f);
	assert_int_equal(unit_child(read_a_closed_table, &f), 256 + SIGABRT);
	close_fixture(&f);
}

static const struct CMUnitTest volume[] = {
	cmocka_unit_test(test_reads_and_their_bounds),
	cmocka_unit_test(test_messages_name_the_source_and_its_byte),
	cmocka_unit_test(test_a_source_that_shrank_is_eio),
	cmocka_unit_test(test_a_closed_table_is_no_handle),
};

UNIT_MAIN(volume)
