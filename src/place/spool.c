/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/filename.h"
#include "base/hash.h"
#include "base/log.h"
#include "os/bounded.h"
#include "os/opath.h"
#include "os/place.h"
#include "os/steps.h"
#include "source/parts.h"

enum { WAIT_MS = 200, HEAD_BYTES = 6, NAME_MOST = 100, SAMPLES = 64 };

static const char keep_prefix[] = "keep:";
static const char partial[] = ".unpacking";

/* ---- The directory ------------------------------------------------------------------ */

static bool is_in_memory(const char *directory)
{
	struct statfs fs;

	return statfs(directory, &fs) < 0 || fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
}

/* The directory of spool=; of "auto" one of the job or the user that is on a disk. */
static int find_directory(const struct dataset_config *config, const char **out, bool *stays,
			  struct error *e)
{
	static const char *const variables[] = { "SLURM_TMPDIR", "TMPDIR" };
	const char *value = config->spool;

	*stays = strncmp(value, keep_prefix, strlen(keep_prefix)) == 0;
	if (*stays)
		value += strlen(keep_prefix);
	*out = value;
	if (strcmp(value, "auto") != 0)
		return *value ? 0 : error_set(e, ERROR_USAGE, EINVAL,
					      "-o spool=: name a directory, or auto");
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		*out = getenv(variables[i]);
		if (*out && **out == '/' && !is_in_memory(*out))
			return 0;
	}
	return error_set(e, ERROR_USAGE, ENOENT,
			 "-o spool=auto: neither $SLURM_TMPDIR nor $TMPDIR names a directory on a "
			 "disk; name one: -o spool=DIR");
}

/* ---- Which sources ------------------------------------------------------------------- */

static const struct {
	const char *bytes;
	size_t n;
} magics[] = {
	{ "\037\213\010", 3 }, { "\050\265\057\375", 4 }, { "\3757zXZ", 6 },
	{ "\004\042\115\030", 4 }, { "BZh", 3 }, { "\135\0\0", 3 }, { "LZIP", 4 },
};

/* Does it begin like a compressed file? A process without rights looks closer. */
static bool is_compressed(const struct source *source, uint64_t base)
{
	unsigned char head[HEAD_BYTES];

	if (source_size(source) < base + HEAD_BYTES ||
	    source_pread(source, head, HEAD_BYTES, base) < 0)
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
		if (memcmp(head, magics[i].bytes, magics[i].n) == 0)
			return true;
	return (head[0] & 0xf0) == 0x50 && memcmp(head + 1, "\x2a\x4d\x18", 3) == 0;
}

/* ---- One file ------------------------------------------------------------------------ */

static uint64_t hash_contents(const struct identity *is)
{
	const uint64_t said[] = { is->digest, is->samples };

	return hash_digest(0, said, sizeof(said));
}

static uint64_t hash_source(const struct identity *is)
{
	const uint64_t said[] = { is->size, (uint64_t)is->mtime_ns, is->digest, is->samples,
				  is->number };

	return hash_digest(0, said, sizeof(said));
}

static char *path_of(const char *directory, const struct source *source,
		     const struct identity *is)
{
	char *path;

	return asprintf(&path, "%s/%.*s-%016" PRIx64, directory, NAME_MOST,
			filename_of(source_path(source)), hash_source(is)) < 0 ? NULL : path;
}

static int spool_refuse(const char *path, int err, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, -err,
			 "-o spool=: '%s' cannot be made or locked: %s; name another directory",
			 path, strerror(-err));
}

/* Whose contents nobody else can change. */
static bool is_private(int fd, struct stat *st)
{
	return fstat(fd, st) == 0 && S_ISREG(st->st_mode) && st->st_uid == geteuid() &&
	       st->st_nlink == 1 && !(st->st_mode & 077);
}

static int identify_file(const char *path, int fd, struct identity *out)
{
	struct source *source;
	struct error e;
	int copy = dup(fd);
	int err = copy < 0 ? -errno : source_adopt(path, copy, &source, &e);

	if (err) {
		if (copy >= 0)
			close(copy);
		return err;
	}
	err = source_identity(source, SAMPLES, out);
	source_close(source);
	return err;
}

static void set_ending(const struct identity *is, struct spool_file *file)
{
	snprintf(file->ending, sizeof(file->ending), "-%" PRIx64 "-%016" PRIx64, is->size,
		 hash_contents(is));
}

struct kept_search {
	const struct place *place;
	struct spool_file *file;
};

/* Is the file with this ending of the name complete, and what its name says? */
static bool take_kept(void *context, const char *ending)
{
	struct kept_search *search = context;
	CLEANUP(cleanup_close) int fd = -1;
	struct spool_file found = { 0 };
	struct identity is;
	struct stat st;

	if (*ending != '-' || strlen(ending) >= sizeof(found.ending))
		return false;
	fd = place_read(search->place, ending);
	if (fd < 0 || !is_private(fd, &st) || identify_file(search->file->path, fd, &is) < 0)
		return false;
	set_ending(&is, &found);
	if (strcmp(found.ending, ending) != 0 ||
	    !identity_same_time(&is, &search->file->of)) {
		log_warn("'%s%s' is not what it was when it was unpacked, and is not used",
			 search->file->path, ending);
		return false;
	}
	memcpy(search->file->ending, ending, strlen(ending) + 1);
	search->file->fd = steal_fd(&fd);
	search->file->kept = true;
	return true;
}

static bool find_kept(const struct place *place, struct spool_file *file)
{
	struct kept_search search = { place, file };

	return place_search(place, take_kept, &search) > 0;
}

/* Is the open file still the one of that name? */
static bool is_named(const struct place *place, const struct stat *st)
{
	struct stat named;

	return place_stat(place, partial, &named) == 0 && named.st_ino == st->st_ino &&
	       named.st_dev == st->st_dev;
}

static off_t size_now(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : st.st_size;
}

/*
 * Waits for another process that writes the file: 0, or -ETIMEDOUT where that has written
 * nothing for wait_ms. Some filesystems have no locks.
 */
static int await_lock(const struct spool_file *file, int fd, unsigned wait_ms)
{
	long long since = bounded_now();
	off_t size = size_now(fd), now;
	bool told = false;

	while (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
		if (!told)
			log_notice("'%s%s': another process unpacks it; waiting for that",
				   file->path, partial);
		told = true;
		now = size_now(fd);
		if (now != size)
			since = bounded_now();
		else if (bounded_now() - since > wait_ms)
			return -ETIMEDOUT;
		size = now;
		steps_record(file->path);
		bounded_pause(WAIT_MS);
	}
	return 0;
}

static int refuse_wait(const struct spool_file *file, unsigned wait_ms, struct error *e)
{
	return error_set(e, ERROR_LATE, ETIMEDOUT,
			 "'%s%s': the process that unpacks it has written nothing for %u s; end "
			 "that (fuser names it), or name another directory with -o spool=",
			 file->path, partial, wait_ms / 1000);
}

/* The file that will stay: one that is complete, or one to write, which is locked. */
static int open_staying(const struct place *place, struct spool_file *file, unsigned wait_ms,
			struct error *e)
{
	while (!find_kept(place, file)) {
		CLEANUP(cleanup_close) int fd = place_open_private(place, partial);
		struct stat st;

		if (fd < 0)
			return spool_refuse(file->path, fd, e);
		if (!is_private(fd, &st))
			return spool_refuse(file->path, -EPERM, e);
		if (await_lock(file, fd, wait_ms) < 0)
			return refuse_wait(file, wait_ms, e);
		if (!is_named(place, &st) || find_kept(place, file)) {
			if (file->kept && is_named(place, &st))
				place_unlink(place, partial);
			continue;
		}
		if (ftruncate(fd, 0) < 0)
			return spool_refuse(file->path, -errno, e);
		file->inode = st.st_ino;
		file->fd = steal_fd(&fd);
		return 0;
	}
	return 0;
}

static int open_spool_file(struct spool_file *file, unsigned wait_ms, struct error *e)
{
	struct place *place;
	int err = place_open(file->path, false, &place, e);

	if (err)
		return err;
	if (file->stays) {
		err = open_staying(place, file, wait_ms, e);
	} else {
		file->fd = place_create_unnamed(place);
		err = file->fd < 0 ? spool_refuse(file->path, file->fd, e) : 0;
	}
	place_close(place);
	return err;
}

/* ---- All of them --------------------------------------------------------------------- */

/* In the order of their names, which is the same in every process: no two of them wait for
   one another. */
static int open_in_order(struct spool *spool, struct error *e)
{
	for (const char *last = "";;) {
		struct spool_file *next = NULL;
		int err;

		for (uint32_t i = 0; i < spool->count; i++) {
			struct spool_file *file = &spool->files[i];

			if (file->path && strcmp(file->path, last) > 0 &&
			    (!next || strcmp(file->path, next->path) < 0))
				next = file;
		}
		if (!next)
			return 0;
		err = open_spool_file(next, spool->wait_ms, e);
		if (err)
			return err;
		last = next->path;
	}
}

int spool_choose(const struct dataset_config *config, const struct source_set *sources,
		 struct spool *out, struct error *e)
{
	out->files = calloc(sources->count, sizeof(*out->files));
	if (!out->files)
		return error_no_memory(e, NULL);
	out->count = sources->count;
	out->wait_ms = SPOOL_WAIT_MS;
	for (uint32_t i = 0; i < out->count; i++)
		out->files[i] = (struct spool_file){
			.fd = -1, .compressed = is_compressed(sources->sources[i], config->base) };
	for (uint32_t i = 0; i < out->count && config->base; i++)
		if (out->files[i].compressed)
			return error_set(e, ERROR_USAGE, EINVAL,
					 "-o spool= takes no base=; cut '%s' with tail -c +%" PRIu64
					 ", and mount what that writes",
					 source_path(sources->sources[i]), config->base + 1);
	return 0;
}

int spool_open(const struct dataset_config *config, const struct source_set *sources,
	       const struct identity *identities, struct spool *spool, struct error *e)
{
	const char *directory;
	bool stays;
	int err = find_directory(config, &directory, &stays, e);

	if (err)
		return err;
	for (uint32_t i = 0; i < spool->count; i++) {
		struct spool_file *file = &spool->files[i];

		if (!file->compressed)
			continue;
		file->stays = stays;
		file->of = identities[i];
		file->path = path_of(directory, sources->sources[i], &identities[i]);
		if (!file->path)
			return error_no_memory(e, NULL);
	}
	return open_in_order(spool, e);
}

bool spool_is_needed(const struct spool *spool)
{
	for (uint32_t i = 0; i < spool->count; i++)
		if (spool->files[i].fd >= 0 && !spool->files[i].kept)
			return true;
	return false;
}

static bool has_bytes(const struct spool_file *file)
{
	struct stat st;

	return file->fd >= 0 && fstat(file->fd, &st) == 0 && st.st_size > 0;
}

/* With the time of its source, it has the same identity each time that it is unpacked. */
static int seal_file(struct spool_file *file, const struct source *source)
{
	const struct source_owner *owner = source_owner(source);
	const struct timespec times[] = { { .tv_nsec = UTIME_OMIT },
					  { .tv_sec = owner->mtime, .tv_nsec = owner->mtime_ns } };
	struct identity is;
	int err;

	if (futimens(file->fd, times) < 0)
		return -errno;
	if (!file->stays)
		return 0;
	if (fsync(file->fd) < 0)
		return -errno;
	err = identify_file(file->path, file->fd, &is);
	if (!err)
		set_ending(&is, file);
	return err;
}

int spool_seal(struct spool *spool, const struct source_set *sources, struct error *e)
{
	for (uint32_t i = 0; i < spool->count; i++) {
		struct spool_file *file = &spool->files[i];
		int err = file->kept || !has_bytes(file) ? 0 :
			  seal_file(file, sources->sources[i]);

		if (err)
			return spool_refuse(file->path, err, e);
	}
	return 0;
}

/* A file that is complete gets its name; any other goes. */
static int publish_file(const struct spool_file *file, struct error *e)
{
	struct place *place;
	struct stat st;
	int err = place_open(file->path, false, &place, e);

	if (err)
		return err;
	err = place_stat(place, partial, &st);
	if (!err && st.st_ino != file->inode)
		err = -ESTALE;
	if (!err)
		err = *file->ending ? place_rename(place, partial, file->ending) :
				      place_unlink(place, partial);
	place_close(place);
	return err ? spool_refuse(file->path, err, e) : 0;
}

int spool_publish(struct spool *spool, struct error *e)
{
	int err = 0;

	for (uint32_t i = 0; i < spool->count; i++) {
		const struct spool_file *file = &spool->files[i];
		struct error why;

		if (file->inode && publish_file(file, &why) < 0 && !err) {
			*e = why;
			err = -EIO;
		}
	}
	return err;
}

/* ---- In the place of the sources ------------------------------------------------------ */

/* The server needs no right to write. */
static void make_readonly(struct spool_file *file, const char *path)
{
	int fd = opath_reopen(file->fd, path, O_RDONLY);

	if (fd < 0)
		return;
	close(file->fd);
	file->fd = fd;
}

/* A file without a name is called as its source is, in messages. */
static int open_replacement(struct spool_file *file, const struct source *was,
			    struct source **out, struct error *e)
{
	CLEANUP(cleanup_free) char *path = NULL;
	int err;

	if (!file->stays)
		path = strdup(source_path(was));
	else if (asprintf(&path, "%s%s", file->path, file->ending) < 0)
		path = NULL;
	if (!path)
		return error_no_memory(e, NULL);
	if (file->stays)
		flock(file->fd, LOCK_UN);
	make_readonly(file, path);
	err = source_adopt(path, file->fd, out, e);
	if (!err)
		file->fd = -1;
	return err;
}

int spool_replace(struct spool *spool, struct source_set *sources, uint32_t *replaced,
		  bool *stay, struct error *e)
{
	*replaced = 0;
	*stay = true;
	for (uint32_t i = 0; i < spool->count; i++) {
		struct spool_file *file = &spool->files[i];
		struct source *source;
		int err;

		if (!has_bytes(file))
			continue;
		err = open_replacement(file, sources->sources[i], &source, e);
		if (err)
			return err;
		*stay &= file->stays;
		source_close(sources->sources[i]);
		sources->sources[i] = source;
		++*replaced;
	}
	return 0;
}

void spool_close(struct spool *spool)
{
	for (uint32_t i = 0; i < spool->count; i++) {
		if (spool->files[i].fd >= 0)
			close(spool->files[i].fd);
		free(spool->files[i].path);
	}
	free(spool->files);
	*spool = (struct spool){ 0 };
}
