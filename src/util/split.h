/*
 * split.h: the words that say which part of a dataset something is.
 *
 * Threads: any.
 */
#ifndef GRANARY_UTIL_SPLIT_H
#define GRANARY_UTIL_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

/* Are these `n` bytes "train", "val", "validation", "test", ...; in either case? */
bool split_is_word(const char *text, size_t n);

/* The same, in small letters only. */
bool split_is_small_word(const char *text, size_t n);

#endif
