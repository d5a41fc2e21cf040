/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quotas of processor time, found in trees like /proc and /sys. */
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "os/cpu_quota.h"

#define V1_GROUP "5:memory:/other\n3:cpuacct:/other\n2:cpu:/job/step\n"
#define V1_MOUNTS "33 31 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu\n" \
		  "34 31 0:31 / /cg/memory rw - cgroup cgroup rw,memory\n"
#define V1_BOTH "33 31 0:30 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
#define V2_GROUP "0::/job/step\n"
#define V2_MOUNTS "41 31 0:38 / /cg rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

enum { FILES_MOST = 5 };

static const struct {
	const char *name, *group, *mounts;
	const char *files[FILES_MOST][2]; /* path, text */
	unsigned thousandths;
	uint64_t used_ns;
} trees[] = {
	{ "no control groups", "", "", { { NULL, NULL } }, 0, 0 },
	{ "version 2: none", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "max 100000\n" } }, 0, 0 },
	{ "version 2: two and a half", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "250000 100000\n" },
	    { "/cg/job/step/cpu.stat", "usage_usec 1234567\nuser_usec 1\nsystem_usec 2\n" } },
	  2500, 1234567000 },
	{ "version 2: a parent's is lower", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "400000 100000\n" },
	    { "/cg/job/cpu.max", "10000 20000\n" },
	    { "/cg/job/step/cpu.stat", "usage_usec 1\n" },
	    { "/cg/job/cpu.stat", "nr_periods 7\nusage_usec 20\n" } }, 500, 20000 },
	{ "version 2: a parent's is higher", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "100000 100000\n" },
	    { "/cg/job/cpu.max", "800000 100000\n" } }, 1000, 0 },
	{ "version 2: in a container, whose root is its group", "0::/\n", V2_MOUNTS,
	  { { "/cg/cpu.max", "150000 100000\n" } }, 1500, 0 },
	{ "version 1: none", V1_GROUP, V1_MOUNTS,
	  { { "/cg/cpu/job/step/cpu.cfs_quota_us", "-1\n" },
	    { "/cg/cpu/job/step/cpu.cfs_period_us", "100000\n" } }, 0, 0 },
	{ "version 1: three quarters", V1_GROUP, V1_MOUNTS,
	  { { "/cg/cpu/job/step/cpu.cfs_quota_us", "75000\n" },
	    { "/cg/cpu/job/step/cpu.cfs_period_us", "100000\n" },
	    { "/cg/cpu/job/step/cpu.stat", "nr_periods 1\nnr_throttled 0\n" } }, 750, 0 },
	{ "version 1: the parent's, with its time", V1_GROUP, V1_BOTH,
	  { { "/cg/cpu/job/step/cpu.cfs_quota_us", "-1\n" },
	    { "/cg/cpu/job/step/cpu.cfs_period_us", "100000\n" },
	    { "/cg/cpu/job/cpu.cfs_quota_us", "400000\n" },
	    { "/cg/cpu/job/cpu.cfs_period_us", "100000\n" },
	    { "/cg/cpu/job/cpuacct.usage", "987654321\n" } }, 4000, 987654321 },
	{ "nonsense", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "many of them\n" } }, 0, 0 },
	{ "a period of nothing", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "100000 0\n" } }, 0, 0 },
	{ "one number", V2_GROUP, V2_MOUNTS, { { "/cg/job/step/cpu.max", "100000\n" } }, 0, 0 },
	{ "next to nothing", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "1 1000000\n" } }, 1, 0 },
	{ "more than any machine has", V2_GROUP, V2_MOUNTS,
	  { { "/cg/job/step/cpu.max", "9000000000000000000 1\n" } }, 0, 0 },
	{ "an empty file", V2_GROUP, V2_MOUNTS, { { "/cg/job/step/cpu.max", "" } }, 0, 0 },
};

static void put(const char *root, const char *path, const char *text)
{
	char whole[8192], command[8300];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", whole);
	unit_shell(command);
	unit_write(whole, text, strlen(text));
}

static void test_trees(void **state)
{
	size_t i = unit_row(state);
	struct cpu_quota quota;
	char root[4096];

	snprintf(root, sizeof(root), "%s/tree%zu", unit_directory(), i);
	put(root, "/proc/self/cgroup", trees[i].group);
	put(root, "/proc/self/mountinfo", trees[i].mounts);
	for (size_t n = 0; n < FILES_MOST && trees[i].files[n][0]; n++)
		put(root, trees[i].files[n][0], trees[i].files[n][1]);
	cpu_quota_read(root, &quota);
	assert_int_equal(quota.thousandths, trees[i].thousandths);
	assert_int_equal(cpu_quota_used_ns(&quota), trees[i].used_ns);
	cpu_quota_free(&quota);
}

static void test_of_this_process(void **state)
{
	struct cpu_quota quota;
	uint64_t used;

	(void)state;
	cpu_quota_read("", &quota);
	used = cpu_quota_used_ns(&quota);
	assert_true(cpu_quota_used_ns(&quota) >= used);
	cpu_quota_free(&quota);
}

static const struct CMUnitTest tests[] = {
	unit_table(test_trees, trees, name),
	cmocka_unit_test(test_of_this_process),
};

UNIT_MAIN(tests)
