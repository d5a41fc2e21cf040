/*
 * wds_report.h: what is said of all shards of WebDataset in a dataset, once.
 *
 * Threads: one thread at a time.
 */
#ifndef GRANARY_INDEXER_WDS_REPORT_H
#define GRANARY_INDEXER_WDS_REPORT_H

#include <stddef.h>

#include "indexer/webdataset.h"
#include "tree/index.h"

/* Warns of what leads to other classes than expected, and notes it all in the summary. */
void wds_report(const struct wds_findings *const *shards, size_t n,
		struct index_summary *summary);

#endif
