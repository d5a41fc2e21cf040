/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.h: the kernel's version, for what it has no other way of telling.
 *
 * Distributions give old numbers to kernels with newer parts: a question that the kernel
 * can answer is better. Threads: any.
 */
#ifndef GRANARY_OS_KERNEL_H
#define GRANARY_OS_KERNEL_H

#include <stdbool.h>

/* "6.12.9-amd64" is 6.12. False where the text does not begin with a version. */
bool kernel_parse(const char *release, unsigned *major, unsigned *minor);

/* Is this kernel that version, or a later one? */
bool kernel_is_since(unsigned major, unsigned minor);

#endif
