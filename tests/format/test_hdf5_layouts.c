/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layouts of images in HDF5 files, each a row of hdf5_layouts.py's table. */
#include "config.h"
#if WITH_HDF5 && WITH_ZLIB && WITH_DEFLATE && WITH_LZF && WITH_BLOSC && \
	WITH_LZ4 && WITH_ZSTD
#include "hdf5_run.h"

#include <errno.h>
#include <inttypes.h>

/* "-" for nothing, "~" for blanks. */
static const char *word(const char *text, char *out, size_t room)
{
	snprintf(out, room, "%s", text && *text ? text : "-");
	for (char *p = out; *p; p++)
		if (*p == ' ')
			*p = '~';
	return out;
}

static void print_number(FILE *out, int64_t value)
{
	if (value)
		fprintf(out, " %" PRId64, value);
	else
		fputs(" -", out);
}

static void print_sample(FILE *out, const struct run *run,
			 const struct sample_group *group, uint64_t row,
			 const struct sample *sample)
{
	char split[500], array[500], class_name[500], name[5000];

	fprintf(out, "s %s %s %" PRIu64, word(group->split, split, sizeof(split)),
		word(group->name, array, sizeof(array)), row);
	print_number(out, sample->label);
	fprintf(out, " %s %s %" PRIu64 " %08lx\n",
		word(sample->class_name, class_name, sizeof(class_name)),
		word(sample->name, name, sizeof(name)),
		sample->head.length + sample->body.length, sum_of_sample(run, sample));
}

static void print_group(FILE *out, const struct run *run, size_t number)
{
	const struct sample_group *group = samples_group(run->samples, number);
	char split[500], array[500], labels[500], class_name[500];

	fprintf(out, "g %s %s %s %s %" PRIu64 " %s ",
		word(group->split, split, sizeof(split)),
		word(group->name, array, sizeof(array)),
		word(group->labels, labels, sizeof(labels)), group->extension,
		group->rows, word(group->class_name, class_name, sizeof(class_name)));
	for (size_t i = 0; i < group->class_count; i++)
		fprintf(out, "%s%s", i ? "," : "", group->class_names[i]);
	fprintf(out, "%s\n", group->class_count ? "" : "-");
	for (uint64_t i = 0; i < group->rows; i++) {
		struct sample sample;

		samples_get(run->samples, number, i, &sample);
		print_sample(out, run, group, i, &sample);
	}
}

static void print_entry(FILE *out, const struct run *run, const struct entry *entry)
{
	if (entry->kind == ENTRY_FILE)
		fprintf(out, "f %s %" PRIu64 " %08lx\n", entry->path, entry->size,
			sum_of_file(run, entry));
	else if (entry->kind == ENTRY_SYMLINK)
		fprintf(out, "l %s %s\n", entry->path, entry->target);
}

/* The options that the file's name says. */
static void choose_options(const char *name, char labels[64])
{
	const char *end = strstr(name, "__");

	run_labels = NULL;
	run_arrays = strncmp(name, "arrays_", 7) == 0;
	if (!end || strncmp(name, "labels_", 7) != 0)
		return;
	snprintf(labels, 64, "%.*s", (int)(end - name - 7), name + 7);
	run_labels = labels;
}

static void compare(const char *name)
{
	char path[512], labels[64];
	struct run run;

	choose_options(name, labels);
	snprintf(path, sizeof(path), "%s.h5", name);
	run_window(&run, path, 0);
	if (run.err)
		print_message("# %s\n", run.e.text);
	assert_int_equal(run.err, 0);
	assert_listed(name, ".want", run_listing(&run, print_entry, print_group));
	assert_true(*run.scan.detail);
	run_end(&run);
}

static void test_layouts(void **state)
{
	(void)state;
	assert_true(for_each(".want", compare) >= 12);
}

static void refuse(const char *name)
{
	char labels[64];

	choose_options(name, labels);
	run_refuse(name);
}

static void test_refused(void **state)
{
	(void)state;
	assert_true(for_each(".refuse", refuse) >= 6);
}

/*
 * Damaged tables, labels, names and chunks: an answer or a sentence. What only libhdf5
 * looks at is left alone; it does not bear everything.
 */

enum { DAMAGES = 12, PLACES = 512 };

struct places {
	size_t count, start[PLACES], length[PLACES];
};

static void read_places(const char *name, struct places *places)
{
	char path[512], *text, *rest, *line;

	snprintf(path, sizeof(path), "%s.raw", name);
	text = rest = unit_read(path, NULL);
	places->count = 0;
	while ((line = strtok_r(NULL, "\n", &rest)) && places->count < PLACES) {
		assert_int_equal(sscanf(line, "%zu %zu", &places->start[places->count],
					&places->length[places->count]), 2);
		places->count++;
	}
	free(text);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* A few bytes behind each other, set to what is large or odd. */
static void spoil(char *bytes, size_t n, const struct places *places, uint32_t *seed)
{
	static const unsigned char values[] = { 0, 1, 2, 7, 8, 0x7f, 0x80, 0xff };
	size_t place = next_random(seed) % places->count;
	size_t at = places->start[place] + next_random(seed) % places->length[place];
	size_t count = 1 + next_random(seed) % 8;
	unsigned char value = values[next_random(seed) % sizeof(values)];

	for (size_t i = at; i < at + count && i < n; i++)
		bytes[i] = (char)value;
}

static void scan_damaged(char *bytes, size_t n)
{
	struct run run;

	unit_write("damaged", bytes, n);
	run_window(&run, "damaged", 0);
	if (run.err)
		assert_refused(&run, -EBADMSG, ERROR_DATASET);
	run_end(&run);
}

static void damage(const char *name)
{
	static struct places places;
	char path[512], labels[64], *bytes, *copy;
	uint32_t seed = 1;
	size_t n;

	choose_options(name, labels);
	read_places(name, &places);
	snprintf(path, sizeof(path), "%s.h5", name);
	bytes = unit_read(path, &n);
	copy = malloc(n);
	assert_non_null(copy);
	for (size_t i = 0; i < DAMAGES && places.count; i++) {
		memcpy(copy, bytes, n);
		for (size_t k = 0; k <= i % 3; k++)
			spoil(copy, n, &places, &seed);
		scan_damaged(copy, n);
	}
	free(copy);
	free(bytes);
}

static void test_damaged(void **state)
{
	(void)state;
	assert_true(for_each(".raw", damage) > 20);
}

static int enter(void **state)
{
	(void)state;
	return run_enter("hdf5_layouts.py");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_layouts),
	cmocka_unit_test(test_refused),
	cmocka_unit_test(test_damaged),
};

UNIT_MAIN_IN(tests, enter, run_leave)

#else
#include "left_out.h"
#endif
