/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * session.c: the options of a mount, and its life: mounted and INIT answered here,
 * then supervised.
 */
#include "fuse/session.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "dataset/read_ahead.h"
#include "fuse/cpus.h"
#include "fuse/front.h"
#include "fuse/kernel_inodes.h"
#include "fuse/mount.h"
#include "fuse/ops.h"
#include "fuse/page_cache.h"
#include "fuse/publish.h"
#include "fuse/readahead.h"
#include "fuse/server.h"
#include "fuse/signals.h"
#include "fuse/spin.h"
#include "fuse/supervisor.h"
#include "os/memory.h"
#include "os/processors.h"
#include "os/sandbox.h"
#include "stats/stats.h"
#include "trace/trace.h"

enum { THREADS_LEAST = 8, THREADS_MOST = 64, THREADS_LIMIT = 1024 };

static const char *const opens_words[] = { "hidden", "visible", NULL };
static const char *const prefetch_words[] = { "auto", "off", "window", "sweep", NULL };
static const char *const push_words[] = { "on", "off", NULL };
static const char *const shield_words[] = { "auto", "early", "on", "off", NULL };

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
	{ "user", OPTION_TEXT, AT(user), NULL, "NAME|UID",
	  "whose rights open the packed files; only root may say (the caller's)" },
	{ "timeout", OPTION_UINT, AT(timeout), NULL, "SECONDS",
	  "unmount when it was not used for so long (never)" },
	{ "notify_pipe", OPTION_TEXT, AT(notify_pipe), NULL, "PATH",
	  "a FIFO that is told when it is mounted (s), or not (f)" },
	{ "log", OPTION_TEXT, AT(log), NULL, "PATH", "the log, once mounted (syslog)" },
	{ "trace", OPTION_TEXT, AT(trace), NULL, "PATH",
	  "each request and read of storage, as DFTracer's lines (none)" },
	{ "cache", OPTION_TEXT, AT(cache), NULL, "SIZE|PCT%",
	  "the memory budget: 8G, 50% (half of what is available)" },
	{ "prefetch", OPTION_CHOICE, AT(prefetch), prefetch_words, "off|window|sweep|auto",
	  "what is read before it is asked for (auto)" },
	{ "push", OPTION_CHOICE, AT(push), push_words, "on|off",
	  "store what was read ahead in the kernel's page cache (on)" },
	{ "shield", OPTION_CHOICE, AT(shield), shield_words, "auto|early|on|off",
	  "a read-only overlay on top, for Python before 3.14 (auto)" },
	{ "context", OPTION_TEXT, AT(context), NULL, "LABEL",
	  "SELinux's label of all files; no shield then (the policy's)" },
	{ "spin", OPTION_UINT, AT(spin), NULL, "USEC",
	  "how long a thread polls before it sleeps (adaptive)" },
	/*
	 * options that mount(8), fstab and other FUSE programs pass: implied or without
	 * effect
	 */
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
	const struct rights *rights; /* NULL: the caller's */
	struct fuse_session *fuse;
	struct slots *slots;
	struct ledger *prefetch;
	struct mount mount;
	char *source;                /* what the mount table shows */
	struct publication publication;
	struct front_setup front;
	struct supervision supervision;
	struct supervisor *supervisor; /* between session_start and session_serve */
};

void mount_config_free(struct mount_config *config)
{
	options_free(mount_options, config);
}

/*
 * mount(8) may leave quotes around a value with commas. An overlay in front would show
 * its own labels.
 */
static int check_context(struct mount_config *config, struct error *e)
{
	char *label = config->context;
	size_t n = label ? strlen(label) : 0;

	if (!label)
		return 0;
	if (n > 1 && *label == '"' && label[n - 1] == '"') {
		memmove(label, label + 1, n - 2);
		label[n - 2] = '\0';
	}
	if (!*label || n > MOUNT_CONTEXT_MOST || strpbrk(label, "\"\\\n"))
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o context=%.100s: a label is wanted, such as "
				 "system_u:object_r:container_file_t:s0", label);
	if (config->shield == SHIELD_ON)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o shield=on,context=: a shield would hide the label; leave one "
				 "of them out");
	config->shield = SHIELD_OFF;
	return 0;
}

int session_prepare(struct mount_config *config, struct error *e)
{
	int err;

	if (config->umask > 0777)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o umask=%o: permission bits go to 777", config->umask);
	if (config->spin > SPIN_MOST_US && config->spin != MOUNT_SPIN_ADAPTIVE)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o spin=%u: no thread polls for longer than %d microseconds; "
				 "0 is never", config->spin, SPIN_MOST_US);
	err = check_context(config, e);
	if (!err)
		err = front_check(config, e);
	if (!err)
		err = memory_budget_of_process(config->cache, &config->budget, e);
	return err ? err : cpus_apply(config->cpus, e);
}

/* A value may hold commas, which end an option. Escapes them. */
static char *add_escaped(char *at, const char *value)
{
	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			*at++ = '\\';
		*at++ = *value;
	}
	*at = '\0';
	return at;
}

/* The options that libfuse needs, although another process may mount. */
static char *fuse_options(const struct mount_config *config, const char *source)
{
	const char *context = config->context ? config->context : "";
	size_t size = 2 * strlen(source) + 2 * strlen(context) + 256;
	char *out = malloc(size), *at;

	if (!out)
		return NULL;
	at = out + snprintf(out, size, "ro,nosuid,nodev,%s%s%s",
			    config->noexec ? "noexec," : "",
			    config->allow_other ? "allow_other,default_permissions," : "",
			    *context ? "context=" : "");
	at = add_escaped(at, context);
	at = stpcpy(at, *context ? ",subtype=granaryfs,fsname=" : "subtype=granaryfs,fsname=");
	add_escaped(at, source);
	return out;
}

/* The source that the mount table shows. */
static char *source_name(const struct session *s)
{
	struct dataset_info info;

	/* not resolved again, as that would use root's rights */
	return dataset_info(s->served.dataset, &info) < 0 ? NULL : strdup(info.first_place);
}

static int new_fuse_session(struct session *s, struct error *e)
{
	const struct mount_config *config = s->served.config;
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	CLEANUP(cleanup_free) char *options = s->source ? fuse_options(config, s->source) : NULL;

	if (!options || fuse_opt_add_arg(&args, "granaryfs") ||
	    fuse_opt_add_arg(&args, "-o") || fuse_opt_add_arg(&args, options) ||
	    (config->debug && fuse_opt_add_arg(&args, "-d")))
		return error_no_memory(e, NULL);
	s->fuse = fuse_session_new(&args, &granary_ops, sizeof(granary_ops), &s->served);
	fuse_opt_free_args(&args);
	if (!s->fuse)
		return error_set(e, ERROR_SYSTEM, EINVAL, "libfuse: %s",
				 mount_fuse_message());
	return 0;
}

/* The number of -o threads=, or two for each processor that this process may run on. */
static unsigned choose_threads(const struct mount_config *config)
{
	return config->threads ? config->threads : 2 * processors_count();
}

static unsigned session_thread_count(const struct mount_config *config)
{
	unsigned n = choose_threads(config);

	if (config->threads)
		return n < THREADS_LIMIT ? n : THREADS_LIMIT;
	if (n < THREADS_LEAST)
		return THREADS_LEAST;
	return n < THREADS_MOST ? n : THREADS_MOST;
}

/* Announces a sweep to processes that read .granaryfs before a server has begun. */
static void announce(const struct dataset *dataset, const struct mount_config *config)
{
	struct dataset_info info;

	if (dataset_info(dataset, &info) == 0)
		stats_set(COUNTER_dataset_bytes, info.summary.bytes);
	stats_set(COUNTER_budget_bytes, config->budget);
	stats_set(COUNTER_name_bytes, TREE_NAME_BYTES);
	if (config->prefetch == PREFETCH_SWEEP)
		prefetch_announce(dataset, config->budget);
	else if (config->prefetch != PREFETCH_AUTO)
		stats_set(COUNTER_sweep_limit, LIMIT_OFF);
	else
		stats_set(COUNTER_sweep_limit, LIMIT_NO_LOADER);
}

int session_new(struct dataset *dataset, const struct mount_config *config,
		const struct rights *rights, struct session **out, struct error *e)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return error_no_memory(e, NULL);
	s->rights = rights;
	s->publication = (struct publication)PUBLICATION_INIT;
	mount_log_from_fuse();
	err = served_init(&s->served, dataset, config, rights ? rights->uid : getuid(),
			  rights ? rights->gid : getgid(), e);
	s->source = err ? NULL : source_name(s);
	if (!err)
		err = new_fuse_session(s, e);
	if (!err) {
		s->slots = slots_new(session_thread_count(config));
		s->prefetch = prefetch_memory_new(dataset);
		s->served.inodes = inodes_new(tree_count(dataset_tree(dataset)));
		if (!s->slots || !s->prefetch || !s->served.inodes ||
		    publish_prepare(&s->publication, s->source, s->served.uid) < 0)
			err = error_no_memory(e, NULL);
		else
			announce(dataset, config);
	}
	if (err) {
		session_free(s);
		return err;
	}
	s->served.labels = s->publication.labels;
	*out = s;
	return 0;
}

static void stop(struct session *s)
{
	supervise_abandon(s->supervisor);
	s->supervisor = NULL;
	if (s->mount.mountpoint)
		mount_end(&s->mount, s->fuse);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	front_watch_free(s->supervision.watch);
	stop(s);
	if (s->fuse)
		fuse_session_destroy(s->fuse);
	slots_free(s->slots);
	prefetch_memory_free(s->prefetch);
	page_cache_free(s->served.push);
	inodes_free(s->served.inodes);
	publish_end(&s->publication);
	free(s->source);
	free(s);
}

/* The first request is INIT. Once INIT is answered, the mount answers. */
static int answer_init(struct session *s, struct error *e)
{
	struct fuse_buf request = { .mem = NULL };

	while (!s->served.initialised && !fuse_session_exited(s->fuse)) {
		int n = fuse_session_receive_buf(s->fuse, &request);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		s->served.first = &request;
		fuse_session_process_buf(s->fuse, &request);
	}
	s->served.first = NULL;
	free(request.mem);
	if (s->served.initialised && !fuse_session_exited(s->fuse))
		return 0;
	return error_set(e, ERROR_MOUNT, EPROTO, "%s: the kernel did not begin the session",
			 s->mount.mountpoint);
}

/* Can an unused mount be told from one that is in use? */
static int check_timeout(const struct session *s, struct error *e)
{
	const struct mount_config *config = s->served.config;

	if (!config->timeout || !s->mount.by_helper || config->opens == OPENS_VISIBLE)
		return 0;
	return error_set(e, ERROR_USAGE, EPERM,
			 "-o timeout=%u: without the right to mount, use of the mount can only be "
			 "seen with -o opens=visible; add that option", config->timeout);
}

int session_mount(struct session *s, const char *mountpoint, int directory,
		  struct error *e)
{
	const struct mount_config *config = s->served.config;
	const struct mount_wish wish = {
		.mountpoint = mountpoint, .directory = directory, .source = s->source,
		.uid = s->served.uid, .gid = s->served.gid,
		.allow_other = config->allow_other, .noexec = config->noexec,
		.context = config->context,
	};
	int err = signals_block();

	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "%s", strerror(-err));
	err = mount_make(&wish, s->fuse, &s->mount, e);
	if (!err)
		err = check_timeout(s, e);
	if (!err)
		publish_mount(&s->publication, &s->mount);
	if (!err)
		err = answer_init(s, e);
	if (!err && s->mount.ours)
		readahead_raise(s->mount.number);
	return err;
}

/* Serving. */

static int connection_to_close = -1;
static const struct session *session_to_end;

static void session_let_go(int number)
{
	page_cache_stop(session_to_end->served.push, session_to_end->slots,
			connection_to_close);
	/* intended, although other threads read from it: hidden from analysers */
	syscall(SYS_close, connection_to_close);
	kill(getpid(), SIGKILL);
}

static void install_end_handler(const struct session *s)
{
	session_to_end = s;
	connection_to_close = fuse_session_fd(s->fuse);
	signals_handle_end(session_let_go);
}

/* The server has no more rights than the process that opened the packed files. */
static int session_drop_rights(const struct session *s, pid_t supervisor)
{
	struct error e;
	int err;

	/* the user shares not even a terminal with this process */
	if (s->rights && s->rights->uid != geteuid())
		setsid();
	err = s->rights ? rights_become(s->rights, &e) : rights_renounce(&e);
	if (err) {
		log_error("%s", e.text);
		return -EPERM;
	}
	sandbox_forbid_changes();
	/* after the change of ids, which clears it */
	prctl(PR_SET_PDEATHSIG, SUPERVISE_END);
	return getppid() == supervisor ? 0 : -ESRCH;
}

static struct prefetch_config plan_prefetch(const struct session *s, bool crashed)
{
	const struct mount_config *config = s->served.config;

	return (struct prefetch_config){
		.windows = true, .sweep = config->prefetch != PREFETCH_WINDOW,
		.budget = config->budget, .threads = choose_threads(config),
		.crashed = crashed,
		.sink = s->served.push ? page_cache_sink(s->served.push) : NULL,
	};
}

/* A failure to read ahead is no error: all requests are served without it. */
static void start_prefetch(struct session *s, bool crashed)
{
	struct prefetch_config plan;
	int err;

	dataset_limit_cache(s->served.dataset, s->served.config->budget);
	if (s->served.config->prefetch == PREFETCH_OFF)
		return;
	if (s->served.config->push == PUSH_ON)
		s->served.push = page_cache_new(s->fuse, &s->served,
						s->mount.ours ? s->mount.mountpoint : NULL);
	plan = plan_prefetch(s, crashed);
	err = prefetch_start(s->served.dataset, s->prefetch, &plan, &s->served.prefetch);
	if (err)
		stats_set(COUNTER_sweep_limit, LIMIT_FAILED);
	if (err)
		log_warn("nothing is read ahead: %s", strerror(-err));
	if (s->served.prefetch && s->served.config->prefetch == PREFETCH_SWEEP)
		prefetch_sweep(s->served.prefetch);
}

static int serve(void *context, pid_t supervisor, bool crashed)
{
	struct session *s = context;
	int err;

	install_end_handler(s);
	err = session_drop_rights(s, supervisor);
	if (err)
		return ERROR_SYSTEM;
	trace_begin_server();
	start_prefetch(s, crashed);
	return server_run(&s->served, s->fuse, s->slots) < 0 ? SUPERVISE_AGAIN : 0;
}

/* Puts the front there, or waits for readers that need it. */
static int start_front(struct session *s, struct error *e)
{
	const struct mount_config *config = s->served.config;

	s->front = (struct front_setup){
		.config = config, .dataset = s->served.dataset, .rights = s->rights,
		.source = s->source, .inodes = s->served.inodes,
		.in_use = front_can_wait(&s->mount, config),
	};
	if (!s->front.in_use)
		return front_raise(&s->mount, &s->front, e);
	s->supervision.watch = front_watch_new(&s->mount, &s->front);
	if (!s->supervision.watch)
		return error_no_memory(e, NULL);
	front_log(&s->mount, false, "it comes once programs send an ioctl at each open()");
	return 0;
}

int session_start(struct session *s, struct notify *notify, int report, struct error *e)
{
	int err;

	s->supervision = (struct supervision){
		.serve = serve, .context = s, .slots = s->slots, .mount = &s->mount,
		.connection = fuse_session_fd(s->fuse), .notify = notify,
		.timeout = s->served.config->timeout, .report = report,
	};
	s->supervisor = supervise_start(&s->supervision);
	if (!s->supervisor)
		return error_set(e, ERROR_SYSTEM, errno, "%s", strerror(errno));
	err = start_front(s, e);
	if (err)
		stop(s); /* before the mount is announced */
	return err;
}

int session_serve(struct session *s)
{
	int err;

	s->supervision.report = -1;
	err = supervise(s->supervisor);
	s->supervisor = NULL;
	if (err)
		mount_free(&s->mount); /* dead, and to be seen as that */
	return err;
}
