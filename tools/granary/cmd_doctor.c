/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_doctor.c: granary doctor */
#include <stdio.h>
#include <unistd.h>

#include "doctor.h"
#include "granary.h"
#include "progress.h"
#include "base/json.h"

static const struct {
	const char *word, *colour;
} verdicts[] = {
	[VERDICT_OK] = { "ok", "\033[32m" },
	[VERDICT_WARN] = { "warn", "\033[33m" },
	[VERDICT_BAD] = { "bad", "\033[31m" },
};

static void print_finding(const struct check *check, const struct doctor_finding *f,
			  bool colours)
{
	printf("%s%-4s%s  %-16s  ", colours ? verdicts[f->verdict].colour : "",
	       verdicts[f->verdict].word, colours ? "\033[m" : "", check->name);
	print_escaped(f->found);
	putchar('\n');
	if (*f->remedy)
		printf("%24s%s\n", "", f->remedy);
}

static void json_finding(struct json *json, const struct check *check,
			 const struct doctor_finding *f)
{
	json_open(json, NULL, '{');
	json_text(json, "name", check->name);
	json_text(json, "verdict", verdicts[f->verdict].word);
	json_text(json, "found", f->found);
	json_text(json, "remedy", f->remedy);
	json_close(json, '}');
}

static bool can_mount(const struct doctor_state *p)
{
	return p->device && (p->may_mount || p->helper);
}

static bool can_run(const struct doctor_state *p)
{
	return p->device && p->namespaces;
}

static const char *conclusion(const struct doctor_state *p)
{
	if (can_mount(p))
		return p->may_mount ? "granaryfs can mount here" :
				      "granaryfs can mount here, through fusermount3";
	if (can_run(p))
		return "granaryfs cannot mount here, but granary run can";
	return "nothing can be mounted here; granary ls, cat and extract work all the same";
}

static void print_findings_text(struct doctor_state *doctor_state)
{
	bool colours = progress_colours(STDOUT_FILENO);
	struct doctor_finding finding;

	for (size_t i = 0; i < doctor_check_count; i++) {
		doctor_run_check(&doctor_checks[i], doctor_state, &finding);
		print_finding(&doctor_checks[i], &finding, colours);
	}
	printf("\n%s\n", conclusion(doctor_state));
}

static void print_findings_json(struct doctor_state *doctor_state)
{
	struct json json = { .out = stdout };
	struct doctor_finding finding;

	json_open(&json, NULL, '{');
	json_open(&json, "checks", '[');
	for (size_t i = 0; i < doctor_check_count; i++) {
		doctor_run_check(&doctor_checks[i], doctor_state, &finding);
		json_finding(&json, &doctor_checks[i], &finding);
	}
	json_close(&json, ']');
	json_bool(&json, "can_mount", can_mount(doctor_state));
	json_bool(&json, "can_run", can_run(doctor_state));
	json_text(&json, "conclusion", conclusion(doctor_state));
	json_close(&json, '}');
	putchar('\n');
}

static int run(struct request *request)
{
	struct doctor_state doctor_state;
	int status;

	if (request->argument_count)
		return report_usage(request->command, "there is nothing to name");
	doctor_begin(&doctor_state, request->given['r'] ? request->value['r'] : "");
	fflush(stdout);
	if (request->json)
		print_findings_json(&doctor_state);
	else
		print_findings_text(&doctor_state);
	status = finish_output();
	return status || can_mount(&doctor_state) ? status : ERROR_MOUNT;
}

/* --root is for tests: a directory that stands for the machine. */
static const struct option longs[] = {
	{ "root", required_argument, NULL, 'r' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_doctor = {
	.name = "doctor", .usage = "[--json]",
	.summary = "What on this node helps or hinders a mount, and the remedy",
	.help = "", .shorts = "", .longs = longs, .takes_nothing = true, .run = run,
};
