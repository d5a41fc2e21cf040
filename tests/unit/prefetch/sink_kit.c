/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prefetch/sink_kit.h"

#include <signal.h>
#include <sys/mman.h>
#include <time.h>

struct sink_data sink_data;
struct sink_state *sink_state;

/* The dataset. */

static void add(struct made *made, const char *path, uint32_t source, uint64_t offset,
		uint64_t size)
{
	struct sink_file *file = &sink_data.files[sink_data.count++];

	file->source = source;
	file->offset = offset;
	file->size = size;
	made_file(made, path, source, offset, size);
}

static void find_nodes(char (*names)[16])
{
	for (unsigned i = 0; i < sink_data.count; i++) {
		uint32_t node = made_node(sink_data.dataset, names[i]);

		sink_data.files[i].node = node;
		sink_data.file_of[node] = i;
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
		at += sink_data.files[i].size;
	}
	return at;
}

static void *share(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

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
	sink_data.files = share((SMALL + TINY + 1) * sizeof(*sink_data.files));
	sink_state = share(sizeof(*sink_state));
	sink_data.count = 0;
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
	sink_data.dataset = made_open(&made);
	sink_data.source_bytes = sizes[0] + sizes[1];
	find_nodes(names);
	return 0;
}

int sink_enter(void **state)
{
	return make(state, USUAL);
}

int sink_enter_tiny(void **state)
{
	return make(state, OF_TINY);
}

int sink_enter_overlapping(void **state)
{
	return make(state, OVERLAPPING);
}

int sink_leave(void **state)
{
	dataset_close(sink_data.dataset);
	munmap(sink_data.files, (SMALL + TINY + 1) * sizeof(*sink_data.files));
	munmap(sink_state, sizeof(*sink_state));
	return unit_leave(state);
}

struct sink_file *sink_large_file(void)
{
	return &sink_data.files[SMALL];
}

uint64_t sink_pages_of(const struct sink_file *file)
{
	return pages_round_up(file->size);
}

uint64_t sink_all_pages(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < sink_data.count; i++)
		sum += sink_pages_of(&sink_data.files[i]);
	return sum;
}

uint64_t sink_all_bytes(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < sink_data.count; i++)
		sum += sink_data.files[i].size;
	return sum;
}

static void check_bytes(const struct sink_file *file, const unsigned char *bytes,
			uint64_t offset, size_t length)
{
	CHECK(offset <= file->size && length <= file->size - offset);
	for (size_t i = 0; i < length; i++)
		CHECK(bytes[i] == made_byte(file->source, file->offset + offset + i));
}

/* The sink. */

void sink_pause(unsigned us)
{
	nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000L }, NULL);
}

static void note_inside(void)
{
	unsigned inside = atomic_fetch_add(&sink_state->inside, 1) + 1;
	unsigned most = atomic_load(&sink_state->embedded_most);

	while (inside > most &&
	       !atomic_compare_exchange_weak(&sink_state->embedded_most, &most, inside))
		continue;
}

static int take(struct sink_file *file, uint64_t offset, const void *bytes, size_t length)
{
	int answer = atomic_load(&sink_state->unknown) ? -ENOENT :
							 atomic_load(&sink_state->answer);
	uint64_t refused = atomic_load(&sink_state->refused_at);

	if (answer == 0 && refused && refused == offset && file == sink_large_file())
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
	struct sink_file *file = &sink_data.files[sink_data.file_of[node]];
	int answer;

	CHECK(context == sink_state && file->node == node);
	atomic_fetch_add(&sink_state->calls, 1);
	note_inside();
	if (sink_state->dies_of && sink_state->dies_of == node)
		raise(SIGKILL);
	if (sink_state->pause_us)
		sink_pause(sink_state->pause_us);
	while (atomic_load(&sink_state->blocked))
		sink_pause(1000);
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
	struct sink_file *file = &sink_data.files[sink_data.file_of[node]];

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
	return !atomic_load(&sink_state->unknown);
}

static void look_up(void *context)
{
	CHECK(context == sink_state);
	atomic_fetch_add(&sink_state->looked_up, 1);
	atomic_store(&sink_state->unknown, false);
}

static struct prefetch_sink sink = { NULL, store, drop, knows, look_up };

/* Cases. */

bool sink_never_sweeps;
static uint64_t read_before; /* bytes of the sources, before the case began */

uint64_t sink_bytes_read(void)
{
	return stats_get(COUNTER_source_read_bytes) - read_before;
}

struct ledger *sink_memory(void)
{
	struct ledger *memory = prefetch_memory_new(sink_data.dataset);

	assert_non_null(memory);
	return memory;
}

struct prefetch *sink_start_after(struct ledger *memory, uint64_t budget,
				  bool windows, bool with_sink, bool crashed)
{
	struct prefetch_config config = { .windows = windows,
					 .sweep = !sink_never_sweeps,
					 .budget = budget,
					 .threads = 8,
					 .crashed = crashed,
					 .sink = with_sink ? &sink : NULL };
	struct prefetch *p;

	sink.context = sink_state;
	read_before = stats_get(COUNTER_source_read_bytes);
	CHECK(prefetch_start(sink_data.dataset, memory, &config, &p) == 0);
	CHECK(p);
	return p;
}

struct prefetch *sink_start(struct ledger *memory, uint64_t budget, bool windows,
			    bool with_sink)
{
	return sink_start_after(memory, budget, windows, with_sink, false);
}

int64_t sink_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void sink_settle(void)
{
	unsigned quiet = 0;

	while (quiet < 20) {
		uint64_t before = sink_bytes_read();
		unsigned calls = atomic_load(&sink_state->calls);

		sink_pause(10000);
		quiet = before == sink_bytes_read() &&
					calls == atomic_load(&sink_state->calls)
				? quiet + 1
				: 0;
	}
}

void sink_check_idle(void)
{
	struct timespec before, after;
	int64_t used_ms;

	sink_settle();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	sink_pause(300000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	used_ms = (after.tv_sec - before.tv_sec) * 1000 +
		  (after.tv_nsec - before.tv_nsec) / 1000000;
	CHECK(used_ms < 100);
}

void sink_ask(struct prefetch *p, struct sink_file *file, uint64_t offset, size_t length)
{
	struct read_context context = { .demand = true };
	unsigned char *buffer = malloc(length);
	ssize_t n;

	CHECK(buffer);
	context.hint = prefetch_read_begins(p, file->node);
	n = dataset_read(sink_data.dataset, file->node, buffer, length, offset, &context);
	CHECK(n >= 0);
	check_bytes(file, buffer, offset, (size_t)n);
	atomic_store(&file->there, true);
	prefetch_read_ends(p, file->node, offset, (size_t)n, false, &context);
	free(buffer);
}

void sink_ask_all(struct prefetch *p, struct sink_file *file)
{
	for (uint64_t at = 0; at < file->size; at += 128 * KIB)
		sink_ask(p, file, at, 128 * KIB);
}

bool sink_is_stored(const struct sink_file *file, unsigned times)
{
	for (uint64_t i = 0; i * PAGE < file->size; i++)
		if (atomic_load(&file->stored[i]) != times)
			return false;
	return true;
}

uint64_t sink_pages_there(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < sink_data.count; i++)
		if (atomic_load(&sink_data.files[i].there))
			sum += sink_pages_of(&sink_data.files[i]);
	return sum;
}

uint64_t sink_pages_stored(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < sink_data.count; i++)
		for (uint64_t at = 0; at < sink_data.files[i].size; at += pages_size())
			if (atomic_load(&sink_data.files[i].stored[at / PAGE]))
				sum += pages_size();
	return sum;
}

void sink_forget(void)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		stats_set((enum counter)i, 0);
	stats_set(COUNTER_name_bytes, TREE_NAME_BYTES);
	for (unsigned i = 0; i < sink_data.count; i++) {
		struct sink_file *file = &sink_data.files[i];

		for (uint64_t k = 0; k * PAGE < file->size; k++)
			atomic_store(&file->stored[k], 0);
		atomic_store(&file->there, false);
	}
	*sink_state = (struct sink_state){ .pause_us = 0 };
}

void sink_run(int (*child)(void *))
{
	struct ledger *memory = sink_memory();

	sink_forget();
	assert_int_equal(unit_child(child, memory), 0);
	prefetch_memory_free(memory);
}

bool sink_is_swept(void)
{
	return stats_get(COUNTER_sweep_target) > 0 &&
	       stats_get(COUNTER_swept_bytes) >= stats_get(COUNTER_sweep_target);
}
