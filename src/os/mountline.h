/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mountline.h: the fields of a line of /proc/self/mountinfo, as proc(5) has it.
 * Private to os/.
 */
#ifndef GRANARY_OS_MOUNTLINE_H
#define GRANARY_OS_MOUNTLINE_H

/* The next field, NUL-terminated. One space separates fields, which may be empty. */
char *mountline_field(char **at);

/* Turns \040 into a space, and so on, in place; returns `text`. */
char *mountline_unescape(char *text);

#endif
