/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * at_call.c: lets somebody else act between two calls of a program.
 *
 * Preloaded (LD_PRELOAD), it counts the program's calls that follow a path or change a file,
 * over all of its processes, and tells a process that listens when a certain one is about to
 * happen. The call goes on when that has answered.
 *
 *	GRANARY_AT_CALL_COUNT   a file, where the count is; without it nothing happens
 *	GRANARY_AT_CALL         which call: 1 is the first; 0: none
 *	GRANARY_AT_CALL_SOCKET  the abstract name that is connected to then
 *
 * Calls for the machine's own files (/proc, but for descriptors; /sys, /dev, /usr, ...) are
 * not counted: nobody can act upon them.
 */
/* both names of each function are needed: a program may be built to call either */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_MS = 10000 };

static _Atomic long *count;
static long wanted;
static struct sockaddr_un listener = { .sun_family = AF_UNIX };
static socklen_t listener_size;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("GRANARY_AT_CALL_COUNT"), *at = getenv("GRANARY_AT_CALL");
	const char *name = getenv("GRANARY_AT_CALL_SOCKET");
	void *memory;
	long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	memory = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	close((int)fd);
	if (memory == MAP_FAILED)
		return;
	if (name && strlen(name) < sizeof(listener.sun_path) - 1) {
		memcpy(listener.sun_path + 1, name, strlen(name));
		listener_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
					    strlen(name));
	}
	wanted = at ? strtol(at, NULL, 10) : 0;
	count = memory;
}

static void tell(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct pollfd answer = { .fd = fd, .events = POLLIN };
	char byte;

	if (fd >= 0 && connect(fd, (struct sockaddr *)&listener, listener_size) == 0 &&
	    poll(&answer, 1, ANSWER_MS) == 1 && read(fd, &byte, 1) < 0)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

static bool is_the_machines(const char *path)
{
	static const char *const directories[] = { "/proc/", "/sys/", "/dev/", "/etc/", "/usr/",
					       "/lib", "/run/" };

	if (!path || strncmp(path, "/proc/self/fd/", 14) == 0)
		return false;
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		if (strncmp(path, directories[i], strlen(directories[i])) == 0)
			return true;
	}
	return false;
}

/* Before a call: `path` is its first, or NULL. */
static void before(const char *path)
{
	int errnum = errno;

	if (count && !is_the_machines(path) && atomic_fetch_add(count, 1) + 1 == wanted)
		tell();
	errno = errnum;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* A function of these arguments, of which PATH is the one that counts. */
#define CALL(type, name, parameters, path, arguments)       \
	type name parameters;                               \
	type name parameters                                \
	{                                                   \
		static __typeof__(&name) real;              \
							    \
		if (!real)                                  \
			real = REAL(name);                  \
		before(path);                               \
		return real arguments;                      \
	}

static mode_t mode_of(int flags, va_list list)
{
	return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(list, int) : 0;
}

#define OPEN(name)                                          \
	int name(const char *path, int flags, ...)          \
	{                                                   \
		static __typeof__(&name) real;              \
		va_list list;                               \
		mode_t mode;                                \
							    \
		va_start(list, flags);                      \
		mode = mode_of(flags, list);                \
		va_end(list);                               \
		if (!real)                                  \
			real = REAL(name);                  \
		before(path);                               \
		return real(path, flags, mode);             \
	}

#define OPENAT(name)                                        \
	int name(int directory, const char *path, int flags, ...) \
	{                                                   \
		static __typeof__(&name) real;              \
		va_list list;                               \
		mode_t mode;                                \
							    \
		va_start(list, flags);                      \
		mode = mode_of(flags, list);                \
		va_end(list);                               \
		if (!real)                                  \
			real = REAL(name);                  \
		before(path);                               \
		return real(directory, path, flags, mode);     \
	}

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
CALL(int, __open_2, (const char *p, int f), p, (p, f))
CALL(int, __open64_2, (const char *p, int f), p, (p, f))
CALL(int, __openat_2, (int d, const char *p, int f), p, (d, p, f))
CALL(int, __openat64_2, (int d, const char *p, int f), p, (d, p, f))
CALL(FILE *, fopen, (const char *p, const char *m), p, (p, m))
CALL(FILE *, fopen64, (const char *p, const char *m), p, (p, m))
CALL(DIR *, opendir, (const char *p), p, (p))
CALL(int, mkdir, (const char *p, mode_t m), p, (p, m))
CALL(int, mkdirat, (int d, const char *p, mode_t m), p, (d, p, m))
CALL(int, rename, (const char *a, const char *b), a, (a, b))
CALL(int, renameat, (int d, const char *a, int e, const char *b), a, (d, a, e, b))
CALL(int, renameat2, (int d, const char *a, int e, const char *b, unsigned f), a,
     (d, a, e, b, f))
CALL(int, link, (const char *a, const char *b), a, (a, b))
CALL(int, linkat, (int d, const char *a, int e, const char *b, int f), a, (d, a, e, b, f))
CALL(int, symlink, (const char *a, const char *b), b, (a, b))
CALL(int, symlinkat, (const char *a, int e, const char *b), b, (a, e, b))
CALL(int, unlink, (const char *p), p, (p))
CALL(int, unlinkat, (int d, const char *p, int f), p, (d, p, f))
CALL(int, rmdir, (const char *p), p, (p))
CALL(int, stat, (const char *p, struct stat *s), p, (p, s))
CALL(int, stat64, (const char *p, struct stat64 *s), p, (p, s))
CALL(int, lstat, (const char *p, struct stat *s), p, (p, s))
CALL(int, lstat64, (const char *p, struct stat64 *s), p, (p, s))
CALL(int, fstatat, (int d, const char *p, struct stat *s, int f), p, (d, p, s, f))
CALL(int, fstatat64, (int d, const char *p, struct stat64 *s, int f), p, (d, p, s, f))
CALL(int, access, (const char *p, int m), p, (p, m))
CALL(char *, realpath, (const char *p, char *r), p, (p, r))
CALL(int, chmod, (const char *p, mode_t m), p, (p, m))
CALL(int, chown, (const char *p, uid_t u, gid_t g), p, (p, u, g))
CALL(int, lchown, (const char *p, uid_t u, gid_t g), p, (p, u, g))
CALL(int, fchmodat, (int d, const char *p, mode_t m, int f), p, (d, p, m, f))
CALL(int, fchownat, (int d, const char *p, uid_t u, gid_t g, int f), p, (d, p, u, g, f))
CALL(int, fchmod, (int d, mode_t m), NULL, (d, m))
CALL(int, fchown, (int d, uid_t u, gid_t g), NULL, (d, u, g))
CALL(int, fsync, (int d), NULL, (d))
CALL(int, utimensat, (int d, const char *p, const struct timespec t[2], int f), p,
     (d, p, t, f))
CALL(int, mkostemp, (char *p, int f), p, (p, f))
CALL(int, mkostemp64, (char *p, int f), p, (p, f))
CALL(char *, mkdtemp, (char *p), p, (p))
CALL(int, umount2, (const char *p, int f), p, (p, f))
CALL(int, mount, (const char *s, const char *p, const char *t, unsigned long f,
		  const void *o), p, (s, p, t, f, o))

/* openat2(2), move_mount(2) and the like; what they take is one word each. */
long syscall(long number, ...)
{
	static long (*real)(long, long, long, long, long, long, long);
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!real)
		real = (long (*)(long, long, long, long, long, long, long))(uintptr_t)
			dlsym(RTLD_NEXT, "syscall");
#ifdef SYS_openat2
	if (number == SYS_openat2)
		before((const char *)(uintptr_t)a[1]);
#endif
#ifdef SYS_move_mount
	if (number == SYS_move_mount)
		before(NULL);
#endif
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
