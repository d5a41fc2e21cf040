/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop.h: the files behind loop devices. Private to source/.
 */
#ifndef GRANARY_SOURCE_LOOP_H
#define GRANARY_SOURCE_LOOP_H

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Describes the file that an open loop device, or a partition of one, shows. False for
 * other devices, and if the file has no name here any more. Needs Linux 2.6.37.
 */
bool loop_file(int fd, const struct stat *device, struct stat *out);

#endif
