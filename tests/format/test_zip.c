/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zips with what programs of today do not write: sound, odd, damaged and hostile ones. */
#include "config.h"
#if WITH_DEFLATE
#include "scan_run.h"

#include <errno.h>

#include "base/log.h"
#include "codec/codec.h"
#include "told.h"

enum { SHOWN = 12 }; /* bytes of contents in a listing */

static ssize_t read_chunk(const struct run *run, const struct volume_desc *volume,
			  const struct volume_chunk *chunk, void *out, size_t room)
{
	char *stored = malloc(chunk->stored_length);
	ssize_t n;

	assert_non_null(stored);
	assert_int_equal(source_pread(run->source, stored, chunk->stored_length,
				      chunk->stored_at), 0);
	n = codec_chain_decode(volume->codecs, chunk->skipped, stored,
			       chunk->stored_length, out, room);
	free(stored);
	return n;
}

/* The bytes of an entry of one extent: how many, or a negative errno. */
static ssize_t read_entry(const struct run *run, const struct entry *entry, char *out)
{
	const struct entry_extent *extent = entry->extents;
	const struct volume_desc *volume;

	if (entry->size == 0)
		return 0;
	assert_int_equal(entry->extent_count, 1);
	assert_int_equal(extent->length, entry->size);
	volume = entries_volume(run->entries, extent->volume);
	if (volume->kind == VOLUME_RAW)
		return source_pread(run->source, out, entry->size,
				    volume->base + extent->offset) ?
			       -EIO : (ssize_t)entry->size;
	for (uint64_t i = 0; i < volume->chunk_count; i++) {
		const struct volume_chunk *chunk = &entries_chunks(run->entries,
								   extent->volume)[i];

		if (chunk->start == extent->offset)
			return read_chunk(run, volume, chunk, out, entry->size);
	}
	fail();
	return -EIO;
}

static void print_contents(FILE *out, const struct run *run, const struct entry *entry)
{
	char *bytes = malloc(entry->size + 1);
	ssize_t n;

	assert_non_null(bytes);
	n = entry->size < 1000 ? read_entry(run, entry, bytes) : -EFBIG;
	if (n < 0)
		fprintf(out, " %s", n == -EBADMSG ? "damaged" : "unreadable");
	else if (n)
		fprintf(out, " %.*s", n < SHOWN ? (int)n : SHOWN, bytes);
	free(bytes);
}

static const char *kind_letter(enum entry_kind kind)
{
	return kind == ENTRY_DIRECTORY ? "d" : kind == ENTRY_SYMLINK ? "l" : "f";
}

/* Kind, mode, path, and what it holds. */
static void print_entry(FILE *out, const struct run *run, const struct entry *entry)
{
	fprintf(out, "%s%o %s", kind_letter(entry->kind), entry->mode, entry->path);
	if (entry->kind == ENTRY_SYMLINK)
		fprintf(out, " -> %.12s", entry->target);
	else
		print_contents(out, run, entry);
}

static void scan_with(struct run *run, const char *name, struct format_options *options)
{
	static char path[64]; /* findings refer to it */

	snprintf(path, sizeof(path), "%s.zip", name);
	run_scan(run, "zip", path, 0, NULL, false);
	if (!options)
		return;
	run_end(run);
	memset(run, 0, sizeof(*run));
	assert_int_equal(source_open(path, &run->source, NULL), 0);
	run->entries = entries_new();
	run->samples = samples_new();
	run->scan = (struct scan){ .source = run->source, .label = path,
				   .length = source_size(run->source),
				   .entries = run->entries, .findings = &run->findings,
				   .options = options };
	run->err = format_by_name("zip")->scan(&run->scan, &run->e);
}

/* Sound ones, all with the same two members */

static const char *const sound[] = {
	"plain",     "prefix",	  "prefix-adjusted", "behind",
	"comment",   "false-end", "false-empty",     "gaps",
	"signature", "streamed",  "zip64-local",     "zip64-record",
	"zip64-end",
};

static void test_sound(void **state)
{
	struct run run;
	char *got;

	scan_with(&run, sound[unit_row(state)], NULL);
	assert_string_equal(run.e.text, "");
	assert_int_equal(run.err, 0);
	got = run_list_entries(&run, print_entry);
	assert_string_equal(got, "f644 a first\nf644 d/b second secon\n");
	free(got);
	run_end(&run);
}

/* Damaged ones */

static const struct damage {
	const char *name, *words;
} damaged[] = {
	{ "cut", "is a truncated zip archive" },
	{ "cut-end", "is a truncated zip archive" },
	{ "empty", "has no members" },
	{ "last-part", "put all of them" },
	{ "first-part", "put all of them" },
	{ "wrong-count", "another number of records" },
	{ "two-ends", "has two end records" },
	{ "no-record", "no record of the central directory" },
	{ "other-name", "the name of member 'a' is another one in its local header" },
	{ "other-method", "the method of member 'a' is another one" },
	{ "other-size", "the size of member 'a' is another one" },
	{ "other-crc", "the CRC-32 of member 'a' is another one" },
	{ "other-flags", "the encryption of member 'a' is another one" },
	{ "no-header", "no local header at the place of member 'b'" },
	{ "far-header", "the place of member 'b'" },
	{ "into-directory", "the central directory overlaps the bytes of member 'b'" },
	{ "shared", "two members share the bytes" },
	{ "quoted", "two members share the bytes" },
	{ "two-sizes", "the two sizes" },
	{ "bomb", "a size that its stored bytes cannot become" },
	{ "short-zip64", "the field of 64-bit sizes" },
	{ "beyond", "a size that its stored bytes cannot become" },
	{ "false-link", "the target of the link" },
	{ "nul-link", "the target of the link" },
	{ "part-number", "the number of the part" },
	{ "many-bytes", "the sizes of its members need more memory" },
};

static void test_damaged(void **state)
{
	const struct damage *row = &damaged[unit_row(state)];
	struct run run;

	scan_with(&run, row->name, NULL);
	assert_int_equal(run.err, -EBADMSG);
	if (!strstr(run.e.text, row->words) || strchr(run.e.text, '\n'))
		fail_msg("%s", run.e.text);
	run_end(&run);
}

/* Odd ones: what they are read as, and what is said of them */

static const struct odd {
	const char *name, *encoding, *entries, *told;
} odd[] = {
	{ "disordered", NULL, "f644 d/b second secon\nf644 a first\n", "" },
	{ "names", NULL,
	  "f644 ../up 1\nf644 /root 2\nf644 ./x//y 3\nf644 back\\slash 4\nf644 twice "
	  "old\n"
	  "f644 twice new\n",
	  "1 names have a backslash ('back\\slash', for one)" },
	{ "kinds", NULL,
	  "f600 file f\nl777 link -> file\nl777 packed-link -> a/a/a/a/a/a/\nd750 "
	  "directory/\n"
	  "f600 python p\nf644 dos d\nd755 dos-directory\nf640 seven s\nd755 fat/\n",
	  "2 devices, pipes or sockets are left out" },
	{ "unicode", NULL,
	  "f644 ä.txt 1\nf644 ö.txt 2\nf644 ä.dos 3\nf644 é.path 4\nf644 Å.stale 5\n",
	  "2 names are not UTF-8, and are read as code page 437" },
	{ "gbk", NULL, "f644 ╩²╛▌/═╝╧±.jpg 1\nf644 plain 2\nf644 ü 3\n",
	  "'╩²╛▌/═╝╧±.jpg', for one" },
	{ "gbk", "GBK", "f644 数据/图像.jpg 1\nf644 plain 2\nf644 ü 3\n", "" },
	{ "sjis", "SHIFT-JIS", "f644 データ/画像.jpg 1\n", "" },
	{ "unreadable", NULL,
	  "f644 encrypted unreadable\nf644 deflate64 unreadable\nf644 ppmd unreadable\n"
	  "f644 aes unreadable\nf644 large unreadable\nf644 readable yes\n",
	  "2 members are encrypted ('encrypted', for one): they are listed" },
};

static void list_odd(const struct odd *row)
{
	struct format_options options = { .names_encoding =
						  (char *)(uintptr_t)row->encoding };
	struct run run;
	char *got, *said;

	scan_with(&run, row->name, row->encoding ? &options : NULL);
	assert_string_equal(run.e.text, "");
	got = run_list_entries(&run, print_entry);
	assert_true(strncmp(got, row->entries, strlen(row->entries)) == 0);
	free(got);
	said = told(&run.findings);
	if (!strstr(said, row->told) || (!*row->told && *said))
		fail_msg("%s", said);
	free(said);
	run_end(&run);
}

static void test_odd(void **state)
{
	list_odd(&odd[unit_row(state)]);
}

static void test_wrong_encoding(void **state)
{
	struct format_options options = { .names_encoding =
						  (char *)(uintptr_t) "SHIFT-JIS" };
	struct run run;

	(void)state;
	scan_with(&run, "gbk", &options);
	assert_int_equal(run.err, -EBADMSG);
	assert_non_null(
		strstr(run.e.text, "is no text in SHIFT-JIS; name another encoding"));
	run_end(&run);
}

static void test_times(void **state)
{
	static const struct { const char *path; int64_t mtime; uint32_t ns;
	} want[] = {
		{ "dos", 1709251198, 0 },	   { "unix", -5, 0 },
		{ "ntfs", 1234567890, 123456700 }, { "none", 315532800, 0 },
		{ "cut", 315532800, 0 },	   { "owner", 1735732800, 0 },
	};
	struct run run;

	(void)state;
	scan_with(&run, "times", NULL);
	assert_int_equal(entries_count(run.entries), COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		const struct entry *entry = entries_get(run.entries, i);

		assert_string_equal(entry->path, want[i].path);
		assert_int_equal(entry->mtime, want[i].mtime);
		assert_int_equal(entry->mtime_ns, want[i].ns);
	}
	assert_int_equal(entries_get(run.entries, 5)->uid, 77);
	assert_int_equal(entries_get(run.entries, 5)->gid, 88);
	run_end(&run);
}

/* A flipped bit in what a member stores is no silent wrong byte. */
static void test_flipped_bytes(void **state)
{
	struct run run;
	char *bytes, *got;
	size_t n;

	(void)state;
	bytes = unit_read("plain.zip", &n);
	bytes[36 + 33 + 5] ^= 4; /* in d/b, which is deflated */
	unit_write("flipped.zip", bytes, n);
	free(bytes);
	scan_with(&run, "flipped", NULL);
	assert_int_equal(run.err, 0);
	got = run_list_entries(&run, print_entry);
	assert_string_equal(got, "f644 a first\nf644 d/b damaged\n");
	free(got);
	run_end(&run);
}

/* Each cut is refused with a sentence of one line, as a zip. */
static void test_cuts(void **state)
{
	char *bytes;
	size_t n;

	(void)state;
	bytes = unit_read("zip64-end.zip", &n);
	for (size_t cut = 1; cut < n; cut++) {
		struct run run;

		unit_write("part.zip", bytes, cut);
		scan_with(&run, "part", NULL);
		assert_int_equal(run.err, -EBADMSG);
		assert_null(strchr(run.e.text, '\n'));
		run_end(&run);
	}
	free(bytes);
}

static void test_recognised(void **state)
{
	static const char *const names[] = { "plain", "prefix", "first-part", "empty" };

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++) {
		const struct format *format = NULL;
		struct source *source;
		struct error e;
		char path[64];

		snprintf(path, sizeof(path), "%s.zip", names[i]);
		assert_int_equal(source_open(path, &source, NULL), 0);
		assert_int_equal(format_of_window(source, 0, source_size(source), path,
						  &format, &e), 0);
		assert_string_equal(format->name, "zip");
		source_close(source);
	}
}

static int enter(void **state)
{
	const char *srcdir = getenv("abs_top_srcdir"), *python = getenv("PYTHON");
	char command[4096];

	log_level_now = LOG_LEVEL_ERROR;
	if (unit_enter(state) < 0)
		return -1;
	snprintf(command, sizeof(command),
		 "umask 022; '%s' '%s/tests/format/zip_fixtures.py' .",
		 python ? python : "/usr/bin/python3", srcdir ? srcdir : ".");
	unit_shell(command);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		unit_texts(test_sound, sound),
		unit_table(test_damaged, damaged, name),
		unit_table(test_odd, odd, name),
		cmocka_unit_test(test_wrong_encoding),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_recognised),
	};

	return unit_run(tests, COUNT(tests), enter, unit_leave);
}

#else
#include "left_out.h"
#endif
