/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * renew.h: granary index --renew: indexes of 0.1 get what 0.1 did not record of their packed
 * files (their inodes' numbers, their samples). No packed file is scanned.
 */
#ifndef GRANARY_TOOL_RENEW_H
#define GRANARY_TOOL_RENEW_H

#include "granary.h"

/* Looks through the folders that the request names: an exit status, all errors printed. */
int renew(const struct request *request);

#endif
