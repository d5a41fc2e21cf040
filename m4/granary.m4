dnl SPDX-License-Identifier: GPL-3.0-or-later
# GRANARY_DEVELOPER: --enable-developer turns on many warnings, as errors.
AC_DEFUN([GRANARY_DEVELOPER], [
AC_ARG_ENABLE([developer],
	[AS_HELP_STRING([--enable-developer], [many warnings, and all of them errors])],
	[], [enable_developer=no])
granary_developer="the compiler's own"
DEVELOPER_CFLAGS=
AS_IF([test "$enable_developer" = yes], [
	granary_developer="many, as errors"
	for flag in -Wall -Wextra -Wshadow -Wvla -Wpointer-arith \
		-Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
		-Wwrite-strings -Wundef -Wformat=2 -Wformat-signedness \
		-Wcast-align -Wcast-qual -Wredundant-decls -Wnested-externs \
		-Wswitch-enum -Wunused -Wno-unused-parameter -Wuninitialized -Wlogical-op \
		-Wduplicated-cond -Wduplicated-branches -Wnull-dereference \
		-Wdouble-promotion -Wconversion -Wsign-conversion \
		-Wimplicit-fallthrough -Werror
	do
		GRANARY_TRY_CFLAG([$flag])
	done
])
AC_SUBST([DEVELOPER_CFLAGS])
])

# GRANARY_TRY_CFLAG(FLAG): adds FLAG to DEVELOPER_CFLAGS if the compiler has it.
AC_DEFUN([GRANARY_TRY_CFLAG], [
granary_saved_cflags="$CFLAGS"
CFLAGS="$CFLAGS -Werror $1"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
	[DEVELOPER_CFLAGS="$DEVELOPER_CFLAGS $1"])
CFLAGS="$granary_saved_cflags"
])

# GRANARY_SANITIZERS: --enable-sanitizers=address,undefined or =thread.
AC_DEFUN([GRANARY_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
	[AS_HELP_STRING([--enable-sanitizers=LIST],
		[address,undefined or thread])],
	[], [enable_sanitizers=no])
granary_sanitizers=none
SANITIZER_CFLAGS=
AS_CASE([$enable_sanitizers],
	[no], [],
	[yes], [AC_MSG_ERROR([--enable-sanitizers needs a list: address,undefined or thread])],
	[granary_sanitizers=$enable_sanitizers
	SANITIZER_CFLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all -g"])
AC_SUBST([SANITIZER_CFLAGS])
AM_CONDITIONAL([SANITIZERS], [test "$granary_sanitizers" != none])
])
