/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuse/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "os/processors.h"

enum { CPUS_MOST = 8192 };

/* Room for more processors than a cpu_set_t has. */
struct mask {
	cpu_set_t sets[CPUS_MOST / CPU_SETSIZE];
};

static unsigned cpus_count(const struct mask *mask)
{
	return (unsigned)CPU_COUNT_S(sizeof(*mask), mask->sets);
}

static int parse_list(const char *list, struct mask *out)
{
	while (*list) {
		unsigned long first, last;
		char *end;

		if (!isdigit((unsigned char)*list))
			return -EINVAL;
		first = last = strtoul(list, &end, 10);
		if (*end == '-' && isdigit((unsigned char)end[1]))
			last = strtoul(end + 1, &end, 10);
		if (last < first || last >= CPUS_MOST || (*end && *end != ',' && *end != ':'))
			return -EINVAL;
		for (; first <= last; first++)
			CPU_SET_S(first, sizeof(*out), out->sets);
		list = *end ? end + 1 : end;
	}
	return cpus_count(out) ? 0 : -EINVAL;
}

/* The kernel reduces a mask to the processors that the cgroup allows. */
static void widen(void)
{
	unsigned before = processors_allowed();
	struct mask all;

	memset(&all, 0xff, sizeof(all));
	if (sched_setaffinity(0, sizeof(all), all.sets) == 0 && processors_allowed() > before)
		log_info("runs on %u processors instead of the %u it was started on; "
			 "-o cpus=inherit keeps to those", processors_allowed(), before);
}

int cpus_apply(const char *cpus, struct error *e)
{
	struct mask mask = { 0 };

	if (!cpus || strcmp(cpus, "auto") == 0) {
		widen();
		return 0;
	}
	if (strcmp(cpus, "inherit") == 0)
		return 0;
	if (parse_list(cpus, &mask) < 0)
		return error_set(e, ERROR_USAGE, EINVAL,
				 "-o cpus=%s: not understood; it takes auto, inherit, or a "
				 "list such as 0-3:8", cpus);
	if (sched_setaffinity(0, sizeof(mask), mask.sets) < 0)
		return error_set(e, ERROR_USAGE, errno,
				 "-o cpus=%s: this process may not run there: %s", cpus,
				 strerror(errno));
	return 0;
}
