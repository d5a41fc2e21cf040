/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "packer/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/filename.h"
#include "base/size.h"
#include "os/whole.h"
#include "packer/out_directory.h"

/* Bytes written before writeback is started. */
enum { WRITEBACK_BYTES = 32 << 20 };

struct output {
	char *path, *temporary;
	int fd;
	bool replace;
	uint64_t waiting; /* written since the storage was told to begin */
	int slot;         /* among `begun`, or -1 */
};

/* Files that a signal removes. Entries are cleared only while signals are blocked. */
static _Atomic(const char *) begun[OUTPUT_MOST];

/* Removed too, unless companion_of exists. */
static _Atomic(const char *) companion, companion_of;

static const int fatal_signals[] = { SIGINT, SIGTERM, SIGHUP };

enum { FATAL_COUNT = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };

static void remove_begun(int number)
{
	const char *with = atomic_load(&companion), *of = atomic_load(&companion_of);
	int before = errno;
	struct stat st;

	for (int i = 0; i < OUTPUT_MOST; i++) {
		const char *name = atomic_load(&begun[i]);

		if (name)
			unlinkat(out_directory_opened(name), filename_of(name), 0);
	}
	if (with && of && fstatat(out_directory_opened(of), filename_of(of), &st,
				  AT_SYMLINK_NOFOLLOW) < 0)
		unlinkat(out_directory_opened(with), filename_of(with), 0);
	signal(number, SIG_DFL);
	raise(number);
	errno = before;
}

void output_remove_unless(const char *name, const char *there)
{
	atomic_store(&companion, NULL);
	atomic_store(&companion_of, there);
	atomic_store(&companion, name);
}

void output_catch_signals(bool on)
{
	struct sigaction action = { .sa_handler = on ? remove_begun : SIG_DFL }, before;

	for (int i = 0; i < FATAL_COUNT; i++)
		sigaddset(&action.sa_mask, fatal_signals[i]);
	for (int i = 0; i < FATAL_COUNT; i++) {
		if (sigaction(fatal_signals[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(fatal_signals[i], &action, NULL);
	}
}

static void output_block_signals(sigset_t *before)
{
	sigset_t fatal;

	sigemptyset(&fatal);
	for (int i = 0; i < FATAL_COUNT; i++)
		sigaddset(&fatal, fatal_signals[i]);
	pthread_sigmask(SIG_BLOCK, &fatal, before);
}

static void unblock_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* The caller frees it; NULL: out of memory. */
static char *output_temporary(const char *path)
{
	const char *name = filename_of(path);
	char *out = NULL;

	return asprintf(&out, "%.*s.%s.part", (int)(name - path), path, name) < 0 ? NULL : out;
}

static void free_output(struct output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	free(output->path);
	free(output->temporary);
	free(output);
}

/* Has `path` still this file? The process that held the lock may have renamed it. */
static bool is_at(int fd, const char *path)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 &&
	       fstatat(out_directory_opened(path), filename_of(path), &named,
		       AT_SYMLINK_NOFOLLOW) == 0 &&
	       opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/*
 * An open file, lock held, or a negative errno; -EBUSY: another process holds the lock.
 */
static int open_locked(const char *path)
{
	while (true) {
		int fd = out_directory_open(path, O_RDWR | O_CREAT | O_NONBLOCK), err;

		if (fd < 0)
			return fd;
		err = flock(fd, LOCK_EX | LOCK_NB) < 0 ? errno : 0;
		if (err == EWOULDBLOCK) {
			close(fd);
			return -EBUSY;
		}
		if (is_at(fd, path))
			return fd;
		close(fd);
	}
}

static int explain_begin(struct output *output, int errnum, struct error *e)
{
	const char *path = output->path;

	if (errnum == EBUSY)
		return error_set(e, ERROR_SYSTEM, EBUSY,
				 "%s: another process is making it; wait for that, or name "
				 "another file", path);
	if (errnum == ENAMETOOLONG)
		return error_set(e, ERROR_SYSTEM, ENAMETOOLONG,
				 "%s: the name is too long; while it is made it needs 6 bytes "
				 "more", path);
	return error_set(e, ERROR_SYSTEM, errnum, "%s: it cannot be made: %s", path,
			 strerror(errnum));
}

/* Only our own leftover is overwritten, not another user's file of that name. */
static int check_leftover(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	/* with a second link the contents may be wanted */
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink > 1)
		return -EPERM;
	return st.st_size && ftruncate(fd, 0) < 0 ? -errno : 0;
}

static int register_temporary(const char *name)
{
	for (int i = 0; i < OUTPUT_MOST; i++) {
		const char *none = NULL;

		if (atomic_compare_exchange_strong(&begun[i], &none, name))
			return i;
	}
	return -1;
}

/* Signals are blocked, so that a signal finds both the file and its entry, or neither. */
static int open_temporary(struct output *output)
{
	sigset_t before;
	int err;

	output_block_signals(&before);
	output->fd = open_locked(output->temporary);
	err = output->fd < 0 ? output->fd : check_leftover(output->fd);
	if (!err)
		output->slot = register_temporary(output->temporary);
	unblock_signals(&before);
	return err;
}

static int output_check_place(const char *path, bool replace, struct error *e)
{
	struct stat st;

	int directory = out_directory(path, e);

	if (directory < 0)
		return directory;
	if (fstatat(directory, filename_of(path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0; /* open_temporary reports the error */
	if (S_ISDIR(st.st_mode))
		return error_set(e, ERROR_USAGE, EISDIR,
				 "%s: is a directory; name the file that is to be made",
					 path);
	if (!replace)
		return error_set(e, ERROR_SYSTEM, EEXIST,
				 "%s: is there already; --force replaces it", path);
	return 0;
}

int output_begin(const char *path, bool replace, struct output **out, struct error *e)
{
	struct output *output;
	int err = output_check_place(path, replace, e);

	if (err)
		return err;
	output = calloc(1, sizeof(*output));
	if (!output)
		return error_no_memory(e, NULL);
	output->fd = output->slot = -1;
	output->replace = replace;
	output->path = strdup(path);
	output->temporary = output_temporary(path);
	err = output->path && output->temporary ? open_temporary(output) : -ENOMEM;
	if (!err) {
		*out = output;
		return 0;
	}
	err = explain_begin(output, -err, e);
	free_output(output);
	return err;
}

int output_fd(const struct output *output)
{
	return output->fd;
}

void output_advance(struct output *output, uint64_t bytes)
{
	output->waiting += bytes;
	if (output->waiting < WRITEBACK_BYTES)
		return;
	output->waiting = 0;
	/* advice: the final sync writes the rest */
	sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

static void unregister_temporary(struct output *output)
{
	if (output->slot >= 0)
		atomic_store(&begun[output->slot], NULL);
	output->slot = -1;
}

/* After a power cut the name exists only if the directory was synced too. */
static void sync_directory(const char *path)
{
	CLEANUP(cleanup_close) int fd = openat(out_directory_opened(path), ".",
					       O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd); /* some filesystems cannot; the rename is done all the same */
}

/* RENAME_NOREPLACE: a file that appeared meanwhile stays. Some filesystems lack it. */
static int rename_output(const struct output *output)
{
	const char *from = filename_of(output->temporary), *to = filename_of(output->path);
	int directory = out_directory_opened(output->path);

	if (output->replace)
		return renameat(directory, from, directory, to) < 0 ? -errno : 0;
	if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (out_directory_has(output->path))
		return -EEXIST;
	return renameat(directory, from, directory, to) < 0 ? -errno : 0;
}

int output_commit(struct output *output, struct error *e)
{
	int err = fsync(output->fd) < 0 ? -errno : 0;
	sigset_t before;

	output_block_signals(&before);
	if (!err)
		err = rename_output(output);
	if (err)
		out_directory_unlink(output->temporary);
	unregister_temporary(output);
	unblock_signals(&before);
	if (err)
		output_error(output->path, -err, 0, e);
	else
		sync_directory(output->path);
	free_output(output);
	return err;
}

void output_drop(struct output *output)
{
	sigset_t before;

	if (!output)
		return;
	output_block_signals(&before);
	out_directory_unlink(output->temporary);
	unregister_temporary(output);
	unblock_signals(&before);
	free_output(output);
}

int output_write(const char *path, const void *bytes, size_t size, struct error *e)
{
	struct output *output;
	int err = output_begin(path, true, &output, e);

	if (err)
		return err;
	err = write_whole(output->fd, bytes, size);
	if (!err)
		return output_commit(output, e);
	output_drop(output);
	return output_error(path, -err, 0, e);
}

int output_error(const char *path, int errnum, uint64_t written, struct error *e)
{
	char size[SIZE_TEXT_BYTES], after[SIZE_TEXT_BYTES + 16] = "";

	if (written)
		snprintf(after, sizeof(after), " after %s", size_text(written, size));
	if (errnum == ENOSPC)
		return error_set(e, ERROR_SYSTEM, ENOSPC,
				 "%s: there is no space left on its filesystem%s; nothing of it was "
				 "kept; make room (df and df -i say how much there is), or name a "
				 "file on another filesystem", path, after);
	if (errnum == EDQUOT)
		return error_set(e, ERROR_SYSTEM, EDQUOT,
				 "%s: the disk quota is used up%s; nothing of it was kept; remove "
				 "files, ask for more, or name a file where you have more", path,
				 after);
	if (errnum == EFBIG)
		return error_set(e, ERROR_SYSTEM, EFBIG,
				 "%s: it became larger than a file may be%s (ulimit -f, or the "
				 "filesystem's limit); make shards with --shard-size", path, after);
	return error_set(e, ERROR_SYSTEM, errnum, "%s: it cannot be written: %s", path,
			 strerror(errnum));
}
