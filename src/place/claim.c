/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/text.h"
#include "os/bounded.h"
#include "os/child.h"

#define MAGIC "granary claim\n"

/*
 * The lines of a claim: MAGIC, then "host", "boot" and "pids" (number of the pid
 * namespace) of its owner, then "process" and "started" (clock ticks since the boot),
 * which are comparable only if the lines before equal this process's.
 */
enum { TEXT_BYTES = 512, FIRST_PAUSE_MS = 10 };

struct claim {
	const struct place *place;
	int fd;
	sigset_t awaited; /* signals that end this process, and SIGCHLD */
	sigset_t before;  /* the signal mask before the claim */
};

static const char suffix[] = ".claim";

/* ---- The text of a claim --------------------------------------------------- */

/* Reads the first line of a file, without its line feed. */
static int claim_read_line(const char *path, char *out, size_t size)
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	if (n <= 0)
		return -ENOENT;
	out[n] = '\0';
	out[strcspn(out, "\n")] = '\0';
	return 0;
}

/* The lines for machine, boot and pid namespace. */
static int write_machine(char *out, size_t size)
{
	char host[65], boot[64], pids[64];
	ssize_t n = readlink("/proc/self/ns/pid", pids, sizeof(pids) - 1);

	if (n < 0 || gethostname(host, sizeof(host)) < 0 ||
	    claim_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) < 0)
		return -ENOENT;
	pids[n] = '\0';
	host[sizeof(host) - 1] = '\0';
	snprintf(out, size, MAGIC "host %s\nboot %s\npids %s\n", host, boot, pids);
	return 0;
}

struct life {
	char state;
	uint64_t started;
};

/* From /proc/PID/stat; the name, up to the last bracket, may contain anything. */
static int read_life(pid_t pid, struct life *out)
{
	char path[64], line[TEXT_BYTES];
	const char *at;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	if (claim_read_line(path, line, sizeof(line)) < 0)
		return -ENOENT;
	at = strrchr(line, ')');
	if (!at || sscanf(at, ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			  "%*s %*s %*s %*s %*s %*s %" SCNu64, &out->state,
			  &out->started) != 2)
		return -EINVAL;
	return 0;
}

static void write_text(char *out, size_t size)
{
	struct life life = { 0 };

	if (write_machine(out, size) < 0)
		snprintf(out, size, MAGIC);
	read_life(getpid(), &life);
	buffer_print(out, size, "process %ld\nstarted %" PRIu64 "\n", (long)getpid(),
		     life.started);
}

/* The number in the line that begins with `key` and a blank, or 0. */
static uint64_t claim_number_in(const char *text, const char *key)
{
	const char *line = strstr(text, key);

	return line ? strtoull(line + strlen(key), NULL, 10) : 0;
}

/*
 * Is the owner known to be dead? Only processes of the same pid namespace can be looked
 * up. kill(2) finds those that /proc hides.
 */
static bool owner_is_dead(const char *text)
{
	char where[TEXT_BYTES];
	uint64_t pid = claim_number_in(text, "\nprocess ");
	struct life life;

	if (write_machine(where, sizeof(where)) < 0 ||
	    strncmp(text, where, strlen(where)) != 0 || pid == 0 || pid > INT_MAX)
		return false;
	if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
		return true;
	if (read_life((pid_t)pid, &life) < 0)
		return false;
	return life.state == 'Z' || life.state == 'X' ||
	       life.started != claim_number_in(text, "\nstarted ");
}

/* ---- Reading a claim ------------------------------------------------------ */

struct claim_state {
	dev_t device;
	ino_t inode;
	uid_t uid;
	struct timespec touched;
	char text[TEXT_BYTES]; /* "": not readable by this user */
};

static int claim_parse(struct claim_state *look, int fd, const struct stat *st)
{
	ssize_t n = fd < 0 ? 0 : pread(fd, look->text, sizeof(look->text) - 1, 0);

	look->text[n < 0 ? 0 : n] = '\0';
	if (!S_ISREG(st->st_mode) ||
	    (n > 0 && strncmp(look->text, MAGIC, strlen(MAGIC)) != 0))
		return -EINVAL;
	look->device = st->st_dev;
	look->inode = st->st_ino;
	look->uid = st->st_uid;
	look->touched = st->st_mtim;
	return 0;
}

/*
 * Opens the claim, so that NFS asks the server. -ENOENT: no such file; -EINVAL: not a
 * claim. A FIFO does not block, a symlink is not followed.
 */
static int claim_read(const struct place *place, const char *name,
		      struct claim_state *out)
{
	CLEANUP(cleanup_close) int fd = place_read(place, name);
	struct stat st;
	int err = fd < 0 ? place_stat(place, name, &st) : fstat(fd, &st) < 0 ? -errno : 0;

	if (err)
		return err == -ESTALE ? -ENOENT : err;
	return claim_parse(out, fd, &st);
}

/* An inode number may be reused: then the text differs. */
static bool claim_is_same(const struct claim_state *a, const struct claim_state *b)
{
	return a->device == b->device && a->inode == b->inode &&
	       (!a->text[0] || !b->text[0] || strcmp(a->text, b->text) == 0);
}

static bool is_untouched(const struct claim_state *a, const struct claim_state *b)
{
	return a->touched.tv_sec == b->touched.tv_sec &&
	       a->touched.tv_nsec == b->touched.tv_nsec;
}

const char *claim_owner(const struct place *place, char out[CLAIM_OWNER_BYTES])
{
	struct claim_state look;
	char host[65];

	if (claim_read(place, suffix, &look) == 0 &&
	    sscanf(look.text, MAGIC "host %64s", host) == 1)
		snprintf(out, CLAIM_OWNER_BYTES, "%s (process %" PRIu64 ")", host,
			 claim_number_in(look.text, "\nprocess "));
	else
		snprintf(out, CLAIM_OWNER_BYTES, "another process");
	return out;
}

int claim_uid(const struct place *place, uid_t *out)
{
	struct claim_state look;
	int err = claim_read(place, suffix, &look);

	if (!err)
		*out = look.uid;
	return err;
}

/* ---- Holding a claim ----------------------------------------------------- */

/* Blocked signals are received in claim_wait_child only. Ignored ones stay ignored. */
static void claim_block_signals(struct claim *claim)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction action;

	sigemptyset(&claim->awaited);
	sigaddset(&claim->awaited, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, NULL, &claim->before);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!sigismember(&claim->before, ends[i]) &&
		    sigaction(ends[i], NULL, &action) == 0 &&
		    action.sa_handler != SIG_IGN)
			sigaddset(&claim->awaited, ends[i]);
	}
	pthread_sigmask(SIG_BLOCK, &claim->awaited, NULL);
}

void claim_detach_child(struct claim *claim)
{
	if (!claim)
		return;
	if (claim->fd >= 0)
		close(claim->fd);
	pthread_sigmask(SIG_SETMASK, &claim->before, NULL);
	free(claim);
}

/* On a full disk the claim stays empty, and is valid all the same. */
static void sign(const struct claim *claim)
{
	char text[TEXT_BYTES];

	write_text(text, sizeof(text));
	if (write(claim->fd, text, strlen(text)) < 0)
		return;
	place_touch(claim->place, claim->fd); /* NFS sends the text first */
}

int claim_acquire(const struct place *place, struct claim **out)
{
	struct claim *claim = calloc(1, sizeof(*claim));
	struct claim_state look;
	int err = 0;

	if (!claim)
		return -ENOMEM;
	claim_block_signals(claim);
	claim->place = place;
	claim->fd = place_create(place, suffix, 0644);
	if (claim->fd < 0)
		err = claim->fd;
	if (err == -EEXIST)
		err = claim_read(place, suffix, &look) == -EINVAL ? -EINVAL : -EEXIST;
	if (err) {
		claim_detach_child(claim);
		return err;
	}
	sign(claim);
	*out = claim;
	return 0;
}

/* Another process may have broken the claim, and a third one have claimed since. */
static void remove_own(const struct claim *claim)
{
	struct stat ours, there;

	if (fstat(claim->fd, &ours) == 0 && place_stat(claim->place, suffix, &there) == 0 &&
	    ours.st_dev == there.st_dev && ours.st_ino == there.st_ino)
		place_unlink(claim->place, suffix);
}

void claim_release(struct claim *claim)
{
	if (!claim)
		return;
	remove_own(claim);
	claim_detach_child(claim);
}

/* Returns only if the signal has a handler. */
static int end_by(const struct claim *claim, pid_t child, int number)
{
	remove_own(claim);
	child_end(child);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr); /* clear the child's line of progress */
	log_warn("interrupted: the index %s was not made", place_path(claim->place));
	pthread_sigmask(SIG_SETMASK, &claim->before, NULL);
	raise(number);
	pthread_sigmask(SIG_BLOCK, &claim->awaited, NULL);
	return -EINTR;
}

int claim_wait_child(struct claim *claim, pid_t child, unsigned touch_ms, int *status)
{
	const struct timespec pause = { touch_ms / 1000, touch_ms % 1000 * 1000000L };
	pid_t ended;

	while ((ended = waitpid(child, status, WNOHANG)) == 0) {
		int number = sigtimedwait(&claim->awaited, NULL, &pause);

		if (number > 0 && number != SIGCHLD)
			return end_by(claim, child, number);
		place_touch(claim->place, claim->fd);
	}
	return ended < 0 ? -errno : 0;
}

/* ---- Waiting for another process's claim --------------------------------- */

enum { ASIDE_BYTES = 8 }; /* of ".%06x" */

/*
 * A second name for a dead claim, the same in all processes: as long as that of a
 * temporary file of the index, and as short-lived.
 */
static void name_aside(const struct claim_state *dead, char out[ASIDE_BYTES])
{
	snprintf(out, ASIDE_BYTES, ".%06x", (unsigned)(dead->inode & 0xffffff));
}

static bool is_still(const struct place *place, const char *name,
		     const struct claim_state *dead)
{
	struct claim_state now;

	return claim_read(place, name, &now) == 0 && claim_is_same(dead, &now) &&
	       is_untouched(dead, &now);
}

/* For filesystems without hard links. A claim made meanwhile is renamed back. */
static int rename_away(const struct place *place, const char *aside,
		       const struct claim_state *dead)
{
	int err = place_rename(place, suffix, aside);

	if (err)
		return err == -ENOENT ? 0 : err;
	if (!is_still(place, aside, dead))
		place_link(place, aside, suffix);
	place_unlink(place, aside);
	return 0;
}

/*
 * Only one process can make the second name, and while it exists no other removes the
 * first: so the claim that was read is removed. -EAGAIN: another process breaks it.
 */
static int move_away(const struct place *place, const char *aside,
		     const struct claim_state *dead)
{
	int err = place_link(place, suffix, aside);

	if (err)
		return err == -EEXIST ? -EAGAIN : err == -ENOENT ? 0 :
		       rename_away(place, aside, dead);
	if (is_still(place, aside, dead))
		err = place_unlink(place, suffix);
	place_unlink(place, aside);
	return err == -ENOENT ? 0 : err;
}

/* `late`: the process that was breaking the claim has died. */
static int break_claim(const struct place *place, const struct claim_state *dead,
		       bool late)
{
	sigset_t termination, before;
	char aside[ASIDE_BYTES];
	struct claim_state now;
	int err = claim_read(place, suffix, &now);

	if (err || !claim_is_same(dead, &now) || !is_untouched(dead, &now))
		return err == -ENOENT ? 0 : err;
	name_aside(dead, aside);
	sigemptyset(&termination);
	sigaddset(&termination, SIGINT);
	sigaddset(&termination, SIGTERM);
	sigaddset(&termination, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &termination, &before);
	if (late)
		place_unlink(place, aside);
	err = move_away(place, aside, dead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* The next pause: pauses grow, so that a short wait stays short. */
static unsigned pause_after(unsigned pause, const struct claim_wait *wait)
{
	return 2 * pause < wait->poll_ms ? 2 * pause : wait->poll_ms;
}

/*
 * 0: the claim that was there first is gone. Time without a touch is counted in pauses,
 * because this process may have been stopped meanwhile.
 */
static int watch(const struct place *place, const struct claim_wait *wait)
{
	long long begin = bounded_now();
	unsigned untouched = 0, pause = 0;
	struct claim_state last, now;
	int err = claim_read(place, suffix, &last);

	while (!err && last.uid == wait->uid) {
		if (untouched >= wait->dead_ms || owner_is_dead(last.text)) {
			err = break_claim(place, &last, untouched >= 2 * wait->dead_ms);
			if (err != -EAGAIN)
				return err;
		}
		if (bounded_now() - begin >= wait->most_ms)
			return -ETIMEDOUT;
		pause = pause_after(pause ? pause : FIRST_PAUSE_MS / 2, wait);
		bounded_pause(pause);
		err = claim_read(place, suffix, &now);
		if (err || !claim_is_same(&last, &now))
			break;
		untouched = is_untouched(&last, &now) ? untouched + pause : 0;
		last = now;
	}
	return err == -ENOENT || err == -EINVAL ? 0 : err;
}

int claim_await(const struct place *place, struct claim_wait *wait)
{
	long long begin = bounded_now(), spent;
	int err = watch(place, wait);

	place_refresh(place);
	spent = bounded_now() - begin;
	wait->most_ms -= spent < wait->most_ms ? (unsigned)spent : wait->most_ms;
	return err;
}
