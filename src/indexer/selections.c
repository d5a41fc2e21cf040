/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/selections.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/filename.h"
#include "base/vec.h"
#include "build/findings.h"
#include "indexer/jobs.h"

static bool same_directory(const struct job *a, const struct job *b)
{
	size_t n = (size_t)(filename_of(a->scan.label) - a->scan.label);

	return n == (size_t)(filename_of(b->scan.label) - b->scan.label) &&
	       memcmp(a->scan.label, b->scan.label, n) == 0;
}

/* The one file whose rows they are: it lies before them, and no other does. */
static int find_data(struct job *const *jobs, uint32_t i, struct error *e)
{
	const struct scan *scan = &jobs[i]->scan;

	if (i == 0 || samples_group_count(jobs[i - 1]->scan.samples) == 0)
		return error_set(
			e, ERROR_DATASET, EBADMSG,
			"'%s' has numbers of the rows of another Arrow file; name that "
			"file before it",
			scan->label);
	if (i > 1 && !jobs[i - 2]->scan.selects && same_directory(jobs[i], jobs[i - 1]) &&
	    same_directory(jobs[i], jobs[i - 2]))
		return error_set(
			e, ERROR_DATASET, EBADMSG,
			"'%s' has numbers of the rows of several files, '%s' is the last "
			"of them; write them as one (datasets: "
			"ds.flatten_indices().save_to_disk(DIRECTORY))",
			scan->label, jobs[i - 1]->scan.label);
	return 0;
}

static int select_rows(struct job *data, const struct job *by, const uint64_t *rows,
		       size_t n, struct error *e)
{
	uint64_t all = samples_group(data->scan.samples, 0)->rows;
	int err = samples_select(data->scan.samples, rows, n);

	if (err == -ERANGE)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' names a row beyond the %" PRIu64
				 " of '%s'; are they of one "
				 "dataset?",
				 by->scan.label, all, data->scan.label);
	if (err == -ENOTSUP)
		return error_set(e, ERROR_DATASET, EBADMSG,
				 "'%s' has numbers of rows of '%s', in which a column says the "
				 "split of each; write them as one (datasets: "
				 "ds.flatten_indices().save_to_disk(DIRECTORY))", by->scan.label,
				 data->scan.label);
	if (err)
		return error_no_memory(e, NULL);
	findings_add(data->scan.findings, FINDING_CHOSEN,
		     "%zu of its %" PRIu64 " rows are shown, those of '%.100s'", n, all,
		     filename_of(by->scan.label));
	return 0;
}

int selections_apply(struct job *const *jobs, uint32_t count, struct error *e)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		VEC(uint64_t) rows = VEC_INIT;
		uint32_t first = i;

		if (!jobs[i]->scan.selects)
			continue;
		err = find_data(jobs, first, e);
		/* several files of numbers follow each other */
		for (; i < count && jobs[i]->scan.selects && !err; i++)
			for (size_t k = 0; k < jobs[i]->scan.selection.count && !err; k++)
				if (vec_push(&rows, jobs[i]->scan.selection.items[k]) < 0)
					err = error_no_memory(e, NULL);
		if (!err)
			err = select_rows(jobs[first - 1], jobs[first], rows.items,
					  rows.count, e);
		vec_free(&rows);
		i--;
	}
	return err;
}
