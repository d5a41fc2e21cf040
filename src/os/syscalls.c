/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * syscalls.c: a list of allowed calls, since calls of later kernels must be denied.
 * No libseccomp: the filter is a table and forty lines, and both programs would link it.
 */
#include "os/syscalls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#else
#define MACHINE 0 /* the table is untested there */
#endif

/* Of x86: the same numbers for a third kind of program, which no table is of. */
enum { X32 = 0x40000000 };

/* As linux/fcntl.h and linux/sched.h have them. */
enum { SEALS_ADD = 1033, SEALS_GET = 1034 };

enum { NO_ARGUMENT = -1, OWN_PROCESS = -1 };

/*
 * Allowed where the low half of the argument, masked, is this value. The kernel takes no
 * more of an int; of an address the high half counts, and has to be 0.
 */
struct rule {
	int call;
	int argument;
	uint32_t mask, value;
	bool address;
};

#define ALWAYS(call) { SYS_##call, NO_ARGUMENT, 0, 0, false }
#define EXACTLY(call, argument, value) { SYS_##call, argument, UINT32_MAX, value, false }
#define MASKED(call, argument, mask, value) { SYS_##call, argument, mask, value, false }
#define WITHOUT(call, argument) { SYS_##call, argument, UINT32_MAX, 0, true }

/* The most frequent calls come first: older kernels run through the filter each time. */
static const struct rule allowed[] = {
	ALWAYS(pread64), ALWAYS(pwrite64), ALWAYS(read), ALWAYS(write), ALWAYS(futex),
	ALWAYS(sendmsg), ALWAYS(recvmsg), ALWAYS(fadvise64), ALWAYS(preadv2), ALWAYS(close),
	ALWAYS(lseek), ALWAYS(fstat), ALWAYS(ftruncate), ALWAYS(getdents64),
	ALWAYS(fstatfs), /* room that is left for a file that is unpacked */
	ALWAYS(readv), ALWAYS(writev), ALWAYS(preadv), ALWAYS(dup3), ALWAYS(ppoll),
	/*
	 * The type and size of a descriptor: libc's fstat(3), with the name "". A filter
	 * cannot see the name, and Landlock forbids no stat: so a process that was taken
	 * over can ask, as nobody, whether a name is there and how large that is. The call
	 * opens nothing.
	 */
	MASKED(newfstatat, 3, AT_EMPTY_PATH, AT_EMPTY_PATH),
	EXACTLY(fcntl, 1, F_GETFD), EXACTLY(fcntl, 1, F_SETFD), EXACTLY(fcntl, 1, F_GETFL),
	EXACTLY(fcntl, 1, F_DUPFD_CLOEXEC), EXACTLY(fcntl, 1, SEALS_ADD),
	EXACTLY(fcntl, 1, SEALS_GET),
	/* how wide a terminal is, and whether it is one */
	EXACTLY(ioctl, 1, TCGETS), EXACTLY(ioctl, 1, TIOCGWINSZ),
	/* memory, none of which becomes code */
	MASKED(mmap, 2, PROT_EXEC, 0), MASKED(mprotect, 2, PROT_EXEC, 0), ALWAYS(munmap),
	ALWAYS(mremap), ALWAYS(madvise), ALWAYS(brk), ALWAYS(mincore), ALWAYS(memfd_create),
	/* threads, not processes */
	MASKED(clone, 0, CLONE_THREAD | CLONE_NEWUSER | CLONE_NEWNS, CLONE_THREAD),
	ALWAYS(set_robust_list), ALWAYS(sched_yield), ALWAYS(sched_getaffinity),
	ALWAYS(gettid), ALWAYS(getpid), ALWAYS(getppid), ALWAYS(exit), ALWAYS(exit_group),
#ifdef SYS_rseq
	ALWAYS(rseq),
#endif
	/* signals to itself: abort(3) */
	EXACTLY(tgkill, 0, (uint32_t)OWN_PROCESS), ALWAYS(rt_sigaction),
	ALWAYS(rt_sigprocmask), ALWAYS(rt_sigreturn), ALWAYS(sigaltstack),
	ALWAYS(restart_syscall),
	ALWAYS(clock_gettime), ALWAYS(clock_getres), ALWAYS(clock_nanosleep),
	ALWAYS(nanosleep), ALWAYS(gettimeofday), ALWAYS(getrandom), ALWAYS(sysinfo),
	ALWAYS(uname), ALWAYS(getrusage), ALWAYS(times),
	ALWAYS(getuid), ALWAYS(geteuid), ALWAYS(getgid), ALWAYS(getegid), ALWAYS(umask),
	WITHOUT(prlimit64, 2), EXACTLY(prctl, 0, PR_SET_NAME),
#ifdef SYS_poll
	ALWAYS(poll),
#endif
};

/* libc tries these first, and falls back to others on ENOSYS. */
static const int unknown[] = {
#ifdef SYS_clone3
	SYS_clone3,
#endif
	SYS_statx,
};

enum {
	RULES = sizeof(allowed) / sizeof(allowed[0]),
	UNKNOWN = sizeof(unknown) / sizeof(unknown[0]),
	RULE_STEPS = 8, HEAD_STEPS = 8,
};

struct filter {
	struct sock_filter steps[HEAD_STEPS + RULES * RULE_STEPS + 2 * UNKNOWN + 1];
	unsigned short count;
};

static void syscalls_step(struct filter *f, uint16_t code, uint32_t k, uint8_t yes,
			  uint8_t no)
{
	f->steps[f->count++] = (struct sock_filter){ code, yes, no, k };
}

static void syscalls_load(struct filter *f, size_t offset)
{
	syscalls_step(f, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void load_call(struct filter *f)
{
	syscalls_load(f, offsetof(struct seccomp_data, nr));
}

static void syscalls_end(struct filter *f, uint32_t action)
{
	syscalls_step(f, BPF_RET | BPF_K, action, 0, 0);
}

static void syscalls_refuse(struct filter *f, int errnum)
{
	syscalls_end(f, SECCOMP_RET_ERRNO | (uint32_t)errnum);
}

/* Little-endian machines, both: the low half of an argument comes first. */
static void add_rule(struct filter *f, const struct rule *rule)
{
	const size_t at = offsetof(struct seccomp_data, args) +
			  (size_t)rule->argument * sizeof(uint64_t);
	const uint8_t more = rule->address ? 2 : 0;
	uint32_t value = rule->value;

	if (rule->argument == NO_ARGUMENT) {
		syscalls_step(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->call, 0, 1);
		syscalls_end(f, SECCOMP_RET_ALLOW);
		return;
	}
	if (rule->call == SYS_tgkill && value == (uint32_t)OWN_PROCESS)
		value = (uint32_t)getpid();
	syscalls_step(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)rule->call, 0, 5 + more);
	syscalls_load(f, at);
	syscalls_step(f, BPF_ALU | BPF_AND | BPF_K, rule->mask, 0, 0);
	syscalls_step(f, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1 + more);
	if (rule->address) {
		syscalls_load(f, at + sizeof(uint32_t));
		syscalls_step(f, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	}
	syscalls_end(f, SECCOMP_RET_ALLOW);
	load_call(f);
}

/* Another machine's calls, as of 32-bit programs, have other numbers: none is allowed. */
static void make_filter(struct filter *f)
{
	f->count = 0;
	syscalls_load(f, offsetof(struct seccomp_data, arch));
	syscalls_step(f, BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0);
	syscalls_refuse(f, EPERM);
	load_call(f);
	syscalls_step(f, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
	syscalls_refuse(f, EPERM);
	for (size_t i = 0; i < RULES; i++)
		add_rule(f, &allowed[i]);
	for (size_t i = 0; i < UNKNOWN; i++) {
		syscalls_step(f, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)unknown[i], 0, 1);
		syscalls_refuse(f, ENOSYS);
	}
	syscalls_refuse(f, EPERM);
}

int syscalls_limit(void)
{
	struct filter filter;
	struct sock_fprog program = { .filter = filter.steps };

	if (!MACHINE)
		return -ENOSYS;
	make_filter(&filter);
	program.len = filter.count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) < 0)
		return errno == EINVAL ? -ENOSYS : -errno;
	return 0;
}

bool syscalls_can_be_limited(void)
{
	/* a filter at no address: the kernel that knows filters looks there */
	return MACHINE && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0 &&
	       errno == EFAULT;
}
