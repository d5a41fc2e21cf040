/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The packed files that a command line names: literal paths and shard patterns. */
#include "unit.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "source/arguments.h"
#include "source/source_set.h"

static int in_directory(void **state)
{
	char directory[] = "/tmp/granary-arguments-XXXXXX";

	if (!mkdtemp(directory) || chdir(directory) < 0)
		return -1;
	*state = strdup(directory);
	return *state ? 0 : -1;
}

static int leave_directory(void **state)
{
	int err = chdir("/") < 0 || rmdir(*state) < 0;

	free(*state);
	return err;
}

static void make(const char *name)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
}

/* Texts that nobody writes to. */
static int parse(const char *const *texts, size_t n, struct arguments **out, struct error *e)
{
	return arguments_parse((char *const *)(uintptr_t)texts, n, out, e);
}

/* As a pattern of the shell finds them; alone, an index is what was named. */
static void test_indexes_among_others(void **state)
{
	const char *texts[] = { "a.gz.partaa", "a.gz.partaa.gidx", "a.gz.partab" };
	struct arguments *arguments;
	char *path;

	(void)state;
	assert_int_equal(parse(texts, 3, &arguments, NULL), 0);
	assert_int_equal(arguments_count(arguments), 2);
	path = arguments_path(arguments, 1);
	assert_string_equal(path, texts[2]);
	free(path);
	arguments_free(arguments);
	assert_int_equal(parse(texts + 1, 1, &arguments, NULL), 0);
	assert_int_equal(arguments_count(arguments), 1);
	arguments_free(arguments);
}

static void test_paths_in_order(void **state)
{
	const char *texts[] = { "{a,b}", "literal", "x{1..3}", "{odd,name}" };
	const char *want[] = { "a", "b", "literal", "x1", "x2", "x3", "{odd,name}" };
	struct arguments *arguments;

	(void)state;
	make("{odd,name}"); /* a file of that name wins over the pattern */
	assert_int_equal(parse(texts, COUNT(texts), &arguments, NULL), 0);
	assert_int_equal(arguments_count(arguments), COUNT(want));
	for (uint32_t i = 0; i < COUNT(want); i++) {
		char *path = arguments_path(arguments, i);

		assert_string_equal(path, want[i]);
		free(path);
	}
	arguments_free(arguments);
	assert_int_equal(unlink("{odd,name}"), 0);
}

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* Directories of save_to_disk(), and the rows beside a table. */
static void test_saved_directories(void **state)
{
	const char *texts[] = { "v/", "{v/b,none}/dataset.arrow", "v/b/dataset.arrow",
				"v/b/indices.arrow", "x" };
	const char *want[] = { "v/a/data-0.arrow", "v/a/data-1.arrow", "v/b/dataset.arrow",
			       "v/b/indices.arrow", "v/b/dataset.arrow", "v/b/indices.arrow",
			       "none/dataset.arrow", "v/b/dataset.arrow", "v/b/indices.arrow",
			       "x", "x/" };
	static const char *const damaged[] = { "[]", "{", "{\"_data_files\": null}",
					       "{\"_data_files\": [{\"filename\": \"a/\"}]}",
					       "{\"_data_files\": [{\"filename\": \"..\"}]}",
					       "{\"_data_files\": [{\"filename\": \"a\\u0000\"}]}",
					       "{\"_data_files\": [[]]}",
					       "{\"_data_files\": [{\"filename\": 7}]}" };
	struct arguments *arguments;
	struct error e;

	(void)state;
	assert_int_equal(system("mkdir -p v/a v/b x"), 0);
	write_text("v/dataset_dict.json", "{\"splits\": [\"a\", \"b\"]}");
	write_text("v/a/state.json", "{\"_data_files\": [{\"filename\": \"data-0.arrow\"}, "
		   "{\"filename\": \"/old/place/data-1.arrow\"}], \"_split\": \"a\"}");
	write_text("v/b/state.json", "{\"_data_files\": [{\"filename\": \"dataset.arrow\"}], "
		   "\"_indices_data_files\": [{\"filename\": \"indices.arrow\"}]}");
	make("v/b/dataset.arrow");
	make("v/b/indices.arrow");
	assert_int_equal(parse(texts, COUNT(texts), &arguments, &e), 0);
	assert_int_equal(arguments_count(arguments), COUNT(want) - 1);
	for (uint32_t i = 0; i < arguments_count(arguments); i++) {
		char *path = arguments_path(arguments, i);

		assert_string_equal(path, want[i]);
		free(path);
	}
	arguments_free(arguments);
	/* without a state.json the usual name counts; with one what it says, there or not */
	assert_int_equal(unlink("v/b/state.json"), 0);
	assert_int_equal(parse(texts + 2, 1, &arguments, &e), 0);
	assert_int_equal(arguments_count(arguments), 2);
	arguments_free(arguments);
	write_text("v/b/state.json", "{\"_indices_data_files\": [{\"filename\": \"gone.arrow\"}]}");
	assert_int_equal(parse(texts + 2, 1, &arguments, &e), 0);
	assert_int_equal(arguments_count(arguments), 2);
	arguments_free(arguments);
	write_text("v/b/state.json", "{\"_indices_data_files\": null}");
	assert_int_equal(parse(texts + 2, 1, &arguments, &e), 0);
	assert_int_equal(arguments_count(arguments), 1);
	arguments_free(arguments);
	for (size_t i = 0; i < COUNT(damaged); i++) {
		write_text("v/a/state.json", damaged[i]);
		assert_int_equal(parse(texts, 1, &arguments, &e), -EBADMSG);
		assert_non_null(strstr(e.text, "'v/a/state.json'"));
	}
	assert_int_equal(system("rm -r v x"), 0);
}

/* Directories of LMDB: one, or those in a directory, if more than half are. */
static void test_lmdb_directories(void **state)
{
	const char *texts[] = { "one", "many", "few" };
	const char *want[] = { "one/data.mdb", "many/a/data.mdb", "many/b/data.mdb", "few" };
	struct arguments *arguments;

	(void)state;
	assert_int_equal(system("mkdir -p one many/a many/b many/.c many/d few/a few/b"), 0);
	assert_int_equal(system("touch one/data.mdb many/a/data.mdb many/b/data.mdb "
				"many/.c/data.mdb few/a/data.mdb; mkdir -p few/b/data.mdb"), 0);
	assert_int_equal(parse(texts, COUNT(texts), &arguments, NULL), 0);
	assert_int_equal(arguments_count(arguments), COUNT(want));
	for (uint32_t i = 0; i < COUNT(want); i++) {
		char *path = arguments_path(arguments, i);

		assert_string_equal(path, want[i]);
		free(path);
	}
	arguments_free(arguments);
	assert_int_equal(system("rm -r one many few"), 0);
}

#define SHARD(raw, zip) "{\"format\": \"mds\", \"version\": 2, \"raw_data\": " raw \
	", \"zip_data\": " zip "}"
#define FILE_OF(name, bytes) "{\"basename\": \"" name "\", \"bytes\": " bytes "}"
#define SHARDS(shards) "{\"version\": 2, \"shards\": [" shards "]}"

#define CHUNK(name) "{\"chunks\": [{\"filename\": \"" name "\"}], " \
	"\"config\": {\"data_format\": []}}"

/* The shards of an index.json, by its directory, one above, and its own name. */
static void test_shard_indexes(void **state)
{
	const char *texts[] = { "d//", "d/b/index.json", "other" };
	const char *want[] = { "d/a/s.0.mds", "d/a/c/s.1.mds.zstd", "d/b/s.0.mds", "d/b/s.0.mds",
			       "other" };
	static const char *const damaged[] = {
		"", "{\"shards\": [", "{\"shards\": []}", "{\"shards\": null}", SHARDS("7"),
		SHARDS("{\"format\": \"json\", \"version\": 2}"),
		SHARDS("{\"format\": \"mds\", \"version\": 3}"),
		SHARDS(SHARD("null", "null")), SHARDS(SHARD("7", "null")),
		SHARDS(SHARD(FILE_OF("", "1"), "null")), SHARDS(SHARD(FILE_OF("/a", "1"), "null")),
		SHARDS(SHARD(FILE_OF("..", "1"), "null")),
		SHARDS(SHARD(FILE_OF("a/../../b", "1"), "null")),
		SHARDS(SHARD(FILE_OF("a\\u0000", "1"), "null")),
		SHARDS(SHARD(FILE_OF("a", "-1"), "null")), SHARDS(SHARD(FILE_OF("a", "1.5"), "null")),
		SHARDS(SHARD(FILE_OF("a", "99999999999999999999"), "null")),
		CHUNK("/a"), CHUNK("a/.."), CHUNK(""),
	};
	struct arguments *arguments;
	struct source *source;
	struct error e;

	(void)state;
	assert_int_equal(system("mkdir -p d/a/c d/b other/x other/y"), 0);
	write_text("d/a/index.json", SHARDS(SHARD(FILE_OF("s.0.mds", "3"), "null") ","
		   SHARD(FILE_OF("c/s.1.mds", "9"), FILE_OF("c/s.1.mds.zstd", "4"))));
	write_text("d/b/index.json", SHARDS(SHARD(FILE_OF("s.0.mds", "3"),
						   FILE_OF("s.0.mds.zstd", "4"))));
	write_text("other/x/index.json", SHARDS(SHARD(FILE_OF("s.0.mds", "3"), "null")));
	write_text("d/a/s.0.mds", "four");
	write_text("d/b/s.0.mds", "abc");
	assert_int_equal(parse(texts, COUNT(texts), &arguments, &e), 0);
	assert_int_equal(arguments_count(arguments), COUNT(want));
	for (uint32_t i = 0; i < COUNT(want); i++) {
		char *path = arguments_path(arguments, i);

		assert_string_equal(path, want[i]);
		free(path);
	}
	assert_int_equal(arguments_open(arguments, 0, want[0], &source, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "'d/a/s.0.mds' has 4 bytes, and its index.json says 3"));
	assert_int_equal(arguments_open(arguments, 1, want[1], &source, &e), -ENOENT);
	assert_int_equal(arguments_open(arguments, 2, want[2], &source, &e), 0);
	source_close(source);
	assert_int_equal(system("mv d/b/s.0.mds d && ln -s ../s.0.mds d/b"), 0);
	assert_int_equal(arguments_open(arguments, 2, want[2], &source, &e), 0);
	source_close(source); /* it lies below what was named, d/ */
	assert_int_equal(arguments_open(arguments, 3, want[3], &source, &e), -EXDEV);
	arguments_free(arguments);
	for (size_t i = 0; i < COUNT(damaged); i++) {
		write_text("d/b/index.json", damaged[i]);
		assert_int_equal(parse(texts + 1, 1, &arguments, &e), -EBADMSG);
		assert_non_null(strstr(e.text, "'d/b/index.json'"));
	}
	write_text("d/b/index.json", "{\"pages\": []}");
	assert_int_equal(parse(texts + 1, 1, &arguments, &e), 0);
	arguments_free(arguments);
	write_text("d/b/index.json", CHUNK("c.bin"));
	assert_int_equal(parse(texts + 1, 1, &arguments, &e), 0);
	assert_int_equal(arguments_count(arguments), 2);
	for (uint32_t i = 0; i < 2; i++) {
		char *path = arguments_path(arguments, i);

		assert_string_equal(path, i ? "d/b/c.bin" : "d/b/index.json");
		free(path);
	}
	arguments_free(arguments);
	assert_int_equal(system("rm -r d other"), 0);
}

static const struct {
	const char *script; /* makes d/c/index.json */
	int err;
} splits[] = {
	{ ":>d/c/index.json", -EBADMSG },
	{ "echo '{\"sha' >d/c/index.json", -EBADMSG },
	{ "echo '{\"pages\": []}' >d/c/index.json", -EBADMSG },
	{ "ln -s none d/c/index.json", -EBADMSG },
	{ "ln -s index.json d/c/index.json", -ELOOP },
	{ "mkfifo d/c/index.json", 0 }, /* it is no file */
	{ ":", 0 },
};

/* No split is left out without a word: its index.json is named. */
static void test_damaged_split(void **state)
{
	const char *texts[] = { "d" };
	struct arguments *arguments;
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(splits); i++) {
		assert_int_equal(system("mkdir -p d/a d/b d/c"), 0);
		write_text("d/a/index.json", SHARDS(SHARD(FILE_OF("s.0.mds", "3"), "null")));
		write_text("d/b/index.json", SHARDS(SHARD(FILE_OF("s.0.mds", "3"), "null")));
		assert_int_equal(system(splits[i].script), 0);
		assert_int_equal(parse(texts, 1, &arguments, &e), splits[i].err);
		if (!splits[i].err) {
			assert_int_equal(arguments_count(arguments), 2);
			arguments_free(arguments);
		} else if (!strstr(e.text, "'d/c/index.json'")) {
			fail_msg("%s: %s", splits[i].script, e.text);
		}
		assert_int_equal(system("rm -r d"), 0);
	}
}

/* A link in place of a split, or of what goes before its chunks, leads nowhere else. */
static void test_links_of_splits(void **state)
{
	const char *texts[] = { "d/" };
	static const struct {
		const char *path;
		int err;
	} files[] = {
		{ "d/a/index.json", 0 }, { "d/a/c.bin", -ENOENT }, { "d/b/index.json", -EXDEV },
		{ "d/b/c.bin", -ENOENT }, { "d/c/s.0.mds", -EXDEV }, { "d/e/s.1.mds", 0 },
	};
	struct arguments *arguments;
	struct error e;

	(void)state;
	assert_int_equal(system("mkdir -p d/a d/b d/.f o && ln -s ../o d/c && ln -s .f d/e"), 0);
	write_text("d/a/index.json", CHUNK("c.bin"));
	write_text("o/chunks", CHUNK("c.bin"));
	assert_int_equal(system("ln -s ../../o/chunks d/b/index.json"), 0);
	write_text("o/index.json", SHARDS(SHARD(FILE_OF("s.0.mds", "3"), "null")));
	write_text("o/s.0.mds", "abc");
	write_text("d/.f/index.json", SHARDS(SHARD(FILE_OF("s.1.mds", "3"), "null")));
	write_text("d/.f/s.1.mds", "abc");
	assert_int_equal(parse(texts, 1, &arguments, &e), 0);
	assert_int_equal(arguments_count(arguments), COUNT(files));
	for (uint32_t i = 0; i < COUNT(files); i++) {
		char *path = arguments_path(arguments, i);
		struct source *source;
		int err = arguments_open(arguments, i, path, &source, &e);

		assert_string_equal(path, files[i].path);
		if (err != files[i].err)
			fail_msg("%s: %d", path, err);
		if (!err)
			source_close(source);
		if (err == -EXDEV)
			assert_non_null(strstr(e.text, "leads out of the directory 'd'"));
		free(path);
	}
	arguments_free(arguments);
	assert_int_equal(system("rm -r d o"), 0);
}

/* Files that an index lists are whole, and nothing beside them is opened. */
static void test_listed_files_are_no_parts(void **state)
{
	char *texts[] = { (char[]){ "d" } };
	struct source_set set;
	struct error e;

	(void)state;
	assert_int_equal(system("mkdir d && ln -s /etc/hostname d/s.tar.003"), 0);
	write_text("d/index.json", SHARDS(SHARD(FILE_OF("s.tar.001", "3"), "null") ","
					  SHARD(FILE_OF("s.tar.002", "3"), "null")));
	write_text("d/s.tar.001", "abc");
	write_text("d/s.tar.002", "def");
	assert_int_equal(source_set_open(texts, 1, false, &set, &e), 0);
	assert_int_equal(set.count, 2);
	source_set_close(&set);
	write_text("d/index.json", SHARDS(SHARD(FILE_OF("s.tar.001", "3"), "null")));
	assert_int_equal(source_set_open(texts, 1, false, &set, &e), 0);
	assert_int_equal(set.count, 1);
	assert_int_equal(source_size(set.sources[0]), 3);
	source_set_close(&set);
	assert_int_equal(system("rm -r d"), 0);
}

static const struct {
	const char *index, *says;
} remedies[] = {
	{ "", "is empty; name the shards beside it instead if they are MDS; if it is LitData's" },
	{ SHARDS(""), "lists no shards; name the shards beside it" },
	{ "{\"chunks\": [], \"config\": {\"data_format\": []}}",
	  "lists no shards; write the dataset again" },
	{ SHARDS(SHARD(FILE_OF("s.mds", "-1"), "null")),
	  "says that the shard 's.mds' has '-1' bytes, which is no size" },
	{ SHARDS(SHARD(FILE_OF("s.mds", "1"), "null") "," SHARD(FILE_OF("s.mds", "1"), "null")),
	  "if one lists the file twice, take the second out of it" },
};

/* Each sentence has a remedy that works for the dataset. */
static void test_remedies_of_shards(void **state)
{
	char *texts[] = { (char[]){ "d/index.json" }, (char[]){ "d" } };
	struct source_set set;
	struct error e;

	(void)state;
	assert_int_equal(system("mkdir d"), 0);
	write_text("d/s.mds", "x");
	for (size_t i = 0; i < COUNT(remedies); i++) {
		write_text("d/index.json", remedies[i].index);
		assert_true(source_set_open(texts, 1, false, &set, &e) < 0);
		assert_int_equal(e.status, ERROR_DATASET);
		if (!strstr(e.text, remedies[i].says))
			fail_msg("no \"%s\" in: %s", remedies[i].says, e.text);
	}
	write_text("d/index.json", SHARDS(SHARD(FILE_OF("s.mds", "1"), "null")));
	assert_int_equal(source_set_open(texts, 2, false, &set, &e), -EINVAL);
	assert_non_null(strstr(e.text, "name each index.json, or its directory, once"));
	assert_int_equal(system("rm -r d"), 0);
}

/* In UTF-16, whose names are longer in UTF-8. */
static void write_utf16_state(const char *path, unsigned names)
{
	static const char begin[] = "{\"_data_files\": [", name[] = "\"*-00000.arrow\",",
			  end[] = "\"last\"]}";
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite("\xff\xfe", 1, 2, file), 2);
	for (const char *at = begin; *at; at++)
		assert_int_equal(fwrite((const char[]){ *at, 0 }, 1, 2, file), 2);
	for (unsigned i = 0; i < names; i++) {
		for (const char *at = name; *at; at++)
			assert_int_equal(fwrite(*at == '*' ? (const char[]){ 0x2d, 0x4e } :
							     (const char[]){ *at, 0 },
						1, 2, file), 2);
	}
	for (const char *at = end; *at; at++)
		assert_int_equal(fwrite((const char[]){ *at, 0 }, 1, 2, file), 2);
	assert_int_equal(fclose(file), 0);
}

static void test_saved_directory_with_many_names(void **state)
{
	static const struct { unsigned names; int err; } cases[] = {
		{ 0, 0 }, { 900, 0 }, { 99999, 0 }, { 100000, -EBADMSG },
	};
	const char *text = "v";
	struct rlimit limit;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(system("mkdir v"), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct arguments *arguments = NULL;
		struct error e;
		int err;

		write_utf16_state("v/state.json", cases[i].names);
		err = parse(&text, 1, &arguments, &e);
		if (cases[i].err || limit.rlim_max > cases[i].names)
			assert_int_equal(err, cases[i].err);
		if (!err) {
			char *path = arguments_path(arguments, 0);

			assert_int_equal(arguments_count(arguments), cases[i].names + 1);
			assert_string_equal(path, cases[i].names ? "v/\xe4\xb8\xad-00000.arrow" :
								   "v/last");
			free(path);
		}
		arguments_free(err ? NULL : arguments);
	}
	assert_int_equal(system("rm -r v"), 0);
}

/* One list that is named a million times, or is huge, keeps nobody busy for long. */
static void test_saved_directory_has_bounds(void **state)
{
	const char *text = "v";
	struct arguments *arguments;
	struct error e;

	(void)state;
	assert_int_equal(system("mkdir -p v/a && printf '{\"_data_files\": [\"x\"]}' >v/a/state.json && "
				"{ printf '{\"splits\": [\"a\"'; yes ',\"a\"' | head -n 5000; echo ]}; } "
				">v/dataset_dict.json"), 0);
	assert_int_equal(parse(&text, 1, &arguments, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "'v/a/state.json' and such files before it"));
	assert_int_equal(system("rm v/dataset_dict.json && truncate -s 65M v/state.json"), 0);
	assert_int_equal(parse(&text, 1, &arguments, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "'v/state.json' and such files before it"));
	assert_int_equal(system("rm -r v"), 0);
}

/*
 * Their sum counts, and the limit that the process could have. The last test: nobody but
 * root can raise that again.
 */
static void test_more_than_can_be_open(void **state)
{
	const char *fits[] = { "{1..500}", "{1..499}", "x" };
	const char *beyond[] = { "{1..500}", "{1..500}", "x" };
	const struct rlimit limit = { 64, 1000 };
	struct arguments *arguments = NULL;
	struct error e;

	(void)state;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(parse(fits, COUNT(fits), &arguments, &e), 0);
	arguments_free(arguments);
	arguments = NULL;
	assert_int_equal(parse(beyond, COUNT(beyond), &arguments, &e), -E2BIG);
	assert_null(arguments);
	assert_non_null(strstr(e.text, "1001 files"));
	assert_non_null(strstr(e.text, "1000 open"));
}

static void test_none(void **state)
{
	struct arguments *arguments;
	struct error e;

	(void)state;
	assert_int_equal(arguments_parse(NULL, 0, &arguments, &e), -EINVAL);
	assert_int_equal(e.status, ERROR_USAGE);
}

/* Without the first of a million shards no name is made of the others. */
static void test_first_decides(void **state)
{
	char pattern[256], *texts[] = { pattern };
	struct source_set set;
	struct rlimit limit;
	struct rusage before, usage;
	struct error e;

	(void)state;
	assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	/* half a million names, say, of 200 bytes: 100 MB */
	snprintf(pattern, sizeof(pattern), "gone-{1..%d}-%0200d",
		 limit.rlim_max < 900000 ? (int)limit.rlim_max : 900000, 0);
	assert_int_equal(source_set_open(texts, 1, false, &set, &e), -ENOENT);
	assert_non_null(strstr(e.text, "gone-1-0"));
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	assert_true(usage.ru_maxrss - before.ru_maxrss < 48 * 1024); /* KiB */
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_first_decides), /* before others take memory */
	cmocka_unit_test(test_indexes_among_others),
	cmocka_unit_test(test_paths_in_order),
	cmocka_unit_test(test_saved_directories),
	cmocka_unit_test(test_lmdb_directories),
	cmocka_unit_test(test_shard_indexes),
	cmocka_unit_test(test_damaged_split),
	cmocka_unit_test(test_links_of_splits),
	cmocka_unit_test(test_listed_files_are_no_parts),
	cmocka_unit_test(test_remedies_of_shards),
	cmocka_unit_test(test_saved_directory_with_many_names),
	cmocka_unit_test(test_saved_directory_has_bounds),
	cmocka_unit_test(test_none),
	cmocka_unit_test(test_more_than_can_be_open),
};

UNIT_MAIN_IN(tests, in_directory, leave_directory)
