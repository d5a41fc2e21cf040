/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h: our other program.
 */
#ifndef GRANARY_OS_PROGRAM_H
#define GRANARY_OS_PROGRAM_H

#include <limits.h>

#include "base/error.h"

enum { PROGRAM_PATH_BYTES = PATH_MAX + 16 };

/*
 * The path of `name`, which has fewer than 16 bytes and lies beside the running program,
 * installed or not. 0, or a negative errno and a sentence. In a chroot the path is right
 * only before the caller makes a mount namespace: the kernel then shows where the running
 * program lies outside of the chroot.
 */
int program_beside(const char *name, char out[PROGRAM_PATH_BYTES], struct error *e);

#endif
