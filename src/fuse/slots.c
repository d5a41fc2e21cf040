#include "fuse/slots.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/checked.h"

enum {
	PARKED = 1024,
	PARKED_BYTES = sizeof(struct fuse_in_header) + sizeof(struct fuse_read_in),
	REQUEST_PAGES = 256,  /* libfuse's buffer: so many pages, and a header's */
	HEADER_BYTES = 4096,
	SUSPECTS = 64,
	CRASHES_MOST = 2,
	DEATHS_MOST = 16,     /* killed from outside, or by lack of memory */
	CACHE_LINE = 64,
};

/* What is known of a slot besides the request. */
struct account {
	alignas(CACHE_LINE) _Atomic uint64_t answered;
	_Atomic uint32_t deaths; /* that the request in it has seen */
};

struct suspect {
	uint64_t name;      /* 0: free */
	uint32_t crashes;
	uint32_t order;     /* of entry: the oldest one makes room */
	bool condemned;
	_Atomic bool told;  /* it has been refused; a server's to set */
};

/* A mapping that every server shares; the requests lie behind it, page-aligned. */
struct slots {
	unsigned threads;
	size_t request_bytes;     /* a multiple of the page size */
	size_t mapping_bytes;
	unsigned char *requests;
	_Atomic bool ready, ended;
	_Atomic int crash_signal; /* 0, or what the first thread to crash got */
	_Atomic int crash_slot;
	_Atomic bool any_condemned;
	uint32_t suspects_seen;
	struct suspect suspects[SUSPECTS]; /* the supervisor's */
	alignas(CACHE_LINE) unsigned char parked[PARKED][PARKED_BYTES];
	struct account accounts[];
};

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

/*
 * Where a request begins must not be swapped out: the kernel does not wait for a page
 * on behalf of a process that is being killed, but ends the request with an error. As
 * far as the limit of locked memory goes.
 */
static void keep_in_memory(struct slots *slots)
{
	for (unsigned i = 0; i < slots->threads; i++) {
		if (mlock(slots->requests + i * slots->request_bytes, HEADER_BYTES) < 0)
			return;
	}
}

struct slots *slots_new(unsigned threads)
{
	size_t request = whole_pages(REQUEST_PAGES * (size_t)sysconf(_SC_PAGESIZE) +
				     HEADER_BYTES);
	size_t head = whole_pages(sizeof(struct slots) +
				  (threads + PARKED) * sizeof(struct account));
	size_t size = head + threads * request;
	struct slots *slots = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (slots == MAP_FAILED)
		return NULL;
	slots->threads = threads;
	slots->request_bytes = request;
	slots->mapping_bytes = size;
	slots->requests = (unsigned char *)slots + head;
	atomic_store(&slots->crash_slot, -1);
	keep_in_memory(slots);
	return slots;
}

void slots_free(struct slots *slots)
{
	if (slots)
		munmap(slots, slots->mapping_bytes);
}

unsigned slots_threads(const struct slots *slots)
{
	return slots->threads;
}

unsigned slots_count(const struct slots *slots)
{
	return slots->threads + PARKED;
}

static void *place(const struct slots *slots, unsigned slot)
{
	if (slot < slots->threads)
		return slots->requests + slot * slots->request_bytes;
	return (unsigned char *)(uintptr_t)slots->parked[slot - slots->threads];
}

/*
 * The word that says whether there is a request. The kernel writes it too, but
 * never while anybody else looks.
 */
static _Atomic uint32_t *length_of(const struct slots *slots, unsigned slot)
{
	return place(slots, slot);
}

void *slots_receive(struct slots *slots, unsigned slot)
{
	/* this also has the page there: the kernel copies a request into pages that
	   are there even when the process is being killed */
	atomic_store(length_of(slots, slot), 0);
	atomic_store_explicit(&slots->accounts[slot].deaths, 0, memory_order_relaxed);
	return place(slots, slot);
}

struct fuse_in_header *slots_request(struct slots *slots, unsigned slot)
{
	size_t room = slot < slots->threads ? slots->request_bytes : PARKED_BYTES;
	uint32_t length = atomic_load(length_of(slots, slot));

	if (length < sizeof(struct fuse_in_header) || length > room)
		return NULL;
	return place(slots, slot);
}

void slots_done(struct slots *slots, unsigned slot)
{
	atomic_store(length_of(slots, slot), 0);
	atomic_fetch_add_explicit(&slots->accounts[slot].answered, 1, memory_order_relaxed);
}

int slots_park(struct slots *slots, unsigned slot)
{
	const struct fuse_in_header *request = place(slots, slot);
	uint32_t length = request->len;
	unsigned to = slots->threads;
	unsigned char *target;

	if (length > PARKED_BYTES)
		return -1;
	while (to < slots_count(slots) && atomic_load(length_of(slots, to)))
		to++;
	if (to == slots_count(slots))
		return -1;
	target = place(slots, to);
	/* the length last: at no moment is the request in neither place */
	memcpy(target + sizeof(length), (const unsigned char *)request + sizeof(length),
	       length - sizeof(length));
	atomic_store_explicit(&slots->accounts[to].deaths,
			      atomic_load(&slots->accounts[slot].deaths),
			      memory_order_relaxed);
	atomic_store(length_of(slots, to), length);
	atomic_store(length_of(slots, slot), 0);
	return (int)to;
}

/* FNV-1a */
static uint64_t hash(uint64_t sum, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* The same for the same request of whoever it was. Never 0. */
static uint64_t name_of(const struct fuse_in_header *request)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	sum = hash(sum, &request->opcode, sizeof(request->opcode));
	sum = hash(sum, &request->nodeid, sizeof(request->nodeid));
	if (request->opcode != FUSE_READ)
		sum = hash(sum, request + 1, request->len - sizeof(*request));
	return sum ? sum : 1;
}

static struct suspect *find_suspect(const struct slots *slots, uint64_t name)
{
	for (unsigned i = 0; i < SUSPECTS; i++) {
		if (slots->suspects[i].name == name)
			return (struct suspect *)(uintptr_t)&slots->suspects[i];
	}
	return NULL;
}

bool slots_is_condemned(const struct slots *slots, unsigned slot)
{
	const struct suspect *suspect;

	if (!atomic_load_explicit(&slots->any_condemned, memory_order_relaxed))
		return false;
	suspect = find_suspect(slots, name_of(place(slots, slot)));
	return suspect && suspect->condemned;
}

bool slots_first_refusal(struct slots *slots, unsigned slot)
{
	struct suspect *suspect = find_suspect(slots, name_of(place(slots, slot)));

	return suspect && !atomic_exchange(&suspect->told, true);
}

void slots_crashed(struct slots *slots, int slot, int signal)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&slots->crash_signal, &none, signal))
		atomic_store(&slots->crash_slot, slot);
}

void slots_set_ready(struct slots *slots)
{
	atomic_store(&slots->ready, true);
}

void slots_set_ended(struct slots *slots)
{
	atomic_store(&slots->ended, true);
}

bool slots_has_ended(const struct slots *slots)
{
	return atomic_load(&slots->ended);
}

/* The one with this name; a new one takes the oldest one's place. */
static struct suspect *suspect_of(struct slots *slots, uint64_t name)
{
	struct suspect *suspect = find_suspect(slots, name);

	if (suspect)
		return suspect;
	suspect = &slots->suspects[0];
	for (unsigned i = 0; i < SUSPECTS; i++) {
		if (slots->suspects[i].order < suspect->order)
			suspect = &slots->suspects[i];
	}
	*suspect = (struct suspect){ .name = name, .order = ++slots->suspects_seen };
	return suspect;
}

static void condemn(struct slots *slots, struct suspect *suspect)
{
	suspect->condemned = true;
	atomic_store(&slots->any_condemned, true);
}

static void bury_crash(struct slots *slots)
{
	int slot = atomic_load(&slots->crash_slot);
	const struct fuse_in_header *request = NULL;
	struct suspect *suspect;

	if (slot >= 0 && (unsigned)slot < slots_count(slots))
		request = slots_request(slots, (unsigned)slot);
	if (!request)
		return;
	suspect = suspect_of(slots, name_of(request));
	if (++suspect->crashes >= CRASHES_MOST)
		condemn(slots, suspect);
}

/* Nobody knows what a server was killed for: only what was there every time. */
static void bury_request(struct slots *slots, unsigned slot, bool crashed)
{
	const struct fuse_in_header *request = slots_request(slots, slot);
	_Atomic uint32_t *deaths = &slots->accounts[slot].deaths;

	if (request && !crashed && atomic_fetch_add(deaths, 1) + 1 >= DEATHS_MOST)
		condemn(slots, suspect_of(slots, name_of(request)));
}

void slots_bury(struct slots *slots, struct slots_legacy *out)
{
	*out = (struct slots_legacy){ .ended = atomic_load(&slots->ended),
				      .ready = atomic_load(&slots->ready),
				      .signal = atomic_load(&slots->crash_signal) };
	if (out->signal)
		bury_crash(slots);
	for (unsigned i = 0; i < slots_count(slots); i++) {
		out->requests += slots_request(slots, i) != NULL;
		out->answered += atomic_load(&slots->accounts[i].answered);
		bury_request(slots, i, out->signal != 0);
	}
	atomic_store(&slots->crash_slot, -1);
	atomic_store(&slots->crash_signal, 0);
	atomic_store(&slots->ready, false);
}

void slots_condemn_old(struct slots *slots, unsigned deaths)
{
	for (unsigned i = 0; i < slots_count(slots); i++) {
		const struct fuse_in_header *request = slots_request(slots, i);

		if (request && atomic_load(&slots->accounts[i].deaths) >= deaths)
			condemn(slots, suspect_of(slots, name_of(request)));
	}
}
