/* SPDX-License-Identifier: GPL-3.0-or-later */
/* faults.c: reads that fail when they are told to. */
#include "faults.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* The linker's names (--wrap); of the two one is what pread is called here. */
ssize_t __wrap_pread(int fd, void *buffer, size_t n, off_t offset);
ssize_t __wrap_pread64(int fd, void *buffer, size_t n, off_t offset);
ssize_t __real_pread64(int fd, void *buffer, size_t n, off_t offset);
ssize_t __wrap_preadv2(int fd, const struct iovec *pieces, int n, off_t offset, int flags);
ssize_t __wrap_preadv64v2(int fd, const struct iovec *pieces, int n, off_t offset,
			  int flags);
int __wrap_dup3(int from, int to, int flags);
int __real_dup3(int from, int to, int flags);

enum { DESCRIPTORS = 4096 };

/*
 * A process without rights (os/sandbox.h) can see neither where a descriptor leads nor
 * whether a file is there. So what was seen before is kept: paths by descriptor, and the
 * directory that a fault's while= is in.
 */
static char paths[DESCRIPTORS][FAULT_PATH_BYTES];
static _Atomic int directories[FAULTS_MOST];

enum { NOT_OPENED = -2 };

static struct fault faults[FAULTS_MOST];
static unsigned fault_count;
static struct fault_counts *counts;
/* Descriptors that dup3 has replaced: of this process, as descriptors are. */
static _Atomic bool replaced[DESCRIPTORS];

/* One call of pread. */
struct call {
	int fd;
	size_t n;
	uint64_t offset;
	char path[PATH_MAX]; /* empty until somebody asks */
};

struct fault_counts *fault_counts_new(unsigned n, const char *path)
{
	size_t size = n * sizeof(struct fault_counts);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	void *memory;

	if (path && (fd < 0 || ftruncate(fd, (off_t)size) < 0))
		fault_refuse("GRANARY_FAULTS_COUNTS", path);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | (path ? 0 : MAP_ANONYMOUS), fd, 0);
	if (memory == MAP_FAILED)
		fault_refuse("GRANARY_FAULTS_COUNTS", strerror(errno));
	if (fd >= 0)
		close(fd);
	return memory;
}

static int directory_of(const char *path)
{
	char directory[FAULT_PATH_BYTES];
	char *slash;

	snprintf(directory, sizeof(directory), "%s", path);
	slash = strrchr(directory, '/');
	if (slash)
		slash[1] = '\0';
	return *path ? open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static void use(const char *text, const char *counts_path)
{
	const char *wrong;
	int n = faults_parse(text, faults, FAULTS_MOST, &wrong);

	if (n < 0)
		fault_refuse("GRANARY_FAULTS", wrong);
	counts = fault_counts_new((unsigned)n, counts_path);
	for (int i = 0; i < n; i++)
		directories[i] = NOT_OPENED;
	fault_count = (unsigned)n;
}

void faults_use(const char *text)
{
	if (fault_count)
		munmap(counts, fault_count * sizeof(*counts));
	fault_count = 0;
	for (unsigned i = 0; i < DESCRIPTORS; i++)
		atomic_store(&replaced[i], false);
	if (text)
		use(text, NULL);
}

uint64_t faults_struck(unsigned number)
{
	return atomic_load(&counts[number].struck);
}

/* Before main, and so before the first fork. */
__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("GRANARY_FAULTS");

	if (text && *text)
		use(text, getenv("GRANARY_FAULTS_COUNTS"));
}

bool fault_strikes(const struct fault_turns *turns, struct fault_counts *c)
{
	uint64_t number = atomic_fetch_add(&c->matched, 1) + 1;

	if (number < turns->from || (number - turns->from) % turns->every != 0 ||
	    (number - turns->from) / turns->every >= turns->count)
		return false;
	atomic_fetch_add(&c->struck, 1);
	return true;
}

/* The descriptor's path, which is kept once it is known. */
static void remember(struct call *call, ssize_t n)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	if (call->fd >= DESCRIPTORS)
		return;
	pthread_mutex_lock(&lock);
	if (n > 0)
		snprintf(paths[call->fd], FAULT_PATH_BYTES, "%s", call->path +
			 (n < FAULT_PATH_BYTES ? 0 : n - FAULT_PATH_BYTES + 1));
	else
		strcpy(call->path, paths[call->fd]);
	pthread_mutex_unlock(&lock);
}

static const char *path_of(struct call *call)
{
	char link[32];
	ssize_t n;

	if (*call->path)
		return call->path;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", call->fd);
	n = readlink(link, call->path, sizeof(call->path) - 1);
	call->path[n > 0 ? n : 0] = '\0';
	remember(call, n);
	return call->path;
}

/* All processes share the descriptor, and where it is. */
static bool is_in_directory(int directory, const char *name)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	char entries[32768];
	bool found = false;
	ssize_t n;

	pthread_mutex_lock(&lock);
	lseek(directory, 0, SEEK_SET);
	while (!found && (n = getdents64(directory, entries, sizeof(entries))) > 0) {
		for (char *at = entries; at < entries + n && !found;
		     at += ((struct dirent64 *)(void *)at)->d_reclen)
			found = strcmp(((struct dirent64 *)(void *)at)->d_name, name) == 0;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

static bool is_present(const struct fault *f)
{
	const char *slash = strrchr(f->present, '/');

	if (access(f->present, F_OK) == 0)
		return true;
	return errno == EPERM && is_in_directory(directories[f - faults], slash ? slash + 1 :
								   f->present);
}

/* t.tar is not t.tar.gidx or t.tar+2-HASH.gidx, which are read in the same way. */
static bool is_at(const char *path, const char *part)
{
	const char *at = strstr(path, part), *behind = at ? at + strlen(part) : ".";

	return *behind != '.' && *behind != '+';
}

static bool matches(const struct fault *f, struct call *call)
{
	if (call->n == 0 || call->offset >= f->end || f->begin >= call->offset + call->n)
		return false;
	if (*f->path && !is_at(path_of(call), f->path))
		return false;
	if (*f->present && !is_present(f))
		return false;
	return f->kind != FAULT_STALE || call->fd >= DESCRIPTORS ||
	       !atomic_load(&replaced[call->fd]);
}

static void wait_a_little(uint64_t ms)
{
	struct timespec time = { .tv_sec = (time_t)(ms / 1000),
				 .tv_nsec = (long)(ms % 1000) * 1000000L };

	nanosleep(&time, NULL);
}

static void be_late(const struct fault *f)
{
	if (f->ms)
		wait_a_little(f->ms);
	while (*f->present && is_present(f))
		wait_a_little(5);
}

static void note(struct call *call)
{
	char line[PATH_MAX + 64];
	int n = snprintf(line, sizeof(line), "note: %zu bytes at %llu of %s\n", call->n,
			 (unsigned long long)call->offset, path_of(call));

	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return;
}

/* Each byte another one, and not all by the same rule. */
static void make_garbage(const struct fault *f, const struct call *call,
			 unsigned char *bytes, ssize_t n)
{
	for (uint64_t i = 0; n > 0 && i < (uint64_t)n; i++) {
		uint64_t at = call->offset + i;

		if (at >= f->begin && at < f->end)
			bytes[i] ^= (unsigned char)(at * UINT64_C(0x9e3779b97f4a7c15) >> 56 | 1);
	}
}

static ssize_t real_read(const struct call *call, void *buffer)
{
	return __real_pread64(call->fd, buffer, call->n, (off_t)call->offset);
}

static ssize_t suffer(const struct fault *f, struct call *call, void *buffer)
{
	ssize_t n;

	switch (f->kind) {
	case FAULT_ERROR:
	case FAULT_STALE:
		errno = f->errnum;
		return -1;
	case FAULT_ZERO:
		return 0;
	case FAULT_SHORT:
		if (f->bytes == 0)
			call->n = (call->n + 1) / 2;
		else if (f->bytes < call->n)
			call->n = (size_t)f->bytes;
		return real_read(call, buffer);
	case FAULT_GARBAGE:
		n = real_read(call, buffer);
		make_garbage(f, call, buffer, n);
		return n;
	case FAULT_NONE:
	case FAULT_LATE:
	case FAULT_NOTE:
	default:
		return real_read(call, buffer);
	}
}

/* Faults that stop a read do so where their bytes begin. */
static bool begins_before(const struct fault *f, const struct call *call)
{
	return call->offset < f->begin &&
	       (f->kind == FAULT_ERROR || f->kind == FAULT_STALE || f->kind == FAULT_ZERO);
}

/* While it can be seen: not before main, which closes what was open by then. */
static void look_around(struct call *call)
{
	path_of(call);
	for (unsigned i = 0; i < fault_count; i++) {
		if (atomic_load(&directories[i]) == NOT_OPENED)
			atomic_store(&directories[i], directory_of(faults[i].present));
	}
}

ssize_t __wrap_pread64(int fd, void *buffer, size_t n, off_t offset)
{
	struct call call = { .fd = fd, .n = n, .offset = (uint64_t)offset };

	if (fault_count)
		look_around(&call);
	for (unsigned i = 0; i < fault_count; i++) {
		const struct fault *f = &faults[i];

		if (!matches(f, &call))
			continue;
		if (begins_before(f, &call)) {
			call.n = (size_t)(f->begin - call.offset);
			continue;
		}
		if (!fault_strikes(&f->turns, &counts[i]))
			continue;
		if (f->kind == FAULT_LATE)
			be_late(f);
		else if (f->kind == FAULT_NOTE)
			note(&call);
		else
			return suffer(f, &call, buffer);
	}
	return real_read(&call, buffer);
}

ssize_t __wrap_pread(int fd, void *buffer, size_t n, off_t offset)
{
	return __wrap_pread64(fd, buffer, n, offset);
}

/* Pages that the kernel holds would come past the faults: it holds none. */
ssize_t __wrap_preadv2(int fd, const struct iovec *pieces, int n, off_t offset, int flags)
{
	(void)fd, (void)pieces, (void)n, (void)offset, (void)flags;
	errno = EAGAIN;
	return -1;
}

ssize_t __wrap_preadv64v2(int fd, const struct iovec *pieces, int n, off_t offset, int flags)
{
	return __wrap_preadv2(fd, pieces, n, offset, flags);
}

int __wrap_dup3(int from, int to, int flags)
{
	int fd = __real_dup3(from, to, flags);

	if (fd >= 0 && fd < DESCRIPTORS)
		atomic_store(&replaced[fd], true);
	return fd;
}
