/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * controls.h: names from archives, in texts that people and terminals read.
 */
#ifndef GRANARY_BASE_CONTROLS_H
#define GRANARY_BASE_CONTROLS_H

#include <stddef.h>

/*
 * Copies `text` with each control character as an octal escape, \012 say: a name must not
 * forge a line, or drive a terminal. Bytes above 127 stay, since they are somebody's
 * language. Only whole characters come, and a NUL, within `room` bytes.
 */
void controls_escape(const char *text, char *out, size_t room);

#endif
