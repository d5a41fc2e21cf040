/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/slots.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "fuse/slots_state.h"
#include "os/bounded.h"
#include "os/pages.h"

/*
 * Locks the beginning of each request in memory, as far as the limit of locked memory
 * allows. While a process is being killed, the kernel does not wait for a swapped page,
 * but ends the request with an error.
 */
static void lock_in_memory(struct slots *slots)
{
	for (unsigned i = 0; i < slots->threads; i++) {
		if (mlock(slots->requests + i * slots->request_bytes, SLOTS_HEADER_BYTES) < 0)
			return;
	}
}

static int map(struct slots *slots)
{
	size_t head = pages_round_up(sizeof(struct shared) +
				  slots_count(slots) * sizeof(struct account));
	void *shared;

	slots->shared_bytes = head + slots->threads * slots->request_bytes;
	shared = mmap(NULL, slots->shared_bytes, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		return -ENOMEM;
	slots->shared = shared;
	slots->requests = (unsigned char *)shared + head;
	return 0;
}

struct slots *slots_new(unsigned threads)
{
	struct slots *slots = calloc(1, sizeof(*slots));

	if (!slots)
		return NULL;
	slots->magic = HANDLE_SLOTS;
	slots->seed = hash_random();
	slots->threads = threads;
	slots->request_bytes = pages_round_up(SLOTS_REQUEST_MOST);
	if (map(slots) < 0) {
		free(slots);
		return NULL;
	}
	atomic_store(&slots->shared->crash_slot, -1);
	atomic_store(&slots->shared->alone, NOBODY);
	lock_in_memory(slots);
	return slots;
}

void slots_free(struct slots *slots)
{
	if (!slots)
		return;
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	munmap(slots->shared, slots->shared_bytes);
	slots->magic = HANDLE_DEAD;
	free(slots);
}

unsigned slots_threads(const struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return slots->threads;
}

unsigned slots_count(const struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return slots->threads + PARKED;
}

static void set_account(struct account *account, uint32_t burden, uint32_t grave,
			uint32_t alone)
{
	atomic_store_explicit(&account->begun, false, memory_order_relaxed);
	atomic_store_explicit(&account->burden, burden, memory_order_relaxed);
	atomic_store_explicit(&account->grave, grave, memory_order_relaxed);
	atomic_store_explicit(&account->alone, alone, memory_order_relaxed);
}

void *slots_receive(struct slots *slots, unsigned slot)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	/*
	 * the write maps the page: the kernel copies a request into mapped pages even
	 * while the process is being killed
	 */
	atomic_store(slots_length(slots, slot), 0);
	set_account(slots_account(slots, slot), 0, 0, 0);
	return slots_place(slots, slot);
}

struct fuse_in_header *slots_request(struct slots *slots, unsigned slot)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return slots_request_length(slots, slot) ? slots_place(slots, slot) : NULL;
}

bool slots_needs_answer(const struct fuse_in_header *request)
{
	return request->opcode != FUSE_FORGET && request->opcode != FUSE_BATCH_FORGET &&
	       request->opcode != FUSE_INTERRUPT;
}

void slots_begin(struct slots *slots, unsigned slot)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	atomic_store(&slots_account(slots, slot)->begun, true);
}

void slots_done(struct slots *slots, unsigned slot)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	atomic_store(slots_length(slots, slot), 0);
	atomic_fetch_add_explicit(&slots_account(slots, slot)->answered, 1, memory_order_relaxed);
}

int slots_park(struct slots *slots, unsigned slot)
{
	const struct fuse_in_header *request = slots_place(slots, slot);
	uint32_t length = request->len;
	unsigned to = slots->threads;
	const struct account *from;
	unsigned char *target;

	HANDLE_CHECK(slots, HANDLE_SLOTS);
	if (length > PARKED_BYTES)
		return -1;
	while (to < slots_count(slots) && atomic_load(slots_length(slots, to)))
		to++;
	if (to == slots_count(slots))
		return -1;
	target = slots_place(slots, to);
	/* the length last: at each moment the request is in one place at least */
	memcpy(target + sizeof(length), (const unsigned char *)request + sizeof(length),
	       length - sizeof(length));
	from = slots_account(slots, slot);
	set_account(slots_account(slots, to), from->burden, from->grave, from->alone);
	atomic_store(slots_length(slots, to), length);
	atomic_store(slots_length(slots, slot), 0);
	return (int)to;
}

/* A hash that is equal for equal requests of any process; 0: no request. */
static uint64_t slots_name_of(const struct slots *slots, unsigned slot)
{
	const struct fuse_in_header *request = slots_place(slots, slot);
	uint32_t length = slots_request_length(slots, slot);
	uint64_t sum = slots->seed;

	if (!length)
		return 0;
	sum = hash_digest(sum, &request->opcode, sizeof(request->opcode));
	sum = hash_digest(sum, &request->nodeid, sizeof(request->nodeid));
	if (request->opcode != FUSE_READ)
		sum = hash_digest(sum, request + 1, length - sizeof(*request));
	return sum ? sum : 1;
}

static int slots_find_suspect(const struct slots *slots, uint64_t name)
{
	for (int i = 0; i < SUSPECTS; i++) {
		if (slots->suspects[i].name == name)
			return i;
	}
	return -1;
}

bool slots_is_condemned(const struct slots *slots, unsigned slot, int64_t now)
{
	int found = slots->any_condemned
			    ? slots_find_suspect(slots, slots_name_of(slots, slot))
			    : -1;

	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return found >= 0 && now < slots->suspects[found].condemned_until;
}

bool slots_first_refusal(struct slots *slots, unsigned slot)
{
	int found = slots_find_suspect(slots, slots_name_of(slots, slot));
	uint32_t order = found >= 0 ? slots->suspects[found].order : 0;

	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return found >= 0 && atomic_exchange(&slots->shared->refused[found], order) != order;
}

void slots_crashed(struct slots *slots, int slot, int signal)
{
	int none = 0;

	HANDLE_CHECK(slots, HANDLE_SLOTS);
	if (atomic_compare_exchange_strong(&slots->shared->crash_signal, &none, signal))
		atomic_store(&slots->shared->crash_slot, slot);
}

bool slots_is_suspect(const struct slots *slots, unsigned slot)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return slots_request_length(slots, slot) &&
	       atomic_load(&slots_account(slots, slot)->burden) >= SUSPECT_AT;
}

static void set_serial(struct slots *slots, int which)
{
	atomic_store(&slots->shared->alone_since, bounded_now());
	atomic_store(&slots->shared->alone, which);
}

unsigned slots_idle_required(const struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return slots->idle_ms;
}

void slots_idle_begins(struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	set_serial(slots, IDLE);
}

void slots_alone_begins(struct slots *slots, unsigned slot)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	set_serial(slots, (int)slot);
}

void slots_alone_ends(struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	atomic_store(&slots->shared->alone, NOBODY);
}

void slots_clear_suspect(struct slots *slots, unsigned slot)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	atomic_store(&slots_account(slots, slot)->burden, 0);
	atomic_store(&slots_account(slots, slot)->alone, 0);
}

void slots_set_ready(struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	atomic_store(&slots->shared->ready, true);
}

void slots_set_ended(struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	atomic_store(&slots->shared->ended, true);
}

bool slots_has_ended(const struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	return atomic_load(&slots->shared->ended);
}

bool slots_pending(const struct slots *slots)
{
	HANDLE_CHECK(slots, HANDLE_SLOTS);
	for (unsigned i = 0; i < slots_count(slots); i++) {
		if (slots_request_length(slots, i))
			return true;
	}
	return false;
}

/* The suspect with this name; a new suspect replaces the oldest. */
static struct suspect *suspect_of(struct slots *slots, uint64_t name)
{
	int found = slots_find_suspect(slots, name);
	struct suspect *suspect = &slots->suspects[found < 0 ? 0 : found];

	if (found >= 0)
		return suspect;
	for (unsigned i = 0; i < SUSPECTS; i++) {
		if (slots->suspects[i].order < suspect->order)
			suspect = &slots->suspects[i];
	}
	*suspect = (struct suspect){ .name = name, .order = ++slots->suspects_seen };
	return suspect;
}

static void record_crash(struct slots *slots)
{
	int slot = atomic_load(&slots->shared->crash_slot);
	struct suspect *suspect;
	uint64_t name = 0;

	if (slot >= 0 && (unsigned)slot < slots_count(slots))
		name = slots_name_of(slots, (unsigned)slot);
	if (!name)
		return;
	suspect = suspect_of(slots, name);
	if (++suspect->crashes < CRASHES_MOST)
		return;
	suspect->condemned_until = INT64_MAX;
	slots->any_condemned = true;
}

static void sentence(struct slots *slots, unsigned slot, int64_t now)
{
	struct suspect *suspect = suspect_of(slots, slots_name_of(slots, slot));

	if (suspect->condemned_until < now) { /* and is logged again */
		suspect->order = ++slots->suspects_seen;
		suspect->condemned_until = now + SENTENCE_SECONDS;
	}
	slots->any_condemned = true;
}

/* The server was killed while this request was handled; `alone`: no other was. */
static void record_kill(struct slots *slots, unsigned slot, bool alone, bool grave,
			int64_t now)
{
	struct account *account = slots_account(slots, slot);
	_Atomic uint32_t *sum = alone ? &account->alone : &account->burden;
	uint32_t weight = !grave ? 1 : alone ? WEIGHT_ALONE : WEIGHT_IF_GRAVE;

	if (!slots_request_length(slots, slot) || !atomic_load(&account->begun))
		return;
	atomic_fetch_add(sum, weight);
	atomic_fetch_add(&account->grave, grave);
	if (account->alone >= ALONE_MOST || account->grave >= GRAVE_MOST)
		sentence(slots, slot, now);
}

/* Another process kills: no request is the cause of the deaths so far. */
static void acquit_all(struct slots *slots)
{
	for (unsigned i = 0; i < slots_count(slots); i++) {
		slots_clear_suspect(slots, i);
		atomic_store(&slots_account(slots, i)->grave, 0);
	}
	slots->idle_ms = 0;
}

static bool any_is_suspect(const struct slots *slots)
{
	for (unsigned i = 0; i < slots_count(slots); i++) {
		if (slots_is_suspect(slots, i))
			return true;
	}
	return false;
}

/*
 * A request that was handled alone when the server died may be the cause, unless a later
 * server dies while it is idle. To make that likely if another process kills at random
 * moments, the server stays idle several times longer than any request was handled alone.
 * A server that died before its idle time proves nothing.
 */
static void record_serial_death(struct slots *slots, int alone)
{
	int64_t took = bounded_now() - atomic_load(&slots->shared->alone_since);
	int64_t idle = IDLE_LEAST_MS;

	if (alone == IDLE)
		acquit_all(slots);
	if (alone < 0)
		return;
	if (took > IDLE_MOST_MS / IDLE_TIMES)
		idle = IDLE_MOST_MS;
	else if (took > IDLE_LEAST_MS / IDLE_TIMES)
		idle = took * IDLE_TIMES;
	if (slots->idle_ms < idle)
		slots->idle_ms = (unsigned)idle;
}

void slots_note_death(struct slots *slots, bool grave, int64_t now,
		      struct slots_death *out)
{
	struct shared *shared = slots->shared;
	int alone = atomic_exchange(&shared->alone, NOBODY);

	HANDLE_CHECK(slots, HANDLE_SLOTS);
	*out = (struct slots_death){ .ended = false };
	out->ended = atomic_load(&shared->ended);
	out->ready = atomic_load(&shared->ready);
	out->signal = atomic_load(&shared->crash_signal);
	if (out->signal)
		record_crash(slots);
	record_serial_death(slots, alone);
	for (unsigned i = 0; i < slots_count(slots); i++) {
		out->requests += slots_request_length(slots, i) != 0;
		out->answered += atomic_load(&shared->accounts[i].answered);
		if (!out->signal)
			record_kill(slots, i, alone == (int)i, grave, now);
		atomic_store(&shared->accounts[i].begun, false);
	}
	if (!any_is_suspect(slots))
		slots->idle_ms = 0;
	atomic_store(&shared->crash_slot, -1);
	atomic_store(&shared->crash_signal, 0);
	atomic_store(&shared->ready, false);
}
