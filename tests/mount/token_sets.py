#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A set of tokens, written, and read through maps: prints the number of documents and a digest.

Usage: token_sets.py write|read|shuffled|megatron PREFIX
"""
import hashlib
import os
import random
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
from token_sets import megatron, read_index  # pylint: disable=wrong-import-position

DOCUMENTS = 3000


def write(prefix):
    binary, index, _ = megatron(DOCUMENTS, 1)
    for ending, content in ((".bin", binary), (".idx", index)):
        with open(prefix + ending, "wb") as file:
            file.write(content)


def mapped(prefix):
    sizes, pointers, width = read_index(prefix + ".idx")
    stored = numpy.memmap(prefix + ".bin", dtype="uint8", mode="r")
    return len(sizes), lambda number: stored[pointers[number]:
                                             pointers[number] + width * sizes[number]].tobytes()


def library(prefix):
    from megatron.core.datasets.indexed_dataset import IndexedDataset
    dataset = IndexedDataset(prefix, mmap=True)
    return len(dataset), lambda number: dataset[number].tobytes()


def digest(count, read, order):
    """Of all documents, whatever the order in which they are read."""
    each = {number: hashlib.sha256(read(number)).digest() for number in order}
    return "%d %s" % (count, hashlib.sha256(b"".join(each[i] for i in range(count))).hexdigest())


def main():
    how, prefix = sys.argv[1:]
    if how == "write":
        write(prefix)
        return
    count, read = library(prefix) if how == "megatron" else mapped(prefix)
    order = list(range(count))
    if how == "shuffled":
        random.Random(3).shuffle(order)
    print(digest(count, read, order))


main()
