/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * selections.h: files that say which rows of the file before them are shown.
 */
#ifndef GRANARY_INDEXER_SELECTIONS_H
#define GRANARY_INDEXER_SELECTIONS_H

#include <stdint.h>

#include "base/error.h"

struct job;

/*
 * Leaves of each shard that such files follow the rows that they say, in their order.
 * 0; -EBADMSG with a sentence where they do not fit; or -ENOMEM.
 */
int selections_apply(struct job *const *jobs, uint32_t count, struct error *e);

#endif
