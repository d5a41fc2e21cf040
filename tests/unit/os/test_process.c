/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a process can still do anything. */
#include "unit.h"

#include <limits.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/process.h"

enum { PATIENCE = 5000 }; /* milliseconds */

static bool is_soon(pid_t process, bool beyond)
{
	for (int i = 0; i < PATIENCE && process_cannot_run(process) != beyond; i++)
		usleep(1000);
	return process_cannot_run(process) == beyond;
}

static void test_of_one_thread(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_false(process_cannot_run(getpid()));
	assert_false(process_cannot_run(child));
	assert_false(process_is_stopped(child));
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
	assert_true(process_is_stopped(child));
	assert_false(process_cannot_run(child));
	kill(child, SIGKILL);
	assert_true(is_soon(child, true)); /* dead, not reaped */
	assert_false(process_is_stopped(child));
	waitpid(child, NULL, 0);
	assert_true(process_cannot_run(child)); /* there is none */
}

/* Root without the right to trace, to whom /proc hides others' processes. */
static void hide_others(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2];

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, "hidepid=2,gid=65533") < 0 ||
	    syscall(SYS_capget, &header, sets) < 0)
		_exit(77);
	sets[0].effective &= ~(1U << CAP_SYS_PTRACE);
	if (syscall(SYS_capset, &header, sets) < 0)
		_exit(77);
}

/* 0: it was seen for what it is. */
static int look_at_hidden(void)
{
	pid_t child;
	int result;

	hide_others();
	child = fork();
	if (child == 0) {
		if (setgid(65534) == 0 && setuid(65534) == 0)
			pause();
		_exit(0);
	}
	usleep(100000); /* it becomes somebody else */
	result = process_cannot_run(child) || process_is_stopped(child);
	kill(child, SIGKILL);
	return result || !is_soon(child, true) || waitpid(child, NULL, 0) != child ||
	       !process_cannot_run(child) ? 1 : 0;
}

static void test_of_hidden_ones(void **state)
{
	pid_t child;
	int status;

	(void)state;
	if (geteuid() != 0)
		skip();
	child = fork();
	if (child == 0)
		_exit(look_at_hidden());
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(); /* not in this container */
	assert_int_equal(status, 0);
}

/* vfork(2) keeps its caller in state D until the child has ended: until the pipe has. */
static void *wait_in_vfork(void *argument)
{
	int *fds = argument;
	char byte;

	if (vfork() == 0) {
		while (read(fds[0], &byte, 1) > 0)
			;
		_exit(0);
	}
	pause();
	return NULL;
}

/* A process whose main thread is dead, while another one lives. */
static pid_t leave_thread(int *fds, void *(*run)(void *))
{
	pid_t child = fork();
	pthread_t thread;

	if (child == 0) {
		close(fds[1]);
		pthread_create(&thread, NULL, run, fds);
		syscall(SYS_exit, 0);
	}
	close(fds[0]);
	return child;
}

__attribute__((unused)) static void test_of_several_threads(void **state)
{
	pid_t child;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = leave_thread(fds, wait_in_vfork);
	assert_true(is_soon(child, true)); /* in state D */
	close(fds[1]);
	assert_true(is_soon(child, false)); /* it waits where signals end it */
	kill(child, SIGKILL);
	assert_true(is_soon(child, true));
	waitpid(child, NULL, 0);
}

/* A child that has entered the directory, and waits. */
static pid_t child_in(const char *directory)
{
	pid_t child = fork();

	if (child == 0) {
		if (chdir(directory) == 0)
			raise(SIGSTOP);
		_exit(1);
	}
	assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void test_who_works_in_a_directory(void **state)
{
	char *directory = realpath(".", NULL), inner[PATH_MAX], longer[PATH_MAX];
	pid_t child;

	(void)state;
	assert_non_null(directory);
	snprintf(inner, sizeof(inner), "%s/works/inner", directory);
	snprintf(longer, sizeof(longer), "%s/works-longer", directory);
	assert_int_equal(mkdir("works", 0700), 0);
	assert_int_equal(mkdir("works/inner", 0700), 0);
	assert_int_equal(mkdir("works-longer", 0700), 0);
	child = child_in(longer);
	assert_int_equal(process_working_in(longer), child);
	longer[strlen(directory) + strlen("/works")] = '\0';
	assert_int_equal(process_working_in(longer), 0); /* works */
	end_child(child);
	child = child_in(inner);
	assert_int_equal(process_working_in(longer), child);
	assert_int_equal(process_working_in(inner), child);
	end_child(child);
	assert_int_equal(process_working_in(longer), 0);
	free(directory);
}

/* ThreadSanitizer has a thread of its own in every process, which waits for no vfork. */
#if !defined(__SANITIZE_THREAD__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

static const struct process_row {
	const char *line; /* a space in the place of each NUL */
	bool stays;
} process_rows[] = {
	{ "cp -x a b", true },
	{ "cp -ax a b", true },
	{ "/bin/cp -r --one-file-system a b", true },
	{ "cp -r --one a b", true },
	{ "restic backup --one-file-system /data", true },
	{ "cp -r a b", false },
	{ "cp -r -- -x b", false },
	{ "cp -r a/-x/b c", false },
	{ "cp --context a b", false },
	{ "scp -x a b", false },
	{ "set -x", false },
	{ "tool --one-fish", false },
	{ "tool --on", false },
	{ "cp", false },
	{ "", false },
};

static void test_who_stays_on_a_device(void **state)
{
	const struct process_row *row = &process_rows[unit_row(state)];
	size_t size = strlen(row->line) + 1;
	char line[64];

	memcpy(line, row->line, size);
	for (size_t i = 0; i < size; i++)
		line[i] = line[i] == ' ' ? '\0' : line[i];
	assert_int_equal(process_stays_on_device(line, size), row->stays);
	assert_false(process_stays_on_device(line, 0));
}

static const struct CMUnitTest process[] = {
	cmocka_unit_test(test_of_one_thread),
	cmocka_unit_test(test_of_hidden_ones),
	cmocka_unit_test(test_who_works_in_a_directory),
	unit_table(test_who_stays_on_a_device, process_rows, line),
#ifndef __SANITIZE_THREAD__
	cmocka_unit_test(test_of_several_threads),
#endif
};

UNIT_MAIN(process)
