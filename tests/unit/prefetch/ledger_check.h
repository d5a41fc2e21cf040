/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ledger_check.h: checks a ledger against the two tables of prefetch/ledger.h. */
#ifndef GRANARY_TESTS_LEDGER_CHECK_H
#define GRANARY_TESTS_LEDGER_CHECK_H

#include "prefetch/ledger.h"

/* NULL, or the broken rule. `quiet`: no step is in progress; then `bytes` is a file's size. */
typedef uint64_t ledger_bytes(void *context, uint32_t node);
const char *ledger_check(const struct ledger *ledger, bool quiet, ledger_bytes *bytes,
			 void *context);

#endif
