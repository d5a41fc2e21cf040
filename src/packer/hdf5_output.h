/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hdf5_output.h: an HDF5 file, written to a descriptor through our own file driver.
 *
 * The driver keeps the errno of the first failed write, which libhdf5 does not pass on.
 * The driver takes no locks and needs no file name. After a failed write it writes nothing
 * more and reports success, because libhdf5 cannot close a file that it cannot write. So
 * a caller checks the field `error`, whatever libhdf5 returns.
 *
 * Threads: one, with no other call into libhdf5 meanwhile.
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
	int error;        /* first failure, a negative errno, or 0 */
	uint64_t size;    /* bytes */
	hid_t file;
	hid_t group_create;  /* property lists without times of objects */
	hid_t link_create;
	hid_t one; /* the dataspace of one element */
};

/*
 * `small_chunks`: sizes the chunk tables for files of few chunks, such as many small
 * compressed files. 0, or a negative errno and a sentence; close in any case.
 */
int hdf5_output_open(struct hdf5_output *out, int fd, const char *path,
		     bool small_chunks, struct error *e);

/*
 * Writes pending data if complete and no error came before: 0, or -errno and a sentence.
 */
int hdf5_output_close(struct hdf5_output *out, bool complete, struct error *e);

/* Sets the sentence for a failure to write `what`; returns -errno. */
int hdf5_output_failed(const struct hdf5_output *out, const char *what, struct error *e);

/* A property list without times, for groups or datasets; H5I_INVALID_HID: no memory. */
hid_t hdf5_output_properties(hid_t class);

/*
 * Writes elements [first, first + count) of a dataset of one dimension, from memory of
 * the given type. False: libhdf5 or the disk failed.
 */
bool hdf5_output_write(const struct hdf5_output *out, hid_t dataset, hid_t type,
		       uint64_t first, uint64_t count, const void *elements);

#endif
