/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/measure.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "os/pool.h"
#include "packer/naming.h"

/* The image's size is nearly always in the head; else up to WHOLE_MOST bytes are read. */
enum { HEAD_BYTES = 32 << 10, WHOLE_MOST = 64 << 20 };

struct measuring {
	struct pack_scan *scan;
	struct decoders *decoders;
	_Atomic size_t next;
};

/* Measures the first `length` bytes: is the size there? */
static bool measure_head(const struct measuring *m, const struct pack_scan_entry *entry,
			 size_t length, uint64_t *size)
{
	CLEANUP(cleanup_free) void *memory = malloc(length);
	const char *damage = NULL, *where;
	ssize_t n = memory ? pack_scan_read(m->scan, entry, memory, length, &where) : -1;

	return n > 0 && decoders_measure(m->decoders, memory, (size_t)n, size, &damage);
}

static void measure_image(const struct measuring *m, struct pack_scan_entry *entry)
{
	uint64_t size;
	bool found = measure_head(m, entry, HEAD_BYTES, &size);

	if (!found && entry->size > HEAD_BYTES && entry->size <= WHOLE_MOST)
		found = measure_head(m, entry, entry->size, &size);
	if (found)
		entry->decoded_size = size;
}

static void measure_entries(void *argument)
{
	struct measuring *m = argument;
	size_t i;

	while ((i = atomic_fetch_add(&m->next, 1)) < m->scan->count) {
		struct pack_scan_entry *entry = &m->scan->entries[i];

		if ((entry->kind == PACK_FILE || entry->kind == PACK_HARDLINK) &&
		    naming_is_image(entry->path))
			measure_image(m, entry);
	}
}

int measure_images(struct pack_scan *scan, struct decoders *decoders, unsigned threads)
{
	struct measuring m = { .scan = scan, .decoders = decoders };
	struct pool *pool;
	int err = pool_start(&pool, threads);

	if (err)
		return err;
	for (unsigned i = 0; i < pool_threads(pool) && !err; i++)
		err = pool_add(pool, measure_entries, &m);
	pool_finish(pool);
	return m.next ? 0 : err;
}
