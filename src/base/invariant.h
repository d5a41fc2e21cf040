/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * invariant.h: assertions about this program itself, in every build.
 *
 * Only a bug or corrupted memory breaks an invariant; input (an archive, an index, a
 * message, an option) must never break one. A broken invariant is logged, and the process
 * aborts. The supervisor then starts another server.
 *
 * A handle is an opaque struct of which other layers have a pointer. Its first member is
 * a magic word of its type, so public functions detect a pointer to another type or to
 * freed memory:
 *
 *	struct cache { uint64_t magic; ... };
 *	cache->magic = HANDLE_CACHE;           when it is made
 *	HANDLE_CHECK(cache, HANDLE_CACHE);     in each public function
 *	cache->magic = HANDLE_DEAD;            before it is freed
 *
 * Threads: any.
 */
#ifndef GRANARY_BASE_INVARIANT_H
#define GRANARY_BASE_INVARIANT_H

#include <stdint.h>

_Noreturn void invariant_broken(const char *text, const char *file, int line);

#define INVARIANT(condition)                                             \
	(__builtin_expect(!!(condition), 1) ?                            \
		 (void)0 :                                               \
		 invariant_broken(#condition, __FILE__, __LINE__))

/* Eight letters, readable in a debugger. */
#define HANDLE_CACHE   UINT64_C(0x2020206568636163) /* "cache   " */
#define HANDLE_DATASET UINT64_C(0x2074657361746164) /* "dataset " */
#define HANDLE_INDEX   UINT64_C(0x2020207865646e69) /* "index   " */
#define HANDLE_LEDGER  UINT64_C(0x202072656764656c) /* "ledger  " */
#define HANDLE_SLOTS   UINT64_C(0x20202073746f6c73) /* "slots   " */
#define HANDLE_SOURCE  UINT64_C(0x2020656372756f73) /* "source  " */
#define HANDLE_VOLUMES UINT64_C(0x2073656d756c6f76) /* "volumes " */
#define HANDLE_DEAD    UINT64_C(0x2020202064616564) /* "dead    " */

#define HANDLE_CHECK(handle, word) INVARIANT((handle)->magic == (word))

#endif
