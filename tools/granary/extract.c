#include "extract.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "progress.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/pool.h"

enum {
	PIECE_BYTES = 1 << 20,
	RUN = 16,            /* files that one thread takes at a time */
	XATTR_LIST = 65536, XATTR_VALUE = 65536,
};

struct work {
	const struct dataset *dataset;
	struct landing *landing;
	const struct selection *selection;
	const struct extract_options *options;
	struct progress progress;
	_Atomic size_t next;     /* of the files */
	_Atomic bool stop;       /* after a failure */
	_Atomic uint64_t files, bytes, skipped, failed, damaged, xattrs_left;
};

/* One thread of it. */
struct hand {
	struct work *work;
	struct landing_cursor cursor;
	char *buffer; /* PIECE_BYTES */
};

static _Atomic int signal_taken;

static void take_signal(int number)
{
	atomic_store(&signal_taken, number);
}

static bool is_over(const struct work *w)
{
	return atomic_load(&w->stop) || atomic_load(&signal_taken);
}

/* ---- What is said ---- */

static const char *reason(int err)
{
	switch (-err) {
	case EEXIST:
		return "is there already; --force replaces such files, --skip-existing leaves "
		       "them as they are";
	case ELOOP:
	case ENOTDIR:
		return "a symbolic link, or something else that is no directory, is in the way: "
		       "nothing is written through it; remove it, or extract to another place";
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

static void fail(struct work *w, uint32_t folder, const char *name, int err)
{
	char path[PATH_MAX];

	select_path(w->selection, folder, name, strlen(name), path, sizeof(path));
	log_error("%s/%s: %s", w->options->destination, path, reason(err));
	atomic_fetch_add(&w->failed, 1U);
	if (err == -EBADMSG)
		atomic_fetch_add(&w->damaged, 1U);
	if (!w->options->keep_going)
		atomic_store(&w->stop, true);
}

/* 0: it was made; otherwise it has been dealt with. */
static int conclude(struct work *w, uint32_t folder, const char *name, int err)
{
	if (err == -EEXIST && w->options->existing == EXISTING_SKIP)
		atomic_fetch_add(&w->skipped, 1U);
	else if (err && err != -ECANCELED)
		fail(w, folder, name, err);
	return err;
}

/* ---- Attributes ---- */

/* Only user.*, and not every filesystem has them: others mean more than a stranger may say. */
static void set_xattrs(struct work *w, uint32_t node, int fd)
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

		if (size < 0 || fsetxattr(fd, name, value, (size_t)size, 0) < 0)
			atomic_fetch_add(&w->xattrs_left, 1U);
	}
}

static void times_of(const struct tree_stat *st, struct timespec out[2])
{
	out[0] = (struct timespec){ .tv_nsec = UTIME_OMIT };
	out[1] = (struct timespec){ .tv_sec = (time_t)st->mtime, .tv_nsec = st->mtime_ns };
}

/* The group of a folder is often inherited (set-gid), and should be by what comes later. */
static int set_attributes(struct work *w, const struct tree_stat *st, int fd)
{
	struct timespec times[2];
	struct stat now;

	set_xattrs(w, st->node, fd);
	if (fstat(fd, &now) < 0 || fchmod(fd, st->mode | (now.st_mode & S_ISGID)) < 0)
		return -errno;
	times_of(st, times);
	return futimens(fd, times) < 0 ? -errno : 0;
}

/* ---- Files ---- */

static int write_all(int fd, const char *bytes, size_t length, uint64_t offset)
{
	while (length) {
		ssize_t n = pwrite(fd, bytes, length, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes += n;
		length -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

/* Holes stay holes. */
static int copy_contents(struct hand *hand, const struct tree_stat *st, int fd)
{
	struct work *w = hand->work;
	uint64_t offset = 0;

	while (offset < st->size) {
		struct dataset_fault fault;
		struct tree_piece piece;
		size_t length;
		ssize_t n;
		int err = tree_piece(w->selection->tree, st->node, offset, &piece);

		if (err)
			return -EIO;
		if (is_over(w))
			return -ECANCELED;
		length = piece.length < PIECE_BYTES ? (size_t)piece.length : PIECE_BYTES;
		if (piece.hole) {
			offset += piece.length;
			atomic_fetch_add(&w->progress.bytes, piece.length);
			continue;
		}
		n = dataset_read_told(w->dataset, st->node, hand->buffer, length, offset,
				      &fault);
		if (n != (ssize_t)length)
			return n < 0 && fault.storage ? -EIO : -EBADMSG;
		err = write_all(fd, hand->buffer, length, offset);
		if (err)
			return err;
		offset += length;
		atomic_fetch_add(&w->progress.bytes, length);
	}
	return st->size && ftruncate(fd, (off_t)st->size) < 0 ? -errno : 0;
}

static int write_file(struct hand *hand, const struct tree_stat *st, int directory,
		      const char *name)
{
	struct work *w = hand->work;
	struct landing_file file;
	int err = landing_begin(w->landing, directory, name, &file);

	if (err)
		return err;
	err = copy_contents(hand, st, file.fd);
	if (!err)
		err = set_attributes(w, st, file.fd);
	if (err) {
		landing_drop(&file);
		return err;
	}
	return landing_publish(w->landing, &file, name);
}

/* What an item is called, as a string, and what it is. */
static int look_up(const struct work *w, const struct select_item *item,
		   char name[NAME_MAX + 1], struct tree_stat *st)
{
	const struct selection *s = w->selection;
	struct tree_name entry;
	int err = tree_child(s->tree, s->folders.items[item->folder].node, item->child, &entry);

	*name = '\0';
	if (err || entry.length > NAME_MAX)
		return -EIO;
	memcpy(name, entry.name, entry.length);
	name[entry.length] = '\0';
	return tree_stat(s->tree, entry.node, st);
}

static void extract_file(struct hand *hand, const struct select_item *item)
{
	struct work *w = hand->work;
	char name[NAME_MAX + 1];
	struct tree_stat st;
	int err = look_up(w, item, name, &st);
	int directory = err ? err : landing_folder(&hand->cursor, item->folder);

	if (!err && st.kind != TREE_FILE)
		err = -EIO;
	if (!err)
		err = directory < 0 ? directory : write_file(hand, &st, directory, name);
	if (conclude(w, item->folder, name, err) == 0) {
		atomic_fetch_add(&w->files, 1U);
		atomic_fetch_add(&w->bytes, st.size);
	}
	atomic_fetch_add(&w->progress.count, 1U);
}

static void extract_files(void *argument)
{
	struct work *w = argument;
	struct hand hand = { .work = w, .cursor = LANDING_CURSOR(w->landing),
			     .buffer = malloc(PIECE_BYTES) };
	const size_t count = w->selection->files.count;
	size_t from;

	while (hand.buffer && !is_over(w) &&
	       (from = atomic_fetch_add(&w->next, (size_t)RUN)) < count) {
		for (size_t i = from; i < from + RUN && i < count && !is_over(w); i++)
			extract_file(&hand, &w->selection->files.items[i]);
	}
	if (!hand.buffer) {
		log_error("out of memory");
		atomic_fetch_add(&w->failed, 1U);
		atomic_store(&w->stop, true);
	}
	landing_leave(&hand.cursor);
	free(hand.buffer);
}

/* ---- Everything else, by one thread ---- */

static void make_folders(struct work *w, struct extract_report *report)
{
	struct landing_cursor cursor = LANDING_CURSOR(w->landing);

	report->directories += w->landing->made;
	for (uint32_t i = 1; i < w->selection->folders.count && !is_over(w); i++) {
		int err;

		if (!w->selection->folders.items[i].wanted)
			continue;
		err = landing_make_folder(w->landing, &cursor, i);
		if (err)
			fail(w, i, "", err);
		report->directories += w->landing->made_folders.items[i];
	}
	landing_leave(&cursor);
}

/* From the innermost on, for those that may not be entered afterwards. */
static void finish_folders(struct work *w)
{
	struct landing_cursor cursor = LANDING_CURSOR(w->landing);

	for (uint32_t i = (uint32_t)w->selection->folders.count;
	     i-- > 0 && !atomic_load(&signal_taken);) {
		struct tree_stat st;
		int fd, err;

		if (!w->landing->made_folders.items[i])
			continue;
		fd = landing_folder(&cursor, i);
		err = fd < 0 ? fd : tree_stat(w->selection->tree,
					      w->selection->folders.items[i].node, &st);
		if (!err)
			err = set_attributes(w, &st, fd);
		if (err)
			fail(w, i, "", err);
	}
	landing_leave(&cursor);
}

static void extract_symlinks(struct work *w, struct extract_report *report)
{
	struct landing_cursor cursor = LANDING_CURSOR(w->landing);
	const struct selection *s = w->selection;

	for (size_t i = 0; i < s->symlinks.count && !is_over(w); i++) {
		const struct select_item *item = &s->symlinks.items[i];
		char name[NAME_MAX + 1], target[TREE_TARGET_BYTES];
		struct timespec times[2];
		struct tree_stat st;
		int err = look_up(w, item, name, &st), directory;

		if (!err)
			err = tree_readlink(s->tree, st.node, target);
		directory = err ? err : landing_folder(&cursor, item->folder);
		if (!err)
			err = directory < 0 ? directory :
					      landing_symlink(w->landing, directory, name, target);
		if (conclude(w, item->folder, name, err))
			continue;
		report->symlinks++;
		times_of(&st, times);
		utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW);
	}
	landing_leave(&cursor);
}

/* Not every filesystem has links: then it is a file of its own. */
static bool lacks_links(int err)
{
	return err == -EPERM || err == -EMLINK || err == -EOPNOTSUPP || err == -EXDEV ||
	       err == -ENOENT;
}

static void extract_link(struct hand *hand, struct landing_cursor *first,
			 const struct select_link *link, struct extract_report *report)
{
	struct work *w = hand->work;
	char name[NAME_MAX + 1] = "", source[NAME_MAX + 1];
	struct tree_stat st;
	int err = look_up(w, &link->name, name, &st), from, to;

	if (!err)
		err = look_up(w, &link->first, source, &st);
	from = err ? err : landing_folder(first, link->first.folder);
	to = err ? err : landing_folder(&hand->cursor, link->name.folder);
	if (!err)
		err = from < 0 ? from : to < 0 ? to :
		      landing_link(w->landing, from, source, &st, to, name);
	if (lacks_links(err))
		extract_file(hand, &link->name);
	else if (conclude(w, link->name.folder, name, err) == 0)
		report->links++;
}

static void extract_links(struct work *w, struct extract_report *report)
{
	struct landing_cursor first = LANDING_CURSOR(w->landing);
	struct hand hand = { .work = w, .cursor = LANDING_CURSOR(w->landing),
			     .buffer = malloc(PIECE_BYTES) };

	for (size_t i = 0; i < w->selection->links.count && !is_over(w) && hand.buffer; i++)
		extract_link(&hand, &first, &w->selection->links.items[i], report);
	landing_leave(&first);
	landing_leave(&hand.cursor);
	free(hand.buffer);
}

/* ---- All of it ---- */

static int extract_in_threads(struct work *w, struct error *e)
{
	struct pool *pool;
	int err = pool_start(&pool, w->options->threads);

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "no thread can be started: %s",
				 strerror(-err));
	for (unsigned i = pool_threads(pool); i > 0 && !err; i--)
		err = pool_add(pool, extract_files, w);
	pool_finish(pool);
	return err ? error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory") : 0;
}

static void watch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = take_signal,
				    .sa_flags = (int)SA_RESETHAND | SA_RESTART };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		if (sigaction(numbers[i], NULL, &before) == 0 &&
		    before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
	signal(SIGXFSZ, SIG_IGN); /* a limit is an error like a full disk */
}

static void fill_report(const struct work *w, struct extract_report *report)
{
	report->files = atomic_load(&w->files);
	report->bytes = atomic_load(&w->bytes);
	report->skipped = atomic_load(&w->skipped);
	report->failed = atomic_load(&w->failed);
	report->damaged = atomic_load(&w->damaged);
	report->xattrs_left = atomic_load(&w->xattrs_left);
	report->signal = atomic_load(&signal_taken);
}

int extract_run(const struct dataset *dataset, struct landing *landing,
		const struct extract_options *options, struct extract_report *report,
		struct error *e)
{
	struct work work = { .dataset = dataset, .landing = landing, .options = options,
			     .selection = landing->selection,
			     .progress = { .subject = "extracting", .unit = "files" } };
	int err = 0;

	*report = (struct extract_report){ 0 };
	atomic_store(&work.progress.bytes_total, work.selection->bytes);
	atomic_store(&work.progress.count_total, work.selection->files.count);
	watch_signals();
	make_folders(&work, report);
	progress_start(&work.progress, options->quiet);
	if (!is_over(&work))
		err = extract_in_threads(&work, e);
	progress_stop(&work.progress);
	if (!err) {
		extract_links(&work, report);
		extract_symlinks(&work, report);
	}
	finish_folders(&work);
	fill_report(&work, report);
	return err;
}
