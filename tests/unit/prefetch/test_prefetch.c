/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading ahead, with a sink in the kernel's place. Its threads end with their process:
 * each case is a child.
 */
#include "dataset/kit.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "dataset/read_ahead.h"
#include "prefetch/prefetch.h"
#include "stats/stats.h"
#include "os/memory.h"
#include "os/pages.h"

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)

enum {
	SMALL = 300,              /* files of up to 70 KiB, */
	TINY = 6000,              /* of 100 bytes, */
	TINY_BYTES = 100,
	PAGE = 4096,
	PATIENCE_MS = 15000,      /* before a test counts as hanging */
};

#define LARGE_BYTES (10 * MIB + 77) /* and one that comes in pieces */

/* A failed check ends the child; what cmocka has for that would go on in it. */
#define CHECK(condition)                                                             \
	do {                                                                         \
		if (!(condition)) {                                                  \
			fprintf(stderr, "# line %d: %s\n", __LINE__, #condition);    \
			_exit(1);                                                    \
		}                                                                    \
	} while (0)

/* What a file of the dataset should be, and what the sink has been told of it. */
struct file {
	uint32_t node, source;
	uint64_t offset, size;
	_Atomic unsigned stored[LARGE_BYTES / PAGE + 1]; /* of each page: how often */
	_Atomic bool there; /* in what would be the page cache */
};

static struct {
	struct dataset *dataset;
	unsigned count;        /* files */
	struct file *files;    /* shared by all children */
	unsigned file_of[SMALL + TINY + 8]; /* by node */
	uint64_t source_bytes;
} made_of;

static struct sink_state {
	_Atomic int answer;
	_Atomic bool blocked;
	_Atomic unsigned calls, inside, inside_most, drops;
	_Atomic unsigned busy_drops;      /* so many more are refused */
	_Atomic uint64_t dropped_from;    /* in the file that was dropped last */
	_Atomic uint64_t refused_at; /* this offset of the large file is busy, if not 0 */
	unsigned pause_us;
	uint32_t dies_of;            /* the node that kills its server, if not 0 */
} *sink_state;

/* The dataset. */

static void add(struct made *made, const char *path, uint32_t source, uint64_t offset,
		uint64_t size)
{
	struct file *file = &made_of.files[made_of.count++];

	file->source = source;
	file->offset = offset;
	file->size = size;
	made_file(made, path, source, offset, size);
}

static void find_nodes(char (*names)[16])
{
	for (unsigned i = 0; i < made_of.count; i++) {
		uint32_t node = made_node(made_of.dataset, names[i]);

		made_of.files[i].node = node;
		made_of.file_of[node] = i;
	}
}

static uint64_t add_small(struct made *made, char (*names)[16])
{
	uint64_t at = 0;

	for (unsigned i = 0; i < SMALL; i++) {
		/* names in another order than places */
		snprintf(names[i], sizeof(names[i]), "s%u", i * 7919 % 1000);
		at += 512;
		add(made, names[i], 0, at, 1 + (uint64_t)i * 7919 % (70 * KIB));
		at += made_of.files[i].size;
	}
	return at;
}

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void add_overlapping(struct made *made, char (*names)[16])
{
	strcpy(names[0], "short");
	add(made, names[0], 0, 0, 5 * MIB);
	strcpy(names[1], "long");
	add(made, names[1], 0, 0, LARGE_BYTES);
}

enum kind { USUAL, OF_TINY, OVERLAPPING };

static int make(void **state, enum kind kind)
{
	const uint64_t sizes[MADE_SOURCES] = { 14 * MIB, 12 * MIB };
	static char names[SMALL + TINY + 1][16];
	struct made made;

	if (unit_enter(state) < 0)
		return -1;
	made_of.files = share((SMALL + TINY + 1) * sizeof(*made_of.files));
	sink_state = share(sizeof(*sink_state));
	made_of.count = 0;
	made_begin(&made, sizes);
	if (kind == OVERLAPPING)
		add_overlapping(&made, names);
	for (unsigned i = 0; kind == OF_TINY && i < TINY; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		add(&made, names[i], 0, (uint64_t)i * 128, TINY_BYTES);
	}
	if (kind == USUAL) {
		assert_true(add_small(&made, names) <= sizes[0]);
		strcpy(names[SMALL], "large");
		add(&made, names[SMALL], 1, 1000, LARGE_BYTES);
	}
	made_of.dataset = made_open(&made);
	made_of.source_bytes = sizes[0] + sizes[1];
	find_nodes(names);
	return 0;
}

static int enter(void **state)
{
	return make(state, USUAL);
}

static int enter_tiny(void **state)
{
	return make(state, OF_TINY);
}

static int enter_overlapping(void **state)
{
	return make(state, OVERLAPPING);
}

static int leave(void **state)
{
	dataset_close(made_of.dataset);
	munmap(made_of.files, (SMALL + TINY + 1) * sizeof(*made_of.files));
	munmap(sink_state, sizeof(*sink_state));
	return unit_leave(state);
}

static struct file *large_file(void)
{
	return &made_of.files[SMALL];
}

static uint64_t pages_of(const struct file *file)
{
	return pages_round_up(file->size);
}

static uint64_t all_pages(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < made_of.count; i++)
		sum += pages_of(&made_of.files[i]);
	return sum;
}

static uint64_t all_bytes(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < made_of.count; i++)
		sum += made_of.files[i].size;
	return sum;
}

static void check_bytes(const struct file *file, const unsigned char *bytes,
			uint64_t offset, size_t length)
{
	CHECK(offset <= file->size && length <= file->size - offset);
	for (size_t i = 0; i < length; i++)
		CHECK(bytes[i] == made_byte(file->source, file->offset + offset + i));
}

/* The sink. */

static void pause_us(unsigned us)
{
	nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000L }, NULL);
}

static void note_inside(void)
{
	unsigned inside = atomic_fetch_add(&sink_state->inside, 1) + 1;
	unsigned most = atomic_load(&sink_state->inside_most);

	while (inside > most &&
	       !atomic_compare_exchange_weak(&sink_state->inside_most, &most, inside))
		continue;
}

static int take(struct file *file, uint64_t offset, const void *bytes, size_t length)
{
	int answer = atomic_load(&sink_state->answer);
	uint64_t refused = atomic_load(&sink_state->refused_at);

	if (answer == 0 && refused && refused == offset && file == large_file())
		answer = -EBUSY;
	if (answer)
		return answer;
	CHECK(offset % PAGE == 0);
	CHECK(length % PAGE == 0 || offset + length == file->size);
	check_bytes(file, bytes, offset, length);
	for (uint64_t at = offset; at < offset + length; at += PAGE)
		atomic_fetch_add(&file->stored[at / PAGE], 1);
	atomic_store(&file->there, true);
	return 0;
}

static int store(void *context, uint32_t node, uint64_t offset, const void *bytes,
		 size_t length)
{
	struct file *file = &made_of.files[made_of.file_of[node]];
	int answer;

	CHECK(context == sink_state && file->node == node);
	atomic_fetch_add(&sink_state->calls, 1);
	note_inside();
	if (sink_state->dies_of && sink_state->dies_of == node)
		raise(SIGKILL);
	if (sink_state->pause_us)
		pause_us(sink_state->pause_us);
	while (atomic_load(&sink_state->blocked))
		pause_us(1000);
	answer = take(file, offset, bytes, length);
	atomic_fetch_sub(&sink_state->inside, 1);
	return answer;
}

static bool refuses_drop(void)
{
	unsigned left = atomic_load(&sink_state->busy_drops);

	while (left > 0 &&
	       !atomic_compare_exchange_weak(&sink_state->busy_drops, &left, left - 1))
		continue;
	return left > 0;
}

static int drop(void *context, uint32_t node, uint64_t from)
{
	struct file *file = &made_of.files[made_of.file_of[node]];

	CHECK(context == sink_state);
	CHECK(from % PAGE == 0 && from < file->size);
	if (refuses_drop())
		return -EBUSY;
	atomic_fetch_add(&sink_state->drops, 1);
	atomic_store(&sink_state->dropped_from, from);
	if (from == 0)
		atomic_store(&file->there, false);
	return 0;
}

static bool knows(void *context, uint32_t node)
{
	(void)context, (void)node;
	return true;
}

static struct prefetch_sink sink = { NULL, store, drop, knows };

/* Cases. */

static bool never_sweeps;    /* not even for a loader */
static uint64_t read_before; /* bytes of the sources, before the case began */

static uint64_t bytes_read(void)
{
	return stats_get(COUNTER_source_read_bytes) - read_before;
}

static struct prefetch_memory *memory_for(void)
{
	struct prefetch_memory *memory = prefetch_memory_new(made_of.dataset);

	assert_non_null(memory);
	return memory;
}

static struct prefetch *start_after(struct prefetch_memory *memory, uint64_t budget,
				    bool windows, bool with_sink, bool crashed)
{
	struct prefetch_config config = { .windows = windows, .sweep = !never_sweeps,
					  .budget = budget, .threads = 8,
					  .crashed = crashed,
					  .sink = with_sink ? &sink : NULL };
	struct prefetch *p;

	sink.context = sink_state;
	read_before = stats_get(COUNTER_source_read_bytes);
	CHECK(prefetch_start(made_of.dataset, memory, &config, &p) == 0);
	CHECK(p);
	return p;
}

static struct prefetch *start(struct prefetch_memory *memory, uint64_t budget,
			      bool windows, bool with_sink)
{
	return start_after(memory, budget, windows, with_sink, false);
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#define WAIT_FOR(condition)                                                          \
	do {                                                                         \
		int64_t until_ = now_ms() + PATIENCE_MS;                             \
		while (!(condition)) {                                               \
			CHECK(now_ms() < until_);                                    \
			pause_us(1000);                                              \
		}                                                                    \
	} while (0)

/* Until nothing is read or stored any more. */
static void settle(void)
{
	unsigned quiet = 0;

	while (quiet < 20) {
		uint64_t before = bytes_read();
		unsigned calls = atomic_load(&sink_state->calls);

		pause_us(10000);
		quiet = before == bytes_read() && calls == atomic_load(&sink_state->calls) ?
				quiet + 1 : 0;
	}
}

/* Threads that have nothing to do sleep. */
static void check_idle(void)
{
	struct timespec before, after;
	int64_t used_ms;

	settle();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	pause_us(300000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	used_ms = (after.tv_sec - before.tv_sec) * 1000 +
		  (after.tv_nsec - before.tv_nsec) / 1000000;
	CHECK(used_ms < 100);
}

/* As the server does it. */
static void ask(struct prefetch *p, struct file *file, uint64_t offset, size_t length)
{
	struct read_context context = { .demand = true };
	unsigned char *buffer = malloc(length);
	ssize_t n;

	CHECK(buffer);
	context.hint = prefetch_read_begins(p, file->node);
	n = dataset_read(made_of.dataset, file->node, buffer, length, offset, &context);
	CHECK(n >= 0);
	check_bytes(file, buffer, offset, (size_t)n);
	atomic_store(&file->there, true);
	prefetch_read_ends(p, file->node, offset, (size_t)n, false);
	free(buffer);
}

static void ask_all(struct prefetch *p, struct file *file)
{
	for (uint64_t at = 0; at < file->size; at += 128 * KIB)
		ask(p, file, at, 128 * KIB);
}

/* Is each page of the file stored so often? */
static bool is_stored(const struct file *file, unsigned times)
{
	for (uint64_t i = 0; i * PAGE < file->size; i++)
		if (atomic_load(&file->stored[i]) != times)
			return false;
	return true;
}

/* What would be in the page cache. */
static uint64_t pages_there(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < made_of.count; i++)
		if (atomic_load(&made_of.files[i].there))
			sum += pages_of(&made_of.files[i]);
	return sum;
}

static uint64_t pages_stored(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < made_of.count; i++)
		for (uint64_t at = 0; at < made_of.files[i].size; at += pages_size())
			if (atomic_load(&made_of.files[i].stored[at / PAGE]))
				sum += pages_size();
	return sum;
}

/* As if nothing had been. */
static void forget(void)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		stats_set((enum counter)i, 0);
	for (unsigned i = 0; i < made_of.count; i++) {
		struct file *file = &made_of.files[i];

		for (uint64_t k = 0; k * PAGE < file->size; k++)
			atomic_store(&file->stored[k], 0);
		atomic_store(&file->there, false);
	}
	*sink_state = (struct sink_state){ .pause_us = 0 };
}

static void run(int (*child)(void *))
{
	struct prefetch_memory *memory = memory_for();

	forget();
	assert_int_equal(unit_child(child, memory), 0);
	prefetch_memory_free(memory);
}

/* The sweep. */

static int sweep_all(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);

	sink_state->pause_us = 500;
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) == made_of.count);
	check_idle();
	for (unsigned i = 0; i < made_of.count; i++)
		CHECK(is_stored(&made_of.files[i], 1));
	CHECK(stats_get(COUNTER_pushed_bytes) == all_bytes());
	CHECK(stats_get(COUNTER_resident_bytes) == all_pages());
	CHECK(stats_get(COUNTER_sweep_target) <= all_pages() + pages_size());
	CHECK(bytes_read() >= all_bytes() && bytes_read() <= made_of.source_bytes);
	CHECK(stats_get(COUNTER_push_unknown) == 0);
	return 0;
}

/* Of a file that was stored, one page is asked for: the others are there. */
static int lose_a_page(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) == made_of.count);
	settle();
	for (unsigned i = 0; i < SMALL; i++)
		ask(p, &made_of.files[i], 0, PAGE);
	settle();
	CHECK(stats_get(COUNTER_evicted_files) == SMALL);
	CHECK(stats_get(COUNTER_resident_bytes) == all_pages());
	return 0;
}

static void test_a_page_that_is_gone(void **state)
{
	(void)state;
	run(lose_a_page);
}

static void test_a_sweep_stores_everything_once(void **state)
{
	(void)state;
	run(sweep_all);
}

/* Nobody reads: several threads are at work nonetheless. */
static int sweep_by_many(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);

	pause_us(100000); /* by now all of them sleep */
	sink_state->pause_us = 2000;
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) == made_of.count);
	CHECK(atomic_load(&sink_state->inside_most) >= 3);
	return 0;
}

static void test_a_sweep_is_the_work_of_many(void **state)
{
	(void)state;
	run(sweep_by_many);
}

/* A piece is refused: the rest is stored, but the file is not held to be there. */
static int sweep_with_a_busy_piece(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);

	atomic_store(&sink_state->refused_at, 3 * MIB);
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_pushed_files) >= SMALL);
	settle();
	CHECK(atomic_load(&large_file()->stored[2 * MIB / PAGE]) == 1);
	CHECK(atomic_load(&large_file()->stored[3 * MIB / PAGE]) == 0);
	CHECK(atomic_load(&large_file()->stored[10 * MIB / PAGE]) == 1);
	CHECK(stats_get(COUNTER_resident_bytes) == all_pages() - pages_of(large_file()));
	return 0;
}

static void test_a_file_with_a_gap_is_not_held(void **state)
{
	(void)state;
	run(sweep_with_a_busy_piece);
}

static int sweep_unknown(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);
	uint64_t before;

	atomic_store(&sink_state->answer, -ENOENT);
	prefetch_sweep(p);
	WAIT_FOR(bytes_read() >= all_bytes());
	settle();
	CHECK(bytes_read() <= made_of.source_bytes);
	CHECK(stats_get(COUNTER_resident_bytes) == 0);
	CHECK(stats_get(COUNTER_pushed_files) == 0);
	before = stats_get(COUNTER_source_reads);
	for (unsigned i = 0; i < made_of.count; i++)
		ask_all(p, &made_of.files[i]);
	CHECK(stats_get(COUNTER_source_reads) == before);
	return 0;
}

static void test_what_the_kernel_does_not_know_is_kept(void **state)
{
	(void)state;
	run(sweep_unknown);
}

static int sweep_refused(void *memory, int answer)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);

	atomic_store(&sink_state->answer, answer);
	prefetch_sweep(p);
	WAIT_FOR(atomic_load(&sink_state->calls) >= made_of.count);
	settle();
	/* each file was tried once, and each piece of the large one */
	CHECK(atomic_load(&sink_state->calls) == SMALL + 11);
	CHECK(bytes_read() <= made_of.source_bytes);
	CHECK(stats_get(COUNTER_resident_bytes) == 0);
	atomic_store(&sink_state->answer, 0);
	for (unsigned i = 0; i < made_of.count; i++)
		ask_all(p, &made_of.files[i]);
	return 0;
}

static int sweep_busy(void *memory)
{
	return sweep_refused(memory, -EBUSY);
}

static int sweep_failing(void *memory)
{
	return sweep_refused(memory, -EIO);
}

static void test_a_sink_that_refuses(void **state)
{
	(void)state;
	run(sweep_busy);
	run(sweep_failing);
}

/* All threads wait for the sink: who reads does not wait for them. */
static int sweep_blocked(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, true, true);
	int64_t begun;

	atomic_store(&sink_state->blocked, true);
	prefetch_sweep(p);
	WAIT_FOR(atomic_load(&sink_state->inside) > 0);
	begun = now_ms();
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < made_of.count; i++)
			ask_all(p, &made_of.files[i]);
	CHECK(now_ms() - begun < PATIENCE_MS / 2);
	CHECK(atomic_load(&sink_state->inside) > 0);
	atomic_store(&sink_state->blocked, false);
	settle();
	CHECK(stats_get(COUNTER_resident_bytes) == all_pages());
	return 0;
}

static void test_nobody_waits_for_the_sink(void **state)
{
	(void)state;
	run(sweep_blocked);
}

/* Who looks at ten files wants no more; a loader wants everything. */
static int load_some(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);

	for (unsigned i = 0; i < 10; i++)
		ask_all(p, &made_of.files[i * 29]);
	pause_us(300000);
	CHECK(atomic_load(&sink_state->calls) == 0);
	for (unsigned i = 0; i < 40; i++)
		ask_all(p, &made_of.files[i * 7 % SMALL]);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) == all_pages());
	settle();
	for (unsigned i = 0; i < made_of.count; i++) {
		CHECK(is_stored(&made_of.files[i], 0) || is_stored(&made_of.files[i], 1));
		CHECK(atomic_load(&made_of.files[i].there));
	}
	CHECK(stats_get(COUNTER_evicted_files) <= 40);
	return 0;
}

static void test_a_loader_begins_the_sweep(void **state)
{
	(void)state;
	run(load_some);
}

/* Readers and the sweep at the same time: nothing is missing at the end. */
static int load_all(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, true, true);

	for (unsigned i = 0; i < made_of.count; i++)
		ask_all(p, &made_of.files[i * 97 % made_of.count]);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) == all_pages());
	check_idle();
	CHECK(stats_get(COUNTER_resident_bytes) == all_pages());
	/* what is read before there is an order is read by itself */
	CHECK(bytes_read() <= made_of.source_bytes * 3 / 2);
	return 0;
}

static void test_a_loader_reads_everything(void **state)
{
	(void)state;
	run(load_all);
}

/* A dataset larger than memory. */

static bool is_swept(void)
{
	return stats_get(COUNTER_sweep_target) > 0 &&
	       stats_get(COUNTER_swept_bytes) >= stats_get(COUNTER_sweep_target);
}

static int sweep_some(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = start(memory, budget, false, true);

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && is_swept());
	settle();
	CHECK(stats_get(COUNTER_resident_bytes) == pages_there());
	CHECK(pages_there() <= budget * 3 / 4 && pages_there() >= budget / 2);
	CHECK(bytes_read() <= budget);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < SMALL; i++)
			ask_all(p, &made_of.files[i * 97 % SMALL]);
		check_idle();
		CHECK(pages_there() <= budget);
		CHECK(stats_get(COUNTER_resident_bytes) <= budget);
		CHECK(stats_get(COUNTER_cache_bytes) <= budget / 2);
	}
	CHECK(atomic_load(&sink_state->drops) > 0);
	CHECK(stats_get(COUNTER_dropped_files) == atomic_load(&sink_state->drops));
	return 0;
}

static void test_what_is_beyond_the_budget_goes_again(void **state)
{
	(void)state;
	run(sweep_some);
}

/*
 * Nobody has looked at the names yet when the sweep is planned: what the kernel will keep
 * of them is within the budget as well.
 */
static int sweep_before_the_names(void *memory)
{
	const uint64_t budget = 40 * MIB, name_bytes = 2000;
	struct prefetch *p;
	uint64_t files;

	stats_set(COUNTER_name_bytes, name_bytes);
	p = start(memory, budget, false, true);
	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_sweep_limit) == LIMIT_BUDGET || is_swept());
	settle();
	files = stats_get(COUNTER_pushed_files);
	CHECK(pages_there() + files * name_bytes <= budget - memory_cache_part(budget));
	CHECK(stats_get(COUNTER_sweep_limit) == (files < TINY ? LIMIT_BUDGET : LIMIT_NONE));
	return 0;
}

static void test_names_to_come_are_within_the_budget(void **state)
{
	(void)state;
	run(sweep_before_the_names);
}

/* What is being read when it is to go, goes later. */
static int drop_what_is_busy(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = start(memory, budget, false, true);

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && is_swept());
	atomic_store(&sink_state->busy_drops, 40);
	for (unsigned i = 0; i < SMALL; i++)
		ask_all(p, &made_of.files[i * 97 % SMALL]);
	WAIT_FOR(atomic_load(&sink_state->busy_drops) == 0);
	WAIT_FOR(pages_there() - stats_get(COUNTER_resident_bytes) <=
		 budget / 16 + 256 * KIB);
	/* and nobody tries all the time where there is no other */
	atomic_store(&sink_state->busy_drops, UINT_MAX);
	ask_all(p, large_file());
	check_idle();
	CHECK(UINT_MAX - atomic_load(&sink_state->busy_drops) < 200);
	return 0;
}

static void test_what_is_busy_is_dropped_later(void **state)
{
	(void)state;
	run(drop_what_is_busy);
}

/* What was read before a loader was seen is within the budget as well, or goes. */
static int read_before_the_sweep(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = start(memory, budget, false, true);

	ask_all(p, large_file());
	WAIT_FOR(stats_get(COUNTER_resident_bytes) >= pages_of(large_file()));
	for (unsigned i = 0; i < 40; i++)
		ask_all(p, &made_of.files[i * 7 % SMALL]);
	WAIT_FOR(is_swept() && !atomic_load(&large_file()->there));
	settle();
	CHECK(stats_get(COUNTER_sweep_limit) == LIMIT_BUDGET);
	CHECK(pages_there() <= budget && stats_get(COUNTER_resident_bytes) <= budget);
	return 0;
}

static void test_what_was_read_before_the_sweep_goes(void **state)
{
	(void)state;
	run(read_before_the_sweep);
}

/* The budget ends within a large file: what is behind that goes after use. */
static int sweep_a_part_of_a_file(void *memory)
{
	const uint64_t budget = 20 * MIB;
	struct prefetch *p = start(memory, budget, false, true);
	uint64_t from;

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && is_swept());
	settle();
	CHECK(atomic_load(&large_file()->stored[0]) == 1);
	CHECK(atomic_load(&large_file()->stored[9 * MIB / PAGE]) == 0);
	/* what is there is counted, though it is no whole file */
	CHECK(stats_get(COUNTER_resident_bytes) == pages_stored());
	CHECK(stats_get(COUNTER_resident_bytes) + stats_get(COUNTER_cache_bytes) <= budget);
	for (unsigned epoch = 1; epoch <= 2; epoch++) {
		ask_all(p, large_file());
		WAIT_FOR(atomic_load(&sink_state->drops) == epoch);
		from = atomic_load(&sink_state->dropped_from);
		CHECK(from > 0 && atomic_load(&large_file()->stored[from / PAGE]) == 0);
		CHECK(atomic_load(&large_file()->stored[from / PAGE - 1]) == 1);
		CHECK(stats_get(COUNTER_resident_bytes) <= budget);
	}
	return 0;
}

static void test_a_file_that_is_held_in_part(void **state)
{
	(void)state;
	run(sweep_a_part_of_a_file);
}

/* Two files in the same place, of which one comes in pieces, and the other does not. */
static int read_what_overlaps(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, true);

	atomic_store(&sink_state->answer, -EBUSY);
	prefetch_sweep(p);
	WAIT_FOR(is_swept());
	settle();
	for (unsigned i = made_of.count; i-- > 0;)
		ask_all(p, &made_of.files[i]);
	settle();
	CHECK(stats_get(COUNTER_resident_bytes) == all_pages());
	return 0;
}

static void test_each_has_pieces_of_its_own(void **state)
{
	(void)state;
	run(read_what_overlaps);
}

/* There is no room for any of it. */
static int sweep_none(void *memory)
{
	struct prefetch *p = start(memory, 1, true, true);

	prefetch_sweep(p);
	settle(); /* what is read before there is an order is not known to be too much */
	for (unsigned i = 0; i < made_of.count; i++)
		ask_all(p, &made_of.files[i]);
	check_idle();
	CHECK(pages_there() <= LARGE_BYTES + PAGE);
	CHECK(stats_get(COUNTER_pushed_files) == 0);
	return 0;
}

static void test_no_budget_at_all(void **state)
{
	(void)state;
	run(sweep_none);
}

static int drop_tiny(void *memory)
{
	const uint64_t budget = 8 * MIB;
	struct prefetch *p = start(memory, budget, false, true);

	prefetch_sweep(p);
	settle();
	for (unsigned i = 0; i < made_of.count; i++) {
		ask(p, &made_of.files[i], 0, TINY_BYTES);
		if (i % 100 == 0)
			pause_us(1000);
	}
	check_idle();
	CHECK(pages_there() <= budget);
	return 0;
}

/* A file of a few bytes takes a page: the budget is full of them soon. */
static void test_tiny_files_are_dropped_as_well(void **state)
{
	(void)state;
	run(drop_tiny);
}

/* A stream through what is beyond the budget: a window ahead of it, each byte once. */
static int stream_beyond(void *memory)
{
	const uint64_t budget = 16 * MIB;
	struct prefetch *p = start(memory, budget, true, true);
	uint64_t before;

	prefetch_sweep(p);
	WAIT_FOR(stats_get(COUNTER_resident_bytes) > 0 && is_swept());
	settle();
	CHECK(atomic_load(&large_file()->stored[9 * MIB / PAGE]) == 0);
	before = bytes_read();
	for (uint64_t at = 0; at < LARGE_BYTES; at += 128 * KIB) {
		ask(p, large_file(), at, 128 * KIB);
		pause_us(2000);
	}
	check_idle();
	CHECK(bytes_read() - before <= LARGE_BYTES * 5 / 4);
	return 0;
}

static void test_a_window_is_read_once(void **state)
{
	(void)state;
	run(stream_beyond);
}

/*
 * Readers of several places that take turns, and a cache that does not hold a window for
 * each of them: what is read ahead is still there when it is asked for.
 */
static int read_in_turns(void *memory)
{
	enum { READERS = 5, PIECE = 64 * KIB };
	const uint64_t part = LARGE_BYTES / READERS / PIECE * PIECE;
	struct prefetch *p;

	never_sweeps = true;
	p = start(memory, 4 * MIB, true, true);
	for (uint64_t at = 0; at < part; at += PIECE) {
		for (unsigned i = 0; i < READERS; i++)
			ask(p, large_file(), i * part + at, PIECE);
		pause_us(5000);
	}
	check_idle();
	/* of the blocks at the ends of the parts two readers have a piece */
	CHECK(bytes_read() <= LARGE_BYTES * 5 / 4);
	return 0;
}

static void test_windows_of_many_are_read_once(void **state)
{
	(void)state;
	run(read_in_turns);
}

/*
 * A loader, whose files' neighbours are read at once: a block counts once, and what is
 * swept never is more than there is to sweep.
 */
static int load_more_than_fits(void *memory, bool with_sink)
{
	struct prefetch *p = start(memory, 12 * MIB, false, with_sink);

	prefetch_sweep(p);
	for (unsigned i = 0; i < made_of.count; i++) {
		ask_all(p, &made_of.files[i * 97 % made_of.count]);
		CHECK(stats_get(COUNTER_swept_bytes) <= stats_get(COUNTER_sweep_target));
	}
	check_idle();
	CHECK(stats_get(COUNTER_swept_bytes) == stats_get(COUNTER_sweep_target));
	return 0;
}

static int load_and_keep(void *memory)
{
	return load_more_than_fits(memory, false);
}

static int load_and_push(void *memory)
{
	return load_more_than_fits(memory, true);
}

static void test_nothing_is_swept_twice(void **state)
{
	(void)state;
	run(load_and_keep);
	run(load_and_push);
}

/* Nothing is pushed. */

static int keep_all(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, false, false);
	uint64_t before;

	prefetch_sweep(p);
	WAIT_FOR(bytes_read() >= all_bytes());
	settle();
	CHECK(bytes_read() <= made_of.source_bytes);
	before = stats_get(COUNTER_source_reads);
	for (unsigned i = 0; i < made_of.count; i++)
		ask_all(p, &made_of.files[i]);
	CHECK(stats_get(COUNTER_source_reads) == before);
	return 0;
}

static int keep_some(void *memory)
{
	const uint64_t budget = 12 * MIB;
	struct prefetch *p = start(memory, budget, false, false);

	prefetch_sweep(p);
	WAIT_FOR(bytes_read() > 0);
	settle();
	CHECK(stats_get(COUNTER_cache_bytes) <= budget);
	/* one block of each thread may be on top */
	CHECK(bytes_read() >= budget / 2 && bytes_read() <= budget + 8 * MIB);
	for (unsigned i = 0; i < made_of.count; i++)
		ask_all(p, &made_of.files[i]);
	check_idle();
	CHECK(stats_get(COUNTER_cache_bytes) <= budget);
	return 0;
}

static void test_without_a_sink_the_cache_keeps_it(void **state)
{
	(void)state;
	run(keep_all);
	run(keep_some);
}

/* Servers that follow each other. */

static int die_of(void *memory, unsigned file)
{
	struct prefetch *p;

	sink_state->pause_us = 1000;
	sink_state->dies_of = made_of.files[file].node;
	p = start(memory, 1024 * MIB, false, true);
	prefetch_sweep(p);
	pause_us(PATIENCE_MS * 1000);
	return 1;
}

static int die_of_a_file(void *memory)
{
	return die_of(memory, 150);
}

/* By then each block has been given to a thread. */
static int die_at_the_end(void *memory)
{
	return die_of(memory, SMALL);
}

/* A piece that was stored just before a death is stored again. */
static bool is_whole(const struct file *file)
{
	for (uint64_t i = 0; i * PAGE < file->size; i++) {
		unsigned times = atomic_load(&file->stored[i]);

		if (times < 1 || times > 2)
			return false;
	}
	return true;
}

/* Of the small files, and of the large one whether it is there. */
static unsigned missing_files(void)
{
	unsigned missing = is_whole(large_file()) ? 0 : SMALL;

	for (unsigned i = 0; i < SMALL; i++)
		missing += !is_stored(&made_of.files[i], 1);
	return missing;
}

enum { LEFT_OUT_MOST = 8 };

static int take_over(void *memory)
{
	struct prefetch *p;

	sink_state->dies_of = 0;
	sink_state->pause_us = 0;
	p = start_after(memory, 1024 * MIB, false, true, true);
	prefetch_sweep(p);
	WAIT_FOR(missing_files() <= LEFT_OUT_MOST);
	check_idle();
	return 0;
}

/* The one before was killed: that says nothing of what it was at. */
static int finish_for_one_killed(void *memory)
{
	sink_state->dies_of = 0;
	sink_state->pause_us = 0;
	start(memory, 1024 * MIB, false, true);
	WAIT_FOR(is_swept());
	check_idle();
	for (unsigned i = 0; i < made_of.count; i++)
		CHECK(is_whole(&made_of.files[i]));
	CHECK(stats_get(COUNTER_resident_bytes) == all_pages());
	CHECK(stats_get(COUNTER_swept_bytes) == stats_get(COUNTER_sweep_target));
	CHECK(stats_get(COUNTER_swept_bytes) <= all_pages());
	return 0;
}

static void run_with_a_death(int (*first)(void *))
{
	struct prefetch_memory *memory = memory_for();

	forget();
	assert_int_equal(unit_child(first, memory), 256 + SIGKILL);
	assert_int_equal(unit_child(finish_for_one_killed, memory), 0);
	prefetch_memory_free(memory);
}

static void test_what_a_killed_server_was_at_is_stored(void **state)
{
	(void)state;
	run_with_a_death(die_of_a_file);
	run_with_a_death(die_at_the_end);
}

static void test_a_successor_goes_on(void **state)
{
	struct prefetch_memory *memory = memory_for();
	unsigned missing = 0;

	(void)state;
	forget();
	assert_int_equal(unit_child(die_of_a_file, memory), 256 + SIGKILL);
	assert_int_equal(unit_child(take_over, memory), 0);
	for (unsigned i = 0; i < SMALL; i++) {
		unsigned times = atomic_load(&made_of.files[i].stored[0]);

		assert_true(times <= 1);
		missing += times == 0;
	}
	assert_true(is_stored(&made_of.files[150], 0));
	/* what the threads of the first one were at */
	assert_in_range(missing, 1, LEFT_OUT_MOST);
	assert_true(is_stored(&made_of.files[SMALL - 1], 1));
	assert_true(is_whole(large_file()));
	prefetch_memory_free(memory);
}

/* Storage that fails: the last test, for it cuts a source off. */
static int sweep_cut(void *memory)
{
	struct prefetch *p = start(memory, 1024 * MIB, true, true);

	CHECK(truncate("0.bin", 5 * MIB) == 0);
	prefetch_sweep(p);
	WAIT_FOR(is_stored(large_file(), 1));
	check_idle();
	for (unsigned i = 0; i < SMALL; i++) {
		const struct file *file = &made_of.files[i];
		bool is_whole = file->offset + file->size <= 5 * MIB;

		CHECK(is_stored(file, is_whole ? 1 : 0));
	}
	ask_all(p, &made_of.files[0]);
	return 0;
}

static void test_a_source_that_fails(void **state)
{
	(void)state;
	run(sweep_cut);
}

static const struct CMUnitTest of_tiny_files[] = {
	cmocka_unit_test(test_names_to_come_are_within_the_budget),
	cmocka_unit_test(test_tiny_files_are_dropped_as_well),
};

static const struct CMUnitTest of_files_that_overlap[] = {
	cmocka_unit_test(test_each_has_pieces_of_its_own),
};

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_a_sweep_stores_everything_once),
	cmocka_unit_test(test_a_page_that_is_gone),
	cmocka_unit_test(test_a_sweep_is_the_work_of_many),
	cmocka_unit_test(test_a_file_with_a_gap_is_not_held),
	cmocka_unit_test(test_what_the_kernel_does_not_know_is_kept),
	cmocka_unit_test(test_a_sink_that_refuses),
	cmocka_unit_test(test_nobody_waits_for_the_sink),
	cmocka_unit_test(test_a_loader_begins_the_sweep),
	cmocka_unit_test(test_a_loader_reads_everything),
	cmocka_unit_test(test_what_is_beyond_the_budget_goes_again),
	cmocka_unit_test(test_what_is_busy_is_dropped_later),
	cmocka_unit_test(test_what_was_read_before_the_sweep_goes),
	cmocka_unit_test(test_a_file_that_is_held_in_part),
	cmocka_unit_test(test_no_budget_at_all),
	cmocka_unit_test(test_a_window_is_read_once),
	cmocka_unit_test(test_windows_of_many_are_read_once),
	cmocka_unit_test(test_nothing_is_swept_twice),
	cmocka_unit_test(test_without_a_sink_the_cache_keeps_it),
	cmocka_unit_test(test_a_successor_goes_on),
	cmocka_unit_test(test_what_a_killed_server_was_at_is_stored),
	cmocka_unit_test(test_a_source_that_fails),
};

/* A program has one group of tests: the other ones have names of their own. */
int main(int argc, char **argv)
{
	const char *name = argc > 0 ? argv[0] : "";

	unit_begin();
	if (stats_share() < 0)
		return 1;
	stats_set(COUNTER_name_bytes, TREE_NAME_BYTES);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (strstr(name, "-tiny"))
		return cmocka_run_group_tests(of_tiny_files, enter_tiny, leave);
	if (strstr(name, "-overlap"))
		return cmocka_run_group_tests(of_files_that_overlap, enter_overlapping, leave);
	return cmocka_run_group_tests(tests, enter, leave);
}
