/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlay.c: a shield that does not show what is behind it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "faults.h"
#include "os/mountapi.h"

enum { OVERLAY_MAGIC = 0x794c7630, ARGUMENTS = 6 };

/* The linker's names (--wrap). */
int __wrap_mkdirat(int directory, const char *name, mode_t mode);
int __real_mkdirat(int directory, const char *name, mode_t mode);
long __wrap_syscall(long number, ...);
long __real_syscall(long number, ...);
/* of which one is called, as the size of off_t is */
struct dirent *__wrap_readdir(DIR *directory);
struct dirent *__wrap_readdir64(DIR *directory);
struct dirent *__real_readdir64(DIR *directory);

static bool removes_layer;
static const char *lacking; /* a name, or NULL */

/*
 * The last directory that was made by a descriptor: the layer, in what makes an overlay.
 */
static int layer_directory = -1;
static char layer_name[FAULT_PATH_BYTES];

__attribute__((constructor)) static void begin(void)
{
	static const char lacks[] = "lacks=";
	const char *text = getenv("GRANARY_SHIELD");

	if (!text || !*text)
		return;
	if (strcmp(text, "removed") == 0)
		removes_layer = true;
	else if (strncmp(text, lacks, strlen(lacks)) == 0)
		lacking = text + strlen(lacks);
	else
		fault_refuse("GRANARY_SHIELD", text);
}

int __wrap_mkdirat(int directory, const char *name, mode_t mode)
{
	layer_directory = directory;
	snprintf(layer_name, sizeof(layer_name), "%s", name);
	return __real_mkdirat(directory, name, mode);
}

/* As libc's own it takes six arguments, of which the caller may have given fewer. */
__attribute__((no_sanitize("address", "thread"))) long __wrap_syscall(long number, ...)
{
	long arguments[ARGUMENTS], result;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < ARGUMENTS; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	result = __real_syscall(number, arguments[0], arguments[1], arguments[2], arguments[3],
				arguments[4], arguments[5]);
	/* of what is mounted by that call only an overlay is nosuid */
	if (removes_layer && number == SYS_fsmount && result >= 0 &&
	    (arguments[2] & MOUNTAPI_NOSUID))
		unlinkat(layer_directory, layer_name, AT_REMOVEDIR);
	return result;
}

static bool is_overlay(DIR *directory)
{
	struct statfs st;

	return fstatfs(dirfd(directory), &st) == 0 && st.f_type == OVERLAY_MAGIC;
}

struct dirent *__wrap_readdir64(DIR *directory)
{
	struct dirent *entry = __real_readdir64(directory);

	while (entry && lacking && strcmp(entry->d_name, lacking) == 0 && is_overlay(directory))
		entry = __real_readdir64(directory);
	return entry;
}

struct dirent *__wrap_readdir(DIR *directory)
{
	return __wrap_readdir64(directory);
}
