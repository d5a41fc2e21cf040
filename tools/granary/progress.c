/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/size.h"
#include "os/bounded.h"
#include "os/pool.h"

enum {
	REDRAW_MS = 200,
	NAP_MS = 5,         /* longest wait of progress_stop */
	PATIENCE_MS = 500,  /* a shorter command shows no line */
	LINE_MS = 10000,    /* plain lines: no more often, */
	LINE_PERCENT = 10,  /* except after so much progress */
	BAR = 30,
	WIDTH = 256,        /* of a terminal of unknown or great width */
};

/* A line, cut off at WIDTH. */
struct progress_line {
	char text[WIDTH];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void progress_add(struct progress_line *line,
							       const char *format, ...)
{
	size_t room = sizeof(line->text) - line->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line->text + line->length, room, format, args);
	va_end(args);
	if (n > 0)
		line->length += (size_t)n < room ? (size_t)n : room - 1;
}

static double share(const struct progress *p)
{
	bool by_bytes = atomic_load(&p->bytes_total) > 0;
	uint64_t total = by_bytes ? atomic_load(&p->bytes_total) :
				    atomic_load(&p->count_total);
	uint64_t done = by_bytes ? atomic_load(&p->bytes) : atomic_load(&p->count);

	if (total == 0)
		return 0;
	return done >= total ? 1 : (double)done / (double)total;
}

static double progress_seconds(const struct progress *p)
{
	return (double)(bounded_now() - p->state.begin) / 1000;
}

/* A second, on average since the beginning. */
static double progress_rate(const struct progress *p, uint64_t now, uint64_t begin)
{
	double passed = progress_seconds(p);

	return passed > 0.1 && now > begin ? (double)(now - begin) / passed : 0;
}

static void add_amount(struct progress_line *line, uint64_t done, uint64_t total,
		       char *(*text)(uint64_t, char *))
{
	char a[SIZE_TEXT_BYTES], b[SIZE_TEXT_BYTES];

	progress_add(line, ", %s", text(done, a));
	if (total)
		progress_add(line, " of %s", text(total, b));
}

static bool has_total(const struct progress *p)
{
	return atomic_load(&p->bytes_total) || atomic_load(&p->count_total);
}

/* "7 s left", "2:05 min left", "3:10:00 h left" */
static void add_time(struct progress_line *line, double left)
{
	unsigned long s = (unsigned long)(left + 0.5);

	if (s < 100)
		progress_add(line, ", %lu s left", s);
	else if (s < 3600)
		progress_add(line, ", %lu:%02lu min left", s / 60, s % 60);
	else
		progress_add(line, ", %lu:%02lu:%02lu h left", s / 3600, s / 60 % 60,
			     s % 60);
}

/* The time that is left, at the average speed. */
static void add_left(const struct progress *p, struct progress_line *line,
		     double per_second)
{
	bool by_bytes = atomic_load(&p->bytes_total) > 0;
	uint64_t total = by_bytes ? atomic_load(&p->bytes_total) :
				    atomic_load(&p->count_total);
	uint64_t done = by_bytes ? atomic_load(&p->bytes) : atomic_load(&p->count);
	double left = (double)total * (p->wanted ? p->wanted : 100) / 100 - (double)done;

	if (total && left > 0 && per_second > 0)
		add_time(line, left / per_second);
}

/* ", 1.2 GiB of 2.7 GiB, 1,024 of 2,048 files, 210 MiB/s, 7 s left" */
static void add_figures(const struct progress *p, struct progress_line *line)
{
	uint64_t bytes = atomic_load(&p->bytes), count = atomic_load(&p->count);
	double byte_rate = progress_rate(p, bytes, p->state.begin_bytes);
	double count_rate = progress_rate(p, count, p->state.begin_count);
	char text[SIZE_TEXT_BYTES];

	if (bytes || atomic_load(&p->bytes_total))
		add_amount(line, bytes, atomic_load(&p->bytes_total), size_text);
	if (p->unit) {
		add_amount(line, count, atomic_load(&p->count_total), count_text);
		progress_add(line, " %s", p->unit);
	}
	if (byte_rate > 0)
		progress_add(line, ", %s/s", size_text((uint64_t)byte_rate, text));
	else if (count_rate > 0)
		progress_add(line, ", %s/s", count_text((uint64_t)count_rate, text));
	add_left(p, line, atomic_load(&p->bytes_total) ? byte_rate : count_rate);
}

static size_t terminal_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 2 ||
	    size.ws_col > WIDTH)
		return WIDTH;
	return size.ws_col;
}

static void draw(struct progress *p)
{
	int full = (int)(share(p) * (double)BAR);
	struct progress_line line = { .length = 0 };
	size_t width = terminal_width() - 1;

	if (!p->reached)
		progress_add(&line, "%s", p->subject);
	if (has_total(p))
		progress_add(&line, "%s[%.*s%*s] %5.1f %%", p->reached ? "" : " ", full,
			     "##############################", BAR - full, "",
			     100 * share(p));
	add_figures(p, &line);
	fprintf(stderr, "\r%.*s\033[K", (int)(line.length < width ? line.length : width),
		line.text);
	p->state.drawn = true;
}

static void progress_print_line(struct progress *p)
{
	long long now = bounded_now();
	double percent = 100 * share(p);
	struct progress_line line = { .length = 0 };

	if (p->state.line_at && now - p->state.line_at < LINE_MS &&
	    (!p->reached || percent - p->state.line_percent < (double)LINE_PERCENT))
		return;
	p->state.line_at = now;
	p->state.line_percent = percent;
	progress_add(&line, "%s", p->subject);
	if (has_total(p))
		progress_add(&line, ": %.1f %%", percent);
	if (p->reached)
		progress_add(&line, " %s", p->reached);
	add_figures(p, &line);
	fprintf(stderr, "%s\n", line.text);
}

/* Updates the counters; a new subject restarts the clock. */
static void progress_update(struct progress *p)
{
	if (p->look)
		p->look(p, p->context);
	if (p->state.subject == p->subject)
		return;
	p->state.subject = p->subject;
	p->state.begin = bounded_now();
	p->state.begin_bytes = atomic_load(&p->bytes);
	p->state.begin_count = atomic_load(&p->count);
}

void progress_begin(struct progress *p, bool quiet)
{
	p->state.quiet = quiet;
	p->state.terminal = isatty(STDERR_FILENO);
	progress_update(p);
}

void progress_show(struct progress *p)
{
	if (p->state.quiet)
		return;
	progress_update(p);
	if (p->state.terminal)
		draw(p);
	else if (!p->terminal_only)
		progress_print_line(p);
}

void progress_end(struct progress *p)
{
	if (p->state.drawn)
		fputc('\n', stderr);
	p->state.drawn = false;
}

static void redraw(void *argument)
{
	struct progress *p = argument;

	long long next = p->state.begin + PATIENCE_MS;

	/* the first plain line comes after LINE_MS */
	p->state.line_at = p->state.begin;
	for (; !atomic_load(&p->state.done); bounded_pause(NAP_MS)) {
		if (bounded_now() < next)
			continue;
		progress_show(p);
		next = bounded_now() + REDRAW_MS;
	}
	if (p->state.drawn)
		fputs("\r\033[K", stderr);
}

void progress_start(struct progress *p, bool quiet)
{
	progress_begin(p, quiet);
	if (quiet || (p->terminal_only && !p->state.terminal) ||
	    pool_start(&p->state.thread, 1) < 0)
		return;
	if (pool_add(p->state.thread, redraw, p) < 0) {
		pool_finish(p->state.thread);
		p->state.thread = NULL;
	}
}

void progress_stop(struct progress *p)
{
	atomic_store(&p->state.done, true);
	if (p->state.thread)
		pool_finish(p->state.thread);
	p->state.thread = NULL;
}

bool progress_colours(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && (!no || !*no) && term && strcmp(term, "dumb") != 0;
}
