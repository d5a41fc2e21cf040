#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks an HDF5 file in the layout jsc as the course's loaders use it.

Usage: pack_jsc.py FILE.h5 SOURCE [OTHER.h5]. Every row of every split must hold the
bytes of the file that the label map has at its place, and its label the rank of that
file's class. OTHER was written by the course's way of calling h5py: the datasets must
have been made with the same properties.
"""
import os
import pickle
import sys

import h5py
import numpy as np


def source_files(root):
    """{path from the root: bytes} of every file."""
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


def load_map(path, split):
    stem = os.path.splitext(os.path.basename(path))[0].lower()
    beside = os.path.join(os.path.dirname(path), "%s_%s.pkl" % (stem, split))
    with open(beside, "rb") as file:
        return pickle.load(file)


def check_split(group, names, files, classes):
    images, targets = group["images"], group["targets"]
    assert len(images) == len(targets) == len(names)
    for row, (path, label) in enumerate(names.items()):
        assert type(path) is str and type(label) is int
        assert label == targets[row] == classes.index(path.split("/")[1]), path
        assert images[row].tobytes() == files.pop(path), path


def properties(dataset):
    """Without the times: what an old header says of them depends on libhdf5's version."""
    create = dataset.id.get_create_plist()
    return (create.get_layout(), create.get_nfilters(), create.get_alloc_time(),
            create.get_fill_time(), dataset.dtype, h5py.check_vlen_dtype(dataset.dtype),
            dataset.maxshape is None, dataset.shape == dataset.maxshape, len(dataset.attrs))


def main():
    path, root = sys.argv[1:3]
    files = source_files(root)
    classes = sorted({name.split("/")[1] for name in files})
    with h5py.File(path, "r") as packed:
        assert sorted(packed) == sorted({name.split("/")[0] for name in files})
        for split, group in packed.items():
            assert sorted(group) == ["images", "targets"]
            assert group["targets"].dtype == np.int16
            check_split(group, load_map(path, split), files, classes)
        assert not files, sorted(files)
        if len(sys.argv) > 3:
            with h5py.File(sys.argv[3], "r") as other:
                for name in ("images", "targets"):
                    ours = properties(packed["train"][name])
                    assert ours == properties(other["train"][name]), ours


if __name__ == "__main__":
    main()
