/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/mount_failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

static const char device[] = "/dev/fuse";

/*
 * The messages of fusermount3 have not changed for years. libfuse's own changed once:
 * since 3.17 it spawns fusermount3. The first row whose text is in the message counts.
 */
static const struct {
	const char *message, *remedy;
} helpers[] = {
	{ "failed to exec", "it is not installed, or may not be run: ask for the package fuse3, "
			    "or use granary run" },
	{ "No such file or directory", "fusermount3 is not installed: ask for the package fuse3, "
				       "or use granary run" },
	{ "for fusermount3 failed", "it may not be run: ask for the package fuse3, or use granary run" },
	{ "unknown option 'context", "only root may label a mount: leave context= away" },
	{ "mount failed: Operation not permitted",
	  "fusermount3 is not set-uid root, or set-uid programs have no effect here (nosuid, "
	  "no_new_privs): granary doctor says which; granary run does without it" },
	{ "user_allow_other", "ask for that line, or leave allow_other away" },
	{ "too many FUSE filesystems", "unmount what nobody needs, or ask for a higher mount_max" },
	{ "write access to mountpoint", "mount at a directory of your own" },
	{ "mounting over filesystem type", "mount at a directory on another filesystem" },
};

static const char *remedy_of(const char *message)
{
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++) {
		if (strstr(message, helpers[i].message))
			return helpers[i].remedy;
	}
	return "granary doctor says what is lacking here";
}

static bool has_selinux(void)
{
	return access("/sys/fs/selinux/enforce", F_OK) == 0;
}

/* 0, or the errno of opening the device; ENOTTY: it is another device. */
static int try_device(void)
{
	CLEANUP(cleanup_close) int fd = open(device, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno;
	return fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) ? 0 : ENOTTY;
}

static const char *device_remedy(int errnum)
{
	switch (errnum) {
	case ENOENT:
		return "there is no /dev/fuse; ask for modprobe fuse, or pass the device into "
		       "the container (--device /dev/fuse)";
	case EACCES:
		return "/dev/fuse may not be used by this user; ask for its mode to be 0666, "
		       "or for root's help";
	case EPERM:
		return "/dev/fuse may not be opened, by the rules of a container, say; have it "
		       "passed in (--device /dev/fuse)";
	case ENOTTY:
		return "/dev/fuse is no device; ask for: mknod /dev/fuse c 10 229; in a "
		       "container for the device to be passed in (--device /dev/fuse)";
	default:
		return "/dev/fuse cannot be opened; granary doctor says why";
	}
}

/* Of mount(2); NULL: the errno is explanation enough. */
static const char *call_remedy(const struct mount_wish *wish, int errnum)
{
	switch (errnum) {
	case EPERM:
		return "this process may not mount (CAP_SYS_ADMIN), though it is root, as in "
		       "most containers: use granary run, or start the container with that "
		       "capability (--cap-add SYS_ADMIN)";
	case EACCES:
		return "a security policy forbids it (SELinux, AppArmor): ask for a rule, or "
		       "use granary run";
	case ENOENT:
		return access("/proc/self/fd", F_OK) < 0 ?
			       "/proc is not mounted; ask for: mount -t proc none /proc" : NULL;
	case ENODEV:
		return "the kernel does not know FUSE: ask for modprobe fuse";
	case ENOSPC:
		return "there are too many mounts here: unmount some, or ask for a higher "
		       "sysctl fs.mount-max";
	case EINVAL:
		return wish->context ? "the kernel does not take that label: is it one of the "
				       "policy's?" : NULL;
	default:
		return NULL;
	}
}

int mount_explain(const struct mount_wish *wish, int errnum, const char *message,
		  struct error *e)
{
	const char *at = wish->mountpoint, *remedy;
	int closed = try_device();

	if (closed)
		return error_set(e, ERROR_MOUNT, errnum, "%s: %s", at, device_remedy(closed));
	if (*message)
		return error_set(e, ERROR_MOUNT, errnum, "%s: %s; %s", at, message,
				 remedy_of(message));
	if (wish->context && errnum == EINVAL && !has_selinux())
		return error_set(e, ERROR_MOUNT, errnum, "%s: -o context=%s: this kernel has no "
				 "SELinux, or it is disabled: leave the option out", at,
				 wish->context);
	remedy = call_remedy(wish, errnum);
	return error_set(e, ERROR_MOUNT, errnum, "%s: %s%s%s", at,
			 errnum ? strerror(errnum) : "the kernel refused the mount",
			 remedy ? "; " : "", remedy ? remedy : "");
}
