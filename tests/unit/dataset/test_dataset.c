/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Datasets: finding and asking for an index, and the read path. The indexes are
 * made by hand; what stands in for `granary index` is a script beside a copy of
 * this program.
 */
#include "build/kit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dataset/dataset.h"
#include "source/source_set.h"
#include "../build/publish.h"

enum { DATA_BYTES = 10000, PIECES_BYTES = 3000 };

static const struct entry_extent pieces[] = {
	{ 10, 100, 500, 0 }, { 510, 2000, 490, 0 }, { 2000, 50, 900, 0 },
};

static unsigned char data[DATA_BYTES];
static unsigned char expected[PIECES_BYTES]; /* of the file "pieces" */

static void fill_data(void)
{
	for (size_t i = 0; i < DATA_BYTES; i++)
		data[i] = (unsigned char)(1 + i % 251);
	memset(expected, 0, sizeof(expected));
	for (size_t i = 0; i < COUNT(pieces); i++)
		memcpy(expected + pieces[i].file_offset, data + pieces[i].offset,
		       pieces[i].length);
	unit_write("data.bin", data, sizeof(data));
}

static void add_file(struct entries *log, const char *path, uint64_t size,
		     const struct entry_extent *extents, size_t count)
{
	kit_add(log, &(struct entry){ .kind = ENTRY_FILE, .path = path, .size = size,
				      .extents = extents, .extent_count = count });
}

static struct entries *data_log(void)
{
	struct volume_desc volume = { .kind = VOLUME_RAW, .source = 0, .base = 0, .length = DATA_BYTES };
	struct entry_extent whole = { 0, 5, 4000, 0 }, tail = { 0, 9990, 10, 0 };
	struct entries *log = entries_new();

	assert_int_equal(entries_add_volume(log, &volume), 0);
	add_file(log, "whole", 4000, &whole, 1);
	add_file(log, "pieces", PIECES_BYTES, pieces, COUNT(pieces));
	add_file(log, "hole", UINT64_C(1) << 40, NULL, 0);
	add_file(log, "empty", 0, NULL, 0);
	add_file(log, "d/tail", 10, &tail, 1);
	kit_add(log, &(struct entry){ .kind = ENTRY_SYMLINK, .path = "s", .target = "d" });
	return log;
}

static void describe(struct builder_source *source)
{
	char name[] = "data.bin", *names[] = { name };
	struct source_set set;

	assert_int_equal(source_set_open(names, 1, false, &set, NULL), 0);
	assert_int_equal(source_set_identify(&set, &source->identity, NULL), 0);
	source->name = "data.bin";
	source_set_close(&set);
}

/* Makes data.bin and an index that fits it. */
static void make_index(const char *path)
{
	const struct dataset_config usual = { 0 };
	const struct image_access access = { 0600, getuid(), getgid() };
	struct builder *builder = kit_builder(DUPLICATES_ERROR);
	struct entries *log = data_log();
	struct index_summary summary = { .format = "tar" };
	struct builder_source source;
	struct image image;

	fill_data();
	describe(&source);
	dataset_config_shape(&usual, 1, summary.options);
	assert_int_equal(builder_apply(builder, log, "data.bin", NULL), 0);
	entries_free(log);
	assert_int_equal(builder_seal(builder, &source, 1, &summary, &image, NULL), 0);
	builder_free(builder);
	assert_int_equal(publish_at(&image, path, &access, NULL), 0);
	image_free(&image);
}

static int open_with(const char *options, struct dataset **ds, struct error *e)
{
	char name[] = "data.bin", *names[] = { name };
	struct dataset_config config = { 0 };
	struct option_target target = { dataset_options, &config };
	int err = options_apply(options, &target, 1, e);

	if (!err)
		err = dataset_open(&config, names, 1, ds, e);
	dataset_config_free(&config);
	return err;
}

static struct dataset *open_good(const char *options)
{
	struct dataset *ds;
	struct error e = { 0 };

	make_index("x.gidx");
	if (open_with(options, &ds, &e) < 0)
		fail_msg("%s", e.text);
	return ds;
}

static uint32_t node_of(const struct dataset *ds, const char *path)
{
	return kit_node(dataset_tree(ds), path);
}

static const uint64_t offsets[] = { 0, 1, 9, 10, 11, 509, 510, 511, 999, 1000, 1001, 1999,
				    2000, 2001, 2899, 2900, 2999, 3000, 3001,
				    UINT64_C(1) << 63, UINT64_MAX };
static const size_t lengths[] = { 0, 1, 2, 499, 500, 501, 1000, 2990, 3000, 3001, 5000 };

/* Every read is what the same read of an ordinary file would give. */
static void compare_reads(const struct dataset *ds, uint32_t node,
			  const unsigned char *want, size_t size)
{
	unsigned char buffer[5000];

	for (size_t i = 0; i < COUNT(offsets); i++) {
		uint64_t offset = offsets[i];
		size_t left = offset < size ? size - (size_t)offset : 0;

		for (size_t k = 0; k < COUNT(lengths); k++) {
			size_t n = lengths[k] < left ? lengths[k] : left;

			memset(buffer, 0xee, sizeof(buffer));
			assert_int_equal(dataset_read(ds, node, buffer, lengths[k],
						      offset, PLAIN_READ), n);
			if (n)
				assert_memory_equal(buffer, want + offset, n);
			if (lengths[k] < sizeof(buffer))
				assert_int_equal(buffer[lengths[k]], 0xee);
		}
	}
}

static void test_reads_are_those_of_a_file(void **state)
{
	struct dataset *ds = open_good("index=x.gidx");

	(void)state;
	compare_reads(ds, node_of(ds, "pieces"), expected, sizeof(expected));
	compare_reads(ds, node_of(ds, "whole"), data + 5, 4000);
	compare_reads(ds, node_of(ds, "empty"), NULL, 0);
	compare_reads(ds, node_of(ds, "d/tail"), data + 9990, 10);
	dataset_close(ds);
}

static void test_holes_are_zeros_to_the_end(void **state)
{
	static const unsigned char zeros[100];
	struct dataset *ds = open_good("index=x.gidx");
	uint64_t end = UINT64_C(1) << 40;
	unsigned char buffer[100];
	uint32_t node = node_of(ds, "hole");

	(void)state;
	memset(buffer, 1, sizeof(buffer));
	assert_int_equal(dataset_read(ds, node, buffer, 100, end / 2, PLAIN_READ), 100);
	assert_memory_equal(buffer, zeros, 100);
	assert_int_equal(dataset_read(ds, node, buffer, 100, end - 7, PLAIN_READ), 7);
	assert_int_equal(dataset_read(ds, node, buffer, 100, end, PLAIN_READ), 0);
	dataset_close(ds);
}

static void test_what_is_no_file_is_einval(void **state)
{
	struct dataset *ds = open_good("index=x.gidx");
	char buffer[10];

	(void)state;
	assert_int_equal(dataset_read(ds, TREE_ROOT, buffer, 10, 0, PLAIN_READ), -EINVAL);
	assert_int_equal(dataset_read(ds, node_of(ds, "s"), buffer, 10, 0, PLAIN_READ),
			 -EINVAL);
	assert_int_equal(dataset_read(ds, node_of(ds, "d"), buffer, 10, 0, PLAIN_READ),
			 -EINVAL);
	dataset_close(ds);
}

struct failing {
	struct dataset *ds;
	const char *path;
	uint64_t offset;
	ssize_t result;
};

static void read_failing(void *argument)
{
	struct failing *f = argument;
	char buffer[5000];

	f->result = dataset_read(f->ds, node_of(f->ds, f->path), buffer, sizeof(buffer),
				 f->offset, PLAIN_READ);
}

static const struct {
	const char *path;
	uint64_t offset;
	const char *words[3];
} failures[] = {
	{ "d/tail", 3, { "d/tail:", "byte 3 ", "data.bin at byte 9993" } },
	{ "whole", 0, { "whole:", "byte 0 ", "data.bin at byte 1500" } },
	{ "pieces", 600, { "pieces:", "byte 600 ", "data.bin at byte 2090" } },
};

static void test_a_source_that_shrank_is_eio_and_one_line(void **state)
{
	struct failing f = { .ds = open_good("index=x.gidx") };

	(void)state;
	assert_int_equal(truncate("data.bin", 1500), 0);
	for (size_t i = 0; i < COUNT(failures); i++) {
		char *log;

		f.path = failures[i].path;
		f.offset = failures[i].offset;
		log = unit_stderr_of(read_failing, &f);
		assert_int_equal(f.result, -EIO);
		assert_int_equal(unit_occurrences(log, "\n"), 1);
		for (size_t k = 0; k < 3; k++)
			assert_non_null(strstr(log, failures[i].words[k]));
		free(log);
		/* the same file again: all has been said */
		log = unit_stderr_of(read_failing, &f);
		assert_int_equal(f.result, -EIO);
		assert_string_equal(log, "");
		free(log);
	}
	f.path = "pieces"; /* whose other pieces are still there */
	f.offset = 2000;
	read_failing(&f);
	assert_int_equal(f.result, 1000);
	dataset_close(f.ds);
}

static void test_info(void **state)
{
	struct dataset *ds = open_good("index=x.gidx");
	struct dataset_info info;

	(void)state;
	assert_int_equal(dataset_info(ds, &info), 0);
	assert_int_equal(info.sources, 1);
	assert_string_equal(info.first_source, "data.bin");
	assert_int_equal(info.source_bytes, DATA_BYTES);
	assert_string_equal(info.index_path, "x.gidx");
	assert_int_equal(info.summary.files, 5);
	assert_true(info.index_bytes > 0);
	assert_int_equal(dataset_root(ds), TREE_ROOT);
	dataset_close(ds);
}

static void test_subdir_is_the_root(void **state)
{
	struct dataset *ds = open_good("index=x.gidx,subdir=/d/");
	struct error e;
	uint32_t node;

	(void)state;
	assert_int_equal(dataset_root(ds), node_of(ds, "d"));
	assert_int_equal(tree_walk(dataset_tree(ds), dataset_root(ds), "tail", &node), 0);
	dataset_close(ds);
	assert_int_equal(open_with("index=x.gidx,subdir=none", &ds, &e), -ENOENT);
	assert_non_null(strstr(e.text, "subdir=none"));
	assert_int_equal(e.status, ERROR_DATASET);
	assert_int_equal(open_with("index=x.gidx,subdir=whole", &ds, &e), -ENOTDIR);
	assert_non_null(strstr(e.text, "no directory"));
}

static void test_require_names_the_command(void **state)
{
	struct dataset *ds;
	struct error e = { 0 };

	(void)state;
	make_index("x.gidx");
	assert_int_equal(setenv("XDG_CACHE_HOME", unit_directory(), 1), 0);
	assert_int_equal(open_with("index=require", &ds, &e), -ENOENT);
	assert_int_equal(e.status, ERROR_DATASET);
	assert_non_null(strstr(e.text, "granary index 'data.bin'"));
	make_index("data.bin.gidx");
	assert_int_equal(open_with("index=require", &ds, &e), 0);
	dataset_close(ds);
	assert_int_equal(unlink("data.bin.gidx"), 0);
}

/* In the copy of this program: says how opening went. */
static int open_and_report(const char *options)
{
	struct dataset *ds;
	struct dataset_info info;
	struct error e = { 0 };

	if (open_with(options, &ds, &e) < 0) {
		printf("error %d %s\n", (int)e.status, e.text);
		return 0;
	}
	if (dataset_info(ds, &info) == 0)
		printf("ok %s\n", info.index_path ? info.index_path : "memory");
	dataset_close(ds);
	return 0;
}

struct request {
	const char *what, *options, *script, *answer;
};

/* $3 is the descriptor's number, as `granary index --for-mount` gets it. */
static const struct request requests[] = {
	{ "no such program", "index=off", NULL, "error 2 @cannot be run" },
	{ "into memory", "index=off", "cat x.gidx >/proc/self/fd/$3", "ok memory" },
	{ "to a path", "index=new.gidx", "cp x.gidx new.gidx", "ok new.gidx" },
	{ "beside it", "index=auto", "cp x.gidx data.bin.gidx", "ok @/data.bin.gidx" },
	{ "refuses", "index=off", "exit 3", "error 3 " },
	{ "fails", "index=off", "exit 2", "error 2 " },
	{ "dies", "index=off", "kill -9 $$", "error 2 the indexer of 'data.bin' was ended by signal 9" },
	{ "crashes", "index=off", "kill -SEGV $$", "error 3 'data.bin' made the indexer crash" },
	{ "aborts", "index=off", "kill -ABRT $$", "error 3 'data.bin' made the indexer crash" },
	{ "makes none", "index=new.gidx", "exit 0", "error 2 data.bin: it is being changed" },
	{ "makes garbage", "index=off", "echo garbage >/proc/self/fd/$3",
	  "error 3 the index in memory: it is" },
	{ "makes one that does not fit", "index=off,base=512",
	  "cat x.gidx >/proc/self/fd/$3", "error 3 " },
	{ "is asked for what is wanted", "index=a\\,b,missing=skip,nested=off",
	  "echo \"$*\" | grep -q -- \"^index --for-mount [0-9]* --caller [0-9]*:[0-9]*:[0-9]* -o .*nested=off.*"
	  ",index=a[\\]\\\\,b --sources [0-9]* -- data.bin$\" && exit 3", "error 3 " },
	{ "gets open files", "index=off",
	  "fd=$(tr '\\0' '\\n' </proc/self/fd/$9 | sed -n 's/^source \\([0-9]*\\) data.bin$/\\1/p')\n"
	  "cmp -s data.bin /proc/self/fd/${fd:-none} && exit 3", "error 3 " },
	{ "is told the place", "index=new.gidx",
	  "tr '\\0' '\\n' </proc/self/fd/$9 | grep -q -x 'place new.gidx' && exit 3", "error 3 " },
	{ "gets none of the caller's files", "index=off",
	  "test -e /proc/self/fd/9 || exit 3", "error 3 " },
	/* root's may become nobody, and end who is: kill, setgid, setuid, setpcap */
	{ "has few rights, and none to gain", "index=off",
	  "test \"$(id -u)\" -eq 0 && few=1e0\n"
	  "grep -q 'NoNewPrivs:.1' /proc/self/status && "
	  "grep -q \"CapPrm:.0000000000000${few:-000}\" /proc/self/status && "
	  "exit 3", "error 3 " },
};

/* `@` in a pattern stands for the directory, or whatever comes before its rest. */
static bool answers(const char *got, const char *pattern)
{
	const char *gap = strchr(pattern, '@');
	size_t n = gap ? (size_t)(gap - pattern) : strlen(pattern);

	return strncmp(got, pattern, n) == 0 && (!gap || strstr(got, gap + 1));
}

static void ask(const struct request *request)
{
	char command[256], got[4096] = "";
	FILE *child;

	unit_shell("rm -f bin/granary new.gidx data.bin.gidx");
	if (request->script) {
		char script[512];

		snprintf(script, sizeof(script), "#!/bin/sh\n%s\n", request->script);
		unit_write("bin/granary", script, strlen(script));
		assert_int_equal(chmod("bin/granary", 0755), 0);
	}
	snprintf(command, sizeof(command), "bin/self open '%s' 2>/dev/null 9</dev/null",
		 request->options);
	child = popen(command, "r");
	assert_non_null(child);
	assert_non_null(fgets(got, sizeof(got), child));
	assert_int_equal(pclose(child), 0);
	if (!answers(got, request->answer))
		fail_msg("%s: %s", request->what, got);
}

static void test_the_indexer_beside_the_program_is_asked(void **state)
{
	size_t i = unit_row(state);
	char copy[256];

	make_index("x.gidx");
	snprintf(copy, sizeof(copy), "mkdir -p bin && cp -f /proc/%d/exe bin/self",
		 (int)getpid());
	unit_shell(copy);
	ask(&requests[i]);
}

static const struct CMUnitTest dataset[] = {
	cmocka_unit_test(test_reads_are_those_of_a_file),
	cmocka_unit_test(test_holes_are_zeros_to_the_end),
	cmocka_unit_test(test_what_is_no_file_is_einval),
	cmocka_unit_test(test_a_source_that_shrank_is_eio_and_one_line),
	cmocka_unit_test(test_info),
	cmocka_unit_test(test_subdir_is_the_root),
	cmocka_unit_test(test_require_names_the_command),
	unit_table(test_the_indexer_beside_the_program_is_asked, requests, what),
};

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "open") == 0)
		return open_and_report(argv[2]);
	return unit_run(dataset, COUNT(dataset), unit_enter, unit_leave);
}
