/* cmd_umount.c: granary umount MOUNTPOINT... */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "granary.h"
#include "util/cleanup.h"
#include "util/json.h"
#include "util/log.h"
#include "util/mounts.h"

/*
 * The path as the mount table has it. The last component may be a dead mount,
 * which cannot be looked at: so only the folder that it is in is resolved.
 */
static char *absolute(const char *path)
{
	CLEANUP(cleanup_free) char *copy = strdup(path);
	CLEANUP(cleanup_free) char *folder = NULL;
	char *slash, *out = realpath(path, NULL);
	size_t n;

	if (out || !copy)
		return out;
	for (n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	folder = realpath(!slash ? "." : *copy ? copy : "/", NULL);
	if (!folder || asprintf(&out, "%s/%s", strcmp(folder, "/") ? folder : "",
				slash ? slash + 1 : copy) < 0)
		return NULL;
	return out;
}

/* 1: unmounted; 0: there was nothing to do; or a negative errno, e filled. */
static int unmount(const char *given, struct error *e)
{
	CLEANUP(cleanup_free) char *path = absolute(given);
	char type[64];
	int found, err;

	if (!path)
		return errno == ENOENT ? 0 : error_set(e, ERROR_SYSTEM, errno, "%s: %s", given,
						       strerror(errno));
	found = mounts_type(path, type, sizeof(type));
	if (found < 0)
		return error_set(e, ERROR_SYSTEM, -found, "/proc/self/mounts: %s",
				 strerror(-found));
	if (!found)
		return 0;
	if (strcmp(type, MOUNT_TYPE) != 0)
		return error_set(e, ERROR_MOUNT, EINVAL,
				 "%s: is a mount of %s, not of granaryfs; use umount",
				 path, type);
	err = mounts_detach(path, MOUNT_ID_UNKNOWN);
	if (err)
		return error_set(e, ERROR_MOUNT, -err, "%s: it cannot be unmounted: %s",
				 path, err == -EPERM ? "only its owner and root may" :
				 strerror(-err));
	return 1;
}

static int run(struct request *request)
{
	struct json json = { .out = stdout };
	struct error e;
	int worst = 0;

	for (size_t i = 0; i < request->argument_count; i++) {
		int done = unmount(request->arguments[i], &e);

		if (done < 0)
			worst = report_error(&e);
		if (!request->json)
			continue;
		json_open(&json, NULL, '{');
		json_text(&json, "mountpoint", request->arguments[i]);
		json_bool(&json, "unmounted", done > 0);
		json_close(&json, '}');
		putchar('\n');
		json.comma = false;
	}
	return worst;
}

const struct command command_umount = {
	.name = "umount", .usage = "[--json] MOUNTPOINT...",
	.summary = "Unmounts, also what a dead daemon left; nothing mounted is no error",
	.help = "", .shorts = "", .run = run,
};
