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


static char folder[64];

/* Whoever runs tests in the background may ignore what they send themselves. */
static void heed_signals(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD };

	for (size_t i = 0; i < COUNT(numbers); i++)
		signal(numbers[i], SIG_DFL);
}

void unit_begin(void)
{
	heed_signals();
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
	snprintf(folder, sizeof(folder), "/tmp/granary-unit-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	return chdir(folder);
}

int unit_leave(void **state)
{
	(void)state;
	if (chdir("/") < 0)
		return -1;
	return nftw(folder, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

const char *unit_folder(void)
{
	return folder;
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
