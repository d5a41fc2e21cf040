/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source/retry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/log.h"
#include "os/bounded.h"
#include "os/pages.h"
#include "source/local_file.h"
#include "stats/stats.h"

/* The pause before each further attempt; their number is that of further attempts. */
static const unsigned pauses_ms[] = { 10, 40, 160, 640 };

enum {
	TRIES_MORE = sizeof(pauses_ms) / sizeof(*pauses_ms),
	/* an error after so long is not retried: the storage itself has waited */
	PATIENCE_MS = 3000,
	FAILING_MS = 5000,
	LARGE_READ = 64 << 10, /* bytes: of one file, */
	BLOCK_READ = 1 << 20,  /* or of many that lie one behind the other */
};

/* Temporary errors; and those that concern the descriptor alone. */
static const struct transient {
	int errnum;
	bool reopen;
} transients[] = {
	{ EIO, false },         /* any of them, and disks */
	{ ESTALE, true },       /* NFS, GPFS: its server knows the file by another handle */
	{ ETIMEDOUT, false },   /* NFS mounted soft, Lustre */
	{ EAGAIN, false },      /* NFS: the server is starting */
	{ EREMOTEIO, false },   /* NFS: its server's storage */
	{ ENOTCONN, true },     /* Lustre: not let in again yet; FUSE: has been mounted anew */
	{ ESHUTDOWN, true },    /* Lustre: this client was cut off */
	{ ENODEV, true },       /* Lustre: a target is moving to another server */
	{ ECONNRESET, false },  /* other network errors */
	{ ECONNABORTED, false },
	{ EHOSTDOWN, false },
	{ EHOSTUNREACH, false },
	{ ENETDOWN, false },
	{ ENETUNREACH, false },
	{ ENOMEM, false },      /* no free page: other processes will free some */
};

static const struct transient *find_transient(int errnum)
{
	for (size_t i = 0; i < sizeof(transients) / sizeof(*transients); i++)
		if (transients[i].errnum == errnum)
			return &transients[i];
	return NULL;
}

/* One call of retry_pread. */
struct retry_reading {
	struct local_file *file;
	bool again;        /* the pages will be read once more */
	int64_t begun;
	unsigned tries;    /* more than the first */
	bool reopened;
	bool shrunk;
};

/* No bytes where bytes should be: is the file shorter than before? */
static int explain_nothing(struct retry_reading *r)
{
	struct source_info now;
	int err = file_describe(r->file->fd, &now);

	r->shrunk = !err && now.size < r->file->source.info.size;
	return err ? err : -EIO;
}

/*
 * The page at the end of a block stays, because the bytes behind it are mostly read next.
 * So do both pages of a small read. A read of a size in between is one file: a page that
 * stays for each file of 110 kB would be a 27th of all.
 */
static void retry_let_go(const struct retry_reading *r, off_t offset, ssize_t n)
{
	const off_t page = (off_t)pages_size();
	bool all = n >= LARGE_READ && n < BLOCK_READ;
	off_t begin = n >= LARGE_READ ? offset : offset + page - 1;
	off_t end = (all ? offset + n + page - 1 : offset + n) / page * page;

	begin = begin / page * page;
	if (begin < end)
		posix_fadvise(r->file->fd, begin, end - begin, POSIX_FADV_DONTNEED);
}

/*
 * Pages that the kernel held before may be another process's: they stay. Pages that the
 * read fetched are dropped again.
 */
static ssize_t retry_read_streaming(const struct retry_reading *r, void *buffer,
				    size_t length, off_t offset)
{
	struct iovec where = { buffer, length };
	ssize_t n = preadv2(r->file->fd, &where, 1, offset, RWF_NOWAIT);
	bool there = n == (ssize_t)length;

	if (!there)
		n = pread(r->file->fd, buffer, length, offset);
	if (n > 0 && (!there || atomic_load(&r->file->ours)))
		retry_let_go(r, offset, n);
	return n;
}

/* The number of bytes, 1 at least, or a negative errno. */
static ssize_t retry_read_once(struct retry_reading *r, void *buffer, size_t length,
			       uint64_t offset)
{
	ssize_t n;

	do {
		if (!r->again &&
		    atomic_load_explicit(&r->file->streaming, memory_order_relaxed))
			n = retry_read_streaming(r, buffer, length, (off_t)offset);
		else
			n = pread(r->file->fd, buffer, length, (off_t)offset);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n > 0 ? n : explain_nothing(r);
}

/*
 * The device is not compared: a filesystem that is mounted again may have another number.
 */
static bool retry_is_same_file(const struct source_info *a, const struct source_info *b)
{
	return a->id.inode == b->id.inode && a->size == b->size &&
	       a->owner.mtime == b->owner.mtime && a->owner.mtime_ns == b->owner.mtime_ns;
}

/* -EXDEV: another file has the name now. */
static int open_same(const char *place, const struct source_info *info, int *fd)
{
	CLEANUP(cleanup_close) int opened = -1;
	struct source_info found;
	int err;

	if (info->device) /* another file may have this number by now */
		return -EXDEV;
	if (!place)
		return -ENOENT;
	err = file_open(place, 0, &opened, &found, NULL);
	if (err)
		return err;
	if (!retry_is_same_file(&found, info))
		return -EXDEV;
	*fd = steal_fd(&opened);
	return 0;
}

int source_reopen(const struct source *source, int *fd)
{
	HANDLE_CHECK(source, HANDLE_SOURCE);
	return source->ops == &local_file_ops ?
	       open_same(source->place, &source->info, fd) : -ENOTSUP;
}

/* The function that opens the file again. Set while the process has one thread. */
static source_opener *opener = open_same;

void source_open_by(source_opener *open)
{
	opener = open;
}

/*
 * Opens the file again, unless another thread has: `seen` is the number of reopenings
 * before the failed read. 0, or the errno of the open.
 */
static int reopen(const struct retry_reading *r, unsigned seen)
{
	CLEANUP(cleanup_close) int fd = -1;
	struct local_file *file = r->file;
	int err;

	if (atomic_load(&file->reopenings) != seen)
		return 0;
	err = opener(file->source.place, &file->source.info, &fd);
	if (err)
		return err;
	if (!atomic_compare_exchange_strong(&file->reopenings, &seen, seen + 1))
		return 0;
	if (dup3(fd, file->fd, O_CLOEXEC) < 0)
		return -errno;
	stats_add(COUNTER_sources_reopened, 1);
	log_debug("'%s' was opened again", file->source.place);
	return 0;
}

/* Are the attempts or the time used up, or has another read given up? */
static bool is_hopeless(const struct retry_reading *r, int64_t now)
{
	return r->tries == TRIES_MORE || now - r->begun > PATIENCE_MS ||
	       now < atomic_load(&r->file->failing_until);
}

/* An attempt failed with `err`: waits if the next one may succeed. */
static bool should_retry(struct retry_reading *r, int err, unsigned seen)
{
	const struct transient *transient = r->shrunk ? NULL : find_transient(-err);
	int64_t now = bounded_now();
	bool at_once = false;

	if (!transient)
		return false;
	if (transient->reopen) {
		err = reopen(r, seen);
		if (err == -EXDEV)
			return false;
		at_once = !err && !r->reopened;
		r->reopened |= !err;
	}
	if (!at_once && is_hopeless(r, now)) {
		atomic_store(&r->file->failing_until, now + FAILING_MS);
		return false;
	}
	stats_add(COUNTER_read_retries, 1);
	if (!at_once)
		bounded_pause(pauses_ms[r->tries++]);
	return true;
}

int retry_pread(const struct source *source, void *buffer, size_t length,
		uint64_t *offset, bool again)
{
	struct local_file *file = local_file_of(source);
	struct retry_reading r = { .file = file, .again = again, .begun = bounded_now() };
	unsigned char *to = buffer;

	if (!range_within(*offset, length, INT64_MAX))
		return -EIO;
	while (length > 0) {
		unsigned seen = atomic_load(&file->reopenings);
		ssize_t n = retry_read_once(&r, to, length, *offset);

		if (n < 0 && !should_retry(&r, (int)n, seen))
			return (int)n;
		if (n < 0)
			continue;
		to += n;
		length -= (size_t)n;
		*offset += (uint64_t)n;
	}
	if (atomic_load_explicit(&file->failing_until, memory_order_relaxed) != 0)
		atomic_store(&file->failing_until, 0);
	return 0;
}
