/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kernel.h: the kernel's version, where no call can tell whether it has a feature.
 *
 * Distributions backport features to old versions, so try the feature itself where
 * possible. Threads: any.
 */
#ifndef GRANARY_OS_KERNEL_H
#define GRANARY_OS_KERNEL_H

#include <stdbool.h>

/* "6.12.9-amd64" is 6.12. False where the text does not begin with a version. */
bool kernel_parse(const char *release, unsigned *major, unsigned *minor);

/* Is this kernel that version, or a later one? */
bool kernel_is_since(unsigned major, unsigned minor);

#endif
