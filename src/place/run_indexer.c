/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "place/run_indexer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "os/child.h"
#include "os/program.h"
#include "os/rights.h"
#include "os/sealed.h"
#include "place/handover.h"

/* The exit status of a child that could not run the indexer. */
enum { STATUS_NO_EXEC = 127 };

/*
 * The argument of -o, with all options that an indexer uses; commas in paths are escaped.
 * Without the maps, which are handed over.
 */
static char *option_argument(const struct dataset_config *config)
{
	struct dataset_config given = *config;
	const char *index = config->index ? config->index : "auto";
	CLEANUP(cleanup_free) char *words = NULL;
	size_t size;
	char *out, *at;

	given.classes = given.names = NULL;
	words = dataset_config_words(&given, UINT32_MAX);
	size = words ? strlen(words) + 2 * strlen(index) + sizeof(",index=") : 0;
	out = words ? malloc(size) : NULL;
	if (!out)
		return NULL;
	at = out + snprintf(out, size, "%s,index=", words);
	for (; *index; index++) {
		if (*index == ',' || *index == '\\')
			*at++ = '\\';
		*at++ = *index;
	}
	*at = '\0';
	return out;
}

/* Arguments of the indexer. */
struct run_indexer_call {
	const char *tool;
	const char *options;
	bool tells_all; /* findings that are usual, too */
	const struct rights *rights; /* of another user, or NULL */
	const struct index_wish *wish;
	int list;   /* for --sources */
	int memory; /* for --for-mount */
};

/*
 * The indexer uses the descriptors. The path is for ps(1), and only the first one: no
 * source is opened by name. --caller, which the indexer reads first, has the process that
 * waits, and the ids to run with.
 */
static void exec_tool(const struct run_indexer_call *call, char *const *environment)
{
	const char *source = source_path(call->wish->sources->sources[0]);
	const char *mode = call->wish->unpack_to ? "--unpack" :
			   call->tells_all ? "--all-findings" : NULL;
	char memory[16], list[16], caller[64];

	snprintf(memory, sizeof(memory), "%d", call->memory);
	snprintf(list, sizeof(list), "%d", call->list);
	snprintf(caller, sizeof(caller), "%ld:%u:%u", (long)getppid(), (unsigned)geteuid(),
		 (unsigned)getegid());
	if (mode)
		execle(call->tool, call->tool, "index", "--for-mount", memory, "--caller", caller,
		       "-o", call->options, "--sources", list, mode, "--", source,
		       (char *)NULL, environment);
	execle(call->tool, call->tool, "index", "--for-mount", memory, "--caller", caller,
	       "-o", call->options, "--sources", list, "--", source, (char *)NULL,
	       environment);
}

/* ---- For another user ---- */

/* Variables that the indexer reads, also for tests. */
static bool is_passed_on(const char *variable)
{
	static const char *const names[] = {
		"HOME", "PATH", "LANG", "TERM", "NO_COLOR", "XDG_CACHE_HOME",
	};
	const char sanitizer[] = "SAN_OPTIONS";
	size_t n = strcspn(variable, "="), s = sizeof(sanitizer) - 1;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strlen(names[i]) == n && memcmp(variable, names[i], n) == 0)
			return true;
	}
	return strncmp(variable, "LC_", 3) == 0 ||
	       (n > s && memcmp(variable + n - s, sanitizer, s) == 0);
}

/* Selects from environ, which may be the administrator's. */
static char **small_environment(void)
{
	size_t n = 0, kept = 0;
	char **out;

	while (environ[n])
		n++;
	out = calloc(n + 1, sizeof(*out));
	for (size_t i = 0; out && i < n; i++) {
		if (is_passed_on(environ[i]))
			out[kept++] = environ[i];
	}
	return out;
}

/* Keeps standard error only, and leaves the terminal's session. */
static int run_indexer_detach_caller(void)
{
	CLEANUP(cleanup_close) int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    setsid() < 0)
		return -errno;
	return 0;
}

static void refuse_in_child(const struct error *e)
{
	log_error("%s", e->text);
	_exit(ERROR_SYSTEM);
}

/*
 * Runs the indexer with the caller's real id. Until the indexer has renounced that, the
 * user cannot trace it, not even between exec and its first instructions. With two
 * different ids the loader ignores the environment, and libraries get no variables.
 */
static void exec_for_another(const struct run_indexer_call *call)
{
	struct error e = { 0 };
	char **environment;

	if (rights_assume(call->rights, &e) < 0)
		refuse_in_child(&e);
	environment = small_environment();
	if (environment && run_indexer_detach_caller() == 0)
		exec_tool(call, environment);
}

/* ---- For oneself ---- */

/* Root's indexer parses as nobody, in a child of its own. */
static void exec_for_oneself(const struct run_indexer_call *call)
{
	struct error e = { 0 };

	if ((geteuid() == 0 ? rights_keep_for_children(&e) : rights_renounce(&e)) < 0)
		refuse_in_child(&e);
	exec_tool(call, environ);
}

/* In the child. */
static void exec_indexer(const struct run_indexer_call *call)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (handover_keep(call->wish, call->list, call->memory) < 0)
		_exit(STATUS_NO_EXEC);
	if (call->rights)
		exec_for_another(call);
	else
		exec_for_oneself(call);
	_exit(STATUS_NO_EXEC);
}

static int run_indexer_wait_for(pid_t child, const struct run_indexer_call *call,
				struct error *e)
{
	const struct source_set *sources = call->wish->sources;
	int status, err = child_wait(child, &status, e);

	if (!err)
		err = child_indexer_died(status, source_path(sources->sources[0]),
					 sources->count - 1, e);
	if (err)
		return err;
	if (WEXITSTATUS(status) == STATUS_NO_EXEC)
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "%s cannot be run by user id %u: it makes the index, and belongs "
				 "beside granaryfs, where everybody who mounts may run it",
				 call->tool,
				 (unsigned)(call->rights ? call->rights->uid : geteuid()));
	if (WEXITSTATUS(status) != 0)
		return error_set(e, (enum error_status)WEXITSTATUS(status), EBADMSG, "%s", "");
	return 0;
}

static int run_indexer(const struct run_indexer_call *call, struct error *e)
{
	pid_t child;
	int err = child_fork(&child, e);

	if (err)
		return err;
	if (child == 0)
		exec_indexer(call);
	return run_indexer_wait_for(child, call, e);
}

/* An empty memfd: the index was saved to a file. */
static int map_result(int fd_taken, int *memory, struct error *e)
{
	CLEANUP(cleanup_close) int fd = fd_taken;
	struct stat st;

	*memory = -1;
	int err = sealed_make(fd);

	if (!err && fstat(fd, &st) < 0)
		err = -errno;
	if (err)
		return error_set(e, ERROR_SYSTEM, -err, "memfd: %s", strerror(-err));
	if (st.st_size > 0)
		*memory = steal_fd(&fd);
	return 0;
}

int run_indexer_process(const struct dataset_config *config, const struct rights *rights,
			const struct index_wish *wish, int *memory, struct error *e)
{
	char tool[PROGRAM_PATH_BYTES];
	CLEANUP(cleanup_free) char *options = option_argument(config);
	CLEANUP(cleanup_close) int list = -1;
	CLEANUP(cleanup_close) int fd = memfd_create("granary index",
						     MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int err;

	if (!options)
		return error_no_memory(e, NULL);
	if (fd < 0)
		return error_set(e, ERROR_SYSTEM, errno, "memfd_create: %s", strerror(errno));
	err = program_find("granary", tool, e);
	if (!err)
		err = handover_write(wish, &list, e);
	if (!err)
		err = run_indexer(&(struct run_indexer_call){tool, options,
							     config->tells_all, rights, wish,
							     list, fd},
				  e);
	return err ? err : map_result(steal_fd(&fd), memory, e);
}
