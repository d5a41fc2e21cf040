# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows, arrays and datasets of HDF5 files that tests write, and the lines that list them."""
import io
import os
import struct
import zlib

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

ROWS = h5py.vlen_dtype(np.uint8)
RANDOM = np.random.default_rng(11)
MAGICS = {"jpg": b"\xff\xd8\xff\xe0", "png": b"\x89PNG\r\n\x1a\n", "bin": b"\1\2\3\4"}


def adler(data):
    return "%08x" % zlib.adler32(data)


def word(text):
    return str(text).replace(" ", "~") if text not in (None, "", 0) else "-"


def encoded(n, kind="jpg"):
    """Rows of encoded images, one of them empty."""
    sizes = [0 if i == 4 else 20 + i * 37 % 400 for i in range(n)]
    return [(MAGICS[kind] + RANDOM.bytes(size))[:size] for size in sizes]


def put_rows(group, name, rows, column=False, **options):
    path, _, name = name.rpartition("/")
    group = group.require_group(path) if path else group
    shape = (len(rows), 1) if column else (len(rows),)
    dataset = group.create_dataset(name, shape, dtype=ROWS, **options)
    for i, row in enumerate(rows):
        dataset[(i, 0) if column else i] = np.frombuffer(row, "u1")


def expect(split, array, rows, labels=None, values=None, ext="jpg", classes=None,
           class_name=None, names=None):
    """The lines of one group. Values: numbers, or the names of classes."""
    lines = [" ".join(("g", word(split), word(array), word(labels), ext, str(len(rows)),
                       word(class_name), ",".join(classes) if classes else "-"))]
    for i, row in enumerate(rows):
        value = values[i] if values is not None else 0
        text = isinstance(value, str)
        lines.append(" ".join((
            "s", word(split), word(array), str(i), "-" if text else word(int(value)),
            word(value) if text else "-", word(names[i] if names else None), str(len(row)),
            adler(row))))
    return lines


def numbers(n, classes=5):
    return [i * 7 % classes for i in range(n)]


def split_attribute(file, lines, text="S20", flag="?"):
    kind = np.dtype([("split", text), ("source", text), ("start", "i8"), ("stop", "i8"),
                     ("indices", h5py.ref_dtype), ("available", flag), ("comment", "S1")])
    table = np.zeros(len(lines), kind)
    for i, (split, source, start, stop, rows, available) in enumerate(lines):
        reference = h5py.Reference()
        if rows is not None:
            list_of = file.create_dataset(f"{split}_indices", data=np.array(rows, "i4"))
            reference = list_of.ref
        table[i] = (split, source, start, stop, reference, available, b".")
    file.attrs.create("split", table, dtype=kind)


def npy(array, fortran=False):
    """The file as NumPy writes it, without the room it leaves for growth."""
    array = np.asarray(array)
    shape = "(" + ", ".join(map(str, array.shape)) + (",)" if array.ndim == 1 else ")")
    descr = np.lib.format.dtype_to_descr(array.dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    data = (b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() +
            array.tobytes("F" if fortran else "C"))
    again = np.load(io.BytesIO(data))
    assert again.dtype == array.dtype and again.tobytes() == array.tobytes()
    assert again.shape == array.shape
    return data


def pnm(pixels):
    """H x W x 3 or H x W."""
    height, width = pixels.shape[:2]
    kind = 6 if pixels.ndim == 3 and pixels.shape[2] == 3 else 5
    return b"P%d\n%d %d\n255\n" % (kind, width, height) + pixels.tobytes()


def noise(*shape, dtype="u1"):
    return RANDOM.integers(0, 250, shape).astype(dtype)


def packed(data):
    """One chunk for each filter that h5py lacks: of parts that are not compressed."""
    n = len(data)
    size = struct.pack("<I", n)
    return {32004: struct.pack(">QII", n, n, n) + data,
            32001: b"\2\1\2\1" + size + size + struct.pack("<I", n + 16) + data,
            32015: b"\x28\xb5\x2f\xfd\xa0" + size + struct.pack("<I", n << 3 | 1)[:3] + data}


def listed(path, data):
    return f"f {path} {len(data)} {adler(data)}"


# Datasets through the low-level interface

def create(file, path, file_type, space, plist=None, data=None):
    parent, name = os.path.split(path)
    group = file.require_group(parent or "/")
    dataset = h5d.create(group.id, name.encode(), file_type, space, plist)
    if data is not None:
        dataset.write(h5s.ALL, h5s.ALL, np.frombuffer(data, "u1"), mtype=file_type)
    return dataset


def simple(n):
    return h5s.create_simple((n,))


def plist_of(**properties):
    plist = h5p.create(h5p.DATASET_CREATE)
    for name, value in properties.items():
        getattr(plist, "set_" + name)(value)
    return plist


def string_of(size, pad):
    kind = h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_strpad(pad)
    return kind


def opaque_of(size):
    return h5t.create(h5t.OPAQUE, size)
