/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "extract.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "extract_files.h"
#include "progress.h"
#include "os/bounded.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "os/pool.h"
#include "os/whole.h"

enum {
	PIECE_BYTES = 1 << 20,
	RUN = 16,            /* files that a thread claims at a time */
	XATTR_LIST = 65536, XATTR_VALUE = 65536,
};

struct extract_work {
	const struct dataset *dataset;
	const struct selection *selection;
	const struct extract_options *options;
	struct progress progress;
	bool *made_directories;      /* by number: made by this command */
	_Atomic unsigned hands;  /* threads that have started */
	_Atomic size_t next;     /* index of the next file */
	_Atomic bool stop;       /* after a failure */
	_Atomic uint64_t files, bytes, skipped, failed, damaged, xattrs_left;
};

/* One thread. */
struct extract_worker {
	struct extract_work *work;
	unsigned channel; /* to the parent */
	char *buffer;     /* PIECE_BYTES */
};

static _Atomic int signal_taken;

/* A signal may come twice: from the terminal, and from the parent. */
enum { AT_ONCE_MS = 500 };

static void note_signal(int number)
{
	static long long first;

	if (!atomic_load(&signal_taken)) {
		first = bounded_now();
		atomic_store(&signal_taken, number);
	} else if (bounded_now() - first > AT_ONCE_MS) {
		signal(number, SIG_DFL);
		raise(number);
	}
}

static bool extract_is_over(const struct extract_work *w)
{
	return atomic_load(&w->stop) || atomic_load(&signal_taken);
}

/* ---- Messages ---- */

static const char *reason(int err)
{
	switch (-err) {
	case EEXIST:
		return "is there already; --force replaces such files, --skip-existing leaves "
		       "them as they are";
	case ELOOP:
	case ENOTDIR:
		return
			"a symbolic link, or something else that is no directory, is in "
		       "the way: nothing is written through it; remove it, or extract to another place";
	case EISDIR:
	case ENOTEMPTY:
		return "a directory is in its place; remove that first";
	case ENOSPC:
		return "no space is left there; free some, then go on with --skip-existing";
	case EDQUOT:
		return "the quota there is used up; free some space, or ask for more, then go "
		       "on with --skip-existing";
	case EIO:
		return "its bytes cannot be read";
	case EBADMSG:
		return "it is damaged: its bytes make no sense, or are not what they were when it "
		       "was indexed";
	default:
		return strerror(-err);
	}
}

static void extract_fail(struct extract_work *w, uint32_t directory, const char *name,
			 int err)
{
	char path[PATH_MAX];

	select_path(w->selection, directory, name, strlen(name), path, sizeof(path));
	log_error("%s/%s: %s", w->options->destination, path, reason(err));
	atomic_fetch_add(&w->failed, 1U);
	if (err == -EBADMSG)
		atomic_fetch_add(&w->damaged, 1U);
	if (!w->options->keep_going)
		atomic_store(&w->stop, true);
}

/* 0: the name was made. Otherwise the error has been counted and reported. */
static int conclude(struct extract_work *w, uint32_t directory, const char *name, int err)
{
	if (err == -EEXIST && w->options->existing == EXISTING_SKIP)
		atomic_fetch_add(&w->skipped, 1U);
	else if (err && err != -ECANCELED)
		extract_fail(w, directory, name, err);
	return err;
}

/* ---- Attributes ---- */

/* Sets user.* only: other namespaces of attributes grant rights. */
static void set_xattrs(struct extract_work *w, uint32_t node, unsigned channel)
{
	const struct tree *tree = w->selection->tree;
	CLEANUP(cleanup_free) char *list = NULL;
	CLEANUP(cleanup_free) char *value = NULL;
	int length;

	if (!tree_has_xattrs(tree) || tree_listxattr(tree, node, NULL, 0) <= 0)
		return;
	list = malloc(XATTR_LIST);
	value = malloc(XATTR_VALUE);
	length = list && value ? tree_listxattr(tree, node, list, XATTR_LIST) : -ENOMEM;
	if (length < 0)
		atomic_fetch_add(&w->xattrs_left, 1U);
	for (const char *name = list; length > 0 && name < list + length;
	     name += strlen(name) + 1) {
		int size = strncmp(name, "user.", 5) == 0 ?
				   tree_getxattr(tree, node, name, value, XATTR_VALUE) : -EPERM;

		if (size < 0 ||
		    extract_files_xattr(channel, name, value, (size_t)size) < 0)
			atomic_fetch_add(&w->xattrs_left, 1U);
	}
}

static struct extract_files_attributes attributes_of(const struct tree_stat *st)
{
	return (struct extract_files_attributes){ .mode = st->mode, .mtime = st->mtime,
					    .mtime_ns = st->mtime_ns };
}

/* Publishes the file or directory that was begun on the channel, or drops it. */
static int extract_finish(struct extract_work *w, const struct tree_stat *st,
			  unsigned channel)
{
	const struct extract_files_attributes attributes = attributes_of(st);

	set_xattrs(w, st->node, channel);
	return extract_files_publish(channel, &attributes);
}

/* ---- Files ---- */

/* Holes stay holes. */
static int copy_contents(struct extract_worker *hand, const struct tree_stat *st, int fd)
{
	struct extract_work *w = hand->work;
	uint64_t offset = 0;

	while (offset < st->size) {
		struct read_context context = { .hint = READ_EXACT };
		struct tree_piece piece;
		size_t length;
		ssize_t n;
		int err = tree_piece(w->selection->tree, st->node, offset, &piece);

		if (err)
			return -EIO;
		if (extract_is_over(w))
			return -ECANCELED;
		length = piece.length < PIECE_BYTES ? (size_t)piece.length : PIECE_BYTES;
		if (piece.hole) {
			offset += piece.length;
			atomic_fetch_add(&w->progress.bytes, piece.length);
			continue;
		}
		n = dataset_read(w->dataset, st->node, hand->buffer, length, offset,
				 &context);
		if (n != (ssize_t)length)
			return n < 0 && context.fault.storage ? -EIO : -EBADMSG;
		err = write_whole_at(fd, hand->buffer, length, offset);
		if (err)
			return err;
		offset += length;
		atomic_fetch_add(&w->progress.bytes, length);
	}
	return st->size && ftruncate(fd, (off_t)st->size) < 0 ? -errno : 0;
}

static int extract_write_file(struct extract_worker *hand, const struct tree_stat *st,
			      uint32_t directory, const char *name)
{
	int fd, err = extract_files_begin(hand->channel, directory, name, &fd);

	if (err)
		return err;
	err = copy_contents(hand, st, fd);
	/* close may report a full disk: so before the file is named */
	if (close(fd) < 0 && !err)
		err = -errno;
	if (!err)
		return extract_finish(hand->work, st, hand->channel);
	extract_files_drop(hand->channel);
	return err;
}

/* The item's name and attributes. */
static int extract_read_item(const struct extract_work *w, const struct select_item *item,
			     char name[NAME_MAX + 1], struct tree_stat *st)
{
	const struct selection *s = w->selection;
	struct tree_name entry;
	int err = tree_child(s->tree, s->directories.items[item->directory].node,
			     item->child, &entry);

	*name = '\0';
	if (err || entry.length > NAME_MAX)
		return -EIO;
	memcpy(name, entry.name, entry.length);
	name[entry.length] = '\0';
	return tree_stat(s->tree, entry.node, st);
}

static void extract_file(struct extract_worker *hand, const struct select_item *item)
{
	struct extract_work *w = hand->work;
	char name[NAME_MAX + 1];
	struct tree_stat st;
	int err = extract_read_item(w, item, name, &st);

	if (!err && st.kind != TREE_FILE)
		err = -EIO;
	if (!err)
		err = extract_write_file(hand, &st, item->directory, name);
	if (conclude(w, item->directory, name, err) == 0) {
		atomic_fetch_add(&w->files, 1U);
		atomic_fetch_add(&w->bytes, st.size);
	}
	atomic_fetch_add(&w->progress.count, 1U);
}

static void extract_files(void *argument)
{
	struct extract_work *w = argument;
	struct extract_worker hand = { .work = w,
				       .channel = atomic_fetch_add(&w->hands, 1U),
			     .buffer = malloc(PIECE_BYTES) };
	const size_t count = w->selection->files.count;
	size_t from;

	while (hand.buffer && !extract_is_over(w) &&
	       (from = atomic_fetch_add(&w->next, (size_t)RUN)) < count) {
		for (size_t i = from; i < from + RUN && i < count && !extract_is_over(w);
		     i++)
			extract_file(&hand, &w->selection->files.items[i]);
	}
	if (!hand.buffer) {
		log_error("out of memory");
		atomic_fetch_add(&w->failed, 1U);
		atomic_store(&w->stop, true);
	}
	free(hand.buffer);
}

/* ---- Directories and links, in one thread ---- */

static void make_directories(struct extract_work *w, struct extract_report *report)
{
	report->directories += w->made_directories[0];
	for (uint32_t i = 1; i < w->selection->directories.count && !extract_is_over(w);
	     i++) {
		const struct select_directory *directory =
			&w->selection->directories.items[i];
		int err;

		if (!directory->wanted)
			continue;
		err = extract_files_directory(i, directory->parent, directory->name,
					   directory->length, &w->made_directories[i]);
		if (err)
			extract_fail(w, i, "", err);
		report->directories += w->made_directories[i];
	}
}

/* The innermost first: their parents' modes may forbid to enter them. */
static void finish_directories(struct extract_work *w)
{
	for (uint32_t i = (uint32_t)w->selection->directories.count;
	     i-- > 0 && !atomic_load(&signal_taken);) {
		struct tree_stat st;
		int err;

		if (!w->made_directories[i])
			continue;
		err = extract_files_begin_directory(i);
		if (!err)
			err = tree_stat(w->selection->tree,
					w->selection->directories.items[i].node, &st);
		if (!err)
			err = extract_finish(w, &st, 0);
		if (err)
			extract_fail(w, i, "", err);
	}
}

static void extract_symlinks(struct extract_work *w, struct extract_report *report)
{
	const struct selection *s = w->selection;

	for (size_t i = 0; i < s->symlinks.count && !extract_is_over(w); i++) {
		const struct select_item *item = &s->symlinks.items[i];
		char name[NAME_MAX + 1], target[TREE_TARGET_BYTES];
		struct tree_stat st;
		int err = extract_read_item(w, item, name, &st);

		if (!err)
			err = tree_readlink(s->tree, st.node, target);
		if (!err) {
			const struct extract_files_attributes attributes =
				attributes_of(&st);

			err = extract_files_symlink(item->directory, name, target,
						    &attributes);
		}
		if (conclude(w, item->directory, name, err) == 0)
			report->symlinks++;
	}
}

/* Where the filesystem has no hard links, the contents are extracted again. */
static bool lacks_links(int err)
{
	return err == -EPERM || err == -EMLINK || err == -EOPNOTSUPP || err == -EXDEV ||
	       err == -ENOENT;
}

static void extract_link(struct extract_worker *hand, const struct select_link *link,
			 struct extract_report *report)
{
	struct extract_work *w = hand->work;
	char name[NAME_MAX + 1] = "", source[NAME_MAX + 1];
	struct tree_stat st;
	int err = extract_read_item(w, &link->name, name, &st);

	if (!err)
		err = extract_read_item(w, &link->first, source, &st);
	if (!err)
		err = extract_files_link(link->first.directory, source, &st,
					 link->name.directory, name);
	if (lacks_links(err))
		extract_file(hand, &link->name);
	else if (conclude(w, link->name.directory, name, err) == 0)
		report->links++;
}

static void extract_links(struct extract_work *w, struct extract_report *report)
{
	struct extract_worker hand = { .work = w, .buffer = malloc(PIECE_BYTES) };

	for (size_t i = 0;
	     i < w->selection->links.count && !extract_is_over(w) && hand.buffer; i++)
		extract_link(&hand, &w->selection->links.items[i], report);
	free(hand.buffer);
}

/* ---- All of it ---- */

static int extract_in_threads(struct extract_work *w, struct error *e)
{
	struct pool *pool;
	int err = pool_start(&pool, w->options->threads);

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "no thread can be started: %s",
				 strerror(-err));
	for (unsigned i = pool_threads(pool); i > 0 && !err; i--)
		err = pool_add(pool, extract_files, w);
	pool_finish(pool);
	return err ? error_no_memory(e, NULL) : 0;
}

static void watch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = note_signal,
				    .sa_flags = SA_RESTART };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	signal(SIGXFSZ, SIG_IGN); /* a size limit is an error like a full disk */
}

static void fill_report(const struct extract_work *w, struct extract_report *report)
{
	report->files = atomic_load(&w->files);
	report->bytes = atomic_load(&w->bytes);
	report->skipped = atomic_load(&w->skipped);
	report->failed = atomic_load(&w->failed);
	report->damaged = atomic_load(&w->damaged);
	report->xattrs_left = atomic_load(&w->xattrs_left);
	report->signal = atomic_load(&signal_taken);
}

int extract_run(const struct dataset *dataset, const struct selection *selection,
		const struct extract_options *options, struct extract_report *report,
		struct error *e)
{
	CLEANUP(cleanup_free) bool *made = calloc(selection->directories.count,
						  sizeof(*made));
	struct extract_work work = {.dataset = dataset,
				    .options = options,
				    .made_directories = made,
				    .selection = selection,
				    .progress = {.subject = "extracting",
						 .unit = "files"}};
	int err = 0;

	*report = (struct extract_report){ 0 };
	if (!made)
		return error_no_memory(e, NULL);
	err = extract_files_open((uint32_t)selection->directories.count, &made[0], e);
	if (err)
		return err;
	atomic_store(&work.progress.bytes_total, work.selection->bytes);
	atomic_store(&work.progress.count_total, work.selection->files.count);
	watch_signals();
	make_directories(&work, report);
	progress_start(&work.progress, options->quiet);
	if (!extract_is_over(&work))
		err = extract_in_threads(&work, e);
	progress_stop(&work.progress);
	if (!err) {
		extract_links(&work, report);
		extract_symlinks(&work, report);
	}
	finish_directories(&work);
	fill_report(&work, report);
	return err;
}
