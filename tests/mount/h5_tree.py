#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a mounted HDF5 file with what h5py reads of it.

Usage: h5_tree.py FILE.h5 MOUNT. Every group must be a directory, every dataset a
file of its bytes, in the mount, and nothing else may be there.
"""
import os
import sys

import h5py
import numpy as np


def dataset_bytes(dataset):
    """All bytes of a value, those that h5py would cut from a string too."""
    if dataset.shape is None:
        return b""
    kind = dataset.id.get_type()
    value = np.empty(dataset.shape, dtype=np.dtype("V%d" % kind.get_size()))
    if value.size:
        dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, value, mtype=kind)
    return value.tobytes()


def walk(group, path, found):
    for name in group.id:
        child = group[name]
        inside = os.path.join(path, name)
        if isinstance(child, h5py.Group):
            found[inside] = None
            walk(child, inside, found)
        else:
            found[inside] = dataset_bytes(child)


def mounted(root):
    found = {}
    for directory, directories, files in os.walk(os.fsencode(root)):
        for name in directories:
            found[os.path.relpath(os.path.join(directory, name), os.fsencode(root))] = None
        for name in files:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, os.fsencode(root))] = file.read()
    return found


def main():
    wanted = {}
    with h5py.File(sys.argv[1], "r") as file:
        walk(file["/"], b"", wanted)
    got = mounted(sys.argv[2])
    different = [path for path in sorted(wanted.keys() | got.keys())
                 if wanted.get(path, 0) != got.get(path, 0)]
    for path in different[:20]:
        print("%r differs" % path)
    if different or not wanted:
        sys.exit("h5_tree.py: %d of %d differ" % (len(different), len(wanted)))


if __name__ == "__main__":
    main()
