/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mismatches.h"

#include <stdio.h>

#include "granary.h"

/* In JSON; never changed. */
static const char *const names[PROBLEM_COUNT] = {
	[PROBLEM_CHECKSUM] = "checksum",
	[PROBLEM_UNDECODED] = "undecoded",
	[PROBLEM_READ] = "read",
	[PROBLEM_CUT_OFF] = "cut_off",
	[PROBLEM_CHANGED] = "changed",
	[PROBLEM_INDEX] = "index",
	[PROBLEM_HEADER] = "header",
	[PROBLEM_MISSING] = "missing",
	[PROBLEM_EXTRA] = "extra",
	[PROBLEM_KIND] = "kind",
	[PROBLEM_SIZE] = "size",
	[PROBLEM_BYTES] = "bytes",
	[PROBLEM_MANIFEST] = "manifest",
};

static void print(const struct mismatch *f)
{
	print_escaped(f->path);
	printf(": %s", f->detail);
	if (f->source) {
		fputs(" (", stdout);
		print_escaped(f->source);
		printf(" at byte %llu)", (unsigned long long)f->offset);
	}
	putchar('\n');
}

static void mismatches_print_json(struct json *json, const struct mismatch *f)
{
	json_open(json, NULL, '{');
	json_text(json, "path", f->path);
	json_text(json, "problem", names[f->problem]);
	json_text(json, "detail", f->detail);
	if (f->source) {
		json_text(json, "source", f->source);
		json_uint(json, "offset", f->offset);
	}
	json_close(json, '}');
}

void mismatches_add(struct mismatches *findings, const struct mismatch *finding)
{
	LOCK_GUARD(&findings->lock);
	findings->counts[finding->problem]++;
	if (findings->json)
		mismatches_print_json(findings->json, finding);
	else
		print(finding);
}

uint64_t mismatches_count(const struct mismatches *findings)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROBLEM_COUNT; i++)
		sum += findings->counts[i];
	return sum;
}

uint64_t mismatches_unreadable(const struct mismatches *findings)
{
	return findings->counts[PROBLEM_READ];
}
