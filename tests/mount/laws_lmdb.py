# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for LMDB files; tests/fixtures/lmdb/generate.py writes them."""
import os
import shutil

from laws_kit import FIXTURES, case


def copy(name, to=None):
    to = to or name
    os.makedirs(os.path.dirname(to) or ".", exist_ok=True)
    shutil.copy(os.path.join(FIXTURES, "lmdb", name), to)


def lmdb(law, name, shows, tells="-", options="-", status=0, sources="*.lmdb"):
    return case("lmdb", law, name, shows, tells, options, status, sources)


@lmdb("mixed", "splits", " ".join(f"{split}/{i}:6" for split in ("train", "val") for i in range(10)),
      sources="d")
def lmdb_splits():
    for split in ("train", "val"):
        copy("course.lmdb", f"d/{split}/data.mdb")


lmdb("mixed", "named", " ".join(f"{split}/{i:02}:1" for split in ("train", "val") for i in range(11)))(
    lambda: copy("named.lmdb"))


@lmdb("mixed", "stray", "-", "says no split, as that of", sources="d")
def lmdb_stray():
    for split in ("train", "val", "x"):
        copy("course.lmdb", f"d/{split}/data.mdb")


@lmdb("mixed", "classes", "bedroom:1 bedroom/a/b:9 kitchen:1 kitchen/a/b:9", sources="d")
def lmdb_classes():
    for name in ("bedroom", "kitchen"):
        copy("raw.lmdb", f"d/{name}_train_lmdb/data.mdb")


@lmdb("mixed", "classes-of-splits", " ".join(
    f"{split}/{name}:1 {split}/{name}/a/b:9" for split in ("train", "val")
    for name in ("bedroom", "kitchen")), sources="d")
def lmdb_classes_of_splits():
    for name in ("bedroom_train", "bedroom_val", "kitchen_train", "kitchen_val"):
        copy("raw.lmdb", f"d/{name}_lmdb/data.mdb")


lmdb("shifted", "numbers", "000:1 100:1 200:1 300:1 400:1", "the 5 labels are not 0 to 4")(
    lambda: copy("planes.lmdb"))


@lmdb("shifted", "classes", "a/n00:3 b/n01:2 c/n02:2", options="classes=list,view=class")
def lmdb_names():
    copy("datum.lmdb")
    with open("list", "w", encoding="utf-8") as out:
        out.write("a\nb\nc\n")


lmdb("remedy", "odd-values", ".:1 a/b:9", "view=tree shows all")(lambda: copy("raw.lmdb"))
lmdb("remedy", "two-labels", "0:3 1:3", "labels=fine_label takes it")(lambda: copy("dicts.lmdb"))
lmdb("remedy", "chosen", "0:2 1:2 2:2", options="labels=fine_label")(lambda: copy("dicts.lmdb"))
lmdb("remedy", "no-such-labels", "-", "has no item or database 'nope' for the labels, as labels= says; "
     "it has: label; name one", options="labels=nope", status=3)(lambda: copy("dicts.lmdb"))
lmdb("remedy", "image-as-labels", "-", "has no item or database 'image' for the labels",
     options="labels=image", status=3)(lambda: copy("dicts.lmdb"))
lmdb("remedy", "no-names", "-", "it has: none with a name", options="labels=nope", status=3)(
    lambda: copy("course.lmdb"))
lmdb("remedy", "no-such-database", "-", "it has: ", options="labels=nope", status=3)(
    lambda: copy("column-ints.lmdb"))
lmdb("mixed", "rows", ".:6", "not each is one-hot")(lambda: copy("rows.lmdb"))
lmdb("mixed", "tuples", "-",
     "several items beside the image could be the label")(lambda: copy("tuples.lmdb"))
lmdb("same", "pickles", "-", "6 of 29 files have no label")(lambda: copy("pickles.lmdb"))
for NAME in ("int", "text", "bool", "float", "array", "scalar", "hot", "hots", "datum", "msgpack",
             "msgpack-big", "msgpack-single", "msgpack-byte"):
    lmdb("same", NAME, "0:1 1:2")(lambda name=NAME: copy(f"label-{name}.lmdb"))
for NAME, SHOWN in {"ints": ".:1 0:2 1:2 2:2 3:2", "digits": ".:1 0:2 1:2 2:2 3:2",
                    "words": ".:1 c0:2 c1:2 c2:2 c3:2", "pickles": ".:1 0:2 1:2 2:2 3:2"}.items():
    lmdb("same", f"column-{NAME}", SHOWN, "1 of 9 files have no label")(
        lambda name=NAME: copy(f"column-{name}.lmdb"))
