/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/processors.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "os/cpu_quota.h"

enum { PROCESSORS_MOST = 8192 }; /* a cpu_set_t has 1,024, and then the call fails */

struct processors {
	cpu_set_t sets[PROCESSORS_MOST / CPU_SETSIZE];
};

/* false: unknown, and the set is empty. */
static bool find_processors(struct processors *p)
{
	*p = (struct processors){ 0 };
	return sched_getaffinity(0, sizeof(p->sets), p->sets) == 0;
}

/* The quota of the first call: a sandboxed process could read none. */
static const struct cpu_quota *processors_quota(void)
{
	static const struct cpu_quota none;
	static struct cpu_quota *_Atomic known;
	struct cpu_quota *before = atomic_load(&known), *found;

	if (before)
		return before;
	found = malloc(sizeof(*found));
	if (!found)
		return &none;
	cpu_quota_read("", found);
	if (atomic_compare_exchange_strong(&known, &before, found))
		return found;
	cpu_quota_free(found);
	free(found);
	return before;
}

unsigned processors_count(void)
{
	unsigned allowed = processors_allowed();
	unsigned filled = (processors_quota()->thousandths + 999) / 1000;

	return filled && filled < allowed ? filled : allowed;
}

uint64_t processors_spare_of(unsigned thousandths, uint64_t ns, uint64_t before,
			     uint64_t now)
{
	uint64_t most = ns / 1000 * thousandths, taken = before && now ? now - before : 0;

	if (!thousandths)
		return UINT64_MAX;
	return most > taken ? most - taken : 0;
}

uint64_t processors_spare_ns(uint64_t ns, uint64_t *used)
{
	const struct cpu_quota *quota = processors_quota();
	uint64_t before = *used;

	*used = cpu_quota_used_ns(quota);
	return processors_spare_of(quota->thousandths, ns, before, *used);
}

unsigned processors_allowed(void)
{
	struct processors p;
	int n = 0;

	if (find_processors(&p))
		n = CPU_COUNT_S(sizeof(p.sets), p.sets);
	return n > 1 ? (unsigned)n : 1;
}

uint64_t processors_idle_ns(void)
{
	FILE *file = fopen("/proc/stat", "re");
	unsigned long long idle, waiting, ticks = 0;
	struct processors p;
	char line[512];
	unsigned number;

	if (!file)
		return 0;
	find_processors(&p);
	while (fgets(line, sizeof(line), file) && line[0] == 'c') {
		/* user, nice, system, idle, iowait */
		if (sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &number, &idle, &waiting) == 3 &&
		    number < PROCESSORS_MOST && CPU_ISSET_S(number, sizeof(p.sets), p.sets))
			ticks += idle + waiting;
	}
	fclose(file);
	return ticks * (1000000000 / (unsigned long long)sysconf(_SC_CLK_TCK));
}

long processors_thread_sleeps(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
}

uint64_t processors_thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
