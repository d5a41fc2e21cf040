/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/kernel_inodes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "stats/stats.h"

enum { BITS = 64 };

struct inodes {
	uint32_t nodes;
	_Atomic int64_t count; /* a dead server may have left a wrong count */
	_Atomic uint64_t known[];
};

static size_t kernel_inodes_size_for(uint32_t nodes)
{
	return sizeof(struct inodes) + ((size_t)nodes / BITS + 1) * sizeof(uint64_t);
}

struct inodes *inodes_new(uint32_t nodes)
{
	struct inodes *inodes =
		mmap(NULL, kernel_inodes_size_for(nodes), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (inodes == MAP_FAILED)
		return NULL;
	inodes->nodes = nodes;
	return inodes;
}

void inodes_free(struct inodes *inodes)
{
	if (inodes)
		munmap(inodes, kernel_inodes_size_for(inodes->nodes));
}

/* Of two threads that set the gauge at once, neither may leave the older value. */
void inodes_show(const struct inodes *inodes)
{
	int64_t count;

	do {
		count = atomic_load(&inodes->count);
		stats_set(COUNTER_inode_bytes,
			  count > 0 ? (uint64_t)count * stats_get(COUNTER_name_bytes) : 0);
	} while (count != atomic_load(&inodes->count));
}

static void kernel_inodes_add(struct inodes *inodes, int64_t change)
{
	atomic_fetch_add(&inodes->count, change);
	inodes_show(inodes);
}

bool inodes_has(const struct inodes *inodes, uint32_t node)
{
	return node < inodes->nodes &&
	       (atomic_load_explicit(&inodes->known[node / BITS], memory_order_relaxed) &
		UINT64_C(1) << node % BITS);
}

void inodes_known(struct inodes *inodes, uint32_t node)
{
	uint64_t bit = UINT64_C(1) << node % BITS;

	if (node < inodes->nodes && !inodes_has(inodes, node) &&
	    !(atomic_fetch_or(&inodes->known[node / BITS], bit) & bit))
		kernel_inodes_add(inodes, 1);
}

void inodes_forgotten(struct inodes *inodes, uint32_t node)
{
	uint64_t bit = UINT64_C(1) << node % BITS;

	if (node < inodes->nodes && (atomic_fetch_and(&inodes->known[node / BITS], ~bit) & bit))
		kernel_inodes_add(inodes, -1);
}
