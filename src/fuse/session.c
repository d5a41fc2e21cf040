/*
 * session.c: the mount and the request loop.
 *
 * The loop is our own, over fuse_session_receive_buf and
 * fuse_session_process_buf: every thread takes a request, answers it, and takes
 * the next. A read that waits for storage keeps its thread, so there are more
 * threads than processors. No clone_fd: requests that are read through a clone
 * are lost with the process that read them.
 */
#include "fuse/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuse/cpus.h"
#include "fuse/ops.h"
#include "stats/stats.h"
#include "util/cleanup.h"
#include "util/log.h"
#include "util/mounts.h"
#include "util/pool.h"

enum { THREADS_LEAST = 8, THREADS_MOST = 64, THREADS_LIMIT = 1024 };

static const char *const opens_words[] = { "hidden", "visible", NULL };

#define AT(member) offsetof(struct mount_config, member)
#define IGNORED(name) { name, OPTION_IGNORED, 0, NULL, NULL, NULL }

const struct option_spec mount_options[] = {
	{ "allow_other", OPTION_FLAG, AT(allow_other), NULL, NULL,
	  "let other users in, by the permissions of the files" },
	{ "uid", OPTION_UINT, AT(uid), NULL, "N", "owner of everything (the archive's)" },
	{ "gid", OPTION_UINT, AT(gid), NULL, "N", "group of everything (the archive's)" },
	{ "umask", OPTION_OCTAL, AT(umask), NULL, "OCTAL",
	  "permissions to take away (0)" },
	{ "opens", OPTION_CHOICE, AT(opens), opens_words, "hidden|visible",
	  "may the kernel open files without asking (hidden)" },
	{ "threads", OPTION_UINT, AT(threads), NULL, "N", "request threads (by processors)" },
	{ "cpus", OPTION_TEXT, AT(cpus), NULL, "auto|inherit|LIST",
	  "processors that they run on: 0-3:8, for one (auto)" },
	{ "noexec", OPTION_FLAG, AT(noexec), NULL, NULL, "nothing can be executed" },
	/* what mount(8), fstab and other FUSE programs pass: ours anyway, or nothing */
	IGNORED("ro"), IGNORED("rw"), IGNORED("nosuid"), IGNORED("nodev"),
	IGNORED("suid"), IGNORED("dev"), IGNORED("exec"), IGNORED("defaults"),
	IGNORED("atime"), IGNORED("noatime"), IGNORED("relatime"), IGNORED("norelatime"),
	IGNORED("nodiratime"), IGNORED("sync"), IGNORED("async"), IGNORED("dirsync"),
	IGNORED("auto"), IGNORED("noauto"), IGNORED("users"), IGNORED("nouser"),
	IGNORED("owner"), IGNORED("group"), IGNORED("_netdev"), IGNORED("nofail"),
	IGNORED("lazytime"), IGNORED("nolazytime"), IGNORED("iversion"), IGNORED("mand"),
	IGNORED("fsname"), IGNORED("subtype"),
	IGNORED("default_permissions"), IGNORED("x-*"), IGNORED("X-*"),
	{ NULL, OPTION_IGNORED, 0, NULL, NULL, NULL },
};

struct session {
	struct served served;
	struct fuse_session *fuse;
	char *mountpoint;      /* NULL until mounted */
	bool mounted_by_us;    /* not through /dev/fd/N */
	int mount_id;          /* to know it again when it is to go */
	int signals;           /* signalfd */
	int ended;             /* eventfd: the workers are gone */
	sigset_t signal_mask;
};

void mount_config_free(struct mount_config *config)
{
	options_free(mount_options, config);
}

int session_prepare(const struct mount_config *config, struct error *e)
{
	if (config->umask > 0777)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o umask=%o: permission bits go to 777", config->umask);
	return cpus_apply(config->cpus, e);
}

/* What libfuse says goes to our log; while mounting, into the error as well. */
static _Thread_local char fuse_said[256];

#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 7)
__attribute__((format(printf, 2, 0))) static void
log_from_fuse(enum fuse_log_level level, const char *format, va_list args)
{
	char line[1024];
	size_t n;

	vsnprintf(line, sizeof(line), format, args);
	n = strcspn(line, "\n");
	line[n] = '\0';
	if (level >= FUSE_LOG_DEBUG)
		log_write(LOG_LEVEL_DEBUG, "%s", line);
	else if (n)
		snprintf(fuse_said, sizeof(fuse_said), "%.250s", line);
}
#endif

/* -o for libfuse. The source's name may hold commas, which end an option. */
static char *fuse_options(const struct session *s, const char *source)
{
	const struct mount_config *config = s->served.config;
	size_t size = 2 * strlen(source) + 256;
	char *out = malloc(size), *at;

	if (!out)
		return NULL;
	at = out + snprintf(out, size, "ro,nosuid,nodev,%s%ssubtype=granaryfs,fsname=",
			    config->noexec ? "noexec," : "",
			    config->allow_other ? "allow_other,default_permissions," : "");
	for (; *source; source++) {
		if (*source == ',' || *source == '\\')
			*at++ = '\\';
		*at++ = *source;
	}
	*at = '\0';
	return out;
}

static int new_fuse_session(struct session *s, struct error *e)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct dataset_info info;
	CLEANUP(cleanup_free) char *options = NULL, *source = NULL;

	if (dataset_info(s->served.dataset, &info) < 0)
		return error_set(e, ERROR_SYSTEM, EIO, "the index cannot be read");
	source = realpath(info.first_source, NULL);
	options = fuse_options(s, source ? source : info.first_source);
	if (!options || fuse_opt_add_arg(&args, "granaryfs") ||
	    fuse_opt_add_arg(&args, "-o") || fuse_opt_add_arg(&args, options) ||
	    (s->served.config->debug && fuse_opt_add_arg(&args, "-d")))
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	s->fuse = fuse_session_new(&args, &granary_ops, sizeof(granary_ops), &s->served);
	fuse_opt_free_args(&args);
	if (!s->fuse)
		return error_set(e, ERROR_SYSTEM, EINVAL, "libfuse: %s", fuse_said);
	return 0;
}

int session_new(struct dataset *dataset, const struct mount_config *config,
		struct session **out, struct error *e)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	s->served = (struct served){ .dataset = dataset, .config = config };
	s->signals = s->ended = -1;
#if FUSE_VERSION >= FUSE_MAKE_VERSION(3, 7)
	fuse_set_log_func(log_from_fuse);
#endif
	err = new_fuse_session(s, e);
	if (err) {
		session_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	if (s->fuse && s->mountpoint)
		fuse_session_unmount(s->fuse); /* the connection, where it is open */
	if (s->mounted_by_us && s->mount_id != MOUNT_ID_UNKNOWN)
		mounts_detach(s->mountpoint, s->mount_id); /* what an abort leaves */
	if (s->fuse)
		fuse_session_destroy(s->fuse);
	if (s->signals >= 0)
		close(s->signals);
	if (s->ended >= 0)
		close(s->ended);
	free(s->mountpoint);
	free(s);
}

/* Mounting. */

static int mount_error(struct error *e, int errnum, const char *mountpoint,
		       const char *what)
{
	return error_set(e, ERROR_MOUNT, errnum, "%s: %s", mountpoint, what);
}

/* What mount(2) would refuse in its own words, or should have refused. */
static int check_mountpoint(const char *mountpoint, struct error *e)
{
	struct stat st;
	char type[64];

	if (stat(mountpoint, &st) < 0 && errno == ENOTCONN)
		return error_set(e, ERROR_MOUNT, ENOTCONN,
				 "%s: a mount whose daemon has died is in the way; clear it "
				 "with: granary umount '%s'", mountpoint, mountpoint);
	if (stat(mountpoint, &st) < 0)
		return mount_error(e, errno, mountpoint, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return mount_error(e, ENOTDIR, mountpoint,
				   "the mount point must be a directory");
	if (mounts_type(mountpoint, type, sizeof(type)) == 1 &&
	    strncmp(type, "fuse", 4) == 0)
		return error_set(e, ERROR_MOUNT, EBUSY,
				 "%s: is in use: %s is mounted there; unmount that first, "
				 "with: %s '%s'", mountpoint, type,
				 strcmp(type, MOUNT_TYPE) == 0 ? "granary umount" : "umount",
				 mountpoint);
	return 0;
}

static const char *why_not_mounted(void)
{
	if (access("/dev/fuse", F_OK) < 0)
		return "there is no /dev/fuse; load the kernel module fuse, or pass the "
		       "device into the container";
	if (access("/dev/fuse", R_OK | W_OK) < 0)
		return "/dev/fuse may not be used by this user; ask for its mode to be 0666, "
		       "or for root's help";
	return *fuse_said ? fuse_said : "the kernel refused the mount";
}

/*
 * Without root's rights libfuse runs fusermount3, which speaks to standard
 * error by itself. What it says becomes a part of our one sentence.
 */
static int mount_quietly(struct session *s, const char *mountpoint)
{
	CLEANUP(cleanup_close) int said = memfd_create("fusermount3", MFD_CLOEXEC);
	CLEANUP(cleanup_close) int stderr_before = -1;
	ssize_t n;
	int result;

	*fuse_said = '\0';
	if (geteuid() == 0 || said < 0)
		return fuse_session_mount(s->fuse, mountpoint);
	stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(said, STDERR_FILENO);
	result = fuse_session_mount(s->fuse, mountpoint);
	dup2(stderr_before, STDERR_FILENO);
	n = pread(said, fuse_said, sizeof(fuse_said) - 1, 0);
	fuse_said[n > 0 ? n : 0] = '\0';
	fuse_said[strcspn(fuse_said, "\n")] = '\0';
	return result;
}

/* The first request is INIT; once it is answered, the mount answers. */
static int answer_init(struct session *s, const char *mountpoint, struct error *e)
{
	struct fuse_buf request = { .mem = NULL };
	int n = 0;

	while (!s->served.initialised && !fuse_session_exited(s->fuse)) {
		n = fuse_session_receive_buf(s->fuse, &request);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		fuse_session_process_buf(s->fuse, &request);
	}
	free(request.mem);
	if (s->served.initialised && !fuse_session_exited(s->fuse))
		return 0;
	return mount_error(e, EPROTO, mountpoint, "the kernel did not begin the session");
}

static int block_signals(struct session *s)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };

	sigemptyset(&s->signal_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaddset(&s->signal_mask, numbers[i]);
	if (sigprocmask(SIG_BLOCK, &s->signal_mask, NULL) < 0)
		return -errno;
	s->signals = signalfd(-1, &s->signal_mask, SFD_CLOEXEC | SFD_NONBLOCK);
	s->ended = eventfd(0, EFD_CLOEXEC);
	return s->signals < 0 || s->ended < 0 ? -errno : 0;
}

/*
 * Root mounts on the directory that was looked at when the program started, not
 * on what its name leads to by now. (fusermount3 has rules of its own.)
 */
static int mount_pinned(struct session *s, const char *mountpoint, int directory)
{
	char pinned[64];

	snprintf(pinned, sizeof(pinned), "/proc/self/fd/%d", directory);
	return mount_quietly(s, directory >= 0 && geteuid() == 0 ? pinned : mountpoint);
}

int session_mount(struct session *s, const char *mountpoint, int directory,
		  struct error *e)
{
	bool passed = strncmp(mountpoint, "/dev/fd/", 8) == 0;
	int err = passed ? 0 : check_mountpoint(mountpoint, e);

	if (err)
		return err;
	/* a signal that comes from now on waits for session_serve, which unmounts */
	err = block_signals(s);
	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "signals: %s", strerror(-err));
	if (mount_pinned(s, mountpoint, directory) != 0)
		return mount_error(e, EPERM, mountpoint, why_not_mounted());
	s->mountpoint = strdup(mountpoint);
	if (!s->mountpoint)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	err = answer_init(s, mountpoint, e);
	s->mounted_by_us = !err && !passed;
	s->mount_id = s->mounted_by_us ? mounts_id(mountpoint) : MOUNT_ID_UNKNOWN;
	return err;
}

/* Serving. */

static void serve_requests(void *argument)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	struct session *s = argument;
	struct fuse_buf request = { .mem = NULL };

	while (!fuse_session_exited(s->fuse)) {
		int n = fuse_session_receive_buf(s->fuse, &request);

		if (n == -ENOMEM) { /* ours alone: the others serve on */
			nanosleep(&pause, NULL);
			continue;
		}
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			break;
		fuse_session_process_buf(s->fuse, &request);
	}
	free(request.mem);
	ops_thread_end();
	/* the connection has ended: the first thread that sees it tells the main
	   thread, and the others see it too */
	if (eventfd_write(s->ended, 1) < 0)
		log_error("eventfd: %s", strerror(errno));
}

static unsigned thread_count(const struct mount_config *config)
{
	unsigned n = 2 * cpus_count();

	if (config->threads)
		return config->threads < THREADS_LIMIT ? config->threads : THREADS_LIMIT;
	if (n < THREADS_LEAST)
		return THREADS_LEAST;
	return n < THREADS_MOST ? n : THREADS_MOST;
}

static void log_counters(void)
{
	for (int i = 0; i < COUNTER_COUNT; i++)
		log_notice("stats: %s %llu", counter_infos[i].name,
			   (unsigned long long)stats_get((enum counter)i));
	log_notice("stats: end");
}

/* 1: serve on; 0: end now, whoever still reads. */
static int handle_signal(struct session *s, unsigned *terminations)
{
	struct signalfd_siginfo info;
	int err;

	if (read(s->signals, &info, sizeof(info)) != sizeof(info))
		return 1;
	if (info.ssi_signo == SIGUSR1) {
		log_counters();
		return 1;
	}
	if (++*terminations > 1 || !s->mounted_by_us)
		return 0;
	err = mounts_detach(s->mountpoint, s->mount_id);
	if (err)
		log_warn("%s: unmounting: %s", s->mountpoint, strerror(-err));
	return err == 0;
}

/* Returns when the workers are gone (1), or may not be waited for (0). */
static int watch(struct session *s)
{
	struct pollfd fds[] = {
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->ended, .events = POLLIN },
	};
	unsigned terminations = 0;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return 0;
		if (fds[1].revents)
			return 1;
		if (fds[0].revents && !handle_signal(s, &terminations))
			return 0;
	}
}

int session_serve(struct session *s)
{
	unsigned threads = thread_count(s->served.config);
	struct pool *pool;
	int err = pool_start(&pool, threads);

	if (err)
		return err;
	for (unsigned i = 0; i < threads && !err; i++)
		err = pool_add(pool, serve_requests, s);
	/* threads that wait for a request cannot be woken but by the end of the
	   connection, and the end of the process is that */
	if (err || !watch(s))
		_exit(err ? ERROR_SYSTEM : 0);
	pool_finish(pool);
	return 0;
}
