/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live.h: reads .granaryfs/stats.json of a mount.
 */
#ifndef GRANARY_TOOL_LIVE_H
#define GRANARY_TOOL_LIVE_H

#include "base/error.h"
#include "stats/sample.h"

/* The result of live_sample. */
enum live {
	LIVE_ANSWERS = 0,
	LIVE_NOT_THERE, /* a directory, but no granaryfs is mounted there */
	LIVE_FAILED,    /* it is dead, hangs, or may not be read */
};

/*
 * Reads the counters of the mount that holds `path`, its root or anything below, within
 * five seconds even if its daemon hangs. Without counters `e` has the reason.
 */
enum live live_sample(const char *path, struct stats_sample *out, struct error *e);

#endif
