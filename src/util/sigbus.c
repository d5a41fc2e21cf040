#include "util/sigbus.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/lock.h"

enum { GUARD_COUNT = 8 };

/* Read by a signal handler: hence a fixed table of atomics. */
struct sigbus_guard {
	_Atomic uintptr_t base; /* 0: the slot is free */
	_Atomic size_t size;
	_Atomic bool hit;
};

static struct sigbus_guard guards[GUARD_COUNT];
static struct lock guards_lock = LOCK_INIT;
static size_t page_size;
static void (*otherwise)(int signal);

static struct sigbus_guard *guard_of(uintptr_t address)
{
	for (int i = 0; i < GUARD_COUNT; i++) {
		uintptr_t base = atomic_load(&guards[i].base);

		if (base && address >= base &&
		    address - base < atomic_load(&guards[i].size))
			return &guards[i];
	}
	return NULL;
}

static void handle_sigbus(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr;
	struct sigbus_guard *guard = guard_of(address);

	(void)context;
	if (guard && info->si_code > 0) {
		void *page = (void *)(address & ~(uintptr_t)(page_size - 1));

		atomic_store(&guard->hit, true);
		if (mmap(page, page_size, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
			return;
	}
	if (otherwise)
		otherwise(number);
	signal(number, SIG_DFL); /* the faulting access repeats, and ends us */
	if (info->si_code <= 0)  /* but what was sent does not */
		raise(number);
}

static int install(void)
{
	struct sigaction action = { .sa_sigaction = handle_sigbus,
				    .sa_flags = SA_SIGINFO };

	if (page_size)
		return 0;
	sigemptyset(&action.sa_mask);
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	if (sigaction(SIGBUS, &action, NULL) == 0)
		return 0;
	page_size = 0;
	return -1;
}

struct sigbus_guard *sigbus_guard(void *base, size_t size)
{
	LOCK_GUARD(&guards_lock);
	if (install() < 0)
		return NULL;
	for (int i = 0; i < GUARD_COUNT; i++) {
		if (atomic_load(&guards[i].base))
			continue;
		atomic_store(&guards[i].hit, false);
		atomic_store(&guards[i].size, size);
		atomic_store(&guards[i].base, (uintptr_t)base);
		return &guards[i];
	}
	return NULL;
}

void sigbus_otherwise(void (*call)(int signal))
{
	otherwise = call;
}

void sigbus_unguard(struct sigbus_guard *guard)
{
	if (!guard)
		return;
	LOCK_GUARD(&guards_lock);
	atomic_store(&guard->base, 0);
}

bool sigbus_hit(const struct sigbus_guard *guard)
{
	return guard && atomic_load_explicit(&guard->hit, memory_order_relaxed);
}
