/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/sealed.h"

#include <errno.h>
#include <fcntl.h>

enum { SEALS = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK };

int sealed_make(int memory)
{
	if (sealed_is(memory))
		return 0;
	return fcntl(memory, F_ADD_SEALS, SEALS | F_SEAL_SEAL) < 0 ? -errno : 0;
}

bool sealed_is(int memory)
{
	int now = fcntl(memory, F_GET_SEALS);

	return now >= 0 && (now & SEALS) == SEALS;
}
