#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes an HDF5 file of one kind that needs a word of its own.

Usage: write_h5.py KIND OUT.h5. Kinds: `links` has hard, soft and dangling
links and a loop of groups; the others hold something that cannot be shown.
"""
import os
import sys

import h5py
import numpy as np

DATA = np.arange(10000, dtype="uint32").view("uint8")


def links(out):
    out.create_dataset("a/file", data=DATA)
    out["a/hard"] = out["a/file"]
    out["b/hard"] = out["a/file"]
    out["b/soft"] = h5py.SoftLink("/a/file")
    out["b/relative"] = h5py.SoftLink("hard")
    out["soft-directory"] = h5py.SoftLink("/a")


def dangling(out):
    out.create_dataset("a/file", data=DATA)
    out["a/dangling"] = h5py.SoftLink("/nothing/here")


def loop(out):
    out.create_dataset("a/file", data=DATA)
    out["a/again"] = out["a"]


def bitshuffle(out):
    """Its filter, which h5py has only with a plug-in."""
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((1000,))
    plist.set_filter(32008, h5py.h5z.FLAG_OPTIONAL, ())
    group = out.create_group("a")
    packed = h5py.h5d.create(group.id, b"packed", h5py.h5t.STD_U8LE,
                             h5py.h5s.create_simple(DATA.shape), plist)
    packed.write_direct_chunk((0,), bytes(500), 0)


def virtual(out):
    with h5py.File(out.filename + ".part", "w") as part:
        part.create_dataset("data", data=DATA)
    layout = h5py.VirtualLayout(shape=DATA.shape, dtype="uint8")
    layout[:] = h5py.VirtualSource(out.filename + ".part", "data", shape=DATA.shape)
    out.create_virtual_dataset("virtual", layout)


def external_link(out):
    with h5py.File(out.filename + ".other", "w") as other:
        other.create_dataset("data", data=DATA)
    out["elsewhere"] = h5py.ExternalLink(os.path.basename(out.filename) + ".other",
                                         "/data")


def external_file(out):
    out.create_dataset("raw", shape=(100,), dtype="uint8",
                       external=[("raw.bin", 0, 100)])


def floats(out):
    out.create_dataset("temperature", data=np.linspace(0, 1, 1000))
    out.create_dataset("more/pressure", data=np.zeros((10, 10), "float32"))


KINDS = {f.__name__: f for f in (links, dangling, loop, bitshuffle, virtual,
                                 external_link, external_file, floats)}


def main():
    kind, path = sys.argv[1:]
    with h5py.File(path, "w") as out:
        KINDS[kind](out)


if __name__ == "__main__":
    main()
