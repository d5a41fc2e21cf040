/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "extract_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "sandbox_child.h"
#include "base/filename.h"
#include "os/lock.h"

enum extract_call {
	CALL_OPEN, CALL_DIRECTORY, CALL_BEGIN, CALL_PUBLISH, CALL_DROP, CALL_BEGIN_DIRECTORY,
		CALL_SYMLINK,
	CALL_LINK, CALL_XATTR,
};

/* Parent and child are one program. Only the used part of `tail` is sent. */
struct extract_files_order {
	uint32_t directory, other; /* other: its parent; that of `first`; how many there are */
	struct extract_files_attributes attributes;
	uint64_t size;
	char name[NAME_MAX + 1], first[NAME_MAX + 1];
	char tail[64 << 10];    /* a target, the value of an attribute */
};

/* ---- The child -------------------------------------------------------------- */

static int extract_files_call(unsigned channel, enum extract_call kind,
			      const struct extract_files_order *order,
			      size_t tail, void *answer, size_t *size, int *fd)
{
	return broker_call(sandbox_child_broker(), SANDBOX_CHILD_OWN + channel, kind,
			   order,
			   offsetof(struct extract_files_order, tail) + tail, answer,
			   size, fd);
}

static int extract_files_send(unsigned channel, enum extract_call kind,
			      const struct extract_files_order *order, size_t tail)
{
	return extract_files_call(channel, kind, order, tail, NULL, NULL, NULL);
}

/* A name that is too long becomes "", which the parent refuses. */
static void extract_files_set_name(char out[NAME_MAX + 1], const char *name,
				   size_t length)
{
	length = length <= NAME_MAX ? length : 0;
	memcpy(out, name, length);
	out[length] = '\0';
}

/* Static: orders are large, and each channel is one thread's. */
static struct extract_files_order *extract_files_order_of(unsigned channel)
{
	static struct extract_files_order orders[BROKER_CHANNELS_MOST];
	struct extract_files_order *order = &orders[channel];

	memset(order, 0, offsetof(struct extract_files_order, tail));
	return order;
}

int extract_files_open(uint32_t directories, bool *made, struct error *e)
{
	struct extract_files_order *order = extract_files_order_of(0);
	size_t size = sizeof(*e);
	struct error came = { 0 };
	int err;

	order->other = directories;
	err = extract_files_call(0, CALL_OPEN, order, 0, &came, &size, NULL);
	*made = !err && size > 0;
	if (!err)
		return 0;
	if (size != sizeof(came) || !*came.text)
		return error_set(e, ERROR_SYSTEM, -err, "the destination: %s", strerror(-err));
	*e = came;
	return err;
}

int extract_files_directory(uint32_t directory, uint32_t parent, const char *name,
			 size_t length, bool *made)
{
	struct extract_files_order *order = extract_files_order_of(0);
	size_t size = sizeof(*made);
	int err;

	order->directory = directory;
	order->other = parent;
	extract_files_set_name(order->name, name, length);
	*made = false;
	err = extract_files_call(0, CALL_DIRECTORY, order, 0, made, &size, NULL);
	return err;
}

int extract_files_begin(unsigned channel, uint32_t directory, const char *name, int *fd)
{
	struct extract_files_order *order = extract_files_order_of(channel);

	order->directory = directory;
	extract_files_set_name(order->name, name, strlen(name));
	return extract_files_call(channel, CALL_BEGIN, order, 0, NULL, NULL, fd);
}

int extract_files_publish(unsigned channel,
			  const struct extract_files_attributes *attributes)
{
	struct extract_files_order *order = extract_files_order_of(channel);

	order->attributes = *attributes;
	return extract_files_send(channel, CALL_PUBLISH, order, 0);
}

void extract_files_drop(unsigned channel)
{
	extract_files_send(channel, CALL_DROP, extract_files_order_of(channel), 0);
}

int extract_files_begin_directory(uint32_t directory)
{
	struct extract_files_order *order = extract_files_order_of(0);

	order->directory = directory;
	return extract_files_send(0, CALL_BEGIN_DIRECTORY, order, 0);
}

int extract_files_symlink(uint32_t directory, const char *name, const char *target,
			  const struct extract_files_attributes *attributes)
{
	struct extract_files_order *order = extract_files_order_of(0);
	size_t length = strnlen(target, sizeof(order->tail));

	order->directory = directory;
	order->attributes = *attributes;
	extract_files_set_name(order->name, name, strlen(name));
	memcpy(order->tail, target, length);
	return extract_files_send(0, CALL_SYMLINK, order, length);
}

int extract_files_link(uint32_t from, const char *first, const struct tree_stat *st,
		       uint32_t directory, const char *name)
{
	struct extract_files_order *order = extract_files_order_of(0);

	order->directory = directory;
	order->other = from;
	order->size = st->size;
	order->attributes.mtime = st->mtime;
	extract_files_set_name(order->name, name, strlen(name));
	extract_files_set_name(order->first, first, strlen(first));
	return extract_files_send(0, CALL_LINK, order, 0);
}

int extract_files_xattr(unsigned channel, const char *name, const void *value,
			size_t size)
{
	struct extract_files_order *order = extract_files_order_of(channel);

	if (size > sizeof(order->tail))
		return -E2BIG;
	extract_files_set_name(order->name, name, strlen(name));
	memcpy(order->tail, value, size);
	return extract_files_send(channel, CALL_XATTR, order, size);
}

/* ---- The parent ------------------------------------------------------------- */

/* The state of one channel. */
struct extract_channel {
	struct safe_output_cursor cursor, first;
	struct safe_output_file file;
	char name[NAME_MAX + 1]; /* of the file */
	int begun;               /* the file's descriptor, or the cursor's directory, or -1 */
	bool is_file;
};

struct extract_files {
	const char *destination;
	enum existing_policy existing;
	uint32_t directories_most;
	struct safe_output output;
	struct selection selection; /* the directories that are known so far */
	struct lock lock;           /* of their names */
	bool opened;                /* lock: the destination */
	unsigned channels;
	struct extract_channel posts[];
};

struct extract_files *extract_files_new(const char *destination,
					enum existing_policy existing,
					unsigned channels, uint32_t directories_most)
{
	struct extract_files *o = calloc(1, sizeof(*o) + channels * sizeof(o->posts[0]));

	if (!o)
		return NULL;
	o->destination = destination;
	o->existing = existing;
	o->directories_most = directories_most;
	o->channels = channels;
	o->lock = (struct lock)LOCK_INIT;
	o->output.root = -1;
	for (unsigned i = 0; i < channels; i++)
		o->posts[i] =
			(struct extract_channel){ .cursor =
						  SAFE_OUTPUT_CURSOR(&o->output),
					     .first = SAFE_OUTPUT_CURSOR(&o->output),
					     .file = { .fd = -1 }, .begun = -1 };
	return o;
}

static void extract_files_end_channel(struct extract_channel *post)
{
	if (post->begun >= 0 && post->is_file)
		safe_output_drop(&post->file);
	post->begun = -1;
}

void extract_files_free(struct extract_files *o)
{
	for (unsigned i = 0; i < o->channels; i++) {
		extract_files_end_channel(&o->posts[i]);
		safe_output_close_cursor(&o->posts[i].cursor);
		safe_output_close_cursor(&o->posts[i].first);
	}
	for (size_t i = 0; i < o->selection.directories.count; i++)
		free((void *)(uintptr_t)o->selection.directories.items[i].name);
	vec_free(&o->selection.directories);
	safe_output_close(&o->output);
	free(o);
}

static bool extract_files_is_name(const char name[NAME_MAX + 1])
{
	return memchr(name, '\0', NAME_MAX + 1) && *name && !strchr(name, '/') &&
	       strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* A directory that is known never changes. */
static bool extract_files_knows(struct extract_files *o, uint32_t directory)
{
	LOCK_GUARD(&o->lock);
	return o->opened && directory < o->selection.directories.count &&
	       (directory == 0 || o->selection.directories.items[directory].name);
}

/* On the first channel only: two threads would both allocate the tables. */
static int open_landing(struct extract_files *o, const struct extract_channel *post,
			const struct extract_files_order *order, struct error *e)
{
	size_t size = order->other * sizeof(struct select_directory);
	int err;

	if (post != &o->posts[0] || o->output.root >= 0 || order->other == 0 ||
	    order->other > o->directories_most)
		return -EINVAL;
	if (vec_reserve(&o->selection.directories, order->other) < 0)
		return -ENOMEM;
	memset(o->selection.directories.items, 0, size);
	o->selection.directories.count = order->other;
	err = safe_output_open(&o->output, o->destination, &o->selection, o->existing, e);
	LOCK_GUARD(&o->lock);
	o->opened = !err;
	return err;
}

static int serve_open(struct extract_files *o, const struct extract_channel *post,
		      const struct extract_files_order *order,
		      struct broker_reply *answer)
{
	struct error e = { 0 };
	int err = open_landing(o, post, order, &e);

	if (err) {
		memcpy(answer->data, &e, sizeof(e));
		answer->size = sizeof(e);
	} else {
		answer->size = o->output.made;
	}
	return err;
}

static int learn(struct extract_files *o, const struct extract_files_order *order)
{
	struct select_directory *directory;
	char *name = strdup(order->name);

	LOCK_GUARD(&o->lock);
	directory = order->directory < o->selection.directories.count ?
			 &o->selection.directories.items[order->directory] : NULL;
	if (!name || !directory || directory->name || order->other >= order->directory) {
		free(name);
		return name ? -EINVAL : -ENOMEM;
	}
	*directory = (struct select_directory){ .name = name, .length = (uint8_t)strlen(name),
					  .parent = order->other };
	return 0;
}

static int serve_directory(struct extract_files *o, struct extract_channel *post,
			const struct extract_files_order *order,
			struct broker_reply *answer)
{
	bool made;
	int err;

	if (post != &o->posts[0] || !extract_files_is_name(order->name) ||
	    !extract_files_knows(o, order->other))
		return -EINVAL;
	err = learn(o, order);
	if (!err)
		err = safe_output_make_directory(&o->output, &post->cursor,
						 order->directory);
	if (err)
		return err;
	made = o->output.made_directories.items[order->directory];
	memcpy(answer->data, &made, sizeof(made));
	answer->size = sizeof(made);
	return 0;
}

static int serve_begin(struct extract_files *o, struct extract_channel *post,
		       const struct extract_files_order *order,
		       struct broker_reply *answer)
{
	int directory, err;

	if (!extract_files_is_name(order->name) || !extract_files_knows(o,
									order->directory))
		return -EINVAL;
	directory = safe_output_directory(&post->cursor, order->directory);
	if (directory < 0)
		return directory;
	err = safe_output_begin(&o->output, directory, order->name, &post->file);
	if (err)
		return err;
	memcpy(post->name, order->name, sizeof(post->name));
	post->is_file = true;
	answer->fd = post->begun = post->file.fd;
	return 0;
}

/* Only directories that were made here are changed. */
static int serve_begin_directory(struct extract_files *o, struct extract_channel *post,
			      const struct extract_files_order *order)
{
	int fd;

	if (post != &o->posts[0] || !extract_files_knows(o, order->directory) ||
	    !o->output.made_directories.items[order->directory])
		return -EINVAL;
	fd = safe_output_directory(&post->cursor, order->directory);
	if (fd < 0)
		return fd;
	post->is_file = false;
	post->begun = fd;
	return 0;
}

static void times_of(const struct extract_files_order *order, struct timespec out[2])
{
	out[0] = (struct timespec){ .tv_nsec = UTIME_OMIT };
	out[1] = (struct timespec){ .tv_sec = (time_t)order->attributes.mtime,
				    .tv_nsec = order->attributes.mtime_ns % 1000000000U };
}

/* Keeps the set-gid bit: files made in a directory later inherit its group. */
static int extract_files_set_attributes(int fd, const struct extract_files_order *order)
{
	struct timespec times[2];
	struct stat now;

	if (fstat(fd, &now) < 0 ||
	    fchmod(fd, (order->attributes.mode & 0777) | (now.st_mode & S_ISGID)) < 0)
		return -errno;
	times_of(order, times);
	return futimens(fd, times) < 0 ? -errno : 0;
}

static int serve_publish(struct extract_files *o, struct extract_channel *post,
			 const struct extract_files_order *order)
{
	int err = post->begun < 0 ? -EINVAL :
		extract_files_set_attributes(post->begun, order);

	if (!err && post->is_file)
		err = safe_output_publish(&o->output, &post->file, post->name);
	else
		extract_files_end_channel(post);
	post->begun = -1;
	return err;
}

static int serve_symlink(struct extract_files *o, struct extract_channel *post,
			 const struct extract_files_order *order, size_t length)
{
	char target[TREE_TARGET_BYTES];
	struct timespec times[2];
	int directory, err;

	if (!extract_files_is_name(order->name) ||
	    !extract_files_knows(o, order->directory) ||
	    length >= sizeof(target) || memchr(order->tail, '\0', length))
		return -EINVAL;
	memcpy(target, order->tail, length);
	target[length] = '\0';
	directory = safe_output_directory(&post->cursor, order->directory);
	if (directory < 0)
		return directory;
	err = safe_output_symlink(&o->output, directory, order->name, target);
	if (err)
		return err;
	times_of(order, times);
	utimensat(directory, order->name, times, AT_SYMLINK_NOFOLLOW);
	return 0;
}

static int serve_link(struct extract_files *o, struct extract_channel *post,
		      const struct extract_files_order *order)
{
	const struct tree_stat st = { .size = order->size, .mtime = order->attributes.mtime };
	int from, to;

	if (!extract_files_is_name(order->name) || !extract_files_is_name(order->first) ||
	    !extract_files_knows(o, order->directory) ||
	    !extract_files_knows(o, order->other))
		return -EINVAL;
	from = safe_output_directory(&post->first, order->other);
	to = from < 0 ? from : safe_output_directory(&post->cursor, order->directory);
	return to < 0 ? to : safe_output_link(&o->output, from, order->first, &st, to,
					      order->name);
}

/* user.* only: other namespaces of attributes grant rights. */
static int serve_xattr(const struct extract_channel *post,
		       const struct extract_files_order *order, size_t size)
{
	if (post->begun < 0 || !memchr(order->name, '\0', sizeof(order->name)) ||
	    strncmp(order->name, "user.", 5) != 0)
		return -EPERM;
	return fsetxattr(post->begun, order->name, order->tail, size, 0) < 0 ? -errno : 0;
}

int extract_files_serve(void *context, const struct broker_request *question,
			struct broker_reply *answer)
{
	struct extract_files *o = context;
	struct extract_channel *post = &o->posts[question->channel - SANDBOX_CHILD_OWN];
	const struct extract_files_order *order = question->data;
	size_t tail;

	if (question->size < offsetof(struct extract_files_order, tail))
		return -EINVAL;
	tail = question->size - offsetof(struct extract_files_order, tail);
	/* the open file lies in the cursor's directory, which other orders may change */
	if (question->kind != CALL_PUBLISH && question->kind != CALL_XATTR)
		extract_files_end_channel(post);
	switch ((enum extract_call)question->kind) {
	case CALL_OPEN:
		return serve_open(o, post, order, answer);
	case CALL_DIRECTORY:
		return serve_directory(o, post, order, answer);
	case CALL_BEGIN:
		return serve_begin(o, post, order, answer);
	case CALL_PUBLISH:
		return serve_publish(o, post, order);
	case CALL_DROP:
		return 0;
	case CALL_BEGIN_DIRECTORY:
		return serve_begin_directory(o, post, order);
	case CALL_SYMLINK:
		return serve_symlink(o, post, order, tail);
	case CALL_LINK:
		return serve_link(o, post, order);
	case CALL_XATTR:
		return serve_xattr(post, order, tail);
	default:
		return -ENOSYS;
	}
}
