/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/publish.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "os/registry.h"

/* Variables that batch systems set in a job: Slurm, PBS, LSF, Flux, Grid Engine. */
static const char *const job_variables[] = {
	"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID",
};

static const char *find_job(void)
{
	for (size_t i = 0; i < sizeof(job_variables) / sizeof(*job_variables); i++) {
		const char *job = getenv(job_variables[i]);

		if (job && *job)
			return job;
	}
	return "";
}

/* The name of the user database, or the number. */
static void write_user(uid_t uid, char out[RECORD_WORD_BYTES])
{
	const struct passwd *user = getpwuid(uid);

	if (user)
		snprintf(out, RECORD_WORD_BYTES, "%s", user->pw_name);
	else
		snprintf(out, RECORD_WORD_BYTES, "%u", (unsigned)uid);
}

int publish_prepare(struct publication *publication, const char *source, uid_t uid)
{
	struct record_facts *facts = record_new(&publication->record);

	if (!facts)
		return -ENOMEM;
	facts->uid = uid;
	write_user(uid, facts->user);
	snprintf(facts->jobid, sizeof(facts->jobid), "%s", find_job());
	snprintf(facts->source, sizeof(facts->source), "%s", source);
	publication->facts = facts;
	return 0;
}

static void make_labels(struct publication *publication)
{
	const struct record_facts *facts = publication->facts;
	char id[32];
	struct metrics_facts labels = {
		.dataset = facts->source, .mount = facts->mountpoint,
		.jobid = facts->jobid, .user = facts->user, .id = id,
	};

	snprintf(id, sizeof(id), RECORD_ID, facts->connection, (int)getpid());
	metrics_labels(&labels, publication->labels);
}

void publish_mount(struct publication *publication, const struct mount *mount)
{
	struct record_facts *facts = publication->facts;

	facts->connection = mount->number;
	facts->started = (uint64_t)time(NULL);
	snprintf(facts->mountpoint, sizeof(facts->mountpoint), "%s",
		 mount->mountpoint ? mount->mountpoint : "");
	make_labels(publication);
	publication->name = publication->record < 0 ? -ENOSYS :
			    registry_add(publication->record);
	if (publication->name < 0)
		log_debug("granary list does not find this mount: %s",
			  strerror(-publication->name));
}

void publish_end(struct publication *publication)
{
	if (publication->name >= 0)
		close(publication->name);
	if (publication->record >= 0)
		close(publication->record);
}
