#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Datasets for the four laws of labels, in each format.

laws.py write DIRECTORY   writes each case into DIRECTORY/FORMAT-LAW-NAME/, and DIRECTORY/cases: a line
                       each of directory, status, options, sources, directories with their numbers of
                       files ("train/0:2"), and a part of what is told; "-" is nothing
laws.py table          prints how many cases there are, a row a format, a column a law

mixed    rows of different splits are apart, told of, or refused with an option
shifted  numbers that do not fit the names are seen: no class gets another's name
remedy   every option that a message names works on the file that caused it (laws.sh tries all
         options of all cases; these have nothing else to show)
same     rows, arrays and columns take labels of every type
"""
import json
import os
import shutil
import sys

import h5py
import numpy as np

import laws_ffcv  # noqa: F401
import laws_lmdb  # noqa: F401
import laws_maps  # noqa: F401
import laws_mds  # noqa: F401
import laws_parquet  # noqa: F401
import laws_recordio  # noqa: F401
import laws_tfrecord  # noqa: F401
import laws_webdataset  # noqa: F401
from laws_kit import CASES, SPELLED, case, fixture, jpeg

LAWS = ("mixed", "shifted", "remedy", "same")
FORMATS = ("hdf5", "arrow", "lmdb", "mds", "parquet", "recordio", "ffcv", "tfrecord", "webdataset",
           "maps", "saved")


def pixels(n):
    return np.arange(n * 192, dtype="u4").astype("u1").reshape(n, 8, 8, 3)


def rows(file, name, n):
    dataset = file.create_dataset(name, (n,), h5py.vlen_dtype(np.uint8))
    for i in range(n):
        dataset[i] = np.frombuffer(jpeg(i), "u1")


# ---- HDF5 ----

@case("hdf5", "mixed", "lists", "test/0:1 test/1:2 train/0:2 train/1:1",
      "1 rows of '/images' are in several splits, as the lists of rows beside them say (row 2,")
def lists():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"] = pixels(5), [0, 1, 0, 1, 1]
        f["train_idx"], f["test_idx"] = [0, 1, 2], [2, 3, 4]


@case("hdf5", "mixed", "lists-of-none", "test/0:1 train/0:1 train/1:1",
      "2 rows of '/jpegs' are in no split")
def lists_of_none():
    with h5py.File("a.h5", "w") as f:
        rows(f, "jpegs", 5)
        f["labels"] = [0, 1, 0, 1, 0]
        f["train_idx"], f["test_idx"] = [0, 1], [2]


@case("hdf5", "mixed", "column", "test/0:1 train/0:1 train/1:1")
def column():
    with h5py.File("a.h5", "w") as f:
        rows(f, "images", 3)
        f["labels"], f["split"] = [0, 1, 0], np.array([b"train", b"train", b"test"])


for NAME, VALUES in {"is_train": np.array([True, True, False]), "split": [0, 0, 1],
                     "test_mask": np.array([0, 0, 1], "i4")}.items():
    @case("hdf5", "mixed", f"numbers-{NAME}", "0:2 1:1",
          f"-o labels={NAME} has a directory for each of its values")
    def column_of_numbers(name=NAME, values=VALUES):
        with h5py.File("a.h5", "w") as f:
            f["images"], f["labels"], f[name] = pixels(3), [0, 1, 0], values


for NAME, VALUES in {"train_mask": np.array([1, 1, 0], "u1"), "usage": [b"a", b"a", b"b"],
                     "data_set": [b"a", b"a", b"b"], "fold": [0, 1, 2]}.items():
    @case("hdf5", "mixed", f"vague-{NAME}", "-",
          f"'{NAME}' may say the split of each row, and is not used")
    def vague_column(name=NAME, values=VALUES):
        with h5py.File("a.h5", "w") as f:
            f["images"], f["labels"], f[name] = pixels(3), [0, 1, 0], values


for NAME in ("train_ids", "split/train", "indices/train", "trn_rows", "train", "dev_idx",
             "splits/0/train", "fold_0/train", "cv/splits/train_idx/0", "train_idx_0"):
    SPLIT = next(word for word in ("train", "trn", "dev") if word in NAME)

    @case("hdf5", "mixed", f"lists-{NAME.replace('/', '-')}",
          " ".join(sorted(("test/0:1", f"{SPLIT}/0:1", f"{SPLIT}/1:1"))))
    def lists_called(name=NAME, split=SPLIT):
        with h5py.File("a.h5", "w") as f:
            rows(f, "images", 3)
            f["labels"] = [0, 1, 0]
            f[name], f[name.replace(split, "test")] = [0, 1], [2]


for NAME in ("splits/0/train", "fold0/train_idx", "train_idx_0"):
    @case("hdf5", "mixed", f"folds-{NAME.replace('/', '-')}", "0:2 1:1",
          f"'{NAME.replace('train', 'test')}' and '{NAME.replace('0', '1').replace('train', 'test')}' "
          "list rows of one split")
    def lists_of_folds(name=NAME):
        with h5py.File("a.h5", "w") as f:
            rows(f, "images", 3)
            f["labels"] = [0, 1, 0]
            for fold in "01":
                of = name.replace("0", fold)
                f[of], f[of.replace("train", "test")] = [0, 1], [2]


@case("hdf5", "mixed", "lists-beside-images-of-a-fold", "fold_0/test/0:1 fold_0/train/0:1 fold_0/train/1:1")
def lists_beside_images():
    with h5py.File("a.h5", "w") as f:
        group = f.create_group("fold_0")
        rows(group, "images", 3)
        group["labels"], group["train"], group["test"] = [0, 1, 0], [0, 1], [2]


@case("hdf5", "mixed", "list-of-names", "-", "'train_keys' may list the rows of a split")
def list_of_names():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"] = pixels(3), [0, 1, 0]
        f["train_keys"], f["test_keys"] = [b"a", b"b"], [b"c"]


@case("hdf5", "mixed", "list-alone", "0:2 1:1", "'train_idx' may list the rows of a split")
def list_alone():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"], f["train_idx"] = pixels(3), [0, 1, 0], [0, 1]


@case("hdf5", "mixed", "list-of-flags", "-", "has a row more than once in 'test_ids'", status=3)
def list_of_flags():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"] = pixels(3), [0, 1, 0]
        f["train_ids"], f["test_ids"] = [0, 1], [0, 0, 1]


@case("hdf5", "mixed", "files", "test/0:1 test/1:1 train/0:1 train/1:1", sources="*.h5")
def files():
    for split in ("train", "test"):
        with h5py.File(f"{split}.h5", "w") as f:
            f["images"], f["labels"] = pixels(2), [0, 1]


@case("hdf5", "mixed", "pairs", "test/0:1 test/1:1 train/0:2 train/1:2", sources="images.h5 labels.h5")
def pairs():
    with h5py.File("images.h5", "w") as f:
        f["train/x"], f["test/x"] = pixels(4), pixels(2)
    with h5py.File("labels.h5", "w") as f:
        f["train/y"], f["test/y"] = [0, 1, 0, 1], [1, 0]


@case("hdf5", "mixed", "pairs-of-one-labels", "data/0:1 data/1:1 images/0:1 images/1:1",
      "it holds the labels of", sources="*.h5")
def pairs_of_one_labels():
    for name in ("images", "data"):
        with h5py.File(f"{name}.h5", "w") as f:
            f[name] = pixels(2)
    with h5py.File("labels.h5", "w") as f:
        f["y"] = [0, 1]


@case("hdf5", "mixed", "pairs-of-several", "-",
      "its name pairs with those of several files of labels", sources="*.h5")
def pairs_of_several():
    with h5py.File("images.h5", "w") as f:
        f["images"] = pixels(2)
    for name in ("labels", "targets"):
        with h5py.File(f"{name}.h5", "w") as f:
            f["photos"], f["y"] = pixels(2), [0, 1]


def names_of(labels, names, kind=np.array):
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"] = pixels(len(labels)), kind(labels)
        f["class_names"] = np.array([name.encode() for name in names])


@case("hdf5", "shifted", "from-1-without-last", "1:2 2:1",
      "may begin with the name of label 0 or of label 1")
def from_1_without_last():
    names_of([1, 2, 1], "abc")


@case("hdf5", "shifted", "from-1", "1:1 2:1 3:1", "'class_names' has names for 0 to 2")
def from_1():
    names_of([1, 2, 3], "abc")


@case("hdf5", "shifted", "from-0-without-last", "a:2 b:1")
def from_0_without_last():
    names_of([0, 1, 0], "abc")


@case("hdf5", "shifted", "double", "0:1 1:1", "would both be called 'a'")
def double():
    names_of([0, 1], "aa")


@case("hdf5", "shifted", "list", "1:2 2:1", "may begin with the name of label 0", "view=class")
def from_1_floats():
    names_of([1., 2., 1.], "abcd")


@case("hdf5", "shifted", "classes", "a:1 b:1 c:1", "-", "classes=list")
def classes():
    names_of([1, 2, 3], "xyz")
    with open("list", "w", encoding="utf-8") as out:
        out.write("1: a\n2: b\n3: c\n")


@case("hdf5", "shifted", "classes-in-order", "b:1 c:1",
      "no row has the label 0, and list is taken to begin with its name ('a')", "classes=list")
def classes_in_order():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"] = pixels(2), [1, 2]
    with open("list", "w", encoding="utf-8") as out:
        out.write("a\nb\nc\n")


@case("hdf5", "remedy", "counts", "-", "-o labels=NAME", status=3)
def counts():
    with h5py.File("a.h5", "w") as f:
        f["x"], f["y"] = pixels(4), np.arange(5)


@case("hdf5", "remedy", "rivals", "0:1 1:1 2:1 3:1", "-o labels=fine_labels takes those")
def rivals():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"], f["fine_labels"] = pixels(4), range(4), [0, 0, 1, 1]


for NAME in ("superclass", "label2", "category"):
    @case("hdf5", "remedy", f"rival-{NAME}", "0:2 1:2", f"-o labels={NAME} takes those")
    def rival(name=NAME):
        with h5py.File("a.h5", "w") as f:
            f["images"], f["labels"], f[name] = pixels(4), [0, 1, 0, 1], [0, 0, 1, 1]


LABELS = {
    "int64": np.array([0, 1, 1]), "uint8": np.array([0, 1, 1], "u1"),
    "big": np.array([0, 1, 1], ">i2"), "half": np.array([0, 1, 1], "f2"),
    "half-big": np.array([0, 1, 1], ">f2"), "float": np.array([0, 1, 1], "f4"),
    "double": np.array([0, 1, 1], "f8"), "bool": np.array([False, True, True]),
    "column": np.array([[0], [1], [1]]), "row": np.array([[0, 1, 1]]),
    "hot": np.array([[1, 0], [0, 1], [0, 1]]), "hot-half": np.array([[1, 0], [0, 1], [0, 1]], "f2"),
    "hot-bool": np.array([[1, 0], [0, 1], [0, 1]], "?"),
    "text": np.array([b"0", b"1", b"1"]), "words": np.array(["0", "1", "1"], object),
}


def samples_of(file, form):
    if form == "rows":
        rows(file, "images", 3)
    elif form == "padded":
        file["images"] = np.array([jpeg(i) + bytes(i) for i in range(3)], "S64")
    elif form == "long":
        file["images"] = np.array([jpeg(0) + bytes(8) + b"x" * 1100000 + b"\xff\xd9"] * 3, "S1200000")
    elif form == "pixels":
        file["images"] = pixels(3)
    else:
        file["images"] = np.ones((3, 4), "f4")


def same(form, kind):
    def write():
        with h5py.File("a.h5", "w") as f:
            samples_of(f, form)
            labels = LABELS[kind]
            f.create_dataset("labels", data=labels,
                             dtype=h5py.string_dtype() if labels.dtype == object else None)
    return write


for FORM in ("rows", "padded", "pixels", "numbers"):
    for KIND in LABELS:
        case("hdf5", "same", f"{FORM}-{KIND}", "0:1 1:2")(same(FORM, KIND))
case("hdf5", "same", "long-int64", "0:1 1:2", "holds whole .jpg files")(same("long", "int64"))


@case("hdf5", "same", "long-bytes", "0:1 1:1", "holds whole .jpg files")
def long_bytes():
    image = jpeg(0)[:-2] + b"x" * 1500000 + b"\xff\xd9"
    array = np.zeros((2, 1800000), "u1")
    array[0, :len(image)] = np.frombuffer(image, "u1")
    array[1, :25] = np.frombuffer(jpeg(1), "u1")
    with h5py.File("a.h5", "w") as f:
        f.create_dataset("frames", data=array, chunks=(1, 1800000), compression="gzip")
        f["labels"] = [0, 1]


for KIND, (*TEXTS, SHOWN, TOLD) in SPELLED.items():
    @case("hdf5", "same", f"spelled-{KIND}", SHOWN, TOLD)
    def h5_spelled(texts=tuple(TEXTS)):
        with h5py.File("a.h5", "w") as f:
            f["images"], f["labels"] = pixels(3), np.array(texts)


@case("hdf5", "same", "spelled-in-splits", "test/1:2 train/1:1 train/2:1", "'1.0' is the number 1")
def h5_spelled_in_splits():
    with h5py.File("a.h5", "w") as f:
        f["train/images"], f["test/images"] = pixels(2), pixels(2)
        f["train/labels"], f["test/labels"] = np.array([b"1", b"2"]), np.array([b"1.0", b"1"])


for KIND, HERE in {"nan": [0., np.nan, 1.], "empty": [b"0", b"", b"1"], "below-0": [0, -1, 1],
                   "text-nan": [b"0", b"NaN", b"1"], "row-of-0": [[1, 0], [0, 0], [0, 1]]}.items():
    @case("hdf5", "same", f"none-{KIND}", ".:1 0:1 1:1", "in '/' 1 of 3 files have no label")
    def h5_none(labels=HERE):
        with h5py.File("a.h5", "w") as f:
            f["images"], f["labels"] = pixels(3), np.array(labels)


@case("hdf5", "shifted", "names-beside-none", ".:1 a:1 b:1", "1 of 3 files have no label")
def h5_names_beside_none():
    names_of([0, -1, 1], "ab")


@case("hdf5", "shifted", "minus-1-and-1", "-1:1 01:2", "the 2 labels are not 0 to 1")
def h5_two_signs():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"] = pixels(3), [1, -1, 1]


@case("hdf5", "shifted", "fractions-in-words", "images:3", "holds fractions")
def h5_fractions():
    with h5py.File("a.h5", "w") as f:
        f["images"], f["labels"] = pixels(3), [b"0.5", b"1", b"2"]


# ---- Arrow ----

@case("arrow", "mixed", "files", "test:1 test/0:1 test/1:3 train:1 train/0:1 train/1:3",
      sources="train-a.arrow test-a.arrow")
def arrow_files():
    fixture("label-bool.arrow")
    shutil.move("label-bool.arrow", "train-a.arrow")
    shutil.copy("train-a.arrow", "test-a.arrow")


for KIND in ("column", "coded"):
    case("arrow", "mixed", f"split-{KIND}", "test/0:1 test/1:1 train/0:1 train/1:2")(
        lambda kind=KIND: fixture(f"split-{kind}.arrow"))


@case("arrow", "mixed", "split-numbers", "0:2 1:3", "labels=split has a directory for each of its")
def arrow_split_numbers():
    fixture("split-numbers.arrow")


@case("arrow", "mixed", "split-vague", "0:2 1:3", "'usage' may say the split of each row, and is")
def arrow_split_vague():
    fixture("split-vague.arrow")


@case("arrow", "shifted", "names-differ", "-", "label 0 is called 'b', and 'a' in", status=3)
def arrow_names_differ():
    fixture("classes-ab.arrow", "classes-ba.arrow")


@case("arrow", "shifted", "names-of-all", ".:2 x:3 y:5",
      "2 of 10 files have no label", options="classes=list")
def arrow_names_of_all():
    fixture("classes-ab.arrow", "classes-ba.arrow")
    with open("list", "w", encoding="utf-8") as out:
        out.write("x\ny\n")


@case("arrow", "shifted", "names-beside-none", ".:2 a:1 b:2", "2 of 5 files have no label")
def arrow_names_beside_none():
    fixture("classes-ab.arrow")


@case("arrow", "remedy", "rival", "0:2 1:3", "'superclass' could be meant, too")
def arrow_rival():
    fixture("rival.arrow")


@case("arrow", "mixed", "split-null", "-", "in row 2 that is no word", status=3)
def arrow_split_null():
    fixture("split-null.arrow")


@case("arrow", "mixed", "split-as-labels", "test:2 train:3", options="labels=split")
def arrow_split_as_labels():
    fixture("split-column.arrow")


@case("arrow", "shifted", "fraction", "image:5", "a label that is no whole number, 2.5")
def arrow_fraction():
    fixture("label-fraction.arrow")


@case("arrow", "remedy", "two-labels", "-", "labels=y takes it")
def arrow_two():
    fixture("two-labels.arrow")


@case("arrow", "remedy", "two-classes", "-", "none is taken; labels=scene takes it")
def arrow_none():
    fixture("two-classes.arrow")


ARROW = {".:1 0:1 1:1 2:2": ("int8", "uint8", "int16", "half", "float", "double", "hot",
                                "hot-bool", "hot-float", "hot-fixed"),
         ".:1 0:1 1:3": ("bool",)}
for SHOWN, KINDS in ARROW.items():
    for KIND in KINDS:
        case("arrow", "same", KIND, SHOWN)(lambda kind=KIND: fixture(f"label-{kind}.arrow"))


# ---- Directories that save_to_disk() wrote ----

def saved(directory, data, indices=None):
    os.makedirs(directory)
    fixture(data)
    shutil.move(data, f"{directory}/data-0.arrow")
    state = {"_data_files": [{"filename": "data-0.arrow"}]}
    if indices:
        fixture(indices)
        shutil.move(indices, f"{directory}/indices.arrow")
        state["_indices_data_files"] = [{"filename": "indices.arrow"}]
    with open(f"{directory}/state.json", "w", encoding="utf-8") as out:
        json.dump(state, out)


@case("saved", "mixed", "splits", "test:1 test/0:1 test/1:1 test/2:2 "
      "train:1 train/0:1 train/1:1 train/2:2", sources="d")
def saved_splits():
    saved("d/train", "label-int8.arrow")
    saved("d/test", "label-int8.arrow")
    with open("d/dataset_dict.json", "w", encoding="utf-8") as out:
        json.dump({"splits": ["train", "test"]}, out)


@case("saved", "mixed", "indices", "-", "4 of its 8 rows are shown", sources="d")
def saved_indices():
    saved("d", "pets-train-00000-of-00002.arrow", "indices.arrow")


@case("saved", "mixed", "indices-of-splits", "-", "ds.flatten_indices()", sources="d", status=3)
def saved_indices_of_splits():
    saved("d", "split-column.arrow", "indices.arrow")


@case("saved", "shifted", "beyond", "-", "names a row beyond", sources="d", status=3)
def saved_beyond():
    saved("d", "pets-train-00000-of-00002.arrow", "indices-beyond.arrow")


@case("saved", "remedy", "two-labels", "-", "labels=y takes it", sources="d")
def saved_two():
    saved("d", "two-labels.arrow")


@case("saved", "same", "bool", ".:1 0:1 1:3", sources="d")
def saved_bool():
    saved("d", "label-bool.arrow")


def write_all(top):
    os.makedirs(top)
    out = []
    for form, law, name, shows, tells, options, status, sources, write in CASES:
        directory = f"{top}/{form}-{law}-{name}"
        os.makedirs(directory)
        os.chdir(directory)
        write()
        sources = sources or "a.*" if form != "arrow" else sources or "*.arrow"
        out.append("\t".join((os.path.basename(directory), str(status), options, sources, shows, tells)))
    with open(f"{top}/cases", "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in out))


def table():
    print("format\t" + "\t".join(LAWS))
    for form in FORMATS:
        print("\t".join([form] + [str(sum(c[:2] == (form, law) for c in CASES)) for law in LAWS]))


if sys.argv[1] == "table":
    table()
else:
    write_all(os.path.abspath(sys.argv[2]))
