# SPDX-License-Identifier: GPL-3.0-or-later
"""Tars of many members, as sparse files: headers, and holes where the data would be.

What is indexed, and how fast, depends on headers alone. A million members of 110 kB
take 5 GB of the disk, a page each, and some seconds to write.
"""
import os
import random

from data import TEMPLATE

BLOCK = 512
MTIME = 1600000000
BATCH = 50_000


def synset(number):
    """n01440764, and on: the names that ImageNet's classes have."""
    return b"n%08d" % (1440764 + number * 617)


def names(count, classes):
    """n01440764/n01440764_10026.JPEG: a class behind the other, and in each one
    numbers with gaps, in the order in which a shell lists them."""
    rng = random.Random(classes)
    for number in range(classes):
        directory = synset(number)
        size = count * (number + 1) // classes - count * number // classes
        numbers = sorted(b"%d" % n for n in rng.sample(range(1, 40 * size + 20_000), size))
        for which in numbers:
            yield b"%s/%s_%s.JPEG" % (directory, directory, which)


def fields(size):
    """A header's first block behind the name, with 8 blanks for its checksum, and
    what its bytes add up to."""
    block = TEMPLATE[:124] + b"%011o\0" % size + TEMPLATE[136:148] + b" " * 8 + TEMPLATE[156:]
    return block, sum(block)


def headers(count, classes, size):
    """The header blocks, one a member."""
    block, total = fields(size)
    before, behind = block[:148], block[156:]
    for name in names(count, classes):
        checksum = b"%06o\0 " % (total + sum(name))
        yield name + before[len(name):] + checksum + behind


def stride(size):
    """From one header to the next."""
    return BLOCK + size + -size % BLOCK


def write(path, count, classes, size):
    """A ustar archive of `count` files of `size` bytes that are all zeros."""
    step = stride(size)
    with open(path, "wb", buffering=1 << 20) as out:
        if step == BLOCK:
            out.writelines(headers(count, classes, size))
        else:
            for i, header in enumerate(headers(count, classes, size)):
                os.pwrite(out.fileno(), header, i * step)
        out.truncate(count * step + 2 * BLOCK)
    return path
