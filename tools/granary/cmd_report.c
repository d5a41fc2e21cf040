/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_report.c: granary report TRACE -o PAGE.html */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox_child.h"
#include "granary.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "os/place.h"
#include "report/chrome.h"
#include "report/figures.h"
#include "report/page.h"
#include "report/verdict.h"

enum { LETTER_CHROME = 'c', LETTER_OUTPUT = 'o' };

/* A file that is made: it gets its name when it is whole. */
struct report_output {
	const char *path; /* NULL: none is wanted */
	struct place *place;
	char temporary[PLACE_TEMPORARY_BYTES];
	int fd;
};

struct report {
	struct request *request;
	struct source *trace;
	struct report_output page, chrome;
	sigset_t signals; /* that the caller had blocked */
};

/* ---- In the parent ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The rename would replace a device or a link: only a regular file may be there. */
static int check_existing(const struct report *report, const struct report_output *output,
			  struct error *e)
{
	struct stat there, trace;

	if (place_stat(output->place, "", &there) < 0)
		return 0; /* creating the file reports the error */
	if (!S_ISREG(there.st_mode))
		return error_set(e, ERROR_SYSTEM, EEXIST, "%s: is no regular file, and is not "
				 "replaced; name another file", output->path);
	if (stat(report->request->arguments[0], &trace) == 0 && is_same(&there, &trace))
		return error_set(e, ERROR_USAGE, EEXIST, "%s: is the trace itself; name another "
				 "file", output->path);
	return 0;
}

/* The same name in the same directory: the other's temporary file is found beside it. */
static int check_other(const struct report_output *output, const struct report_output *other,
		       struct error *e)
{
	struct stat mine, others;

	if (other->fd < 0 || fstat(other->fd, &others) < 0 ||
	    place_stat(output->place, other->temporary, &mine) < 0 || !is_same(&mine, &others))
		return 0;
	return error_set(e, ERROR_USAGE, EEXIST, "%s: the page and the events cannot be one file; "
			 "name another file", output->path);
}

static int open_output(const struct report *report, struct report_output *output,
		       const struct report_output *other, struct error *e)
{
	int err;

	if (!output->path)
		return 0;
	err = place_open(output->path, false, &output->place, e);
	if (!err)
		err = check_existing(report, output, e);
	if (!err)
		err = check_other(output, other, e);
	if (err)
		return err;
	output->fd = place_create_temporary(output->place, output->temporary);
	if (output->fd >= 0)
		return 0;
	return error_set(e, ERROR_SYSTEM, -output->fd, "%s: %s; name a file in a directory that "
			 "is there and can be written", output->path, strerror(-output->fd));
}

static int publish_output(const struct report_output *output)
{
	mode_t mask = umask(0);
	int err;

	umask(mask);
	err = place_set_mode(output->place, output->fd, 0666 & ~mask);
	if (!err && fsync(output->fd) < 0)
		err = -errno;
	return err ? err : place_rename(output->place, output->temporary, "");
}

/* Gives it its name, or takes it away. */
static int close_output(struct report_output *output, int status)
{
	int err = output->fd >= 0 && !status ? publish_output(output) : 0;

	if (output->fd >= 0 && (status || err))
		place_unlink(output->place, output->temporary);
	if (output->fd >= 0)
		close(output->fd);
	place_close(output->place);
	if (err)
		log_error("%s: %s", output->path, strerror(-err));
	return err && !status ? ERROR_SYSTEM : status;
}

/* A signal waits until no temporary file is left; sandbox_child_run passes it on meanwhile. */
static void hold_signals(sigset_t *before)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		sigaddset(&held, ends[i]);
	pthread_sigmask(SIG_BLOCK, &held, before);
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error like a full disk */
}

/* ---- In the child ---- */

static int write_to(const struct report_output *output, const struct report *report,
		    const struct figures *figures,
		    int (*write)(const struct report *report, const struct figures *figures,
				 FILE *out))
{
	FILE *out = output->path ? fdopen(output->fd, "w") : stdout;
	int err;

	if (!out)
		return -errno;
	err = write(report, figures, out);
	if (fflush(out) != 0 || ferror(out))
		err = err ? err : -EIO;
	if (err)
		log_error("%s: %s", output->path ? output->path : "standard output",
			  err == -EFBIG ? "the events take more than 4 GiB; trace a shorter run, or "
					  "leave out --chrome" : strerror(-err));
	return err;
}

static int write_page(const struct report *report, const struct figures *figures, FILE *out)
{
	(void)report;
	page_write(figures, out);
	return 0;
}

static int write_chrome(const struct report *report, const struct figures *figures, FILE *out)
{
	return chrome_write(report->trace, figures, out);
}

static void report_print_json(const struct figures *f)
{
	struct json json = { .out = stdout };
	char sentence[VERDICT_BYTES];

	json_open(&json, NULL, '{');
	json_text(&json, "dataset", f->dataset ? f->dataset : "");
	json_text(&json, "mountpoint", f->mountpoint ? f->mountpoint : "");
	json_uint(&json, "milliseconds", (f->last - f->first) / 1000);
	json_uint(&json, "events", f->events);
	json_uint(&json, "dropped", f->dropped);
	json_bool(&json, "complete", !f->cut);
	json_uint(&json, "reads", f->reads);
	json_uint(&json, "opens", f->opens);
	json_uint(&json, "served_bytes", f->served);
	json_uint(&json, "source_bytes", f->stored);
	json_uint(&json, "pushed_bytes", f->pushed);
	json_uint(&json, "hit_percent", f->reads ? 100 * f->hits / f->reads : 0);
	json_uint(&json, "cached_percent", (uint64_t)figures_cached(f));
	json_uint(&json, "waiting_percent", f->waiting_permille / 10);
	json_uint(&json, "epochs", f->epoch_count);
	json_text(&json, "bound", verdict_of(f, sentence));
	json_text(&json, "sentence", sentence);
	json_close(&json, '}');
	putchar('\n');
}

static void release_signals(void *context)
{
	const struct report *report = context;

	pthread_sigmask(SIG_SETMASK, &report->signals, NULL);
}

static int work(void *context)
{
	struct report *report = context;
	struct figures *figures;
	struct error e;
	int err;

	if (figures_read(report->trace, &figures, &e) < 0)
		return report_error(&e);
	err = report->page.path || !(report->request->json || report->chrome.path) ?
		      write_to(&report->page, report, figures, write_page) : 0;
	if (!err && report->chrome.path)
		err = write_to(&report->chrome, report, figures, write_chrome);
	if (!err && report->request->json)
		report_print_json(figures);
	figures_free(figures);
	return err ? ERROR_SYSTEM : 0;
}

static int run_report(struct report *report)
{
	struct source_set set = { .sources = &report->trace, .count = 1 };
	struct error e;
	int status = 0;

	if (source_open(report->request->arguments[0], &report->trace, &e) < 0)
		return report_error(&e);
	if (open_output(report, &report->page, &report->chrome, &e) < 0 ||
	    open_output(report, &report->chrome, &report->page, &e) < 0)
		status = report_error(&e);
	else
		status = sandbox_child_run(&(struct sandbox_child){
			.request = report->request, .sources = &set,
			.begin = release_signals, .work = work, .context = report });
	source_close(report->trace);
	return status;
}

static int run(struct request *request)
{
	struct report report = {
		.request = request,
		.page = { .path = request->value[LETTER_OUTPUT], .fd = -1 },
		.chrome = { .path = request->value[LETTER_CHROME], .fd = -1 },
	};
	int status;

	if (request->argument_count != 1)
		return report_usage(request->command, "one trace is wanted");
	hold_signals(&report.signals);
	status = run_report(&report);
	status = close_output(&report.page, status);
	status = close_output(&report.chrome, status);
	release_signals(&report);
	return status;
}

static const struct option longs[] = {
	{ "output", required_argument, NULL, LETTER_OUTPUT },
	{ "chrome", required_argument, NULL, LETTER_CHROME },
	{ NULL, 0, NULL, 0 },
};

const struct command command_report = {
	.name = "report", .usage = "[-o PAGE.html] [--chrome=EVENTS.json] [--json] TRACE",
	.summary = "Makes a page of what a mount's trace says",
	.help = "    -o, --output=PAGE.html          where (standard output)\n"
		"    --chrome=EVENTS.json            its events, for Perfetto\n",
	.shorts = "o:", .longs = longs, .run = run,
};
