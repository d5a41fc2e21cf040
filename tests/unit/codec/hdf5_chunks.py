#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes hdf5_chunks.def: what HDF5 itself stores for some chunks.

    HDF5_PLUGIN_PATH=DIRECTORY /usr/bin/python3 tests/unit/codec/hdf5_chunks.py \
        > tests/unit/codec/hdf5_chunks.def

DIRECTORY has HDF5's own plugins, of Debian's packages hdf5-filter-plugin (lz4) and
hdf5-filter-plugin-blosc-serial.

Byte i of a chunk is 3 + 7 * i. A sum in the old way cannot be written any more:
it is put into the file by hand, and stands here because HDF5 reads it.
"""
import os
import tempfile

import h5py
import numpy

STEPS = {"S": "SHUFFLE", "Z": "ZLIB", "F": "FLETCHER32", "L": "LZF", "4": "HDF5_LZ4",
         "B": "BLOSC"}

# filters in the order of writing; size of an element; bytes
CHUNKS = [("S", 1, 5), ("S", 2, 10), ("S", 3, 21), ("S", 4, 24), ("S", 5, 35),
          ("S", 8, 32), ("S", 12, 36), ("S", 8, 8),
          ("F", 1, 1), ("F", 1, 2), ("F", 1, 3), ("F", 1, 5), ("F", 1, 17), ("F", 2, 64),
          ("Z", 4, 24), ("SZ", 4, 64), ("ZF", 1, 13), ("SZF", 8, 64),
          # what comes out of these is no multiple of the size of an element
          ("FS", 3, 21), ("FS", 8, 24), ("FSZ", 16, 64), ("ZS", 8, 24), ("ZSF", 3, 9),
          # long enough to get smaller: the bytes come again
          ("L", 1, 400), ("SL", 4, 600), ("SLF", 2, 600),
          ("4", 1, 13), ("4", 1, 400), ("S4", 4, 600), ("4F", 8, 640),
          ("B", 1, 1024), ("B", 4, 1024), ("BF", 8, 1024)]
OLD = [("F", 1, 5), ("F", 2, 64)]

# (what, bytes): sums only, of many bytes
SUMS = [("ZEROS", 6), ("ONES", 6), ("ONES", 5000001), ("RISING", 721), ("RISING", 5000001)]


def plain(n):
    return bytes((3 + 7 * i) % 256 for i in range(n))


def many(kind, n):
    i = numpy.arange(n, dtype=numpy.uint32)
    values = {"ZEROS": 0 * i, "ONES": 0 * i + 255, "RISING": i * 7 + i // 251}
    return (values[kind] % 256).astype("u1").tobytes()


def pipeline(filters, chunk):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((chunk,))
    for name in filters:
        {"S": plist.set_shuffle, "F": plist.set_fletcher32,
         "Z": lambda: plist.set_deflate(6),
         "L": lambda: plist.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL),
         # blocks of 256 bytes, so that there are several
         "4": lambda: plist.set_filter(32004, h5py.h5z.FLAG_MANDATORY, (256,)),
         "B": lambda: plist.set_filter(32001, h5py.h5z.FLAG_MANDATORY,
                                       (0, 0, 0, 0, 9, 1, 5))}[name]()
    return plist


def dataset(file, filters, size, data):
    """A new dataset of one chunk that holds `data`."""
    values = numpy.frombuffer(data, dtype="u1" if size == 1 else "V%d" % size)
    made = h5py.h5d.create(file.id, None, h5py.h5t.py_create(values.dtype),
                           h5py.h5s.create_simple(values.shape),
                           pipeline(filters, len(values)))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values)
    made = h5py.Dataset(made)
    made.flush()
    return made


def stored(file, filters, size, data):
    return dataset(file, filters, size, data).id.read_direct_chunk((0,))[1]


def old_sum(file, filters, size, data):
    made = dataset(file, filters, size, data)
    chunk = bytearray(made.id.read_direct_chunk((0,))[1])
    chunk[-4:] = bytes(chunk[i] for i in (-3, -4, -1, -2))
    made.id.write_direct_chunk((0,), bytes(chunk))
    if made[...].tobytes() != data:
        raise SystemExit("HDF5 reads this otherwise: %s" % chunk.hex())
    return chunk


def chain(filters, size):
    return ", ".join("CODEC_STEP(CODEC_%s, %d)" % (STEPS[name], size if name == "S" else 0)
                     for name in filters)


def row(filters, size, n, chunk):
    print('CHUNK("%s %d", %d, "%s", %s)' % (filters, size, n, chunk.hex(),
                                           chain(filters, size)))


def main():
    print("/* Made by hdf5_chunks.py with HDF5 %s. */" % h5py.version.hdf5_version)
    with tempfile.TemporaryDirectory() as directory:
        with h5py.File(os.path.join(directory, "chunks.h5"), "w") as file:
            for filters, size, n in CHUNKS:
                row(filters, size, n, stored(file, filters, size, plain(n)))
            for filters, size, n in OLD:
                row(filters, size, n, old_sum(file, filters, size, plain(n)))
            for kind, n in SUMS:
                print('SUM(%s, %d, "%s")' % (kind, n, stored(file, "F", 1, many(kind, n))
                                             [-4:].hex()))


if __name__ == "__main__":
    main()
