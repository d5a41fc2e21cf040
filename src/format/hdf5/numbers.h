/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * numbers.h: numbers of a file's types as int64_t: integers, bools, whole floats.
 *
 * Threads: one at a time, under format_hdf5's lock.
 */
#ifndef GRANARY_FORMAT_HDF5_NUMBERS_H
#define GRANARY_FORMAT_HDF5_NUMBERS_H

#include "format/hdf5/object.h"

struct hdf5_number {
	bool is_float, big_endian, is_signed;
	unsigned shift, bits; /* of integers */
	size_t bytes;
};

/* Integers, enumerations and floats of IEEE 754 of up to 8 bytes; false: another type. */
bool hdf5_number_describe(hid_t type, struct hdf5_number *out);

/* Is it a float of 2, 4 or 8 bytes as IEEE 754 has it, in some order of bytes? */
bool hdf5_is_ieee(hid_t type);

/* False: no whole number that an int64_t holds. */
bool hdf5_number_get(const struct hdf5_number *number, const unsigned char *bytes,
		     int64_t *out);

/* The same, and SAMPLE_UNLABELLED of NaN. */
bool hdf5_number_label(const struct hdf5_number *number, const unsigned char *bytes,
		       int64_t *out);

/* The number of the only 1 among `n` numbers that are 0 otherwise, or SAMPLE_UNLABELLED where
   all are 0; false: they are not so. */
bool hdf5_number_hot(const struct hdf5_number *number, const unsigned char *bytes,
		     uint64_t n, int64_t *out);

#endif
