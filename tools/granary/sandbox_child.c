/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sandbox_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "os/child.h"
#include "os/inherited.h"
#include "os/process.h"
#include "os/sandbox.h"
#include "source/parts.h"

static struct broker *broker; /* NULL in the parent */
static struct inherited inherited = { VEC_INIT };

struct broker *sandbox_child_broker(void)
{
	return broker;
}

/* ---- Sources that have gone stale -------------------------------------------- */

static int request_source(const char *place, const struct source_info *info, int *fd)
{
	(void)info; /* the parent has its own */
	if (!place)
		return -ENOENT;
	return broker_call(broker, SANDBOX_CHILD_SOURCE, 0, place, strlen(place), NULL,
			   NULL, fd);
}

static bool is_asked_for(const char *path, const struct broker_request *question)
{
	return path && strlen(path) == question->size &&
	       memcmp(path, question->data, question->size) == 0;
}

/* The file of that place, among the parts of all sources; or NULL. */
static const struct source *find_asked_for(const struct source_set *sources,
					   const struct broker_request *question)
{
	for (uint32_t i = 0; i < sources->count; i++) {
		const struct source *source = sources->sources[i];

		for (uint32_t k = 0; k < source_part_count(source); k++)
			if (is_asked_for(source_place(source_part(source, k)), question))
				return source_part(source, k);
	}
	return NULL;
}

static int sandbox_child_open_source(const struct source_set *sources,
				     const struct broker_request *question,
				     struct broker_reply *answer)
{
	const struct source *source = find_asked_for(sources, question);

	if (!source)
		return -ENOENT;
	answer->passed = true;
	return source_reopen(source, &answer->fd);
}

static int sandbox_child_serve(void *context, const struct broker_request *question,
			       struct broker_reply *answer)
{
	const struct sandbox_child *apart = context;

	if (question->channel == SANDBOX_CHILD_SOURCE)
		return sandbox_child_open_source(apart->sources, question, answer);
	return apart->serve ? apart->serve(apart->server, question, answer) : -ENOSYS;
}

/* ---- The child -------------------------------------------------------------- */

int sandbox_child_note_inherited(void)
{
	return inherited_list(&inherited);
}

/* The child keeps the caller's standard output and error, and no other descriptor. */
static void sandbox_child_detach_caller(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	inherited_close(&inherited, -1);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		close(STDIN_FILENO);
	if (null >= 0)
		close(null);
}

static _Noreturn void sandbox_child_work_in_child(const struct sandbox_child *apart)
{
	struct error e = { 0 };
	int status;

	broker_start_child(broker);
	sandbox_child_detach_caller();
	if (apart->begin)
		apart->begin(apart->context);
	source_open_by(request_source);
	status = sandbox_enter(&e) < 0 ? report_error(&e) : apart->work(apart->context);
	_exit(status ? report_json(apart->request, status) : finish_output());
}

/* ---- The parent ------------------------------------------------------------- */

int sandbox_child_crash(const struct request *request, const struct source_set *sources,
			int status, struct error *e)
{
	return error_set(e, ERROR_DATASET, EBADMSG,
			 "'%s' made granary %s crash (signal %d, %s): it is damaged, or breaks a "
			 "library that reads it; copy it again, or pack it again",
			 source_path(sources->sources[0]), request->command->name,
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
}

static int report_crash(const struct sandbox_child *apart, int status)
{
	struct error e;

	sandbox_child_crash(apart->request, apart->sources, status, &e);
	return report_error(&e);
}

static int sandbox_child_exit_status(const struct sandbox_child *apart, int status)
{
	if (WIFEXITED(status)) {
		if (WEXITSTATUS(status))
			report_json_is_printed();
		return WEXITSTATUS(status);
	}
	if (process_ended_by_fault(status))
		return report_crash(apart, status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return ERROR_SYSTEM; /* KILL cannot be raised here */
}

static int sandbox_child_wait_for(const struct sandbox_child *apart, pid_t child,
				  const sigset_t *before)
{
	struct error e;
	int status, err = broker_start_parent(broker);

	if (err) {
		child_end(child);
		error_set(&e, ERROR_SYSTEM, -err, "no thread can be started: %s",
			  strerror(-err));
		return report_error(&e);
	}
	if (apart->wait) {
		pthread_sigmask(SIG_SETMASK, before, NULL);
		return apart->wait(apart->context, child);
	}
	err = child_wait_forwarding(child, &status);
	pthread_sigmask(SIG_SETMASK, before, NULL);
	if (!err)
		return sandbox_child_exit_status(apart, status);
	error_set(&e, ERROR_SYSTEM, -err, "the end of a process cannot be waited for: %s",
		  strerror(-err));
	return report_error(&e);
}

int sandbox_child_run(const struct sandbox_child *apart)
{
	sigset_t before;
	struct error e = { 0 };
	int status,
		err = broker_open(&broker, SANDBOX_CHILD_OWN + apart->channels,
				  sandbox_child_serve,
				      (void *)(uintptr_t)apart);
	pid_t child;

	if (err) {
		error_set(&e, ERROR_SYSTEM, -err, "socketpair: %s", strerror(-err));
		return report_error(&e);
	}
	child_block_signals(&before);
	if (child_fork(&child, &e) < 0) {
		status = report_error(&e);
	} else if (child == 0) {
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		sandbox_child_work_in_child(apart);
	} else {
		status = sandbox_child_wait_for(apart, child, &before);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	broker_close(broker);
	broker = NULL;
	return status;
}

struct sandbox_child_reading {
	struct request *request;
	int (*work)(struct request *request);
};

static int read_in_child(void *context)
{
	const struct sandbox_child_reading *reading = context;

	return reading->work(reading->request);
}

int sandbox_child_read(struct request *request, int (*work)(struct request *request))
{
	struct sandbox_child_reading reading = { request, work };

	return sandbox_child_run(&(struct sandbox_child){ .request = request,
						  .sources =
						  dataset_sources(request->dataset),
						  .work = read_in_child,
						  .context = &reading });
}
