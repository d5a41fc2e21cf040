/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

/* A shell that runs tests in the background may ignore signals that they use. */
static void heed_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD };

	for (size_t i = 0; i < COUNT(numbers); i++)
		signal(numbers[i], SIG_DFL);
}

int unit_mark(void **state)
{
	(void)state;
	return 0;
}

/* Bytes that a line of TAP cannot hold are left out of a name. */
static char *row_name(const char *test, const struct unit_rows *table, size_t i)
{
	const char *row = (const char *)table->rows + i * table->size;
	const char *text = NULL;
	char *name;

	if (table->name >= 0)
		memcpy(&text, row + table->name, sizeof(text));
	if ((text ? asprintf(&name, "%s/%.60s", test, text) :
		    asprintf(&name, "%s/%zu", test, i)) < 0)
		abort();
	for (char *c = name; *c; c++)
		if (*c < ' ' || *c > '~' || *c == '#' || *c == '\\')
			*c = '.';
	return name;
}

static size_t add_test(struct CMUnitTest *all, const struct CMUnitTest *test)
{
	const struct unit_rows *table = test->initial_state;

	if (test->setup_func != unit_mark) {
		*all = *test;
		return 1;
	}
	for (size_t i = 0; i < table->count; i++)
		all[i] = (struct CMUnitTest){
			.name = row_name(test->name, table, i),
			.test_func = test->test_func,
			/* not NULL, which means the group's */
			.initial_state = (void *)(uintptr_t)(i + 1),
		};
	return table->count;
}

static size_t points(const struct CMUnitTest *tests, size_t count)
{
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += tests[i].setup_func == unit_mark ?
			       ((const struct unit_rows *)tests[i].initial_state)->count :
			       1;
	return sum;
}

int unit_run(const struct CMUnitTest *tests, size_t count, CMFixtureFunction enter,
	     CMFixtureFunction leave)
{
	/* Held to the end: a search for leaks finds it. */
	static struct CMUnitTest *all;
	size_t n = 0;

	heed_signals();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	all = calloc(points(tests, count), sizeof(*all));
	if (!all)
		return 1;
	for (size_t i = 0; i < count; i++)
		n += add_test(&all[n], &tests[i]);
	return _cmocka_run_group_tests("tests", all, n, enter, leave);
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *position)
{
	(void)st;
	(void)type;
	(void)position;
	return remove(path);
}

int unit_enter(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/granary-unit-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	return chdir(directory);
}

int unit_leave(void **state)
{
	(void)state;
	if (chdir("/") < 0)
		return -1;
	return nftw(directory, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *unit_directory(void)
{
	return directory;
}

void unit_write(const char *path, const void *bytes, size_t size)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

char *unit_read(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	char *bytes;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	bytes[st.st_size] = '\0';
	if (size)
		*size = (size_t)st.st_size;
	fclose(f);
	return bytes;
}

char *unit_stderr_of(void (*run)(void *), void *argument)
{
	int fd = open("stderr", O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0600);
	int saved = dup(STDERR_FILENO);

	assert_true(fd >= 0 && saved >= 0);
	fflush(stderr);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	run(argument);
	fflush(stderr);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	close(fd);
	return unit_read("stderr", NULL);
}

unsigned unit_names_in(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += strcmp(entry->d_name, ".") != 0 &&
			 strcmp(entry->d_name, "..") != 0;
	closedir(dir);
	return count;
}

unsigned unit_occurrences(const char *text, const char *word)
{
	unsigned count = 0;

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		count++;
	return count;
}

void unit_shell(const char *command)
{
	if (system(command) != 0)
		fail_msg("this failed: %s", command);
}

int unit_child(int (*run)(void *), void *argument)
{
	struct rlimit no_core = { 0, 0 };
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		_exit(run(argument));
	}
	while (waitpid(child, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *unit_status_of(const char *name, const char *process)
{
	static char line[4096];
	char path[64];
	size_t n = strlen(name);
	const char *found = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", process);
	f = fopen(path, "r");
	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			found = line + n + 1 + strspn(line + n + 1, "\t ");
	}
	if (f)
		fclose(f);
	return found ? found : "";
}

void unit_complain(const char *file, int line, const char *wrong)
{
	printf("# %s:%d: %s (%s)\n", file, line, wrong, strerror(errno));
	fflush(stdout);
}
