#include "fuse/inodes.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "stats/stats.h"
#include "tree/tree.h"

enum { BITS = 64 };

struct inodes {
	uint32_t nodes;
	_Atomic uint64_t known[];
};

static size_t size_for(uint32_t nodes)
{
	return sizeof(struct inodes) + ((size_t)nodes / BITS + 1) * sizeof(uint64_t);
}

struct inodes *inodes_new(uint32_t nodes)
{
	struct inodes *inodes = mmap(NULL, size_for(nodes), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (inodes == MAP_FAILED)
		return NULL;
	inodes->nodes = nodes;
	return inodes;
}

void inodes_free(struct inodes *inodes)
{
	if (inodes)
		munmap(inodes, size_for(inodes->nodes));
}

void inodes_known(struct inodes *inodes, uint32_t node)
{
	uint64_t bit = UINT64_C(1) << node % BITS;

	if (node < inodes->nodes &&
	    !(atomic_load_explicit(&inodes->known[node / BITS], memory_order_relaxed) & bit) &&
	    !(atomic_fetch_or(&inodes->known[node / BITS], bit) & bit))
		stats_add(COUNTER_inode_bytes, TREE_KERNEL_BYTES);
}

void inodes_forgotten(struct inodes *inodes, uint32_t node)
{
	uint64_t bit = UINT64_C(1) << node % BITS;

	if (node < inodes->nodes && (atomic_fetch_and(&inodes->known[node / BITS], ~bit) & bit))
		stats_add(COUNTER_inode_bytes, -(uint64_t)TREE_KERNEL_BYTES);
}
