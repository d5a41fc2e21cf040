/*
 * child.h: how a child process ended, in words.
 *
 * What parses strangers' files runs as a child: if a library dies of one, the
 * parent lives, and says so.
 */
#ifndef GRANARY_UTIL_CHILD_H
#define GRANARY_UTIL_CHILD_H

#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

/*
 * fork(2) for a child that is waited for and that ends with its parent. 0, and in
 * the child *out is 0; or a negative errno and a sentence.
 */
int child_fork(pid_t *out, struct error *e);

/* Waits for it to end: 0 and its wait status (wait(2)), or a negative errno. */
int child_wait(pid_t child, int *status, struct error *e);

/*
 * 0 if the child ended by itself. If it was an indexer that a signal ended while
 * it read `label` and so many `others`: -EBADMSG where it crashed, or -EIO, and the
 * sentence.
 */
int child_indexer_died(int status, const char *label, size_t others, struct error *e);

#endif
