/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LMDB: what its own libraries wrote, against what these read; and damage. */
#include "config.h"
#if WITH_ZLIB
#include "scan_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/log.h"

static const char *const fixtures_read[] = {
	"raw.lmdb",    "texts.lmdb",  "pickles.lmdb",	  "course.lmdb",
	"datum.lmdb",  "planes.lmdb", "grey.lmdb",	  "tensorpack.lmdb",
	"named.lmdb",  "values.lmdb", "dup.lmdb",	  "deep.lmdb",
	"v2.lmdb",     "arrays.lmdb", "byte-orders.lmdb", "spellings.lmdb",
	"tuples.lmdb", "rows.lmdb",   "thumbnails.lmdb",
};

static char *lmdb_fixture(const char *name, size_t *size)
{
	const char *srcdir = getenv("abs_top_srcdir");
	char path[1024];

	snprintf(path, sizeof(path), "%s/tests/fixtures/lmdb/%s", srcdir ? srcdir : ".",
		 name);
	return unit_read(path, size);
}

static void take(const char *name, size_t before)
{
	size_t n;
	char *bytes = lmdb_fixture(name, &n), *moved = calloc(1, n + before);

	assert_non_null(moved);
	memcpy(moved + before, bytes, n);
	unit_write(name, moved, n + before);
	free(moved);
	free(bytes);
}

/* ---- Bytes of a file ---- */

static void read_source(const struct run *run, void *out, uint64_t n, uint64_t at)
{
	assert_int_equal(source_pread(run->source, out, (size_t)n, at), 0);
}

/* Pixels of an array N x 3 x H x W, whose order is N, H, W, 3. */
static void read_planes(const struct run *run, uint32_t volume, uint64_t n,
			uint64_t offset, unsigned char *out)
{
	const struct volume_array *array = entries_array(run->entries, volume);
	const struct volume_chunk *tiles = entries_chunks(run->entries, volume);
	uint64_t plane = array->dims[2] * array->dims[3];

	assert_int_equal(array->rank, 4);
	assert_int_equal(array->order[3], 1);
	for (uint64_t i = offset; i < offset + n; i++)
		read_source(run, out + (i - offset), 1,
			    tiles[i / (3 * plane) * 3 + i % 3].stored_at + i / 3 % plane);
}

static void read_range(const struct run *run, uint32_t volume, uint64_t n,
		       uint64_t offset, unsigned char *out)
{
	const struct volume_desc *is = entries_volume(run->entries, volume);

	assert_true(offset + n <= is->length);
	if (is->kind == VOLUME_LITERAL)
		memcpy(out, (const char *)entries_literals(run->entries, volume) + offset,
		       n);
	else if (is->kind == VOLUME_ARRAY)
		read_planes(run, volume, n, offset, out);
	else
		read_source(run, out, n, is->base + offset);
	if (is->kind != VOLUME_LITERAL)
		assert_int_equal(is->guard, run->scan.base ? GUARD_NONE : GUARD_LMDB);
}

/* ---- A line a file, sorted ---- */

struct lines {
	char *items[4096];
	size_t count;
};

/* Beside other files, as a scan is here, those without labels have a directory: "raw/".
 */
static const char *in_own_directory(const struct run *run, const char *path)
{
	size_t n = strlen(run->scan.label) - strlen(".lmdb");

	return strncmp(path, run->scan.label, n) == 0 && path[n] == '/' ? path + n + 1
									: path;
}

static void add_line(struct lines *lines, const char *class, const char *path,
		     const unsigned char *bytes, uint64_t n)
{
	assert_true(lines->count < COUNT(lines->items));
	assert_true(asprintf(&lines->items[lines->count++], "%s\t%s\t%" PRIu64 "\t%lu",
			     class, path, n, crc32(0, bytes, (unsigned)n)) > 0);
}

static void add_sample(struct lines *lines, const struct run *run,
		       const struct sample_group *group, const struct sample *s)
{
	uint64_t n = s->head.length + s->body.length;
	unsigned char *bytes = malloc(n + 1);
	char class[300] = "-";

	assert_non_null(bytes);
	if (s->head.length)
		read_range(run, s->head.volume, s->head.length, s->head.offset, bytes);
	if (s->body.length)
		read_range(run, s->body.volume, s->body.length, s->body.offset,
			   bytes + s->head.length);
	if (group->class_name || s->class_name)
		snprintf(class, sizeof(class), "%s",
			 s->class_name ? s->class_name : group->class_name);
	else if (group->labels && s->label == SAMPLE_UNLABELLED)
		snprintf(class, sizeof(class), "none");
	else if (group->labels)
		snprintf(class, sizeof(class), "%" PRId64, s->label);
	add_line(lines, class, in_own_directory(run, s->name), bytes, n);
	free(bytes);
}

static void add_entry(struct lines *lines, const struct run *run,
		      const struct entry *entry)
{
	unsigned char *bytes = malloc(entry->size + 1);

	assert_non_null(bytes);
	if (entry->size)
		read_range(run, entry->extents->volume, entry->size,
			   entry->extents->offset, bytes);
	add_line(lines, "-", in_own_directory(run, entry->path), bytes, entry->size);
	free(bytes);
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_run(const struct run *run, struct lines *lines)
{
	lines->count = 0;
	for (size_t i = 0; i < samples_group_count(run->samples); i++) {
		const struct sample_group *group = samples_group(run->samples, i);
		struct sample sample;

		for (uint64_t n = 0; n < group->rows; n++) {
			samples_get(run->samples, i, n, &sample);
			add_sample(lines, run, group, &sample);
		}
	}
	for (size_t i = 0; i < entries_count(run->entries); i++)
		add_entry(lines, run, entries_get(run->entries, i));
	qsort(lines->items, lines->count, sizeof(*lines->items), by_line);
}

static void list_expected(const char *name, struct lines *lines)
{
	char *all = lmdb_fixture("expected.tsv", NULL), *rest = all, *line;
	size_t n = strlen(name);

	lines->count = 0;
	while ((line = strtok_r(NULL, "\n", &rest)))
		if (strncmp(line, name, n) == 0 && line[n] == '\t')
			lines->items[lines->count++] = strdup(line + n + 1);
	qsort(lines->items, lines->count, sizeof(*lines->items), by_line);
	free(all);
}

static void free_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->items[i]);
}

static void assert_as_expected(const char *name, uint64_t base)
{
	static struct lines got, want;
	struct run run;

	run_scan(&run, "lmdb", name, base, NULL, false);
	if (run.err)
		print_message("# %s\n", run.e.text);
	assert_int_equal(run.err, 0);
	list_run(&run, &got);
	list_expected(name, &want);
	for (size_t i = 0; i < got.count && i < want.count; i++)
		assert_string_equal(got.items[i], want.items[i]);
	assert_true(want.count > 0);
	assert_int_equal(got.count, want.count);
	free_lines(&got);
	free_lines(&want);
	run_end(&run);
}

static void test_as_written(void **state)
{
	const char *name = fixtures_read[unit_row(state)];

	take(name, 0);
	assert_as_expected(name, 0);
}

/* The same behind other bytes, as in a tar. */
static void test_window(void **state)
{
	const char *name = fixtures_read[unit_row(state)];

	take(name, 777);
	assert_as_expected(name, 777);
}

static void test_probe(void **state)
{
	size_t n;
	char *bytes = lmdb_fixture(fixtures_read[unit_row(state)], &n);

	assert_ptr_equal(format_probe((unsigned char *)bytes, n), format_by_name("lmdb"));
	free(bytes);
}

/* ---- Damage ---- */

/* Any damage ends in a sentence, or in files that lie within the source. */
static int scan_anyhow(const char *path)
{
	static struct lines lines;
	struct run run;
	int err;

	run_scan(&run, "lmdb", path, 0, NULL, false);
	err = run.err;
	if (err) {
		assert_int_equal(err, -EBADMSG);
		assert_non_null(strstr(run.e.text, path));
	} else {
		list_run(&run, &lines);
		free_lines(&lines);
	}
	run_end(&run);
	return err;
}

static const char *const files_damaged[] = {"raw.lmdb",	   "pickles.lmdb",    "dup.lmdb",
					    "planes.lmdb", "tensorpack.lmdb", "v2.lmdb"};

/* Bytes of the pages of keys, changed in two ways; every 97th of the others. */
static void test_flipped(void **state)
{
	static const unsigned char changes[] = {0x01, 0xff};
	const char *name = files_damaged[unit_row(state)];
	size_t n;
	char *bytes = lmdb_fixture(name, &n);
	unsigned refused = 0;
	int fd;

	log_level_now = LOG_LEVEL_ERROR;
	unit_write(name, bytes, n);
	fd = open(name, O_WRONLY);
	assert_true(fd >= 0);
	for (size_t at = 0; at < n; at += at % 4096 < 72 ? 1 : 397) {
		for (size_t c = 0; c < COUNT(changes); c++) {
			char changed = (char)(bytes[at] ^ changes[c]);

			assert_int_equal(pwrite(fd, &changed, 1, (off_t)at), 1);
			refused += scan_anyhow(name) != 0;
		}
		assert_int_equal(pwrite(fd, bytes + at, 1, (off_t)at), 1);
	}
	close(fd);
	free(bytes);
	assert_true(refused > 20);
}

static void test_truncated(void **state)
{
	const char *name = files_damaged[unit_row(state)];
	size_t n;
	char *bytes = lmdb_fixture(name, &n);

	log_level_now = LOG_LEVEL_ERROR;
	unit_write(name, bytes, n);
	for (size_t length = n - 1; length > 300; length -= length < 900 ? 1 : 511) {
		assert_int_equal(truncate(name, (off_t)length), 0);
		if (length < 2 * 4096)
			assert_int_equal(scan_anyhow(name), -EBADMSG);
		else
			scan_anyhow(name);
	}
	free(bytes);
}

/* ---- Hostile numbers ---- */

/* Offsets in raw.lmdb: of the newest meta page, and of the root page of its database. */
struct places {
	size_t meta, root;
};

static struct places find_places(const unsigned char *bytes)
{
	struct places out = {little_endian(bytes + 144, 8) >
					     little_endian(bytes + 4096 + 144, 8)
				     ? 0
				     : 4096,
			     0};

	out.root = (size_t)little_endian(bytes + out.meta + 128, 8) * 4096;
	return out;
}

static void put(unsigned char *at, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static const struct hostile {
	const char *what;
	bool in_root; /* else in the meta page */
	size_t at;
	uint64_t value;
	unsigned n;
	const char *says;
} hostiles[] = {
	{"page size 0", false, 40, 0, 4, "a page size that is none"},
	{"page size 2^31", false, 40, UINT64_C(1) << 31, 4, "a page size that is none"},
	{"page size 3000", false, 40, 3000, 4, "a page size that is none"},
	{"version 3", false, 20, 3, 4, "a meta page that is none"},
	{"encrypted", false, 44, 0x2000, 2, "with encryption"},
	{"root beyond", false, 128, UINT64_C(1) << 63, 8,
	 "a page that the file does not have"},
	{"root is meta", false, 128, 1, 8, "a page that the file does not have"},
	{"no root", false, 128, UINT64_MAX, 8, "without entries"},
	{"depth 0", false, 94, 0, 2, "without levels"},
	{"depth 33", false, 94, 33, 2, "too many"},
	{"depth one more", false, 94, 2, 2, "of the wrong kind"},
	{"page of another number", true, 0, 99, 8, "another number"},
	{"a branch", true, 10, 1, 2, "of the wrong kind"},
	{"an overflow page", true, 10, 4, 2, "of the wrong kind"},
	{"no nodes", true, 12, 16, 2, "of the wrong kind"},
	{"lower 0", true, 12, 0, 2, "nodes that leave their page"},
	{"lower beyond", true, 12, 5000, 2, "nodes that leave their page"},
	{"node at 0", true, 16, 0, 2, "a node outside its page"},
	{"node at the end", true, 16, 4094, 2, "a node outside its page"},
};

static void test_hostile(void **state)
{
	const struct hostile *h = &hostiles[unit_row(state)];
	size_t n;
	unsigned char *bytes = (unsigned char *)lmdb_fixture("raw.lmdb", &n);
	struct places places = find_places(bytes);
	struct run run;

	put(bytes + (h->in_root ? places.root : places.meta) + h->at, h->value, h->n);
	if (!h->in_root && h->at == 40)
		put(bytes + 40, h->value, h->n);
	if (!h->in_root && h->at == 20)
		put(bytes + 4096 - places.meta + 20, 1, 4);
	unit_write("hostile", bytes, n);
	run_scan(&run, "lmdb", "hostile", 0, NULL, false);
	if (run.err != -EBADMSG || !strstr(run.e.text, h->says))
		print_message("# %d: %s\n", run.err, run.e.text);
	assert_int_equal(run.err, -EBADMSG);
	assert_non_null(strstr(run.e.text, h->says));
	run_end(&run);
	free(bytes);
}

/* A branch that is its own child, and values that share pages. */
static void test_cycles(void **state)
{
	size_t n;
	unsigned char *bytes = (unsigned char *)lmdb_fixture("deep.lmdb", &n);
	struct places places = find_places(bytes);
	struct run run;
	size_t node = (size_t)little_endian(bytes + places.root + 16 + 2, 2);
	size_t first = (size_t)little_endian(bytes + places.root + 16, 2);

	(void)state;
	/* the second child becomes the first */
	memcpy(bytes + places.root + node, bytes + places.root + first, 6);
	unit_write("cycle", bytes, n);
	run_scan(&run, "lmdb", "cycle", 0, NULL, false);
	assert_int_equal(run.err, -EBADMSG);
	assert_non_null(strstr(run.e.text, "used twice"));
	run_end(&run);
	free(bytes);
}

/* A key of several values, or a database, that says it is a large value. */
static const struct {
	const char *key;
	unsigned flags;
} trees[] = {{"few", 1 | 4}, {"few", 1 | 4 | 2}, {"fixed", 1 | 2}};

static void test_large_trees(void **state)
{
	size_t i = unit_row(state), n, length = strlen(trees[i].key);
	char *bytes = lmdb_fixture("dup.lmdb", &n);
	bool found = false;
	struct run run;

	for (size_t at = 8; at + length < n; at++) {
		unsigned char *node = (unsigned char *)bytes + at - 8;

		if (memcmp(bytes + at, trees[i].key, length) != 0 || node[6] != length ||
		    node[7])
			continue;
		put(node, 0xffff, 2);
		put(node + 4, trees[i].flags, 2);
		found = true;
	}
	assert_true(found);
	unit_write("large", bytes, n);
	run_scan(&run, "lmdb", "large", 0, NULL, false);
	assert_int_equal(run.err, -EBADMSG);
	assert_non_null(strstr(run.e.text, "a large value that is a tree"));
	run_end(&run);
	free(bytes);
}

static const struct CMUnitTest tests[] = {
	unit_texts(test_as_written, fixtures_read),
	unit_texts(test_window, fixtures_read),
	unit_texts(test_probe, fixtures_read),
	unit_texts(test_flipped, files_damaged),
	unit_texts(test_truncated, files_damaged),
	unit_table(test_hostile, hostiles, what),
	cmocka_unit_test(test_cycles),
	unit_table(test_large_trees, trees, key),
};

UNIT_MAIN(tests)

#else
#include "left_out.h"

#endif
