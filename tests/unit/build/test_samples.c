/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples without names: how they are kept, and what their first bytes say. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>

#include "build/samples.h"

static struct sample get(struct samples *samples, size_t group, uint64_t row)
{
	struct sample sample;

	samples_get(samples, group, row, &sample);
	return sample;
}

static int64_t label_of(struct samples *samples, size_t group, uint64_t row)
{
	return get(samples, group, row).label;
}

static void test_groups_are_copied_and_counted(void **state)
{
	struct samples *samples = samples_new();
	char split[] = "train", name[] = "images", labels[] = "targets", extension[] = "jpg";
	struct sample_group group = { .split = split, .name = name,
					      .labels = labels, .extension = extension,
					      .rows = 5 };
	const struct sample_group *got;

	(void)state;
	assert_int_equal(samples_begin(samples, &group), 0);
	split[0] = name[0] = labels[0] = extension[0] = 'X';
	for (int64_t i = 0; i < 3; i++) /* fewer than there is room for */
		assert_int_equal(samples_add(samples, &(struct sample){ .label = i }), 0);
	group = (struct sample_group){ .split = "", .name = "x", .extension = "png" };
	assert_int_equal(samples_begin(samples, &group), 0);
	assert_int_equal(samples_begin(samples, &group), 0);
	for (int64_t i = 0; i < 1000; i++) /* more than there is room for */
		assert_int_equal(samples_add(samples, &(struct sample){ .label = 7 + i }), 0);
	assert_int_equal(samples_group_count(samples), 3);
	got = samples_group(samples, 0);
	assert_string_equal(got->split, "train");
	assert_string_equal(got->name, "images");
	assert_string_equal(got->labels, "targets");
	assert_string_equal(got->extension, "jpg");
	assert_int_equal(got->rows, 3);
	assert_int_equal(label_of(samples, 0, 2), 2);
	assert_int_equal(samples_group(samples, 1)->rows, 0);
	got = samples_group(samples, 2);
	assert_int_equal(got->rows, 1000);
	assert_null(got->labels);
	assert_int_equal(label_of(samples, 2, 0), 7);
	assert_int_equal(label_of(samples, 2, 999), 1006);
	samples_free(samples);
	samples_free(NULL);
}

#define HEAD(text) text, sizeof(text) - 1

static const struct {
	const char *head;
	size_t n;
	const char *extension;
} heads[] = {
	{ HEAD("\377\330\377\340\0\020JFIF\0\1\1\0\0\1"), "jpg" },
	{ HEAD("\377\330\377\341\0\020Exif"), "jpg" },
	{ HEAD("\211PNG\r\n\032\n\0\0\0\015IHDR"), "png" },
	{ HEAD("RIFF\20\0\0\0WEBPVP8 "), "webp" },
	{ HEAD("RIFF\20\0\0\0AVI LIST"), NULL },
	{ HEAD("GIF87a"), "gif" },
	{ HEAD("GIF89a"), "gif" },
	{ HEAD("II*\0\10\0\0\0"), "tif" },
	{ HEAD("MM\0*\0\0\0\10"), "tif" },
	{ HEAD("\223NUMPY\1\0"), "npy" },
	{ HEAD("P6\n3 2\n255\n"), "ppm" },
	{ HEAD("P3\n3 2\n255\n"), "ppm" },
	{ HEAD("P5\n3 2\n255\n"), "pgm" },
	{ HEAD("P2\n3 2\n255\n"), "pgm" },
	{ HEAD("BM\66\0\0\0\0\0\0\0"), "bmp" },
	{ HEAD("RIFF\20\0\0\0WAVEfmt "), "wav" },
	{ HEAD("fLaC\0\0\0\42"), "flac" },
	{ HEAD("OggS\0\2"), "ogg" },
	{ HEAD("\0\0\0\40ftypisom"), "mp4" },
	{ HEAD(""), NULL },
	{ HEAD("\377\330"), NULL },
	{ HEAD("\211PNG\r\n\032"), NULL },
	{ HEAD("RIFF\20\0\0\0WEB"), NULL },
	{ HEAD("P"), NULL },
	{ HEAD("P4\n8 1\n"), NULL },
	{ HEAD("text, and no image"), NULL },
	{ HEAD("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), NULL },
};

static void test_what_a_head_is_called(void **state)
{
	size_t i = unit_row(state);

	/* as long as it is and no longer, for the address sanitizer */
	char *exact = malloc(heads[i].n ? heads[i].n : 1);
	const char *got;

	assert_non_null(exact);
	memcpy(exact, heads[i].head, heads[i].n);
	got = samples_detect_type(exact, heads[i].n);
	if (got != heads[i].extension && (!got || !heads[i].extension ||
					  strcmp(got, heads[i].extension) != 0))
		fail_msg("head %zu is said to be %s", i, got ? got : "unknown");
	free(exact);
}

/* The promised room is enough. */
static void test_sixteen_bytes_tell(void **state)
{
	size_t i = unit_row(state);
	char head[SAMPLES_SNIFF_BYTES] = { 0 };

	memcpy(head, heads[i].head, heads[i].n < sizeof(head) ? heads[i].n :
	       sizeof(head));
	if (heads[i].extension)
		assert_string_equal(samples_detect_type(head, sizeof(head)),
				    heads[i].extension);
}

static const struct {
	const char *extensions[6], *common;
} table[] = {
	{ { "png", "jpg", "jpg" }, "jpg" },
	{ { "png", "jpg" }, "png" },
	{ { "png", "jpg", "webp", "jpg", "png", "png" }, "png" },
	{ { "?", "jpg", "png" }, "jpg" },
	{ { "?", "jpg", "?", "png" }, "bin" },
	{ { "?", "?" }, "bin" },
	{ { NULL }, "bin" },
};

static void test_what_most_are(void **state)
{
	size_t i = unit_row(state);
	const char *found[6];
	size_t n = 0;

	for (; n < 6 && table[i].extensions[n]; n++)
		found[n] = *table[i].extensions[n] == '?' ? NULL : table[i].extensions[n];
	assert_string_equal(samples_common_extension(found, n), table[i].common);
}

/* Rows in another order, one of them twice; of each group. */
static void test_rows_are_selected(void **state)
{
	static const uint64_t rows[] = { 2, 0, 2 }, beyond[] = { 0, 3 };
	struct samples *all = samples_new();

	(void)state;
	assert_non_null(all);
	for (int g = 0; g < 2; g++) {
		const struct sample_group group = { .split = "", .name = g ? "b" : "a",
						    .extension = "jpg" };

		assert_int_equal(samples_begin(all, &group), 0);
		for (int i = 0; i < 3; i++)
			assert_int_equal(samples_add(all, &(struct sample){
				.label = 10 * g + i }), 0);
	}
	assert_int_equal(samples_select(all, beyond, COUNT(beyond)), -ERANGE);
	assert_int_equal(samples_select(all, rows, COUNT(rows)), 0);
	for (size_t g = 0; g < 2; g++) {
		assert_int_equal(samples_group(all, g)->rows, 3);
		for (size_t i = 0; i < COUNT(rows); i++)
			assert_int_equal(label_of(all, g, i), 10 * g + rows[i]);
	}
	assert_int_equal(samples_select(all, NULL, 0), 0);
	assert_int_equal(samples_group(all, 1)->rows, 0);
	samples_free(all);
}

static void test_the_last_group_is_parted(void **state)
{
	static const char *const splits[] = { "train", "none", "test" };
	static const uint8_t part[] = { 2, 0, 2, 0, 0 };
	struct samples *samples = samples_new();
	struct sample_group group = { .split = "x", .name = "i", .extension = "jpg" };
	const uint64_t rows[] = { 0 };

	(void)state;
	assert_int_equal(samples_begin(samples, &group), 0);
	assert_int_equal(samples_add(samples, &(struct sample){ .label = 9 }), 0);
	assert_int_equal(samples_begin(samples, &group), 0);
	for (int64_t i = 0; i < 5; i++)
		assert_int_equal(samples_add(samples, &(struct sample){ .label = i }), 0);
	assert_int_equal(samples_part(samples, part, splits, COUNT(splits)), 0);
	assert_int_equal(samples_group_count(samples), 4);
	assert_string_equal(samples_group(samples, 0)->split, "x");
	assert_int_equal(label_of(samples, 0, 0), 9);
	assert_string_equal(samples_group(samples, 1)->split, "train");
	assert_int_equal(label_of(samples, 1, 0), 1);
	assert_int_equal(label_of(samples, 1, 2), 4);
	assert_int_equal(samples_group(samples, 2)->rows, 0);
	assert_string_equal(samples_group(samples, 3)->split, "test");
	assert_int_equal(samples_group(samples, 3)->rows, 2);
	assert_int_equal(label_of(samples, 3, 1), 2);
	assert_int_equal(samples_select(samples, rows, 1), -ENOTSUP);
	samples_free(samples);
}

enum { MANY = 30000 };

/* Every seventh has a head of its own, every third a class, and one a very long name. */
static struct sample make(uint64_t i, char *text, size_t room)
{
	struct sample sample = { .label = -(int64_t)i, .body = { i << 30, UINT64_MAX - i,
								  (uint32_t)i } };

	if (i % 7 == 0)
		sample.head = (struct sample_bytes){ i / 70, 11, 3 };
	snprintf(text, room, "%*d.jpg", i == MANY / 2 + 1 ? 300000 : 1, (int)i);
	sample.name = i % 2 ? text : NULL;
	sample.class_name = i % 3 ? NULL : i % 2 ? "dog" : "cat";
	return sample;
}

static void assert_text(const char *got, const char *want)
{
	assert_int_equal(got != NULL, want != NULL);
	if (want)
		assert_string_equal(got, want);
}

static void assert_bytes(const struct sample_bytes *got, const struct sample_bytes *want)
{
	assert_int_equal(got->offset, want->offset);
	assert_int_equal(got->length, want->length);
	assert_int_equal(got->volume, want->volume);
}

static void test_many_come_back(void **state)
{
	static char text[300100];
	const struct sample_group group = { .split = "", .name = "i", .extension = "jpg" };
	struct samples *samples = samples_new();
	struct sample want, got;

	(void)state;
	assert_int_equal(samples_begin(samples, &group), 0);
	for (uint64_t i = 0; i < MANY; i++) {
		want = make(i, text, sizeof(text));
		assert_int_equal(samples_add(samples, &want), 0);
	}
	for (uint64_t i = 0, row = 0; i < MANY; i++, row = (row + 7919) % MANY) {
		/* once in any order, then from the first on, freed behind */
		for (unsigned k = i < 500 ? 0 : 1; k < 2; k++) {
			uint64_t at = k ? i : row;

			if (k && i > 500)
				samples_release(samples, 0, i - 500);
			want = make(at, text, sizeof(text));
			got = get(samples, 0, at);
			assert_int_equal(got.label, want.label);
			assert_bytes(&got.body, &want.body);
			assert_bytes(&got.head, &want.head);
			assert_text(got.name, want.name);
			assert_text(got.class_name, want.class_name);
		}
	}
	samples_free(samples);
}

static const struct CMUnitTest samples[] = {
	cmocka_unit_test(test_many_come_back),
	cmocka_unit_test(test_the_last_group_is_parted),
	cmocka_unit_test(test_rows_are_selected),
	cmocka_unit_test(test_groups_are_copied_and_counted),
	unit_table(test_what_a_head_is_called, heads, head),
	unit_table(test_sixteen_bytes_tell, heads, head),
	unit_rows(test_what_most_are, table),
};

UNIT_MAIN(samples)
