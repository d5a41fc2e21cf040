/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * supervisor.c: forks servers.
 *
 * SIGCHLD reports most deaths of a server. But a thread of the server may wait in the
 * kernel for a page whose read died with the server: then the server cannot be reaped
 * until a successor has answered that read. So the supervisor also checks, a few times a
 * second, if all threads of the server are dead or stuck. All of them: a thread that is
 * about to end may still take a request with it. While no request comes the checks are
 * rare, so that the processor can sleep.
 */
#include "fuse/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/vec.h"
#include "fuse/signals.h"
#include "os/bounded.h"
#include "os/process.h"
#include "stats/stats.h"

enum {
	TICK_MS = 250,
	IDLE_TICK_MS = 2000,    /* while there is nothing to do */
	BAD_DEATHS_MOST = 10,   /* in a row, */
	BAD_DEATHS_SECONDS = 60, /* in so short a time */
	SHORT_TICK_MS = 5,      /* while there is no server that lives */
	FORK_PAUSE_MS = 100,    /* after a bad death */
	AGAIN_PAUSE_MS = 1000,  /* after a failed fork or thread start */
	END_MS = 300,           /* for a server to end, */
	GRACE_MS = 5000,        /* and to end after SIGKILL */
	REMOVAL_MS = 15000,     /* for the unmount; fusermount3 has 10 s */
	RELEASE_MS = 1000,      /* for a server that answers their reads */
	MESSAGES_A_PERIOD = 20,
};

struct supervisor {
	const struct supervision *what;
	int signals;             /* signalfd */
	pid_t server;            /* 0: none */
	VEC(pid_t) left;         /* dead, not reaped: a thread waits */
	bool left_more;          /* and others whose numbers are lost */
	bool wanting;            /* no server can begin: said once */
	bool crashed;            /* the last one did, or starved */
	int64_t start_at;        /* no server before that */
	uint64_t answered;       /* when it was started, by all before */
	uint64_t oom_kills;      /* on this machine, by then */
	unsigned bad_deaths;     /* in a row */
	int64_t bad_since;       /* the first of them */
	int64_t idle_since;      /* or the last look */
	int64_t over_since;      /* the connection has ended then */
	uint64_t activity;       /* the counters then */
	uint64_t counted;        /* all of them, at the last tick */
	unsigned terminations;
	pid_t removal;           /* the child that unmounts, or 0 */
	enum mount_removal removal_how;
	int64_t removal_since;
	bool notified;           /* the pipe of -o notify_pipe= is closed */
	bool ended;              /* there is nothing more to serve */
	int result;
};

/* Starting a server. */

/* In the child. Signals that end a program are the supervisor's, and stay blocked. */
static void become_server(const struct supervisor *s, pid_t parent)
{
	close(s->signals);
	if (s->what->report >= 0) {
		close(s->what->report);
		setsid(); /* the daemon is still in its caller's session */
	}
	notify_clear(s->what->notify);
	prctl(PR_SET_NAME, "granaryfs-serve");
	process_prefer_oom_kill(); /* rather than the supervisor */
	exit(s->what->serve(s->what->context, parent, s->crashed));
}

/* A server lacks a process, threads or memory: another attempt follows. */
static void report_missing_server(struct supervisor *s, const char *why)
{
	s->start_at = bounded_now() + AGAIN_PAUSE_MS;
	if (!s->wanting)
		log_error("%s: no server can begin (%s): whoever reads waits, and it is tried "
			  "again and again", s->what->mount->mountpoint, why);
	s->wanting = true;
}

static void start_server(struct supervisor *s)
{
	pid_t parent = getpid(), child = fork();

	if (child == 0)
		become_server(s, parent);
	s->server = child > 0 ? child : 0;
	if (child < 0) {
		report_missing_server(s, strerror(errno));
		return;
	}
	s->oom_kills = process_oom_kills();
	stats_add(COUNTER_servers_started, 1);
}

/* The end of one. */

/* 1: the process is reaped; 0: not yet. */
static int supervisor_reap(pid_t pid, int *status)
{
	pid_t reaped;

	do {
		reaped = waitpid(pid, status, WNOHANG);
	} while (reaped < 0 && errno == EINTR);
	return reaped == pid || (reaped < 0 && errno == ECHILD);
}

/* Without memory for its number the child counts as one of many. */
static void remember_left(struct supervisor *s, pid_t pid)
{
	if (vec_push(&s->left, pid) < 0)
		s->left_more = true;
}

static void remove_left(struct supervisor *s, pid_t pid)
{
	for (size_t i = 0; i < s->left.count; i++) {
		if (s->left.items[i] == pid) {
			s->left.items[i] = s->left.items[--s->left.count];
			return;
		}
	}
}

static bool are_left(struct supervisor *s)
{
	int status;

	for (size_t i = s->left.count; i > 0; i--) {
		if (supervisor_reap(s->left.items[i - 1], &status))
			remove_left(s, s->left.items[i - 1]);
	}
	return s->left.count || (s->left_more && waitpid(-1, &status, WNOHANG) >= 0);
}

/* True: the process is dead, or will never run user code again. */
static bool is_gone_within(pid_t server, int64_t milliseconds)
{
	int status;

	for (int64_t end = bounded_now() + milliseconds; bounded_now() < end; bounded_pause(5)) {
		if (supervisor_reap(server, &status) || process_cannot_run(server))
			return true;
	}
	return false;
}

static void end_server(struct supervisor *s)
{
	if (!s->server)
		return;
	kill(s->server, SUPERVISE_END);
	kill(s->server, SIGCONT);
	if (!is_gone_within(s->server, END_MS)) { /* the process may be stopped */
		kill(s->server, SIGKILL);
		is_gone_within(s->server, GRACE_MS);
	}
	remember_left(s, s->server);
	s->server = 0;
}

static void log_death(const struct slots_death *legacy, pid_t pid, int status)
{
	int number = legacy->signal;

	if (!number && status >= 0 && WIFSIGNALED(status))
		number = WTERMSIG(status);
	if (!log_allowed(MESSAGES_A_PERIOD))
		return;
	log_warn("the server (process %d) %s%s; another one takes over, and answers "
		 "%u requests that it left", (int)pid,
		 number ? "was ended by a signal: " : "has ended",
		 number ? strsignal(number) : "", legacy->requests);
}

static bool has_crashed(const struct slots_death *legacy, int status)
{
	return legacy->signal || process_ended_by_fault(status);
}

/*
 * A death is bad if the server crashed, ended by itself, or lacked memory before its
 * first answer. Kills by other processes are not counted.
 */
static bool is_bad(const struct supervisor *s, const struct slots_death *legacy,
		   int status, bool hungry)
{
	if (has_crashed(legacy, status) || (status >= 0 && WIFEXITED(status)))
		return true;
	return hungry && legacy->answered == s->answered;
}

static bool too_many_deaths(struct supervisor *s, bool bad)
{
	if (!bad) {
		s->bad_deaths = 0;
		return false;
	}
	if (s->bad_deaths == 0 || bounded_now() - s->bad_since > BAD_DEATHS_SECONDS * 1000) {
		s->bad_deaths = 0;
		s->bad_since = bounded_now();
	}
	return ++s->bad_deaths >= BAD_DEATHS_MOST;
}

static void supervisor_abandon(struct supervisor *s)
{
	log_error("%s: %d servers have died one after the other: the mount is given up, "
		  "and whoever reads there gets an error; unmount with: granary umount",
		  s->what->mount->mountpoint, BAD_DEATHS_MOST);
	s->ended = true;
	s->result = -EIO;
}

static bool has_exited(int status, int with)
{
	return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == with;
}

/* `status` as from wait(2), or -1: not reaped yet. */
static void after_death(struct supervisor *s, int status)
{
	bool hungry = process_oom_kills() != s->oom_kills;
	/* as after a stack overflow: no thread could report the crash */
	bool silent = process_ended_by_fault(status);
	struct slots_death legacy;
	pid_t pid = s->server;
	bool idle;

	if (status < 0)
		remember_left(s, pid);
	s->server = 0;
	slots_note_death(s->what->slots, hungry || silent, bounded_now() / 1000, &legacy);
	s->crashed = hungry || silent || legacy.signal;
	if (legacy.ended || has_exited(status, 0)) {
		s->ended = true;
		return;
	}
	s->wanting &= !legacy.ready;
	if (has_exited(status, SUPERVISE_AGAIN)) {
		report_missing_server(s, "not enough threads or memory");
		return;
	}
	log_death(&legacy, pid, status);
	if (too_many_deaths(s, is_bad(s, &legacy, status, hungry))) {
		supervisor_abandon(s);
		return;
	}
	idle = legacy.answered == s->answered;
	s->answered = legacy.answered;
	if (s->bad_deaths || (idle && legacy.requests))
		s->start_at = bounded_now() + FORK_PAUSE_MS;
	else
		start_server(s);
}

/* A server that root started has the user's id, and so that user may lower its limits. */
static void replace_limited(const struct supervisor *s)
{
	if (log_allowed(MESSAGES_A_PERIOD))
		log_warn("the server's limits were lowered (prlimit): another takes its place");
	kill(s->server, SIGKILL);
}

/* Checks if the server is dead and not reaped, or if the next one is to start. */
static void check_server(struct supervisor *s)
{
	if (s->server && process_is_stopped(s->server))
		kill(s->server, SIGKILL); /* as in reap_all, which may not be told */
	if (s->server && process_limits_lowered(s->server))
		replace_limited(s);
	if (s->server && process_cannot_run(s->server))
		after_death(s, -1);
	if (!s->server && !s->ended && bounded_now() >= s->start_at)
		start_server(s);
}

/* Signals. */

static void log_counters(void)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		log_notice("stats: %s %llu", counter_infos[i].name,
			   (unsigned long long)stats_get((enum counter)i));
	log_notice("stats: end");
}

static void end_at_once(struct supervisor *s)
{
	end_server(s);
	s->ended = true;
}

static void has_expired(struct supervisor *s, int err)
{
	const struct mount *mount = s->what->mount;

	if (!err)
		log_info("%s: unmounted, since it was not used", mount->mountpoint);
	else if (err != -EAGAIN && err != -EBUSY && err != -ESTALE)
		log_warn("%s: -o timeout=%u: it cannot be unmounted: %s", mount->mountpoint,
			 s->what->timeout, strerror(-err));
}

/* -ESTALE: another process was faster. */
static void has_been_detached(struct supervisor *s, int err)
{
	if (!err || err == -ESTALE)
		return;
	log_warn("%s: unmounting: %s", s->what->mount->mountpoint, strerror(-err));
	end_at_once(s);
}

static void after_removal(struct supervisor *s, int err)
{
	s->removal = 0;
	if (s->removal_how == MOUNT_DETACH)
		has_been_detached(s, err);
	else
		has_expired(s, err);
}

/* The unmount in progress is not waited for: the mount is detached instead. */
static void begin_removal(struct supervisor *s, enum mount_removal how)
{
	pid_t child = mount_remove(s->what->mount, how);

	s->removal_how = how;
	s->removal_since = bounded_now();
	s->removal = child > 0 ? child : 0;
	if (child <= 0)
		after_removal(s, child);
}

static void check_removal(struct supervisor *s)
{
	if (!s->removal || bounded_now() - s->removal_since < REMOVAL_MS)
		return;
	kill(s->removal, SIGKILL);
	after_removal(s, mount_removed(s->what->mount, -1));
}

/* The server has ended with the connection, and is reaped soon. */
static void conclude_removal(struct supervisor *s)
{
	int status;

	if (s->removal && bounded_wait(s->removal, &status, END_MS) > 0)
		after_removal(s, mount_removed(s->what->mount, status));
}

/* The first signal lets readers finish, the second does not. */
static void terminate(struct supervisor *s)
{
	const struct mount *mount = s->what->mount;

	front_watch_end(s->what->watch);
	log_info("%s: %s", mount->mountpoint, s->terminations ?
		 "ended by another signal" : "unmounted by a signal; ends when nobody reads");
	if (++s->terminations == 1)
		notify_stopping();
	if (s->terminations == 1 && mount->ours)
		begin_removal(s, MOUNT_DETACH);
	else
		end_at_once(s);
}

static void reap_all(struct supervisor *s)
{
	int status;
	pid_t pid;

	/* also servers that could not be reaped */
	while (!s->ended && (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid == s->removal && !WIFSTOPPED(status))
			after_removal(s, mount_removed(s->what->mount, status));
		else if (front_watch_reaped(s->what->watch, pid, status, bounded_now()))
			continue;
		else if (pid != s->server)
			remove_left(s, pid);
		else if (WIFSTOPPED(status))
			kill(pid, SIGKILL); /* stopped by its user: readers wait */
		else
			after_death(s, status);
	}
}

static void handle_signals(struct supervisor *s)
{
	struct signalfd_siginfo info;

	while (!s->ended && read(s->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			log_counters();
		else if (info.ssi_signo == SIGCHLD)
			reap_all(s);
		else
			terminate(s);
	}
}

/* The periodic checks. */

/*
 * fusermount3 cannot ask the kernel if a mount has been used. But if opens are visible,
 * each use is a request.
 */
static bool is_quiet(struct supervisor *s)
{
	uint64_t before = s->activity;

	s->activity = stats_requests();
	return s->activity == before;
}

static void expire(struct supervisor *s)
{
	const struct mount *mount = s->what->mount;

	if (!s->what->timeout || !mount->ours || s->terminations || s->removal ||
	    bounded_now() - s->idle_since < (int64_t)s->what->timeout * 1000)
		return;
	s->idle_since = bounded_now();
	if (!mount->by_helper)
		begin_removal(s, MOUNT_EXPIRE);
	else if (is_quiet(s))
		begin_removal(s, MOUNT_UNMOUNT);
}

/* The server reports the end; if it hangs, the kernel does. */
static bool supervisor_is_over(const struct supervisor *s)
{
	struct pollfd connection = { .fd = s->what->connection };

	return slots_has_ended(s->what->slots) ||
	       (poll(&connection, 1, 0) == 1 && (connection.revents & POLLERR));
}

/* A thread that waits for storage must not hold the ended filesystem. */
static void end_if_over(struct supervisor *s)
{
	if (!supervisor_is_over(s))
		s->over_since = bounded_now();
	else if (bounded_now() - s->over_since > GRACE_MS) {
		end_server(s);
		s->ended = true;
	}
}

static void tick(struct supervisor *s)
{
	check_server(s);
	check_removal(s);
	front_watch_tick(s->what->watch, bounded_now());
	expire(s);
	end_if_over(s);
	if (!s->notified)
		s->notified = notify_close(s->what->notify, 0);
}

/* Was there work since the last tick, or is an event awaited? */
static bool is_busy(struct supervisor *s)
{
	uint64_t before = s->counted;

	s->counted = stats_work();
	return s->counted != before || !s->notified || s->removal || slots_pending(s->what->slots) ||
	       supervisor_is_over(s);
}

/* Milliseconds to the next tick, if there is no signal before. */
static int next_tick(struct supervisor *s)
{
	int64_t left = IDLE_TICK_MS;

	if (!s->server)
		return SHORT_TICK_MS;
	if (is_busy(s))
		return TICK_MS;
	if (s->what->timeout)
		left = s->idle_since + (int64_t)s->what->timeout * 1000 - bounded_now();
	if (left < TICK_MS)
		return TICK_MS;
	return left < IDLE_TICK_MS ? (int)left : IDLE_TICK_MS;
}

struct supervisor *supervise_start(const struct supervision *what)
{
	struct supervisor *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->what = what;
	s->idle_since = bounded_now();
	s->signals = signals_open();
	if (s->signals >= 0) {
		start_server(s);
		return s;
	}
	errno = -s->signals;
	free(s);
	return NULL;
}

void supervise_abandon(struct supervisor *s)
{
	if (!s)
		return;
	end_server(s);
	close(s->signals);
	vec_free(&s->left);
	free(s);
}

static bool are_reaped_soon(struct supervisor *s)
{
	int64_t soon = bounded_now() + RELEASE_MS;

	while (are_left(s) && bounded_now() < soon)
		bounded_pause(SHORT_TICK_MS);
	return !are_left(s);
}

/*
 * A dead server whose thread waits for a read holds the connection, and no process
 * answers that read. So one more server begins, until that thread has ended.
 */
static void release_left(struct supervisor *s)
{
	int64_t end = bounded_now() + GRACE_MS;

	/* mostly they only take a moment to end */
	while (!supervisor_is_over(s) && !are_reaped_soon(s) && bounded_now() < end) {
		struct slots_death legacy;

		start_server(s);
		are_reaped_soon(s);
		end_server(s);
		slots_note_death(s->what->slots, false, bounded_now() / 1000, &legacy);
	}
}

int supervise(struct supervisor *s)
{
	struct pollfd signals = { .fd = s->signals, .events = POLLIN };
	int result;

	while (!s->result && !s->ended) {
		if (poll(&signals, 1, next_tick(s)) > 0)
			handle_signals(s);
		if (!s->ended)
			tick(s);
	}
	end_server(s);
	conclude_removal(s);
	release_left(s);
	if (!s->terminations)
		notify_stopping();
	if (!s->result)
		log_info("%s: the filesystem has ended", s->what->mount->mountpoint);
	result = s->result;
	supervise_abandon(s);
	return result;
}
