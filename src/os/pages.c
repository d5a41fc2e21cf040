/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/pages.h"

#include <unistd.h>

size_t pages_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

uint64_t pages_round_up(uint64_t bytes)
{
	uint64_t page = pages_size();

	return (bytes + page - 1) / page * page;
}
