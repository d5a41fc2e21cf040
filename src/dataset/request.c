#include "dataset/request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/child.h"
#include "util/cleanup.h"

/* The indexer's exit status where it could not even be started. */
enum { STATUS_NO_EXEC = 127 };

/* `granary` lies beside `granaryfs`, installed or not. */
static int find_tool(char *out, size_t size, struct error *e)
{
	ssize_t n = readlink("/proc/self/exe", out, size - sizeof("granary"));
	char *slash;

	if (n < 0)
		return error_set(e, ERROR_SYSTEM, errno, "/proc/self/exe: %s; is /proc mounted?",
				 strerror(errno));
	out[n] = '\0';
	slash = strrchr(out, '/');
	memcpy(slash ? slash + 1 : out, "granary", sizeof("granary"));
	return 0;
}

/* -o with every option that matters to an indexer; commas in paths escaped. */
static char *option_argument(const struct dataset_config *config)
{
	char shape[CONFIG_TEXT_BYTES];
	const char *index = config->index ? config->index : "auto";
	size_t size = 2 * strlen(index) + CONFIG_TEXT_BYTES + 64;
	char *out = malloc(size), *at;

	if (!out)
		return NULL;
	at = out + snprintf(out, size, "%s,missing=%s,index=",
			    dataset_config_shape(config, UINT32_MAX, shape),
			    config->missing == MISSING_SKIP ? "skip" : "error");
	for (; *index; index++) {
		if (*index == ',' || *index == '\\')
			*at++ = '\\';
		*at++ = *index;
	}
	*at = '\0';
	return out;
}

static void exec_indexer(char **argv, int memory)
{
	sigset_t none;
	int fd = fcntl(memory, F_DUPFD, 3); /* without FD_CLOEXEC */
	char number[16];

	if (fd < 0)
		_exit(STATUS_NO_EXEC);
	snprintf(number, sizeof(number), "%d", fd);
	argv[3] = number;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(argv[0], argv);
	_exit(STATUS_NO_EXEC);
}

static int wait_for(pid_t child, const char *tool, char *const *sources, size_t n,
		    struct error *e)
{
	int status, err = child_wait(child, &status, e);

	if (!err)
		err = child_indexer_died(status, sources[0], n - 1, e);
	if (err)
		return err;
	if (WEXITSTATUS(status) == STATUS_NO_EXEC)
		return error_set(e, ERROR_SYSTEM, ENOENT,
				 "%s cannot be run: it makes the index, and belongs beside granaryfs",
				 tool);
	if (WEXITSTATUS(status) != 0)
		return error_set(e, (enum error_status)WEXITSTATUS(status), EBADMSG, "%s", "");
	return 0;
}

static int run_indexer(char **argv, int memory, char *const *sources, size_t n,
		       struct error *e)
{
	pid_t child;
	int err = child_fork(&child, e);

	if (err)
		return err;
	if (child == 0)
		exec_indexer(argv, memory);
	return wait_for(child, argv[0], sources, n, e);
}

/* An empty memfd means that the index went to a file. */
static int take_memory(int fd_taken, int *memory, struct error *e)
{
	CLEANUP(cleanup_close) int fd = fd_taken;
	struct stat st;

	*memory = -1;
	if (fstat(fd, &st) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return error_set(e, ERROR_SYSTEM, errno, "memfd: %s", strerror(errno));
	if (st.st_size > 0)
		*memory = steal_fd(&fd);
	return 0;
}

int request_index(const struct dataset_config *config, char *const *sources,
		  size_t source_count, int *memory, struct error *e)
{
	char tool[PATH_MAX + sizeof("granary")];
	CLEANUP(cleanup_free) char *options = option_argument(config);
	CLEANUP(cleanup_free) char **argv = calloc(source_count + 8, sizeof(*argv));
	CLEANUP(cleanup_close) int fd = memfd_create("granary index",
						     MFD_CLOEXEC | MFD_ALLOW_SEALING);
	size_t n = 0;
	int err;

	if (!options || !argv)
		return error_set(e, ERROR_SYSTEM, ENOMEM, "out of memory");
	if (fd < 0)
		return error_set(e, ERROR_SYSTEM, errno, "memfd_create: %s", strerror(errno));
	err = find_tool(tool, sizeof(tool), e);
	if (err)
		return err;
	argv[n++] = tool;
	argv[n++] = (char *)(uintptr_t)"index";
	argv[n++] = (char *)(uintptr_t)"--for-mount";
	argv[n++] = NULL; /* the descriptor's number, known in the child */
	argv[n++] = (char *)(uintptr_t)"-o";
	argv[n++] = options;
	argv[n++] = (char *)(uintptr_t)"--";
	memcpy(argv + n, sources, source_count * sizeof(*argv));
	err = run_indexer(argv, fd, sources, source_count, e);
	return err ? err : take_memory(steal_fd(&fd), memory, e);
}
