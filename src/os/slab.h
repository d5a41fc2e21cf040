/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slab.h: memory of chunks, kept for reuse.
 *
 * Chunks of a megabyte come and go all the time. Memory from the kernel would cost 256
 * page faults for each, and 300 us instead of 30. So freed pieces are kept, up to a
 * limit, and are used again for a request of the same size. The piece that was kept
 * longest returns to the kernel. Small pieces are malloc's.
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
	SLAB_LEAST = 64 << 10,         /* smaller pieces are not kept */
	SLAB_MAPPED_LEAST = 512 << 10, /* larger pieces begin at a page */
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

/* The bytes that memory for `size` bytes takes. */
uint64_t slab_weight(size_t size);

/* Memory for `size` bytes, not initialised, or NULL. */
void *slab_acquire(struct slab *slab, size_t size);

/* Gives the memory back; `size` is that of slab_acquire. */
void slab_release(struct slab *slab, void *memory, size_t size);

/* A new limit, which holds at once. */
void slab_limit(struct slab *slab, uint64_t most);

/*
 * A loan is for a short time, of any size. The size is rounded up to a power of two, so
 * that memory of one loan serves others. slab_end_loan is for CLEANUP.
 */
struct slab_loan {
	struct slab *slab;
	void *memory; /* NULL: none */
	size_t size;
};

/* NULL: out of memory. The memory that the loan had before returns to the slab. */
void *slab_lend(struct slab_loan *loan, size_t size);
void slab_end_loan(struct slab_loan *loan);

/* Bytes that are kept. */
uint64_t slab_bytes(const struct slab *slab);

#endif
