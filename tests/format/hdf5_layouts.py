#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes HDF5 files as courses and programs lay them out, and lists what is in them.

hdf5_layouts.py DIRECTORY writes DIRECTORY/NAME.h5 and DIRECTORY/NAME.want, whose lines are sorted:

    g SPLIT ARRAY LABELS EXT ROWS CLASS CLASSES    a group of samples
    s SPLIT ARRAY ROW LABEL CLASS NAME SIZE ADLER32
    f PATH SIZE ADLER32                            a file
    l PATH TARGET                                  a symbolic link

"-" stands for what there is not, and for 0; blanks are shown as "~". Expected is what
was put in, not what is read out again. Each layout is one function, whose name is the
file's; it returns its expectations. Files of functions refuse_* have a DIRECTORY/NAME.refuse
instead, with a word of the sentence in each line. DIRECTORY/NAME.raw says where there are
rows, labels and the like: "OFFSET LENGTH" in each line. Files of names that begin with
labels_ARRAY__ are scanned with the option labels=ARRAY.
"""
import os
import sys

import h5py
import numpy as np

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import hdf5_labels  # noqa: E402
import hdf5_refused  # noqa: E402
from hdf5_write import (  # noqa: E402
    RANDOM, encoded, expect, listed, noise, npy, numbers, packed, pnm, put_rows,
    split_attribute, word)


# Rows of encoded images

def jsc(file):
    rows, val = encoded(30), encoded(20)
    for split, some in (("train", rows), ("val", val)):
        group = file.create_group(split)
        put_rows(group, "images", some)
        group["targets"] = np.array(numbers(len(some)), "i2")
    return (expect("train", "images", rows, "targets", numbers(30)) +
            expect("val", "images", val, "targets", numbers(20)))


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


# The versions of the library that write them
VERSIONS = {"image_bytes": ["latest"], "jsc": ["earliest", "latest"]}


def list_raw(path):
    """DIRECTORY/NAME.raw: where bytes lie that libhdf5 does not look at, and we do."""
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


def layouts():
    """The functions that write files, by their names."""
    modules = {__name__: globals(), "hdf5_labels": vars(hdf5_labels),
               "hdf5_refused": vars(hdf5_refused)}
    return {name: f for module, members in modules.items() for name, f in members.items()
            if callable(f) and getattr(f, "__module__", "") == module and
            f.__code__.co_varnames[:f.__code__.co_argcount] == ("file",)}


def main():
    os.chdir(sys.argv[1])
    for name, write in layouts().items():
        for i, version in enumerate(VERSIONS.get(name, ["earliest"])):
            path = name + ("." + version if i else "")
            with h5py.File(path + ".h5", "w", libver=version if version == "latest" else
                           ("earliest", "latest")) as file:
                lines = write(file)
            if name in hdf5_refused.CUT_SHORT:
                hdf5_refused.replace_once(path + ".h5", *hdf5_refused.CUT_SHORT[name])
            refused = "refuse_" in name
            if not refused:
                list_raw(path)
            with open(path + (".refuse" if refused else ".want"), "w",
                      encoding="utf-8") as out:
                out.write("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
