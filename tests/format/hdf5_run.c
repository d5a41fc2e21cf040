/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by tests of the HDF5 format: a scan of a file, and its contents. */
#include "config.h"
#if WITH_ZLIB
#include "hdf5_run.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/codec.h"
#include "index/array_tiles.h"
#include "base/log.h"

static char directory[] = "/tmp/granary-hdf5-XXXXXX";

bool run_arrays;
const char *run_labels;

void run_window(struct run *run, const char *path, uint64_t base)
{
	run_scan(run, "hdf5", path, base, run_labels, run_arrays);
}

/* Contents, as the daemon will read them */

static void read_raw(const struct run *run, const struct volume_desc *v,
		     uint64_t offset, uint64_t length, unsigned char *out)
{
	unsigned char guard[16];

	assert_int_equal(v->source, RUN_SOURCE);
	assert_int_equal(source_pread(run->source, out, (size_t)length,
				      v->base + offset), 0);
	if (v->guard == GUARD_NONE)
		return;
	assert_int_equal(source_pread(run->source, guard, sizeof(guard),
				      v->base + offset - sizeof(guard)), 0);
	assert_true(guard[0] || guard[1]); /* index */
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(guard[8 + i], length >> 8 * i & 0xff);
}

static void read_coded(const struct run *run, size_t volume, uint64_t offset,
		       uint64_t length, unsigned char *out)
{
	const struct volume_desc *v = entries_volume(run->entries, volume);
	const struct volume_chunk *chunks = entries_chunks(run->entries, volume);

	for (uint64_t i = 0; i < v->chunk_count; i++) {
		uint64_t end = i + 1 < v->chunk_count ? chunks[i + 1].start : v->length;
		uint64_t plain = end - chunks[i].start, n;
		unsigned char *stored, *whole;

		if (offset < chunks[i].start || offset >= end || length == 0)
			continue;
		stored = malloc(chunks[i].stored_length);
		whole = malloc((size_t)plain);
		assert_int_equal(source_pread(run->source, stored,
					      chunks[i].stored_length,
					      chunks[i].stored_at), 0);
		assert_int_equal(codec_chain_decode(v->codecs, chunks[i].skipped, stored,
						    chunks[i].stored_length, whole,
						    (size_t)plain), plain);
		n = end - offset < length ? end - offset : length;
		memcpy(out, whole + (offset - chunks[i].start), (size_t)n);
		out += n;
		offset += n;
		length -= n;
		free(stored);
		free(whole);
	}
	assert_int_equal(length, 0);
}

/* An element at a time: what is asked is where each is, and not how fast. */
static void read_array(const struct run *run, size_t volume, uint64_t offset,
		       uint64_t length, unsigned char *out)
{
	const struct volume_desc *v = entries_volume(run->entries, volume);
	const struct volume_array *array = entries_array(run->entries, volume);
	const struct volume_chunk *chunks = entries_chunks(run->entries, volume);
	const unsigned char *fill = entries_literals(run->entries, volume);
	unsigned char *tile = NULL, *stored;
	struct array_measure measure;
	uint64_t held = UINT64_MAX;

	assert_int_equal(array_measure(array, &measure), 0);
	tile = malloc((size_t)measure.tile_bytes);
	assert_non_null(tile);
	for (uint64_t i = 0; i < length; i++) {
		struct array_spot spot;
		uint64_t at = offset + i;

		array_find(array, &measure, at / array->item, &spot);
		if (chunks[spot.tile].stored_length == 0) {
			out[i] = array->filled ? fill[at % array->item] : 0;
			continue;
		}
		if (held != spot.tile) {
			const struct volume_chunk *c = &chunks[spot.tile];

			stored = malloc(c->stored_length);
			assert_int_equal(source_pread(run->source, stored,
						      c->stored_length, c->stored_at), 0);
			assert_int_equal(codec_chain_decode(v->codecs, c->skipped, stored,
							    c->stored_length, tile,
							    (size_t)measure.tile_bytes),
					 measure.tile_bytes);
			free(stored);
			held = spot.tile;
		}
		out[i] = tile[spot.inside * array->item + at % array->item];
	}
	free(tile);
}

static void read_volume(const struct run *run, size_t volume, uint64_t offset,
			uint64_t length, unsigned char *out)
{
	const struct volume_desc *v = entries_volume(run->entries, volume);
	const unsigned char *literals = entries_literals(run->entries, volume);

	assert_true(offset <= v->length && length <= v->length - offset);
	if (v->kind == VOLUME_LITERAL)
		memcpy(out, literals + offset, (size_t)length);
	else if (v->kind == VOLUME_ARRAY)
		read_array(run, volume, offset, length, out);
	else if (v->kind == VOLUME_CODED)
		read_coded(run, volume, offset, length, out);
	else
		read_raw(run, v, offset, length, out);
}

unsigned long sum_of_file(const struct run *run, const struct entry *entry)
{
	unsigned char *bytes = calloc(1, (size_t)entry->size + 1);
	uint64_t behind = 0;
	unsigned long sum;

	assert_non_null(bytes);
	for (size_t i = 0; i < entry->extent_count; i++) {
		const struct entry_extent *x = &entry->extents[i];

		assert_true(x->file_offset >= behind && x->length > 0);
		behind = x->file_offset + x->length;
		assert_true(behind <= entry->size);
		read_volume(run, x->volume, x->offset, x->length, bytes + x->file_offset);
	}
	sum = adler32(1, bytes, (uInt)entry->size);
	free(bytes);
	return sum;
}

/* The head, then the body. */
unsigned long sum_of_sample(const struct run *run, const struct sample *sample)
{
	uint64_t head = sample->head.length, body = sample->body.length;
	unsigned char *bytes = calloc(1, (size_t)(head + body) + 1);
	unsigned long sum;

	assert_non_null(bytes);
	if (head)
		read_volume(run, sample->head.volume, sample->head.offset, head, bytes);
	if (body)
		read_volume(run, sample->body.volume, sample->body.offset, body,
			    bytes + head);
	sum = adler32(1, bytes, (uInt)(head + body));
	free(bytes);
	return sum;
}

/* Lists */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts lines in place; ends in NULL. The caller frees it. */
static char **sorted_lines(char *text)
{
	size_t n = 0, i = 0;
	char **lines;

	for (char *p = text; *p; p++)
		n += *p == '\n';
	lines = calloc(n + 1, sizeof(*lines));
	assert_non_null(lines);
	for (char *p = strtok_r(text, "\n", &text); p; p = strtok_r(NULL, "\n", &text))
		lines[i++] = p;
	qsort(lines, i, sizeof(*lines), compare_lines);
	return lines;
}

char *run_listing(const struct run *run, run_print_entry *print_entry,
		  run_print_group *print_group)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	for (size_t i = 0; i < entries_count(run->entries); i++)
		print_entry(out, run, entries_get(run->entries, i));
	for (size_t i = 0; i < samples_group_count(run->samples); i++)
		print_group(out, run, i);
	fclose(out);
	return text;
}

void assert_listed(const char *name, const char *suffix, char *got)
{
	char list[512], *want;
	char **want_lines, **got_lines;
	size_t i = 0;

	snprintf(list, sizeof(list), "%s%s", name, suffix);
	want = unit_read(list, NULL);
	want_lines = sorted_lines(want);
	got_lines = sorted_lines(got);
	while (want_lines[i] && got_lines[i] && !strcmp(want_lines[i], got_lines[i]))
		i++;
	if (want_lines[i] || got_lines[i]) {
		print_message("# %s: got %.999s\n", name, got_lines[i] ? got_lines[i] : "-");
		print_message("# %s: not %.999s\n", name, want_lines[i] ? want_lines[i] : "-");
		fail();
	}
	assert_true(i > 0);
	free(want_lines);
	free(got_lines);
	free(want);
	free(got);
}

/* For each file NAME.SUFFIX: how many there are. */
unsigned for_each(const char *suffix, void (*check)(const char *name))
{
	DIR *dir = opendir(".");
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		char *end = strstr(entry->d_name, suffix);

		if (!end)
			continue;
		*end = '\0';
		check(entry->d_name);
		count++;
	}
	closedir(dir);
	return count;
}

/* Errors */

void assert_refused(const struct run *run, int err, enum error_status status)
{
	if (run->err != err)
		print_message("# %s: %d: %s\n", run->scan.label, run->err, run->e.text);
	assert_int_equal(run->err, err);
	assert_int_equal(run->e.status, status);
	assert_non_null(strstr(run->e.text, run->scan.label));
}

void assert_word(const struct run *run, const char *word)
{
	if (!strstr(run->e.text, word))
		print_message("# no \"%s\" in: %s\n", word, run->e.text);
	assert_non_null(strstr(run->e.text, word));
}

void run_refuse(const char *name)
{
	char path[512], *words, *rest, *word;
	struct run run;

	snprintf(path, sizeof(path), "%s.refuse", name);
	words = rest = unit_read(path, NULL);
	snprintf(path, sizeof(path), "%s.h5", name);
	run_window(&run, path, 0);
	assert_refused(&run, -EBADMSG, ERROR_DATASET);
	while ((word = strtok_r(NULL, "\n", &rest)))
		assert_word(&run, word);
	run_end(&run);
	free(words);
}

/* Makes the fixtures in a directory and goes there; and back. */
int run_enter(const char *script)
{
	const char *srcdir = getenv("srcdir"), *python = getenv("PYTHON");
	char command[4096];

	log_level_now = getenv("VERBOSE") ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR;
	if (!mkdtemp(directory))
		return -1;
	snprintf(command, sizeof(command),
		 "'%s' '%s/tests/format/%s' '%s'",
		 python ? python : "/usr/bin/python3", srcdir ? srcdir : ".", script,
		 directory);
	return system(command) == 0 ? chdir(directory) : -1;
}

int run_leave(void **state)
{
	char command[64];

	(void)state;
	if (chdir("/") < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return system(command);
}

#endif
