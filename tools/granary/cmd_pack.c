/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_pack.c: granary pack SRC_DIR OUT */
#include "base/cleanup.h"
#include "packing.h"

static int run(struct request *request)
{
	CLEANUP(cleanup_free) char *compressor = NULL;
	struct pack_options options = { .level = -1 };
	struct pack_result result;
	struct error e = { 0 };
	int err, status;

	if (request->argument_count != 2)
		return report_usage(request->command,
				    "a directory and the name of what is to be "
				    "made are wanted");
	status = packing_prepare(request, &options, &compressor);
	if (status)
		return status;
	options.source = request->arguments[0];
	options.out = request->arguments[1];
	err = packing_run(request, &options, &result, &e);
	status = packing_report(request, &result, err, &e);
	pack_result_free(&result);
	return status;
}

const struct command command_pack = {
	.name = "pack",
	.usage = "[OPTIONS] [-q] [--json] SRC_DIR OUT",
	.summary = "Packs a directory into tar, squashfs or HDF5 files",
	.help = PACKING_HELP,
	.shorts = "f", .longs = packing_options, .takes_quiet = true, .run = run,
};
