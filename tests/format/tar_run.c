/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "tar_run.h"
#include "base/log.h"

static char directory[] = "/tmp/granary-tar-XXXXXX";

static void advance(struct scan *scan, uint64_t bytes)
{
	struct run *run = (struct run *)(void *)((char *)scan - offsetof(struct run, scan));

	run->members++;
	run->position += bytes;
}

void run_prepare(struct run *run, const char *path)
{
	memset(run, 0, sizeof(*run));
	assert_int_equal(source_open(path, &run->source, NULL), 0);
	run->entries = entries_new();
	assert_non_null(run->entries);
	run->scan = (struct scan){ .source = run->source, .source_number = 3,
				   .length = source_size(run->source),
				   .label = path, .entries = run->entries,
				   .advance = advance };
}

void run_scan(struct run *run, const char *path)
{
	run_prepare(run, path);
	run->err = format_by_name("tar")->scan(&run->scan, &run->e);
}

void run_end(struct run *run)
{
	entries_free(run->entries);
	source_close(run->source);
}

void run_assert_damaged(const struct run *run, const char *word)
{
	assert_int_equal(run->err, -EBADMSG);
	assert_int_equal(run->e.status, ERROR_DATASET);
	assert_non_null(strstr(run->e.text, run->scan.label));
	assert_non_null(strstr(run->e.text, "byte"));
	assert_non_null(strstr(run->e.text, "again"));
	if (!strstr(run->e.text, word))
		print_message("# %s\n", run->e.text);
	assert_non_null(strstr(run->e.text, word));
}

unsigned char *run_contents(const struct run *run, const struct entry *entry)
{
	unsigned char *bytes = calloc(1, (size_t)entry->size + 1);

	assert_non_null(bytes);
	for (size_t i = 0; i < entry->extent_count; i++) {
		const struct entry_extent *x = &entry->extents[i];
		const struct volume_desc *v = entries_volume(run->entries, x->volume);

		assert_int_equal(v->kind, VOLUME_RAW);
		assert_int_equal(v->source, 3);
		assert_true(x->length > 0);
		assert_true(x->file_offset + x->length <= entry->size);
		assert_int_equal(source_pread(run->source, bytes + x->file_offset,
					      (size_t)x->length, v->base + x->offset),
				 0);
	}
	return bytes;
}

uint32_t run_adler32(const unsigned char *bytes, uint64_t n)
{
	uint32_t a = 1, b = 0;

	while (n > 0) {
		uint64_t part = n < 5552 ? n : 5552; /* what 32 bits can hold */

		for (n -= part; part > 0; part--) {
			a += *bytes++;
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}

void run_print_hex(FILE *out, const char *text, size_t n)
{
	fputc(' ', out);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%02x", (unsigned char)text[i]);
}

static void print_mtime(FILE *out, const struct entry *entry)
{
	int64_t ns;

	assert_true(entry->mtime_ns < 1000000000);
	if (!__builtin_mul_overflow(entry->mtime, INT64_C(1000000000), &ns)) {
		fprintf(out, " %" PRId64, ns + (int64_t)entry->mtime_ns);
	} else {
		assert_true(entry->mtime > 0);
		fprintf(out, " %" PRId64 "%09u", entry->mtime, entry->mtime_ns);
	}
}

static void print_entry(FILE *out, const struct run *run, const struct entry *entry)
{
	size_t n = strlen(entry->path);

	fprintf(out, "%c %03o", "dflhf"[entry->kind], entry->mode);
	print_mtime(out, entry);
	if (entry->kind == ENTRY_FILE) {
		unsigned char *bytes = run_contents(run, entry);

		fprintf(out, " %" PRIu64 " %08x", entry->size,
			run_adler32(bytes, entry->size));
		free(bytes);
	} else {
		assert_int_equal(entry->extent_count, 0);
		fprintf(out, " 0 00000000");
	}
	while (entry->kind == ENTRY_DIRECTORY && n > 1 && entry->path[n - 1] == '/')
		n--;
	run_print_hex(out, entry->path, n);
	run_print_hex(out, entry->target, entry->target ? strlen(entry->target) : 0);
	fputc('\n', out);
}

char *run_listing(const struct run *run)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	for (size_t i = 0; i < entries_count(run->entries); i++)
		print_entry(out, run, entries_get(run->entries, i));
	fclose(out);
	return text;
}

char *run_read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	char *text;
	long n;

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	text = calloc(1, (size_t)n + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)n, f), n);
	fclose(f);
	if (size)
		*size = (size_t)n;
	return text;
}

void run_write_file(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

void run_assert_same(const char *name, const char *got, const char *want)
{
	size_t line = 0, i;

	for (i = 0; got[i] && got[i] == want[i]; i++)
		if (got[i] == '\n')
			line = i + 1;
	if (got[i] == want[i])
		return;
	print_message("# %s: got %.*s\n", name, (int)strcspn(got + line, "\n"),
		      got + line);
	print_message("# %s: not %.*s\n", name, (int)strcspn(want + line, "\n"),
		      want + line);
	fail();
}

int run_enter_with(const char *script)
{
	const char *srcdir = getenv("srcdir"), *python = getenv("PYTHON");
	char command[4096];

	log_level_now = getenv("VERBOSE") ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR;
	if (!mkdtemp(directory))
		return -1;
	snprintf(command, sizeof(command),
		 "'%s' '%s/tests/format/%s' '%s'",
		 python ? python : "/usr/bin/python3", srcdir ? srcdir : ".", script, directory);
	if (system(command) != 0)
		return -1;
	return chdir(directory);
}

int run_enter(void **state)
{
	(void)state;
	return run_enter_with("tar_fixtures.py");
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
