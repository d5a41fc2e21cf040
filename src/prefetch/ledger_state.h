/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ledger_state.h: what a ledger is made of. Private to prefetch/. */
#ifndef GRANARY_PREFETCH_LEDGER_STATE_H
#define GRANARY_PREFETCH_LEDGER_STATE_H

#include "prefetch/ledger.h"

enum { LEDGER_BITS = 64 };

/* Shared by the servers. The supervisor, which outlives them, relies on nothing in it. */
struct ledger_shared {
	_Atomic int state;          /* enum sweep_state */
	_Atomic uint32_t position;
	_Atomic uint32_t end;
	_Atomic unsigned crashes;
	_Atomic uint64_t part;      /* bytes of the partly held file */
	_Atomic uint32_t at[LEDGER_WORKERS]; /* node + 1 of each worker's file; 0: none */
	_Atomic uint64_t held[];    /* one bit a node */
};

struct ledger {
	uint64_t magic; /* HANDLE_LEDGER */
	uint32_t nodes;
	struct ledger_shared *shared; /* a mapping */
};

#endif
