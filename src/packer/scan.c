/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan.c: each directory is a task of a pool, since storage serves many requests at once
 * as fast as one. Each directory has its own names and memory. They are joined in order
 * at the end, so the result does not depend on timing.
 */
#include "packer/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h> /* since Linux 5.6 */
#endif

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/idmap.h"
#include "os/pool.h"

struct pack_scan_found {
	struct pack_scan_entry entry;
	struct pack_scan_directory *inside; /* of a directory */
};

struct pack_scan_directory {
	struct pack_scan_directory *next;   /* list of all directories; the run's lock */
	struct pack_scan_directory *parent;
	struct pack_scan_run *run;
	const char *path;
	struct pack_scan_entry *self;
		   /* its own entry, valid once it no longer moves */
	VEC(struct pack_scan_found) found;
	size_t at;                  /* position of put_in_order in `found` */
	struct arena arena;
	const struct pack_xattr *xattrs;
	uint32_t xattr_count;
};

struct pack_scan_run {
	const struct pack_scan_config *config;
	struct pack_scan *scan;
	struct pool *pool;
	struct lock lock;
	uint64_t special;  /* lock */
	bool out_of_memory; /* lock */
};

int pack_path_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	/* a slash ends a name, so it sorts before every byte of a longer one */
	if (!*a || (*a == '/' && *b))
		return -1;
	if (!*b || *b == '/')
		return 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

/*
 * A directory that was replaced by a symbolic link must not lead out of the tree. Before
 * Linux 5.6, and where a seccomp filter forbids the call, only the last name is checked.
 */
static int scan_open_beneath(int directory, const char *path, int flags)
{
#ifdef RESOLVE_NO_SYMLINKS
	struct open_how how = { .flags = (unsigned)(flags | O_NOFOLLOW | O_CLOEXEC),
				.resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(__NR_openat2, directory, path, &how, sizeof(how));

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
#endif
	return openat(directory, path, flags | O_NOFOLLOW | O_CLOEXEC);
}

/* The length of a long path's first part that the kernel accepts. */
static size_t first_step(const char *path)
{
	size_t n = PATH_MAX - 1;

	while (n && path[n] != '/')
		n--;
	return n;
}

int pack_scan_open(int root, const char *path, int flags)
{
	CLEANUP(cleanup_close) int directory = -1;
	char step[PATH_MAX];
	int fd;

	while (strlen(path) >= PATH_MAX) {
		size_t n = first_step(path);

		memcpy(step, path, n);
		step[n] = 0;
		fd = scan_open_beneath(directory < 0 ? root : directory, step,
				       O_PATH | O_DIRECTORY);
		if (fd < 0)
			return -errno;
		cleanup_close(&directory);
		directory = fd;
		path += n + 1;
	}
	fd = scan_open_beneath(directory < 0 ? root : directory, *path ? path : ".", flags);
	return fd < 0 ? -errno : fd;
}

static void scan_fail(struct pack_scan_run *run)
{
	LOCK_GUARD(&run->lock);
	run->out_of_memory = true;
}

static struct pack_scan_directory *new_directory(struct pack_scan_run *run,
					   struct pack_scan_directory *parent,
					   const char *path)
{
	struct pack_scan_directory *directory = calloc(1, sizeof(*directory));

	if (!directory)
		return NULL;
	directory->run = run;
	directory->parent = parent;
	directory->path = path;
	LOCK_GUARD(&run->lock);
	directory->next = run->scan->directories;
	run->scan->directories = directory;
	return directory;
}

static void scan_fill_attributes(struct pack_scan_entry *entry, const struct stat *st)
{
	entry->device = st->st_dev;
	entry->inode = st->st_ino;
	entry->mtime = st->st_mtim.tv_sec;
	entry->mtime_ns = (uint32_t)st->st_mtim.tv_nsec;
	entry->mode = st->st_mode & 07777;
	entry->uid = st->st_uid;
	entry->gid = st->st_gid;
}

/* The kind, or -1 for special files. */
static int kind_of(const struct stat *st)
{
	return S_ISREG(st->st_mode) ? PACK_FILE :
	       S_ISDIR(st->st_mode) ? PACK_DIRECTORY :
	       S_ISLNK(st->st_mode) ? PACK_SYMLINK : -1;
}

/* Joins the directory's path and the name, in the directory's memory. */
static const char *scan_join(struct pack_scan_directory *directory, const char *name)
{
	return arena_print(&directory->arena, "%s%s%s", directory->path,
			   *directory->path ? "/" : "", name);
}

static int read_target(struct pack_scan_directory *directory, int fd, const char *name,
		       struct pack_scan_entry *entry)
{
	char target[PATH_MAX];
	ssize_t length = readlinkat(fd, name, target, sizeof(target));

	if (length < 0)
		return -errno;
	entry->target = arena_copy(&directory->arena, target, (size_t)length);
	return entry->target ? 0 : -ENOMEM;
}

static void count_special(struct pack_scan_run *run)
{
	LOCK_GUARD(&run->lock);
	run->special++;
}

/* Adds an entry. 0, also for special files and problems; or -ENOMEM. */
static int scan_add_name(struct pack_scan_directory *directory, int fd, const char *name)
{
	struct pack_scan_run *run = directory->run;
	struct pack_scan_found found = { 0 };
	struct stat st;
	int kind, err = 0;

	found.entry.path = scan_join(directory, name);
	if (!found.entry.path)
		return -ENOMEM;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		problems_add(run->config->problems, found.entry.path,
			     "cannot be looked at: %s", strerror(errno));
		return 0;
	}
	kind = kind_of(&st);
	if (kind < 0) {
		count_special(run);
		return 0;
	}
	found.entry.kind = (uint16_t)kind;
	scan_fill_attributes(&found.entry, &st);
	found.entry.size = kind == PACK_FILE ? (uint64_t)st.st_size : 0;
	found.entry.linked = kind == PACK_FILE && st.st_nlink > 1;
	if (kind == PACK_SYMLINK)
		err = read_target(directory, fd, name, &found.entry);
	if (err && err != -ENOMEM) {
		problems_add(run->config->problems, found.entry.path,
			     "cannot be read: %s", strerror(-err));
		return 0;
	}
	return err ? err : vec_push(&directory->found, found);
}

static bool is_skipped(const struct pack_scan_config *config, const struct stat *directory,
		       const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	       (config->skip && config->skip(config->context, directory, name));
}

/* Adds the names of an open directory: 0 or a negative errno. */
static int add_names(struct pack_scan_directory *directory, DIR *stream,
		     const struct stat *st)
{
	const struct pack_scan_config *config = directory->run->config;
	struct dirent *entry;
	int err = 0;

	while (!err) {
		errno = 0;
		entry = readdir(stream);
		if (!entry)
			return -errno;
		if (is_skipped(config, st, entry->d_name))
			continue;
		err = scan_add_name(directory, dirfd(stream), entry->d_name);
		if (config->found)
			atomic_fetch_add_explicit(config->found, 1, memory_order_relaxed);
	}
	return err;
}

static int scan_by_path(const void *a, const void *b)
{
	const struct pack_scan_found *one = a, *other = b;

	return strcmp(one->entry.path, other->entry.path);
}

static void read_directory(void *argument);

/* Sorts the entries and starts a task for each subdirectory. */
static int start_subdirectories(struct pack_scan_directory *directory)
{
	if (directory->found.count)
		qsort(directory->found.items, directory->found.count,
		      sizeof(directory->found.items[0]), scan_by_path);
	for (size_t i = 0; i < directory->found.count; i++) {
		struct pack_scan_found *found = &directory->found.items[i];

		if (found->entry.kind != PACK_DIRECTORY)
			continue;
		found->inside = new_directory(directory->run, directory, found->entry.path);
		if (!found->inside)
			return -ENOMEM;
		found->inside->self = &found->entry;
		if (pool_add(directory->run->pool, read_directory, found->inside) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Opens a directory and reads its attributes: a stream, or NULL and the errno in *err. */
static DIR *scan_open_directory(struct pack_scan_directory *directory, struct stat *st,
				int *err)
{
	CLEANUP(cleanup_close) int fd = pack_scan_open(directory->run->scan->root,
						       directory->path,
						       O_RDONLY | O_DIRECTORY);
	DIR *stream;

	*err = fd < 0 ? fd : 0;
	if (!*err && fstat(fd, st) < 0)
		*err = -errno;
	if (!*err)
		*err = pack_scan_xattrs(fd, &directory->arena, &directory->xattrs,
					&directory->xattr_count);
	if (*err)
		return NULL;
	stream = fdopendir(fd);
	if (!stream)
		*err = -errno;
	else
		fd = -1;
	return stream;
}

static void read_directory(void *argument)
{
	struct pack_scan_directory *directory = argument;
	struct stat st;
	int err;
	DIR *stream = scan_open_directory(directory, &st, &err);

	if (stream) {
		err = add_names(directory, stream, &st);
		closedir(stream);
	}
	if (err && err != -ENOMEM) {
		problems_add(directory->run->config->problems, directory->path,
			     "the directory cannot be read: %s", strerror(-err));
		err = 0;
	}
	if (err || start_subdirectories(directory) < 0)
		scan_fail(directory->run);
	if (directory->self) {
		directory->self->xattrs = directory->xattrs;
		directory->self->xattr_count = directory->xattr_count;
	}
}

static size_t scan_count_all(const struct pack_scan *scan)
{
	size_t n = 1;

	for (const struct pack_scan_directory *f = scan->directories; f; f = f->next)
		n += f->found.count;
	return n;
}

/* Writes the entries in depth-first order. */
static void put_in_order(struct pack_scan *scan, struct pack_scan_directory *root)
{
	struct pack_scan_directory *directory = root;

	while (directory) {
		struct pack_scan_found *found;

		if (directory->at == directory->found.count) {
			vec_free(&directory->found);
			directory = directory->parent;
			continue;
		}
		found = &directory->found.items[directory->at++];
		scan->entries[scan->count++] = found->entry;
		if (found->inside)
			directory = found->inside;
	}
}

static bool same_file(const void *context, uint32_t id, const void *key)
{
	const struct pack_scan_entry *one = (const struct pack_scan_entry *)context + id;
	const struct pack_scan_entry *other = key;

	return one->inode == other->inode && one->device == other->device;
}

/* In a directory a file's size may change meanwhile; it is compared when it is read. */
static int scan_link(const struct pack_scan *scan, struct pack_scan_entry *entry,
		     const struct pack_scan_entry *first)
{
	if (scan->input && entry->size != first->size)
		return -EBADMSG;
	entry->kind = PACK_HARDLINK;
	entry->target = first->path;
	return 0;
}

int pack_scan_find_links(struct pack_scan *scan)
{
	struct idmap map = { 0 };
	int err = 0;

	for (size_t i = 0; i < scan->count && !err; i++) {
		struct pack_scan_entry *entry = &scan->entries[i];
		uint32_t hash = (uint32_t)hash_number(entry->inode, entry->device);
		const struct idmap_slot *slot;

		if (!entry->linked)
			continue;
		slot = idmap_find(&map, hash, same_file, scan->entries, entry);
		err = slot ? scan_link(scan, entry, &scan->entries[slot->id_plus_1 - 1]) :
			     idmap_insert(&map, hash, (uint32_t)i);
	}
	idmap_free(&map);
	return err;
}

/* Reads all directories in parallel, from the root; `self`: the root's entry. */
static struct pack_scan_directory *scan_read_all(struct pack_scan_run *run,
					      struct pack_scan_entry *self)
{
	struct pack_scan_directory *root = new_directory(run, NULL, "");

	if (!root || pool_start(&run->pool, run->config->threads) < 0)
		return NULL;
	root->self = self;
	if (pool_add(run->pool, read_directory, root) < 0)
		scan_fail(run);
	pool_finish(run->pool);
	return run->out_of_memory ? NULL : root;
}

static int scan_assemble(struct pack_scan *scan, struct pack_scan_directory *root,
			 const struct pack_scan_entry *self)
{
	size_t count = scan_count_all(scan);

	if (count >= UINT32_MAX)
		return -E2BIG;
	scan->entries = malloc(count * sizeof(*scan->entries));
	if (!scan->entries)
		return -ENOMEM;
	scan->entries[scan->count++] = *self;
	put_in_order(scan, root);
	return pack_scan_find_links(scan);
}

int pack_scan_run(const struct pack_scan_config *config, struct pack_scan *out,
		  struct error *e)
{
	struct pack_scan_run run = { .config = config, .scan = out, .lock = LOCK_INIT };
	struct pack_scan_entry self = { .path = "", .kind = PACK_DIRECTORY };
	struct pack_scan_directory *root;
	struct stat st;
	int err;

	*out = (struct pack_scan){ .root = open(config->directory,
						O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	if (out->root < 0 || fstat(out->root, &st) < 0)
		return error_set(e, ERROR_SYSTEM, errno,
				 "%s: %s; name the directory that is to be packed",
				 config->directory, strerror(errno));
	scan_fill_attributes(&self, &st);
	root = scan_read_all(&run, &self);
	err = root ? scan_assemble(out, root, &self) : -ENOMEM;
	out->special = run.special;
	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "%s: the tree cannot be listed: %s",
				 config->directory, strerror(-err));
	return 0;
}

/* A directory's mtime shows names that came or went, also during the listing. */
static bool directory_changed(const struct pack_scan *scan,
			   const struct pack_scan_entry *entry)
{
	CLEANUP(cleanup_close) int fd = pack_scan_open(scan->root, entry->path,
						       O_PATH | O_DIRECTORY);
	struct stat st;

	return fd < 0 || fstat(fd, &st) < 0 || st.st_mtim.tv_sec != entry->mtime ||
	       (uint32_t)st.st_mtim.tv_nsec != entry->mtime_ns;
}

size_t pack_scan_recheck(const struct pack_scan *scan, const struct stat *except,
			 struct problems *problems)
{
	size_t changed = 0;

	for (size_t i = 0; i < scan->count; i++) {
		const struct pack_scan_entry *entry = &scan->entries[i];

		if (entry->kind != PACK_DIRECTORY ||
		    (entry->inode == except->st_ino && entry->device == except->st_dev) ||
		    !directory_changed(scan, entry))
			continue;
		problems_add(problems, entry->path,
			     "the directory has changed since it was "
			     "listed: what has come or gone since is not seen");
		changed++;
	}
	return changed;
}

void pack_scan_free(struct pack_scan *scan)
{
	struct pack_scan_directory *next;

	for (struct pack_scan_directory *directory =
	     scan->directories; directory; directory = next) {
		next = directory->next;
		vec_free(&directory->found);
		arena_free(&directory->arena);
		free(directory);
	}
	free(scan->entries);
	arena_free(&scan->arena);
	if (scan->root >= 0)
		close(scan->root);
	*scan = (struct pack_scan){ .root = -1 };
}
