#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads samples as training does, from files or by a library.

Usage: read_samples.py KIND PATH LIST SEED PROCESSES SECONDS once|repeat WORD...

KIND is files, lmdb, lmdb-exact (readahead=False), arrow, hdf5, tfrecord, parquet or webdataset.
LIST has a line for each item: the path of a file or of a shard, the number of a sample in PATH or
of a row group, or a part such as 3/16. Each process
reads its part of the shuffled list, once or again and again, for at most SECONDS. Words:

    list=ROOT    the tree is listed first, as ImageFolder does
    decode       JPEGs are decoded, and scaled to 224 x 224
    check        a checksum is computed

Prints "ready" when modules are imported and processes wait, and begins at a line on
standard input. Then prints {files, bytes, checksum, ended}: `ended` is monotonic time.
"""
import io
import json
import os
import random
import sys
import time
import zlib

from data import MASK, mixed
from read_python import forked, next_of, read_file, read_lines

SIDE = 224
GROUP_ROWS = 32   # of a row group of Parquet


def key_of(number):
    """The key of a sample in LMDB."""
    return b"%08d" % int(number)


# Readers: each gives (index, bytes) of the items, which are pairs of index and line.

def read_files(_, items):
    for index, path in items:
        yield index, read_file(path)


def read_lmdb(path, items, readahead=True):
    import lmdb
    with lmdb.open(path, subdir=False, readonly=True, lock=False, readahead=readahead) as database:
        with database.begin() as transaction:
            for index, number in items:
                yield index, transaction.get(key_of(number))


def read_arrow(path, items):
    import pyarrow
    import pyarrow.ipc
    images = pyarrow.ipc.open_file(pyarrow.memory_map(path)).read_all()["image"]
    for index, number in items:
        yield index, images[int(number)].as_py()


def read_hdf5(path, items):
    import h5py
    with h5py.File(path, "r") as file:
        images = file["train/images"]
        for index, number in items:
            yield index, images[int(number)].tobytes()


def read_tfrecord(path, items):
    from tfrecord.reader import tfrecord_loader
    for _, part in items:
        which, parts = part.split("/")
        for sample in tfrecord_loader(path, path + ".index", {"image/encoded": "byte",
                                                              "number": "int"},
                                      shard=(int(which), int(parts))):
            yield int(sample["number"][0]), sample["image/encoded"]


def read_parquet(path, items):
    import pyarrow.parquet
    file = pyarrow.parquet.ParquetFile(path, memory_map=True)
    for _, group in items:
        rows = file.read_row_group(int(group), columns=["image.bytes"])["image"]
        for number, image in enumerate(rows):
            yield int(group) * GROUP_ROWS + number, image["bytes"].as_py()


def read_webdataset(_, items):
    import webdataset
    for sample in webdataset.WebDataset([path for _, path in items], shardshuffle=False,
                                        empty_check=False):
        yield int(sample["__key__"].rpartition("/")[2]), sample["jpg"]


def read_lmdb_exactly(path, items):
    return read_lmdb(path, items, False)


READERS = {"files": (read_files, ()), "lmdb": (read_lmdb, ("lmdb",)),
           "lmdb-exact": (read_lmdb_exactly, ("lmdb",)),
           "arrow": (read_arrow, ("pyarrow", "pyarrow.ipc")),
           "hdf5": (read_hdf5, ("h5py", "numpy")),
           "tfrecord": (read_tfrecord, ("tfrecord.reader",)),
           "parquet": (read_parquet, ("pyarrow.parquet",)),
           "webdataset": (read_webdataset, ("webdataset",))}


def decode(content):
    from PIL import Image
    return Image.open(io.BytesIO(content)).convert("RGB").resize((SIDE, SIDE))


def passes(read, path, items, repeat):
    yield from read(path, items)
    while repeat:
        yield from read(path, items)


def share(samples, seconds, words, gate, out):
    """One process' samples, until there are no more or time is up."""
    files = size = checksum = 0
    gate.wait()
    deadline = time.monotonic() + seconds
    for index, content in samples:
        files += 1
        size += len(content)
        if "check" in words:
            checksum += mixed(index, zlib.crc32(content))
        if "decode" in words:
            decode(content)
        if time.monotonic() > deadline:
            break
    out.put((files, size, checksum & MASK, time.monotonic()))


def shuffled(path, seed):
    items = list(enumerate(read_lines(path)))
    random.Random(seed).shuffle(items)
    return items


def main():
    if len(sys.argv) < 8 or sys.argv[1] not in READERS:
        sys.exit(__doc__)
    kind, path, listed, seed, processes, seconds, how, *words = sys.argv[1:]
    read, modules = READERS[kind]
    for module in modules + ("PIL.Image",) * ("decode" in words):
        __import__(module)
    items, processes = shuffled(listed, int(seed)), int(processes)
    gate, out = forked.Barrier(processes + 1), forked.Queue()
    children = []
    for number in range(processes):
        samples = passes(read, path, items[number::processes], how == "repeat")
        children.append(forked.Process(target=share, daemon=True, args=(
            samples, float(seconds), words, gate, out)))
        children[-1].start()
    print("ready", flush=True)
    sys.stdin.readline()
    for root in (word[5:] for word in words if word.startswith("list=")):
        for _ in os.walk(root):
            pass
    gate.wait(60)
    found = [next_of(out, children) for _ in children]
    print(json.dumps({"files": sum(f[0] for f in found), "bytes": sum(f[1] for f in found),
                      "checksum": sum(f[2] for f in found) & MASK,
                      "ended": max(f[3] for f in found)}))


if __name__ == "__main__":
    main()
