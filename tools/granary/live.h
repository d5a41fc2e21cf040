/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live.h: what a mount says of itself in .granaryfs/stats.json.
 */
#ifndef GRANARY_TOOL_LIVE_H
#define GRANARY_TOOL_LIVE_H

#include "base/error.h"
#include "stats/sample.h"

/* What live_sample may find instead of figures. */
enum live {
	LIVE_ANSWERS = 0,
	LIVE_NOT_THERE, /* a directory, but no granaryfs is mounted there */
	LIVE_FAILED,    /* all else: it is dead, hangs, may not be looked at ... */
};

/*
 * Asks the mount that `path` is in, be it its root or anything below: at most five
 * seconds, even if its daemon hangs. Where there are no figures, `e` says why.
 */
enum live live_sample(const char *path, struct sample *out, struct error *e);

#endif
