/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_cat.c: granary cat SOURCE... PATH... */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox_child.h"
#include "granary.h"
#include "base/cleanup.h"
#include "base/log.h"

enum { PIECE_BYTES = 1024 * 1024 };

static int copy_file(const struct request *request, const char *path, uint32_t node,
		     char *buffer)
{
	struct read_context context = { .hint = READ_EXACT };
	uint64_t offset = 0;
	ssize_t n;

	while ((n = dataset_read(request->dataset, node, buffer, PIECE_BYTES, offset,
				 &context)) > 0) {
		if (fwrite(buffer, 1, (size_t)n, stdout) != (size_t)n)
			return finish_output();
		offset += (uint64_t)n;
	}
	if (n == 0)
		return 0;
	log_error("%s: %s", path, n == -EINVAL ? "is no file" : strerror((int)-n));
	return n == -EIO && !context.fault.storage ? ERROR_DAMAGED : ERROR_SYSTEM;
}

/* Goes on after a path that fails, as cat(1) does. */
static int copy_files(struct request *request)
{
	CLEANUP(cleanup_free) char *buffer = malloc(PIECE_BYTES);
	int worst = 0;

	if (!buffer)
		return report_error(&(struct error){ ERROR_SYSTEM, "out of memory" });
	for (size_t i = 0; i < request->path_count; i++) {
		uint32_t node;
		int status = request_node(request, request->paths[i], &node);

		if (!status)
			status = copy_file(request, request->paths[i], node, buffer);
		if (status)
			worst = status;
	}
	return worst ? worst : finish_output();
}

static int run(struct request *request)
{
	int status;

	if (request->json)
		return report_usage(request->command, "a file's bytes are no JSON");
	status = request_open(request, SOURCES_AND_PATHS);
	if (status)
		return status;
	if (request->path_count == 0)
		return report_usage(request->command, "the path of a file is missing");
	return sandbox_child_read(request, copy_files);
}

const struct command command_cat = {
	.name = "cat", .usage = "[-o OPTIONS] SOURCE... PATH...",
	.summary = "Prints files of a packed dataset, without a mount",
	.help = "", .shorts = "", .takes_dataset = true, .no_json = true, .run = run,
};
