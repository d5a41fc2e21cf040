/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_convert.c: granary convert SOURCE... OUT */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "os/process.h"
#include "os/processors.h"
#include "packing.h"
#include "sandbox_child.h"
#include "tree_server.h"

enum { LINES_DEFAULT = 16 };

struct conversion {
	const struct request *request;
	struct pack_options options;
	struct tree_server *server;
	struct pack_result result;
	struct error e;
	int err;
	bool packed; /* the result is filled in */
};

static void convert_begin(void *context)
{
	struct conversion *c = context;

	tree_server_begin_child(c->server);
}

static int convert_serve(void *context)
{
	struct conversion *c = context;
	struct error e = { 0 };

	return tree_server_serve(c->server, &e) < 0 ? report_error(&e) : 0;
}

/* A dead child's errors are the crash. */
static void note_end(struct conversion *c, pid_t child)
{
	int status;
	pid_t ended;

	do {
		ended = waitpid(child, &status, 0);
	} while (ended < 0 && errno == EINTR);
	if (ended == child && c->err && process_ended_by_fault(status))
		sandbox_child_crash(c->request, dataset_sources(c->request->dataset), status,
				    &c->e);
	else if (c->err && c->result.damaged)
		c->e.status = ERROR_DAMAGED;
}

/* In the parent: packs what the child reads. */
static int convert_pack(void *context, pid_t child)
{
	struct conversion *c = context;

	c->options.input = tree_server_begin_parent(c->server);
	c->err = packing_run(c->request, &c->options, &c->result, &c->e);
	c->packed = true;
	tree_server_end(c->server);
	note_end(c, child);
	return 0;
}

static unsigned line_count(const struct pack_options *o)
{
	unsigned n = 2 * processors_count();

	return o->threads ? o->threads : n < LINES_DEFAULT ? n : LINES_DEFAULT;
}

static int convert(struct conversion *c)
{
	struct dataset *dataset = c->request->dataset;
	int status;

	if (tree_server_open(dataset, &c->request->config, line_count(&c->options), &c->server,
			     &c->e) < 0)
		return report_error(&c->e);
	status = sandbox_child_run(&(struct sandbox_child){ .request = c->request,
							    .sources = dataset_sources(dataset),
							    .begin = convert_begin,
							    .work = convert_serve,
							    .wait = convert_pack,
							    .context = c });
	return c->packed ? packing_report(c->request, &c->result, c->err, &c->e) : status;
}

static int run(struct request *request)
{
	CLEANUP(cleanup_free) char *compressor = NULL;
	struct conversion c = { .request = request, .options = { .level = -1 } };
	int status;

	if (request->argument_count < 2)
		return report_usage(request->command,
				    "a dataset and the name of what is to be made are wanted");
	status = packing_prepare(request, &c.options, &compressor);
	if (status)
		return status;
	c.options.source = request->arguments[0];
	c.options.out = request->arguments[--request->argument_count];
	status = request_open(request, ONLY_SOURCES);
	if (!status)
		status = convert(&c);
	tree_server_close(c.server);
	if (c.packed)
		pack_result_free(&c.result);
	return status;
}

const struct command command_convert = {
	.name = "convert",
	.usage = "[-o OPTIONS] [OPTIONS] [-q] [--json] SOURCE... OUT",
	.summary = "Packs a dataset anew, into tar, squashfs or HDF5 files",
	.help = PACKING_HELP,
	.shorts = "f", .longs = packing_options, .takes_dataset = true, .takes_quiet = true,
	.run = run,
};
