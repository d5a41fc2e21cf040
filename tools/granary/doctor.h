/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doctor.h: checks of this machine for a mount: one finding a check.
 */
#ifndef GRANARY_TOOL_DOCTOR_H
#define GRANARY_TOOL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_BAD };

struct doctor_finding {
	enum verdict verdict;
	char found[512];
	char remedy[512]; /* "": none is known or needed */
};

/* The state that checks share. */
struct doctor_state {
	const char *root;   /* before every path: "" but in tests */
	bool may_mount;     /* by mount(2): CAP_SYS_ADMIN is in effect */
	bool device;        /* /dev/fuse can be opened */
	bool helper;        /* fusermount3 can mount */
	bool namespaces;    /* private ones can be had */
};

struct check {
	const char *name;
	void (*look)(struct doctor_state *doctor_state, struct doctor_finding *out);
};

extern const struct check doctor_checks[];
extern const size_t doctor_check_count;

void doctor_begin(struct doctor_state *doctor_state, const char *root);

/* In the order of the table: later checks use the state of earlier ones. */
static inline void doctor_run_check(const struct check *check,
				    struct doctor_state *doctor_state,
				    struct doctor_finding *out)
{
	*out = (struct doctor_finding){ VERDICT_OK, "", "" };
	check->look(doctor_state, out);
}

#endif
