#include "pack_progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/lock.h"
#include "util/pool.h"
#include "util/size.h"

enum { REDRAW_MS = 200, LINE_MS = 10000, BAR = 20, LINE_BYTES = 256, ETA_BYTES = 48 };

struct pack_watch {
	const struct pack_progress *counters;
	struct pool *thread;
	struct lock lock;
	struct wakeup end;
	bool done;       /* lock */
	bool terminal;
	double begin;    /* of packing, after the tree was listed; 0: not yet */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void render_bar(double share, char *out)
{
	int full = (int)(share * BAR);

	memset(out, '#', (size_t)full);
	memset(out + full, '.', (size_t)(BAR - full));
	out[BAR] = 0;
}

/* ", 3:20 left", once there is something to go by. */
static const char *eta(double share, double seconds, char *out)
{
	double left = share > 0.005 && seconds > 1 ? seconds * (1 - share) / share : -1;

	out[0] = 0;
	if (left >= 3600)
		snprintf(out, ETA_BYTES, ", %.0f:%02d:%02d left", left / 3600 - 0.5,
			 (int)left / 60 % 60, (int)left % 60);
	else if (left >= 0)
		snprintf(out, ETA_BYTES, ", %d:%02d left", (int)left / 60, (int)left % 60);
	return out;
}

static void render_packing(struct pack_watch *w, char *line)
{
	uint64_t all = w->counters->all_bytes, bytes = w->counters->bytes;
	double seconds, share = all ? (double)bytes / (double)all : 0;
	char done[SIZE_TEXT_BYTES], total[SIZE_TEXT_BYTES], rate[SIZE_TEXT_BYTES];
	char bar[BAR + 1], left[ETA_BYTES], shards[64] = "";

	if (w->begin == 0)
		w->begin = now();
	seconds = now() - w->begin;
	if (share > 1)
		share = 1;
	render_bar(share, bar);
	if (w->counters->all_shards > 1)
		snprintf(shards, sizeof(shards), ", shard %llu of %llu",
			 (unsigned long long)w->counters->shards + 1,
			 (unsigned long long)w->counters->all_shards);
	snprintf(line, LINE_BYTES, "packing%s%s%s%s %3.0f %%, %s of %s%s, %s/s%s",
		 w->terminal ? " [" : "", w->terminal ? bar : "", w->terminal ? "]" : "",
		 w->terminal ? "" : ":", 100 * share, size_text(bytes, done),
		 size_text(all, total), shards,
		 size_text(seconds > 0 ? (uint64_t)((double)bytes / seconds) : 0, rate),
		 eta(share, seconds, left));
}

static void draw(struct pack_watch *w)
{
	char line[LINE_BYTES] = "", count[SIZE_TEXT_BYTES];

	switch ((enum pack_phase)atomic_load(&w->counters->phase)) {
	case PACK_LISTING:
		snprintf(line, sizeof(line), "listing: %s names",
			 count_text(w->counters->found, count));
		break;
	case PACK_SYNCING:
		snprintf(line, sizeof(line), "waiting for the storage");
		break;
	case PACK_PACKING:
		render_packing(w, line);
		break;
	}
	if (w->terminal)
		fprintf(stderr, "\r%s\033[K", line);
	else
		fprintf(stderr, "granary: %s\n", line);
}

/* False when it is over. */
static bool pause_for(struct pack_watch *w)
{
	LOCK_GUARD(&w->lock);
	if (!w->done)
		wakeup_wait_for(&w->end, &w->lock, w->terminal ? REDRAW_MS : LINE_MS);
	return !w->done;
}

static void show(void *argument)
{
	struct pack_watch *w = argument;

	while (pause_for(w))
		draw(w);
	if (w->terminal)
		fputs("\r\033[K", stderr);
}

struct pack_watch *pack_watch_start(const struct pack_progress *counters)
{
	struct pack_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->counters = counters;
	w->terminal = isatty(STDERR_FILENO);
	w->lock = (struct lock)LOCK_INIT;
	w->end = (struct wakeup)WAKEUP_INIT;
	if (pool_start(&w->thread, 1) == 0 && pool_add(w->thread, show, w) == 0)
		return w;
	pool_finish(w->thread);
	free(w);
	return NULL;
}

static void finish(struct pack_watch *w)
{
	LOCK_GUARD(&w->lock);
	w->done = true;
	wakeup_all(&w->end);
}

void pack_watch_stop(struct pack_watch *w)
{
	if (!w)
		return;
	finish(w);
	pool_finish(w->thread);
	free(w);
}
