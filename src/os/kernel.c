/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "os/kernel.h"

#include <stdio.h>
#include <sys/utsname.h>

bool kernel_parse(const char *release, unsigned *major, unsigned *minor)
{
	return sscanf(release, "%u.%u", major, minor) == 2;
}

bool kernel_is_since(unsigned major, unsigned minor)
{
	struct utsname name;
	unsigned is, dot;

	if (uname(&name) < 0 || !kernel_parse(name.release, &is, &dot))
		return false;
	return is > major || (is == major && dot >= minor);
}
