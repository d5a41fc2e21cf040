/* Whether a process can still do anything. */
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/process.h"

enum { PATIENCE = 5000 }; /* milliseconds */

static bool is_soon(pid_t process, bool beyond)
{
	for (int i = 0; i < PATIENCE && process_is_beyond(process) != beyond; i++)
		usleep(1000);
	return process_is_beyond(process) == beyond;
}

static void test_of_one_thread(void **state)
{
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_false(process_is_beyond(getpid()));
	assert_false(process_is_beyond(child));
	assert_false(process_is_stopped(child));
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
	assert_true(process_is_stopped(child));
	assert_false(process_is_beyond(child));
	kill(child, SIGKILL);
	assert_true(is_soon(child, true)); /* dead, not reaped */
	assert_false(process_is_stopped(child));
	waitpid(child, NULL, 0);
	assert_true(process_is_beyond(child)); /* there is none */
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

/* ThreadSanitizer has a thread of its own in every process, which waits for no vfork. */
#if !defined(__SANITIZE_THREAD__) && defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

static const struct CMUnitTest process[] = {
	cmocka_unit_test(test_of_one_thread),
#ifndef __SANITIZE_THREAD__
	cmocka_unit_test(test_of_several_threads),
#endif
};

UNIT_MAIN(process)
