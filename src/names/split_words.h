/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * split_words.h: the words that say which part of a dataset something is.
 *
 * Threads: any.
 */
#ifndef GRANARY_NAMES_SPLIT_WORDS_H
#define GRANARY_NAMES_SPLIT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Are these `n` bytes "train", "val", "validation", "test", ...; in either case? */
bool split_is_word(const char *text, size_t n);

/* The same, in small letters only. */
bool split_is_lowercase_word(const char *text, size_t n);

/* Are these the same part: the same bytes, or as "val" and "validation"? Small letters. */
bool split_is_same(const char *a, size_t na, const char *b, size_t nb);

/* May a directory be called so? */
bool split_names_directory(const char *word);

enum { SPLIT_BYTES = 16 };

/*
 * The split that a file's name says: such a word, "trainval", "dev" or "eval", as
 * "train" of "x-train-0001.tar". Where it has none, that of the directory it is in:
 * "val/x.tar"; of LMDB's data.mdb the directory is the name. false, and "": there is none, or there are two that differ.
 */
bool split_of_path(const char *path, char out[SPLIT_BYTES]);

#endif
