/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * private.c: mounts that end with a command.
 *
 * A daemon in the namespace of its own mount would hold the mount for ever. So there are
 * two namespaces. In the first a helper has granaryfs mount. The command gets the second,
 * a copy with all mounts. Then the helper detaches the mounts of the first. The rest
 * lives in the command's namespace, and ends with its last process; the FUSE connection
 * and its daemon end with it.
 */
#include "private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "granary.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "os/rights.h"

enum { PROBE_MS = 10, STATUS_NO_EXEC = 127 };

/* ---- The namespace ---- */

static long setting(const char *path)
{
	long value = -1;
	FILE *file = fopen(path, "re");

	if (file && fscanf(file, "%ld", &value) != 1)
		value = -1;
	if (file)
		fclose(file);
	return value;
}

static int private_refused(int errnum, struct error *e)
{
	const char *why = "the kernel, the container or the chroot that this runs in forbids them";

	if (setting("/proc/sys/user/max_user_namespaces") == 0 || errnum == ENOSPC)
		why = "there may be no more of them: ask for sysctl user.max_user_namespaces=65536";
	else if (setting("/proc/sys/kernel/unprivileged_userns_clone") == 0)
		why = "only root may make them: ask for sysctl kernel.unprivileged_userns_clone=1";
	else if (setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1)
		why = "AppArmor forbids them: ask for sysctl "
		      "kernel.apparmor_restrict_unprivileged_userns=0, or a profile for granary";
	else if (errnum == EINVAL || errnum == ENOSYS)
		why = "the kernel was built without them (CONFIG_USER_NS)";
	return error_set(e, ERROR_SYSTEM, errnum,
			 "a private user namespace cannot be had (%s): %s; or mount with "
			 "granaryfs, which needs fusermount3", strerror(errnum), why);
}

static int private_write_file(const char *path, const char *text)
{
	CLEANUP(cleanup_close) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* The caller's ids stay as they are; all others are nobody. */
static int map_ids(uid_t uid, gid_t gid)
{
	char text[64];
	int err = private_write_file("/proc/self/setgroups", "deny");

	if (err && err != -ENOENT) /* before Linux 3.19 */
		return err;
	snprintf(text, sizeof(text), "%u %u 1", (unsigned)gid, (unsigned)gid);
	err = private_write_file("/proc/self/gid_map", text);
	if (err)
		return err;
	snprintf(text, sizeof(text), "%u %u 1", (unsigned)uid, (unsigned)uid);
	return private_write_file("/proc/self/uid_map", text);
}

static int cut_off(void)
{
	return mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ? -errno : 0;
}

/* setns enters the namespace's root; the caller's root and directory are restored. */
static int cut_off_at_root(void)
{
	CLEANUP(cleanup_close) int root = open("/", O_PATH | O_CLOEXEC);
	CLEANUP(cleanup_close) int here = open(".", O_PATH | O_CLOEXEC);
	CLEANUP(cleanup_close) int mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	int err;

	if (root < 0 || here < 0 || mounts < 0 || setns(mounts, CLONE_NEWNS) < 0)
		return -errno;
	err = cut_off();
	if (fchdir(root) < 0 || chroot(".") < 0 || fchdir(here) < 0)
		return -errno;
	return err;
}

int private_enter(struct error *e)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int err;

	if (unshare(CLONE_NEWNS) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			return private_refused(errno, e);
		err = map_ids(uid, gid);
		if (err)
			return private_refused(-err, e);
	}
	/* unmounts outside must arrive in here */
	err = cut_off();
	if (err == -EINVAL) /* a chroot into a directory: no mount begins at its root */
		err = cut_off_at_root();
	if (err)
		return error_set(e, ERROR_SYSTEM, -err,
				 "mounts cannot be kept private (%s): /proc has to be mounted, "
				 "and in a chroot root has to be allowed to make one; or mount "
				 "with granaryfs", strerror(-err));
	return 0;
}

/* ---- The helper ---- */

/*
 * Signals to the whole process group (Ctrl-C) and SIGPIPE must not end the helper, which
 * has to clean up. granaryfs gets these signals as the caller had them.
 */
static const int helper_ignores[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
enum { IGNORED_SIGNALS = sizeof(helper_ignores) / sizeof(helper_ignores[0]) };

struct helper {
	const struct private_mount *mounts;
	size_t count;
	const char *daemon;
	const char *options;
	int caller; /* closed when the caller has its copy, or has ended */
	int ready;  /* the caller waits at its other end */
	struct sigaction signals[IGNORED_SIGNALS]; /* as the caller has them */
};

static void run_daemon(const struct helper *h, const struct private_mount *m)
{
	struct error e;

	/* root keeps its rights when it runs a program; others in a namespace do not */
	if (geteuid() != 0 && rights_pass_on(CAP_SYS_ADMIN, &e) < 0)
		exit(report_error(&e));
	/* the command gets a copy of the mount, which changes no more */
	execl(h->daemon, "granaryfs", "-o", "shield=early", "-o", h->options ? h->options : "",
	      "--", m->source, m->directory, NULL);
	log_error("granaryfs cannot be run (%s): it has to lie beside granary",
		  strerror(errno));
	_exit(STATUS_NO_EXEC);
}

static bool caller_has_gone(const struct helper *h, int milliseconds)
{
	struct pollfd caller = { .fd = h->caller };

	return poll(&caller, 1, milliseconds) > 0;
}

static void ignore_signals(struct sigaction before[IGNORED_SIGNALS])
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	for (int i = 0; i < IGNORED_SIGNALS; i++)
		sigaction(helper_ignores[i], &ignore, &before[i]);
}

static void restore_signals(const struct sigaction before[IGNORED_SIGNALS])
{
	for (int i = 0; i < IGNORED_SIGNALS; i++)
		sigaction(helper_ignores[i], &before[i], NULL);
}

/* Runs granaryfs, which ends when its mount answers or has failed: its exit status. */
static int mount_one(const struct helper *h, const struct private_mount *m)
{
	pid_t child = fork(), ended;
	bool told = false;
	int status = 0;

	if (child < 0) {
		log_error("granaryfs cannot be run: %s", strerror(errno));
		return ERROR_SYSTEM;
	}
	if (child == 0) {
		restore_signals(h->signals);
		run_daemon(h, m);
	}
	while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
		if (!caller_has_gone(h, PROBE_MS))
			continue;
		if (!told)
			kill(child, SIGTERM); /* also ends its indexer or mount */
		told = true;
		poll(NULL, 0, PROBE_MS);
	}
	return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : ERROR_SYSTEM;
}

static void private_detach(const struct private_mount *mounts, size_t count)
{
	while (count-- > 0)
		umount2(mounts[count].directory, MNT_DETACH | UMOUNT_NOFOLLOW);
}

static int help(struct helper *h)
{
	int status = 0;
	size_t mounted = 0;

	ignore_signals(h->signals);
	while (!status && mounted < h->count && !caller_has_gone(h, 0)) {
		status = mount_one(h, &h->mounts[mounted]);
		mounted += !status;
	}
	if (mounted == h->count && write(h->ready, "", 1) == 1)
		caller_has_gone(h, -1);
	private_detach(h->mounts, mounted);
	return status;
}

/* ---- The caller ---- */

static int system_error(const char *what)
{
	log_error("%s: %s", what, strerror(errno));
	return ERROR_SYSTEM;
}

/* If the helper was killed, this process is still in the first namespace and detaches. */
static int private_reap(pid_t child, const struct helper *helper)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return ERROR_SYSTEM;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	private_detach(helper->mounts, helper->count);
	log_error("a process that was mounting was ended by a signal (%s)",
		  strsignal(WTERMSIG(status)));
	return ERROR_SYSTEM;
}

int private_mount_all(const struct private_mount *mounts, size_t count, const char *daemon,
		      const char *options)
{
	struct helper helper = {
		.mounts = mounts, .count = count, .daemon = daemon, .options = options
	};
	int caller[2] = { -1, -1 }, ready[2] = { -1, -1 }, status = 0;
	pid_t child = -1;
	char byte;

	if (pipe2(caller, O_CLOEXEC) < 0 || pipe2(ready, O_CLOEXEC) < 0 ||
	    (child = fork()) < 0)
		return system_error("a process cannot be started");
	if (child == 0) {
		close(caller[1]);
		close(ready[0]);
		helper.caller = caller[0];
		helper.ready = ready[1];
		_exit(help(&helper));
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1 && unshare(CLONE_NEWNS) < 0)
		status = system_error("a private mount namespace cannot be had");
	close(ready[0]);
	close(caller[0]);
	close(caller[1]);
	return status ? (private_reap(child, &helper), status)
		      : private_reap(child, &helper);
}
