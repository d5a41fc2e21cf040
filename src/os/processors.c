/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/processors.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

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

unsigned processors_count(void)
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
