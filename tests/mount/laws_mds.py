# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for MDS and LitData; generate.py of their fixtures writes them."""
import os
import shutil

from laws_kit import FIXTURES, case, fixture


def shard(law, name, shows, tells="-", options="-", status=0):
    case("mds", law, name + ("" if options == "-" else "-" + options.split("=")[1]), shows, tells,
         options, status, name + ".mds")(lambda: fixture(name + ".mds", form="mds"))


def chunks(name):
    shutil.copytree(os.path.join(FIXTURES, "litdata", name), name)


def pets():
    shutil.copytree(os.path.join(FIXTURES, "mds", "pets"), "pets")


case("mds", "mixed", "splits",
     " ".join(f"{split}/{label}:{n}" for split, n in (("train", 6), ("val", 4)) for label in range(3)),
     sources="pets")(pets)
case("mds", "mixed", "litdata", "train/0:4 train/1:3 train/2:3 val/0:4 val/1:3 val/2:3",
     sources="dict")(lambda: chunks("dict"))
case("mds", "same", "litdata-tuple", "0:4 1:3 2:3", sources="tuple")(lambda: chunks("tuple"))
case("mds", "same", "litdata-words", "c0:5 c1:5", sources="pil")(lambda: chunks("pil"))
shard("mixed", "split-column", "0:2 1:1", "labels=split has a directory for each of its values")
shard("mixed", "split-column", "train:2 val:1", options="labels=split")
shard("shifted", "label-fraction", "image:3", "a label that is no whole number")
shard("shifted", "label-long", "image:3", "text of 300 bytes, which names no class")
shard("remedy", "label-fraction", "-", "-o view=tree, which shows no classes", "labels=label", 3)
shard("remedy", "rival", "0:1 1:1 2:1", "labels=target takes it")
shard("remedy", "text", "-", "-o view=tree shows each value as a file", status=3)
shard("remedy", "pil-modes", "1:4", "3 of 7 samples have no image")
for NAME, SHOWN in {"float": ".:1 0:1 1:1", "half": "0:1 1:1 2:1", "words": ".:1 cat:1 dog:1",
                    "digits": ".:1 03:1 12:1", "below": ".:1 0:1 1:1",
                    "large": "0000000000:1 0000000007:1 4294967295:1",
                    "decimal": "0:1 1:1 2:1"}.items():
    shard("same", "label-" + NAME, SHOWN)
