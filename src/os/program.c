/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int program_find(const char *name, char out[PROGRAM_PATH_BYTES], struct error *e)
{
	ssize_t n = readlink("/proc/self/exe", out, PATH_MAX);
	char *slash;

	if (n < 0)
		return error_set(e, ERROR_SYSTEM, errno, "/proc/self/exe: %s; is /proc mounted?",
				 strerror(errno));
	out[n] = '\0';
	slash = strrchr(out, '/');
	snprintf(slash ? slash + 1 : out, 16, "%s", name);
	return 0;
}
