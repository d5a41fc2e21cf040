/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rehearse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "os/bounded.h"
#include "os/mounts.h"
#include "os/namespace.h"
#include "os/program.h"
#include "packer/packer.h"
#include "private.h"

enum { REHEARSAL_MS = 20000 };

/*
 * An empty directory. The process that tries mounts a tmpfs on it, in its own namespace,
 * for all other files.
 */
static const char place_template[] = "/tmp/granary-doctor.XXXXXX";
static char place[sizeof(place_template)];

static const char *const directories[] = { "tree", "tree/directory", "mount" };
static const char *const files[] = { "file", "directory/file" };

enum { PATH_BYTES = sizeof(place) + 32 };

static char *rehearse_path_of(const char *directory, const char *name, char out[PATH_BYTES])
{
	snprintf(out, PATH_BYTES, "%s/%s%s", place, directory, name);
	return out;
}

static int rehearse_failed(struct rehearsal_report *r, const char *what)
{
	snprintf(r->why, sizeof(r->why), "%s: %s", what, strerror(errno));
	return -1;
}

static int make_file(const char *path)
{
	CLEANUP(cleanup_close) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	return fd >= 0 && write(fd, "contents\n", 9) == 9 ? 0 : -1;
}

static int make_tree(struct rehearsal_report *r)
{
	char path[PATH_BYTES];

	if (mount("granary", place, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
		return rehearse_failed(r, "no tmpfs can be mounted");
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		if (mkdir(rehearse_path_of("", directories[i], path), 0755) < 0)
			return rehearse_failed(r, path);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (make_file(rehearse_path_of("tree/", files[i], path)) < 0)
			return rehearse_failed(r, path);
	}
	return 0;
}

static int rehearse_pack(struct rehearsal_report *r)
{
	char tree[PATH_BYTES], packed[PATH_BYTES];
	const struct pack_options options = {.source = rehearse_path_of("", "tree", tree),
					     .out = rehearse_path_of("", "packed.tar",
								     packed),
					     .level = -1,
					     .threads = 1};
	struct pack_result result;
	struct error e = { 0 };
	int err = packer_run(&options, NULL, &result, &e);

	pack_result_free(&result);
	if (err)
		snprintf(r->why, sizeof(r->why), "%.300s", e.text);
	return err;
}

/* Finds the middle of granaryfs's sentence: why there is no shield. */
static bool find_reason(const char *said, struct rehearsal_report *r)
{
	static const char before[] = "-o shield=on: ", after[] = "; leave shield=";
	const char *begin = strstr(said, before), *end;

	if (!begin)
		return false;
	begin += strlen(before);
	end = strstr(begin, after);
	snprintf(r->why, sizeof(r->why), "%.*s",
		 (int)(end ? (size_t)(end - begin) : strcspn(begin, "\n")), begin);
	r->result = REHEARSAL_BARE;
	return true;
}

static void read_messages(int said, struct rehearsal_report *r)
{
	char text[1024];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	if (find_reason(text, r))
		return;
	text[strcspn(text, "\n")] = '\0';
	snprintf(r->why, sizeof(r->why), "%.*s", (int)sizeof(r->why) - 1,
		 *text ? text : "granaryfs said nothing");
}

/* Checks the mount itself, not only granaryfs's exit status. */
static void inspect_mount(struct rehearsal_report *r)
{
	struct mount_entry entry;
	struct stat st;
	char path[PATH_BYTES];

	if (mounts_find(rehearse_path_of("", "mount", path), &entry) != 1 ||
	    !entry.front) {
		snprintf(r->why, sizeof(r->why), "it was mounted, and is not to be seen");
		return;
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (stat(rehearse_path_of("mount/", files[i], path), &st) < 0) {
			rehearse_failed(r, path);
			return;
		}
	}
	r->result = REHEARSAL_SHIELDED;
}

/* Mounts, and reads granaryfs's messages. */
static int mount_it(struct rehearsal_report *r, const char *daemon)
{
	char packed[PATH_BYTES], where[PATH_BYTES];
	const struct private_mount dataset = {
		.source = rehearse_path_of("", "packed.tar", packed),
		.directory = rehearse_path_of("", "mount", where),
	};
	CLEANUP(cleanup_close) int said = memfd_create("granaryfs", MFD_CLOEXEC);

	if (said < 0 || dup2(said, STDERR_FILENO) < 0)
		return rehearse_failed(r, "its messages cannot be read");
	if (private_mount_all(&dataset, 1, daemon, namespace_is_private() ?
			      "shield=on,index=off,prefetch=off" :
			      "shield=on,index=off,prefetch=off,allow_other") != 0)
		read_messages(said, r);
	else
		inspect_mount(r);
	return 0;
}

/* In a child, in whose namespace all of it lies. */
static int rehearse_try_it(void *argument)
{
	struct rehearsal_report *r = argument;
	char daemon[PROGRAM_PATH_BYTES];
	struct error e = { 0 };

	if (program_find("granaryfs", daemon, &e) < 0 || private_enter(&e) < 0)
		snprintf(r->why, sizeof(r->why), "%.*s", (int)sizeof(r->why) - 1, e.text);
	else if (make_tree(r) == 0 && rehearse_pack(r) == 0)
		mount_it(r, daemon);
	return 0;
}

static void rehearse_in(struct rehearsal_report *r)
{
	r->result = REHEARSAL_FAILED;
	memcpy(place, place_template, sizeof(place));
	if (!mkdtemp(place)) {
		rehearse_failed(r, place_template);
		return;
	}
	fflush(stdout); /* or the child would print it again */
	if (bounded_run(rehearse_try_it, r, REHEARSAL_MS) != 0 && !*r->why)
		snprintf(r->why, sizeof(r->why), "it took too long, or was ended");
	rmdir(place);
}

void rehearse(struct rehearsal_report *out)
{
	struct rehearsal_report *r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE,
					  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*out = (struct rehearsal_report){ .result = REHEARSAL_FAILED, .why = "out of memory" };
	if (r == MAP_FAILED)
		return;
	rehearse_in(r);
	*out = *r;
	munmap(r, sizeof(*r));
}
