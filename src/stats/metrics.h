/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metrics.h: the counters of one or more mounts in the text format of Prometheus, 0.0.4.
 *
 * The labels of a mount are made by metrics_labels only: whatever bytes a path has, the text
 * stays one that a node exporter takes, since a text that it refuses costs all metrics of
 * the node.
 *
 * Threads: any. No locks, no allocation.
 */
#ifndef GRANARY_STATS_METRICS_H
#define GRANARY_STATS_METRICS_H

#include "stats/render.h"
#include "stats/stats.h"

/* Which mount it is. `job` is a label of Prometheus's own, so the job's is jobid. */
struct metrics_facts {
	const char *dataset; /* the packed file */
	const char *mount;   /* the mount point */
	const char *jobid;   /* of the batch system, or "" */
	const char *user;
	const char *id;      /* no other mount of the node has it */
};

/* Bytes of a label's value: a longer one keeps its end. Escapes may triple them. */
enum { METRICS_VALUE_MOST = 200, METRICS_LABELS_BYTES = 5 * (3 * METRICS_VALUE_MOST + 20) };

/*
 * `dataset="/d/x.tar",mount=...`: quotes, backslashes and line breaks are escaped; U+FFFD
 * stands for other control characters, and for bytes that are not UTF-8.
 */
void metrics_labels(const struct metrics_facts *facts, char out[METRICS_LABELS_BYTES]);

struct metrics_mount {
	const char *labels; /* from metrics_labels */
	const struct stats_cells *cells;
};

/* The most bytes that one mount's metrics take. */
enum { METRICS_BYTES = 2 * 1024 * 1024 };

/*
 * Each metric once, with a sample of each mount. The text of one mount has a constant
 * size.
 */
void metrics_render(struct render_text *text, const struct metrics_mount *mounts,
		    size_t count);

#endif
