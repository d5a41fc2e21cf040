#!/usr/bin/python3
"""Makes HDF5 files as courses and programs lay them out, and lists what is in them.

hdf5_layouts.py FOLDER writes FOLDER/NAME.h5 and FOLDER/NAME.want, whose lines are sorted:

    g SPLIT ARRAY LABELS EXT ROWS CLASS CLASSES    a group of samples
    s SPLIT ARRAY ROW LABEL CLASS NAME SIZE ADLER32
    f PATH SIZE ADLER32                            a file
    l PATH TARGET                                  a symbolic link

"-" stands for what there is not, and for 0; blanks are shown as "~". Expected is what
was put in, not what is read out again. Each layout is one function, whose name is the
file's; it returns its expectations. Files of functions refuse_* have a FOLDER/NAME.refuse
instead, with a word of the sentence in each line; those of names that begin with
labels_ARRAY__ are scanned with the option labels=ARRAY.
"""
import os
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


def split_attribute(file, lines):
    kind = np.dtype([("split", "S10"), ("source", "S20"), ("start", "i8"), ("stop", "i8"),
                     ("indices", h5py.ref_dtype), ("available", "?"), ("comment", "S1")])
    table = np.zeros(len(lines), kind)
    for i, (split, source, start, stop, rows, available) in enumerate(lines):
        reference = h5py.Reference()
        if rows is not None:
            list_of = file.create_dataset(f"{split}_indices", data=np.array(rows, "i4"))
            reference = list_of.ref
        table[i] = (split, source, start, stop, reference, available, b".")
    file.attrs["split"] = table


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


def fuel_lists(file):
    rows = encoded(40)
    put_rows(file, "encoded_images", rows, column=True)
    file["targets"] = np.array(numbers(40), "i2").reshape(40, 1)
    odd, even = list(range(1, 40, 2)), list(range(0, 38, 2))
    split_attribute(file, [("train", "encoded_images", 0, 0, odd[::-1], True),
                           ("valid", "encoded_images", 0, 0, even, True)])
    return (expect("train", "encoded_images", [rows[i] for i in odd], "targets",
                   [numbers(40)[i] for i in odd]) +
            expect("valid", "encoded_images", [rows[i] for i in even], "targets",
                   [numbers(40)[i] for i in even]))


def image_bytes(file):
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
            lines += expect(split, wnid, rows, "the name of the dataset", class_name=wnid)
    return lines


def n01440764(file):
    rows = encoded(9)
    put_rows(file, "data", rows)
    return expect("", "n01440764", rows, "the name of the dataset", class_name="n01440764")


def words(file):
    rows = encoded(14)
    labels = [("cat", "dog", "sea lion")[i % 3] for i in range(14)]
    for name, dtype in (("fixed", "S12"), ("variable", h5py.string_dtype())):
        group = file.create_group(name)
        put_rows(group, "jpegs", rows)
        group.create_dataset("labels", data=np.array(labels, dtype))
    return (expect("fixed", "jpegs", rows, "labels", labels) +
            expect("variable", "jpegs", rows, "labels", labels))


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


def labels_kind__chosen(file):
    """Two arrays could be labels: the option says which."""
    rows = encoded(10)
    put_rows(file, "images", rows)
    file["labels"] = np.array(numbers(10), "i4")
    file["kind"] = np.array(numbers(10, 3), "u1")
    return expect("", "images", rows, "kind", numbers(10, 3))


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
    file["score"] = np.array(numbers(10), "f4")
    return "'score'", "32-bit float", "one integer or string"


def refuse_split_rows(file):
    put_rows(file, "encoded_images", encoded(10))
    split_attribute(file, [("train", "encoded_images", 0, 11, None, True)])
    return "'train'", "rows that there are not"


def refuse_split_list(file):
    put_rows(file, "encoded_images", encoded(10))
    split_attribute(file, [("train", "encoded_images", 0, 0, [3, -1], True)])
    return "'train'", "a row that there is not"


def refuse_split_name(file):
    put_rows(file, "encoded_images", encoded(10))
    split_attribute(file, [("../x", "encoded_images", 0, 1, None, True)])
    return "'../x'", "no folder"


# Which versions of the library write them
VERSIONS = {"image_bytes": ["latest"], "jsc": ["earliest", "latest"]}


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
            refused = "refuse_" in name
            with open(path + (".refuse" if refused else ".want"), "w",
                      encoding="utf-8") as out:
                out.write("".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
