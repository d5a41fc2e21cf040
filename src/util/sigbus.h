/*
 * sigbus.h: files that are mapped and may shrink under us.
 *
 * A page of a guarded mapping that can no longer be read (the file was
 * truncated, the storage failed) becomes a page of zeros, and the guard says
 * so from then on; the reader, which checks every number anyway, ends in an
 * error instead of a signal. A SIGBUS outside every guard is a crash as usual.
 *
 * Threads: guard and unguard by the owner of the mapping; sigbus_hit anywhere.
 */
#ifndef GRANARY_UTIL_SIGBUS_H
#define GRANARY_UTIL_SIGBUS_H

#include <stdbool.h>
#include <stddef.h>

struct sigbus_guard;

/*
 * Guards [base, base + size), page-aligned. NULL: too many guards, or the
 * handler could not be installed.
 */
struct sigbus_guard *sigbus_guard(void *base, size_t size);
void sigbus_unguard(struct sigbus_guard *guard);

/*
 * What a signal handler is to call (with SIGBUS) before a SIGBUS outside every
 * guard ends the process. NULL: nothing. One thread.
 */
void sigbus_otherwise(void (*call)(int signal));

/* Has a page of the mapping been lost? */
bool sigbus_hit(const struct sigbus_guard *guard);

#endif
