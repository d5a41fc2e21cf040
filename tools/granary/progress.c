#include "progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "util/pool.h"
#include "util/size.h"

enum { REDRAW_MS = 200, PATIENCE_MS = 500 };

struct progress {
	const struct indexer_progress *counters;
	struct pool *thread;
	_Atomic bool done;
	struct timespec begin;
};

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) +
	       (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static void draw(const struct progress *p)
{
	uint64_t total = atomic_load(&p->counters->total);
	uint64_t done = atomic_load(&p->counters->position);
	double seconds = seconds_since(&p->begin);
	double share = total ? (double)done / (double)total : 0;
	char shards[SIZE_TEXT_BYTES], all[SIZE_TEXT_BYTES], files[SIZE_TEXT_BYTES];

	if (share > 1)
		share = 1;
	fprintf(stderr, "\rindexing: %3.0f %%, %s of %s packed files, %s entries",
		100 * share, count_text(atomic_load(&p->counters->done), shards),
		count_text(atomic_load(&p->counters->shards), all),
		count_text(atomic_load(&p->counters->entries), files));
	if (share > 0.01)
		fprintf(stderr, ", %.0f s left", seconds * (1 - share) / share);
	fputs("\033[K", stderr);
}

static void wait_ms(long ms)
{
	const struct timespec pause = { .tv_nsec = ms * 1000000 };

	nanosleep(&pause, NULL);
}

static void redraw(void *argument)
{
	struct progress *p = argument;

	while (!atomic_load(&p->done)) {
		if (seconds_since(&p->begin) * 1000 >= PATIENCE_MS)
			draw(p);
		wait_ms(REDRAW_MS);
	}
	fputs("\r\033[K", stderr);
}

struct progress *progress_start(const struct indexer_progress *counters)
{
	struct progress *p;

	if (!isatty(STDERR_FILENO))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->counters = counters;
	clock_gettime(CLOCK_MONOTONIC, &p->begin);
	if (pool_start(&p->thread, 1) == 0 && pool_add(p->thread, redraw, p) == 0)
		return p;
	pool_finish(p->thread);
	free(p);
	return NULL;
}

void progress_stop(struct progress *p)
{
	if (!p)
		return;
	atomic_store(&p->done, true);
	pool_finish(p->thread);
	free(p);
}
