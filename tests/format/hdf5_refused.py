# SPDX-License-Identifier: GPL-3.0-or-later
"""HDF5 files that are to be refused: each function returns words of the sentence."""
import struct

import h5py
import numpy as np

from hdf5_write import (
    ROWS, encoded, noise, numbers, packed, put_rows, split_attribute)


def labels_nothing__refuse_option(file):
    put_rows(file, "images", encoded(10))
    file["labels"] = np.array(numbers(10), "i4")
    return "'nothing'", "'/labels' (32-bit integer, 10)", "labels=NAME"


def labels_other__refuse_count(file):
    put_rows(file, "images", encoded(10))
    file["other"] = np.array(numbers(9), "i4")
    return "'other'", "(32-bit integer, 9)", "10 rows"


def labels_score__refuse_float(file):
    put_rows(file, "images", encoded(10))
    file["score"] = np.array(numbers(10), "f4") + .5
    return "'score'", "32-bit float", "one integer or string", "-o labels=NAME"


def refuse_list_outside(file):
    put_rows(file, "images", encoded(4))
    file["labels"] = np.array(numbers(4))
    file["train_idx"], file["test_idx"] = [0, 1], [2, 4]
    return "'test_idx'", "4 rows", "view=arrays"


def refuse_split_rows(file):
    put_rows(file, "encoded_images", encoded(10))
    split_attribute(file, [("train", "encoded_images", 0, 11, None, True)])
    return "'train'", "rows that there are not"


def refuse_split_beyond(file):
    put_rows(file, "encoded_images", encoded(10))
    file["targets"] = np.array(numbers(8), "i2")
    split_attribute(file, [("train", "encoded_images", 0, 10, None, True)])
    return "'train'", "more rows than there are labels"


def refuse_split_others(file):
    """The attribute tells nothing of these rows."""
    put_rows(file, "images", encoded(10))
    file["targets"] = np.array(numbers(8), "i2")
    split_attribute(file, [("train", "encoded_images", 0, 10, None, True)])
    return "10 rows", "8 labels", "view=tree"


def refuse_split_labels(file):
    put_rows(file, "encoded_images", encoded(10))
    file["targets"] = np.array(numbers(10), "i2")
    split_attribute(file, [("train", "encoded_images", 0, 5, None, True),
                           ("train", "targets", 5, 10, None, True)])
    return "'train'", "other rows of the labels"


def refuse_split_lists(file):
    put_rows(file, "encoded_images", encoded(10))
    file["targets"] = np.array(numbers(10), "i2")
    split_attribute(file, [("train", "encoded_images", 0, 0, [5, 1, 3], True)])
    table, other = file.attrs["split"], file.create_dataset("others", data=[0, 2, 4])
    table = np.concatenate([table, table])
    table[1]["source"], table[1]["indices"] = b"targets", other.ref
    file.attrs.create("split", table, dtype=table.dtype)
    return "'train'", "other rows of the labels"


def refuse_split_strings(file):
    put_rows(file, "encoded_images", encoded(10))
    split_attribute(file, [("train", "encoded_images", 0, 10, None, True)],
                    text=h5py.string_dtype())
    return "'split'", "fixed size"


def refuse_split_list(file):
    put_rows(file, "encoded_images", encoded(10))
    split_attribute(file, [("train", "encoded_images", 0, 0, [3, -1], True)])
    return "'train'", "a row that there is not"


def refuse_split_name(file):
    put_rows(file, "encoded_images", encoded(10))
    split_attribute(file, [("../x", "encoded_images", 0, 1, None, True)])
    return "'../x'", "no directory"


def refuse_fewer_labels(file):
    put_rows(file.create_group("train"), "images", encoded(30))
    file["train/targets"] = np.array(numbers(29), "i2")
    return "'/train'", "30 rows in 'images'", "29 labels in 'targets'", "view=tree"


def refuse_more_labels(file):
    """Of words, and beside pixels; those of one array alone fit."""
    file["train_x"], file["train_y"] = noise(5, 8, 8, 3), np.array(numbers(5), "i8")
    file["test_x"] = noise(3, 8, 8, 3)
    file["test_y"] = np.array([[b"cat"]] * 4)
    return "'/'", "3 rows in 'test_x'", "4 labels in 'test_y'"


def refuse_list(file):
    """Nothing that is known: all that there is, and what helps."""
    file["a/table"] = np.zeros((7, 3), "f4")
    file["b"] = "text"
    return ("'/a/table' (32-bit float, 7 x 3)", "'/b'", "view=arrays", "labels=NAME")


def refuse_one_picture(file):
    """No N x H x W, and the label is that of the whole."""
    for i in range(3):
        file[f"{i}/image"] = noise(8, 6, 3)
        file[f"{i}/label"] = i
    return "'/0/image' (8-bit integer, 8 x 6 x 3)", "view=arrays"


def refuse_zeros_inside(file):
    put_rows(file, "images", encoded(3))
    file["labels"] = np.array([b"a\0x", b"a\0y", b"a"], "S5")
    return "'/labels'", "row 0", "zero byte"


def refuse_table_chunks(file):
    file.create_dataset("images", (3,), ROWS, chunks=(1 << 25,), maxshape=(None,))
    return "'/images'", "256 MiB", "h5repack"


def refuse_decoded(file):
    """Labels of many arrays, which are decoded for each."""
    for i in range(20):
        put_rows(file, f"image{i}", encoded(1))
    file.create_dataset("labels", data=[1], chunks=(1 << 23,), maxshape=(None,),
                        compression="gzip")
    return "decoded", "h5repack"


def refuse_many(file):
    for i in range(100):
        file[f"x{i:02d}"] = np.zeros((2, 2))
    return "'/x09'", "90 more"


def arrays_refuse_nothing(file):
    file["b"] = "text"
    return "'/b'", "no array"


def refuse_shared_rows(file):
    """More rows than the file has room for, never written."""
    for i in range(3):
        file.create_dataset(f"{i}/images", (600000, 2, 2), "u1")
    return "rows", "smaller"


def refuse_huge(file):
    file.create_dataset("images", (1 << 40, 1 << 10, 1 << 10, 3), "u1",
                        chunks=(1, 1 << 10, 1 << 10, 3))
    return "'/images'", "rows"


def refuse_chunks(file):
    big = file.create_dataset("images", (2, 1 << 16, 1 << 16), "u1",
                              chunks=(1, 1 << 15, 1 << 16), compression="gzip")
    big.id.write_direct_chunk((0, 0, 0), b"short", 0)
    return "'/images'", "larger chunks", "h5repack"


def refuse_array_outside(file):
    file.create_dataset("images", (4, 5, 5), "u1", external=[("raw.bin", 0, 100)])
    return "'/images'", "another file", "h5repack"


def refuse_array_virtual(file):
    layout = h5py.VirtualLayout((4, 5, 5), "u1")
    layout[:] = h5py.VirtualSource("other.h5", "x", (4, 5, 5))
    file.create_virtual_dataset("images", layout)
    return "'/images'", "virtual", "h5repack"


def refuse_array_filter(file):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_chunk((2, 5, 5))
    plist.set_filter(32008, h5py.h5z.FLAG_OPTIONAL, ())
    images = h5py.h5d.create(file.id, b"images", h5py.h5t.STD_U8LE,
                             h5py.h5s.create_simple((4, 5, 5)), plist)
    images.write_direct_chunk((0, 0, 0), b"packed", 0)
    return "'/images'", "32008", "h5repack"


def refuse_array_compact(file):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    h5py.h5d.create(file.id, b"images", h5py.h5t.STD_U8LE,
                    h5py.h5s.create_simple((4, 3, 5, 5)), plist)
    return "'/images'", "compact", "h5repack"


def put_compact(group, name, data):
    plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plist.set_layout(h5py.h5d.COMPACT)
    dataset = h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(data.dtype),
                              h5py.h5s.create_simple(data.shape), plist)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, data)
    return data.tobytes()


# Changed once the file is closed: the layout message, version 3, of a compact dataset says
# that it holds 8 bytes, and the dataset is larger.
CUT_SHORT = {}


def cut_short(name, data):
    head = b"\3\0" + struct.pack("<H", len(data))
    CUT_SHORT[name] = (head + data, b"\3\0\10\0" + data)


def replace_once(path, old, new):
    with open(path, "rb") as file:
        data = file.read()
    assert data.count(old) == 1, path
    with open(path, "wb") as file:
        file.write(data.replace(old, new))


def refuse_compact_labels(file):
    put_rows(file, "images", encoded(20))
    cut_short("refuse_compact_labels", put_compact(file, "labels", np.arange(20) % 3))
    return "is damaged", "; copy "


def arrays_refuse_compact_short(file):
    cut_short("arrays_refuse_compact_short", put_compact(file, "data", noise(4, 5, 5)))
    # libhdf5 1.14 finds that itself
    return "is damaged", "; copy "


def refuse_compact_file(file):
    cut_short("refuse_compact_file", put_compact(file, "one", noise(50)))
    return "is damaged", "; copy "


def arrays_refuse_records(file):
    file.create_dataset("x", (1 << 30, 1 << 30), "f8", chunks=(1, 1))
    return "'/x'", "rows"


def arrays_refuse_size(file):
    file.create_dataset("x", (1 << 41,), "u1", chunks=(1 << 20,))
    return "'/x'", "1 TiB"
