/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_top.c: granary top: the rates of all mounts of the node, again and again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "granary.h"
#include "mount_list.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/size.h"
#include "os/bounded.h"

enum { SECONDS_MOST = 86400, COUNT_MOST = 1000000000 };

/* The same mount in the list before, or NULL: it is new. */
static const struct listed_mount *find_before(const struct mount_list *before,
					      const struct listed_mount *mount)
{
	for (size_t i = 0; i < before->count; i++) {
		const struct listed_mount *old = &before->items[i];

		if (old->record && strcmp(old->id, mount->id) == 0 &&
		    strcmp(old->mountpoint, mount->mountpoint) == 0)
			return old;
	}
	return NULL;
}

static uint64_t whole(double value)
{
	return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static void print_rates(const struct listed_mount *mount, const struct rates *r)
{
	char requests[SIZE_TEXT_BYTES], storage[SIZE_TEXT_BYTES], pushed[SIZE_TEXT_BYTES],
	     memory[SIZE_TEXT_BYTES];

	printf("%-14s ", mount->id);
	printf("%-10.10s %9s %12s %12s %10s %-8s ", mount->user,
	       count_text(whole(r->requests), requests),
	       size_text(whole(r->source_bytes), storage),
	       size_text(whole(r->pushed_bytes), pushed),
	       size_text(sample_memory(&mount->sample), memory), bound_word(r->bound));
	print_escaped(mount->mountpoint);
	puts(mount->is_private ? " (private)" : "");
}

static void print_json(const struct listed_mount *mount, const struct rates *r)
{
	struct json json = { .out = stdout };

	json_open(&json, NULL, '{');
	json_text(&json, "id", mount->id);
	json_text(&json, "user", mount->user);
	json_text(&json, "jobid", mount->record->facts.jobid);
	json_text(&json, "mountpoint", mount->mountpoint);
	json_uint(&json, "milliseconds", whole(1000 * r->seconds));
	json_uint(&json, "requests_per_second", whole(r->requests));
	json_uint(&json, "source_bytes_per_second", whole(r->source_bytes));
	json_uint(&json, "pushed_bytes_per_second", whole(r->pushed_bytes));
	json_uint(&json, "memory_bytes", sample_memory(&mount->sample));
	json_text(&json, "bound", bound_word(r->bound));
	json_close(&json, '}');
	putchar('\n');
}

static void top_show(const struct mount_list *before, const struct mount_list *now, bool json)
{
	if (!json && isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	if (!json)
		printf("%-14s %-10s %9s %12s %12s %10s %-8s %s\n", "ID", "USER", "REQUESTS/S",
		       "STORAGE/S", "PUSHED/S", "MEMORY", "BOUND BY", "MOUNT POINT");
	for (size_t i = 0; i < now->count; i++) {
		const struct listed_mount *mount = &now->items[i];
		const struct listed_mount *old = mount->record ? find_before(before, mount)
							       : NULL;
		struct rates rates;

		if (!old)
			continue;
		sample_rates(&old->sample, &mount->sample, &rates);
		if (json)
			print_json(mount, &rates);
		else
			print_rates(mount, &rates);
	}
}

/* The number of an option, from 1 to `most`; without it `otherwise`; 0: it is none. */
static unsigned long top_number(const struct request *request, int letter,
				unsigned long otherwise, unsigned long most)
{
	const char *text = request->value[letter];
	unsigned long number;
	char *end;

	if (!request->given[letter])
		return otherwise;
	number = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && number <= most ? number : 0;
}

static int top_run(const struct request *request, unsigned seconds, unsigned long count)
{
	CLEANUP(mount_list_free) struct mount_list before = { 0 };
	int status = 0;
	struct error e;

	if (mount_list_read(&before, &e) < 0)
		return report_error(&e);
	for (unsigned long i = 0; !status && (count == 0 || i < count); i++) {
		struct mount_list now;

		bounded_pause(seconds * 1000);
		if (mount_list_read(&now, &e) < 0)
			return report_error(&e);
		top_show(&before, &now, request->json);
		status = finish_output();
		mount_list_free(&before);
		before = now;
	}
	return status;
}

static int run(struct request *request)
{
	unsigned long seconds = top_number(request, 's', 1, SECONDS_MOST);
	unsigned long count = top_number(request, 'n', COUNT_MOST, COUNT_MOST);

	if (request->argument_count > 0)
		return report_usage(request->command, "all mounts are shown: no argument");
	if (seconds == 0 || count == 0)
		return report_usage(request->command,
				    "--seconds and --count take a number, 1 at least");
	return top_run(request, (unsigned)seconds, request->given['n'] ? count : 0);
}

static const struct option longs[] = {
	{ "seconds", required_argument, NULL, 's' },
	{ "count", required_argument, NULL, 'n' },
	{ NULL, 0, NULL, 0 },
};

const struct command command_top = {
	.name = "top", .usage = "[--seconds=N] [--count=N] [--json]",
	.summary = "Shows the rates of all mounts of the node, again and again",
	.help = "    --seconds=N                     how far apart (1)\n"
		"    --count=N                       how often (until it is interrupted)\n",
	.shorts = "", .longs = longs, .takes_nothing = true, .run = run,
};
