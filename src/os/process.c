/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { CLOSER_STACK_BYTES = 64 << 10 };
enum { OOM_STEP = 10, OOM_MOST = 1000 }; /* thousandths of all memory */

/* The state in a stat file of proc(5), behind the name, which may contain anything. */
static char process_state_of(int directory, const char *path)
{
	CLEANUP(cleanup_close) int fd = openat(directory, path, O_RDONLY | O_CLOEXEC);
	char line[512];
	const char *end;
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);

	if (n <= 0) /* it has ended, or is hidden */
		return errno == ENOENT || errno == ESRCH ? 'X' : '?';
	line[n] = '\0';
	end = strrchr(line, ')');
	return end && end[1] == ' ' ? end[2] : '?';
}

/*
 * Since Linux 4.15: does it wait for its other threads, to dump core? Also with a core
 * limit of 0, which is checked later.
 */
static bool dumps_core(pid_t process)
{
	char path[64], line[128];
	bool dumps = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)process);
	status = fopen(path, "re");
	while (status && !dumps && fgets(line, sizeof(line), status))
		dumps = strcmp(line, "CoreDumping:\t1\n") == 0;
	if (status)
		fclose(status);
	return dumps;
}

/* State I: a thread that waits for the end of a core dump. */
static bool threads_are_stuck(DIR *threads)
{
	struct dirent *entry;
	char path[300];

	while ((entry = readdir(threads))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.255s/stat", entry->d_name);
		if (!strchr("DIZX", process_state_of(dirfd(threads), path)))
			return false;
	}
	return true;
}

/* Does a link of /proc lead into the directory? */
static bool links_into(int proc, const char *process, const char *link,
		       const char *directory)
{
	char path[300], target[PATH_MAX];
	size_t size = strlen(directory);
	ssize_t n;

	snprintf(path, sizeof(path), "%.255s/%s", process, link);
	n = readlinkat(proc, path, target, sizeof(target));
	return n >= (ssize_t)size && memcmp(target, directory, size) == 0 &&
	       (n == (ssize_t)size || target[size] == '/');
}

/* The first process that a test of its directory of /proc is true for. */
static pid_t process_find(bool (*is_it)(int proc, const char *process, const char *context),
			  const char *context)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	while (proc && !found && (entry = readdir(proc))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    is_it(dirfd(proc), entry->d_name, context))
			found = (pid_t)strtol(entry->d_name, NULL, 10);
	}
	if (proc)
		closedir(proc);
	return found;
}

static bool process_works_in(int proc, const char *process, const char *directory)
{
	return links_into(proc, process, "cwd", directory) ||
	       links_into(proc, process, "root", directory);
}

pid_t process_working_in(const char *directory)
{
	return process_find(process_works_in, directory);
}

static bool process_is_cp(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strcmp(slash ? slash + 1 : program, "cp") == 0;
}

bool process_stays_on_device(const char *arguments, size_t size)
{
	static const char option[] = "--one-file-system";
	const char *end = arguments + size;
	bool cp;

	if (size == 0 || end[-1] != '\0')
		return false;
	cp = process_is_cp(arguments);
	for (const char *word = arguments + strlen(arguments) + 1;
	     word < end && strcmp(word, "--") != 0; word += strlen(word) + 1) {
		/* getopt_long(3) takes an option's beginning, too */
		if (strncmp(word, "--one", 5) == 0 && strncmp(word, option, strlen(word)) == 0)
			return true;
		if (cp && word[0] == '-' && word[1] != '-' && strchr(word, 'x'))
			return true;
	}
	return false;
}

/* The options come early in a command line that is cut. */
static bool process_is_on_device(int proc, const char *process, const char *context)
{
	char path[300], line[4096];
	ssize_t n;

	(void)context;
	snprintf(path, sizeof(path), "%.255s/cmdline", process);
	CLEANUP(cleanup_close) int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	if (n <= 0)
		return false;
	line[n] = '\0'; /* ends the last word, which may be cut, or is empty */
	return process_stays_on_device(line, (size_t)n + 1);
}

pid_t process_find_on_device(void)
{
	return process_find(process_is_on_device, NULL);
}

/* Asks the kernel: /proc may hide other users' processes (hidepid=). */
static bool process_exists(pid_t process)
{
	siginfo_t end = { .si_pid = 0 };

	if (kill(process, 0) < 0 && errno == ESRCH)
		return false;
	return waitid(P_PID, (id_t)process, &end, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	       end.si_pid != process;
}

bool process_cannot_run(pid_t process)
{
	char path[64], state;
	DIR *threads;
	bool beyond;

	if (!process_exists(process))
		return true;
	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)process);
	state = process_state_of(AT_FDCWD, path);
	if (state != 'Z' && !(strchr("DI", state) && dumps_core(process)))
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/task", (long)process);
	threads = opendir(path);
	if (!threads)
		return !process_exists(process);
	beyond = threads_are_stuck(threads);
	closedir(threads);
	return beyond;
}

bool process_is_stopped(pid_t process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)process);
	return process_state_of(AT_FDCWD, path) == 'T';
}

const int process_faults[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP };

_Static_assert(sizeof(process_faults) / sizeof(*process_faults) == PROCESS_FAULTS, "all");

bool process_ended_by_fault(int status)
{
	for (size_t i = 0; i < PROCESS_FAULTS; i++) {
		if (status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == process_faults[i])
			return true;
	}
	return false;
}

bool process_limits_lowered(pid_t child)
{
	struct rlimit ours, its;

	for (int i = 0; i < (int)RLIM_NLIMITS; i++) {
		if (getrlimit((__rlimit_resource_t)i, &ours) == 0 &&
		    prlimit(child, (enum __rlimit_resource)i, NULL, &its) == 0 &&
		    (its.rlim_cur < ours.rlim_cur || its.rlim_max < ours.rlim_max))
			return true;
	}
	return false;
}

uint64_t process_oom_kills(void)
{
	FILE *table = fopen("/proc/vmstat", "re");
	unsigned long long kills = 0;
	char line[128];

	while (table && fgets(line, sizeof(line), table)) {
		if (sscanf(line, "oom_kill %llu", &kills) == 1)
			break;
	}
	if (table)
		fclose(table);
	return kills;
}

void process_prefer_oom_kill(void)
{
	CLEANUP(cleanup_close) int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	long score;

	if (n <= 0)
		return;
	text[n] = '\0';
	score = strtol(text, NULL, 10) + OOM_STEP;
	n = snprintf(text, sizeof(text), "%ld", score < OOM_MOST ? score : OOM_MOST);
	if (pwrite(fd, text, (size_t)n, 0) < 0)
		return; /* then it is as likely as the parent */
}

/* Its exit closes the descriptors, after the parent has ended. */
static int close_in_child(void *parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == *(const pid_t *)parent)
		pause();
	return 0;
}

void process_leave(int status)
{
	static alignas(max_align_t) char stack[CLOSER_STACK_BYTES];
	pid_t parent = getpid();

	fflush(NULL);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	/* without this child, the exit itself waits */
	clone(close_in_child, stack + sizeof(stack), CLONE_FILES | SIGCHLD, &parent);
	_exit(status);
}
