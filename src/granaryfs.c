/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * granaryfs: mounts packed datasets as the trees of files that were packed.
 *
 * This file has the command line and the life of the process; dataset/ has the contents
 * of the mount, fuse/ serves it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/log_ring.h"
#include "dataset/dataset.h"
#include "fuse/session.h"
#include "fuse/user_files.h"
#include "os/bounded.h"
#include "os/inherited.h"
#include "os/mounts.h"
#include "os/notify.h"
#include "os/place.h"
#include "os/process.h"
#include "os/rights.h"

/* Time for the reader of -o notify_pipe=, and for opening a mount point. */
enum { NOTIFY_PATIENCE_MS = 2000, MOUNTPOINT_MS = 5000 };

/* Time to end a daemon that failed. */
enum {
	DAEMON_MS = 1000,   /* after each signal, of */
	DAEMON_SIGNALS = 5, /* at most so many, */
	KILLED_MS = 2000,   /* then for SIGKILL, */
	CLEAR_MS = 12000,   /* and to unmount; fusermount3 has 10 s */
};

struct granaryfs_arguments {
	struct dataset_config dataset;
	struct mount_config mount;
	bool foreground;
	char **sources;
	size_t source_count;
	char *mountpoint; /* absolute, or /dev/fd/N; owned */
	int directory;    /* the mount point, O_PATH, or -1 */
	struct inherited inherited;
	struct dataset *opened;
	const char *compared; /* NULL, or a note on checksums that are not used */
	bool indexed;         /* just now: the indexer has told its findings */
	struct rights rights; /* of -o user= */
	struct notify notify;
	bool quiet;       /* another process prints the result */
};

/* The daemon's report to the launcher. */
struct granaryfs_report {
	int status;
	char text[sizeof(((struct error *)0)->text)];
};

/* For --help; src/format/ and src/stream/ themselves are not linked. */
static const char formats[] =
#define FORMAT(name, word, description, library) IF_##library("    " description "\n")
#include "format/formats.def"
#undef FORMAT
	"    tar compressed by one of:"
#define STREAM_KIND(variable, name, magic, library) IF_##library(" " name)
#include "stream/streams.def"
#undef STREAM_KIND
	"\n"
	;

static void granaryfs_print_help(void)
{
	puts("usage: granaryfs [-o OPT[,OPT...]] [-f] [-d] [-s] SOURCE... MOUNTPOINT\n"
	     "\n"
	     "Mounts packed datasets read-only, as the tree of files that was packed.\n"
	     "A SOURCE is a file of one of these formats, the first part of one that was cut, or\n"
	     "a quoted shard pattern such as 'train-{000..127}.tar':\n");
	puts(formats);
	puts("    -f    stay in the foreground\n"
	     "    -d    print every request (implies -f)\n"
	     "    -s    one request thread\n"
	     "    -h    this help\n"
	     "    -V    the version\n");
	options_print(dataset_options, stdout);
	options_print(mount_options, stdout);
	puts("\nUnmount with: granary umount MOUNTPOINT (or umount, or fusermount3 -u).");
	if (*BUG_ADDRESS)
		puts("Report bugs to: " BUG_ADDRESS);
	if (*HOME_URL)
		puts("Home page: " HOME_URL);
}

static int usage(struct error *e, const char *what)
{
	return error_set(e, ERROR_USAGE, EINVAL,
			 "%s; usage: granaryfs [-o OPTIONS] SOURCE... MOUNTPOINT", what);
}

/* 1: go on; 0: exit with success; or an error. */
static int parse_option(int option, char *const *argv, struct granaryfs_arguments *a,
			struct error *e)
{
	const struct option_target targets[] = {
		{ dataset_options, &a->dataset },
		{ mount_options, &a->mount },
	};
	int err;

	switch (option) {
	case 'o':
		err = options_apply(optarg, targets, 2, e);
		return err ? err : 1;
	case 'd':
		a->mount.debug = true;
		log_open("granaryfs", LOG_LEVEL_DEBUG);
		a->foreground = true;
		return 1;
	case 'f':
		a->foreground = true;
		return 1;
	case 's':
		a->mount.threads = 1;
		return 1;
	case 'h':
		granaryfs_print_help();
		return 0;
	case 'V':
		puts(PACKAGE_STRING);
		return 0;
	default:
		return options_getopt_error(option, argv, e);
	}
}

/* In a child: stat may hang. */
static int granaryfs_inspect(void *path)
{
	struct stat st;

	return stat(path, &st) < 0;
}

static int refuse_mountpoint(const char *given, int err, struct error *e)
{
	return error_set(e, ERROR_MOUNT, -err, "%s: %s%s", given,
			 err == -ENOTDIR ? "the mount point must be a directory" :
				 strerror(-err),
			 err == -ENOENT ? "; make the directory first" : "");
}

/*
 * Opens the mount point, to mount on the same directory after indexing, and finds its
 * real path, for the daemon leaves its directory.
 */
static int resolve_mountpoint(struct granaryfs_arguments *a, const char *given,
			      struct error *e)
{
	if (strncmp(given, "/dev/fd/", 8) == 0) {
		a->mountpoint = strdup(given);
		return 0;
	}
	if (bounded_run(granaryfs_inspect, (void *)(uintptr_t)given, MOUNTPOINT_MS) ==
	    -ETIMEDOUT)
		return error_set(e, ERROR_MOUNT, ETIMEDOUT,
				 "%s: has not answered for %d s: something that is mounted on the "
				 "way hangs; unmount that first", given, MOUNTPOINT_MS / 1000);
	a->directory = place_open_directory(given, e);
	if (a->directory == -EPERM) {
		e->status = ERROR_MOUNT;
		return -EPERM;
	}
	if (a->directory >= 0)
		a->mountpoint = mounts_path_of(a->directory);
	else if (a->directory == -ENOTCONN || a->directory == -EACCES)
		/* a dead mount, which session_mount detaches, or another user's */
		a->mountpoint = mounts_path(given);
	else
		return refuse_mountpoint(given, a->directory, e);
	if (!a->mountpoint)
		a->mountpoint = realpath(given, NULL); /* without /proc */
	return a->mountpoint ? 0 : refuse_mountpoint(given, -errno, e);
}

static int parse_arguments(int argc, char **argv, struct granaryfs_arguments *a,
			   struct error *e)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int option, go;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":o:fdshV", longs, NULL)) >= 0) {
		go = parse_option(option, argv, a, e);
		if (go <= 0)
			return go;
	}
	if (argc - optind < 2)
		return usage(e, argc == optind ? "nothing to mount" :
			     "a source and a mount point are needed");
	a->sources = argv + optind;
	a->source_count = (size_t)(argc - optind - 1);
	go = resolve_mountpoint(a, argv[argc - 1], e);
	return go ? go : 1;
}

/* Closes all but the connection to the kernel, if another process has mounted. */
static void close_inherited(const struct granaryfs_arguments *a)
{
	bool mounted = a->mountpoint && strncmp(a->mountpoint, "/dev/fd/", 8) == 0;

	inherited_close(&a->inherited,
			mounted ? (int)strtol(a->mountpoint + 8, NULL, 10) : -1);
}

/* The log of a mount should have the time and reason of its end. */
static void log_more(void)
{
	if (log_level_now < LOG_LEVEL_INFO)
		log_open("granaryfs", LOG_LEVEL_INFO);
}

/* When the mount answers: leaves the caller's directory and streams. */
static void granaryfs_detach_caller(const struct granaryfs_arguments *a)
{
	if (chdir("/") < 0)
		log_debug("chdir: %s", strerror(errno));
	log_to_syslog();
	log_more();
	inherited_replace_streams();
	close_inherited(a);
}

static void send_report(int fd, int status, const struct error *e)
{
	struct granaryfs_report report = { .status = status };

	snprintf(report.text, sizeof(report.text), "%s", e->text);
	if (write(fd, &report, sizeof(report)) < 0)
		log_debug("nobody waits for the report");
	close(fd);
}

/* The rights of -o user=, or NULL without that option. */
static const struct rights *rights_of_option(const struct granaryfs_arguments *a)
{
	return a->mount.user ? &a->rights : NULL;
}

/* The same, or NULL if they are this process's own. */
static const struct rights *rights_of_another(const struct granaryfs_arguments *a)
{
	return a->mount.user && a->rights.uid != geteuid() ? &a->rights : NULL;
}

static int open_log(struct granaryfs_arguments *a, struct error *e)
{
	int err = a->mount.log ? user_log(rights_of_another(a), a->mount.log, e) : 0;

	if (!err && a->mount.log)
		log_more();
	return err;
}

/* Is the mount's log where the indexer writes? */
static bool logs_to_stderr(const struct granaryfs_arguments *a)
{
	return a->foreground && !a->mount.log;
}

static void write_note(const char *line, void *mountpoint)
{
	log_notice("%s: %s", (const char *)mountpoint, line);
}

/* Writes the notes of granary info to the mount's log or the terminal. */
static void write_notes(const struct granaryfs_arguments *a, bool told)
{
	if (!told)
		dataset_for_each_note(a->opened, write_note, a->mountpoint);
	if (a->compared)
		write_note(a->compared, a->mountpoint);
}

/* In the supervisor: mounts, reports, serves. `report_fd`: -1 in the foreground. */
static int granaryfs_serve(struct granaryfs_arguments *a, struct session *session,
			   int report_fd, struct error *e)
{
	int err;

	signal(SIGPIPE, SIG_IGN); /* the launcher may have ended */
	err = session_mount(session, a->mountpoint, a->directory, e);
	if (!err)
		err = open_log(a, e);
	if (a->directory >= 0)
		close(steal_fd(&a->directory));
	if (report_fd >= 0 && !err)
		granaryfs_detach_caller(a);
	if (!err)
		err = session_start(session, &a->notify, report_fd, e);
	if (report_fd >= 0) {
		if (!err)
			setsid();
		prctl(PR_SET_PDEATHSIG, 0);
		send_report(report_fd, err ? (int)e->status : 0, e);
	}
	if (err)
		return (int)e->status;
	log_info("%s: mounted", a->mountpoint);
	write_notes(a, a->indexed && logs_to_stderr(a));
	notify_ready(&a->notify, "the mount answers");
	a->quiet = true;
	err = session_serve(session);
	if (err)
		log_error("%s: %s", a->mountpoint, strerror(-err));
	return err ? ERROR_SYSTEM : 0;
}

/*
 * 1: the report was read; 0: the daemon has ended, or a signal came. A stopped daemon is
 * continued, since its caller waits.
 */
static int read_report(int report_fd, int signals, pid_t daemon,
		       struct granaryfs_report *report)
{
	struct pollfd fds[] = { { .fd = report_fd, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };
	int ready;

	while ((ready = poll(fds, 2, DAEMON_MS)) == 0 || (ready < 0 && errno == EINTR))
		kill(daemon, SIGCONT);
	if (fds[1].revents)
		return 0;
	/* a write of less than PIPE_BUF arrives whole or not at all */
	return read(report_fd, report, sizeof(*report)) == sizeof(*report);
}

/* 0: no dead mount of granaryfs is there; mounts_detach_dead may need time to see that. */
static int clear_dead_mount(void *mountpoint)
{
	struct mount_entry entry;

	for (long long end = bounded_now() + KILLED_MS; bounded_now() < end; bounded_pause(50)) {
		if (mounts_find(mountpoint, &entry) != 1 || !entry.granaryfs)
			return 0;
		mounts_detach_dead(mountpoint, entry.id);
	}
	return 1;
}

/* Unmounts after a daemon that could not. */
static void clear_up(const struct granaryfs_arguments *a)
{
	bounded_run(clear_dead_mount, a->mountpoint, CLEAR_MS);
}

/* The first signal lets readers finish, the second does not. */
static bool ends_by_signal(pid_t daemon)
{
	int status;

	for (int i = 0; i < DAEMON_SIGNALS; i++) {
		kill(daemon, SIGTERM);
		kill(daemon, SIGCONT);
		if (bounded_wait(daemon, &status, DAEMON_MS) != 0)
			return true;
	}
	return false;
}

/*
 * A signal to the launcher is meant for the mount, which must be gone when the launcher
 * ends by the signal.
 */
static void end_daemon(const struct granaryfs_arguments *a, int signals, pid_t daemon)
{
	struct signalfd_siginfo info;
	sigset_t one;
	int status;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (!ends_by_signal(daemon)) {
		kill(daemon, SIGKILL);
		bounded_wait(daemon, &status, KILLED_MS);
		clear_up(a);
	}
	signal((int)info.ssi_signo, SIG_DFL);
	raise((int)info.ssi_signo);
	sigemptyset(&one);
	sigaddset(&one, (int)info.ssi_signo);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* In the launcher: waits for the daemon's report or end. */
static int await_report(const struct granaryfs_arguments *a, int report_fd, int signals,
			pid_t daemon, struct error *e)
{
	struct granaryfs_report report;
	int status, reported = read_report(report_fd, signals, daemon, &report);

	end_daemon(a, signals, daemon);
	if (reported) {
		e->status = (enum error_status)report.status;
		snprintf(e->text, sizeof(e->text), "%s", report.text);
		return report.status;
	}
	if (bounded_wait(daemon, &status, KILLED_MS) == 1 && WIFSIGNALED(status))
		error_set(e, ERROR_MOUNT, EIO, "the daemon ended by signal %d (%s)",
			  WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		error_set(e, ERROR_MOUNT, EIO, "the daemon ended before the mount answered");
	clear_up(a);
	return ERROR_MOUNT;
}

/* Blocks signals that end a program, and returns a signalfd for them. */
static int open_end_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * Closing another user's packed files may wait for storage that only that user can end.
 */
static void granaryfs_exit(const struct granaryfs_arguments *a, int status)
{
	if (!rights_of_another(a))
		return;
	if (a->directory >= 0)
		close(a->directory);
	close_inherited(a);
	process_leave(status);
}

/* Reports the result to the caller, the log and -o notify_pipe=. */
static int granaryfs_conclude(struct granaryfs_arguments *a, int status,
			      const struct error *e)
{
	if (status && !a->quiet) {
		/* the indexer has printed the error */
		if (*e->text)
			log_error("%s", e->text);
		notify_failed(&a->notify, e);
		notify_close(&a->notify, NOTIFY_PATIENCE_MS);
	}
	return status;
}

/*
 * An automounter's mount point is open only to its process group until the mount is made:
 * autofs(5). So the daemon stays in that group and session until its last access. The
 * terminal must not stop it meanwhile. Signals to end it are blocked: the launcher gets
 * them too.
 */
static void stay_with_caller(void)
{
	signal(SIGTSTP, SIG_IGN);
	signal(SIGTTIN, SIG_IGN);
	signal(SIGTTOU, SIG_IGN);
}

static int daemonise(struct granaryfs_arguments *a, struct session *session,
		     struct error *e)
{
	pid_t child = -1, parent = getpid();
	int fds[2], status, signals = open_end_signals();

	if (signals < 0 || pipe2(fds, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		error_set(e, ERROR_SYSTEM, errno, "the daemon cannot be started: %s",
			  strerror(errno));
		return ERROR_SYSTEM;
	}
	if (child == 0) {
		close(fds[0]);
		close(signals);
		a->quiet = true;
		/* until the report: if the launcher is killed, no mount is wanted */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			return ERROR_SYSTEM;
		stay_with_caller();
		return granaryfs_serve(a, session, fds[1], e);
	}
	close(fds[1]);
	status = await_report(a, fds[0], signals, child, e);
	/* scripts have the log, and the indexer has written its findings */
	if (!status && !a->indexed && isatty(STDERR_FILENO))
		write_notes(a, false);
	/* the child owns the session now: _exit undoes nothing here */
	status = granaryfs_conclude(a, status, e);
	granaryfs_exit(a, status);
	_exit(status);
}

static int open_pipe(struct granaryfs_arguments *a, struct error *e)
{
	return user_pipe(rights_of_another(a), a->mount.notify_pipe, &a->notify, e);
}

static int granaryfs_open_dataset(struct granaryfs_arguments *a, struct error *e)
{
	struct dataset_info info;
	int err;

	a->dataset.tells_all = logs_to_stderr(a) || isatty(STDERR_FILENO);
	err = dataset_open_as(rights_of_another(a), &a->dataset, a->sources, a->source_count,
			      &a->opened, e);
	if (!err && dataset_info(a->opened, &info) == 0) {
		a->indexed = info.indexed;
		a->compared = dataset_compared_note(info.compared);
	}
	return err;
}

/* Opens everything that needs the rights of -o user=, with exactly these. */
static int prepare(struct granaryfs_arguments *a, struct error *e)
{
	int err = session_prepare(&a->mount, e);

	if (!err && a->mount.user)
		err = rights_of_user(a->mount.user, &a->rights, e);
	if (!err)
		err = open_pipe(a, e);
	return err ? err : granaryfs_open_dataset(a, e);
}

/* Wrong arguments are reported to the reader of the FIFO, too. */
static int granaryfs_refuse(struct granaryfs_arguments *a, const struct error *e)
{
	struct error second;

	if (!a->mount.user || rights_of_user(a->mount.user, &a->rights, &second) == 0)
		open_pipe(a, &second);
	return granaryfs_conclude(a, (int)e->status, e);
}

static int granaryfs_run(struct granaryfs_arguments *a, struct error *e)
{
	struct session *session = NULL;
	int status;

	/* the trace may lie in the directory that becomes the mount point */
	if (prepare(a, e) < 0 || user_trace(rights_of_another(a), a->mount.trace, a->opened,
					    a->mountpoint, e) < 0 ||
	    session_new(a->opened, &a->mount, rights_of_option(a), &session, e) < 0)
		status = (int)e->status;
	else
		status = a->foreground ? granaryfs_serve(a, session, -1, e)
				       : daemonise(a, session, e);
	session_free(session);
	dataset_close(a->opened);
	return granaryfs_conclude(a, status, e);
}

int main(int argc, char **argv)
{
	struct granaryfs_arguments a = { .mount = MOUNT_CONFIG_INIT, .directory = -1,
			       .notify = NOTIFY_INIT };
	struct error e = { 0 };
	int go, status;

	inherited_guard_streams();
	log_open("granaryfs", LOG_LEVEL_WARN);
	log_ring_make();
	inherited_list(&a.inherited);
	go = parse_arguments(argc, argv, &a, &e);
	status = go > 0 ? granaryfs_run(&a, &e) : go < 0 ? granaryfs_refuse(&a, &e) : 0;
	granaryfs_exit(&a, status);
	inherited_free(&a.inherited);
	free(a.mountpoint);
	rights_free(&a.rights);
	dataset_config_free(&a.dataset);
	mount_config_free(&a.mount);
	return status;
}
