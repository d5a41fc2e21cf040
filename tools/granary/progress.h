/*
 * progress.h: a line on the terminal about an indexer at work.
 */
#ifndef GRANARY_TOOL_PROGRESS_H
#define GRANARY_TOOL_PROGRESS_H

#include "indexer/indexer.h"

struct progress;

/*
 * Starts a thread that redraws the line a few times a second, from half a
 * second on. NULL, and nothing, where standard error is no terminal.
 */
struct progress *progress_start(const struct indexer_progress *counters);

/* Takes the line away. */
void progress_stop(struct progress *progress);

#endif
