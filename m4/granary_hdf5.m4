# GRANARY_HDF5: HDF5_CFLAGS and HDF5_LIBS, from pkg-config where the distribution
# has a file for it (Debian), else from the compiler's own paths (Fedora).
AC_DEFUN([GRANARY_HDF5], [
  PKG_CHECK_MODULES([HDF5], [hdf5 >= 1.10],
    [granary_hdf5=$($PKG_CONFIG --modversion hdf5)],
    [granary_save_LIBS=$LIBS
     AC_CHECK_HEADER([hdf5.h], [],
       [AC_MSG_ERROR([hdf5.h is missing (Debian: libhdf5-dev, Fedora: hdf5-devel)])])
     AC_CHECK_LIB([hdf5], [H5Dread_chunk], [HDF5_LIBS=-lhdf5],
       [AC_MSG_ERROR([libhdf5 1.10.2 or later is missing (Debian: libhdf5-dev, Fedora: hdf5-devel)])])
     LIBS=$granary_save_LIBS
     granary_hdf5="found by the compiler"])
  # its headers are not ours to warn about
  HDF5_CFLAGS=$(echo " $HDF5_CFLAGS" | sed 's/ -I/ -isystem /g')
])
