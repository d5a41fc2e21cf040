#include "meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/bounded.h"
#include "util/pool.h"
#include "util/size.h"

enum { REDRAW_MS = 200, PATIENCE_MS = 500, LINE_MS = 10000, SECOND_MS = 1000 };

struct meter {
	const char *what;
	const struct survey_progress *counters;
	struct pool *thread;
	_Atomic bool done;
	bool terminal;
	long long begin; /* milliseconds */
};

static void draw(const struct meter *m, long long ms)
{
	uint64_t all = atomic_load(&m->counters->all_bytes);
	uint64_t bytes = atomic_load(&m->counters->bytes);
	double share = all ? (double)bytes / (double)all : 0;
	double rate = (double)bytes * SECOND_MS / (double)(ms ? ms : 1);
	char done[SIZE_TEXT_BYTES], of[SIZE_TEXT_BYTES], speed[SIZE_TEXT_BYTES];
	char files[SIZE_TEXT_BYTES];

	fprintf(stderr, "%s%s: %3.0f %%, %s of %s, %s files, %s/s", m->terminal ? "\r" : "",
		m->what, 100 * share, size_text(bytes, done), size_text(all, of),
		count_text(atomic_load(&m->counters->files), files),
		size_text((uint64_t)rate, speed));
	if (rate > 0 && bytes < all)
		fprintf(stderr, ", %.0f s left", (double)(all - bytes) / rate);
	fputs(m->terminal ? "\033[K" : "\n", stderr);
}

static void show(void *argument)
{
	struct meter *m = argument;
	long long next = m->begin + (m->terminal ? PATIENCE_MS : LINE_MS);

	while (!atomic_load(&m->done)) {
		long long now = bounded_now();

		if (now >= next) {
			draw(m, now - m->begin);
			next = now + (m->terminal ? REDRAW_MS : LINE_MS);
		}
		bounded_pause(REDRAW_MS / 4);
	}
	if (m->terminal)
		fputs("\r\033[K", stderr);
}

struct meter *meter_start(const char *what, const struct survey_progress *counters)
{
	struct meter *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->what = what;
	m->counters = counters;
	m->terminal = isatty(STDERR_FILENO);
	m->begin = bounded_now();
	if (pool_start(&m->thread, 1) == 0 && pool_add(m->thread, show, m) == 0)
		return m;
	pool_finish(m->thread);
	free(m);
	return NULL;
}

void meter_stop(struct meter *m)
{
	if (!m)
		return;
	atomic_store(&m->done, true);
	pool_finish(m->thread);
	free(m);
}
