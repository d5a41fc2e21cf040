/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slab.h: memory of chunks, used again.
 *
 * Chunks of a megabyte come and go all the time: asking the kernel for each would
 * cost 256 page faults, and 300 us instead of 30. So what was given back is kept, up to
 * a limit, and given out again to who asks for the same size; what was kept longest goes
 * back to the kernel. Small pieces are malloc's.
 *
 * Threads: all but slab_init and slab_free by any number at once.
 */
#ifndef GRANARY_OS_SLAB_H
#define GRANARY_OS_SLAB_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "os/lock.h"

enum {
	SLAB_LEAST = 64 << 10,         /* what is smaller is not kept */
	SLAB_MAPPED_LEAST = 512 << 10, /* what is larger is mapped: it begins at a page */
};

struct slab {
	struct lock lock;
	struct slab_piece *newest, *oldest; /* lock */
	uint64_t most;                      /* lock */
	_Atomic uint64_t bytes;
};

#define SLAB_INIT(bytes_most) { .lock = LOCK_INIT, .most = (bytes_most) }

/* Keeps up to `most` bytes. */
void slab_init(struct slab *slab, uint64_t most);
void slab_free(struct slab *slab);

/* What memory for `size` bytes takes. */
uint64_t slab_weight(size_t size);

/* Memory for `size` bytes, whose contents are anything, or NULL. */
void *slab_take(struct slab *slab, size_t size);

/* `size` as it was taken with. */
void slab_give(struct slab *slab, void *memory, size_t size);

/* A new limit, which holds at once. */
void slab_limit(struct slab *slab, uint64_t most);

/*
 * For a short time, of any size: rounded up to a power of two, so that what was given
 * back for one size serves others. The second one is for CLEANUP.
 */
struct slab_loan {
	struct slab *slab;
	void *memory; /* NULL: none */
	size_t size;
};

/* NULL: out of memory. What the loan had before is given back. */
void *slab_lend(struct slab_loan *loan, size_t size);
void slab_end_loan(struct slab_loan *loan);

/* What is kept. */
uint64_t slab_bytes(const struct slab *slab);

#endif
