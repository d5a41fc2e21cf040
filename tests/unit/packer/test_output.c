/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of packed files, and how they get them. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "packer/out_directory.h"
#include "packer/out_name.h"
#include "packer/output.h"
#include "packer/resume.h"
#include "packer/writer.h"

static void test_sets_are_named_to_be_read(void **state)
{
	static const struct {
		const char *pattern;
		uint64_t shards;
		const char *source;
	} cases[] = {
		{ "x.tar", 1, "x.tar" },
		{ "a/x-%06d.tar", 128, "a/x-{000000..000127}.tar" },
		{ "x-%06d.tar", 1, "x-000000.tar" },
		{ "x-%d.tar", 12, "x-{0..11}.tar" },
		{ "x-{0..3}.tar", 4, "x-{0..3}.tar" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct out_name name;
		struct error e;
		char *source;

		assert_int_equal(out_name_parse(cases[i].pattern, &name, &e), 0);
		source = out_name_pattern(&name, cases[i].shards);
		assert_string_equal(source, cases[i].source);
		free(source);
		out_name_free(&name);
	}
}

static void test_patterns_name_shards(void **state)
{
	static const struct {
		const char *text, *third;
		uint64_t count;
	} cases[] = {
		{ "d/x.tar", "d/x.tar", 1 },
		{ "d/x-%06d.tar", "d/x-000002.tar", 0 },
		{ "%d.tar", "2.tar", 0 },
		{ "x-{000000..000004}.tar", "x-000002.tar", 5 },
		{ "50%.tar", "50%.tar", 1 },
		{ "x%.tar", "x%.tar", 1 },
		{ "d%03d/x.tar", "d%03d/x.tar", 1 },
		{ "x{1}.tar", "x{1}.tar", 1 },
	};
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct out_name name;
		char *third;

		assert_int_equal(out_name_parse(cases[i].text, &name, &e), 0);
		assert_true(out_name_count(&name) == cases[i].count);
		third = out_name_path(&name, cases[i].count == 1 ? 0 : 2);
		assert_string_equal(third, cases[i].third);
		free(third);
		out_name_free(&name);
	}
}

static const char *const texts[] = { "", "d/", "%d-%06d.tar", "{0..3}-%d.tar",
				       "u-%s.tar", "50%6d.tar", "%lld.tar" };

static void test_patterns_that_make_no_sense_are_refused(void **state)
{
	size_t i = unit_row(state);
	struct out_name name;
	struct error e;

	assert_int_equal(out_name_parse(texts[i], &name, &e), -EINVAL);
	assert_true(strlen(e.text) > 20);
	out_name_free(&name);
}

static void test_what_belongs_to_a_set_is_known(void **state)
{
	static const struct {
		const char *pattern, *file;
		bool owned;
	} cases[] = {
		{ "a/x.tar", "x.tar", true },
		{ "a/x.tar", ".x.tar.part", true },
		{ "a/x.tar", "x.tar.gidx", true },
		{ "a/x.tar", "x.tar.gidx.claim", true },
		{ "a/x.tar", ".x.tar.plan", true },
		{ "a/x.tar", "x.tar.jpg", false },
		{ "a/x.tar", "y.tar", false },
		{ "a/x-%06d.tar", "x-000017.tar", true },
		{ "a/x-%06d.tar", ".x-000017.tar.part", true },
		{ "a/x-%06d.tar", "x-000000.tar+31-0123456789abcdef.gidx", true },
		{ "a/x-%06d.tar", ".x-000000.tar.plan.part", true },
		{ "a/x-%06d.tar", "x-.tar", false },
		{ "a/x-%06d.tar", "x-12.tgz", false },
		{ "a/x-{0..3}.tar", "x-3.tar", true },
		{ "a/x-{0..3}.tar", "x-4.tar", false },
		{ ".x.tar", ".x.tar", true },
		{ ".x.tar", "..x.tar.part", true },
	};
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct out_name name;

		assert_int_equal(out_name_parse(cases[i].pattern, &name, &e), 0);
		if (out_name_owns(&name, cases[i].file) != cases[i].owned)
			fail_msg("%s of %s", cases[i].file, cases[i].pattern);
		out_name_free(&name);
	}
}

static void test_a_file_gets_its_name_at_the_end(void **state)
{
	struct output *output;
	struct error e;
	size_t size;
	char *bytes;

	(void)state;
	unit_shell("mkdir o");
	assert_int_equal(output_begin("o/x", false, &output, &e), 0);
	assert_int_equal(write(output_fd(output), "new", 3), 3);
	assert_int_not_equal(access("o/x", F_OK), 0);
	assert_int_equal(output_commit(output, &e), 0);
	bytes = unit_read("o/x", &size);
	assert_string_equal(bytes, "new");
	free(bytes);
	assert_int_equal(unit_names_in("o"), 1);

	assert_int_equal(output_begin("o/x", false, &output, &e), -EEXIST);
	assert_non_null(strstr(e.text, "--force"));
	assert_int_equal(output_begin("o/x", true, &output, &e), 0);
	output_drop(output);
	bytes = unit_read("o/x", &size);
	assert_string_equal(bytes, "new");
	free(bytes);
	assert_int_equal(unit_names_in("o"), 1);
}

/* A file that somebody else made in the meantime is not replaced. */
static void test_who_was_first_stays(void **state)
{
	struct output *output;
	struct error e;
	char *bytes;
	size_t size;

	(void)state;
	unit_shell("mkdir r");
	assert_int_equal(output_begin("r/x", false, &output, &e), 0);
	unit_write("r/x", "theirs", 6);
	assert_int_equal(output_commit(output, &e), -EEXIST);
	bytes = unit_read("r/x", &size);
	assert_string_equal(bytes, "theirs");
	free(bytes);
	assert_int_equal(unit_names_in("r"), 1);
}

static void test_a_leftover_is_taken_over_and_one_in_use_is_not(void **state)
{
	struct output *output;
	struct error e;
	char *bytes;
	size_t size;
	int fd;

	(void)state;
	unit_shell("mkdir l; echo much more than will be written > l/.x.part");
	fd = open("l/.x.part", O_RDWR);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(output_begin("l/x", false, &output, &e), -EBUSY);
	assert_non_null(strstr(e.text, "another process"));
	close(fd);
	assert_int_equal(output_begin("l/x", false, &output, &e), 0);
	assert_int_equal(write(output_fd(output), "1", 1), 1);
	assert_int_equal(output_commit(output, &e), 0);
	bytes = unit_read("l/x", &size);
	assert_string_equal(bytes, "1");
	free(bytes);

	/* a link to something else is not written through */
	unit_shell("echo dear > l/dear; ln -s dear l/.y.part");
	assert_true(output_begin("l/y", false, &output, &e) < 0);
	unit_shell("ln l/dear l/.z.part");
	assert_true(output_begin("l/z", false, &output, &e) < 0);
	bytes = unit_read("l/dear", &size);
	assert_string_equal(bytes, "dear\n");
	free(bytes);
}

static int end_by_signal(void *argument)
{
	struct output *one, *other;
	struct error e;

	output_catch_signals(true);
	if (output_begin("s/one", false, &one, &e) < 0 ||
	    output_begin("s/other", false, &other, &e) < 0 || unit_names_in("s") != 2)
		return 1;
	raise(*(int *)argument);
	return 2;
}

static void test_signals_remove_what_is_begun(void **state)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };

	(void)state;
	unit_shell("mkdir s");
	for (size_t i = 0; i < COUNT(numbers); i++) {
		int number = numbers[i];

		assert_int_equal(unit_child(end_by_signal, &number), 256 + number);
		assert_int_equal(unit_names_in("s"), 0);
	}
}

static void test_a_plan_is_known_again(void **state)
{
	struct out_name name;
	struct error e;
	char *path;

	(void)state;
	unit_shell("mkdir p");
	assert_int_equal(out_name_parse("p/x-%06d.tar", &name, &e), 0);
	path = resume_path(&name);
	assert_string_equal(path, "p/.x-000000.tar.plan");
	assert_int_equal(resume_compare_plan(path, 1), RESUME_NOTHING);
	assert_int_equal(resume_record_plan(path, 1, &e), 0);
	assert_int_equal(resume_compare_plan(path, 1), RESUME_SAME);
	assert_int_equal(resume_compare_plan(path, 2), RESUME_OTHER);
	unit_write(path, "", 0);
	assert_int_equal(resume_compare_plan(path, 1), RESUME_OTHER);
	free(path);
	out_name_free(&name);
}

static void test_what_is_missing_is_said(void **state)
{
	static const struct {
		int errnum;
		const char *words, *remedy;
	} cases[] = {
		{ ENOSPC, "no space left", "another filesystem" },
		{ EDQUOT, "quota is used up after 3.0 GiB", "ask for more" },
		{ EFBIG, "larger than a file may be", "--shard-size" },
		{ EIO, "Input/output error", "x.tar" },
	};
	struct error e;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(output_error("d/x.tar", cases[i].errnum, 3ULL << 30, &e),
				 -cases[i].errnum);
		assert_non_null(strstr(e.text, cases[i].words));
		assert_non_null(strstr(e.text, cases[i].remedy));
		assert_non_null(strstr(e.text, "d/x.tar: "));
	}
}

/* Nobody has 9 GiB to spare for a test: the header must be right, and is first. */
static void test_a_tar_has_members_of_more_than_8_gib(void **state)
{
	struct writer_config config = { .level = -1, .threads = 1 };
	struct pack_entry entry = { .kind = PACK_FILE, .path = "big", .mode = 0644,
				    .size = (9ULL << 30) + 1, .mtime = 1, .label = -1 };
	static char zeros[1 << 17];
	struct writer *writer;
	struct error e;
	int fd = open("big.tar", O_RDWR | O_CREAT, 0600);

	(void)state;
	assert_int_equal(tar_writer.open(&writer, fd, "big.tar", &config, &e), 0);
	assert_int_equal(tar_writer.begin(writer, &entry, &e), 0);
	assert_int_equal(tar_writer.data(writer, zeros, sizeof(zeros), &e), 0);
	assert_int_equal(tar_writer.close(writer, false, &e), 0);
	close(fd);
	unit_shell("python3 -c \"import tarfile; m = tarfile.open('big.tar').next();"
		   " assert (m.name, m.size) == ('big', (9 << 30) + 1), m.size\"");
}

/* The set is made where its first file was begun, whatever its path has become since. */
static void test_a_directory_is_followed_once(void **state)
{
	struct output *output;
	struct error e;

	(void)state;
	unit_shell("mkdir set other && echo safe >other/.set-1.part && echo safe >other/set-2");
	assert_int_equal(output_begin("set/set-0", false, &output, &e), 0);
	unit_shell("mv set moved && ln -s other set");
	assert_int_equal(output_commit(output, &e), 0);
	assert_int_equal(output_write("set/set-1", "one", 3, &e), 0);
	assert_int_equal(output_begin("set/set-3", false, &output, &e), 0);
	assert_false(out_directory_has("set/set-2"));
	assert_true(out_directory_has("set/set-1"));
	assert_int_equal(out_directory_unlink("set/set-2"), -ENOENT);
	output_drop(output);
	assert_int_equal(unit_names_in("moved"), 2);
	assert_int_equal(unit_names_in("other"), 2);
	out_directory_close_all();
	assert_true(out_directory_has("set/set-2"));
	out_directory_close_all();
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_patterns_name_shards),
		cmocka_unit_test(test_sets_are_named_to_be_read),
	unit_texts(test_patterns_that_make_no_sense_are_refused, texts),
	cmocka_unit_test(test_what_belongs_to_a_set_is_known),
	cmocka_unit_test(test_a_file_gets_its_name_at_the_end),
	cmocka_unit_test(test_who_was_first_stays),
	cmocka_unit_test(test_a_leftover_is_taken_over_and_one_in_use_is_not),
	cmocka_unit_test(test_signals_remove_what_is_begun),
	cmocka_unit_test(test_what_is_missing_is_said),
	cmocka_unit_test(test_a_directory_is_followed_once),
	cmocka_unit_test(test_a_plan_is_known_again),
	cmocka_unit_test(test_a_tar_has_members_of_more_than_8_gib),
};

UNIT_MAIN(tests)
