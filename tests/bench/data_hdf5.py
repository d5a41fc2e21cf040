"""HDF5 files in the layouts that the courses and others write, each with its truth.

A row is what h5py gives for one index, and one file of the mount: of a row of bytes the
same bytes; of an array of pixels a header, and the pixels with the colours of each
beside one another.
"""
import dataclasses
import math
import os
import random
import typing
import zlib

import h5py
import numpy

from data import BLOCK, JPEG_BEGINS, MASK, mixed, windows

SIDE = 224
MOST = 1 << 20   # bytes of an image
# Where Debian has the plug-ins of lz4 and blosc; h5py finds them by the variable.
PLUGINS = "/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins"
LZ4, BLOSC = 32004, 32001


@dataclasses.dataclass
class Layout:
    name: str
    write: typing.Callable   # (file, rows, count)
    least: int = 0           # of h5py's rate; 0: no target
    variable: bool = False   # rows of any length, not arrays
    options: dict = dataclasses.field(default_factory=dict)
    planes: bool = False     # colours are planes
    tile: int = 1            # rows of a chunk


class Rows:
    """The file, the datasets in it, and what readers must find: by h5py, as files."""

    def __init__(self, path):
        self.path, self.dataset, self.labels, self.count = path, "", "", 0
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


def write_variable(layout, out, rows, count):
    """JSC's course: contiguous; others: in chunks, as h5py cuts them."""
    group = out.create_group("train")
    data = group.create_dataset("images", (count,), dtype=h5py.vlen_dtype(numpy.uint8),
                                **layout.options)
    for i, content in enumerate(images(count)):
        rows.add(content, content)
        data[i] = numpy.frombuffer(content, dtype="uint8")
    group.create_dataset("targets", data=numpy.arange(count, dtype="int16") % 100)
    rows.dataset, rows.labels = "train/images", "train/targets"


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
    shape = (3, SIDE, SIDE) if layout.planes else (SIDE, SIDE, 3)
    if layout.options:
        layout.options["chunks"] = (layout.tile, *shape)
    data = out.create_dataset("images", (count, *shape), dtype="uint8", **layout.options)
    header = b"P6\n%d %d\n255\n" % (SIDE, SIDE)
    for begin in range(0, count, 64):
        some = [pixels(rng, block) for _ in range(min(64, count - begin))]
        stored = [p.transpose(2, 0, 1) if layout.planes else p for p in some]
        data[begin:begin + len(some)] = numpy.stack(stored)
        for one, as_stored in zip(some, stored):
            rows.add(as_stored.tobytes(), header + one.tobytes())
    out.create_dataset("labels", data=numpy.arange(count, dtype="int64") % 100)
    rows.dataset, rows.labels = "images", "labels"


GZIP = {"compression": "gzip", "compression_opts": 4}
LAYOUTS = [
    Layout("rows of bytes, contiguous (JSC)", write_variable, 5, True),
    Layout("rows of bytes, in chunks", write_variable, 5, True, {"chunks": (64,)}),
    Layout("N x H x W x 3", write_array),
    Layout("N x 3 x H x W", write_array, planes=True),
    Layout("N x H x W x 3, gzip", write_array, 3, options=GZIP),
    Layout("N x H x W x 3, shuffle and gzip, 16 a chunk", write_array, 3,
           options={"shuffle": True, **GZIP}, tile=16),
    Layout("N x 3 x H x W, lzf", write_array, options={"compression": "lzf"}, planes=True),
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
