/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_layouts.h: the two layouts of an HDF5 file. A layout has the operations of a
 * writer (writer.h), and only hdf5_writer.c calls them.
 */
#ifndef GRANARY_PACKER_HDF5_LAYOUTS_H
#define GRANARY_PACKER_HDF5_LAYOUTS_H

#include "packer/hdf5_output.h"
#include "packer/writer.h"

struct hdf5_layout {
	const char *name;
	bool compresses;
	int (*check)(const struct pack_entry *entry, struct error *e);
	/* Allocates *state; nothing is left to free if it fails. */
	int (*open)(void **state, struct hdf5_output *out,
		    const struct writer_config *config, struct error *e);
	int (*begin)(void *state, const struct pack_entry *entry, struct error *e);
	int (*data)(void *state, const void *bytes, size_t length, struct error *e);
	int (*end)(void *state, struct error *e); /* of a file, after its last byte */
	/* Frees the state, also on an error. The HDF5 file is closed after this call. */
	int (*close)(void *state, bool complete, struct error *e);
};

extern const struct hdf5_layout hdf5_tree_layout, hdf5_jsc_layout;

#endif
