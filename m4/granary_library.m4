dnl SPDX-License-Identifier: GPL-3.0-or-later
# GRANARY_LIBRARY(VARIABLE, MODULE, HEADER, LIBRARY, FUNCTION, PACKAGES): VARIABLE_CFLAGS
# and VARIABLE_LIBS from pkg-config, or where the distribution has no file for it, from
# the compiler's own paths. FUNCTION tells that the library is new enough.
AC_DEFUN([GRANARY_LIBRARY], [
PKG_CHECK_MODULES([$1], [$2], [granary_version=$($PKG_CONFIG --modversion "$2")],
	[AC_CHECK_HEADER([$3], [], [AC_MSG_ERROR([$3 is missing ($6)])])
	AC_CHECK_LIB([$4], [$5], [$1_LIBS=-l$4],
		[AC_MSG_ERROR([a lib$4 with $5() is missing ($6)])])
	granary_version="found by the compiler"])
])

# GRANARY_CODEC: the same, added to CODECS_CFLAGS and CODECS_LIBS.
AC_DEFUN([GRANARY_CODEC], [
GRANARY_LIBRARY($@)
CODECS_CFLAGS="$CODECS_CFLAGS $$1_CFLAGS"
CODECS_LIBS="$CODECS_LIBS $$1_LIBS"
])

# GRANARY_HDF5: Debian has a file for it, Fedora has none.
AC_DEFUN([GRANARY_HDF5], [
GRANARY_LIBRARY([HDF5], [hdf5 >= 1.10.2], [hdf5.h], [hdf5], [H5Dread_chunk],
	[Debian: libhdf5-dev, Fedora: hdf5-devel])
granary_hdf5=$granary_version
# its headers are not ours to warn about
HDF5_CFLAGS=$(echo " $HDF5_CFLAGS" | sed 's/ -I/ -isystem /g')
])

# GRANARY_SQUASHFS: what libsquashfs gives is freed by its own function since 1.1, and by
# free() before.
AC_DEFUN([GRANARY_SQUASHFS], [
PKG_CHECK_MODULES([SQUASHFS], [libsquashfs1 >= 1.0])
granary_saved_libs="$LIBS"
LIBS="$LIBS $SQUASHFS_LIBS"
AC_CHECK_FUNC([sqfs_free], [], [SQUASHFS_CFLAGS="$SQUASHFS_CFLAGS -Dsqfs_free=free"])
LIBS="$granary_saved_libs"
])
