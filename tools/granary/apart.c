/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "apart.h"

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

static struct hatch *hatch; /* NULL in the parent */
static struct inherited inherited = { VEC_INIT };

struct hatch *apart_hatch(void)
{
	return hatch;
}

/* ---- Sources that have gone stale -------------------------------------------- */

static int ask_for_source(const char *place, const struct source_info *info, int *fd)
{
	(void)info; /* the parent has its own */
	if (!place)
		return -ENOENT;
	return hatch_ask(hatch, APART_SOURCE, 0, place, strlen(place), NULL, NULL, fd);
}

static bool is_asked_for(const char *path, const struct hatch_question *question)
{
	return path && strlen(path) == question->size &&
	       memcmp(path, question->data, question->size) == 0;
}

static int apart_open_source(const struct source_set *sources,
			     const struct hatch_question *question,
			     struct hatch_answer *answer)
{
	for (uint32_t i = 0; i < sources->count; i++) {
		if (!is_asked_for(source_place(sources->sources[i]), question))
			continue;
		answer->passed = true;
		return source_open_again(sources->sources[i], &answer->fd);
	}
	return -ENOENT;
}

static int apart_serve(void *context, const struct hatch_question *question,
		       struct hatch_answer *answer)
{
	const struct apart *apart = context;

	if (question->channel == APART_SOURCE)
		return apart_open_source(apart->sources, question, answer);
	return apart->serve ? apart->serve(apart->server, question, answer) : -ENOSYS;
}

/* ---- The child -------------------------------------------------------------- */

int apart_note_inherited(void)
{
	return inherited_note(&inherited);
}

/* The child keeps the caller's standard output and error, and no other descriptor. */
static void apart_leave_caller(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	inherited_close(&inherited, -1);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0)
		close(STDIN_FILENO);
	if (null >= 0)
		close(null);
}

static _Noreturn void apart_work_in_child(const struct apart *apart)
{
	struct error e = { 0 };
	int status;

	hatch_be_child(hatch);
	apart_leave_caller();
	if (apart->begin)
		apart->begin(apart->context);
	source_open_by(ask_for_source);
	status = sandbox_enter(&e) < 0 ? report_error(&e) : apart->work(apart->context);
	_exit(status ? report_json(apart->request, status) : finish_output());
}

/* ---- The parent ------------------------------------------------------------- */

static int say_crash(const struct apart *apart, int status)
{
	struct error e;

	error_set(&e, ERROR_DATASET, EBADMSG,
		  "'%s' made granary %s crash (signal %d, %s): it is damaged, or breaks a "
		  "library that reads it; copy it again, or pack it again",
		  source_path(apart->sources->sources[0]), apart->request->command->name,
		  WTERMSIG(status), strsignal(WTERMSIG(status)));
	return report_error(&e);
}

static int apart_conclude(const struct apart *apart, int status)
{
	if (WIFEXITED(status)) {
		if (WEXITSTATUS(status))
			report_was_made();
		return WEXITSTATUS(status);
	}
	if (process_ended_by_fault(status))
		return say_crash(apart, status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return ERROR_SYSTEM; /* KILL cannot be raised here */
}

static int apart_wait_for(const struct apart *apart, pid_t child, const sigset_t *before)
{
	struct error e;
	int status, err = hatch_be_parent(hatch);

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
	err = child_accompany(child, &status);
	pthread_sigmask(SIG_SETMASK, before, NULL);
	if (!err)
		return apart_conclude(apart, status);
	error_set(&e, ERROR_SYSTEM, -err, "the end of a process cannot be waited for: %s",
		  strerror(-err));
	return report_error(&e);
}

int apart_run(const struct apart *apart)
{
	sigset_t before;
	struct error e = { 0 };
	int status, err = hatch_open(&hatch, APART_OWN + apart->channels, apart_serve,
				     (void *)(uintptr_t)apart);
	pid_t child;

	if (err) {
		error_set(&e, ERROR_SYSTEM, -err, "socketpair: %s", strerror(-err));
		return report_error(&e);
	}
	child_hold_signals(&before);
	if (child_fork(&child, &e) < 0) {
		status = report_error(&e);
	} else if (child == 0) {
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		apart_work_in_child(apart);
	} else {
		status = apart_wait_for(apart, child, &before);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	hatch_close(hatch);
	hatch = NULL;
	return status;
}

struct apart_reading {
	struct request *request;
	int (*work)(struct request *request);
};

static int read_in_child(void *context)
{
	const struct apart_reading *reading = context;

	return reading->work(reading->request);
}

int apart_read(struct request *request, int (*work)(struct request *request))
{
	struct apart_reading reading = { request, work };

	return apart_run(&(struct apart){ .request = request,
					  .sources = dataset_sources(request->dataset),
					  .work = read_in_child, .context = &reading });
}
