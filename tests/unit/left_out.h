/* SPDX-License-Identifier: GPL-3.0-or-later */
/* left_out.h: the main of a test whose library this build leaves out. */
#include <stdio.h>

int main(void)
{
	puts("1..0 # SKIP this build leaves out a library that the test needs");
	return 0;
}
