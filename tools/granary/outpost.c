/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "outpost.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "apart.h"
#include "base/filename.h"
#include "os/lock.h"

enum ask {
	ASK_OPEN, ASK_FOLDER, ASK_BEGIN, ASK_PUBLISH, ASK_DROP, ASK_BEGIN_FOLDER, ASK_SYMLINK,
	ASK_LINK, ASK_XATTR,
};

/* Parent and child are one program. Only the used part of `tail` is sent. */
struct outpost_order {
	uint32_t folder, other; /* other: its parent; that of `first`; how many there are */
	struct outpost_attributes attributes;
	uint64_t size;
	char name[NAME_MAX + 1], first[NAME_MAX + 1];
	char tail[64 << 10];    /* a target, the value of an attribute */
};

/* ---- The child -------------------------------------------------------------- */

static int outpost_ask(unsigned channel, enum ask kind, const struct outpost_order *order,
		       size_t tail, void *answer, size_t *size, int *fd)
{
	return hatch_ask(apart_hatch(), APART_OWN + channel, kind, order,
			 offsetof(struct outpost_order, tail) + tail, answer, size, fd);
}

static int outpost_tell(unsigned channel, enum ask kind,
			const struct outpost_order *order, size_t tail)
{
	return outpost_ask(channel, kind, order, tail, NULL, NULL, NULL);
}

/* A name that is too long becomes "", which the parent refuses. */
static void outpost_set_name(char out[NAME_MAX + 1], const char *name, size_t length)
{
	length = length <= NAME_MAX ? length : 0;
	memcpy(out, name, length);
	out[length] = '\0';
}

/* Static: orders are large, and each channel is one thread's. */
static struct outpost_order *outpost_order_of(unsigned channel)
{
	static struct outpost_order orders[HATCH_CHANNELS_MOST];
	struct outpost_order *order = &orders[channel];

	memset(order, 0, offsetof(struct outpost_order, tail));
	return order;
}

int outpost_open(uint32_t folders, bool *made, struct error *e)
{
	struct outpost_order *order = outpost_order_of(0);
	size_t size = sizeof(*e);
	struct error came = { 0 };
	int err;

	order->other = folders;
	err = outpost_ask(0, ASK_OPEN, order, 0, &came, &size, NULL);
	*made = !err && size > 0;
	if (!err)
		return 0;
	if (size != sizeof(came) || !*came.text)
		return error_set(e, ERROR_SYSTEM, -err, "the destination: %s", strerror(-err));
	*e = came;
	return err;
}

int outpost_folder(uint32_t folder, uint32_t parent, const char *name, size_t length,
		   bool *made)
{
	struct outpost_order *order = outpost_order_of(0);
	size_t size = sizeof(*made);
	int err;

	order->folder = folder;
	order->other = parent;
	outpost_set_name(order->name, name, length);
	*made = false;
	err = outpost_ask(0, ASK_FOLDER, order, 0, made, &size, NULL);
	return err;
}

int outpost_begin(unsigned channel, uint32_t folder, const char *name, int *fd)
{
	struct outpost_order *order = outpost_order_of(channel);

	order->folder = folder;
	outpost_set_name(order->name, name, strlen(name));
	return outpost_ask(channel, ASK_BEGIN, order, 0, NULL, NULL, fd);
}

int outpost_publish(unsigned channel, const struct outpost_attributes *attributes)
{
	struct outpost_order *order = outpost_order_of(channel);

	order->attributes = *attributes;
	return outpost_tell(channel, ASK_PUBLISH, order, 0);
}

void outpost_drop(unsigned channel)
{
	outpost_tell(channel, ASK_DROP, outpost_order_of(channel), 0);
}

int outpost_begin_folder(uint32_t folder)
{
	struct outpost_order *order = outpost_order_of(0);

	order->folder = folder;
	return outpost_tell(0, ASK_BEGIN_FOLDER, order, 0);
}

int outpost_symlink(uint32_t folder, const char *name, const char *target,
		    const struct outpost_attributes *attributes)
{
	struct outpost_order *order = outpost_order_of(0);
	size_t length = strnlen(target, sizeof(order->tail));

	order->folder = folder;
	order->attributes = *attributes;
	outpost_set_name(order->name, name, strlen(name));
	memcpy(order->tail, target, length);
	return outpost_tell(0, ASK_SYMLINK, order, length);
}

int outpost_link(uint32_t from, const char *first, const struct tree_stat *st,
		 uint32_t folder, const char *name)
{
	struct outpost_order *order = outpost_order_of(0);

	order->folder = folder;
	order->other = from;
	order->size = st->size;
	order->attributes.mtime = st->mtime;
	outpost_set_name(order->name, name, strlen(name));
	outpost_set_name(order->first, first, strlen(first));
	return outpost_tell(0, ASK_LINK, order, 0);
}

int outpost_xattr(unsigned channel, const char *name, const void *value, size_t size)
{
	struct outpost_order *order = outpost_order_of(channel);

	if (size > sizeof(order->tail))
		return -E2BIG;
	outpost_set_name(order->name, name, strlen(name));
	memcpy(order->tail, value, size);
	return outpost_tell(channel, ASK_XATTR, order, size);
}

/* ---- The parent ------------------------------------------------------------- */

/* The state of one channel. */
struct post {
	struct landing_cursor cursor, first;
	struct landing_file file;
	char name[NAME_MAX + 1]; /* of the file */
	int begun;               /* the file's descriptor, or the cursor's folder, or -1 */
	bool is_file;
};

struct outpost {
	const char *destination;
	enum landing_existing existing;
	uint32_t folders_most;
	struct landing landing;
	struct selection selection; /* the folders that are known so far */
	struct lock lock;           /* of their names */
	unsigned channels;
	struct post posts[];
};

struct outpost *outpost_new(const char *destination, enum landing_existing existing,
			    unsigned channels, uint32_t folders_most)
{
	struct outpost *o = calloc(1, sizeof(*o) + channels * sizeof(o->posts[0]));

	if (!o)
		return NULL;
	o->destination = destination;
	o->existing = existing;
	o->folders_most = folders_most;
	o->channels = channels;
	o->lock = (struct lock)LOCK_INIT;
	o->landing.root = -1;
	for (unsigned i = 0; i < channels; i++)
		o->posts[i] = (struct post){ .cursor = LANDING_CURSOR(&o->landing),
					     .first = LANDING_CURSOR(&o->landing),
					     .file = { .fd = -1 }, .begun = -1 };
	return o;
}

static void outpost_leave(struct post *post)
{
	if (post->begun >= 0 && post->is_file)
		landing_drop(&post->file);
	post->begun = -1;
}

void outpost_free(struct outpost *o)
{
	for (unsigned i = 0; i < o->channels; i++) {
		outpost_leave(&o->posts[i]);
		landing_leave(&o->posts[i].cursor);
		landing_leave(&o->posts[i].first);
	}
	for (size_t i = 0; i < o->selection.folders.count; i++)
		free((void *)(uintptr_t)o->selection.folders.items[i].name);
	vec_free(&o->selection.folders);
	landing_close(&o->landing);
	free(o);
}

static bool outpost_is_name(const char name[NAME_MAX + 1])
{
	return memchr(name, '\0', NAME_MAX + 1) && *name && !strchr(name, '/') &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* A folder that is known never changes. */
static bool outpost_knows(struct outpost *o, uint32_t folder)
{
	LOCK_GUARD(&o->lock);
	return o->landing.root >= 0 && folder < o->selection.folders.count &&
	       (folder == 0 || o->selection.folders.items[folder].name);
}

/* On the first channel only: two threads would both allocate the tables. */
static int open_landing(struct outpost *o, const struct post *post,
			const struct outpost_order *order, struct error *e)
{
	size_t size = order->other * sizeof(struct select_folder);

	if (post != &o->posts[0] || o->landing.root >= 0 || order->other == 0 ||
	    order->other > o->folders_most)
		return -EINVAL;
	if (vec_reserve(&o->selection.folders, order->other) < 0)
		return -ENOMEM;
	memset(o->selection.folders.items, 0, size);
	o->selection.folders.count = order->other;
	return landing_open(&o->landing, o->destination, &o->selection, o->existing, e);
}

static int serve_open(struct outpost *o, const struct post *post,
		      const struct outpost_order *order, struct hatch_answer *answer)
{
	struct error e = { 0 };
	int err = open_landing(o, post, order, &e);

	if (err) {
		memcpy(answer->data, &e, sizeof(e));
		answer->size = sizeof(e);
	} else {
		answer->size = o->landing.made;
	}
	return err;
}

static int learn(struct outpost *o, const struct outpost_order *order)
{
	struct select_folder *folder;
	char *name = strdup(order->name);

	LOCK_GUARD(&o->lock);
	folder = order->folder < o->selection.folders.count ?
			 &o->selection.folders.items[order->folder] : NULL;
	if (!name || !folder || folder->name || order->other >= order->folder) {
		free(name);
		return name ? -EINVAL : -ENOMEM;
	}
	*folder = (struct select_folder){ .name = name, .length = (uint8_t)strlen(name),
					  .parent = order->other };
	return 0;
}

static int serve_folder(struct outpost *o, struct post *post,
			const struct outpost_order *order, struct hatch_answer *answer)
{
	bool made;
	int err;

	if (post != &o->posts[0] || !outpost_is_name(order->name) ||
	    !outpost_knows(o, order->other))
		return -EINVAL;
	err = learn(o, order);
	if (!err)
		err = landing_make_folder(&o->landing, &post->cursor, order->folder);
	if (err)
		return err;
	made = o->landing.made_folders.items[order->folder];
	memcpy(answer->data, &made, sizeof(made));
	answer->size = sizeof(made);
	return 0;
}

static int serve_begin(struct outpost *o, struct post *post,
		       const struct outpost_order *order, struct hatch_answer *answer)
{
	int directory, err;

	if (!outpost_is_name(order->name) || !outpost_knows(o, order->folder))
		return -EINVAL;
	directory = landing_folder(&post->cursor, order->folder);
	if (directory < 0)
		return directory;
	err = landing_begin(&o->landing, directory, order->name, &post->file);
	if (err)
		return err;
	memcpy(post->name, order->name, sizeof(post->name));
	post->is_file = true;
	answer->fd = post->begun = post->file.fd;
	return 0;
}

/* Only folders that were made here are changed. */
static int serve_begin_folder(struct outpost *o, struct post *post,
			      const struct outpost_order *order)
{
	int fd;

	if (post != &o->posts[0] || !outpost_knows(o, order->folder) ||
	    !o->landing.made_folders.items[order->folder])
		return -EINVAL;
	fd = landing_folder(&post->cursor, order->folder);
	if (fd < 0)
		return fd;
	post->is_file = false;
	post->begun = fd;
	return 0;
}

static void times_of(const struct outpost_order *order, struct timespec out[2])
{
	out[0] = (struct timespec){ .tv_nsec = UTIME_OMIT };
	out[1] = (struct timespec){ .tv_sec = (time_t)order->attributes.mtime,
				    .tv_nsec = order->attributes.mtime_ns % 1000000000U };
}

/* Keeps the set-gid bit: files made in a folder later inherit its group. */
static int outpost_set_attributes(int fd, const struct outpost_order *order)
{
	struct timespec times[2];
	struct stat now;

	if (fstat(fd, &now) < 0 ||
	    fchmod(fd, (order->attributes.mode & 0777) | (now.st_mode & S_ISGID)) < 0)
		return -errno;
	times_of(order, times);
	return futimens(fd, times) < 0 ? -errno : 0;
}

static int serve_publish(struct outpost *o, struct post *post,
			 const struct outpost_order *order)
{
	int err = post->begun < 0 ? -EINVAL : outpost_set_attributes(post->begun, order);

	if (!err && post->is_file)
		err = landing_publish(&o->landing, &post->file, post->name);
	else
		outpost_leave(post);
	post->begun = -1;
	return err;
}

static int serve_symlink(struct outpost *o, struct post *post,
			 const struct outpost_order *order, size_t length)
{
	char target[TREE_TARGET_BYTES];
	struct timespec times[2];
	int directory, err;

	if (!outpost_is_name(order->name) || !outpost_knows(o, order->folder) ||
	    length >= sizeof(target) || memchr(order->tail, '\0', length))
		return -EINVAL;
	memcpy(target, order->tail, length);
	target[length] = '\0';
	directory = landing_folder(&post->cursor, order->folder);
	if (directory < 0)
		return directory;
	err = landing_symlink(&o->landing, directory, order->name, target);
	if (err)
		return err;
	times_of(order, times);
	utimensat(directory, order->name, times, AT_SYMLINK_NOFOLLOW);
	return 0;
}

static int serve_link(struct outpost *o, struct post *post,
		      const struct outpost_order *order)
{
	const struct tree_stat st = { .size = order->size, .mtime = order->attributes.mtime };
	int from, to;

	if (!outpost_is_name(order->name) || !outpost_is_name(order->first) ||
	    !outpost_knows(o, order->folder) || !outpost_knows(o, order->other))
		return -EINVAL;
	from = landing_folder(&post->first, order->other);
	to = from < 0 ? from : landing_folder(&post->cursor, order->folder);
	return to < 0 ? to : landing_link(&o->landing, from, order->first, &st, to,
					  order->name);
}

/* user.* only: other namespaces of attributes grant rights. */
static int serve_xattr(const struct post *post, const struct outpost_order *order,
		       size_t size)
{
	if (post->begun < 0 || !memchr(order->name, '\0', sizeof(order->name)) ||
	    strncmp(order->name, "user.", 5) != 0)
		return -EPERM;
	return fsetxattr(post->begun, order->name, order->tail, size, 0) < 0 ? -errno : 0;
}

int outpost_serve(void *context, const struct hatch_question *question,
		  struct hatch_answer *answer)
{
	struct outpost *o = context;
	struct post *post = &o->posts[question->channel - APART_OWN];
	const struct outpost_order *order = question->data;
	size_t tail;

	if (question->size < offsetof(struct outpost_order, tail))
		return -EINVAL;
	tail = question->size - offsetof(struct outpost_order, tail);
	/* the open file lies in the cursor's folder, which other orders may change */
	if (question->kind != ASK_PUBLISH && question->kind != ASK_XATTR)
		outpost_leave(post);
	switch ((enum ask)question->kind) {
	case ASK_OPEN:
		return serve_open(o, post, order, answer);
	case ASK_FOLDER:
		return serve_folder(o, post, order, answer);
	case ASK_BEGIN:
		return serve_begin(o, post, order, answer);
	case ASK_PUBLISH:
		return serve_publish(o, post, order);
	case ASK_DROP:
		return 0;
	case ASK_BEGIN_FOLDER:
		return serve_begin_folder(o, post, order);
	case ASK_SYMLINK:
		return serve_symlink(o, post, order, tail);
	case ASK_LINK:
		return serve_link(o, post, order);
	case ASK_XATTR:
		return serve_xattr(post, order, tail);
	default:
		return -ENOSYS;
	}
}
