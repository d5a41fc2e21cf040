/*
 * granaryfs: mounts packed datasets as the trees that they were.
 *
 * This file is the command line and the life of the process; what is mounted
 * is dataset/, how it is served is fuse/.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataset/dataset.h"
#include "fuse/session.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/vec.h"

struct arguments {
	struct dataset_config dataset;
	struct mount_config mount;
	bool foreground;
	char **sources;
	size_t source_count;
	char *mountpoint; /* absolute, or /dev/fd/N; owned */
	int directory;    /* the mount point, O_PATH, or -1 */
	VEC(int) inherited; /* descriptors */
};

/* What the daemon tells the process that started it. */
struct report {
	int status;
	char text[sizeof(((struct error *)0)->text)];
};

static void print_help(void)
{
	puts("usage: granaryfs [-o OPT[,OPT...]] [-f] [-d] [-s] SOURCE... MOUNTPOINT\n"
	     "\n"
	     "Mounts packed datasets read-only, as the tree of files that was packed.\n"
	     "A SOURCE is a tar file, or a quoted shard pattern: 'train-{000..127}.tar'.\n"
	     "\n"
	     "    -f    stay in the foreground\n"
	     "    -d    print every request (implies -f)\n"
	     "    -s    one request thread\n"
	     "    -h    this help\n"
	     "    -V    the version\n");
	options_print(dataset_options, stdout);
	options_print(mount_options, stdout);
	puts("\nUnmount with: granary umount MOUNTPOINT (or umount, or fusermount3 -u).");
}

static int usage(struct error *e, const char *what)
{
	return error_set(e, ERROR_USAGE, EINVAL,
			 "%s; usage: granaryfs [-o OPTIONS] SOURCE... MOUNTPOINT", what);
}

/* 1: go on; 0: all is said and done; or an error. */
static int parse_option(int option, char *const *argv, struct arguments *a,
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
		print_help();
		return 0;
	case 'V':
		puts(PACKAGE_STRING);
		return 0;
	default:
		return options_getopt_error(option, argv, e);
	}
}

/*
 * Opens the mount point, so that it is the same directory when indexing is
 * done, and takes its real path: the daemon leaves the folder it was started in.
 */
static int resolve_mountpoint(struct arguments *a, const char *given, struct error *e)
{
	if (strncmp(given, "/dev/fd/", 8) == 0) {
		a->mountpoint = strdup(given);
		return 0;
	}
	a->directory = open(given, O_PATH | O_CLOEXEC);
	a->mountpoint = realpath(given, NULL);
	if (a->mountpoint)
		return 0;
	if (errno != ENOTCONN) /* stale: for session_mount to explain */
		return error_set(e, ERROR_MOUNT, errno, "%s: %s%s", given, strerror(errno),
				 errno == ENOENT ? "; make the directory first" : "");
	a->mountpoint = strdup(given);
	return 0;
}

static int parse_arguments(int argc, char **argv, struct arguments *a, struct error *e)
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

/* Descriptors 0 to 2 must be somebody's, or an archive becomes one of them. */
static void guard_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * The descriptors that the caller left open: a lock file, another end of a
 * pipe. A daemon must not keep them, but an argument may be one of them
 * (/dev/fd/N), and so they are closed when everything is open that we need.
 */
static int note_inherited(struct arguments *a)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int err = 0;

	if (!folder)
		return 0;
	while (!err && (entry = readdir(folder))) {
		int fd = (int)strtol(entry->d_name, NULL, 10);

		if (fd > STDERR_FILENO && fd != dirfd(folder))
			err = vec_push(&a->inherited, fd);
	}
	closedir(folder);
	return err;
}

static void close_inherited(const struct arguments *a)
{
	for (size_t i = 0; i < a->inherited.count; i++) {
		char name[32];

		/* the connection to the kernel, where somebody else has mounted */
		snprintf(name, sizeof(name), "/dev/fd/%d", a->inherited.items[i]);
		if (strcmp(name, a->mountpoint) != 0)
			close(a->inherited.items[i]);
	}
}

static void close_standard_streams(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return;
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		dup2(fd, i);
	close(fd);
}

static int fail(const struct error *e)
{
	/* nothing to add where the indexer has spoken already */
	if (*e->text)
		log_error("%s", e->text);
	return (int)e->status;
}

/* What a daemon does when its mount answers. */
static void leave_caller(const struct arguments *a)
{
	if (chdir("/") < 0)
		log_debug("chdir: %s", strerror(errno));
	log_to_syslog();
	close_standard_streams();
	close_inherited(a);
}

static void send_report(int fd, int status, const struct error *e)
{
	struct report report = { .status = status };

	snprintf(report.text, sizeof(report.text), "%s", e->text);
	if (write(fd, &report, sizeof(report)) < 0)
		log_debug("nobody waits for the report");
	close(fd);
}

/* In the daemon: mounts, reports, serves. `report_fd` is -1 in the foreground. */
static int serve(struct arguments *a, struct session *session, int report_fd)
{
	struct error e = { 0 };
	int err, status;

	signal(SIGPIPE, SIG_IGN); /* the process that waits may be gone */
	err = session_mount(session, a->mountpoint, a->directory, &e);
	if (a->directory >= 0)
		close(a->directory);
	status = err ? (int)e.status : 0;
	if (report_fd < 0) {
		if (err)
			return fail(&e);
	} else {
		if (!err)
			leave_caller(a);
		prctl(PR_SET_PDEATHSIG, 0);
		send_report(report_fd, status, &e);
	}
	if (err)
		return status;
	err = session_serve(session);
	if (err)
		log_error("%s: %s", a->mountpoint, strerror(-err));
	return err ? ERROR_SYSTEM : 0;
}

/* 1: the report is there; 0: the daemon is gone, or a signal has come. */
static int read_report(int report_fd, int signals, struct report *report)
{
	struct pollfd fds[] = { { .fd = report_fd, .events = POLLIN },
				{ .fd = signals, .events = POLLIN } };

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[1].revents)
		return 0;
	/* one write of less than PIPE_BUF is read whole, or not at all */
	return read(report_fd, report, sizeof(*report)) == sizeof(*report);
}

/*
 * A signal to the process that waits is meant for the mount: there is none when
 * it has ended by that signal.
 */
static void end_daemon(int signals, pid_t daemon)
{
	struct signalfd_siginfo info;
	sigset_t one;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		return;
	kill(daemon, SIGTERM);
	while (waitpid(daemon, NULL, 0) < 0 && errno == EINTR)
		;
	signal((int)info.ssi_signo, SIG_DFL);
	raise((int)info.ssi_signo);
	sigemptyset(&one);
	sigaddset(&one, (int)info.ssi_signo);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
}

/* In the process that was started: what became of the daemon? */
static int await_report(int report_fd, int signals, pid_t daemon)
{
	struct report report;
	int status, reported = read_report(report_fd, signals, &report);

	end_daemon(signals, daemon);
	if (reported) {
		if (report.status)
			log_error("%s", report.text);
		return report.status;
	}
	if (waitpid(daemon, &status, 0) == daemon && WIFSIGNALED(status))
		log_error("the daemon ended by signal %d (%s)", WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	else
		log_error("the daemon ended before the mount answered");
	return ERROR_MOUNT;
}

/* Signals that end a program, as a descriptor that says when one has come. */
static int hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int daemonise(struct arguments *a, struct session *session)
{
	pid_t child = -1, parent = getpid();
	int fds[2], signals = hold_signals();

	if (signals < 0 || pipe2(fds, O_CLOEXEC) < 0 || (child = fork()) < 0) {
		log_error("the daemon cannot be started: %s", strerror(errno));
		return ERROR_SYSTEM;
	}
	if (child == 0) {
		close(fds[0]);
		close(signals);
		/* until the report: who kills the waiting process wants no mount */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			return ERROR_SYSTEM;
		setsid();
		return serve(a, session, fds[1]);
	}
	close(fds[1]);
	/* the session is the child's now: _exit, so that nothing is undone here */
	_exit(await_report(fds[0], signals, child));
}

static int run(struct arguments *a, struct error *e)
{
	struct dataset *dataset = NULL;
	struct session *session = NULL;
	int status;

	if (session_prepare(&a->mount, e) < 0 ||
	    dataset_open(&a->dataset, a->sources, a->source_count, &dataset, e) < 0 ||
	    session_new(dataset, &a->mount, &session, e) < 0)
		status = fail(e);
	else
		status = a->foreground ? serve(a, session, -1) : daemonise(a, session);
	session_free(session);
	dataset_close(dataset);
	return status;
}

int main(int argc, char **argv)
{
	struct arguments a = { .mount = MOUNT_CONFIG_INIT, .directory = -1 };
	struct error e = { 0 };
	int go, status;

	guard_standard_streams();
	log_open("granaryfs", LOG_LEVEL_WARN);
	note_inherited(&a);
	go = parse_arguments(argc, argv, &a, &e);
	status = go > 0 ? run(&a, &e) : go < 0 ? fail(&e) : 0;
	vec_free(&a.inherited);
	free(a.mountpoint);
	dataset_config_free(&a.dataset);
	mount_config_free(&a.mount);
	return status;
}
