/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that works on strangers' bytes may use its own descriptors and memory. Each
 * try is of a child that is in the sandbox. Root, who becomes nobody there, runs all of it.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/broker.h"
#include "os/sandbox.h"

enum { OUTSIDE = 99 };

static int scratch = -1; /* a file that was open before */

/* The child's exit status; OUTSIDE where it could not enter. */
static int inside(int (*try)(void))
{
	pid_t child = fork();
	struct error e;
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		if (sandbox_enter(&e) < 0)
			_exit(OUTSIDE);
		_exit(try());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* ---- Calls that are refused ----------------------------------------------- */

static bool refused(long result)
{
	return result < 0 && (errno == EPERM || errno == EACCES);
}

/* A sanitizer's shadow is terabytes. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define HAS_LIMIT

/* A library that a damaged file leads in a circle. */
static int try_memory(void)
{
	enum { PIECE = 64 << 20 };
	struct rlimit limit;
	rlim_t got = 0;

	if (getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_max < 1 << 30)
		return 1;
	while (got <= limit.rlim_max && mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		got += PIECE;
	return got > limit.rlim_max;
}

static void test_memory(void **state)
{
	(void)state;
	assert_int_equal(inside(try_memory), 0);
}
#endif

static int try_open(void)
{
	return refused(open("/dev/null", O_RDONLY)) ? 0 : 1;
}

static int try_make(void)
{
	return refused(open("/tmp/sandbox-test", O_WRONLY | O_CREAT, 0600)) &&
	       refused(mkdir("/tmp/sandbox-test", 0700)) && refused(unlink("/tmp/x")) &&
	       refused(symlink("/", "/tmp/sandbox-test")) &&
	       refused(rename("/tmp/x", "/tmp/y")) ? 0 : 1;
}

static int try_stat(void)
{
	struct stat st;

	return refused(stat("/", &st)) ? 0 : 1;
}

static int try_socket(void)
{
	return refused(socket(AF_INET, SOCK_STREAM, 0)) &&
	       refused(socket(AF_UNIX, SOCK_STREAM, 0)) ? 0 : 1;
}

static int try_run(void)
{
	char *none[] = { NULL };

	execve("/bin/true", none, none);
	return refused(-1) ? 0 : 1;
}

static int try_fork(void)
{
	return refused(fork()) && refused(syscall(SYS_clone, 0x10000000 | SIGCHLD, 0)) ?
	       0 : 1;
}

static int try_trace(void)
{
	return refused(ptrace(PTRACE_ATTACH, getppid(), 0, 0)) ? 0 : 1;
}

static int try_kill(void)
{
	return refused(kill(getppid(), 0)) &&
	       refused(syscall(SYS_tgkill, getppid(), getppid(), 0)) ? 0 : 1;
}

static int try_mount(void)
{
	return refused(mount("none", "/mnt", "tmpfs", 0, NULL)) ? 0 : 1;
}

static int try_change(void)
{
	return refused(chmod("/tmp", 0777)) && refused(fchmod(scratch, 0777)) &&
	       refused(fchown(scratch, 0, 0)) && refused(chdir("/")) ? 0 : 1;
}

static int try_become(void)
{
	return refused(setuid(0)) && refused(setgid(0)) &&
	       refused(prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)) ? 0 : 1;
}

static int try_code(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	return page != MAP_FAILED && refused(mprotect(page, 4096, PROT_READ | PROT_EXEC)) ?
	       0 : 1;
}

/* An address whose low half is that of none. */
static int try_limits(void)
{
	const uintptr_t low = UINT32_MAX;
	void *room = mmap(NULL, 2 * (low + 1), PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct rlimit *limit = (struct rlimit *)(((uintptr_t)room + low) & ~low);

	if (room == MAP_FAILED || syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, limit) < 0)
		return 2;
	return refused(syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, limit, NULL)) ? 0 : 1;
}

static void test_refused(void **state)
{
	static const struct {
		const char *name;
		int (*try)(void);
	} tries[] = {
		{ "open", try_open },     { "make", try_make },     { "stat", try_stat },
		{ "socket", try_socket }, { "run", try_run },       { "fork", try_fork },
		{ "trace", try_trace },   { "kill", try_kill },     { "mount", try_mount },
		{ "change", try_change }, { "become", try_become }, { "code", try_code },
		{ "limits", try_limits },
	};
	struct sandbox_support support;

	(void)state;
	sandbox_probe(&support);
	if (!support.calls)
		skip();
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		print_message("# %s\n", tries[i].name);
		assert_int_equal(inside(tries[i].try), 0);
	}
}

#ifdef __x86_64__
/* getpid, by the calls of 32-bit programs, and of x32. */
static int try_other_machine(void)
{
	int number = 20;

	__asm__ volatile("int $0x80" : "+a"(number) : : "memory", "r8", "r9", "r10", "r11");
	return number == -EPERM && refused(syscall(0x40000000 | SYS_getpid)) ? 0 : 1;
}

static void test_other_machine(void **state)
{
	struct sandbox_support support;

	(void)state;
	sandbox_probe(&support);
	if (!support.calls)
		skip();
	assert_int_equal(inside(try_other_machine), 0);
}
#endif

/* ---- What is left --------------------------------------------------------- */

static const char *status_of(const char *name, pid_t process)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)process);
	return unit_status_of(name, number);
}

static void test_rights(void **state)
{
	struct sandbox_support support;
	int ends[2], status;
	pid_t child;
	char byte;

	(void)state;
	sandbox_probe(&support);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	child = fork();
	if (child == 0) {
		struct error e;

		close(ends[0]);
		byte = sandbox_enter(&e) < 0 ? 'n' : 'y';
		if (write(ends[1], &byte, 1) != 1 || read(ends[1], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(byte, 'y');
	assert_string_equal(status_of("CapEff", child), "0000000000000000");
	assert_string_equal(status_of("CapPrm", child), "0000000000000000");
	assert_string_equal(status_of("CapInh", child), "0000000000000000");
	assert_string_equal(status_of("CapAmb", child), "0000000000000000");
	assert_string_equal(status_of("NoNewPrivs", child), "1");
	if (support.calls)
		assert_string_equal(status_of("Seccomp", child), "2");
	if (geteuid() == 0 && support.nobody) {
		assert_string_equal(status_of("CapBnd", child), "0000000000000000");
		assert_string_equal(status_of("Uid", child), "65534\t65534\t65534\t65534");
		assert_string_equal(status_of("Gid", child), "65534\t65534\t65534\t65534");
		assert_string_equal(status_of("Groups", child), "");
	}
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* A process that may only change nothing reads all that it could. */
static int try_reading(void)
{
	struct sandbox_support support;
	char name[] = "/tmp/sandbox-test-XXXXXX";
	int made = mkstemp(name), fd;

	sandbox_probe(&support);
	if (made < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return 1;
	sandbox_forbid_changes();
	fd = open(name, O_RDONLY);
	if (fd < 0 || open("/tmp", O_RDONLY | O_DIRECTORY) < 0 || write(made, "x", 1) != 1)
		return 2;
	if (!support.landlock)
		return unlink(name);
	return refused(open(name, O_WRONLY)) && refused(unlink(name)) &&
	       refused(mkdir("/tmp/sandbox-test", 0700)) && refused(mount("none", "/mnt",
	       "tmpfs", 0, NULL)) ? 0 : 3;
}

static void test_reading(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0)
		_exit(try_reading());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	unit_shell("rm -f /tmp/sandbox-test-??????");
}

static void *add_one(void *number)
{
	++*(int *)number;
	return NULL;
}

/* Bytes, memory and threads. */
static int try_work(void)
{
	char *memory = malloc(64 << 20);
	struct rlimit limit;
	pthread_t thread;
	struct stat st;
	int number = 1;

	if (!memory || fstat(scratch, &st) < 0 || pread(scratch, memory, 5, 0) != 5 ||
	    memcmp(memory, "bytes", 5) != 0 || pwrite(scratch, "other", 5, 5) != 5)
		return 1;
	memset(memory, 1, 64 << 20);
	free(memory);
	if (pthread_create(&thread, NULL, add_one, &number) != 0 ||
	    pthread_join(thread, NULL) != 0 || number != 2)
		return 2;
	return memfd_create("x", MFD_CLOEXEC) >= 0 &&
	       getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0 ? 0 : 3;
}

static void test_work(void **state)
{
	char bytes[10];

	(void)state;
	assert_int_equal(inside(try_work), 0);
	assert_int_equal(pread(scratch, bytes, 10, 0), 10);
	assert_memory_equal(bytes, "bytesother", 10);
}

static int try_abort(void)
{
	signal(SIGABRT, SIG_DFL);
	abort();
}

/* The signal that a library dies of is reported. */
static void test_abort(void **state)
{
	pid_t child = fork();
	struct error e;
	int status;

	(void)state;
	if (child == 0) {
		sandbox_enter(&e);
		try_abort();
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* ---- The broker ----------------------------------------------------------- */

enum { CALL_TWICE = 1, CALL_FILE, CALL_NOTHING };

static int serve(void *context, const struct broker_request *question,
		 struct broker_reply *answer)
{
	assert_ptr_equal(context, &scratch);
	switch (question->kind) {
	case CALL_TWICE:
		memcpy(answer->data, question->data, question->size);
		memcpy((char *)answer->data + question->size, question->data,
		       question->size);
		answer->size = 2 * question->size;
		return 0;
	case CALL_FILE:
		answer->fd = scratch;
		return 0;
	default:
		return -ENOENT;
	}
}

static int ask(struct broker *broker)
{
	char text[16];
	size_t size = sizeof(text);
	int fd;

	for (unsigned channel = 0; channel < 2; channel++) {
		size = sizeof(text);
		if (broker_call(broker, channel, CALL_TWICE, "ab", 2, text, &size,
				NULL) < 0 ||
		    size != 4 || memcmp(text, "abab", 4) != 0)
			return 1;
	}
	if (broker_call(broker, 1, CALL_FILE, NULL, 0, NULL, NULL, &fd) < 0 ||
	    pread(fd, text, 5, 0) != 5 || memcmp(text, "bytes", 5) != 0)
		return 2;
	if (broker_call(broker, 0, CALL_NOTHING, NULL, 0, NULL, NULL, &fd) != -ENOENT ||
	    fd != -1)
		return 3;
	size = 3; /* what does not fit is no answer */
	return broker_call(broker, 0, CALL_TWICE, "ab", 2, text, &size,
			   NULL) == -EBADMSG ? 0 : 4;
}

static void test_hatch(void **state)
{
	struct broker *broker;
	struct error e;
	int status;
	pid_t child;

	(void)state;
	assert_int_equal(broker_open(&broker, 2, serve, &scratch), 0);
	child = fork();
	if (child == 0) {
		broker_start_child(broker);
		_exit(sandbox_enter(&e) < 0 ? OUTSIDE : ask(broker));
	}
	assert_int_equal(broker_start_parent(broker), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	broker_close(broker);
}

static int make_scratch(void **state)
{
	(void)state;
	scratch = memfd_create("scratch", MFD_CLOEXEC);
	return scratch >= 0 && pwrite(scratch, "bytes", 5, 0) == 5 ? 0 : -1;
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_refused),
#ifdef __x86_64__
	cmocka_unit_test(test_other_machine),
#endif
	cmocka_unit_test(test_rights),
#ifdef HAS_LIMIT
	cmocka_unit_test(test_memory),
#endif
	cmocka_unit_test(test_reading),
	cmocka_unit_test(test_work),
	cmocka_unit_test(test_abort),
	cmocka_unit_test(test_hatch),
};

UNIT_MAIN_IN(tests, make_scratch, NULL)
