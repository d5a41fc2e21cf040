/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "format/tar/parallel.h"

#include <stddef.h>
#include <stdlib.h>

#include "format/tar/header.h"
#include "os/pool.h"

enum {
	PARTS = 4,                     /* walked at once, the front included */
	SEARCHED = 4 * 1024 * 1024,    /* for a header */
	SEARCH_STEP = 64 * 1024,
};
#define WORTH_IT (UINT64_C(64) << 20) /* bytes; the pool's threads cost a moment */

struct parallel_part {
	struct scan scan;  /* with a log of its own until it is taken */
	struct scan *front;
	struct tar_window window;
	struct tar_run run;
	uint64_t start;
	struct error e;
	int err;
	bool open;         /* the window is */
};

struct tar_parallel {
	struct pool *pool; /* until they have been waited for */
	_Atomic bool cancelled;
	struct parallel_part parts[PARTS - 1];
	size_t count;
};

/* The first plain header from `from` on, as far as one is looked for. */
static bool find_header(const struct tar_window *window, uint64_t from, uint64_t *out)
{
	unsigned char *bytes = malloc(SEARCH_STEP);
	struct tar_plain plain;
	bool found = false;

	for (uint64_t at = from; bytes && !found && at < from + SEARCHED; at += SEARCH_STEP) {
		if (tar_window_peek(window, bytes, SEARCH_STEP, at) < 0)
			break;
		for (uint64_t i = 0; i < SEARCH_STEP && !found; i += TAR_BLOCK) {
			found = tar_plain_parse(bytes + i, &plain);
			*out = at + i;
		}
	}
	free(bytes);
	return found;
}

/* The scan that everybody knows is told. */
static void parallel_advance(struct scan *scan, uint64_t bytes)
{
	struct parallel_part *part =
		(struct parallel_part *)(void *)((char *)scan -
						 offsetof(struct parallel_part, scan));

	part->front->advance(part->front, bytes);
}

static void walk_part(void *argument)
{
	struct parallel_part *part = argument;

	part->err = tar_plain_run(&part->scan, &part->window, &part->run, &part->e);
}

/* A guess at or behind `from`; none is not an error. */
static void parallel_add_part(struct tar_parallel *ahead, struct scan *scan,
			      const struct tar_window *window, uint64_t from)
{
	struct parallel_part *part = &ahead->parts[ahead->count];

	if (!find_header(window, from, &part->start) ||
	    (ahead->count && part->start <= part[-1].start))
		return;
	part->scan = *scan;
	part->front = scan;
	part->scan.advance = scan->advance ? parallel_advance : NULL;
	part->scan.entries = entries_new();
	part->open = tar_window_open(&part->window, window->source, window->base,
				     window->length) == 0;
	part->run = (struct tar_run){ .end = part->start, .stop = UINT64_MAX,
				      .cancelled = &ahead->cancelled };
	if (part->scan.entries && part->open) {
		ahead->count++;
		return;
	}
	entries_free(part->scan.entries);
	if (part->open)
		tar_window_close(&part->window);
}

struct tar_parallel *tar_parallel_start(struct scan *scan,
					const struct tar_window *window)
{
	struct tar_parallel *ahead;
	uint64_t step = window->length / PARTS;

	if (!scan->alone || window->length < WORTH_IT)
		return NULL;
	ahead = calloc(1, sizeof(*ahead));
	if (!ahead)
		return NULL;
	step -= step % TAR_BLOCK;
	for (unsigned i = 1; i < PARTS; i++)
		parallel_add_part(ahead, scan, window, i * step);
	for (size_t i = 0; i + 1 < ahead->count; i++)
		ahead->parts[i].run.stop = ahead->parts[i + 1].start;
	if (ahead->count == 0 || pool_start(&ahead->pool, (unsigned)ahead->count) < 0) {
		tar_parallel_end(ahead, scan);
		return NULL;
	}
	for (size_t i = 0; i < ahead->count; i++)
		if (pool_add(ahead->pool, walk_part, &ahead->parts[i]) < 0)
			ahead->parts[i].err = -1; /* nobody walks it: not to be taken */
	return ahead;
}

uint64_t tar_parallel_next(const struct tar_parallel *ahead, uint64_t position)
{
	for (size_t i = 0; ahead && i < ahead->count; i++)
		if (ahead->parts[i].scan.entries && ahead->parts[i].start >= position)
			return ahead->parts[i].start;
	return UINT64_MAX;
}

static void wait_for_parts(struct tar_parallel *ahead)
{
	if (ahead->pool)
		pool_finish(ahead->pool);
	ahead->pool = NULL;
}

/* The progress that was reported for the part is taken back. */
static void drop_part(struct parallel_part *part, struct scan *scan)
{
	if (scan->advance && part->run.members)
		scan->advance(scan, part->start - part->run.end);
	entries_free(part->scan.entries);
	part->scan.entries = NULL;
}

void tar_parallel_join(struct tar_parallel *ahead, struct scan *scan, struct tar_run *run)
{
	for (size_t i = 0; ahead && i < ahead->count; i++) {
		struct parallel_part *part = &ahead->parts[i];

		if (!part->scan.entries || part->start != run->end)
			continue;
		wait_for_parts(ahead);
		if (part->err || !part->run.members) {
			drop_part(part, scan);
			continue;
		}
		entries_append(scan->entries, part->scan.entries);
		part->scan.entries = NULL;
		run->last = part->run.last;
		run->end = part->run.end;
		run->members += part->run.members;
	}
}

void tar_parallel_end(struct tar_parallel *ahead, struct scan *scan)
{
	if (!ahead)
		return;
	atomic_store(&ahead->cancelled, true);
	wait_for_parts(ahead);
	for (size_t i = 0; i < ahead->count; i++) {
		if (ahead->parts[i].scan.entries)
			drop_part(&ahead->parts[i], scan);
		tar_window_close(&ahead->parts[i].window);
	}
	free(ahead);
}
