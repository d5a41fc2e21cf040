# SPDX-License-Identifier: GPL-3.0-or-later
"""Spack's recipe, for a repository of a site's own. Not tried: Spack could not be had."""

from spack.package import *


class Granaryfs(AutotoolsPackage):
    """Mounts packed datasets (tar, WebDataset, zip, squashfs, HDF5, Arrow, LMDB and others)
    as trees of files."""

    # The tarball of `make dist`, and where it is: a site's own.
    url = "file:///path/to/granaryfs-0.2.0.tar.xz"

    license("GPL-3.0-or-later")

    version("0.2.0")

    variant("hdf5", default=True, description="HDF5 files")
    variant("squashfs", default=False, description="squashfs images")
    variant("images", default=True, description="granary pack --decode")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libfuse@3.3:")
    depends_on("libarchive@3.3:")
    depends_on("xxhash@0.8:")
    depends_on("libcap-ng")
    depends_on("bzip2")
    depends_on("isa-l")
    depends_on("libdeflate")
    depends_on("lz4")
    depends_on("lzo")
    depends_on("nettle")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("hdf5@1.10.2:~mpi", when="+hdf5")
    depends_on("squashfuse", when="+squashfs")
    depends_on("squashfs-tools-ng", when="+squashfs")
    depends_on("libjpeg-turbo", when="+images")
    depends_on("libpng", when="+images")

    def configure_args(self):
        # Spack has no liblzf; c-blosc has no pkg-config file there
        args = ["--without-lzf", "--without-blosc"]
        for variant in ("hdf5", "squashfs", "images"):
            if self.spec.satisfies("~" + variant):
                args.append("--without-" + variant)
        return args
