/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "private.h"
#include "rehearse.h"
#include "os/bounded.h"
#include "base/cleanup.h"
#include "os/kernel.h"
#include "os/memory.h"
#include "os/sandbox.h"
#include "base/size.h"

enum { TEXT_BYTES = 64 * 1024, TRY_MS = 5000, MOUNTS_DEFAULT = 1000, FILES_LEAST = 1024,
       LOCKED_LEAST = 256 * 1024 };

/* ---- Findings, and files of /proc and /sys ---- */

__attribute__((format(printf, 3, 4))) static void
set_found(struct doctor_finding *f, enum verdict verdict, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(f->found, sizeof(f->found), format, args);
	va_end(args);
	f->verdict = verdict;
}

static void doctor_remedy(struct doctor_finding *f, const char *text)
{
	snprintf(f->remedy, sizeof(f->remedy), "%s", text);
}

static const char *path_in(const struct doctor_state *p, const char *path,
			   char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s%s", p->root, path);
	return out;
}

/* The file's text, at most TEXT_BYTES - 1; "" where there is no file. */
static const char *doctor_read_text(const struct doctor_state *p, const char *path,
				    char *out)
{
	char full[PATH_MAX];
	CLEANUP(cleanup_close) int fd = open(path_in(p, path, full), O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n;

	while (fd >= 0 && length < TEXT_BYTES - 1 &&
	       (n = read(fd, out + length, TEXT_BYTES - 1 - length)) > 0)
		length += (size_t)n;
	out[length] = '\0';
	return out;
}

/* The rest of the line that begins with this word, or NULL. */
static const char *doctor_line_of(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; text && *text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (strncmp(text, word, n) == 0)
			return text + n;
	}
	return NULL;
}

static long doctor_number_in(const struct doctor_state *p, const char *path)
{
	char text[TEXT_BYTES], *end;
	long value;

	doctor_read_text(p, path, text);
	value = strtol(text, &end, 10);
	return end == text ? -1 : value;
}

void doctor_begin(struct doctor_state *p, const char *root)
{
	char text[TEXT_BYTES];
	const char *effective;

	*p = (struct doctor_state){ .root = root };
	effective =
		doctor_line_of(doctor_read_text(p, "/proc/self/status", text), "CapEff:");
	p->may_mount = effective &&
		       (strtoull(effective, NULL, 16) >> CAP_SYS_ADMIN & 1) != 0;
}

/* ---- How to mount ---- */

static void check_device(struct doctor_state *p, struct doctor_finding *f)
{
	char path[PATH_MAX];
	CLEANUP(cleanup_close) int fd = open(path_in(p, "/dev/fuse", path),
					     O_RDWR | O_CLOEXEC);
	struct stat st;

	p->device = fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode);
	if (p->device) {
		set_found(f, VERDICT_OK, "can be opened");
	} else if (fd >= 0) {
		set_found(f, VERDICT_BAD, "is no device");
		doctor_remedy(f, "ask for: mknod /dev/fuse c 10 229");
	} else if (errno == EACCES || errno == EPERM) {
		set_found(f, VERDICT_BAD, "may not be opened by this user: %s",
			  strerror(errno));
		doctor_remedy(
			f,
			"ask for: chmod 666 /dev/fuse; in a container for that device to be "
			"allowed");
	} else {
		set_found(f, VERDICT_BAD, "%s", strerror(errno));
		doctor_remedy(
			f,
			"ask for: modprobe fuse; in a container for the device to be passed in");
	}
}

static void check_mount_right(struct doctor_state *p, struct doctor_finding *f)
{
	if (p->may_mount)
		set_found(f, VERDICT_OK, "this process may mount without help");
	else
		set_found(f, VERDICT_OK, "this process may not mount by itself: through "
			  "fusermount3");
}

/* Searches as libfuse does, and then in PATH. */
static bool find_helper(const struct doctor_state *p, char out[PATH_MAX])
{
	const char *path = getenv("PATH");
	char places[PATH_MAX];

	snprintf(places, sizeof(places), "/usr/bin:/bin:/usr/local/bin:%s", path ? path : "");
	for (char *rest = places, *place; (place = strsep(&rest, ":"));) {
		if (*place != '/')
			continue;
		snprintf(out, PATH_MAX, "%s%.2000s/fusermount3", p->root, place);
		if (access(out, F_OK) == 0)
			return true;
	}
	return false;
}

static void check_mtab(const struct doctor_state *p, struct doctor_finding *f)
{
	char path[PATH_MAX];

	if (p->may_mount || access(path_in(p, "/etc/mtab", path), F_OK) == 0)
		return;
	set_found(f, VERDICT_WARN, "looks for a mount's owner in %s, which is not there: "
		  "it will not unmount", path);
	doctor_remedy(f, "ask for: ln -s /proc/self/mounts /etc/mtab");
}

static void check_helper(struct doctor_state *p, struct doctor_finding *f)
{
	const enum verdict lacking = p->may_mount ? VERDICT_OK : VERDICT_BAD;
	char path[PATH_MAX];
	struct statvfs volume;
	struct stat st;

	if (!find_helper(p, path)) {
		set_found(f, lacking, "is not installed%s", p->may_mount ? ", nor needed"
			  : "");
		doctor_remedy(f,
			      p->may_mount
				      ? ""
				      : "ask for the package fuse3, or use granary run");
	} else if (stat(path, &st) < 0 || !(st.st_mode & S_ISUID) || st.st_uid != 0) {
		set_found(f, lacking, "%s is not set-uid root%s", path,
			  p->may_mount ? ", nor need it be" : "");
		doctor_remedy(
			f, p->may_mount
				   ? ""
				   : "ask for: chmod u+s, and root as its owner; or use "
				     "granary run");
	} else if (statvfs(path, &volume) == 0 && (volume.f_flag & ST_NOSUID)) {
		set_found(f, lacking, "%s is on a filesystem that is mounted nosuid",
			  path);
		doctor_remedy(f, "ask for it to be elsewhere, or use granary run");
	} else if (!p->may_mount && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) {
		set_found(f, VERDICT_BAD, "%s has no effect, for set-uid programs give "
			  "this process no rights (no_new_privs)", path);
		doctor_remedy(
			f,
			"start it outside of what set that (a container, a service), or use "
			"granary run");
	} else {
		set_found(f, VERDICT_OK, "%s is set-uid root", path);
		p->helper = true;
		check_mtab(p, f);
	}
}

static void check_allow_other(struct doctor_state *p, struct doctor_finding *f)
{
	char text[TEXT_BYTES];

	if (doctor_line_of(doctor_read_text(p, "/etc/fuse.conf", text),
			   "user_allow_other")) {
		set_found(f, VERDICT_OK, "is set: users may mount for others, with -o "
			  "allow_other");
	} else if (p->may_mount) {
		set_found(f, VERDICT_OK, "is not set; a user who may mount needs none");
	} else {
		set_found(f, VERDICT_WARN, "is not set: users mount for themselves only");
		doctor_remedy(
			f,
			"where others are to read: ask for that line in /etc/fuse.conf");
	}
}

static long count_fuse_mounts(const struct doctor_state *p)
{
	char path[PATH_MAX], line[8192];
	FILE *file = fopen(path_in(p, "/proc/self/mounts", path), "re");
	long n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += strstr(line, " fuse.") != NULL;
	if (file)
		fclose(file);
	return n;
}

static void check_mount_limit(struct doctor_state *p, struct doctor_finding *f)
{
	char text[TEXT_BYTES];
	const char *value =
		doctor_line_of(doctor_read_text(p, "/etc/fuse.conf", text), "mount_max");
	long most = MOUNTS_DEFAULT, now = count_fuse_mounts(p);

	if (value && (value = strpbrk(value, "0123456789")))
		most = strtol(value, NULL, 10);
	if (p->may_mount)
		set_found(f, VERDICT_OK, "%ld, not a limit for a user who may mount",
			  most);
	else
		set_found(f, now < most ? VERDICT_OK : VERDICT_BAD,
			  "%ld FUSE mounts for users, and there are %ld", most, now);
	if (f->verdict == VERDICT_OK)
		return;
	p->helper = false;
	doctor_remedy(f, "unmount unused mounts; or ask for a higher mount_max in "
		      "/etc/fuse.conf");
}

/* In a child, which shares `argument` with its parent. */
static int try_namespace(void *argument)
{
	struct error *e = argument;

	return private_enter(e) < 0;
}

/* The error of private_enter, or "" if it works. */
static void probe_namespace(char *out, size_t size)
{
	struct error *e = mmap(NULL, sizeof(*e), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int tried;

	snprintf(out, size, "cannot be had");
	if (e == MAP_FAILED)
		return;
	fflush(stdout); /* or the child would print it again */
	tried = bounded_run(try_namespace, e, TRY_MS);
	if (tried == 0 || *e->text)
		snprintf(out, size, "%.*s", (int)size - 1, e->text);
	munmap(e, sizeof(*e));
}

static void check_namespaces(struct doctor_state *p, struct doctor_finding *f)
{
	char text[sizeof(f->found)];

	if (doctor_number_in(p, "/proc/sys/user/max_user_namespaces") == 0 &&
	    !p->may_mount) {
		set_found(f, VERDICT_WARN, "there may be none: granary run cannot be "
			  "used");
		doctor_remedy(f, "ask for: sysctl user.max_user_namespaces=65536");
		return;
	}
	if (doctor_number_in(p, "/proc/sys/kernel/unprivileged_userns_clone") == 0 &&
	    !p->may_mount) {
		set_found(f, VERDICT_WARN, "only root may make them: granary run cannot "
			  "be used");
		doctor_remedy(f, "ask for: sysctl kernel.unprivileged_userns_clone=1");
		return;
	}
	probe_namespace(text, sizeof(text));
	p->namespaces = !*text;
	if (p->namespaces)
		set_found(f, VERDICT_OK, "can be had: granary run needs no fusermount3");
	else
		set_found(f, VERDICT_WARN, "%s", text);
}

/* ---- Security policies ---- */

/* Ubuntu's rule, since 23.10. */
static void check_apparmor(struct doctor_state *p, struct doctor_finding *f)
{
	static const char rule[] = "kernel.apparmor_restrict_unprivileged_userns";

	if (doctor_number_in(p,
			     "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") !=
	    1) {
		set_found(f, VERDICT_OK, "does not restrict users' namespaces");
	} else if (p->may_mount || p->namespaces) {
		set_found(f, VERDICT_OK, "restricts users' namespaces (%s), but not for "
			  "this process",
			  rule);
	} else {
		set_found(f, VERDICT_WARN, "gives users no rights in their namespaces "
			  "(%s): granary run cannot be used", rule);
		doctor_remedy(
			f,
			"ask for: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a "
			"profile for granary in /etc/apparmor.d that has the line: userns,");
	}
}

static void check_selinux(struct doctor_state *p, struct doctor_finding *f)
{
	long enforce = doctor_number_in(p, "/sys/fs/selinux/enforce");

	if (enforce < 0) {
		set_found(f, VERDICT_OK, "is not there");
	} else if (enforce == 0) {
		set_found(f, VERDICT_OK, "is permissive: it logs, and forbids nothing");
	} else {
		set_found(f, VERDICT_OK, "is enforcing: a mount's files are fusefs_t, "
			  "which confined services and containers may not read");
		doctor_remedy(
			f,
			"for containers: ask for setsebool -P virt_use_fusefs 1, or let root "
			"mount with -o context=system_u:object_r:container_file_t:s0");
	}
}

/* The restrictions for processes that parse and decode (os/sandbox.h). */
static void check_sandbox(struct doctor_state *p, struct doctor_finding *f)
{
	struct sandbox_support has;
	char landlock[32];

	sandbox_probe(&has);
	snprintf(landlock, sizeof(landlock), has.landlock ? "Landlock %d" : "no Landlock",
		 has.landlock);
	if (!has.calls) {
		set_found(f, VERDICT_WARN, "no seccomp, %s: the parser may call all of "
			  "the kernel, %s", landlock, has.landlock ? "and open no file" :
			  "with no capabilities");
		doctor_remedy(
			f, "use a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or arm64");
		return;
	}
	set_found(f, VERDICT_OK, "seccomp, %s: the parser opens and makes nothing%s",
		  landlock, has.nobody ? "" : ", but stays root here, since this root "
		  "may not become nobody");
	if (!has.landlock)
		doctor_remedy(
			f,
			"none is needed: Landlock (Linux 5.13, and in lsm= at boot) would "
			"forbid the same once more");
}

static void check_syslog(struct doctor_state *p, struct doctor_finding *f)
{
	char path[PATH_MAX];

	if (access(path_in(p, "/dev/log", path), F_OK) == 0)
		set_found(f, VERDICT_OK, "is there: mounts log to it");
	else
		set_found(f, VERDICT_OK, "is not there: the last lines of a mount's log "
			  "are in its .granaryfs/log, and -o log=PATH has all of them");
}

/* ---- How fast it will be ---- */

static void check_memory(struct doctor_state *p, struct doctor_finding *f)
{
	struct memory_state state = { 0 };
	struct memory *memory;
	char limit[SIZE_TEXT_BYTES], available[SIZE_TEXT_BYTES], text[SIZE_TEXT_BYTES];
	uint64_t budget = 0;
	struct error e;

	if (memory_open(p->root, &memory) < 0)
		return;
	memory_read_state(memory, &state);
	memory_close(memory);
	if (memory_budget(NULL, &state, &budget, &e) < 0)
		budget = 0;
	set_found(f, state.available < (UINT64_C(1) << 30) ? VERDICT_WARN : VERDICT_OK,
		  "%s may be used here (machine and control groups), %s are available; a "
		  "mount would take %s of it", size_text(state.limit, limit),
		  size_text(state.available, available), size_text(budget, text));
	if (f->verdict == VERDICT_WARN)
		doctor_remedy(
			f, "ask the batch system for more memory, or set -o cache=SIZE");
}

/* granaryfs raises its soft limit to the hard one. */
static void check_open_files(struct doctor_state *p, struct doctor_finding *f)
{
	struct rlimit limit = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	set_found(f, limit.rlim_max < FILES_LEAST ? VERDICT_WARN : VERDICT_OK,
		  "%" PRIu64 " may be open at once, at most; each shard of a set is one",
		  (uint64_t)limit.rlim_max);
	if (f->verdict == VERDICT_WARN)
		doctor_remedy(f, "ask for a higher hard limit (ulimit -Hn)");
}

/* A locked page is there at once for a server that takes over: src/fuse/slots.c */
static void check_locked_memory(struct doctor_state *p, struct doctor_finding *f)
{
	struct rlimit limit = { 0 };
	char text[SIZE_TEXT_BYTES];

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	if (limit.rlim_cur == RLIM_INFINITY || p->may_mount) {
		set_found(f, VERDICT_OK, "no limit");
		return;
	}
	set_found(f, limit.rlim_cur < LOCKED_LEAST ? VERDICT_WARN : VERDICT_OK,
		  "%s; granaryfs locks a page for each of its threads",
		  size_text(limit.rlim_cur, text));
	if (f->verdict == VERDICT_WARN)
		doctor_remedy(
			f,
			"ulimit -l 1024; without it a mount works, and may be slower when "
			"memory is short");
}

static void check_readahead(struct doctor_state *p, struct doctor_finding *f)
{
	char path[PATH_MAX];

	if (p->may_mount && access(path_in(p, "/sys/class/bdi", path), F_OK) == 0) {
		set_found(f, VERDICT_OK, "a mount's is raised to 512 KiB");
		return;
	}
	set_found(f, VERDICT_OK, "128 KiB, as the kernel gives users' mounts");
	doctor_remedy(f, p->may_mount
				 ? "ask for sysfs at /sys"
				 : "only for large files: let root mount, with -o user=");
}

/* ---- The kernel ---- */

/* Kernel features that granaryfs uses where they exist. */
static const struct {
	unsigned major, minor;
	const char *without;
} features[] = {
	{ 4, 18, "no user can mount in a namespace, and granary run does not work" },
	{ 4, 20, "symbolic links are asked for again and again" },
	{ 5, 1, "every opendir is a request" },
	{ 5, 11, "granary run has no shield: each open() of Python is a request" },
	{ 6, 5, "the shield is put up at the mount, and not once readers need it" },
	{ 6, 16, "no root with more than 10,000 names has a shield" },
};

static void check_kernel(struct doctor_state *p, struct doctor_finding *f)
{
	char release[TEXT_BYTES];
	unsigned major, minor;

	doctor_read_text(p, "/proc/sys/kernel/osrelease", release);
	release[strcspn(release, "\n")] = '\0';
	if (!kernel_parse(release, &major, &minor)) {
		set_found(f, VERDICT_WARN, "its version cannot be read; is /proc "
			  "mounted?");
		return;
	}
	set_found(f, VERDICT_OK, "Linux %.64s has all that is used", release);
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		if (major > features[i].major ||
		    (major == features[i].major && minor >= features[i].minor))
			continue;
		set_found(f, features[i].major < 6 ? VERDICT_WARN : VERDICT_OK,
			  "Linux %.64s: before %u.%u %s", release, features[i].major,
			  features[i].minor, features[i].without);
		return;
	}
}

static bool knows_filesystem(const struct doctor_state *p, const char *name)
{
	char text[TEXT_BYTES], word[64];

	snprintf(word, sizeof(word), "nodev\t%s\n", name);
	return strstr(doctor_read_text(p, "/proc/filesystems", text), word) != NULL;
}

/* Tries a mount in a private namespace, where one can be made. */
static void try_shield(struct doctor_finding *f)
{
	struct rehearsal_report report;

	rehearse(&report);
	if (report.result == REHEARSAL_SHIELDED) {
		set_found(f, VERDICT_OK, "a dataset was mounted with its shield, and all "
			  "of it was seen: root's mounts with allow_other have one, and "
			  "users' granary run");
		return;
	}
	set_found(f, VERDICT_WARN, report.result == REHEARSAL_BARE ?
		  "mounts have no shield here: %s" : "the shield could not be tried: %s",
		  report.why);
	doctor_remedy(
		f,
		report.result == REHEARSAL_BARE
			? "mounts work without it; each open() of Python before 3.14 sends an ioctl then"
			: "see the other lines; mounts work without it");
}

static void doctor_check_overlay(struct doctor_state *p, struct doctor_finding *f)
{
	if (!knows_filesystem(p, "overlay")) {
		set_found(f, VERDICT_WARN, "is not loaded: each open() of Python before "
			  "3.14 sends an ioctl");
		doctor_remedy(f, "ask for: modprobe overlay");
	} else if (!p->device || (!p->may_mount && !p->namespaces)) {
		set_found(f, VERDICT_OK, "is known, and needs the right to mount");
	} else if (*p->root) {
		set_found(f, VERDICT_OK, "is known; another machine's cannot be tried");
	} else {
		try_shield(f);
	}
}

static void check_control(struct doctor_state *p, struct doctor_finding *f)
{
	char text[TEXT_BYTES];

	if (strstr(doctor_read_text(p, "/proc/self/mounts", text), " fusectl ")) {
		set_found(f, VERDICT_OK, "is mounted: granary umount --force ends "
			  "readers");
		return;
	}
	set_found(f, VERDICT_WARN, "is not mounted: granary umount --force cannot end "
		  "readers, and umount does not wait for the end");
	doctor_remedy(f, "ask for: mount -t fusectl none /sys/fs/fuse/connections");
}

const struct check doctor_checks[] = {
	{ "/dev/fuse", check_device },
	{ "mount(2)", check_mount_right },
	{ "fusermount3", check_helper },
	{ "user_allow_other", check_allow_other },
	{ "mount_max", check_mount_limit },
	{ "namespaces", check_namespaces },
	{ "AppArmor", check_apparmor },
	{ "SELinux", check_selinux },
	{ "kernel", check_kernel },
	{ "overlayfs", doctor_check_overlay },
	{ "fusectl", check_control },
	{ "sandbox", check_sandbox },
	{ "syslog", check_syslog },
	{ "memory", check_memory },
	{ "read-ahead", check_readahead },
	{ "open files", check_open_files },
	{ "locked memory", check_locked_memory },
};

const size_t doctor_check_count = sizeof(doctor_checks) / sizeof(doctor_checks[0]);
