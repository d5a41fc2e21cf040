# SPDX-License-Identifier: GPL-3.0-or-later
"""HDF5 files in the layouts that the courses and others write, each with its truth.

A row is what h5py gives for one index, or of a dataset that is a file all of it; and it
is one file of the mount: of a row of bytes the same bytes; of an array of pixels a header,
and the pixels with the colours of each beside one another; of other numbers an .npy.
"""
import dataclasses
import itertools
import math
import os
import random
import sys
import typing
import zlib

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../format"))
import hdf5_plugins  # before h5py
import h5py
import numpy

from data import BLOCK, JPEG_BEGINS, MASK, mixed, windows
from hdf5_layouts import npy, split_attribute

SIDE = 224
CLASSES = 20     # where each is an array or a group
MOST = 1 << 20   # bytes of an image
LZ4, BLOSC = 32004, 32001


# How pixels of SIDE x SIDE x 3 are stored, and the file that they are shown as.

def interleaved(pixel):
    return pixel, b"P6\n%d %d\n255\n" % (SIDE, SIDE) + pixel.tobytes()


def planes(pixel):
    return pixel.transpose(2, 0, 1), interleaved(pixel)[1]


def grey(pixel):
    wide = pixel.reshape(SIDE, 3 * SIDE)
    return wide, b"P5\n%d %d\n255\n" % (3 * SIDE, SIDE) + wide.tobytes()


def floats(pixel):
    numbers = pixel.reshape(-1).view("<f4").reshape(3, SIDE // 2, SIDE // 2)
    return numbers, npy(numbers)


@dataclasses.dataclass
class Layout:
    name: str
    write: typing.Callable   # (layout, file, rows, count)
    least: int = 0           # of h5py's rate; 0: no target
    variable: bool = False   # rows of any length, not arrays
    options: dict = dataclasses.field(default_factory=dict)
    stored: typing.Callable = interleaved
    tile: int = 1            # rows of a chunk


class Rows:
    """The file, the datasets in it, and what readers must find: by h5py, as files."""

    def __init__(self, path):
        self.path, self.dataset, self.labels, self.count = path, "", "", 0
        self.order = os.path.basename   # paths of files sort by it as the rows do
        self.total = self.checksum = 0
        self.file_total = self.file_checksum = 0

    def add(self, content, as_file):
        self.checksum = (self.checksum + mixed(self.count, zlib.crc32(content))) & MASK
        self.file_checksum = (self.file_checksum +
                              mixed(self.count, zlib.crc32(as_file))) & MASK
        self.count += 1
        self.total += len(content)
        self.file_total += len(as_file)


def images(count):
    """Of lengths that differ as those of photographs do: 110 kB on average."""
    rng = random.Random(9)
    sizes = [min(int(rng.lognormvariate(math.log(97000), 0.5)), MOST) for _ in range(count)]
    for noise in windows(sizes, 6):
        yield JPEG_BEGINS + noise   # so that its file is a .jpg


def put_rows(layout, out, name, rows, count, contents):
    """The next of the contents, as an array of that many rows."""
    data = out.create_dataset(name, (count,), dtype=h5py.vlen_dtype(numpy.uint8),
                              **layout.options)
    for i, content in enumerate(itertools.islice(contents, count)):
        rows.add(content, content)
        data[i] = numpy.frombuffer(content, dtype="uint8")


def write_variable(layout, out, rows, count):
    """JSC's course: contiguous; others: in chunks, as h5py cuts them."""
    rows.dataset, rows.labels = "train/images", "train/targets"
    put_rows(layout, out, rows.dataset, rows, count, images(count))
    out[rows.labels] = numpy.arange(count, dtype="int16") % 100


def write_fuel(layout, out, rows, count):
    """Its names, and where a split begins and ends in the attribute."""
    rows.dataset, rows.labels = "encoded_images", "targets"
    put_rows(layout, out, rows.dataset, rows, count, images(count))
    out[rows.labels] = numpy.arange(count, dtype="int16").reshape(-1, 1) % 100
    out["filenames"] = numpy.array([b"%08d.JPEG" % i for i in range(count)],
                                   "S32").reshape(-1, 1)
    split_attribute(out, [(split, source, begin, end, None, True)
                          for split, begin, end in (("train", 0, count * 4 // 5),
                                                    ("valid", count * 4 // 5, count))
                          for source in (rows.dataset, rows.labels, "filenames")])


def write_classes(layout, out, rows, count):
    """The class is the array's name, so the files of each are numbered from 0."""
    rows.dataset, rows.order = "train", str
    contents = images(count)
    for i in range(CLASSES):
        some = (i + 1) * count // CLASSES - i * count // CLASSES
        put_rows(layout, out, "train/n%08d" % i, rows, some, contents)


def write_tree(layout, out, rows, count):
    rows.dataset = "train"
    for i, content in enumerate(images(count)):
        rows.add(content, content)
        out["train/n%08d/%08d.jpg" % (i * CLASSES // count, i)] = numpy.frombuffer(
            content, dtype="uint8")


def pixels(rng, block):
    """SIDE x SIDE x 3 that compress about threefold: flat stripes and noisy ones."""
    stripe, parts = SIDE * 3 * 8, []
    for _ in range(SIDE // 8):
        at = rng.randrange(BLOCK - stripe)
        parts.append(block[at:at + stripe] if rng.random() < 0.3 else
                     rng.randbytes(3) * (stripe // 3))
    return numpy.frombuffer(b"".join(parts), dtype="uint8").reshape(SIDE, SIDE, 3)


def write_array(layout, out, rows, count):
    rng = random.Random(8)
    block = rng.randbytes(BLOCK)
    like = layout.stored(pixels(rng, block))[0]
    if layout.options:
        layout.options["chunks"] = (layout.tile, *like.shape)
    data = out.create_dataset("images", (count, *like.shape), like.dtype, **layout.options)
    for begin in range(0, count, 64):
        some = [layout.stored(pixels(rng, block)) for _ in range(min(64, count - begin))]
        data[begin:begin + len(some)] = numpy.stack([stored for stored, _ in some])
        for stored, as_file in some:
            rows.add(stored.tobytes(), as_file)
    out.create_dataset("labels", data=numpy.arange(count, dtype="int64") % 100)
    rows.dataset, rows.labels = "images", "labels"


GZIP = {"compression": "gzip", "compression_opts": 4}
LAYOUTS = [
    Layout("rows of bytes, contiguous (JSC)", write_variable, 5, True),
    Layout("rows of bytes, in chunks", write_variable, 5, True, {"chunks": (64,)}),
    Layout("Fuel: encoded_images, split", write_fuel, 5, True),
    Layout("an array of rows for each class", write_classes, 5, True),
    Layout("a dataset for each file, in groups", write_tree, variable=True),
    Layout("N x H x W x 3", write_array),
    Layout("N x 3 x H x W", write_array, stored=planes),
    Layout("N x H x W", write_array, stored=grey),
    Layout("N x 3 x H x W of floats, as .npy", write_array, stored=floats),
    Layout("N x H x W x 3, gzip", write_array, 3, options=GZIP),
    Layout("N x H x W x 3, shuffle and gzip, 16 a chunk", write_array, 3,
           options={"shuffle": True, **GZIP}, tile=16),
    Layout("N x 3 x H x W, lzf", write_array, options={"compression": "lzf"}, stored=planes),
    Layout("N x H x W x 3, lz4", write_array, options={"compression": LZ4}),
    Layout("N x H x W x 3, blosc", write_array, options={"compression": BLOSC}),
]


def write(layout, path, settings):
    rows = Rows(path)
    count = settings.rows if layout.variable else settings.array_rows
    for old in (path, path + ".gidx"):
        if os.path.exists(old):
            os.unlink(old)
    with h5py.File(path, "w") as out:
        layout.write(layout, out, rows, count)
    return rows
