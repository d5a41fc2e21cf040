/* The HDF5 format against h5py's reading of the same files. */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/codec.h"
#include "format/format.h"
#include "format/hdf5_rows.h"
#include "util/log.h"

enum { SOURCE = 3, PREFIX = 777 };

static char folder[] = "/tmp/granary-hdf5-XXXXXX";

/* One scan, and what came of it. */
struct run {
	struct source *source;
	struct entries *entries;
	struct samples *samples;
	struct error e;
	struct scan scan;
	uint64_t position, passed; /* bytes and entries that it said it has passed */
	int err;
};

static void advance(struct scan *scan, uint64_t bytes)
{
	struct run *run = (struct run *)(void *)((char *)scan - offsetof(struct run, scan));

	run->position += bytes;
	run->passed++;
}

static void run_window(struct run *run, const char *path, uint64_t base)
{
	memset(run, 0, sizeof(*run));
	assert_int_equal(source_open(path, &run->source, NULL), 0);
	run->entries = entries_new();
	run->samples = samples_new();
	assert_non_null(run->entries);
	assert_non_null(run->samples);
	run->scan = (struct scan){ .source = run->source, .source_number = SOURCE,
				   .base = base,
				   .length = source_size(run->source) - base,
				   .label = path, .entries = run->entries,
				   .samples = run->samples, .advance = advance };
	run->err = format_by_name("hdf5")->scan(&run->scan, &run->e);
}

static void run_end(struct run *run)
{
	entries_free(run->entries);
	samples_free(run->samples);
	source_close(run->source);
}

/* Contents, as the daemon will read them */

static void read_raw(const struct run *run, const struct volume_desc *v,
		     uint64_t offset, uint64_t length, unsigned char *out)
{
	unsigned char guard[16];

	assert_int_equal(v->source, SOURCE);
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

static void read_volume(const struct run *run, size_t volume, uint64_t offset,
			uint64_t length, unsigned char *out)
{
	const struct volume_desc *v = entries_volume(run->entries, volume);
	const unsigned char *literals = entries_literals(run->entries, volume);

	assert_true(offset <= v->length && length <= v->length - offset);
	if (v->kind == VOLUME_LITERAL)
		memcpy(out, literals + offset, (size_t)length);
	else if (v->kind == VOLUME_CODED)
		read_coded(run, volume, offset, length, out);
	else
		read_raw(run, v, offset, length, out);
}

static unsigned long sum_of_file(const struct run *run, const struct entry *entry)
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

static unsigned long sum_of_sample(const struct run *run, const struct sample *sample)
{
	unsigned char *bytes = calloc(1, (size_t)sample->body.length + 1);
	unsigned long sum;

	assert_non_null(bytes);
	if (sample->body.length)
		read_volume(run, sample->body.volume, sample->body.offset, sample->body.length, bytes);
	sum = adler32(1, bytes, (uInt)sample->body.length);
	free(bytes);
	return sum;
}

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
	const struct sample *first;
	const struct sample_group *group = samples_group(run->samples, number, &first);
	const char *split = *group->split ? group->split : "-";

	fprintf(out, "g %s %s %s %s %" PRIu64 "\n", split, group->name,
		group->labels ? group->labels : "-", group->extension, group->rows);
	for (uint64_t i = 0; i < group->rows; i++)
		fprintf(out, "s %s %s %" PRIu64 " %" PRIu64 " %08lx %" PRId64 "\n", split,
			group->name, i, first[i].body.length, sum_of_sample(run, &first[i]),
			first[i].label);
}

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

static char *listing(const struct run *run)
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

static void assert_listed(const char *name, const struct run *run)
{
	char list[512], *want, *got;
	char **want_lines, **got_lines;
	size_t i = 0;

	snprintf(list, sizeof(list), "%s.list", name);
	want = unit_read(list, NULL);
	got = listing(run);
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
static unsigned for_each(const char *suffix, void (*check)(const char *name))
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

static void compare(const char *name)
{
	char path[512];
	struct run run;

	snprintf(path, sizeof(path), "%s.h5", name);
	run_window(&run, path, 0);
	if (run.err)
		print_message("# %s\n", run.e.text);
	assert_int_equal(run.err, 0);
	assert_listed(name, &run);
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

/* What is not shown is counted. */
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
		assert_listed(names[i], &run);
		run_end(&run);
		free(bytes);
		free(moved);
	}
}

/* Errors */

static void assert_refused(const struct run *run, int err, enum error_status status)
{
	if (run->err != err)
		print_message("# %s: %d: %s\n", run->scan.label, run->err, run->e.text);
	assert_int_equal(run->err, err);
	assert_int_equal(run->e.status, status);
	assert_non_null(strstr(run->e.text, run->scan.label));
}

static void assert_word(const struct run *run, const char *word)
{
	if (!strstr(run->e.text, word))
		print_message("# no \"%s\" in: %s\n", word, run->e.text);
	assert_non_null(strstr(run->e.text, word));
}

static void refuse(const char *name)
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

static void test_refused(void **state)
{
	(void)state;
	assert_true(for_each(".refuse", refuse) >= 21);
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
				  .samples = run.samples };
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
	uint64_t at = 0;
	int err;

	make_collection(file);
	put(file + l->at, l->value, l->size);
	unit_write("heap", file, sizeof(file));
	assert_int_equal(source_open("heap", &source, NULL), 0);
	hdf5_blocks_open(&blocks, source, 0, sizeof(file));
	hdf5_heap_open(&heap, &blocks, 56);
	err = hdf5_heap_find(&heap, &l->row, &at);
	if (!err)
		err = hdf5_heap_verify(&heap, &l->row, at);
	if (err && (!l->problem || !strstr(heap.problem, l->problem)))
		print_message("# got %s, not %s\n", heap.problem, l->problem);
	assert_int_equal(err, l->problem ? -EBADMSG : 0);
	if (l->problem)
		assert_non_null(strstr(heap.problem, l->problem));
	else
		assert_int_equal(at, l->found);
	hdf5_heap_close(&heap);
	hdf5_blocks_close(&blocks);
	source_close(source);
}

static void test_heap(void **state)
{
	static const struct lookup lookups[] = {
		{ { 5, 200, 1 }, 0, 0, 0, NULL, 288 },
		{ { 9, 200, 2 }, 0, 0, 0, NULL, 328 },
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
	struct source *source;
	uint64_t at;

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

			assert_int_equal(hdf5_heap_find(&heap, &row, &at), 0);
			assert_int_equal(at, c * BYTES + 32 + i * 24);
		}
	close_heap(&heap, source);
	free(file);
}

/* Collections inside each other would be walked without end. */
static void test_heap_overlap(void **state)
{
	static struct hdf5_blocks blocks;
	static struct hdf5_heap heap;
	unsigned char file[4096] = { 0 };
	struct source *source;
	unsigned found = 0;
	uint64_t at;
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

		err = hdf5_heap_find(&heap, &row, &at);
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

/* Makes the fixtures in a folder and goes there; and back. */
static int enter(void **state)
{
	const char *srcdir = getenv("srcdir"), *python = getenv("PYTHON");
	char command[4096];

	(void)state;
	log_level_now = getenv("VERBOSE") ? LOG_LEVEL_DEBUG : LOG_LEVEL_ERROR;
	if (!mkdtemp(folder))
		return -1;
	snprintf(command, sizeof(command),
		 "'%s' '%s/tests/format/hdf5_fixtures.py' '%s'",
		 python ? python : "/usr/bin/python3", srcdir ? srcdir : ".", folder);
	return system(command) == 0 ? chdir(folder) : -1;
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	if (chdir("/") < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
		cmocka_unit_test(test_heap_overlap),
		cmocka_unit_test(test_damaged_row),
		cmocka_unit_test(test_probe),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("hdf5", tests, enter, leave);
}
