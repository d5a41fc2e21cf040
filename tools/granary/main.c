/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c: granary COMMAND ... */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox_child.h"
#include "granary.h"
#include "os/child.h"
#include "base/log.h"
#include "os/rights.h"

static const struct command *const commands[] = {
	&command_info,
	&command_ls,
	&command_cat,
	&command_index,
	&command_list,
	&command_stats,
	&command_top,
	&command_wait,
	&command_report,
	&command_umount,
	&command_verify,
	&command_extract,
	&command_stat,
	&command_run,
	&command_pack,
	&command_convert,
	&command_doctor,
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void main_print_help(void)
{
	puts("usage: granary COMMAND ...\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		printf("    %-8s %s\n", commands[i]->name, commands[i]->summary);
	puts("\ngranary COMMAND --help says more. To mount a dataset: granaryfs --help.");
	if (*BUG_ADDRESS)
		puts("Report bugs to: " BUG_ADDRESS);
	if (*HOME_URL)
		puts("Home page: " HOME_URL);
}

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

/* granary index --for-mount FD --caller PROCESS:UID:GID ..., as place/run_indexer.c has it. */
static bool is_for_mount(int argc, char **argv)
{
	return argc > 2 && strcmp(argv[1], "index") == 0 &&
	       strcmp(argv[2], "--for-mount") == 0;
}

/*
 * An indexer that granaryfs runs parses packed files, and has two user ids where root
 * mounts for a user. So the rights go before options, the environment or a file are read.
 * No other command needs this: `run` reads no packed file, and becomes the caller's own
 * command.
 */
static int main_drop_rights(int argc, char **argv, struct error *e)
{
	unsigned uid, gid;
	long caller;
	char rest;
	int err;

	if (!is_for_mount(argc, argv))
		return getuid() == geteuid() && getgid() == getegid() ? 0 :
									rights_renounce(e);
	if (argc < 6 || strcmp(argv[4], "--caller") != 0 ||
	    sscanf(argv[5], "%ld:%u:%u%c", &caller, &uid, &gid, &rest) != 3)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "--for-mount is for granaryfs; are granary and granaryfs of the "
				 "same version?");
	/* root's indexer stays root; its child parses as nobody */
	err = uid == 0 && getuid() == 0 ? rights_keep_for_children(e) :
		rights_renounce_as(uid, gid, e);
	if (!err && caller > 0 && child_ends_with_parent((pid_t)caller) < 0)
		return error_set(e, ERROR_SYSTEM, ESRCH,
				 "granaryfs (process %ld), which asked for an index, has ended",
				 caller);
	return err;
}

/*
 * If the caller closed standard streams, messages would go into a file that is opened
 * next, such as a packed one. These substitutes are open for the wrong direction, so
 * reads and writes still fail.
 */
static int fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct error e = { 0 };

	if (fill_standard_streams() < 0 ||
	    (!is_for_mount(argc, argv) && sandbox_child_note_inherited() < 0))
		return ERROR_SYSTEM;
	if (main_drop_rights(argc, argv, &e) < 0)
		return report_error(&e);
	log_open("granary", LOG_LEVEL_WARN);
	if (argc < 2) {
		main_print_help();
		return ERROR_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		main_print_help();
		return 0;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts(PACKAGE_STRING);
		return 0;
	}
	command = find_command(argv[1]);
	if (!command) {
		log_error("there is no command %s; granary --help lists them", argv[1]);
		return ERROR_USAGE;
	}
	return request_run(command, argc - 1, argv + 1);
}
