/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "indexer/said.h"

#include <string.h>

#include "base/log.h"
#include "build/findings.h"
#include "indexer/jobs.h"

enum { TOLD_MOST = 32 }; /* sentences; a set of many shards says the same of each */

struct told {
	const char *text, *first; /* the label of a shard */
	uint32_t more;
};

static void said_tell(struct told told[TOLD_MOST], size_t *n, uint32_t *left,
		      const char *text, const char *label)
{
	size_t i = 0;

	while (i < *n && strcmp(told[i].text, text) != 0)
		i++;
	if (i < *n)
		told[i].more++;
	else if (*n < TOLD_MOST)
		told[(*n)++] = (struct told){text, label, 0};
	else
		++*left;
}

void said_report(struct job *const *jobs, uint32_t count, struct index_summary *summary)
{
	struct told told[TOLD_MOST];
	uint32_t left = 0;
	size_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		char *rest = jobs[i]->scan.said, *line;

		while ((line = strsep(&rest, "\n")))
			if (*line)
				said_tell(told, &n, &left, line, jobs[i]->scan.label);
	}
	for (size_t i = 0; i < n; i++) {
		if (told[i].more)
			log_warn("'%s', and %u more: %s", told[i].first, told[i].more,
				 told[i].text);
		else
			log_warn("'%s': %s", told[i].first, told[i].text);
		note(summary, "%s", told[i].text);
	}
	if (left)
		log_warn("%u more of this kind are not said", left);
}
