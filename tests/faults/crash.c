/* crash.c: a server that crashes on one file. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "dataset/dataset.h"
#include "faults.h"

/* The linker's names (--wrap). */
ssize_t __wrap_dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
			    size_t length, uint64_t offset);
ssize_t __real_dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
			    size_t length, uint64_t offset);

static struct crash crash;
static struct fault_counts *counts;

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("GRANARY_CRASH"), *wrong;

	if (!text || !*text)
		return;
	if (crash_parse(text, &crash, &wrong) < 0)
		fault_refuse("GRANARY_CRASH", wrong);
	counts = fault_counts_new(1, NULL);
}

/* A write to nowhere comes through even where the signal is blocked. */
__attribute__((no_sanitize("undefined"))) static void end_by(int signal)
{
	volatile int *volatile nowhere = NULL;

	if (signal == SIGSEGV)
		*nowhere = 1;
	if (signal == SIGABRT)
		abort();
	kill(getpid(), signal);
	for (;;)
		pause();
}

/* Inode numbers are as fuse/ops.c gives them. */
static uint64_t inode_of(const struct dataset *dataset, uint32_t node)
{
	return node == dataset_root(dataset) ? 1 : (uint64_t)node + 1;
}

ssize_t __wrap_dataset_read(const struct dataset *dataset, uint32_t node, void *buffer,
			    size_t length, uint64_t offset)
{
	if (crash.node && crash.node == inode_of(dataset, node) &&
	    fault_strikes(&crash.turns, counts))
		end_by(crash.signal);
	return __real_dataset_read(dataset, node, buffer, length, offset);
}
