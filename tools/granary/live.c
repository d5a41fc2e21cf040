/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "live.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "mount_list.h"
#include "os/bounded.h"
#include "os/opath.h"
#include "os/sandbox.h"

enum { SECONDS_MOST = 5, JSON_BYTES = 128 * 1024 };

#define STATS_FILE "/.granaryfs/stats.json"

/* Shared between the child, which reads, and its parent. */
struct live_query {
	const char *given;
	bool given_is_there;
	int err;
	char path[PATH_MAX + sizeof(STATS_FILE)];
	char json[JSON_BYTES];
	struct stats_sample sample;
};

static int live_read_all(int fd, char *out, size_t room)
{
	size_t done = 0;
	ssize_t n;

	do {
		n = read(fd, out + done, room - 1 - done);
		done += n > 0 ? (size_t)n : 0;
	} while (n > 0 && done < room - 1);
	out[done] = '\0';
	return n < 0 ? -errno : 0;
}

/* Reads the file below a directory: `length` bytes of look->path. -ENOENT: none. */
static int read_mount(struct live_query *look, size_t length)
{
	int fd, err;

	snprintf(look->path + length, sizeof(look->path) - length, "%s", STATS_FILE);
	fd = opath_open_file(look->path);
	if (fd < 0)
		return fd == -ENOTDIR || fd == -EINVAL ? -ENOENT : fd;
	err = live_read_all(fd, look->json, JSON_BYTES);
	close(fd);
	return err;
}

/* Steps to the parent directory; false: it is of another filesystem, or there is none. */
static bool go_up(struct live_query *look, size_t length, dev_t device)
{
	struct stat st;
	char *slash;

	if (length == 0)
		return false;
	look->path[length] = '\0';
	slash = strrchr(look->path, '/');
	slash[slash == look->path ? 1 : 0] = '\0'; /* "/" keeps its name */
	return stat(look->path, &st) == 0 && st.st_dev == device;
}

/* The mount may be a stranger's, and so its text. */
static int parse_in_sandbox(struct live_query *look)
{
	struct error e;

	return sandbox_enter(&e) < 0 ? -EPERM : sample_parse(look->json, &look->sample);
}

/* Tries the path that was given, and those above it, up to the root of the mount. */
static int find_mount(void *argument)
{
	struct live_query *look = argument;
	struct stat here;
	size_t length;

	if (!realpath(look->given, look->path) || stat(look->path, &here) < 0) {
		look->err = -errno;
		return 0;
	}
	look->given_is_there = true;
	do {
		length = strcmp(look->path, "/") == 0 ? 0 : strlen(look->path);
		look->err = read_mount(look, length);
	} while (look->err == -ENOENT && go_up(look, length, here.st_dev));
	if (!look->err)
		look->err = parse_in_sandbox(look);
	return 0;
}

static enum live live_fail(const struct live_query *look, int err, struct error *e)
{
	const char *path = look->given;

	if (err == -ETIMEDOUT)
		error_set(e, ERROR_MOUNT, ETIMEDOUT, "%s: does not answer within %d seconds: its "
			  "daemon hangs; to end it: granary umount --force %s", path,
			  SECONDS_MOST, path);
	else if (err == -ENOTCONN || err == -ECONNABORTED)
		error_set(e, ERROR_MOUNT, ENOTCONN, "%s: the daemon of this mount has died; to "
			  "clear it away: granary umount %s", path, path);
	else if (err == -EACCES)
		error_set(e, ERROR_SYSTEM, EACCES, "%s: permission denied; without "
			  "-o allow_other only its owner may read it", path);
	else if (err == -EPROTO)
		error_set(e, ERROR_MOUNT, EPROTO, "%s: is a mount of another version of "
			  "granaryfs; use the granary that came with it", path);
	else if (err == -EBADMSG)
		error_set(e, ERROR_MOUNT, EBADMSG, "%s%s: is not what granaryfs writes", path,
			  STATS_FILE);
	else
		error_set(e, ERROR_SYSTEM, -err, "%s: %s", path, strerror(-err));
	return LIVE_FAILED;
}

/* The path exists, but no directory above it has .granaryfs. */
static enum live report_no_mount(const char *path, struct error *e)
{
	error_set(e, ERROR_MOUNT, ENOENT, "%s: no granaryfs is mounted there, or one without "
		  ".granaryfs, of an older version", path);
	return LIVE_NOT_THERE;
}

/* FUSE refuses root at a user's mount: what its daemon publishes is open to root. */
static bool read_record(const struct live_query *look, struct stats_sample *out)
{
	CLEANUP(cleanup_free) struct record *record = mount_list_find(look->given);

	if (record)
		sample_take(&record->cells, out);
	return record != NULL;
}

static enum live live_read(struct live_query *look, struct stats_sample *out,
			   struct error *e)
{
	int err = bounded_run(find_mount, look, SECONDS_MOST * 1000);

	if (!err)
		err = look->err;
	if (err == -EACCES && read_record(look, out))
		return LIVE_ANSWERS;
	if (err == -ENOENT && look->given_is_there)
		return report_no_mount(look->given, e);
	if (!err)
		*out = look->sample;
	return err ? live_fail(look, err, e) : LIVE_ANSWERS;
}

enum live live_sample(const char *path, struct stats_sample *out, struct error *e)
{
	struct live_query *look = mmap(NULL, sizeof(*look), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum live live;

	if (look == MAP_FAILED) {
		error_no_memory(e, NULL);
		return LIVE_FAILED;
	}
	look->given = path;
	live = live_read(look, out, e);
	munmap(look, sizeof(*look));
	return live;
}
