/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/sandbox.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "os/child.h"
#include "os/processors.h"
#include "os/memory.h"
#include "os/rights.h"
#include "os/syscalls.h"

/* ---- Landlock ------------------------------------------------------------- */

/* As linux/landlock.h has them, which not every system does. */
enum { CREATE_RULESET = 444, RESTRICT_SELF = 446, QUERY_VERSION = 1 };

struct ruleset {
	uint64_t files, network, scope;
};

/* The rights of each version of the interface, and its size of the struct. */
static const struct {
	struct ruleset handled;
	size_t size;
} versions[] = {
	{ { 0, 0, 0 }, 0 },
	{ { 0x1fff, 0, 0 }, 8 },
	{ { 0x3fff, 0, 0 }, 8 },  /* REFER */
	{ { 0x7fff, 0, 0 }, 8 },  /* TRUNCATE */
	{ { 0x7fff, 3, 0 }, 16 }, /* TCP */
	{ { 0xffff, 3, 0 }, 16 }, /* IOCTL_DEV */
	{ { 0xffff, 3, 3 }, 24 }, /* abstract sockets, signals */
};

enum { VERSIONS = sizeof(versions) / sizeof(versions[0]) };

static int landlock_version(void)
{
	long version = syscall(CREATE_RULESET, NULL, 0, QUERY_VERSION);

	return version > 0 ? (int)version : 0;
}

/* Of files: to read them and to list directories; and the ioctls of devices. */
enum { READING = 0x0004 | 0x0008 | 0x8000 };

/* Handles these rights without a rule that allows any. */
static int forbid_files(bool reading)
{
	struct ruleset set;
	int version = landlock_version(), fd, err = 0;

	if (version == 0)
		return -ENOSYS;
	version = version < VERSIONS ? version : VERSIONS - 1;
	set = versions[version].handled;
	if (!reading)
		set = (struct ruleset){ .files = set.files & ~(uint64_t)READING };
	fd = (int)syscall(CREATE_RULESET, &set, versions[version].size, 0);
	if (fd < 0 || syscall(RESTRICT_SELF, fd, 0) < 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* ---- Memory ----------------------------------------------------------------- */

enum { MEMORY_LEAST = 1 << 30 };

/* Bytes that are allocated: a sanitizer's shadow alone is terabytes. */
static uint64_t sandbox_allocated(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%*s %*s %*s %*s %*s %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * A damaged file makes some libraries allocate for ever (libhdf5 1.10.8: a list of free
 * blocks that is a circle). They fail while a quarter of the memory is left to others.
 */
static void limit_memory(void)
{
	uint64_t available = memory_available(), most = available - available / 4;
	struct rlimit limit;

	if (most < MEMORY_LEAST)
		most = MEMORY_LEAST;
	if (getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_cur <= most ||
	    sandbox_allocated() > most)
		return;
	limit.rlim_cur = limit.rlim_max = most;
	setrlimit(RLIMIT_DATA, &limit);
}

/* ---- All of it ------------------------------------------------------------ */

int sandbox_enter(struct error *e)
{
	const struct rlimit none = { 0, 0 };
	int err;

	tzset(); /* reads a file, which is impossible later */
	processors_count(); /* likewise */
	setrlimit(RLIMIT_CORE, &none);
	limit_memory();
	err = rights_become_nobody(e);
	if (err)
		return err;
	/* a change of ids clears PDEATHSIG */
	if (child_ends_with_parent(getppid()) < 0)
		return error_set(e, ERROR_SYSTEM, ESRCH, "the process that asked has ended");
	err = forbid_files(true);
	if (err)
		log_debug("Landlock: %s", strerror(-err));
	err = syscalls_limit();
	if (err)
		log_debug("seccomp: %s", strerror(-err));
	return 0;
}

void sandbox_forbid_changes(void)
{
	int err = forbid_files(false);

	if (err)
		log_debug("Landlock: %s", strerror(-err));
}

void sandbox_probe(struct sandbox_support *out)
{
	out->calls = syscalls_can_be_limited();
	out->landlock = landlock_version();
	out->nobody = rights_can_be_nobody();
}
