/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/blanks.h"

#include <errno.h>
#include <string.h>

#include "base/filename.h"
#include "build/findings.h"
#include "indexer/jobs.h"

static bool blanks_is_tar(const struct job *job)
{
	return strcmp(job->format->name, "tar") == 0;
}

/* A tar without entries to show, of zeros or not. */
static bool has_nothing(const struct job *job)
{
	struct entries *log = job->scan.entries;

	return blanks_is_tar(job) && entries_count(log) == 0 && !entries_next(log) &&
	       entries_left_out(log) == 0 && samples_group_count(job->scan.samples) == 0 &&
	       job->findings.skipped == 0;
}

static int blanks_refuse(const struct job *blank, const struct blanks *blanks,
			 struct error *e)
{
	const struct scan *scan = &blank->scan;

	if (blanks->other)
		return error_set(e, ERROR_DATASET, EBADMSG, "'%s' has no member, and '%s' is no "
				 "tar archive: it was never written; copy it again",
				 scan->label, blanks->other->scan.label);
	if (blanks->of > 1)
		return error_set(e, ERROR_DATASET, EBADMSG, "none of the %u tar archives has a "
				 "member, '%s' is the first of them; pack or copy them again",
				 blanks->of, scan->label);
	return error_set(e, ERROR_DATASET, EBADMSG, "'%s' is a tar archive without a member; "
			 "pack or copy it again", scan->label);
}

int blanks_find(struct job *const *jobs, uint32_t count, struct blanks *out,
		struct error *e)
{
	const struct job *first = NULL;

	*out = (struct blanks){ .of = count };
	for (uint32_t i = 0; i < count; i++) {
		if (!has_nothing(jobs[i])) {
			out->other = out->other ? out->other : jobs[i];
			continue;
		}
		first = first ? first : jobs[i];
		out->count++;
	}
	if (!first)
		return 0;
	out->first = first->scan.label;
	return out->other && blanks_is_tar(out->other) ? 0 : blanks_refuse(first, out, e);
}

void blanks_report(const struct blanks *blanks, struct findings *findings)
{
	if (!blanks->first)
		return;
	findings_add(findings, FINDING_LEFT_OUT,
		     "'%s' is a tar archive without a member: nothing of it is shown (%u "
		     "of %u archives are so)", filename_of(blanks->first), blanks->count,
		     blanks->of);
}
