/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/front_rule.h"

bool front_rule_note(struct front_rule *rule, struct front_counts now, int64_t now_ms)
{
	bool ongoing = now.ioctls - rule->last.ioctls >= FRONT_ONGOING;
	bool before = rule->many;
	uint64_t ioctls, requests;

	if (now_ms - rule->begin_ms > FRONT_MS) {
		rule->begin = rule->last;
		rule->begin_ms = now_ms;
	}
	ioctls = now.ioctls - rule->begin.ioctls;
	requests = now.requests - rule->begin.requests;
	rule->many = ioctls >= FRONT_IOCTLS && ioctls >= requests / FRONT_SHARE;
	rule->last = now;
	return before && rule->many && ongoing;
}
