/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decoy.c: processes of a user that look like granaryfs and are costly to look at.
 *
 *	granaryfs huge PATH        PATH, and then 64 GiB of arguments that it never wrote
 *	granaryfs many COUNT PATH  COUNT empty arguments, and PATH
 *	granaryfs crowd COUNT PATH COUNT processes, each with the argument PATH
 *
 * The program's file is to be named granaryfs, for the kernel takes the name from it.
 * Prints a line when all are there, "none" where this kernel has no such thing, and
 * ends with its parent, or after five minutes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LONGEST 300 /* seconds */
#define HUGE ((size_t)64 << 30)
#define FIELDS 53

static int stay(const char *said)
{
	puts(said);
	fflush(stdout);
	alarm(LONGEST);
	return pause();
}

/* The numbers of /proc/self/stat as proc(5) counts them; the name is no number. */
static int read_stat(unsigned long long field[FIELDS])
{
	char text[4096], *at;
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return -EIO;
	text[length] = '\0';
	at = strrchr(text, ')');
	if (!at)
		return -EIO;
	at += 3; /* the state is a letter */
	for (int i = 4; i < FIELDS; i++)
		field[i] = strtoull(at + 1, &at, 10);
	return 0;
}

/* Pages that were never written cost nobody anything but who reads them. */
static int huge(const char *path)
{
	unsigned long long field[FIELDS] = {0};
	struct prctl_mm_map map = {.exe_fd = (uint32_t)-1};
	char *arguments = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (arguments == MAP_FAILED || read_stat(field) < 0)
		return 1;
	strcpy(arguments, path);
	map.start_code = field[26];
	map.end_code = field[27];
	map.start_stack = field[28];
	map.start_data = field[45];
	map.end_data = field[46];
	map.start_brk = field[47];
	map.brk = (uintptr_t)sbrk(0);
	map.env_start = field[50];
	map.env_end = field[51];
	map.arg_start = (uintptr_t)arguments;
	map.arg_end = map.arg_start + HUGE;
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) < 0)
		return stay("none");
	return stay("huge");
}

static int many(int count, char *path)
{
	char **arguments = calloc((size_t)count + 3, sizeof(*arguments));
	static char empty[] = "";

	if (!arguments)
		return 1;
	for (int i = 0; i <= count; i++)
		arguments[i] = empty;
	arguments[count + 1] = path;
	execv("/proc/self/exe", arguments);
	return 1;
}

static int crowd(int count)
{
	pid_t parent = getpid();

	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != parent)
				_exit(0);
			for (;;)
				pause();
		}
	}
	return stay("crowd");
}

int main(int argc, char **argv)
{
	if (argc > 4) {
		prctl(PR_SET_NAME, "granaryfs"); /* by /proc/self/exe it was named exe */
		return stay("many");
	}
	if (argc == 3 && strcmp(argv[1], "huge") == 0)
		return huge(argv[2]);
	if (argc == 4 && strcmp(argv[1], "many") == 0)
		return many(atoi(argv[2]), argv[3]);
	if (argc == 4 && strcmp(argv[1], "crowd") == 0)
		return crowd(atoi(argv[2]));
	return 2;
}
