#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes HDF5 files as courses and programs lay them out, and lists what is in them.

hdf5_layouts.py FOLDER writes FOLDER/NAME.h5 and FOLDER/NAME.want, whose lines are sorted:

    g SPLIT ARRAY LABELS EXT ROWS CLASS CLASSES    a group of samples
    s SPLIT ARRAY ROW LABEL CLASS NAME SIZE ADLER32
    f PATH SIZE ADLER32                            a file
    l PATH TARGET                                  a symbolic link

"-" stands for what there is not, and for 0; blanks are shown as "~". Expected is what
was put in, not what is read out again. Each layout is one function, whose name is the
file's; it returns its expectations. Files of functions refuse_* have a FOLDER/NAME.refuse
instead, with a word of the sentence in each line. FOLDER/NAME.raw says where there are
rows, labels and the like: "OFFSET LENGTH" in each line. Files of names that begin with
labels_ARRAY__ are scanned with the option labels=ARRAY.
"""
import io
import os
import struct
import sys
import zlib

import h5py
import numpy as np

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


# Rows of encoded images

def jsc(file):
    rows, val = encoded(30), encoded(20)
    for split, some in (("train", rows), ("val", val)):
        group = file.create_group(split)
        put_rows(group, "images", some)
        group["targets"] = np.array(numbers(len(some)), "i2")
    return (expect("train", "images", rows, "targets", numbers(30)) +
            expect("val", "images", val, "targets", numbers(20)))


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


def fuel_names(n):
    long = "a-name-that-is-cut-at-32-bytes-"
    return [long + ".JPEG" if i == 3 else f"n{i // 8:08d}_{i}.JPEG" for i in range(n)]


def shown_names(n):
    return [x if len(x) < 32 else x[:32] + ".jpg" for x in fuel_names(n)]


def fuel(file):
    rows = encoded(60)
    put_rows(file, "encoded_images", rows, column=False)
    file["targets"] = np.array(numbers(60), "i2").reshape(60, 1)
    file["filenames"] = np.array(fuel_names(60), "S32").reshape(60, 1)
    parts = {"train": (0, 35), "valid": (35, 50), "test": (50, 60)}
    split_attribute(file, [(split, source, *part, None, split != "test" or
                            source != "targets")
                           for split, part in parts.items()
                           for source in ("encoded_images", "targets", "filenames")])
    lines = []
    for split, (start, stop) in parts.items():
        part = slice(start, stop)
        labelled = split != "test"
        lines += expect(split, "encoded_images", rows[part],
                        "targets" if labelled else None,
                        numbers(60)[part] if labelled else None, names=shown_names(60)[part])
    return lines


def fuel_ilsvrc(file):
    """As Fuel's converters of ILSVRC write it: no labels for the last split."""
    rows = encoded(12)
    put_rows(file, "encoded_images", rows)
    file["targets"] = np.array(numbers(9), "i2").reshape(9, 1)
    split_attribute(file, [("train", "encoded_images", 0, 6, None, True),
                           ("train", "targets", 0, 6, None, True),
                           ("valid", "encoded_images", 6, 9, None, True),
                           ("valid", "targets", 6, 9, None, True),
                           ("test", "encoded_images", 9, 12, None, True),
                           ("test", "targets", 9, 9, None, False)])
    return (expect("train", "encoded_images", rows[:6], "targets", numbers(9)[:6]) +
            expect("valid", "encoded_images", rows[6:9], "targets", numbers(9)[6:]) +
            expect("test", "encoded_images", rows[9:]))


def fuel_lists(file):
    rows = encoded(40)
    put_rows(file, "encoded_images", rows, column=True)
    file["targets"] = np.array(numbers(40), "i2").reshape(40, 1)
    odd, even = list(range(1, 40, 2)), list(range(0, 38, 2))
    split_attribute(file, [("train", "encoded_images", 0, 0, odd[::-1], 1),
                           ("valid", "encoded_images", 0, 0, even, 1)], flag=">i8")
    return (expect("train", "encoded_images", [rows[i] for i in odd], "targets",
                   [numbers(40)[i] for i in odd]) +
            expect("valid", "encoded_images", [rows[i] for i in even], "targets",
                   [numbers(40)[i] for i in even]))


def image_bytes(file):
    file.attrs["split"] = "train"   # a word, and none of Fuel's tables
    rows = encoded(50)
    put_rows(file, "image_bytes", rows, chunks=(16,), maxshape=(None,))
    file.create_dataset("targets", data=np.array(numbers(50), "i8"), chunks=(7,))
    return expect("", "image_bytes", rows, "targets", numbers(50))


def image_bytes_filtered(file):
    rows = encoded(50, "png")
    put_rows(file, "image_bytes", rows, chunks=(9,), compression="gzip", shuffle=True)
    file.create_dataset("label", data=np.array(numbers(50), ">u4"), chunks=(8,),
                        compression="gzip", shuffle=True, fletcher32=True)
    return expect("", "image_bytes", rows, "label", numbers(50), ext="png")


def class_for_each(file):
    file.attrs["title"] = "ImageNet"
    lines = []
    for split in ("train", "val"):
        for wnid in ("n01440764", "n01443537", "n01484850"):
            rows = encoded(12)
            put_rows(file.require_group(split), wnid, rows)
            lines += expect(split, wnid, rows, "the names of arrays or files", class_name=wnid)
    return lines


def n01440764(file):
    rows = encoded(9)
    put_rows(file, "data", rows)
    return expect("", "n01440764", rows, "the names of arrays or files", class_name="n01440764")


def words(file):
    rows = encoded(14)
    labels = [("cat", "dog", "sea lion")[i % 3] for i in range(14)]
    for name, dtype in (("fixed", "S12"), ("variable", h5py.string_dtype())):
        group = file.create_group(name)
        put_rows(group, "jpegs", rows)
        group.create_dataset("labels", data=np.array(labels, dtype))
    return (expect("fixed", "jpegs", rows, "labels", labels) +
            expect("variable", "jpegs", rows, "labels", labels))


def padded(file):
    """Blanks at the end of strings of a fixed size are padding, whatever the type says."""
    rows = encoded(6)
    labels = [("cat", "cat ", "dog")[i % 3] for i in range(6)]
    spaces = h5py.h5t.C_S1.copy()
    spaces.set_size(6)
    spaces.set_strpad(h5py.h5t.STR_SPACEPAD)
    lines = []
    for name, dtype in (("fixed", "S6"), ("variable", h5py.string_dtype())):
        put_rows(file.create_group(name), "images", rows)
        file[name].create_dataset("labels", data=np.array(labels, dtype))
        lines += expect(name, "images", rows, "labels",
                        labels if name == "variable" else [x.strip() for x in labels])
    put_rows(file.create_group("spaces"), "images", rows)
    made = h5py.h5d.create(file["spaces"].id, b"labels", spaces, h5py.h5s.create_simple((6,)))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([x.ljust(6).encode() for x in labels]),
               mtype=spaces)
    return lines + expect("spaces", "images", rows, "labels", [x.strip() for x in labels])


def kinds(file):
    """Labels of each type."""
    lines = []
    for name, dtype, count in (("u1", "u1", 5), ("big", ">i8", 5), ("bool", "?", 2),
                               ("small", "<u2", 5)):
        rows, values = encoded(11), numbers(11, count)
        put_rows(file.create_group(name), "images", rows)
        file[name]["y"] = np.array(values, dtype)
        lines += expect(name, "images", rows, "y", values)
    rows = encoded(11)
    names = {"cat": 0, "dog": 1, "emu": 2}
    put_rows(file.create_group("enum"), "images", rows)
    file["enum"].create_dataset("y", data=np.array(numbers(11, 3), "i4"),
                                dtype=h5py.enum_dtype(names, "i4"))
    return lines + expect("enum", "images", rows, "y", numbers(11, 3), classes=list(names))


def links(file):
    """Labels that are elsewhere, and a list of the classes."""
    rows = encoded(10)
    put_rows(file.create_group("a"), "images", rows)
    file["common/numbers"] = np.array(numbers(10), "i4")
    file["a/targets"] = h5py.SoftLink("/common/numbers")
    file["a/list_classes"] = np.array([b"c%d" % i for i in range(5)])
    file["b/label"] = h5py.SoftLink("/not/there")
    put_rows(file["b"], "images", rows)
    return (expect("a", "images", rows, "targets", numbers(10),
                   classes=[f"c{i}" for i in range(5)]) +
            expect("b", "images", rows) + ["l b/label ../not/there"])


def ambiguous(file):
    """N x 3 x H x 3 is taken for pixels."""
    images = noise(5, 3, 6, 3)
    file["images"] = images
    file["y"] = np.array(numbers(5), "i4")
    return expect("", "images", [pnm(x) for x in images], "y", numbers(5), ext="ppm")


def several(file):
    """Labels of one hard link each, of a wrong length, and of a pair's name."""
    rows = encoded(8)
    file["all"] = np.array(numbers(8), "i4")
    for name in ("a", "b"):
        put_rows(file.create_group(name), "images", rows)
        file[name]["targets"] = file["all"]
    put_rows(file, "short/train_images", rows)
    file["short/labels"] = np.array(numbers(7), "i4")
    file["short/train_labels"] = np.array(numbers(8, 3), "u1")
    return (expect("a", "images", rows, "targets", numbers(8)) +
            expect("b", "images", rows, "targets", numbers(8)) +
            expect("short", "train_images", rows, "train_labels", numbers(8, 3)))


def empty_groups(file):
    """They take no file away."""
    rows = encoded(8)
    put_rows(file, "images", rows)
    file["labels"] = np.array(numbers(8), "i4")
    file.create_group("meta/deep")
    file["meta/text"] = "of variable length"
    file["more/readme"] = np.frombuffer(b"bytes", "u1")
    return (expect("", "images", rows, "labels", numbers(8)) +
            [listed("more/readme", b"bytes")])


def unlabelled(file):
    """Names with "label" in them that are none; and what is called _y or num_ is none."""
    rows, more = encoded(8), encoded(9)
    put_rows(file, "images", rows)
    put_rows(file, "images_unlabeled", more)
    file["labels"] = np.array(numbers(8), "i4")
    lines = (expect("", "images", rows, "labels", numbers(8)) +
             expect("", "images_unlabeled", more))
    for name in ("center_y", "num_labels", "is_labeled"):
        put_rows(file.create_group(name), "images", rows)
        file[name][name] = np.array(numbers(8), "i4")
        lines += expect(name, "images", rows)
    for name, values in (("label", [1]), ("classes", [0, 1, 2])):
        put_rows(file.create_group(name), "images", rows)
        file[name][name] = np.array(values, "i4")
        lines += expect(name, "images", rows)
    return lines


def others_labels(file):
    """Labels of one array, and another one of more rows beside it."""
    rows, more = encoded(8), encoded(9)
    put_rows(file, "images", rows)
    put_rows(file, "thumbnails", more)
    file["labels"] = np.array(numbers(8), "i4")
    return (expect("", "images", rows, "labels", numbers(8)) +
            expect("", "thumbnails", more))


def label_names(file):
    """Names that go with those of the rows, and one that is called as labels are."""
    rows, lines = encoded(8), []
    for n, (array, labels) in enumerate((("train_img", "train_labels"), ("val_img", "val_labels"),
                                         ("image", "labels"), ("x", "Targets"),
                                         ("photos", "fine_labels"), ("data", "category"),
                                         ("val_images", "validation_labels"))):
        group = file.require_group("splits" if n < 2 else str(n))
        put_rows(group, array, rows)
        group[labels] = np.array(numbers(8, n + 2), "i4")
        lines += expect(group.name[1:], array, rows, labels, numbers(8, n + 2))
    group = file.create_group("none")
    put_rows(group, "photos", rows)
    group["fine_labels"] = group["coarse_labels"] = np.array(numbers(8), "i4")
    return lines + expect("none", "photos", rows)


def labels_attr__splits(file):
    """labels=attr is train_attr for train_images."""
    rows, lines = encoded(8), []
    for n, split in enumerate(("train", "test")):
        put_rows(file, f"{split}_images", rows)
        file[f"{split}_labels"] = np.array(numbers(8), "i4")
        file[f"{split}_attr"] = np.array(numbers(8, n + 2), "i4")
        lines += expect("", f"{split}_images", rows, f"{split}_attr", numbers(8, n + 2))
    return lines


def labels_train_attr__one(file):
    """That of one split labels no other."""
    lines = [line for line in labels_attr__splits(file) if " train_" in line]
    rows = [bytes(row) for row in file["test_images"][()]]
    return lines + expect("", "test_images", rows)


def labels_kind__chosen(file):
    """Two arrays could be labels: the option says which."""
    rows = encoded(10)
    put_rows(file, "images", rows)
    file["labels"] = np.array(numbers(10), "i4")
    file["kind"] = np.array(numbers(10, 3), "u1")
    return expect("", "images", rows, "kind", numbers(10, 3))


# Arrays of numbers

def npy(array, fortran=False):
    """The file as NumPy writes it, without the room it leaves for growth."""
    array = np.asarray(array)
    shape = "(" + ", ".join(map(str, array.shape)) + (",)" if array.ndim == 1 else ")")
    descr = np.lib.format.dtype_to_descr(array.dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    data = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + array.tobytes("F" if fortran else "C")
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


FILTERS = {"plain": {}, "gzip": {"compression": "gzip"},
           "all": {"compression": "gzip", "shuffle": True, "fletcher32": True}}


def pixels(file):
    """N x H x W x C, in each layout of the file."""
    lines = []
    for name, options in {"contiguous": {}, "one": {"chunks": (1, 6, 5, 3)},
                          "cut": {"chunks": (4, 4, 2, 2), **FILTERS["all"]},
                          "rows": {"chunks": (5, 6, 5, 3), **FILTERS["gzip"]}}.items():
        images = noise(13, 6, 5, 3)
        group = file.create_group(name)
        group.create_dataset("images", data=images, **options)
        group["ans"] = np.array(numbers(13), "u1")
        lines += expect(name, "images", [pnm(x) for x in images], "ans", numbers(13),
                        ext="ppm")
    return lines


def planes(file):
    """BigGAN's N x C x H x W."""
    lines = []
    for name, options in {"contiguous": {}, "biggan": {"chunks": (5, 3, 6, 4)},
                          "cut": {"chunks": (4, 2, 4, 3), **FILTERS["all"]}}.items():
        images = noise(11, 3, 6, 4)
        group = file.create_group(name)
        group.create_dataset("imgs", data=images, **options)
        group.create_dataset("labels", data=np.array(numbers(11), "i8"))
        lines += expect(name, "imgs", [pnm(x.transpose(1, 2, 0)) for x in images], "labels",
                        numbers(11), ext="ppm")
    return lines


def grey(file):
    """DLIO's records, one colour as a plane or as a pixel, and masks beside images."""
    one, two = noise(7, 9, 8), noise(7, 9, 8)
    file["dlio/records_0"], file["dlio/records_1"] = one, two
    file["dlio/labels"] = np.zeros(7, "i8")
    lines = []
    for name, data in (("records_0", one), ("records_1", two)):
        lines += expect("dlio", name, [pnm(x) for x in data], "labels", [0] * 7, ext="pgm")
    file["plane/x"] = one.reshape(7, 1, 9, 8)
    file["plane/y"] = np.array(numbers(7), "i4").reshape(7, 1, 1, 1)
    lines += expect("plane", "x", [pnm(x) for x in one], "y", numbers(7), ext="pgm")
    file["pixel/x"] = one.reshape(7, 9, 8, 1)
    return lines + expect("pixel", "x", [pnm(x) for x in one], ext="pgm")


def coursera(file):
    images, values = noise(9, 8, 8, 3), numbers(9, 2)
    for part in ("train", "test"):
        file[f"{part}_set_x"] = images
        file[f"{part}_set_y"] = np.array(values, "i8")
    file["list_classes"] = np.array([b"non-cat", b"cat"])
    lines = []
    for part in ("train", "test"):
        lines += expect("", f"{part}_set_x", [pnm(x) for x in images], f"{part}_set_y",
                        values, ext="ppm", classes=["non-cat", "cat"])
    return lines


def samples_npy(file):
    """Rows that are no images of eight bits."""
    lines = []
    for name, data in (("deep", noise(6, 4, 5, 3, dtype="<u2")),
                       ("float", RANDOM.random((6, 3, 4, 5)).astype("f4")),
                       ("alpha", noise(6, 4, 5, 4)), ("flat", noise(6, 20)),
                       ("big", noise(6, 2, 3, 4, 5, dtype=">i4"))):
        group = file.create_group(name)
        group.create_dataset("data", data=data, chunks=(4,) + data.shape[1:],
                             compression="gzip")
        group["label"] = np.array(numbers(6), "i4")
        lines += expect(name, "data", [npy(x) for x in data], "label", numbers(6), ext="npy")
    return lines


def lzf(file):
    images = noise(20, 8, 8, 3) // 64
    file.create_dataset("imgs", data=images.transpose(0, 3, 1, 2), chunks=(7, 3, 8, 8),
                        compression="lzf", shuffle=True)
    file.create_dataset("labels", data=np.array(numbers(20)), chunks=(6,), compression="lzf")
    return expect("", "imgs", [pnm(x) for x in images], "labels", numbers(20), ext="ppm")


def unwritten(file):
    """Chunks that were never written, with a fill value and without."""
    lines = []
    for fill in (0, 9):
        group = file.create_group(f"fill-{fill}")
        images = group.create_dataset("images", (10, 4, 4, 3), "u1", chunks=(2, 4, 3, 3),
                                      fillvalue=fill, compression="gzip")
        images[4:7] = noise(3, 4, 4, 3)
        group["y"] = np.array(numbers(10), "i4")
        lines += expect(f"fill-{fill}", "images", [pnm(x) for x in images[()]], "y",
                        numbers(10), ext="ppm")
        never = group.create_dataset("never/images", (3, 4, 4), "u1", fillvalue=fill)
        lines += expect(f"fill-{fill}/never", "images", [pnm(x) for x in never[()]],
                        ext="pgm")
    return lines


def packed(data):
    """One chunk for each filter that h5py lacks: of parts that are not compressed."""
    n = len(data)
    size = struct.pack("<I", n)
    return {32004: struct.pack(">QII", n, n, n) + data,
            32001: b"\2\1\2\1" + size + size + struct.pack("<I", n + 16) + data,
            32015: b"\x28\xb5\x2f\xfd\xa0" + size + struct.pack("<I", n << 3 | 1)[:3] + data}


def filters(file):
    """lz4, blosc, zstd; chunks of the filter, and such that skipped it."""
    lines = []
    for number in packed(b""):
        images = noise(6, 5, 4, 3)
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((2, 5, 4, 3))
        # what a level or a size of blocks may be, and is no matter here
        plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, (1 << 30,))
        group = file.create_group(str(number))
        dataset = h5py.h5d.create(group.id, b"images", h5py.h5t.STD_U8LE,
                                  h5py.h5s.create_simple(images.shape), plist)
        for i in range(0, 6, 2):
            data = images[i:i + 2].tobytes()
            dataset.write_direct_chunk((i, 0, 0, 0), data if i == 2 else packed(data)[number],
                                       int(i == 2))
        group["labels"] = np.array(numbers(6))
        lines += expect(str(number), "images", [pnm(x) for x in images], "labels",
                        numbers(6), ext="ppm")
    return lines


def listed(path, data):
    return f"f {path} {len(data)} {adler(data)}"


def arrays_types(file):
    """view=arrays: each type that NumPy has."""
    lines = []
    for dtype in ("u1", "i1", "<u2", ">i2", "<i4", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8",
                  ">f8", "<c8", ">c16", "?", "S7", "V5"):
        data = np.frombuffer(RANDOM.bytes(12 * 16), dtype="u1")[:12 * np.dtype(dtype).itemsize]
        data = (data % 2).view(dtype).reshape(3, 4) if dtype == "?" else \
            data.view(dtype).reshape(3, 4)
        name = "t" + dtype.strip("<>?") + ("-big" if dtype[0] == ">" else "")
        file[name] = data
        lines.append(listed(name + ".npy", npy(data)))
    record = np.array([(1, 2.5, b"ab"), (3, 4.5, b"cde")],
                      [("a", "<i4"), ("b b", ">f8"), ("c", "S3")])
    file["record"] = record
    file["scalar"] = np.float32(3.5)
    file["none"] = np.zeros((0, 4), "i2")
    file["ints/label"] = np.arange(5, dtype="i4")
    return lines + [listed("record.npy", npy(record)), listed("scalar.npy", npy(np.float32(3.5))),
                    listed("none.npy", npy(np.zeros((0, 4), "i2"))),
                    listed("ints/label.npy", npy(np.arange(5, dtype="i4")))]


def arrays_netcdf(file):
    """What netCDF-4 writes: dimension scales, an axis that grows, big-endian numbers."""
    lines = []
    for name, count in (("lat", 4), ("lon", 6)):
        values = np.linspace(0, 1, count).astype(">f4")
        file[name] = values
        file[name].make_scale(name)
        lines.append(listed(name + ".npy", npy(values)))
    file["nv"] = np.zeros(2, ">f4")
    file["nv"].make_scale("This is a netCDF dimension but not a netCDF variable.         2")
    data = noise(12, 4, 6, dtype=">i2")
    grown = file.create_dataset("model/run/tas", data=data, chunks=(1, 4, 6),
                                maxshape=(None, 4, 6), compression="gzip", shuffle=True)
    grown.attrs["_FillValue"] = np.int16(-1)
    for i, scale in ((1, "lat"), (2, "lon")):
        grown.dims[i].attach_scale(file[scale])
    lines += [listed(f"model/run/tas/{i:02d}.npy", npy(x)) for i, x in enumerate(data)]
    file["model/orog"] = data[0]
    return lines + [listed("model/orog.npy", npy(data[0]))]


# Kinds of labels, and arrays that are images under any name

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
    """Floats that are not whole, rows with two ones or none, NaN: no labels."""
    rows, lines = encoded(4), []
    for name, labels in {"half": [0, 1, .5, 1], "nan": [0, 1, np.nan, 1], "large": [0, 1, 1e300, 1],
                         "two": [[1, 0], [0, 1], [1, 1], [1, 0]],
                         "none": [[1, 0], [0, 0], [1, 0], [1, 0]],
                         "three": [[1, 0], [0, 2], [1, 0], [1, 0]]}.items():
        put_rows(file, name + "/images", rows)
        file[name]["labels"] = np.array(labels, "f8")
        lines += expect(name, "images", rows)
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


def refuse_list_outside(file):
    put_rows(file, "images", encoded(4))
    file["labels"] = np.array(numbers(4))
    file["train_idx"], file["test_idx"] = [0, 1], [2, 4]
    return "'test_idx'", "4 rows", "view=arrays"


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


# What is refused

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
    return "'../x'", "no folder"


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


def refuse_compact_labels(file):
    put_rows(file, "images", encoded(20))
    cut_short("refuse_compact_labels", put_compact(file, "labels", np.arange(20) % 3))
    return "is damaged", "outside the file"


def arrays_refuse_compact_short(file):
    cut_short("arrays_refuse_compact_short", put_compact(file, "data", noise(4, 5, 5)))
    return "is damaged", "outside the file"


def refuse_compact_file(file):
    cut_short("refuse_compact_file", put_compact(file, "one", noise(50)))
    return "is damaged", "outside the file"


def arrays_refuse_records(file):
    file.create_dataset("x", (1 << 30, 1 << 30), "f8", chunks=(1, 1))
    return "'/x'", "rows"


def arrays_refuse_size(file):
    file.create_dataset("x", (1 << 41,), "u1", chunks=(1 << 20,))
    return "'/x'", "1 TiB"


# Which versions of the library write them
VERSIONS = {"image_bytes": ["latest"], "jsc": ["earliest", "latest"]}


def list_raw(path):
    """FOLDER/NAME.raw: where bytes lie that libhdf5 does not look at, and we do."""
    places = []

    def visit(_, item):
        if not isinstance(item, h5py.Dataset):
            return
        if item.chunks:
            chunks = (item.id.get_chunk_info(i) for i in range(item.id.get_num_chunks()))
            places.extend((chunk.byte_offset, chunk.size) for chunk in chunks)
        elif item.id.get_offset() is not None:
            places.append((item.id.get_offset(), item.id.get_storage_size()))

    with h5py.File(path + ".h5") as file:
        file.visititems(visit)
    with open(path + ".h5", "rb") as file:
        data = file.read()
    at = data.find(b"GCOL")
    while at >= 0:
        places.append((at, 512))
        at = data.find(b"GCOL", at + 1)
    with open(path + ".raw", "w", encoding="utf-8") as out:
        out.write("".join(f"{start} {length}\n" for start, length in places if length))


def replace_once(path, old, new):
    with open(path, "rb") as file:
        data = file.read()
    assert data.count(old) == 1, path
    with open(path, "wb") as file:
        file.write(data.replace(old, new))


def main():
    os.chdir(sys.argv[1])
    chosen = {name: f for name, f in globals().items()
              if callable(f) and getattr(f, "__module__", "") == __name__ and
              f.__code__.co_varnames[:f.__code__.co_argcount] == ("file",)}
    for name, write in chosen.items():
        for i, version in enumerate(VERSIONS.get(name, ["earliest"])):
            path = name + ("." + version if i else "")
            with h5py.File(path + ".h5", "w", libver=version if version == "latest" else
                           ("earliest", "latest")) as file:
                lines = write(file)
            if name in CUT_SHORT:
                replace_once(path + ".h5", *CUT_SHORT[name])
            refused = "refuse_" in name
            if not refused:
                list_raw(path)
            with open(path + (".refuse" if refused else ".want"), "w",
                      encoding="utf-8") as out:
                out.write("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
