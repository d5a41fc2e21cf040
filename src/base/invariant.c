/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/invariant.h"

#include <stdlib.h>

#include "base/filename.h"
#include "base/log.h"

void invariant_broken(const char *text, const char *file, int line)
{
	log_error("a bug of this program, please report it: %s:%d: %s does not hold",
		  filename_of(file), line, text);
	abort();
}
