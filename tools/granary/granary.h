/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * granary.h: the user's tool: one file a command.
 *
 * Every command takes --help, and all but a few --json, those on datasets -o as well;
 * each returns an exit status (enum error_status, or 0).
 */
#ifndef GRANARY_TOOL_GRANARY_H
#define GRANARY_TOOL_GRANARY_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "dataset/dataset.h"

struct request;

struct command {
	const char *name;
	const char *usage;          /* the arguments */
	const char *summary;        /* one line */
	const char *help;           /* lines on its own options, or "" */
	const char *shorts;         /* its own options, as getopt has them */
	const struct option *longs; /* its own, to letters of `shorts`; or NULL */
	bool takes_dataset;         /* -o is known, and a source is needed */
	bool no_spool;              /* it works on packed files as they are */
	bool no_json;               /* it says why, and help does not offer it */
	bool takes_nothing;         /* no argument is needed */
	bool takes_quiet;           /* it shows progress, and -q takes that away */
	int (*run)(struct request *request);
};

extern const struct command command_info, command_ls, command_cat, command_index,
	command_umount, command_stats, command_wait, command_verify, command_extract,
	command_stat, command_run, command_pack, command_convert, command_doctor, command_list,
	command_top, command_report;

enum { OPTION_LETTERS = 128 };

/* A parsed command line. */
struct request {
	const struct command *command;
	struct dataset_config config;
	bool json;
	bool part;                         /* of a command that reports the result */
	bool quiet;                        /* prints neither success nor progress */
	bool given[OPTION_LETTERS];        /* by letter: was it given? */
	const char *value[OPTION_LETTERS]; /* by letter: its argument */
	char **arguments; /* within argv: the positional ones */
	size_t argument_count;
	size_t behind_dashes; /* how many of them, the last ones, follow `--` */

	/* set by request_open */
	size_t source_count;
	char **paths;   /* behind the sources */
	size_t path_count;
	struct dataset *dataset;
};

/* Parses and runs: the exit status. */
int request_run(const struct command *command, int argc, char **argv);

/* Sources only, or sources and then paths. */
enum positionals { ONLY_SOURCES, SOURCES_AND_PATHS };

/*
 * Splits the positional arguments: the first is a source, and so is each further one that
 * is a packed file or a shard pattern. The others are paths in the tree.
 */
void request_split(struct request *request, enum positionals positionals);

/* Splits them, and opens the dataset: 0 or an exit status, the error printed. */
int request_open(struct request *request, enum positionals positionals);

/* Prints the sentence, if there is one, and returns its exit status. */
int report_error(const struct error *e);

/* Prints a sentence about the command line and returns ERROR_USAGE. */
int report_usage(const struct command *command, const char *what);

/*
 * With --json, and nothing printed yet: prints an object with the error reported last.
 * Each command ends with it; a child that exits by itself must call it.
 * report_json_is_printed: a child has printed it already. Returns `status`.
 */
int report_json(const struct request *request, int status);
void report_json_is_printed(void);

/*
 * The node of a path in the tree, "" and "/" being the root: 0, or the error
 * printed and an exit status.
 */
int request_node(const struct request *request, const char *path, uint32_t *node);

/* Flushes standard output: 0, or the error printed and an exit status. */
int finish_output(void);

/* Prints a name to stdout, on a terminal without control characters, as ls(1) does. */
void print_escaped(const char *name);

#endif
