#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes HDF5 files whose labels leave a choice, into DIRECTORY.

DIRECTORY/said/NAME.h5      shown, with something to say; DIRECTORY/said/NAME.words has it
DIRECTORY/refused/NAME.h5   refused, with an option that helps
DIRECTORY/pairs/            files of images and files of their labels
"""
import os
import sys

import h5py
import numpy as np

ROWS = h5py.vlen_dtype(np.uint8)


def pixels(n, *shape):
    return np.arange(n * int(np.prod(shape)), dtype="u4").astype("u1").reshape(n, *shape)


def rows(file, name, n, written=None):
    dataset = file.create_dataset(name, (n,), ROWS, chunks=True)
    for i in range(n if written is None else written):
        dataset[i] = np.frombuffer(b"\xff\xd8\xff" + bytes([i + 1]) * 20, "u1")


def several(f):
    rows(f, "photos", 4)
    f["fine_labels"], f["coarse_labels"] = np.arange(4), np.arange(4) // 2
    return "could have its labels from 'coarse_labels', 'fine_labels'"


def rivals(f):
    f["images"], f["labels"], f["fine_labels"] = pixels(4, 8, 8, 3), np.arange(4), np.arange(4)
    return "'/images' has its labels from 'labels', and could have them from 'fine_labels'"


def floats(f):
    f["images"], f["labels"] = pixels(4, 8, 8, 3), np.arange(4) / 4
    f["digit"] = np.arange(4)
    return "not all are whole numbers"


def two_ones(f):
    rows(f, "images", 3)
    f["labels"] = np.array([[1, 0], [1, 1], [0, 1]], "f4")
    return "does not hold one class a row"


def cocotalk(f):
    f["images"] = pixels(4, 3, 8, 8)
    f["labels"], f["label_length"] = np.zeros((20, 16), "u4"), np.ones(20, "u4")
    f["label_start_ix"] = np.arange(4, dtype="u4") * 5 + 1
    f["label_end_ix"] = np.arange(4, dtype="u4") * 5 + 5
    return "-o labels=label_start_ix"


def unwritten(f):
    rows(f, "train_jpg", 10, 6)
    f["train_labels"] = np.arange(10) // 3
    return "the last 4 rows of '/train_jpg' were never written"


def camera(f):
    f["observations/images/cam_high"] = pixels(3, 8, 10, 3)
    f["action"] = np.zeros((3, 14))
    return "'/action' (64-bit float, 3 x 14)"


def guessed(f):
    f["obs/front"] = pixels(3, 8, 10, 3)
    return "'/obs/front' (8-bit integer, 3 x 8 x 10 x 3) has the shape of images"


def classes(f):
    f["cat"], f["dog"] = pixels(3, 8, 10, 3), pixels(4, 8, 10, 3)
    return "its name is their class"


def matlab(f):
    f["images"], f["labels"] = pixels(3, 3, 9, 8), np.array([[1., 2, 1]])
    for dataset in f.values():
        dataset.attrs["MATLAB_class"] = np.bytes_("double")
    return "was written by MATLAB"


def padded(f):
    image = b"\xff\xd8\xff" + b"x" * 90 + b"\xff\xd9"
    f["frames"] = np.array([image, image + image], "S400")
    return "holds whole .jpg files, padded with zeros"


def short_list(f):
    f["images"], f["labels"] = pixels(3, 8, 8, 3), np.array([1, 2, 3])
    f["class_names"] = np.array([b"a", b"b", b"c"])
    return "'labels' has the label 3, and 'class_names' has names for 0 to 2"


def objects(f):
    rows(f, "objects", 3)
    f["objects"].attrs["PSEUDOATOM"] = np.bytes_("object")
    return "pickled objects of Python"


def many(f):
    for i in range(15):
        rows(f, f"{i:02d}/images", 3)
        f[f"{i:02d}/labels"] = np.arange(3) / 3
    return "6 more findings are not told"


def counts(f):
    rows(f, "train/images", 4)
    f["train/labels"] = np.arange(3)


def counts_pixels(f):
    f["x"], f["y"] = pixels(4, 8, 8, 3), np.arange(5)


def pair(directory, name, n_images, n_labels):
    with h5py.File(f"{directory}/{name}_train_x.h5", "w") as f:
        f["x"] = pixels(n_images, 9, 9, 3)
    with h5py.File(f"{directory}/{name}_train_y.h5", "w") as f:
        f["y"] = (np.arange(n_labels) % 2).astype("u1").reshape(n_labels, 1, 1, 1)


def main():
    top = sys.argv[1]
    for directory in ("said", "refused", "pairs"):
        os.makedirs(f"{top}/{directory}")
    for write in (several, rivals, floats, two_ones, cocotalk, unwritten, camera, guessed, classes,
                  matlab, padded, short_list, objects, many, counts, counts_pixels):
        name = write.__name__.replace("_", "-")
        directory = "refused" if name.startswith("counts") else "said"
        with h5py.File(f"{top}/{directory}/{name}.h5", "w") as f:
            words = write(f)
        if words:
            with open(f"{top}/said/{name}.words", "w", encoding="utf-8") as out:
                out.write(words)
    pair(f"{top}/pairs", "pcam", 4, 4)
    pair(f"{top}/pairs", "short", 4, 3)
    with h5py.File(f"{top}/pairs/images.h5", "w") as f:
        rows(f, "data", 5)
    with h5py.File(f"{top}/pairs/labels.h5", "w") as f:
        f["data"] = np.array(["a", "b", "a", "b", "b"], "S3")


if __name__ == "__main__":
    main()
