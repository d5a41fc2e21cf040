/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readers that begin a sweep, and readers that get a window. Most are recorded:
 * traces/NAME.txt has the reads of a program as they reached the daemon
 * (tools/dev/record-reads).
 */
#include "unit.h"

#include "prefetch/policy.h"

#define MIB (UINT64_C(1) << 20)

enum { FILES_MOST = 256 /* before a sweep begins */ };

/* The expected result of a trace. */
enum answer { NOTHING, WINDOW, SWEEP };

static const struct client {
	const char *name;
	enum answer answer;
} clients[] = {
	{ "imagefolder", SWEEP },
	{ "dataloader-1", SWEEP },
	{ "dataloader-2", SWEEP },
	{ "dataloader-4", SWEEP },
	{ "dataloader-8", SWEEP },
	{ "dataloader-2-sorted-archive", SWEEP },
	{ "dataloader-2-unshuffled", NOTHING },
	{ "find", NOTHING },
	{ "du", NOTHING },
	{ "ls-lR", NOTHING },
	{ "updatedb", NOTHING },
	{ "git-status", NOTHING },
	{ "thumbnails", NOTHING },
	{ "grep-directory", NOTHING },
	{ "grep-all", NOTHING },
	{ "cat", NOTHING },
	{ "rsync-other-order", NOTHING },
	{ "tar", WINDOW },
	{ "rsync", WINDOW },
};

/* The state of a policy after the reads so far. */
static struct replay {
	struct policy policy;
	uint64_t ahead;   /* bytes in windows */
	unsigned reads;
	unsigned sweep;   /* reads before the epoch was seen; 0: it was not */
} replay;

static void replay_begin(uint32_t nodes)
{
	memset(&replay, 0, sizeof(replay));
	policy_init(&replay.policy, true, 32 * MIB, nodes);
}

static void replay_read(int64_t ms, uint32_t node, uint64_t start, uint64_t length)
{
	struct policy_read read = { ms, node, { 0, start, start + length }, 0 };
	struct policy_range range;

	policy_note(&replay.policy, &read);
	replay.reads++;
	if (!replay.sweep && policy_sees_epoch(&replay.policy))
		replay.sweep = replay.reads;
	while (policy_window(&replay.policy, MIB, &range))
		replay.ahead += range.end - range.start;
}

static char *trace_text(const char *name)
{
	const char *srcdir = getenv("abs_top_srcdir");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/unit/prefetch/traces/%s.txt",
		 srcdir ? srcdir : ".", name);
	return unit_read(path, NULL);
}

static void replay_trace(const char *name)
{
	char *text = trace_text(name), *rest = strchr(text, '\n');
	unsigned long long node, start, length;
	long long ms;
	unsigned nodes;
	int used;

	assert_non_null(rest);
	assert_int_equal(sscanf(rest, " nodes %u%n", &nodes, &used), 1);
	replay_begin(nodes);
	for (rest += used; sscanf(rest, "%lld %llu %llu %llu%n", &ms, &node, &start, &length,
				  &used) == 4; rest += used)
		replay_read(ms, (uint32_t)node, start, length);
	free(text);
}

static void test_clients(void **state)
{
	const struct client *client = &clients[unit_row(state)];

	replay_trace(client->name);
	assert_int_equal(replay.sweep > 0, client->answer == SWEEP);
	assert_true(replay.sweep <= FILES_MOST);
	if (client->answer == WINDOW)
		assert_true(replay.ahead >= MIB);
	else
		assert_true(replay.ahead <= 64 * MIB);
}

/* Made up: `step` from a file to the next, of so many; 0: shuffled. */
static const struct pattern {
	const char *name;
	uint32_t nodes, first, files, step;
	int64_t ms; /* from a read to the next */
	bool stored; /* in the order of the reads */
	bool sweep;
} patterns[] = {
	{ "a tree of 1.28 million", 1280000, 0, 1280000, 0, 1, false, true },
	{ "a small tree", 300, 0, 300, 0, 1, false, true },
	{ "half of a tree", 100000, 50000, 50000, 0, 1, false, true },
	{ "one read a second", 100000, 0, 100000, 0, 900, false, true },
	{ "one read in two seconds", 100000, 0, 100000, 0, 2000, false, false },
	{ "a directory in any order", 100000, 7000, 1300, 0, 1, false, false },
	{ "a tenth in any order", 100000, 7000, 10000, 0, 1, false, false },
	{ "in order of names", 100000, 0, 100000, 1, 1, false, false },
	{ "backwards", 100000, 99999, 100000, UINT32_MAX, 1, false, false },
	{ "every tenth name", 100000, 0, 100000, 10, 1, false, false },
	{ "in order of storage", 100000, 0, 100000, 0, 1, true, false },
	{ "one file", 100000, 5, 1, 1, 1, false, false },
	{ "no tree", 0, 0, 1, 0, 1, false, false },
};

static uint64_t epoch_random;

static uint32_t random_below(uint32_t most)
{
	epoch_random = epoch_random * UINT64_C(6364136223846793005) + 1;
	return (uint32_t)((epoch_random >> 33) % most);
}

static void test_patterns(void **state)
{
	const struct pattern *p = &patterns[unit_row(state)];
	uint32_t node = p->first;

	epoch_random = 11;
	replay_begin(p->nodes);
	for (uint32_t i = 0; i < FILES_MOST; i++) {
		replay_read(p->ms * i, node, (p->stored ? i : node) * MIB, p->stored ? MIB : 1);
		node = p->step ? node + p->step : p->first + random_below(p->files);
		if (p->files == 1)
			node = p->first;
	}
	assert_int_equal(replay.sweep > 0, p->sweep);
}

static void test_an_epoch_once_seen_stays(void **state)
{
	(void)state;
	replay_trace("imagefolder");
	for (uint32_t i = 0; i < 1000; i++)
		replay_read(1000000 + i, i, i, 1);
	assert_true(policy_sees_epoch(&replay.policy));
}

static const struct CMUnitTest tests[] = {
	unit_table(test_clients, clients, name),
	unit_table(test_patterns, patterns, name),
	cmocka_unit_test(test_an_epoch_once_seen_stays),
};

UNIT_MAIN(tests)
