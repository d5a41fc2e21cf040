/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slots_check.h: checks slots against the rules of fuse/slots_state.h. */
#ifndef GRANARY_TESTS_SLOTS_CHECK_H
#define GRANARY_TESTS_SLOTS_CHECK_H

#include "fuse/slots.h"

/* While no thread runs: NULL, or the broken rule. */
const char *slots_check(const struct slots *slots);

#endif
