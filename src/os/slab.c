/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/slab.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "os/pages.h"

enum { LOOKED_AT = 32, HUGE_PAGE = 2 << 20 };

/* The head of a kept piece, within the piece itself. */
struct slab_piece {
	struct slab_piece *older, *newer;
	size_t size;
};

/*
 * Mapped memory returns to the kernel at once, and whole. AddressSanitizer sees malloc's
 * memory only.
 */
static bool is_mapped(size_t size)
{
#ifdef __SANITIZE_ADDRESS__
	return false;
#else
	return size >= SLAB_MAPPED_LEAST;
#endif
}

uint64_t slab_weight(size_t size)
{
	return is_mapped(size) ? pages_round_up(size) : size;
}

static void *slab_get_memory(size_t size)
{
	void *memory;

	if (!is_mapped(size))
		return malloc(size ? size : 1);
	memory = mmap(NULL, pages_round_up(size), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	if (size >= HUGE_PAGE) /* a fault for each 2 MiB */
		madvise(memory, pages_round_up(size), MADV_HUGEPAGE);
	return memory;
}

static void return_memory(void *memory, size_t size)
{
	if (!is_mapped(size))
		free(memory);
	else if (munmap(memory, pages_round_up(size)) < 0)
		/* the limit of mappings is reached: only the pages are freed */
		madvise(memory, pages_round_up(size), MADV_DONTNEED);
}

/* Both under the lock. */
static void slab_add(struct slab *slab, struct slab_piece *piece)
{
	piece->newer = NULL;
	piece->older = slab->newest;
	*(slab->newest ? &slab->newest->newer : &slab->oldest) = piece;
	slab->newest = piece;
	atomic_fetch_add(&slab->bytes, slab_weight(piece->size));
}

static void unlink_piece(struct slab *slab, struct slab_piece *piece)
{
	*(piece->newer ? &piece->newer->older : &slab->newest) = piece->older;
	*(piece->older ? &piece->older->newer : &slab->oldest) = piece->newer;
	atomic_fetch_sub(&slab->bytes, slab_weight(piece->size));
}

void slab_init(struct slab *slab, uint64_t most)
{
	*slab = (struct slab){ .lock = LOCK_INIT, .most = most };
}

static struct slab_piece *unlink_excess(struct slab *slab)
{
	struct slab_piece *piece;

	LOCK_GUARD(&slab->lock);
	if (atomic_load(&slab->bytes) <= slab->most)
		return NULL;
	piece = slab->oldest;
	unlink_piece(slab, piece);
	return piece;
}

static void return_excess(struct slab *slab)
{
	struct slab_piece *piece;

	while ((piece = unlink_excess(slab)))
		return_memory(piece, piece->size);
}

void slab_limit(struct slab *slab, uint64_t most)
{
	lock_acquire(&slab->lock);
	slab->most = most;
	lock_release(&slab->lock);
	return_excess(slab);
}

void slab_free(struct slab *slab)
{
	slab_limit(slab, 0);
}

static void *reuse_kept(struct slab *slab, size_t size)
{
	struct slab_piece *piece;
	unsigned looked_at = 0;

	LOCK_GUARD(&slab->lock);
	for (piece = slab->newest; piece && looked_at < LOOKED_AT; looked_at++) {
		if (piece->size == size) {
			unlink_piece(slab, piece);
			return piece;
		}
		piece = piece->older;
	}
	return NULL;
}

void *slab_acquire(struct slab *slab, size_t size)
{
	void *memory = size >= SLAB_LEAST ? reuse_kept(slab, size) : NULL;

	return memory ? memory : slab_get_memory(size);
}

void slab_release(struct slab *slab, void *memory, size_t size)
{
	struct slab_piece *piece = memory;

	if (size < SLAB_LEAST) {
		return_memory(memory, size);
		return;
	}
	piece->size = size;
	lock_acquire(&slab->lock);
	slab_add(slab, piece);
	lock_release(&slab->lock);
	return_excess(slab);
}

void slab_end_loan(struct slab_loan *loan)
{
	if (loan->memory)
		slab_release(loan->slab, loan->memory, loan->size);
	loan->memory = NULL;
}

void *slab_lend(struct slab_loan *loan, size_t size)
{
	slab_end_loan(loan);
	loan->size = 1;
	while (loan->size < size && loan->size <= SIZE_MAX / 4)
		loan->size *= 2;
	if (loan->size < size)
		return NULL;
	loan->memory = slab_acquire(loan->slab, loan->size);
	return loan->memory;
}

uint64_t slab_bytes(const struct slab *slab)
{
	return atomic_load(&slab->bytes);
}
