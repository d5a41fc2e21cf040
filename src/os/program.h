/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h: finds the other program, granary or granaryfs.
 */
#ifndef GRANARY_OS_PROGRAM_H
#define GRANARY_OS_PROGRAM_H

#include <limits.h>

#include "base/error.h"

enum { PROGRAM_PATH_BYTES = PATH_MAX + 16 };

/*
 * The path of `name` (less than 16 bytes) beside the running program, installed or not.
 * 0, or a negative errno and *e. In a chroot call it before a mount namespace is made:
 * afterwards the kernel shows the program's path outside of the chroot.
 */
int program_find(const char *name, char out[PROGRAM_PATH_BYTES], struct error *e);

#endif
