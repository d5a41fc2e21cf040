/* main.c: granary COMMAND ... */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "granary.h"
#include "util/log.h"

static const struct command *const commands[] = {
	&command_info, &command_ls, &command_cat, &command_index, &command_umount,
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static void print_help(void)
{
	puts("usage: granary COMMAND ...\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		printf("    %-8s %s\n", commands[i]->name, commands[i]->summary);
	puts("\ngranary COMMAND --help says more. To mount a dataset: granaryfs --help.");
}

static const struct command *find_command(const char *name)
{
	for (int i = 0; i < COMMAND_COUNT; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *command;

	log_open("granary", LOG_LEVEL_WARN);
	if (argc < 2) {
		print_help();
		return ERROR_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help();
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
