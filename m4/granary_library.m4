dnl SPDX-License-Identifier: GPL-3.0-or-later
# GRANARY_LIBRARIES: the libraries that a build may leave out, one line each:
# GRANARY_OPTIONAL(OPTION, VARIABLE, MODULES, NAME, PACKAGES, WHAT GOES WITH IT, and where
# a distribution has no file for pkg-config: HEADER, LIBRARY, FUNCTION).
# tools/dev/check-without and tests/lib.sh read these lines.
AC_DEFUN([GRANARY_LIBRARIES], [
GRANARY_OPTIONAL([hdf5], [HDF5], [hdf5 >= 1.10.2], [HDF5], [libhdf5-dev],
	[HDF5 files, mounted and packed], [hdf5.h], [hdf5], [H5Dread_chunk])
GRANARY_OPTIONAL([squashfs], [SQUASHFS], [squashfuse >= 0.1.103 libsquashfs1 >= 1.0], [squashfs],
	[libsquashfuse-dev, libsquashfs-dev], [squashfs images, mounted and packed])
GRANARY_OPTIONAL([deflate], [DEFLATE], [libdeflate], [libdeflate], [libdeflate-dev],
	[zip archives, and gzip in squashfs and HDF5], [libdeflate.h], [deflate], [libdeflate_zlib_decompress_ex])
GRANARY_OPTIONAL([lz4], [LZ4], [liblz4], [lz4], [liblz4-dev], [lz4 in squashfs and HDF5, and tars compressed with it])
GRANARY_OPTIONAL([zstd], [ZSTD], [libzstd], [zstd], [libzstd-dev], [zstd in squashfs, HDF5 and zip, and tars compressed with it])
GRANARY_OPTIONAL([lzma], [LZMA], [liblzma], [liblzma], [liblzma-dev], [xz in squashfs and zip, LZMA in zip, and tars compressed with it])
GRANARY_OPTIONAL([bzip2], [BZIP2], [bzip2], [bzip2], [libbz2-dev], [bzip2 in zip, and tars compressed with it],
	[bzlib.h], [bz2], [BZ2_bzBuffToBuffDecompress])
GRANARY_OPTIONAL([lzo], [LZO], [lzo2], [lzo], [liblzo2-dev], [lzo in squashfs])
GRANARY_OPTIONAL([lzf], [LZF], [liblzf], [lzf], [liblzf-dev], [lzf in HDF5])
GRANARY_OPTIONAL([blosc], [BLOSC], [blosc >= 1.16], [blosc], [libblosc-dev], [blosc in HDF5],
	[blosc.h], [blosc], [blosc_cbuffer_validate])
GRANARY_OPTIONAL([nettle], [NETTLE], [nettle >= 3.4], [nettle], [nettle-dev],
	[SHA-256: granary verify --checksums, --write-checksums])
GRANARY_OPTIONAL([images], [IMAGES], [libjpeg libpng], [libjpeg and libpng],
	[libjpeg-dev, libpng-dev], [granary pack --decode])
GRANARY_OPTIONAL([zlib], [ZLIB], [zlib], [zlib], [zlib1g-dev], [gzip-compressed tars, and traces of a mount])
GRANARY_OPTIONAL([isal], [ISAL], [libisal >= 2.30], [ISA-L], [libisal-dev],
	[the fast decoder of gzip-compressed tars; zlib decodes them too])

AS_IF([test "$with_hdf5" != no], [GRANARY_QUIETEN([HDF5])])
AS_IF([test "$with_squashfs" != no], [GRANARY_SQUASHFS])
CODECS_CFLAGS="$DEFLATE_CFLAGS $LZ4_CFLAGS $ZSTD_CFLAGS $LZMA_CFLAGS $BZIP2_CFLAGS $LZO_CFLAGS $LZF_CFLAGS $BLOSC_CFLAGS $ZLIB_CFLAGS $ISAL_CFLAGS"
CODECS_LIBS="$DEFLATE_LIBS $LZ4_LIBS $ZSTD_LIBS $LZMA_LIBS $BZIP2_LIBS $LZO_LIBS $LZF_LIBS $BLOSC_LIBS $ZLIB_LIBS $ISAL_LIBS"
AC_SUBST([CODECS_CFLAGS])
AC_SUBST([CODECS_LIBS])
AH_TOP([/* For tables whose rows name a library: what is always there. */
#define IF_ALWAYS(...) __VA_ARGS__
#define UNLESS_ALWAYS(...)
])
])

# GRANARY_OPTIONAL: for VARIABLE of HDF5, HDF5_CFLAGS and HDF5_LIBS, the condition WITH_HDF5
# of makefiles, and of C: WITH_HDF5 (1 or 0), NEEDS_HDF5 (a text: the library, and how to get
# it), IF_HDF5(...) and UNLESS_HDF5(...) (the text, or nothing).
AC_DEFUN([GRANARY_OPTIONAL], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--without-$1], [leave out $6 ($5)])], [], [with_$1=yes])
AC_DEFINE([NEEDS_$2], ["$4; build it again: ./configure --with-$1 ($5)"],
	[What $4 is called, and how to get it.])
AS_IF([test "$with_$1" != no], [
	PKG_CHECK_MODULES([$2], [$3],
		[granary_$1=$(echo $($PKG_CONFIG --modversion "$3"))],
		[m4_ifval([$7], [AC_CHECK_HEADER([$7], [], [GRANARY_MISSING([$1], [$4], [$5], [$6])])
		AC_CHECK_LIB([$8], [$9], [$2_LIBS=-l$8],
			[GRANARY_MISSING([$1], [$4], [$5], [$6])])
		granary_$1="found by the compiler"],
		[GRANARY_MISSING([$1], [$4], [$5], [$6])])])
	AC_DEFINE([WITH_$2], [1], [Is $4 there?])
	AC_DEFINE([IF_$2(...)], [__VA_ARGS__], [The text where $4 is there.])
	AC_DEFINE([UNLESS_$2(...)], [], [The text where $4 is not there.])
], [
	granary_$1="left out: $6"
	AC_DEFINE([WITH_$2], [0])
	AC_DEFINE([IF_$2(...)], [])
	AC_DEFINE([UNLESS_$2(...)], [__VA_ARGS__])
])
AM_CONDITIONAL([WITH_$2], [test "$with_$1" != no])
AS_VAR_APPEND([granary_libraries], ["
  $(printf %-13s $1) $granary_$1"])
])

# GRANARY_MISSING(OPTION, NAME, PACKAGES, WHAT)
AC_DEFUN([GRANARY_MISSING], [AC_MSG_ERROR([$2 is missing, or too old (Debian: $3); with --without-$1 the build leaves out $4])])

# GRANARY_QUIETEN(VARIABLE): its headers are not ours to warn about.
AC_DEFUN([GRANARY_QUIETEN], [$1_CFLAGS=$(echo " $$1_CFLAGS" | sed 's/ -I/ -isystem /g')])

# GRANARY_SQUASHFS: what libsquashfs gives is freed by its own function since 1.1, and by
# free() before. In newer versions of squashfuse a block of metadata counts its users. By
# flags and not in config.h, for the libraries' headers have a config.h of their own.
AC_DEFUN([GRANARY_SQUASHFS], [
granary_saved_libs="$LIBS"
LIBS="$LIBS $SQUASHFS_LIBS"
AC_CHECK_FUNC([sqfs_free], [], [SQUASHFS_CFLAGS="$SQUASHFS_CFLAGS -Dsqfs_free=free"])
LIBS="$granary_saved_libs"
granary_saved_cflags="$CFLAGS"
CFLAGS="$CFLAGS $SQUASHFS_CFLAGS"
AC_CHECK_MEMBER([sqfs_block.refcount],
	[SQUASHFS_CFLAGS="$SQUASHFS_CFLAGS -DSQUASHFUSE_COUNTS_USERS"], [],
	[[#include <squashfuse/squashfuse.h>]])
CFLAGS="$granary_saved_cflags"
GRANARY_QUIETEN([SQUASHFS])
])
