dnl SPDX-License-Identifier: GPL-3.0-or-later
# GRANARY_SQUASHFUSE: in newer versions a block of metadata counts its users. By a flag
# and not in config.h, for the library's headers have a config.h of their own.
AC_DEFUN([GRANARY_SQUASHFUSE], [
PKG_CHECK_MODULES([SQUASHFUSE], [squashfuse >= 0.1.103])
granary_saved_cflags="$CFLAGS"
CFLAGS="$CFLAGS $SQUASHFUSE_CFLAGS"
AC_CHECK_MEMBER([sqfs_block.refcount],
	[SQUASHFUSE_CFLAGS="$SQUASHFUSE_CFLAGS -DSQUASHFUSE_COUNTS_USERS"], [],
	[[#include <squashfuse/squashfuse.h>]])
CFLAGS="$granary_saved_cflags"
# its headers are not ours to warn about
SQUASHFUSE_CFLAGS=$(echo " $SQUASHFUSE_CFLAGS" | sed 's/ -I/ -isystem /g')
])
