/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_layouts.h: the two ways in which files become an HDF5 file. Each takes what a
 * writer takes (writer.h), and is only used through hdf5_writer.c.
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
	int (*end)(void *state, struct error *e); /* of a file: all its bytes are there */
	/* Frees the state whatever is returned. The HDF5 file is closed after it. */
	int (*close)(void *state, bool complete, struct error *e);
};

extern const struct hdf5_layout hdf5_tree_layout, hdf5_jsc_layout;

#endif
