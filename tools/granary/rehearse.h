/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rehearse.h: mounts a small dataset in a private namespace, to learn whether mounts have
 * a shield here. granaryfs compares the shield with its tree before it uses it.
 */
#ifndef GRANARY_TOOL_REHEARSE_H
#define GRANARY_TOOL_REHEARSE_H

enum rehearsal {
	REHEARSAL_SHIELDED,
	REHEARSAL_BARE,     /* it can be mounted, without a shield */
	REHEARSAL_FAILED,   /* the mount could not be tried */
};

struct rehearsal_report {
	enum rehearsal result;
	char why[400]; /* "" with a shield */
};

/* Takes seconds, and leaves nothing. Needs a private mount namespace (private.h). */
void rehearse(struct rehearsal_report *out);

#endif
