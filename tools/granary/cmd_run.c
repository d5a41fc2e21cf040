/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cmd_run.c: granary run SOURCE:DIR [SOURCE:DIR...] -- CMD...
 *
 * The process becomes the command, so signals, exit status and process number are the
 * command's own. It reads no packed file, and keeps the caller's rights.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "granary.h"
#include "private.h"
#include "base/log.h"
#include "os/program.h"

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 }; /* as env(1) */

/* The last colon separates them: names of packed files may hold colons. */
static int part(char *argument, struct private_mount *out, struct error *e)
{
	char *colon = strrchr(argument, ':');
	struct stat st;

	if (!colon || colon == argument || !colon[1])
		return error_set(e, ERROR_USAGE, EINVAL,
				 "'%s' is not SOURCE:DIR; name a packed file and, after a colon, "
				 "the directory where it is to be seen", argument);
	*colon = '\0';
	*out = (struct private_mount){ .source = argument, .directory = colon + 1 };
	if (stat(out->directory, &st) < 0)
		return error_set(e, ERROR_SYSTEM, errno, "%s: %s%s", out->directory,
				 strerror(errno),
				 errno == ENOENT ? "; make the directory first" : "");
	if (!S_ISDIR(st.st_mode))
		return error_set(e, ERROR_SYSTEM, ENOTDIR, "%s: is no directory, and something "
				 "can be seen only in one", out->directory);
	return 0;
}

static int run_become(char **command)
{
	execvp(command[0], command);
	log_error("%s: %s", command[0], strerror(errno));
	return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static int mount_and_run(struct request *request, struct private_mount *mounts, size_t count)
{
	char **command = request->arguments + count, daemon[PROGRAM_PATH_BYTES];
	struct error e = { 0 };
	int status;

	for (size_t i = 0; i < count; i++) {
		if (part(request->arguments[i], &mounts[i], &e) < 0)
			return report_error(&e);
	}
	if (program_find("granaryfs", daemon, &e) < 0 || private_enter(&e) < 0)
		return report_error(&e);
	status = private_mount_all(mounts, count, daemon, request->value['o']);
	return status ? status : run_become(command);
}

static int run(struct request *request)
{
	size_t count = request->argument_count - request->behind_dashes;
	struct private_mount *mounts;
	int status;

	if (request->json)
		return report_usage(request->command, "what the command prints is its own");
	if (!request->behind_dashes)
		return report_usage(request->command, "the command is missing, behind --");
	if (count == 0)
		return report_usage(request->command, "there is nothing to mount");
	mounts = calloc(count, sizeof(*mounts));
	if (!mounts)
		return report_error(&(struct error){ ERROR_SYSTEM, "out of memory" });
	status = mount_and_run(request, mounts, count);
	free(mounts);
	return status;
}

const struct command command_run = {
	.name = "run", .usage = "[-o OPTIONS] SOURCE:DIR [SOURCE:DIR...] -- COMMAND [ARGUMENT...]",
	.summary = "Runs a command that sees datasets mounted, and nobody else does",
	.help = "    -o OPTIONS                      as for granaryfs, for each of the mounts\n",
	.shorts = "o:", .no_json = true, .run = run,
};
