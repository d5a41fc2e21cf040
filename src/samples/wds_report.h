/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wds_report.h: what is said of all shards of WebDataset in a dataset, once.
 *
 * Threads: one thread at a time.
 */
#ifndef GRANARY_SAMPLES_WDS_REPORT_H
#define GRANARY_SAMPLES_WDS_REPORT_H

#include <stddef.h>

#include "build/findings.h"
#include "samples/webdataset.h"

/* Adds what leads to other classes than expected. */
void wds_report(const struct wds_shard *shards, size_t n,
		struct findings *findings);

#endif
