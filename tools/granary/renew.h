/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * renew.h: granary index --renew: adds to indexes of 0.1 the identities of their packed
 * files (inode numbers, samples). No packed file is scanned. With --adopt those of packed
 * files that were renamed with them are compared with these, which are scanned.
 */
#ifndef GRANARY_TOOL_RENEW_H
#define GRANARY_TOOL_RENEW_H

#include "granary.h"

/* Walks the directories of the request: an exit status, all errors printed. */
int renew(const struct request *request);

#endif
