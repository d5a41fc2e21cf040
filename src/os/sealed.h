/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sealed.h: memory (memfd_create(2)) that no process can change.
 *
 * Threads: any.
 */
#ifndef GRANARY_OS_SEALED_H
#define GRANARY_OS_SEALED_H

#include <stdbool.h>

/* Seals a memfd that was made with MFD_ALLOW_SEALING: 0 or a negative errno. */
int sealed_make(int memory);

/* Is it sealed against writes and changes of size? */
bool sealed_is(int memory);

#endif
