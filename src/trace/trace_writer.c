/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace/trace_writer.h"

#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/bounded.h"
#include "os/file_writer.h"
#include "os/place.h"
#include "trace/trace.h"
#include "trace/trace_members.h"

enum {
	TEXT_MOST = 256 * 1024,
	FLUSH_MS = 1000,
	BUSY_MS = 20,  /* the ring holds what comes in that time, */
	IDLE_MS = 100, /* and if nothing came before */
	COMMENT_BYTES = 4096 + 64,
};

struct trace_writer {
	struct trace_lines *lines;
	struct trace_members *members;
	FILE *out; /* of text */
	char *text;
	size_t size;
	uint64_t events; /* in the text */
	uint64_t lost;   /* for which the file had no room */
	long long flushed;
};

/* ---- The writer ---- */

static uint64_t all_dropped(const struct trace_writer *w)
{
	return trace_dropped() + w->lost;
}

static void flush_text(struct trace_writer *w)
{
	fflush(w->out);
	w->flushed = bounded_now();
	if (w->size && trace_members_write(w->members, w->text, w->size) < 0) {
		w->lost += w->events;
		fseeko(w->out, 0, SEEK_SET);
		trace_lines_name_again(w->lines);
		w->events = 0;
		return;
	}
	w->events = 0;
	fseeko(w->out, 0, SEEK_SET);
}

/* Were there any? */
static bool write_events(struct trace_writer *w)
{
	struct trace_event event;
	bool any = false;

	while (trace_take(&event)) {
		any = true;
		w->events++;
		trace_lines_add(w->lines, &event);
		if (ftello(w->out) >= TEXT_MOST)
			flush_text(w);
	}
	trace_lines_dropped(w->lines, all_dropped(w));
	if (ftello(w->out) > 0 && bounded_now() - w->flushed >= FLUSH_MS)
		flush_text(w);
	return any;
}

/* Nobody sends anything: the other end is closed, or the time is over. */
static bool mount_has_ended(int milliseconds)
{
	struct pollfd senders = { .fd = WRITER_SOCKET };

	return poll(&senders, 1, milliseconds) > 0;
}

static void write_until_end(struct trace_writer *w)
{
	int pause = BUSY_MS;

	trace_lines_begin(w->lines);
	flush_text(w);
	while (!mount_has_ended(pause))
		pause = write_events(w) ? BUSY_MS : IDLE_MS;
	trace_close_gaps(); /* no server comes that would do it */
	write_events(w);
	trace_lines_end(w->lines, all_dropped(w));
	flush_text(w);
}

struct trace_writer_setup {
	const struct trace_names *names;
	const char *comment;
};

static void trace_writer_work(void *context)
{
	const struct trace_writer_setup *setup = context;
	struct trace_writer w = { .text = NULL };

	w.out = open_memstream(&w.text, &w.size);
	w.lines = w.out ? trace_lines_new(setup->names, w.out) : NULL;
	w.members = trace_members_new(WRITER_FILE, setup->comment);
	if (w.lines && w.members)
		write_until_end(&w);
	trace_members_free(w.members);
	trace_lines_free(w.lines);
	if (w.out)
		fclose(w.out);
	free(w.text);
}

/* ---- Starting it ---- */

static int trace_refuse(const char *path, int errnum, const char *why, struct error *e)
{
	return error_set(e, ERROR_SYSTEM, errnum, "-o trace=%s: %s", path, why);
}

/* Only its user may read a file that was there; a new one is made so. */
static int make_private(int file, const struct stat *st, const char *path, struct error *e)
{
	if (st->st_uid != geteuid())
		return trace_refuse(path, EPERM, "the file is there, and is another user's; name "
				    "another, or remove it", e);
	if ((st->st_mode & 077) && fchmod(file, 0600) < 0)
		return trace_refuse(path, errno, strerror(errno), e);
	return 0;
}

/* A file that is there is only taken if it is this mount point's own. */
static int take_file(int file, bool is_new, const char *path, const char *comment,
		     struct error *e)
{
	struct stat st;
	int err;

	if (fstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1)
		return trace_refuse(path, EINVAL, "is no file of one name; name another", e);
	if (flock(file, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return trace_refuse(path, EBUSY, "a mount that is there writes its trace to it; "
				    "name another file", e);
	if (st.st_size > 0 && !trace_members_are_of(file, comment))
		return trace_refuse(path, EEXIST, "the file is there, and is no earlier trace of "
				    "this mount point; name another, or remove it", e);
	err = is_new ? 0 : make_private(file, &st, path, e);
	if (!err && ftruncate(file, 0) < 0)
		err = trace_refuse(path, errno, strerror(errno), e);
	return err;
}

static int open_trace(const char *path, const char *comment, struct error *e)
{
	struct place *place;
	int err = place_open(path, false, &place, e), file;
	bool is_new;

	if (err)
		return err;
	file = place_create(place, "", 0600);
	is_new = file >= 0;
	if (file == -EEXIST)
		file = place_open_private(place, "");
	place_close(place);
	if (file == -ELOOP)
		return trace_refuse(path, ELOOP, "a symbolic link is not followed; name the file "
				    "itself", e);
	if (file < 0)
		return trace_refuse(path, -file, strerror(-file), e);
	err = take_file(file, is_new, path, comment, e);
	if (!err)
		return file;
	close(file);
	return err;
}

int trace_writer_start(const struct trace_names *names, const char *path, struct error *e)
{
	char comment[COMMENT_BYTES];
	const struct trace_writer_setup setup = { names, comment };
	const struct file_writer writer = { .name = "granaryfs-trace", .subject = "the trace",
					    .work = trace_writer_work,
					    .context = (void *)(uintptr_t)&setup };
	int file;

	if (!WITH_ZLIB)
		return trace_refuse(path, ENOSYS, "this granaryfs was built without " NEEDS_ZLIB, e);
	snprintf(comment, sizeof(comment), "trace of granaryfs at %s", names->mountpoint);
	file = open_trace(path, comment, e);
	return file < 0 ? file : file_writer_start(&writer, file, e);
}
