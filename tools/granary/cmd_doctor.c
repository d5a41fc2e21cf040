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

static void print_finding(const struct check *check, const struct finding *f, bool colours)
{
	printf("%s%-4s%s  %-16s  ", colours ? verdicts[f->verdict].colour : "",
	       verdicts[f->verdict].word, colours ? "\033[m" : "", check->name);
	print_plain(f->found);
	putchar('\n');
	if (*f->remedy)
		printf("%24s%s\n", "", f->remedy);
}

static void json_finding(struct json *json, const struct check *check,
			 const struct finding *f)
{
	json_open(json, NULL, '{');
	json_text(json, "name", check->name);
	json_text(json, "verdict", verdicts[f->verdict].word);
	json_text(json, "found", f->found);
	json_text(json, "remedy", f->remedy);
	json_close(json, '}');
}

static bool can_mount(const struct patient *p)
{
	return p->device && (p->may_mount || p->helper);
}

static bool can_run(const struct patient *p)
{
	return p->device && p->namespaces;
}

static const char *conclusion(const struct patient *p)
{
	if (can_mount(p))
		return p->may_mount ? "granaryfs can mount here" :
				      "granaryfs can mount here, through fusermount3";
	if (can_run(p))
		return "granaryfs cannot mount here, but granary run can";
	return "nothing can be mounted here; granary ls, cat and extract work all the same";
}

static void look_in_words(struct patient *patient)
{
	bool colours = progress_colours(STDOUT_FILENO);
	struct finding finding;

	for (size_t i = 0; i < doctor_check_count; i++) {
		doctor_look(&doctor_checks[i], patient, &finding);
		print_finding(&doctor_checks[i], &finding, colours);
	}
	printf("\n%s\n", conclusion(patient));
}

static void look_in_json(struct patient *patient)
{
	struct json json = { .out = stdout };
	struct finding finding;

	json_open(&json, NULL, '{');
	json_open(&json, "checks", '[');
	for (size_t i = 0; i < doctor_check_count; i++) {
		doctor_look(&doctor_checks[i], patient, &finding);
		json_finding(&json, &doctor_checks[i], &finding);
	}
	json_close(&json, ']');
	json_bool(&json, "can_mount", can_mount(patient));
	json_bool(&json, "can_run", can_run(patient));
	json_text(&json, "conclusion", conclusion(patient));
	json_close(&json, '}');
	putchar('\n');
}

static int run(struct request *request)
{
	struct patient patient;
	int status;

	if (request->argument_count)
		return report_usage(request->command, "there is nothing to name");
	doctor_begin(&patient, request->given['r'] ? request->value['r'] : "");
	fflush(stdout);
	if (request->json)
		look_in_json(&patient);
	else
		look_in_words(&patient);
	status = finish_output();
	return status || can_mount(&patient) ? status : ERROR_MOUNT;
}

/* --root is for tests: a folder that stands for the machine. */
static const struct option longs[] = {
	{ "root", required_argument, NULL, 'r' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_doctor = {
	.name = "doctor", .usage = "[--json]",
	.summary = "What on this node helps or hinders a mount, and the remedy",
	.help = "", .shorts = "", .longs = longs, .takes_nothing = true, .run = run,
};
