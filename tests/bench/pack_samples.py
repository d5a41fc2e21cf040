#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the files of a tar as others store samples.

Usage: pack_samples.py lmdb|arrow|hdf5|tfrecord|parquet|webdataset TAR PATH

The numbers of samples are those of the tar's order. PATH is a file; of WebDataset a directory
of shards.
"""
import os
import sys
import tarfile

from read_samples import GROUP_ROWS, key_of

ROWS = 256     # of a record batch
SHARDS = 8


def contents(path):
    with tarfile.open(path) as tar:
        for member in tar:
            yield member, tar.extractfile(member).read()


def write_lmdb(tar, path):
    import lmdb
    with lmdb.open(path, subdir=False, map_size=4 * os.path.getsize(tar)) as database:
        with database.begin(write=True) as transaction:
            for number, (_, content) in enumerate(contents(tar)):
                transaction.put(key_of(number), content, append=True)


def write_arrow(tar, path):
    """An IPC file, of which a mapping gives the bytes without a copy."""
    import pyarrow
    import pyarrow.ipc
    schema = pyarrow.schema([("image", pyarrow.binary())])
    with pyarrow.ipc.new_file(path, schema) as out:
        rows = []
        for _, content in contents(tar):
            rows.append(content)
            if len(rows) == ROWS:
                out.write_batch(pyarrow.record_batch([rows], schema=schema))
                rows = []
        out.write_batch(pyarrow.record_batch([rows], schema=schema))


def write_hdf5(tar, path):
    """The layout of JSC's course: rows of bytes, contiguous."""
    import h5py
    import numpy
    with tarfile.open(tar) as file:
        count = len(file.getnames())
    with h5py.File(path, "w") as out:
        images = out.create_dataset("train/images", (count,), h5py.vlen_dtype(numpy.uint8))
        for number, (_, content) in enumerate(contents(tar)):
            images[number] = numpy.frombuffer(content, dtype="uint8")


def write_tfrecord(tar, path):
    """Examples with their names and numbers, and the index that the package reads by."""
    from tfrecord.tools.tfrecord2idx import create_index
    from tfrecord.writer import TFRecordWriter
    writer = TFRecordWriter(path)
    for number, (_, content) in enumerate(contents(tar)):
        writer.write({"image/encoded": (content, "byte"), "number": (number, "int"),
                      "image/filename": (key_of(number) + b".jpg", "byte")})
    writer.close()
    create_index(path, path + ".index")


def write_parquet(tar, path):
    """The struct of Hugging Face, not compressed, as their hub has images."""
    import pyarrow
    import pyarrow.parquet
    image = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
    rows = [{"bytes": content, "path": "%08d.jpg" % number}
            for number, (_, content) in enumerate(contents(tar))]
    pyarrow.parquet.write_table(pyarrow.table({"image": pyarrow.array(rows, image)}), path,
                                row_group_size=GROUP_ROWS, compression="none",
                                use_dictionary=False)


def write_webdataset(tar, path):
    with tarfile.open(tar) as file:
        count = len(file.getnames())
    os.mkdir(path)
    shards = [tarfile.open(os.path.join(path, "%06d.tar" % shard), "w", format=tarfile.USTAR_FORMAT)
              for shard in range(SHARDS)]
    with tarfile.open(tar) as source:
        for number, member in enumerate(source):
            shards[number * SHARDS // count].addfile(member, source.extractfile(member))
    for shard in shards:
        shard.close()


WRITERS = {"lmdb": write_lmdb, "arrow": write_arrow, "hdf5": write_hdf5,
           "tfrecord": write_tfrecord, "parquet": write_parquet, "webdataset": write_webdataset}

if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in WRITERS:
        sys.exit(__doc__)
    WRITERS[sys.argv[1]](*sys.argv[2:])
