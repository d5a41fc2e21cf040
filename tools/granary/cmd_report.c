/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_report.c: granary report TRACE -o PAGE.html */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
};

/* ---- In the parent ---- */

static int open_output(struct report_output *output, struct error *e)
{
	int err;

	if (!output->path)
		return 0;
	err = place_open(output->path, false, &output->place, e);
	if (err)
		return err;
	output->fd = place_create_temporary(output->place, output->temporary);
	if (output->fd >= 0)
		return 0;
	return error_set(e, ERROR_SYSTEM, -output->fd, "%s: %s; name a file in a directory that "
			 "is there and can be written", output->path, strerror(-output->fd));
}

/* Gives it its name, or takes it away. */
static int close_output(struct report_output *output, int status)
{
	mode_t mask = umask(0);
	int err = 0;

	umask(mask);
	if (output->fd >= 0 && !status) {
		err = place_set_mode(output->place, output->fd, 0666 & ~mask);
		if (!err)
			err = place_rename(output->place, output->temporary, "");
	}
	if (output->fd >= 0 && (status || err))
		place_unlink(output->place, output->temporary);
	if (output->fd >= 0)
		close(output->fd);
	place_close(output->place);
	if (err)
		log_error("%s: %s", output->path, strerror(-err));
	return err && !status ? ERROR_SYSTEM : status;
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
			  strerror(-err));
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
	if (open_output(&report->page, &e) < 0 || open_output(&report->chrome, &e) < 0)
		status = report_error(&e);
	else
		status = sandbox_child_run(&(struct sandbox_child){
			.request = report->request, .sources = &set, .work = work,
			.context = report });
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
	status = run_report(&report);
	status = close_output(&report.page, status);
	return close_output(&report.chrome, status);
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
