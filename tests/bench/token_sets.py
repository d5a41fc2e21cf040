# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of tokens as Megatron-LM stores them: documents in .bin, where each is in .idx.

Layout of .idx: MMIDIDX\\0\\0, version 1 (u64), code of the type (u8; 8: uint16), number of
sequences and of documents (u64 each), then sizes (i32), pointers in bytes (i64) and the numbers
of the documents' first sequences (i64), all little-endian:
megatron/core/datasets/indexed_dataset.py. fairseq's has no documents.
"""
import struct

import numpy

MAGIC = b"MMIDIDX\0\0"
WIDTHS = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 8, 7: 4, 8: 2}


def megatron(count, seed):
    """(bytes of .bin, bytes of .idx, count): documents of 200 to 1,800 tokens, of two bytes."""
    rng = numpy.random.default_rng(seed)
    sizes = rng.integers(200, 1800, count, dtype="<i4")
    tokens = rng.integers(0, 50257, int(sizes.sum()), dtype="<u2")
    pointers = numpy.concatenate([[0], numpy.cumsum(2 * sizes.astype("<i8"))[:-1]])
    head = MAGIC + struct.pack("<QBQQ", 1, 8, count, count + 1)
    return (tokens.tobytes(), head + sizes.tobytes() + pointers.astype("<i8").tobytes() +
            numpy.arange(count + 1, dtype="<i8").tobytes(), count)


def read_index(path):
    """(sizes in tokens, pointers in bytes, bytes of a token)"""
    with open(path, "rb") as file:
        head = file.read(len(MAGIC) + 25)
        if head[:len(MAGIC)] != MAGIC:
            raise ValueError("%s: no index of Megatron's" % path)
        _, code, count, _ = struct.unpack("<QBQQ", head[len(MAGIC):])
    at = len(MAGIC) + 25
    sizes = numpy.memmap(path, "<i4", "r", at, count)
    return sizes, numpy.memmap(path, "<i8", "r", at + 4 * count, count), WIDTHS[code]
