/*
 * lifeline.h: is another process, or rather its main thread, still alive?
 *
 * A robust mutex in shared memory. The kernel cuts it when the thread that holds it
 * is dead, however it died, even while other threads of its process cannot die yet:
 * waiting for the process would take as long as these.
 *
 * Threads: made and asked by one process, held by one thread of a child at a time.
 */
#ifndef GRANARY_UTIL_LIFELINE_H
#define GRANARY_UTIL_LIFELINE_H

#include <stdbool.h>
#include <sys/types.h>

struct lifeline;

/* NULL: out of memory. */
struct lifeline *lifeline_new(void);
void lifeline_free(struct lifeline *lifeline);

/* The calling thread holds it until it dies: 0 or a negative errno. */
int lifeline_hold(struct lifeline *lifeline);

/* Has the thread that held it died? False as well where none holds it yet. */
bool lifeline_is_cut(struct lifeline *lifeline);

/*
 * Is every thread of a process that is being killed dead, or waiting in the kernel
 * for something that no signal ends (state D)? Such a thread dies when it has come,
 * without another step of its own. True where there is no such process.
 */
bool lifeline_rest_is_stuck(pid_t process);

/* Makes it whole again, for the next one. */
void lifeline_reset(struct lifeline *lifeline);

#endif
