/*
 * pack_progress.h: how far packing is, on standard error: a bar on a terminal, a line
 * every ten seconds elsewhere.
 */
#ifndef GRANARY_TOOL_PACK_PROGRESS_H
#define GRANARY_TOOL_PACK_PROGRESS_H

#include "packer/packer.h"

struct pack_watch;

/* NULL if nothing can be shown; the counters must outlive it. */
struct pack_watch *pack_watch_start(const struct pack_progress *counters);

/* Ends its thread and takes the bar away. NULL is allowed. */
void pack_watch_stop(struct pack_watch *watch);

#endif
