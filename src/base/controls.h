/* SPDX-License-Identifier: GPL-3.0-or-later */
/* controls.h: makes names from archives safe to print. */
#ifndef GRANARY_BASE_CONTROLS_H
#define GRANARY_BASE_CONTROLS_H

#include <stddef.h>

/*
 * Copies `text` with control characters as octal escapes such as \012: a name must not
 * forge a line, or control a terminal. Bytes above 127 stay, for they may be text. Copies
 * whole characters only, and a NUL, within `room` bytes.
 */
void controls_escape(const char *text, char *out, size_t room);

#endif
