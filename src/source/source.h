/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source.h: where the bytes of a packed file come from.
 *
 * A source is a random-access byte string of constant size. There are kinds of them
 * (source/source_kind.h): local files now, remote objects later. It knows nothing of
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

/* Who owns the packed file, who may read it, and when it was last written. */
struct source_owner {
	uid_t uid;
	gid_t gid;
	mode_t mode;       /* permission bits */
	int64_t mtime;     /* seconds since the epoch; of a block device 0, but of
			      a loop device its file's */
	uint32_t mtime_ns;
};

/* Two names of one file, or of one block device, have the same. */
struct source_id {
	dev_t device;
	ino_t inode;
};

/* What fstat(2) says of a packed file. */
struct source_info {
	struct source_id id;
	uint64_t size;
	bool device; /* a block device: most have no time of change */
	uint64_t number; /* the inode's; 0: of a device, or of a filesystem that numbers its
			    files anew at each mount */
	struct source_owner owner;
};

/*
 * Opens a regular file or a block device for reading (never O_NOATIME: purge policies
 * count atime). Errors name the path: -ENOENT, -EACCES, -EISDIR, -EINVAL for what is
 * none of these nor a directory. On success the caller owns *out.
 */
int source_open(const char *path, struct source **out, struct error *e);

/*
 * The same of a file that somebody else has opened, with rights that this process
 * may lack: it is never opened by `path`, which is what messages call it. -EBADF
 * where `fd` is not open for reading. On success the descriptor is the source's,
 * and closed on exec.
 */
int source_adopt(const char *path, int fd, struct source **out, struct error *e);

/*
 * The same of a file that another process has opened and described, as another user:
 * `info` is what it said. A FUSE filesystem answers its own user and nobody else, so
 * that this process may read from the descriptor but not ask what it is. Nor does
 * source_close close that: the kernel would wait for the filesystem's answer, and no
 * signal ends that (process_leave).
 */
int source_receive(const char *path, int fd, const struct source_info *info,
		   struct source **out, struct error *e);
void source_close(struct source *source);

/*
 * Reads exactly `length` bytes at `offset`: 0, or a negative errno. A range
 * that reaches past the end is -EIO, and so is a file that has shrunk. What may
 * be gone in a moment is tried again for about a second; what lasts is returned, and
 * where that was is in the context's fault: `storage`, `source` and `at`.
 */
int source_read(const struct source *source, void *buffer, size_t length, uint64_t offset,
		struct read_context *context);

/* The same outside of a mount's reads: its callers name the file, and that is enough. */
static inline int source_pread(const struct source *source, void *buffer, size_t length,
			       uint64_t offset)
{
	struct read_context context = { .hint = READ_EXACT };

	return source_read(source, buffer, length, offset, &context);
}

/* What a reader is going to do. It changes no byte, and waits for nothing. */
enum source_hint {
	/* These bytes will be read soon: the kernel may fetch them. */
	HINT_SOON,
	/*
	 * From now on the reader keeps what it reads, or passes it on: the kernel is to
	 * read exactly what it is asked for, and not to keep a copy of what it had to
	 * fetch. HINT_STREAM_OWN: nor of what it has already.
	 */
	HINT_STREAM,
	HINT_STREAM_OWN,
};

/* `offset` and `length` are for HINT_SOON. */
void source_hint(const struct source *source, enum source_hint hint, uint64_t offset,
		 uint64_t length);

/*
 * The descriptor of a local file, for another process, or for a library that reads by
 * itself, by pread(2). It stays the source's own. -ENOTSUP and a sentence: it has none.
 */
int source_hand_over(const struct source *source, struct error *e);

/*
 * Where stored bytes begin at or behind `offset`, or the source's size: what
 * lies between is a hole. `offset` itself where the storage cannot tell.
 */
uint64_t source_next_data(const struct source *source, uint64_t offset);

/* The path it was opened by; lives as long as the source. */
const char *source_path(const struct source *source);

/* Where it was when it was opened: absolute, without links. */
const char *source_place(const struct source *source);

/* The file's own name, without folders; of what a link leads to, but for a device. */
const char *source_own_name(const struct source *source);
uint64_t source_size(const struct source *source);
const struct source_owner *source_owner(const struct source *source);
const struct source_info *source_info(const struct source *source);

/*
 * Where a descriptor has gone stale, this process has the file at `place` opened again by
 * `open`, since it may not itself; the other process calls source_open_again, with its own
 * source. 0 and a descriptor of the same file, or a negative errno.
 *
 * Threads: source_open_by only while the process has one.
 */
typedef int source_opener(const char *place, const struct source_info *info, int *fd);
void source_open_by(source_opener *open);
int source_open_again(const struct source *source, int *fd);

/*
 * Reads its first and last bytes, and `samples` pages between them, at places that depend on
 * the size and that number: 0 or a negative errno. Samples that cannot be read are not
 * known, and no error. The other one has the kernel fetch those
 * bytes, and waits for nothing: where it is called for many sources before the first is
 * read, slow storage gives all of them at once.
 */
int source_identity(const struct source *source, unsigned samples, struct identity *out);
void source_identity_ahead(const struct source *source, unsigned samples);

#endif
