/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kill-servers: kills the server of a mount, and its successor, and so on.
 *
 *	kill-servers [-n TIMES] [-i MS] [-s SIGNAL,...] [-l] [-t] [-w SECONDS] [-S SEED]
 *		SUPERVISOR
 *
 * The server is the child of the process SUPERVISOR with the name granaryfs-serve;
 * other children, as a sanitizer's, are left alone. Each is killed (-s, by KILL; by one
 * of several in turn) at a random moment after it was seen first: half of them 0 to MS
 * (100) after it, evenly; one in ten at once; the others mostly within a tenth of MS.
 *
 * -l: all of its threads but the first only run when nothing else does, so that they
 * die last. -t: what ends a supervisor is sent to it first, which a server has to
 * ignore. -i -1: only when all its threads sleep, since there is nothing for it to do.
 *
 * Printed are how many living servers were killed, how many had died by themselves,
 * and how long the longest wait for a successor took. Status 0: TIMES were killed, and
 * each had a successor within SECONDS (20).
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SIGNALS_MAX = 8 };

struct killer {
	pid_t supervisor;
	unsigned times;
	double interval, patience; /* seconds */
	int signals[SIGNALS_MAX];
	unsigned signal_count;
	bool lowers;    /* the priority of its threads */
	bool also_ends; /* the signals that end a supervisor, first */
	uint64_t random;
	unsigned killed, missed;
	double longest;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void pause_for(double seconds)
{
	struct timespec ts = { .tv_sec = (time_t)seconds };

	ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
	nanosleep(&ts, NULL);
}

/* From 0 to 1; xorshift64*. */
static double random_part(struct killer *k)
{
	uint64_t x = k->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	k->random = x;
	return (double)(x * UINT64_C(0x2545f4914f6cdd1d) >> 11) / (double)(UINT64_C(1) << 53);
}

static double some_time(struct killer *k)
{
	double kind = random_part(k), part = random_part(k);

	if (kind < 0.1)
		return 0;
	if (kind < 0.6)
		return part * k->interval;
	return -log(1 - part) * k->interval / 10;
}

/* A line of a file below /proc/PID; "" if there is none. */
static const char *proc_line(pid_t pid, const char *name, char *line, int size)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	*line = '\0';
	file = fopen(path, "re");
	if (!file)
		return line;
	if (!fgets(line, size, file))
		*line = '\0';
	fclose(file);
	return line;
}

/* The state, behind the name, which may hold anything, in /proc/PID/stat. */
static char state_of(pid_t pid, const char *name)
{
	char line[512];
	const char *end = strrchr(proc_line(pid, name, line, sizeof(line)), ')');

	return end && end[1] == ' ' ? end[2] : '\0';
}

static bool lives(pid_t pid)
{
	char state = state_of(pid, "stat");

	return state && state != 'Z' && state != 'X';
}

static bool is_server(pid_t pid)
{
	char line[64];

	return strcmp(proc_line(pid, "comm", line, sizeof(line)), "granaryfs-serve\n") == 0;
}

/* A server that lives and is not `last`; or 0. */
static pid_t child_of(const struct killer *k, pid_t last)
{
	char name[64], line[512], *at = line;
	long pid;

	snprintf(name, sizeof(name), "task/%d/children", (int)k->supervisor);
	proc_line(k->supervisor, name, line, sizeof(line));
	while ((pid = strtol(at, &at, 10)) > 0)
		if ((pid_t)pid != last && lives((pid_t)pid) && is_server((pid_t)pid))
			return (pid_t)pid;
	return 0;
}

static pid_t await_child(struct killer *k, pid_t last)
{
	double start = now();
	pid_t pid;

	while (!(pid = child_of(k, last))) {
		if (now() - start > k->patience || !lives(k->supervisor))
			return 0;
		pause_for(0.0002);
	}
	if (last && now() - start > k->longest)
		k->longest = now() - start;
	return pid;
}

typedef bool thread_call(pid_t pid, pid_t thread);

/* Is it true for each of its threads? */
static bool all_threads(pid_t pid, thread_call *call)
{
	char path[64];
	DIR *threads;
	struct dirent *thread;
	bool all = true;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	threads = opendir(path);
	while (threads && (thread = readdir(threads)))
		if (isdigit((unsigned char)*thread->d_name))
			all = call(pid, (pid_t)strtol(thread->d_name, NULL, 10)) && all;
	if (threads)
		closedir(threads);
	return all;
}

static bool sleeps(pid_t pid, pid_t thread)
{
	char name[64];

	snprintf(name, sizeof(name), "task/%d/stat", (int)thread);
	return state_of(pid, name) == 'S';
}

/* The thread runs when nothing else does; the first thread stays as it is. */
static bool lower(pid_t pid, pid_t thread)
{
	const struct sched_param none = { .sched_priority = 0 };

	return thread == pid || sched_setscheduler(thread, SCHED_IDLE, &none) == 0;
}

static void await_moment(struct killer *k, pid_t pid)
{
	double end = now() + 1;

	if (k->interval >= 0) {
		pause_for(some_time(k));
		return;
	}
	pause_for(0.02);
	while (!all_threads(pid, sleeps) && now() < end)
		pause_for(0.002);
}

static bool has_ended(int pidfd, double seconds)
{
	struct pollfd fd = { .fd = pidfd, .events = POLLIN };

	return poll(&fd, 1, (int)(seconds * 1000)) > 0;
}

static int send_signal(int pidfd, int number)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}

/* For the supervisor, and not for a server. A new one may not ignore them yet. */
static void send_ends(int pidfd)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };

	pause_for(0.02);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		send_signal(pidfd, numbers[i]);
	pause_for(0.002);
}

/* Kills one server, and counts it if it lived. */
static void kill_one(struct killer *k, pid_t pid)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	int number = k->signals[k->killed % k->signal_count];

	if (pidfd < 0) {
		k->missed++;
		return;
	}
	await_moment(k, pid);
	if (k->lowers)
		all_threads(pid, lower);
	if (k->also_ends)
		send_ends(pidfd);
	if (has_ended(pidfd, 0) || send_signal(pidfd, number) < 0)
		k->missed++;
	else
		k->killed++;
	close(pidfd);
}

/* 0, or 1 where a successor failed to come. */
static int kill_all(struct killer *k)
{
	pid_t pid = await_child(k, 0);

	while (pid && k->killed < k->times) {
		kill_one(k, pid);
		pid = await_child(k, pid);
	}
	return pid == 0;
}

/* ---- Arguments ---- */

static int parse_signals(struct killer *k, char *list)
{
	static const struct {
		const char *name;
		int number;
	} known[] = { { "KILL", SIGKILL }, { "SEGV", SIGSEGV }, { "ABRT", SIGABRT },
		      { "BUS", SIGBUS }, { "STOP", SIGSTOP } };

	k->signal_count = 0;
	for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
		size_t i = 0, n = sizeof(known) / sizeof(known[0]);

		while (i < n && strcmp(word, known[i].name) != 0)
			i++;
		if (i == n || k->signal_count == SIGNALS_MAX)
			return -1;
		k->signals[k->signal_count++] = known[i].number;
	}
	return k->signal_count ? 0 : -1;
}

static int parse_option(struct killer *k, int option)
{
	switch (option) {
	case 'n':
		k->times = (unsigned)strtoul(optarg, NULL, 10);
		return 0;
	case 'i':
		k->interval = strtod(optarg, NULL) / 1000;
		return 0;
	case 's':
		return parse_signals(k, optarg);
	case 'l':
		k->lowers = true;
		return 0;
	case 't':
		k->also_ends = true;
		return 0;
	case 'w':
		k->patience = strtod(optarg, NULL);
		return 0;
	case 'S':
		k->random = strtoull(optarg, NULL, 10) + 1;
		return 0;
	default:
		return -1;
	}
}

static int parse(struct killer *k, int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:i:s:ltw:S:")) >= 0)
		if (parse_option(k, option) < 0)
			return -1;
	if (argc - optind != 1)
		return -1;
	k->supervisor = (pid_t)strtol(argv[optind], NULL, 10);
	return k->supervisor > 1 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct killer k = { .times = 1, .interval = 0.1, .patience = 20,
			    .signals = { SIGKILL }, .signal_count = 1,
			    .random = (uint64_t)getpid() };
	uint64_t seed;
	int status;

	if (parse(&k, argc, argv) < 0) {
		fprintf(stderr, "usage: kill-servers [-n TIMES] [-i MS] [-s SIGNAL,...] [-l] [-t] "
				"[-w SECONDS] [-S SEED] SUPERVISOR\n");
		return 2;
	}
	seed = k.random;
	for (int i = 0; i < 10; i++)
		random_part(&k);
	status = kill_all(&k);
	printf("killed %u\nmissed %u\nlongest_ms %.1f\nseed %" PRIu64 "\n", k.killed,
	       k.missed, k.longest * 1000, seed - 1);
	return status || k.killed < k.times;
}
