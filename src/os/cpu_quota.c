/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/cpu_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "os/cgroup.h"

enum { THOUSANDTHS = 1000, PROCESSORS_MOST = 100000 };

/* "max 100000", "250000 100000"; of version 1 one number a file, -1 without a limit. */
static unsigned cpu_quota_of_level(const struct cgroup_level *level)
{
	CLEANUP(cleanup_free) char *first = cgroup_read_text(
		level->path, level->old ? "cpu.cfs_quota_us" : "cpu.max");
	CLEANUP(cleanup_free) char *second =
		level->old ? cgroup_read_text(level->path, "cpu.cfs_period_us") : NULL;
	long long quota = 0, period = 0;
	double processors;

	if (level->old && first && second)
		sscanf(first, "%lld", &quota), sscanf(second, "%lld", &period);
	else if (first)
		sscanf(first, "%lld %lld", &quota, &period);
	if (quota <= 0 || period <= 0)
		return 0;
	processors = (double)quota / (double)period;
	if (processors > PROCESSORS_MOST)
		return 0;
	return processors < 1.0 / THOUSANDTHS ? 1 : (unsigned)(processors * THOUSANDTHS);
}

static void cpu_quota_lower(struct cpu_quota *out, const struct cgroup_level *level)
{
	unsigned found = cpu_quota_of_level(level);

	if (!found || (out->thousandths && found >= out->thousandths))
		return;
	free(out->directory);
	out->thousandths = found;
	out->directory = strdup(level->path);
}

void cpu_quota_read(const char *root, struct cpu_quota *out)
{
	CLEANUP(cleanup_free) char *group = cgroup_read_text(root, "proc/self/cgroup");
	CLEANUP(cleanup_free) char *mounts = cgroup_read_text(root, "proc/self/mountinfo");
	CLEANUP(cgroup_levels_free) struct cgroup_levels levels = { VEC_INIT };

	*out = (struct cpu_quota){ 0 };
	if (group && mounts)
		cgroup_find_levels(root, "cpu", group, mounts, &levels);
	for (size_t i = 0; i < levels.list.count; i++)
		cpu_quota_lower(out, &levels.list.items[i]);
}

void cpu_quota_free(struct cpu_quota *quota)
{
	free(quota->directory);
	*quota = (struct cpu_quota){ 0 };
}

/* usage_usec of version 2; version 1 has it where cpuacct is mounted together with cpu. */
uint64_t cpu_quota_used_ns(const struct cpu_quota *quota)
{
	CLEANUP(cleanup_free) char *stat = NULL, *usage = NULL;
	unsigned long long us = 0, ns = 0;
	const char *at;

	if (!quota->directory)
		return 0;
	stat = cgroup_read_text(quota->directory, "cpu.stat");
	at = stat ? strstr(stat, "usage_usec ") : NULL;
	if (at && sscanf(at, "usage_usec %llu", &us) == 1)
		return us * 1000;
	usage = cgroup_read_text(quota->directory, "cpuacct.usage");
	return usage && sscanf(usage, "%llu", &ns) == 1 ? ns : 0;
}
