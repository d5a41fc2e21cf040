# SPDX-License-Identifier: GPL-3.0-or-later
"""HDF5 files of all kinds of labels, and of arrays that are images under any name."""
import h5py
import numpy as np

from hdf5_write import (
    RANDOM, ROWS, encoded, expect, noise, npy, numbers, pnm, put_rows, split_attribute)

UNLABELLED = -2**63  # a row without a label


def label_kinds(file):
    """Whole floats, one-hot rows, bools; in columns, rows and with ones behind."""
    images, values = noise(6, 8, 9, 3), [0, 2, 1, 1, 0, 2]
    one_hot = np.eye(3)[values]
    lines = []
    for name, labels in {
            "f4": np.array(values, "f4"), "f8": np.array(values, ">f8"),
            "column": np.array(values, "f8").reshape(6, 1),
            "row": np.array(values, "f8").reshape(1, 6), "row-u1": np.array([values], "u1"),
            "ones": np.array(values, "u1").reshape(6, 1, 1, 1), "hot-f4": one_hot.astype("f4"),
            "hot-bool": one_hot.astype(bool), "hot-u1": one_hot.astype("u1"),
            "hot-i8": one_hot.astype(">i8")}.items():
        group = file.create_group(name)
        group["images"] = images
        group["labels"] = labels
        lines += expect(name, "images", [pnm(x) for x in images], "labels", values, ext="ppm")
    chunked = file.create_group("chunked")
    chunked["images"] = images
    chunked.create_dataset("labels", data=one_hot.astype("f4"), chunks=(4, 3),
                           compression="gzip")
    lines += expect("chunked", "images", [pnm(x) for x in images], "labels", values, ext="ppm")
    put_rows(file, "rows/jpegs", encoded(6)[:4])
    file["rows/Y"] = one_hot[:4]
    return lines + expect("rows", "jpegs", [bytes(x) for x in file["rows/jpegs"][()]], "Y",
                          values[:4])


def no_label_kinds(file):
    """Floats that are not whole, rows with two ones: no labels. NaN, zeros: no label of a row."""
    rows, lines = encoded(4), []
    for name, labels in {"half": [0, 1, .5, 1], "large": [0, 1, 1e300, 1],
                         "two": [[1, 0], [0, 1], [1, 1], [1, 0]],
                         "three": [[1, 0], [0, 2], [1, 0], [1, 0]]}.items():
        put_rows(file, name + "/images", rows)
        file[name]["labels"] = np.array(labels, "f8")
        lines += expect(name, "images", rows)
    for name, labels, values in (("nan", [0, 1, np.nan, 1], [0, 1, UNLABELLED, 1]),
                                 ("none", [[1, 0], [0, 0], [1, 0], [1, 0]],
                                  [0, UNLABELLED, 0, 0])):
        put_rows(file, name + "/images", rows)
        file[name]["labels"] = np.array(labels, "f8")
        lines += expect(name, "images", rows, "labels", values)
    return lines


def fuel_pixels(file):
    images = noise(10, 3, 7, 6)
    file["features"] = images
    file["targets"] = np.array(numbers(10), "u1").reshape(10, 1)
    file["masks"] = images[:, 0]
    split_attribute(file, [("train", "features", 0, 7, None, True),
                           ("train", "targets", 0, 7, None, True),
                           ("test", "features", 7, 10, None, True),
                           ("test", "targets", 7, 10, None, True)])
    lines = []
    for split, part in (("train", slice(0, 7)), ("test", slice(7, 10))):
        lines += expect(split, "features", [pnm(x.transpose(1, 2, 0)) for x in images[part]],
                        "targets", numbers(10)[part], ext="ppm")
        lines += expect(split, "masks", [pnm(x[0]) for x in images[part]], "targets",
                        numbers(10)[part], ext="pgm")
    return lines


def matlab(file):
    """MATLAB's H x W x 3 x N, in reverse; labels as a column and as a row."""
    images, grey = noise(4, 6, 9, 3), noise(4, 6, 9)
    deep = noise(4, 6, 9, dtype="<u2")
    lines = []
    for name, labels in (("column", np.array([[1., 2, 1, 3]])),
                         ("row", np.array([[1.], [2], [1], [3]]))):
        for kind, data in (("colour", images.transpose(0, 3, 2, 1)),
                           ("grey", grey.transpose(0, 2, 1)), ("deep", deep.transpose(0, 2, 1))):
            group = file.create_group(f"{name}/{kind}")
            for key, value in (("images", data), ("labels", labels)):
                group.create_dataset(key, data=value).attrs["MATLAB_class"] = np.bytes_("x")
        lines += expect(f"{name}/colour", "images", [pnm(x) for x in images], "labels",
                        [1, 2, 1, 3], ext="ppm")
        lines += expect(f"{name}/grey", "images", [pnm(x) for x in grey], "labels",
                        [1, 2, 1, 3], ext="pgm")
        lines += expect(f"{name}/deep", "images", [npy(x, True) for x in deep], "labels",
                        [1, 2, 1, 3], ext="npy")
    return lines


def whole_files(n, room):
    """Images that end as JPEGs do, shorter than the room that rows have for them."""
    return [b"\xff\xd8\xff\xe0" + RANDOM.bytes(40 + i * 7 % (room - 80)) + b"\1\xff\xd9"
            for i in range(n)]


def padded_files(file):
    """Strings of a fixed size and rows of bytes that hold whole JPEGs."""
    files, lines = whole_files(5, 6000), []
    rows = np.array([np.frombuffer(x.ljust(6000, b"\0"), "u1") for x in files])
    file["text/rgb"] = np.array(files, "S6000")
    lines += expect("text", "rgb", files)
    file["rows/cam_high"] = rows
    lines += expect("rows", "cam_high", files)
    file.create_dataset("gzip/frames", data=rows, chunks=(2, 6000), compression="gzip")
    file["gzip/labels"] = np.array(numbers(5))
    lines += expect("gzip", "frames", files, "labels", numbers(5))
    file.create_dataset("narrow/frames", data=rows, chunks=(2, 700), compression="gzip")
    lines += expect("narrow", "frames", [x.ljust(6000, b"\0") for x in files])
    short = rows.copy()
    short[3:] = 0  # never written
    file["short/frames"] = short
    lines += expect("short", "frames", files[:3])
    cut = [x[:-2] + b"\1\1" for x in files]
    file["cut/frames"] = np.array([np.frombuffer(x.ljust(6000, b"\0"), "u1") for x in cut])
    return lines + expect("cut", "frames", [x.ljust(6000, b"\0") for x in cut])


def any_name(file):
    """uint8 of the shape of images, whatever its name."""
    images, alpha = noise(3, 8, 10, 3), noise(3, 8, 10, 4)
    file["obs/cam_high"] = images
    file["obs/cam_depth"] = images[..., :1]
    file["obs/action"] = np.zeros((3, 14))
    file["other/things"] = alpha
    return (expect("obs", "cam_high", [pnm(x) for x in images], ext="ppm") +
            expect("obs", "cam_depth", [pnm(x[..., 0]) for x in images], ext="pgm") +
            expect("other", "things", [npy(x) for x in alpha], ext="npy"))


def pixel_classes(file):
    """One array of pixels for each class."""
    lines = []
    for split in ("train", "test"):
        for i, name in enumerate(("cat", "dog")):
            images = noise(3 + i, 8, 8, 3)
            file[f"{split}/{name}"] = images
            lines += expect(split, name, [pnm(x) for x in images],
                            "the names of arrays or files", ext="ppm", class_name=name)
    return lines


def pairs(file):
    """Names with a common rest."""
    rows, lines = encoded(6), []
    for i, (array, labels) in enumerate((("trainX", "trainY"), ("x_train", "y_train"),
                                         ("digit_pixel", "digit_label"), ("Xval", "Yval"),
                                         ("testimages", "testlabels"), ("img2", "label2"))):
        group = file.create_group(str(i))
        put_rows(group, array, rows)
        group[labels] = np.array(numbers(6, i + 2))
        group["labels_of_others"] = np.array(numbers(6, 7))
        lines += expect(str(i), array, rows, labels, numbers(6, i + 2))
    for split in ("train", "test"):
        put_rows(file, f"both/{split}X", rows)
        file[f"both/{split}Y"] = np.array(numbers(6, len(split)))
        lines += expect("both", f"{split}X", rows, f"{split}Y", numbers(6, len(split)))
    return lines


def never_written(file):
    """Rows that a script allocated and never wrote: the last ones."""
    rows = encoded(6)
    images = file.create_dataset("train_jpg", (10,), ROWS, chunks=True)
    for i, row in enumerate(rows):
        images[i] = np.frombuffer(row, "u1")
    file["train_labels"] = np.array(numbers(6) + [0] * 4)
    lines = expect("", "train_jpg", rows, "train_labels", numbers(6))
    for name, chunks, count in (("one", (1, 4, 4, 3), 5), ("two", (2, 4, 2, 3), 6),
                                ("none", None, 0)):
        group = file.create_group(name)
        images = group.create_dataset("images", (10, 4, 4, 3), "u1", chunks=chunks)
        if count:
            images[2:5] = noise(3, 4, 4, 3)
        group["labels"] = np.array(numbers(5) + [0] * 5)
        lines += expect(name, "images", [pnm(x) for x in images[:count]], "labels",
                        (numbers(5) + [0] * 5)[:count], ext="ppm")
    return lines


def split_column(file):
    """A word for each row says its split; for pixels and rows alike."""
    rows, images, lines = encoded(4) + encoded(2), noise(6, 8, 8, 3), []
    parts = {"train": [0, 1, 4], "test": [2, 5], "val": [3]}
    put_rows(file, "rows/jpegs", rows)
    file["pixels/images"] = images
    for group, array, files, ext in (("rows", "jpegs", rows, "jpg"),
                                     ("pixels", "images", [pnm(x) for x in images], "ppm")):
        file[group]["labels"] = np.array(numbers(6))
        file[group].create_dataset("split", data=[next(k for k, v in parts.items() if i in v)
                                                  for i in range(6)],
                                   dtype=h5py.string_dtype() if ext == "jpg" else "S8")
        for name, part in parts.items():
            lines += expect(f"{group}/{name}", array, [files[i] for i in part], "labels",
                            [numbers(6)[i] for i in part], ext=ext)
    return lines


def split_lists(file):
    """Lists of rows: some are in none."""
    images = noise(7, 8, 8, 3)
    file["images"], file["labels"] = images, np.array(numbers(7))
    lines = []
    for name, part in (("train", [5, 0, 3]), ("test", [1, 6])):
        file[f"{name}_idx"] = np.array(part, "i4")
        lines += expect(name, "images", [pnm(images[i]) for i in sorted(part)], "labels",
                        [numbers(7)[i] for i in sorted(part)], ext="ppm")
    return lines


def short_list(file):
    """Labels from 1 on, and names for 0 on: the numbers stay."""
    rows = encoded(6)
    put_rows(file, "images", rows)
    file["labels"] = np.array([1, 2, 3, 1, 2, 3])
    file["class_names"] = np.array([b"cat", b"dog", b"cow"])
    return expect("", "images", rows, "labels", [1, 2, 3, 1, 2, 3])


def objects(file):
    """Rows of pickles, as PyTables' ObjectAtom writes them."""
    rows = [b"\x80\4K" + bytes([i]) + b"." for i in range(3)]
    put_rows(file, "objects", rows)
    file["objects"].attrs["PSEUDOATOM"] = np.bytes_("object")
    return expect("", "objects", rows, ext="pkl")


def labels_digit__anchors(file):
    """The option is for the arrays that it fits."""
    images = noise(6, 8, 8, 3)
    file["images"], file["digit"] = images, np.array(numbers(6))
    file["anchors"] = np.zeros((9, 4), "f4")
    file["labels"] = np.zeros((20, 16), "u4")
    return expect("", "images", [pnm(x) for x in images], "digit", numbers(6), ext="ppm")
