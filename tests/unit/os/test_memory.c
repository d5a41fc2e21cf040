/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of memory, found in trees like /proc and /sys, and the budget made of them. */
#include "unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/memory.h"

#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)

/* The machine of all trees: 16 GiB, of which 12 are available. */
#define MEMINFO "MemTotal:       16777216 kB\nMemFree:         2097152 kB\n" \
		"MemAvailable:   12582912 kB\nBuffers:               0 kB\n"

static unsigned trees;
static char root[4096];

/* A new tree, with a machine. */
static void begin_tree(void)
{
	snprintf(root, sizeof(root), "%s/tree%u", unit_directory(), trees++);
}

static void put(const char *path, const char *text)
{
	char command[sizeof(root) + 512], whole[sizeof(root) + 256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname '%s')\"", whole);
	if (access(whole, F_OK) < 0)
		unit_shell(command);
	unit_write(whole, text, strlen(text));
}

static void put_in(const char *directory, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	put(path, text);
}

static void machine(const char *cgroup, const char *mountinfo)
{
	begin_tree();
	put("/proc/meminfo", MEMINFO);
	put("/proc/self/cgroup", cgroup);
	put("/proc/self/mountinfo", mountinfo);
}

static struct memory_state look(void)
{
	struct memory_state state;
	struct memory *memory = NULL;

	assert_int_equal(memory_open(root, &memory), 0);
	memory_read_state(memory, &state);
	memory_close(memory);
	return state;
}

static void expect(uint64_t limit, uint64_t available)
{
	struct memory_state state = look();

	assert_int_equal(state.limit, limit);
	assert_int_equal(state.available, available);
}

#define V1_MOUNT(root, at) "35 31 0:32 " root " " at " rw,relatime shared:5 - cgroup cgroup rw,memory\n"
#define V1_OTHER "33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct,cpu\n"
#define V2_MOUNT(root, at) "41 31 0:38 " root " " at " rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"

/* Of one group, version 1: usage includes `file` of page cache, part of it dirty. */
static void v1_group(const char *directory, uint64_t limit, uint64_t usage, uint64_t file,
		     uint64_t dirty)
{
	char text[1024];

	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)limit);
	put_in(directory, "memory.limit_in_bytes", text);
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)usage);
	put_in(directory, "memory.usage_in_bytes", text);
	snprintf(text, sizeof(text),
		 "cache 77\nactive_file 5\ninactive_file 6\ndirty 7\n"
		 "hierarchical_memory_limit %llu\n"
		 "total_cache 123\ntotal_rss 456\ntotal_dirty %llu\ntotal_writeback 0\n"
		 "total_inactive_file %llu\ntotal_active_file %llu\n",
		 (unsigned long long)limit, (unsigned long long)dirty,
		 (unsigned long long)(file / 4), (unsigned long long)(file - file / 4));
	put_in(directory, "memory.stat", text);
}

static void v2_group(const char *directory, const char *max, const char *high, uint64_t usage,
		     uint64_t file, uint64_t dirty)
{
	char text[1024];

	put_in(directory, "memory.max", max);
	put_in(directory, "memory.high", high);
	snprintf(text, sizeof(text), "%llu\n", (unsigned long long)usage);
	put_in(directory, "memory.current", text);
	snprintf(text, sizeof(text),
		 "anon 1\nfile 2\nkernel 3\nfile_mapped 4\nfile_dirty %llu\nfile_writeback 0\n"
		 "inactive_anon 8\ninactive_file %llu\nactive_file %llu\nslab 9\n",
		 (unsigned long long)dirty, (unsigned long long)(file / 2),
		 (unsigned long long)(file - file / 2));
	put_in(directory, "memory.stat", text);
}

static void test_the_machine(void **state)
{
	(void)state;
	machine("0::/\n", "");
	expect(16 * GB, 12 * GB);
	begin_tree();
	put("/proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 524288 kB\n");
	expect(GB, GB / 2);
}

static void test_version_1(void **state)
{
	static const char job[] = "/sys/fs/cgroup/memory/slurm/job_7";

	(void)state;
	machine("9:name=systemd:/\n4:memory:/slurm/job_7/step_0\n3:cpuset,hugetlb:/\n0::/\n",
		V1_OTHER V1_MOUNT("/", "/sys/fs/cgroup/memory")
		V2_MOUNT("/", "/sys/fs/cgroup/unified"));
	v1_group("/sys/fs/cgroup/memory", INT64_MAX, 9 * GB, 0, 0);
	v1_group("/sys/fs/cgroup/memory/slurm", 14 * GB, 9 * GB, 0, 0);
	v1_group(job, 4 * GB, 3 * GB, 2 * GB, GB / 2);
	v1_group("/sys/fs/cgroup/memory/slurm/job_7/step_0", INT64_MAX, GB, 0, 0);
	/* 3 GB are used, of which 1.5 are clean page cache */
	expect(4 * GB, 2 * GB + GB / 2);
	/* somebody else in the group around it uses nearly all */
	v1_group("/sys/fs/cgroup/memory/slurm", 14 * GB, 13 * GB, 0, 0);
	expect(4 * GB, GB);
	/* more than the limit, as for a moment there may be */
	v1_group(job, 4 * GB, 5 * GB, 0, 0);
	expect(4 * GB, 0);
	/* page cache of more than is used: figures of different moments */
	v1_group(job, 4 * GB, 2 * GB, 3 * GB, 0);
	v1_group("/sys/fs/cgroup/memory/slurm", 14 * GB, 0, 0, 0);
	expect(4 * GB, 4 * GB);
}

static void test_version_2(void **state)
{
	static const char job[] = "/sys/fs/cgroup/system.slice/job";

	(void)state;
	machine("0::/system.slice/job/task\n", V2_MOUNT("/", "/sys/fs/cgroup"));
	v2_group("/sys/fs/cgroup/system.slice", "max\n", "max\n", 10 * GB, 0, 0);
	v2_group(job, "8589934592\n", "max\n", 3 * GB, GB, 0);
	v2_group("/sys/fs/cgroup/system.slice/job/task", "max\n", "max\n", GB, 0, 0);
	expect(8 * GB, 6 * GB);
	/* above memory.high everything becomes slow */
	v2_group(job, "8589934592\n", "6442450944\n", 3 * GB, GB, GB / 2);
	expect(6 * GB, 3 * GB + GB / 2);
	v2_group("/sys/fs/cgroup/system.slice/job/task", "5368709120", "max", GB, GB, 0);
	expect(5 * GB, 3 * GB + GB / 2);
	/* a limit above the machine's memory is none */
	v2_group(job, "1099511627776\n", "max\n", 3 * GB, 0, 0);
	v2_group("/sys/fs/cgroup/system.slice/job/task", "max", "max", GB, GB, 0);
	expect(16 * GB, 12 * GB);
}

static void test_both_at_once(void **state)
{
	(void)state;
	machine("4:blkio,memory:/a\n0::/b\n", V1_MOUNT("/", "/sys/fs/cgroup/memory")
		V2_MOUNT("/", "/sys/fs/cgroup/unified"));
	v1_group("/sys/fs/cgroup/memory/a", 5 * GB, 4 * GB, 0, 0);
	v2_group("/sys/fs/cgroup/unified/b", "3221225472", "max", GB, 0, 0);
	expect(3 * GB, GB);
}

/* Containers show a part of the hierarchy, or none. */
static void test_containers(void **state)
{
	(void)state;
	/* the kernel names the whole path; what is mounted is the container's part */
	machine("4:memory:/docker/abc\n", V1_MOUNT("/docker/abc", "/sys/fs/cgroup/memory"));
	v1_group("/sys/fs/cgroup/memory", 2 * GB, GB, 0, 0);
	expect(2 * GB, GB);
	machine("4:memory:/docker/abc/inner\n", V1_MOUNT("/docker/abc", "/cg/my\\040memory"));
	v1_group("/cg/my memory", 2 * GB, GB, 0, 0);
	v1_group("/cg/my memory/inner", GB, 0, 0, 0);
	expect(GB, GB);
	/* a cgroup namespace: the container's own group is the root */
	machine("0::/\n", V2_MOUNT("/", "/sys/fs/cgroup"));
	v2_group("/sys/fs/cgroup", "2147483648", "max", GB, GB, 0);
	expect(2 * GB, 2 * GB);
	/* a namespace whose mount shows more than it: the way down is not known */
	machine("0::/\n", V2_MOUNT("/../..", "/sys/fs/cgroup"));
	v2_group("/sys/fs/cgroup", "3221225472", "max", GB, 0, 0);
	expect(3 * GB, 2 * GB);
	/* a process that is outside of its namespace's root */
	machine("0::/../other\n", V2_MOUNT("/", "/sys/fs/cgroup"));
	v2_group("/sys/fs/cgroup", "2147483648", "max", GB, 0, 0);
	expect(16 * GB, 12 * GB);
	/* another group's directory, and one whose name only begins alike */
	machine("0::/docker/abc\n", V2_MOUNT("/docker/ab", "/sys/fs/cgroup"));
	v2_group("/sys/fs/cgroup", "2147483648", "max", GB, 0, 0);
	expect(16 * GB, 12 * GB);
	/* groups that cannot be seen have a limit all the same, in version 1 */
	machine("4:memory:/docker/abc\n", V1_MOUNT("/docker/abc", "/sys/fs/cgroup/memory"));
	v1_group("/sys/fs/cgroup/memory", 6 * GB, GB, 0, 0);
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	expect(6 * GB, 5 * GB);
}

static void test_of_several_mounts(void **state)
{
	(void)state;
	/* the one that shows most; of two that show the same, the upper one */
	machine("0::/a/b\n", V2_MOUNT("/", "/covered") V2_MOUNT("/", "/whole")
		V2_MOUNT("/a/b", "/part"));
	v2_group("/part", "4294967296", "max", 0, 0, 0);
	v2_group("/whole/a/b", "4294967296", "max", 0, 0, 0);
	v2_group("/whole/a", "3221225472", "max", 0, 0, 0);
	v2_group("/covered/a", "1073741824", "max", 0, 0, 0);
	expect(3 * GB, 3 * GB);
}

static void test_a_process_that_is_moved(void **state)
{
	struct memory_state now;
	struct memory *memory = NULL;

	(void)state;
	machine("0::/a\n", V2_MOUNT("/", "/sys/fs/cgroup"));
	v2_group("/sys/fs/cgroup/a", "4294967296", "max", GB, 0, 0);
	v2_group("/sys/fs/cgroup/b", "2147483648", "max", GB, 0, 0);
	assert_int_equal(memory_open(root, &memory), 0);
	memory_read_state(memory, &now);
	assert_int_equal(now.limit, 4 * GB);
	put("/proc/self/cgroup", "0::/b\n");
	memory_read_state(memory, &now);
	assert_int_equal(now.limit, 2 * GB);
	/* the group is gone, or cannot be read */
	put("/proc/self/cgroup", "0::/c (deleted)\n");
	memory_read_state(memory, &now);
	assert_int_equal(now.limit, 16 * GB);
	memory_close(memory);
	memory_close(NULL);
}

static void test_what_makes_no_sense_is_no_limit(void **state)
{
	static const char *const numbers[] = { "", "max", "-1", "1e9", "0x10", " ", "\n",
					       "99999999999999999999999999", "12abc", "\xff" };

	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		machine("0::/a\n", V2_MOUNT("/", "/sys/fs/cgroup"));
		v2_group("/sys/fs/cgroup/a", numbers[i], numbers[i], GB, 0, 0);
		expect(16 * GB, 12 * GB);
		/* and what is used is then nothing */
		v2_group("/sys/fs/cgroup/a", "4294967296", "max", GB, 0, 0);
		put("/sys/fs/cgroup/a/memory.current", numbers[i]);
		put("/sys/fs/cgroup/a/memory.stat", numbers[i]);
		expect(4 * GB, 4 * GB);
	}
	machine("0::/a\n", V2_MOUNT("/", "/sys/fs/cgroup"));
	v2_group("/sys/fs/cgroup/a", "4294967296", "max", GB, UINT64_MAX, UINT64_MAX);
	expect(4 * GB, 3 * GB);
	begin_tree();
	assert_true(look().limit > 0);
	assert_true(look().available <= look().limit);
	begin_tree();
	put("/proc/meminfo", "MemTotal: 18446744073709551615 kB\nMemAvailable: 99999999999999999999\n");
	assert_in_range(look().limit, 1, GB * 1024 * 1024);
}

/* Every byte of both tables in turn is another one: only no crash is asked for. */
static void test_damaged_tables(void **state)
{
	static const char cgroup[] = "4:memory:/a/b\n0::/../c\n";
	static const char mounts[] = V1_MOUNT("/a", "/cg\\040/m") V2_MOUNT("/..", "/cg2");
	static const char bytes[] = { '\0', '\n', ' ', '/', ':', ',', '\\', '.', '-', '\x80' };

	(void)state;
	machine("", "");
	for (size_t i = 0; i < sizeof(cgroup) + sizeof(mounts) - 2; i++) {
		for (size_t k = 0; k < COUNT(bytes); k++) {
			char groups[sizeof(cgroup)], table[sizeof(mounts)];
			char path[sizeof(root) + 32];

			memcpy(groups, cgroup, sizeof(cgroup));
			memcpy(table, mounts, sizeof(mounts));
			if (i < sizeof(cgroup) - 1)
				groups[i] = bytes[k];
			else
				table[i - (sizeof(cgroup) - 1)] = bytes[k];
			snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
			unit_write(path, groups, sizeof(groups) - 1);
			snprintf(path, sizeof(path), "%s/proc/self/mountinfo", root);
			unit_write(path, table, sizeof(table) - 1);
			expect(16 * GB, 12 * GB);
		}
	}
}

static void test_deep_and_long(void **state)
{
	char cgroup[16384] = "0::";

	(void)state;
	for (int i = 0; i < 2000; i++)
		strcat(cgroup, "/x");
	strcat(cgroup, "\n");
	machine(cgroup, V2_MOUNT("/", "/sys/fs/cgroup"));
	expect(16 * GB, 12 * GB);
}

/* This machine: whatever it is, it makes sense, and is the same twice. */
static void test_this_machine(void **state)
{
	struct memory_state now;
	struct memory *memory = NULL;

	(void)state;
	assert_int_equal(memory_open("", &memory), 0);
	for (int i = 0; i < 3; i++) {
		memory_read_state(memory, &now);
		assert_true(now.limit >= 16 * MB);
		assert_true(now.limit <= (uint64_t)sysconf(_SC_PHYS_PAGES) *
					 (uint64_t)sysconf(_SC_PAGESIZE) + GB);
		assert_true(now.available > 0 && now.available <= now.limit);
	}
	memory_close(memory);
}

/* The budget. */

static const struct {
	const char *text;
	uint64_t limit, available;
	uint64_t budget;
} budgets[] = {
	{ NULL, 16 * GB, 12 * GB, 6 * GB },
	{ NULL, 16 * GB, GB, GB / 2 },
	{ NULL, 16 * GB, 100 * MB, 64 * MB },
	{ NULL, 16 * GB, 0, 64 * MB },
	{ NULL, 32 * MB, 32 * MB, 16 * MB },
	{ "8G", 16 * GB, GB, 8 * GB },
	{ "1M", 16 * GB, GB, MB },
	{ "1.5G", 16 * GB, GB, GB + GB / 2 },
	{ "50%", 16 * GB, GB, 8 * GB },
	{ "1%", 100 * GB, GB, GB },
	{ "95%", 100 * GB, GB, 95 * GB },
	{ "095%", 100 * GB, GB, 95 * GB },
	{ "50%", UINT64_MAX, GB, UINT64_MAX / 2 },
};

static void test_budgets(void **state)
{
	size_t i = unit_row(state);
	struct memory_state memory = { budgets[i].limit, budgets[i].available };
	uint64_t budget = 0;

	assert_int_equal(memory_budget(budgets[i].text, &memory, &budget, NULL), 0);
	assert_int_equal(budget, budgets[i].budget);
}

static const char *const texts[] = {
	"", "0", "5", "1048575", "G", "-1", "-5%", "0%", "96%", "100%", "1000%", "%",
	"5.5%", "50%%", "50 %", "50%G", "auto", "8 G", "8X", "16E", "1e9",
};

static void test_budgets_that_are_none(void **state)
{
	size_t i = unit_row(state);
	struct memory_state memory = { 16 * GB, 12 * GB };
	uint64_t budget;
	struct error e = { 0 };
	char begin[64];

	assert_int_equal(memory_budget(texts[i], &memory, &budget, &e), -EINVAL);
	assert_int_equal(e.status, ERROR_USAGE);
	snprintf(begin, sizeof(begin), "-o cache=%s: ", texts[i]);
	assert_int_equal(strncmp(e.text, begin, strlen(begin)), 0);
	assert_non_null(strstr(e.text, "8G"));
	assert_non_null(strstr(e.text, "95%"));
}

static void ask_for_too_much(void *argument)
{
	struct memory_state memory = { 10 * GB, 8 * GB };

	assert_int_equal(memory_budget("11G", &memory, argument, NULL), 0);
}

static void test_more_than_there_is(void **state)
{
	uint64_t budget = 0;
	char *said = unit_stderr_of(ask_for_too_much, &budget);

	(void)state;
	assert_int_equal(budget, 10 * GB / 100 * 95 + 10 * GB % 100 * 95 / 100);
	assert_non_null(strstr(said, "-o cache=11G: this process may use 10 GiB in all"));
	free(said);
}

static void test_inodes(void **state)
{
	(void)state;
	assert_true(memory_allows_inodes(0, 0));
	assert_true(memory_allows_inodes(GB, 2 * GB));
	assert_false(memory_allows_inodes(GB + 1, 2 * GB));
	assert_false(memory_allows_inodes(1, 0));
	assert_true(memory_allows_inodes(UINT64_MAX / 2, UINT64_MAX));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_the_machine),
	cmocka_unit_test(test_version_1),
	cmocka_unit_test(test_version_2),
	cmocka_unit_test(test_both_at_once),
	cmocka_unit_test(test_containers),
	cmocka_unit_test(test_of_several_mounts),
	cmocka_unit_test(test_a_process_that_is_moved),
	cmocka_unit_test(test_what_makes_no_sense_is_no_limit),
	cmocka_unit_test(test_damaged_tables),
	cmocka_unit_test(test_deep_and_long),
	cmocka_unit_test(test_this_machine),
	unit_table(test_budgets, budgets, text),
	unit_texts(test_budgets_that_are_none, texts),
	cmocka_unit_test(test_more_than_there_is),
	cmocka_unit_test(test_inodes),
};

UNIT_MAIN(tests)
