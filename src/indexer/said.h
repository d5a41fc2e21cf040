/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * said.h: what formats have said of the shards, told once.
 */
#ifndef GRANARY_INDEXER_SAID_H
#define GRANARY_INDEXER_SAID_H

#include <stdint.h>

#include "index/index.h"

struct job;

/*
 * Each sentence of the shards' scan_say, to the log with the first shard and how many more
 * it is true for, and to the notes. The scans' texts are taken apart by it.
 */
void said_report(struct job *const *jobs, uint32_t count, struct index_summary *summary);

#endif
