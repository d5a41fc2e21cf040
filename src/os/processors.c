/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/processors.h"

#include <sched.h>

enum { PROCESSORS_MOST = 8192 }; /* a cpu_set_t has 1,024, and then the call fails */

unsigned processors_count(void)
{
	cpu_set_t sets[PROCESSORS_MOST / CPU_SETSIZE] = { 0 };
	int n = 0;

	if (sched_getaffinity(0, sizeof(sets), sets) == 0)
		n = CPU_COUNT_S(sizeof(sets), sets);
	return n > 1 ? (unsigned)n : 1;
}
