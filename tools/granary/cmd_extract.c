/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_extract.c: granary extract SOURCE... DEST [PATTERN...] */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "sandbox_child.h"
#include "extract.h"
#include "granary.h"
#include "extract_files.h"
#include "base/json.h"
#include "base/log.h"
#include "os/processors.h"
#include "base/size.h"

enum { THREADS_MOST = 64, THREADS_DEFAULT = 32 };

/* Twice the processors: threads wait for storage most of the time. */
static unsigned sensible_threads(void)
{
	unsigned n = 2 * processors_count();

	return n < THREADS_DEFAULT ? n : THREADS_DEFAULT;
}

static int parse_threads(const struct request *request, unsigned *out)
{
	const char *text = request->value['t'];
	char *end;
	unsigned long n;

	*out = sensible_threads();
	if (!text)
		return 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n == 0 || n > THREADS_MOST)
		return report_usage(request->command, "--threads takes a number from 1 to 64");
	*out = (unsigned)n;
	return 0;
}

static void print_json(const struct extract_options *options,
		       const struct extract_report *report)
{
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_text(&json, "destination", options->destination);
	json_uint(&json, "files", report->files);
	json_uint(&json, "directories", report->directories);
	json_uint(&json, "symlinks", report->symlinks);
	json_uint(&json, "links", report->links);
	json_uint(&json, "bytes", report->bytes);
	json_uint(&json, "skipped", report->skipped);
	json_uint(&json, "failed", report->failed);
	json_uint(&json, "damaged", report->damaged);
	json_uint(&json, "xattrs_left", report->xattrs_left);
	json_bool(&json, "complete", !report->failed && !report->signal);
	json_close(&json, '}');
	putchar('\n');
}

static void extract_print_text(const struct extract_options *options,
			       const struct extract_report *report)
{
	char files[SIZE_TEXT_BYTES], bytes[SIZE_TEXT_BYTES], directories[SIZE_TEXT_BYTES];

	print_escaped(options->destination);
	printf(": %s files (%s), %s directories", count_text(report->files, files),
	       size_text(report->bytes, bytes), count_text(report->directories,
							   directories));
	if (report->symlinks || report->links)
		printf(", %" PRIu64 " symbolic and %" PRIu64 " hard links", report->symlinks,
		       report->links);
	if (report->skipped)
		printf("; %" PRIu64 " were there already", report->skipped);
	putchar('\n');
}

/* Prints the report: the exit status. */
static int extract_conclude(const struct request *request,
			    const struct extract_options *options,
			    const struct extract_report *report)
{
	int status;

	if (request->json)
		print_json(options, report);
	else if (!request->quiet && !report->signal)
		extract_print_text(options, report);
	if (report->xattrs_left)
		log_warn("%" PRIu64 " extended attributes could not be set in %s: they are not "
			 "user.*, or the filesystem there has none", report->xattrs_left,
			 options->destination);
	if (report->failed)
		log_error("%s: %" PRIu64 " could not be extracted%s", options->destination,
			  report->failed, options->keep_going ? "" :
			  ", and nothing after that; --keep-going goes on");
	status = finish_output();
	if (report->signal) {
		signal(report->signal, SIG_DFL);
		raise(report->signal);
	}
	return report->damaged ? ERROR_DAMAGED : report->failed ? ERROR_SYSTEM : status;
}

/* The context of the child. */
struct extraction {
	const struct request *request;
	const struct extract_options *options;
};

static int extract(void *context)
{
	const struct extraction *x = context;
	const struct request *request = x->request;
	struct extract_report report;
	struct selection selection;
	struct error e = { 0 };
	int status;

	if (dataset_check(request->dataset, &e) < 0)
		return report_error(&e);
	if (select_make(request->dataset, request->paths + 1, request->path_count - 1,
			&selection, &e) < 0 ||
	    extract_run(request->dataset, &selection, x->options, &report, &e) < 0)
		status = report_error(&e);
	else
		status = extract_conclude(request, x->options, &report);
	select_free(&selection);
	return status;
}

/* The parent of the child that extracts makes the files. */
static int extract_in_sandbox(const struct request *request,
			      const struct extract_options *options)
{
	struct extraction x = { request, options };
	struct extract_files *files =
		extract_files_new(options->destination, options->existing,
				  options->threads,
				  tree_count(dataset_tree(request->dataset)));
	int status;

	if (!files)
		return report_error(&(struct error){ ERROR_SYSTEM, "out of memory" });
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error like a full disk */
	status = sandbox_child_run(&(struct sandbox_child){ .request = request,
							    .work = extract,
						    .sources =
						    dataset_sources(request->dataset),
						    .context = &x,
						    .serve = extract_files_serve,
						    .server = files,
						    .channels = options->threads });
	extract_files_free(files);
	return status;
}

static int run(struct request *request)
{
	struct extract_options options = { .keep_going = request->given['k'],
					   .quiet = request->quiet };
	int status = parse_threads(request, &options.threads);

	if (status)
		return status;
	if (request->given['f'] && request->given['s'])
		return report_usage(request->command, "--force replaces what --skip-existing "
				    "leaves: choose one");
	request_split(request, SOURCES_AND_PATHS);
	if (request->path_count == 0)
		return report_usage(request->command,
				    "the directory to extract to is missing");
	options.existing = request->given['f'] ? EXISTING_REPLACE :
			   request->given['s'] ? EXISTING_SKIP : EXISTING_REFUSE;
	status = request_open(request, SOURCES_AND_PATHS);
	if (status)
		return status;
	options.destination = request->paths[0];
	return extract_in_sandbox(request, &options);
}

static const struct option longs[] = {
	{ "force", no_argument, NULL, 'f' },
	{ "skip-existing", no_argument, NULL, 's' },
	{ "keep-going", no_argument, NULL, 'k' },
	{ "threads", required_argument, NULL, 't' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_extract = {
	.name = "extract",
	.usage = "[-o OPTIONS] [--force | --skip-existing] [-kq] [--threads N] [--json] "
		 "SOURCE... DEST [PATTERN...]",
	.summary = "Unpacks a dataset, or a part of it, into a directory",
	.help = "    --force                         replace files that are there\n"
		"    --skip-existing                 leave files that are there, and go on\n"
		"    -k, --keep-going                go on after a file that failed\n"
		"    --threads N                     so many files at once\n",
	.shorts = "k", .longs = longs, .takes_dataset = true, .takes_quiet = true, .run = run,
};
