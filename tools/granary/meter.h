/*
 * meter.h: how far a command is that reads all of a dataset, on standard error.
 */
#ifndef GRANARY_TOOL_METER_H
#define GRANARY_TOOL_METER_H

#include <stdbool.h>

#include "dataset/survey.h"

struct meter;

/*
 * Shows `what` ("verifying"), share, rate and time left: on a terminal as one line that
 * is drawn anew, from half a second on; elsewhere as a line every ten seconds. NULL where
 * there are no threads for it; then nothing is shown.
 */
struct meter *meter_start(const char *what, const struct survey_progress *counters);

/* Takes the line away. NULL is fine. */
void meter_stop(struct meter *meter);

#endif
