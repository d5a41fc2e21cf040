/* SPDX-License-Identifier: GPL-3.0-or-later */
/* request.c: the command line of all commands. */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/brace.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "format/format.h"
#include "granary.h"
#include "source/part_names.h"
#include "stream/decoded.h"

/* For --json: the last error, and whether an object was printed. */
static struct error reported;
static bool answered;

int report_error(const struct error *e)
{
	if (*e->text) {
		log_error("%s", e->text);
		reported = *e;
	}
	return (int)e->status;
}

int report_usage(const struct command *command, const char *what)
{
	struct error e;

	error_set(&e, ERROR_USAGE, EINVAL, "%s; usage: granary %s %s", what, command->name,
		  command->usage);
	return report_error(&e);
}

int report_json(const struct request *request, int status)
{
	struct json json = { .out = stdout };

	if (!status || !request->json || request->part || answered || __fpending(stdout) > 0)
		return status;
	json_open(&json, NULL, '{');
	json_text(&json, "error", *reported.text ? reported.text :
		  "it could not be done; standard error says why");
	json_close(&json, '}');
	putchar('\n');
	fflush(stdout);
	answered = true;
	return status;
}

void report_json_is_printed(void)
{
	answered = true;
}

static void request_print_help(const struct command *command)
{
	printf("usage: granary %s %s\n\n%s.\n\n%s", command->name, command->usage,
	       command->summary, command->help);
	if (command->takes_quiet)
		printf("    %-31s %s\n", "-q, --quiet", "show no progress");
	if (!command->no_json)
		printf("    %-31s %s\n", "--json", "print JSON");
	if (command->takes_dataset)
		options_print(dataset_options, stdout);
}

enum { LONGS_MOST = 32 };

/* --help has no letter of a command, and -h only where no command uses it. */
enum { LETTER_HELP = 1 };

/* All commands' options and the command's own, for getopt_long. */
static void merge_options(const struct command *command, char *shorts, size_t size,
			  struct option *longs)
{
	const struct option *own = command->longs;
	size_t n = 0;

	snprintf(shorts, size, ":%s%s%s%s", strchr(command->shorts, 'h') ? "" : "h",
		 command->takes_dataset ? "o:" : "", command->takes_quiet ? "q" : "",
		 command->shorts);
	longs[n++] = (struct option){ "json", no_argument, NULL, 'J' };
	longs[n++] = (struct option){ "help", no_argument, NULL, LETTER_HELP };
	if (command->takes_quiet)
		longs[n++] = (struct option){ "quiet", no_argument, NULL, 'q' };
	while (own && own->name && n < LONGS_MOST - 1)
		longs[n++] = *own++;
	longs[n] = (struct option){ NULL, 0, NULL, 0 };
}

/* 1: go on; 0: end with *status. */
static int parse_own_option(struct request *request, int option, char *const *argv,
			    int *status)
{
	const struct option_target target = { dataset_options, &request->config };
	struct error e;

	if (option == 'o' && request->command->takes_dataset &&
	    options_apply(optarg, &target, 1, &e) < 0) {
		*status = report_error(&e);
		return 0;
	}
	if (option == LETTER_HELP ||
	    (option == 'h' && !strchr(request->command->shorts, 'h'))) {
		request_print_help(request->command);
		*status = 0;
		return 0;
	}
	if (option == '?' || option == ':') {
		options_getopt_error(option, argv, &e);
		*status = report_error(&e);
		return 0;
	}
	request->json |= option == 'J';
	request->quiet |= option == 'q' && request->command->takes_quiet;
	request->given[option] = true;
	request->value[option] = optarg;
	return 1;
}

static int request_parse(struct request *request, int argc, char **argv, int *status)
{
	struct option longs[LONGS_MOST];
	char shorts[64];
	int option;

	merge_options(request->command, shorts, sizeof(shorts), longs);
	/* before getopt reorders them */
	for (int i = 1; i < argc && !request->behind_dashes; i++) {
		if (strcmp(argv[i], "--") == 0)
			request->behind_dashes = (size_t)(argc - i - 1);
	}
	opterr = 0;
	while ((option = getopt_long(argc, argv, shorts, longs, NULL)) >= 0) {
		if (!parse_own_option(request, option, argv, status))
			return 0;
	}
	request->arguments = argv + optind;
	request->argument_count = (size_t)(argc - optind);
	if (request->command->no_spool && request->config.spool) {
		*status = report_usage(request->command, "spool= is for what reads files: name the "
				       "file that spool=keep:DIR has left");
		return 0;
	}
	if (request->argument_count || request->command->takes_nothing)
		return 1;
	*status = report_usage(request->command, "an argument is missing");
	return 0;
}

static int run_command(struct request *request)
{
	if (request->json) /* buffered on a terminal too: report_json looks */
		setvbuf(stdout, NULL, _IOFBF, BUFSIZ);
	return request->command->run(request);
}

int request_run(const struct command *command, int argc, char **argv)
{
	struct request request = { .command = command };
	int status;

	if (request_parse(&request, argc, argv, &status))
		status = run_command(&request);
	report_json(&request, status);
	dataset_close(request.dataset);
	dataset_config_free(&request.config);
	return status;
}

/* "train-{000..127}.tar", if at least one of the files exists. */
static bool is_pattern_of_files(const char *argument)
{
	struct brace *pattern = NULL;
	bool found = false;

	if (!strchr(argument, '{') || brace_parse(argument, &pattern, NULL) < 0)
		return false;
	for (uint64_t i = 0; i < brace_count(pattern) && !found; i++) {
		CLEANUP(cleanup_free) char *path = brace_word(pattern, i);

		found = path && access(path, F_OK) == 0;
	}
	brace_free(pattern);
	return found;
}

/* Is this argument a packed file, rather than a path in the tree? */
static bool is_source(const char *argument)
{
	CLEANUP(cleanup_free) unsigned char *head = malloc(FORMAT_HEAD_BYTES);
	struct source *source;
	size_t n;
	bool known;

	if (!head || source_open(argument, &source, NULL) < 0)
		return is_pattern_of_files(argument);
	n = source_size(source) < FORMAT_HEAD_BYTES ? (size_t)source_size(source) :
						       FORMAT_HEAD_BYTES;
	known = source_pread(source, head, n, 0) == 0 &&
		(format_probe(head, n) || stream_kind_find(head, n));
	source_close(source);
	return known;
}

/* Does the argument name another part of the file that the argument before it is of? */
static bool is_another_part(const char *before, const char *argument)
{
	struct part_name a, b;

	return part_name_parse(before, &a) && part_name_parse(argument, &b) &&
	       part_name_is_sibling(&a, &b) && access(argument, F_OK) == 0;
}

void request_split(struct request *request, enum positionals positionals)
{
	size_t n = positionals == ONLY_SOURCES ? request->argument_count : 1;

	while (n < request->argument_count &&
	       (is_source(request->arguments[n]) ||
		is_another_part(request->arguments[n - 1], request->arguments[n])))
		n++;
	request->source_count = n;
	request->paths = request->arguments + n;
	request->path_count = request->argument_count - n;
}

int request_open(struct request *request, enum positionals positionals)
{
	struct error e;

	request_split(request, positionals);
	if (dataset_open(&request->config, request->arguments, request->source_count,
			 &request->dataset, &e) < 0)
		return report_error(&e);
	return 0;
}

int request_node(const struct request *request, const char *path, uint32_t *node)
{
	int err = tree_walk(dataset_tree(request->dataset), dataset_root(request->dataset),
			    path, node);
	struct error e;

	if (!err)
		return 0;
	error_set(&e, ERROR_SYSTEM, -err, "%s: %s in %s", path,
		  err == -EIO ? "the index is damaged" : "no such file or directory",
		  request->arguments[0]);
	return report_error(&e);
}

void print_escaped(const char *name)
{
	for (; *name; name++)
		putchar((unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
}

int finish_output(void)
{
	answered |= __fpending(stdout) > 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	log_error("standard output: %s", strerror(errno));
	return ERROR_SYSTEM;
}
