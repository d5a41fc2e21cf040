/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sources and sets of them, on real files in a directory of our own. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/source.h"
#include "source/source_set.h"
#include "base/log.h"

static char directory[] = "/tmp/granary-source-XXXXXX";
static char old_directory[4096];

static void write_file(const char *name, const void *bytes, size_t n)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static struct source *open_good(const char *path)
{
	struct source *source = NULL;
	struct error e;

	assert_int_equal(source_open(path, &source, &e), 0);
	assert_non_null(source);
	return source;
}

static void refused(const char *path, int errnum, enum error_status status,
		    const char *word)
{
	struct source *source = NULL;
	struct error e;

	assert_int_equal(source_open(path, &source, &e), -errnum);
	assert_int_equal(e.status, status);
	assert_non_null(strstr(e.text, path));
	assert_non_null(strstr(e.text, word));
	assert_null(source);
}

static void test_reads(void **state)
{
	char buffer[16] = "";
	struct source *source;

	(void)state;
	write_file("ten", "0123456789", 10);
	source = open_good("ten");
	assert_int_equal(source_size(source), 10);
	assert_string_equal(source_path(source), "ten");
	assert_int_equal(source_owner(source)->uid, geteuid());
	assert_int_equal(source_pread(source, buffer, 4, 3), 0);
	assert_memory_equal(buffer, "3456", 4);
	assert_int_equal(source_pread(source, buffer, 10, 0), 0);
	assert_int_equal(source_pread(source, buffer, 0, 10), 0);
	assert_int_equal(source_pread(source, buffer, 1, 10), -EIO);
	assert_int_equal(source_pread(source, buffer, 11, 0), -EIO);
	assert_int_equal(source_pread(source, buffer, 2, UINT64_MAX), -EIO);
	assert_int_equal(source_pread(source, buffer, 1, INT64_MAX), -EIO);
	source_close(source);
	source_close(NULL);
}

static void test_shrunk_file(void **state)
{
	char buffer[16];
	struct source *source;

	(void)state;
	write_file("shrinks", "0123456789", 10);
	source = open_good("shrinks");
	assert_int_equal(truncate("shrinks", 5), 0);
	assert_int_equal(source_pread(source, buffer, 5, 0), 0);
	assert_int_equal(source_pread(source, buffer, 6, 0), -EIO);
	source_close(source);
}

static void test_descriptor_is_closed_on_exec(void **state)
{
	struct source *source;
	int fd;

	(void)state;
	write_file("x", "x", 1);
	fd = dup(0);
	close(fd); /* the next one to be handed out */
	source = open_good("x");
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	source_close(source);
}

static void test_refusals(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	mkdir("directory", 0755);
	mkfifo("pipe", 0644);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	refused("not there", ENOENT, ERROR_SYSTEM, "does not exist");
	write_file("directory/a.jpg", "x", 1);
	refused("directory", EISDIR, ERROR_DATASET,
		"is a directory, not a packed file; pack it first: "
		"granary pack 'directory' 'directory.tar'");
	refused("pipe", EINVAL, ERROR_DATASET, "a pipe");
	refused("socket", EINVAL, ERROR_DATASET, "a socket");
	refused("/dev/null", EINVAL, ERROR_DATASET, "a character device");
	write_file("file", "x", 1);
	refused("file/below", ENOTDIR, ERROR_SYSTEM, "Not a directory");
}

/* As root nothing is forbidden, so a child gives that up first. */
static void test_forbidden(void **state)
{
	pid_t child;
	int status;

	(void)state;
	write_file("secret", "x", 1);
	chmod("secret", 0000);
	chmod(".", 0755);
	child = fork();
	if (child == 0) {
		struct source *source = NULL;
		struct error e;
		int err;

		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(2);
		err = source_open("secret", &source, &e);
		_exit(err == -EACCES && e.status == ERROR_SYSTEM &&
				      strstr(e.text, "user id") ?
			      0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_by_descriptor(void **state)
{
	static const char *const directories[] = { "/proc/self/fd", "/dev/fd" };
	char path[64], byte;
	int fd;

	(void)state;
	write_file("by-number", "z", 1);
	fd = open("by-number", O_RDONLY | O_CLOEXEC);
	unlink("by-number");
	for (size_t i = 0; i < 2; i++) {
		struct source *source;

		snprintf(path, sizeof(path), "%s/%d", directories[i], fd);
		source = open_good(path);
		assert_int_equal(source_pread(source, &byte, 1, 0), 0);
		assert_int_equal(byte, 'z');
		source_close(source);
	}
	close(fd);
}

/* A file that was opened with the right to is read without that right. */
static void test_adopted(void **state)
{
	struct source *source = NULL;
	char byte;
	int fd;

	(void)state;
	write_file("adopted", "0123456789", 10);
	fd = open("adopted", O_RDONLY);
	unlink("adopted");
	assert_int_equal(source_adopt("adopted", fd, &source, NULL), 0);
	assert_int_equal(source_hand_over(source, NULL), fd);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_string_equal(source_path(source), "adopted");
	assert_int_equal(source_size(source), 10);
	assert_int_equal(source_owner(source)->uid, geteuid());
	assert_int_equal(source_pread(source, &byte, 1, 9), 0);
	assert_int_equal(byte, '9');
	source_close(source);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void not_adopted(int fd, int errnum, enum error_status status, const char *word)
{
	struct source *source = NULL;
	struct error e;

	assert_int_equal(source_adopt("the name", fd, &source, &e), -errnum);
	assert_int_equal(e.status, status);
	assert_non_null(strstr(e.text, "'the name'"));
	assert_non_null(strstr(e.text, word));
	assert_null(source);
	if (errnum != EBADF)
		assert_int_equal(fcntl(fd, F_GETFD) < 0, 0); /* still the caller's */
	close(fd);
}

static void test_not_adopted(void **state)
{
	int ends[2];

	(void)state;
	write_file("file", "x", 1);
	mkdir("directory", 0755);
	assert_int_equal(pipe(ends), 0);
	close(ends[1]);
	not_adopted(ends[0], EINVAL, ERROR_DATASET, "a pipe");
	not_adopted(open("directory", O_RDONLY), EISDIR, ERROR_DATASET, "is a directory");
	not_adopted(open("/dev/null", O_RDONLY), EINVAL, ERROR_DATASET, "a character device");
	not_adopted(open("file", O_WRONLY), EBADF, ERROR_SYSTEM, "not open for reading");
	not_adopted(open("file", O_PATH), EBADF, ERROR_SYSTEM, "not open for reading");
	not_adopted(open("file", O_RDWR | O_PATH), EBADF, ERROR_SYSTEM, "not open");
	not_adopted(-1, EBADF, ERROR_SYSTEM, "not open for reading");
	not_adopted(1000, EBADF, ERROR_SYSTEM, "not open for reading");
}

static void test_adopted_set(void **state)
{
	char a[] = "a", b[] = "b", *paths[] = { a, b, a };
	struct source_set set = { NULL, 0 };
	struct error e;
	int fds[3];

	(void)state;
	write_file("a", "aa", 2);
	write_file("b", "b", 1);
	for (int i = 0; i < 3; i++)
		fds[i] = open(paths[i], O_RDONLY);
	/* the third is the first once more, and then none is left open */
	assert_int_equal(source_set_adopt(paths, fds, NULL, 3, &set, &e), -EINVAL);
	assert_non_null(strstr(e.text, "are the same file"));
	for (int i = 0; i < 3; i++)
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
	fds[0] = open("a", O_RDONLY);
	fds[1] = open("b", O_WRONLY);
	fds[2] = open("/dev/null", O_RDONLY);
	assert_int_equal(source_set_adopt(paths, fds, NULL, 3, &set, &e), -EBADF);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fcntl(fds[i], F_GETFD), -1);
	assert_int_equal(source_set_adopt(paths, fds, NULL, 0, &set, &e), -EINVAL);
	assert_int_equal(set.count, 0);
	fds[0] = open("b", O_RDONLY);
	fds[1] = open("a", O_RDONLY);
	assert_int_equal(source_set_adopt(paths, fds, NULL, 2, &set, &e), 0);
	assert_int_equal(set.count, 2);
	assert_string_equal(source_path(set.sources[0]), "a");
	assert_int_equal(source_size(set.sources[0]), 1);
	source_set_close(&set);
}

static struct identity identity_of(const char *path)
{
	struct source *source = open_good(path);
	struct identity out;

	assert_int_equal(source_identity(source, 64, &out), 0);
	source_close(source);
	return out;
}

static void poke(const char *path, long offset)
{
	struct stat st;
	FILE *f = fopen(path, "r+");

	assert_non_null(f);
	fstat(fileno(f), &st);
	fseek(f, offset, SEEK_SET);
	fputc('!', f);
	fflush(f);
	futimens(fileno(f), (struct timespec[]){ st.st_atim, st.st_mtim });
	fclose(f);
}

/* One of two filesystems may keep whole seconds; one that keeps less is told. */
static void test_times_in_whole_seconds(void **state)
{
	static const struct { int64_t a, b; bool equal; } times[] = {
		{ 1700000000123456789, 1700000000000000000, true },
		{ 1700000000999999999, 1700000000000000000, true },
		{ 1700000001000000000, 1700000000999999999, false },
		{ 1700000000123456789, 1700000001000000000, false },
		{ 1700000000123456789, 1700000000123456788, false },
		{ 1700000000123456789, 1700000000123000000, false },
		{ 1700000000000000000, 1700000001000000000, false },
		{ 0, 999999999, true }, { 0, -1, false }, { 0, -999999999, false },
		{ -1000000000, -1, true }, { -1000000000, -999999999, true },
		{ -1000000000, -1000000001, false }, { -2000000000, -1000000001, true },
		{ INT64_MIN, INT64_MAX, false }, { INT64_MAX, INT64_MAX, true },
		{ INT64_MIN, INT64_MIN, true }, { INT64_MIN, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct identity a = { .mtime_ns = times[i].a }, b = { .mtime_ns = times[i].b };

		if (identity_equal(&a, &b) != times[i].equal ||
		    identity_equal(&b, &a) != times[i].equal)
			fail_msg("times %zu", i);
		b.digest = 1;
		assert_false(identity_equal(&a, &b));
	}
}

static void test_identity(void **state)
{
	static const size_t sizes[] = { 0, 1, 4096, 4097, 8191, 8192, 8193, 100000 };
	static char bytes[100000];

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct identity first, second;

		write_file("id", bytes, sizes[i]);
		first = identity_of("id");
		second = identity_of("id");
		assert_true(identity_equal(&first, &second));
		assert_int_equal(first.size, sizes[i]);
		if (sizes[i] == 0)
			continue;
		poke("id", (long)sizes[i] - 1);
		second = identity_of("id");
		assert_int_equal(first.mtime_ns, second.mtime_ns);
		assert_false(identity_equal(&first, &second));
		poke("id", 0);
		first = identity_of("id");
		assert_true(sizes[i] == 1 || !identity_equal(&first, &second));
	}
	/* The published XXH3-64 of the empty input keeps indexes comparable. */
	write_file("empty", "", 0);
	assert_true(identity_of("empty").digest == UINT64_C(0x2d06800538d394c2));
}

/* Pages of a file of 640: each of 64 equal parts has one in its middle. */
static void test_samples(void **state)
{
	enum { PAGE = 4096, PAGES = 640 };
	static const struct { long page; bool seen; } pokes[] = {
		{ 1, false }, { 4, false }, { 5, true }, { 6, false }, { 15, true },
		{ 320, false }, { 325, true }, { 634, false }, { 635, true }, { 638, false },
	};
	char *bytes = calloc(PAGES, PAGE);
	struct identity before, after;

	(void)state;
	assert_non_null(bytes);
	write_file("samples", bytes, PAGES * PAGE);
	before = identity_of("samples");
	assert_true(before.samples != 0);
	for (size_t i = 0; i < sizeof(pokes) / sizeof(*pokes); i++) {
		poke("samples", pokes[i].page * PAGE + 17);
		after = identity_of("samples");
		assert_int_equal(before.digest, after.digest);
		assert_int_equal(before.number, after.number);
		if (identity_equal(&before, &after) == pokes[i].seen)
			fail_msg("page %ld", pokes[i].page);
		before = after;
	}
	/* an index of 0.1 has none */
	poke("samples", 5 * PAGE);
	after = identity_of("samples");
	assert_string_equal(identity_difference(&before, &after), "middle");
	after.samples = 0;
	assert_true(identity_equal(&before, &after) && identity_equal(&after, &before));
	/* a small file is sampled as a whole */
	write_file("small", bytes, 10 * PAGE);
	for (long page = 0; page < 10; page++) {
		before = identity_of("small");
		poke("small", page * PAGE + 2000);
		after = identity_of("small");
		assert_false(identity_equal(&before, &after));
	}
	free(bytes);
}

static void make_shards(void)
{
	char name[32];

	for (int i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "s-%02d.tar", i);
		write_file(name, name, strlen(name));
	}
}

static void test_set(void **state)
{
	char first[] = "s-{00..03}.tar", second[] = "s-1{1,0}.tar";
	char *arguments[] = { first, second };
	struct identity identities[6];
	struct source_set set;
	struct error e;

	(void)state;
	make_shards();
	assert_int_equal(source_set_open(arguments, 2, false, &set, &e), 0);
	assert_int_equal(set.count, 6);
	assert_string_equal(source_path(set.sources[0]), "s-00.tar");
	assert_string_equal(source_path(set.sources[3]), "s-03.tar");
	assert_string_equal(source_path(set.sources[4]), "s-11.tar");
	assert_string_equal(source_path(set.sources[5]), "s-10.tar");
	assert_int_equal(source_set_identify(&set, identities, &e), 0);
	assert_false(identity_equal(&identities[0], &identities[1]));
	source_set_close(&set);
	assert_int_equal(set.count, 0);
}

static void test_literal_wins(void **state)
{
	char name[] = "l-{a,b}", *arguments[] = { name };
	struct source_set set;

	(void)state;
	write_file("l-{a,b}", "", 0);
	assert_int_equal(source_set_open(arguments, 1, false, &set, NULL), 0);
	assert_int_equal(set.count, 1);
	assert_string_equal(source_path(set.sources[0]), "l-{a,b}");
	source_set_close(&set);
}

static void test_missing(void **state)
{
	char two[] = "s-{10..14}.tar", star[] = "s-*.tar", no[] = "no-{1..3}", many[] = "s-{1..9999999}.tar";
	char *some[] = { two }, *none[] = { no }, *stars[] = { star };
	char *address = (char[]){ "https://example.org/s-{1..2}.tar" };
	struct source_set set = { NULL, 0 };
	struct error e;

	(void)state;
	make_shards();
	assert_int_equal(source_set_open(stars, 1, false, &set, &e), -ENOENT);
	assert_non_null(strstr(e.text, "* and ? are the shell's"));
	assert_int_equal(source_set_open(&address, 1, false, &set, &e), -ENOENT);
	assert_non_null(strstr(e.text, "is an address; download the file first"));
	assert_int_equal(source_set_open(some, 1, false, &set, &e), -ENOENT);
	assert_non_null(strstr(e.text, "'s-12.tar' does not exist"));
	assert_int_equal(source_set_open(some, 1, true, &set, &e), 0);
	assert_int_equal(set.count, 2);
	source_set_close(&set);
	assert_int_equal(source_set_open(none, 1, true, &set, &e), -ENOENT);
	assert_non_null(strstr(e.text, "no-1"));
	assert_int_equal(source_set_open(none, 0, false, &set, &e), -EINVAL);
	assert_int_equal(e.status, ERROR_USAGE);
	some[0] = many;
	assert_int_equal(source_set_open(some, 1, true, &set, &e), -E2BIG);
}

static void test_same_file_twice(void **state)
{
	char shards[] = "s-{00..03}.tar", alias[] = "./alias";
	char *arguments[] = { shards, alias };
	struct source_set set;
	struct error e;

	(void)state;
	make_shards();
	assert_int_equal(symlink("s-02.tar", "alias"), 0);
	assert_int_equal(source_set_open(arguments, 2, false, &set, &e), -EINVAL);
	assert_non_null(strstr(e.text, "'s-02.tar' and './alias' are the same file"));
	arguments[1] = arguments[0];
	assert_int_equal(source_set_open(arguments, 2, false, &set, &e), -EINVAL);
}

static void test_limit_is_raised(void **state)
{
	char shards[] = "s-{00..11}.tar", *arguments[] = { shards };
	struct rlimit old, low;
	struct source_set set;
	struct error e;

	(void)state;
	make_shards();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 10;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	assert_int_equal(source_set_open(arguments, 1, false, &set, &e), 0);
	assert_int_equal(set.count, 12);
	source_set_close(&set);
	setrlimit(RLIMIT_NOFILE, &old);
}

static void test_limit_is_named(void **state)
{
	struct rlimit old, low;
	struct source *source = NULL;
	struct error e;
	int err;

	(void)state;
	write_file("x", "x", 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	low = old;
	low.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	err = source_open("x", &source, &e);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(err, -EMFILE);
	assert_non_null(strstr(e.text, "only 3 files"));
	assert_non_null(strstr(e.text, "ulimit -n"));
}

static int enter(void **state)
{
	(void)state;
	log_level_now = LOG_LEVEL_ERROR;
	if (!getcwd(old_directory, sizeof(old_directory)) || !mkdtemp(directory))
		return -1;
	return chdir(directory);
}

static int leave(void **state)
{
	char command[64];

	(void)state;
	if (chdir(old_directory) < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_reads),
	cmocka_unit_test(test_shrunk_file),
	cmocka_unit_test(test_descriptor_is_closed_on_exec),
	cmocka_unit_test(test_refusals),
	cmocka_unit_test(test_forbidden),
	cmocka_unit_test(test_by_descriptor),
	cmocka_unit_test(test_adopted),
	cmocka_unit_test(test_not_adopted),
	cmocka_unit_test(test_adopted_set),
	cmocka_unit_test(test_identity),
	cmocka_unit_test(test_samples),
	cmocka_unit_test(test_times_in_whole_seconds),
	cmocka_unit_test(test_set),
	cmocka_unit_test(test_literal_wins),
	cmocka_unit_test(test_missing),
	cmocka_unit_test(test_same_file_twice),
	cmocka_unit_test(test_limit_is_raised),
	cmocka_unit_test(test_limit_is_named),
};

UNIT_MAIN_IN(tests, enter, leave)
