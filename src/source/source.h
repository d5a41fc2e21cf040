/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h: where the bytes of a packed file come from.
 *
 * A source is a random-access byte string of constant size. There are kinds of them
 * (source/source_kind.h): local files now, remote objects later. A source knows no
 * formats.
 *
 * Threads: source_read and the getters may be called from any number of
 * threads at once; source_close when no other call is under way.
 */
#ifndef GRANARY_SOURCE_SOURCE_H
#define GRANARY_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/identity.h"
#include "source/read_context.h"

struct source;

/* The owner and permissions of the packed file, and its time of change. */
struct source_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode;       /* permission bits */
	int64_t mtime;     /* seconds since the epoch; of a block device 0, but of
			      a loop device its file's */
	uint32_t mtime_ns;
};

/* Equal for two names of one file, or of one block device. */
struct source_id {
	dev_t device;
	ino_t inode;
};

/* The result of fstat(2) for a packed file. */
struct source_info {
	struct source_id id;
	uint64_t size;
	bool device; /* a block device: most have no time of change */
	uint64_t number; /* the inode's; 0: of a device, or of a filesystem that numbers its
			    files anew at each mount */
	struct source_owner owner;
	struct timespec changed; /* st_ctim; zero where `number` is */
};

/*
 * Opens a regular file or a block device for reading (never O_NOATIME: purge policies
 * count atime). Errors name the path: -ENOENT, -EACCES, -EISDIR, -EINVAL for another kind
 * of file. On success the caller owns *out.
 */
int source_open(const char *path, struct source **out, struct error *e);

/*
 * The same of a file that must lie below the directory which the first `directory` bytes of
 * the path name: -EXDEV where a link leads out of it. 0: it may be anywhere.
 */
int source_open_below(const char *path, size_t directory, struct source **out,
		      struct error *e);

/*
 * The same for a file that another process has opened, with rights that this process may
 * lack. `path` is for messages, and is never opened. -EBADF if `fd` is not open for
 * reading. On success the source owns the descriptor, which is closed on exec.
 */
int source_adopt(const char *path, int fd, struct source **out, struct error *e);

/*
 * The same for a file that another process has opened and described as another user, in
 * `info`. A FUSE filesystem answers its own user only: this process may read from the
 * descriptor, and not call fstat. Nor does source_close close the descriptor: the kernel
 * would wait for the filesystem's answer, and no signal ends that wait (process_leave).
 */
int source_receive(const char *path, int fd, const struct source_info *info,
		   struct source **out, struct error *e);
void source_close(struct source *source);

/* Was it opened by source_open_below with a directory, as a file that another one lists? */
bool source_is_listed(const struct source *source);

/*
 * Reads exactly `length` bytes at `offset`: 0, or a negative errno. A range that reaches
 * past the end is -EIO, and so is a file that has shrunk. A temporary error is retried
 * for about a second. A lasting error is returned, and its place is in the context's
 * fault: `storage`, `source` and `at`.
 */
int source_read(const struct source *source, void *buffer, size_t length, uint64_t offset,
		struct read_context *context);

/* The same outside of a mount's reads: its callers name the file in their errors. */
static inline int source_pread(const struct source *source, void *buffer, size_t length,
			       uint64_t offset)
{
	struct read_context context = { .hint = READ_EXACT };

	return source_read(source, buffer, length, offset, &context);
}

/* A hint at the reader's next steps. No hint changes a byte or waits. */
enum source_hint {
	/* These bytes will be read soon: the kernel may fetch them. */
	HINT_SOON,
	/*
	 * From now on the reader keeps the bytes that it reads, or passes them on. The
	 * kernel should read exactly these bytes, and keep no copy of those that it
	 * fetched. HINT_STREAM_OWN: nor of those that it held before.
	 */
	HINT_STREAM,
	HINT_STREAM_OWN,
};

/* `offset` and `length` are for HINT_SOON. */
void source_hint(const struct source *source, enum source_hint hint, uint64_t offset,
		 uint64_t length);

/*
 * The descriptor of a local file, for another process, or for a library that calls
 * pread(2). The source still owns it. -ENOTSUP and *e: the source has none.
 */
int source_hand_over(const struct source *source, struct error *e);

/*
 * The first offset at or behind `offset` with stored bytes, or the source's size: the
 * bytes between are a hole. `offset` itself if the storage cannot tell.
 */
uint64_t source_next_data(const struct source *source, uint64_t offset);

/* The path that opened the source; valid as long as the source. */
const char *source_path(const struct source *source);

/* The place of the file when it was opened: absolute, without links. */
const char *source_place(const struct source *source);

/*
 * The file's own name, without directories; of a link the target's, except for a device.
 */
const char *source_own_name(const struct source *source);
uint64_t source_size(const struct source *source);
const struct source_owner *source_owner(const struct source *source);
const struct source_info *source_info(const struct source *source);

/*
 * For a process without rights: if a descriptor is stale, `open` has the file at `place`
 * opened by another process, which calls source_reopen with its own source. 0 and a
 * descriptor of the same file, or a negative errno.
 *
 * Threads: source_open_by only while the process has one.
 */
typedef int source_opener(const char *place, const struct source_info *info, int *fd);
void source_open_by(source_opener *open);
int source_reopen(const struct source *source, int *fd);

/*
 * source_identity reads the first and last bytes, and `samples` pages between them, at
 * places that depend on the size and on `samples`: 0 or a negative errno. Samples that
 * cannot be read are unknown, and no error. source_samples reads these pages alone: the
 * hash of an identity, 0 if it is unknown. source_identity_ahead has the kernel fetch
 * these bytes, without a wait: called for many sources before the first is read, it lets
 * slow storage serve all of them at once.
 */
int source_identity(const struct source *source, unsigned samples, struct identity *out);
uint64_t source_samples(const struct source *source, unsigned samples);

/*
 * False if the source's size or a time says that somebody may have written to it since it
 * was opened, even one who set the time of change back. Nothing is known of devices, nor of
 * a file that this process may not examine: true.
 */
bool source_is_unchanged(const struct source *source);
void source_identity_ahead(const struct source *source, unsigned samples);

#endif
