/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_output.h: an HDF5 file that is written to a descriptor, through a file driver of
 * ours.
 *
 * The driver knows what the system said (libhdf5 does not pass an errno on), takes no
 * locks, and needs no name. Once a write has failed it pretends that all is well and
 * writes nothing more: libhdf5 cannot close a file that it cannot write. So a caller
 * asks hdf5_output_error, whatever libhdf5 says.
 *
 * For one thread, and no other call into libhdf5 meanwhile.
 */
#ifndef GRANARY_PACKER_HDF5_OUTPUT_H
#define GRANARY_PACKER_HDF5_OUTPUT_H

#define H5_USE_110_API
#include <hdf5.h>

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct hdf5_output {
	int fd;           /* the caller's */
	const char *path; /* for messages; the caller's */
	int error;        /* what the system said first, a negative errno, or 0 */
	uint64_t size;    /* bytes */
	hid_t file;
	hid_t group_create;  /* property lists without clocks */
	hid_t link_create;
	hid_t one; /* the space of one element */
};

/*
 * `small_chunks`: tables of chunks are made for files of few chunks, as those of many
 * small compressed files are. 0, or a negative errno and a sentence; close in any case.
 */
int hdf5_output_open(struct hdf5_output *out, int fd, const char *path,
		     bool small_chunks, struct error *e);

/* Writes what is left, unless something failed before: 0, or -errno and a sentence. */
int hdf5_output_close(struct hdf5_output *out, bool complete, struct error *e);

/* What went wrong while `what` was written, as -errno and a sentence. */
int hdf5_output_failed(const struct hdf5_output *out, const char *what, struct error *e);

/* A property list without a clock, for groups or datasets; H5I_INVALID_HID: no memory. */
hid_t hdf5_output_properties(hid_t class);

/*
 * Elements [first, first + count) of a dataset of one dimension, from memory of the
 * given type. Is all well, with the disk too?
 */
bool hdf5_output_write(const struct hdf5_output *out, hid_t dataset, hid_t type,
		       uint64_t first, uint64_t count, const void *elements);

#endif
