/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cache_check.h: checks a cache against the rules of cache/state.h. */
#ifndef GRANARY_TESTS_CACHE_CHECK_H
#define GRANARY_TESTS_CACHE_CHECK_H

#include "cache/cache.h"

/*
 * NULL, or the broken rule. All other threads wait meanwhile. `quiet`: no other thread is
 * in a call; then the bytes are checked as well.
 */
const char *cache_check(struct cache *cache, bool quiet);

#endif
