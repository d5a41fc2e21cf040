/* SPDX-License-Identifier: GPL-3.0-or-later */
/* left_out.c: what stands in the place of writers that this build leaves out. */
#include "config.h"
#include "packer/writer.h"

UNLESS_SQUASHFS(const struct writer_ops squashfs_writer = { .name = "squashfs",
							    .needs = NEEDS_SQUASHFS };)
UNLESS_HDF5(const struct writer_ops hdf5_writer = { .name = "hdf5", .needs = NEEDS_HDF5 };)
