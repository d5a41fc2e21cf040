/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rehearse.h: mounts a small dataset where nobody else sees it, to learn whether mounts
 * get their shield here: granaryfs compares what is seen through it before it is used.
 */
#ifndef GRANARY_TOOL_REHEARSE_H
#define GRANARY_TOOL_REHEARSE_H

enum rehearsal {
	REHEARSAL_SHIELDED,
	REHEARSAL_BARE,     /* it can be mounted, but not so */
	REHEARSAL_FAILED,   /* it could not be tried */
};

struct rehearsal_report {
	enum rehearsal result;
	char why[400]; /* "" where it is shielded */
};

/* Takes seconds at most, and leaves nothing. Needs a private mount namespace (private.h). */
void rehearse(struct rehearsal_report *out);

#endif
