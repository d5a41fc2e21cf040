/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#if WITH_ZLIB
#include "rows_run.h"

#include <errno.h>
#include <inttypes.h>
#include <zlib.h>

#include "codec/codec.h"
#include "told.h"

enum { PREFIX = 777 };

static const char *format_name = "arrow";

void rows_of(const char *format)
{
	format_name = format;
}

void run_window(struct run *run, const char *path, uint64_t base, const char *labels)
{
	run_scan(run, format_name, path, base, labels, false);
}

/* The chunk of a coded volume that holds the byte, decoded: from where, and how many. */
static unsigned char *decode_chunk(const struct run *run, uint32_t number, uint64_t at,
				   uint64_t *start, uint64_t *size)
{
	const struct volume_desc *volume = entries_volume(run->entries, number);
	const struct volume_chunk *chunks = entries_chunks(run->entries, number);
	uint64_t i = volume->chunk_count;
	unsigned char *stored, *plain;

	while (i > 0 && chunks[--i].start > at)
		;
	*start = chunks[i].start;
	*size = (i + 1 < volume->chunk_count ? chunks[i + 1].start : volume->length) - *start;
	stored = malloc(chunks[i].stored_length);
	plain = malloc((size_t)*size);
	assert_true(stored && plain);
	assert_int_equal(source_pread(run->source, stored, chunks[i].stored_length,
				      chunks[i].stored_at), 0);
	assert_int_equal(codec_chain_decode(volume->codecs, chunks[i].skipped, stored,
					    chunks[i].stored_length, plain, (size_t)*size),
			 *size);
	free(stored);
	return plain;
}

/* Bytes of a coded volume, from the chunks that hold them. */
static void read_chunks(const struct run *run, const struct sample_bytes *from,
			unsigned char *out)
{
	uint64_t start, size, done = 0;

	while (done < from->length) {
		uint64_t at = from->offset + done;
		unsigned char *chunk = decode_chunk(run, from->volume, at, &start, &size);
		uint64_t n = start + size - at;

		if (n > from->length - done)
			n = from->length - done;
		memcpy(out + done, chunk + (at - start), (size_t)n);
		free(chunk);
		done += n;
	}
}

static void read_bytes(const struct run *run, const struct sample_bytes *from,
		       unsigned char *out)
{
	const struct volume_desc *volume;

	if (from->length == 0)
		return;
	assert_true(from->volume < entries_volume_count(run->entries));
	volume = entries_volume(run->entries, from->volume);
	assert_true(from->offset + from->length <= volume->length);
	if (volume->kind == VOLUME_LITERAL) {
		memcpy(out, (const char *)entries_literals(run->entries, from->volume) +
				    from->offset, (size_t)from->length);
		return;
	}
	assert_int_equal(volume->source, RUN_SOURCE);
	if (volume->kind == VOLUME_RAW) {
		assert_int_equal(source_pread(run->source, out, (size_t)from->length,
					      volume->base + from->offset), 0);
		return;
	}
	assert_int_equal(volume->kind, VOLUME_CODED);
	read_chunks(run, from, out);
}

static unsigned long sum_of(const struct run *run, const struct sample *sample)
{
	uint64_t n = sample->head.length + sample->body.length;
	unsigned char *bytes = malloc((size_t)n + 1);
	unsigned long sum;

	assert_non_null(bytes);
	read_bytes(run, &sample->head, bytes);
	read_bytes(run, &sample->body, bytes + sample->head.length);
	sum = n ? crc32(0, bytes, (unsigned)n) : 0;
	free(bytes);
	return sum;
}

static const char *text(const char *value)
{
	return value && *value ? value : "-";
}

static void print_group(FILE *out, const struct run *run, size_t i)
{
	const struct sample_group *group = samples_group(run->samples, i);

	fprintf(out, "group\t%s\t%s\t%s\t%s\t", text(group->split), group->name,
		text(group->labels), group->extension);
	for (size_t n = 0; n < group->class_count; n++)
		fprintf(out, "%s%s", n ? "|" : "", group->class_names[n]);
	fprintf(out, "%s\n", group->class_count ? "" : "-");
	for (uint64_t n = 0; n < group->rows; n++) {
		struct sample s;

		samples_get(run->samples, i, n, &s);
		fprintf(out, "row\t");
		if (group->labels)
			fprintf(out, "%" PRId64, s.label == SAMPLE_UNLABELLED ? -1 : s.label);
		fprintf(out, "%s\t%s\t%s\t", group->labels ? "" : "-", text(s.class_name),
			text(s.name));
		if (s.body.volume == SAMPLE_MISSING)
			fprintf(out, "-\t0\n");
		else
			fprintf(out, "%" PRIu64 "\t%lu\n", s.head.length + s.body.length,
				sum_of(run, &s));
	}
}

char *run_listing(const struct run *run)
{
	char *listing = NULL;
	size_t n;
	FILE *out = open_memstream(&listing, &n);

	assert_non_null(out);
	for (size_t i = 0; i < samples_group_count(run->samples); i++)
		print_group(out, run, i);
	fclose(out);
	return listing;
}

/* A large one is stored compressed, as NAME.gz. */
static char *read_fixture(const char *path, size_t *size)
{
	char command[1100];

	if (access(path, F_OK) == 0)
		return unit_read(path, size);
	snprintf(command, sizeof(command), "gzip -dc '%s.gz' >unpacked", path);
	unit_shell(command);
	return unit_read("unpacked", size);
}

char *fixture(const char *name, size_t *size)
{
	const char *srcdir = getenv("abs_top_srcdir");
	char path[1024];

	snprintf(path, sizeof(path), "%s/tests/fixtures/%s/%s", srcdir ? srcdir : ".",
		 format_name, name);
	return read_fixture(path, size);
}

void take_fixture(const char *name)
{
	size_t size;
	char *bytes = fixture(name, &size);

	unit_write(name, bytes, size);
	free(bytes);
}

char *expected_of(const char *name)
{
	char *all = fixture("expected.tsv", NULL), line[128], *begin, *end, *out;

	snprintf(line, sizeof(line), "file\t%s\n", name);
	begin = strstr(all, line);
	assert_non_null(begin);
	begin += strlen(line);
	end = strstr(begin, "file\t");
	out = strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
	assert_non_null(out);
	free(all);
	return out;
}

void assert_same_text(const char *name, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		print_message("# %s: got\n%s# and not\n%s", name, got, want);
	assert_string_equal(got, want);
}

void assert_refused(const struct run *run, const char *word)
{
	if (run->err != -EBADMSG || !strstr(run->e.text, word))
		print_message("# %s: %d: no \"%s\" in: %s\n", run->scan.label, run->err,
			      word, run->e.text);
	assert_int_equal(run->err, -EBADMSG);
	assert_int_equal(run->e.status, ERROR_DATASET);
	assert_non_null(strstr(run->e.text, run->scan.label));
	assert_non_null(strstr(run->e.text, word));
}

/* ---- Tables ---- */

static void assert_as_expected(const char *path, uint64_t base, const char *name)
{
	char *want = expected_of(name), *got;
	struct run run;

	run_window(&run, path, base, NULL);
	assert_string_equal(run.e.text, "");
	assert_int_equal(run.err, 0);
	got = run_listing(&run);
	assert_same_text(name, got, want);
	assert_true(run.position > 0 && run.position <= run.scan.length);
	if (format_by_name(format_name)->in_order)
		assert_int_equal(run.position, run.scan.length);
	run_end(&run);
	free(got);
	free(want);
}

void rows_as_written(const char *name)
{
	take_fixture(name);
	assert_as_expected(name, 0, name);
}

void rows_behind_others(const char *name)
{
	size_t n;
	char *bytes = fixture(name, &n), *moved = calloc(1, n + PREFIX);

	assert_non_null(moved);
	memcpy(moved + PREFIX, bytes, n);
	unit_write(name, moved, n + PREFIX);
	assert_as_expected(name, PREFIX, name);
	free(bytes);
	free(moved);
}

void rows_told(const struct row_told *row)
{
	struct run run;
	char *lines;

	take_fixture(row->file);
	run_window(&run, row->file, 0, row->labels);
	assert_string_equal(run.e.text, "");
	assert_string_equal(run.scan.detail, row->detail);
	lines = told(&run.findings);
	if (*row->said ? !strstr(lines, row->said) : *lines)
		print_message("# told: %s\n", lines);
	assert_true(*row->said ? strstr(lines, row->said) != NULL : !*lines);
	free(lines);
	run_end(&run);
}

void rows_refused(const struct row_refused *row)
{
	struct run run;

	take_fixture(row->file);
	run_window(&run, row->file, 0, row->labels);
	assert_refused(&run, row->word);
	run_end(&run);
}

#endif
