# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for RecordIO files."""
from laws_kit import case, fixture


def add(law, name, shows, *names, **more):
    case("recordio", law, name, shows, sources=" ".join(names), **more)(
        lambda: fixture(*names, form="recordio"))


add("mixed", "files", "train/0:3 train/1:3 train/2:2 val/0:1 val/1:1 val/2:2", "train.rec", "val.rec")
add("mixed", "faces", "0:2 1:1 2:1", "faces.rec")
add("mixed", "readings", "images:6", "label-hot.rec", "label-below.rec",
    tells="has its labels in 'one-hot label' of 'label-hot.rec', and in 'label' of 'label-below.rec'")
add("shifted", "faces-aligned", "0:2 1:1 2:1", "faces-aligned.rec",
    tells="the first is the class, as InsightFace's loader has it")
add("shifted", "fraction", "images:3", "label-fraction.rec",
    tells="a label that is no whole number")
add("remedy", "fraction", "-", "label-fraction.rec", options="labels=0", status=3,
    tells="-o view=tree, which shows no classes")
add("remedy", "boxes", "images:3", "label-boxes.rec", tells="labels=0 takes the first of each")
add("remedy", "boxes-first", "2:1 3:1 4:1", "label-boxes.rec", options="labels=0")
for NAME in ("texts", "tensors"):
    add("remedy", NAME, "-", f"{NAME}.rec", status=3, tells="-o view=tree shows each record as a file")
for NAME, SHOWN in {"float": ".:1 0:1 1:1", "hot": ".:1 0:1 1:1", "below": ".:1 0:1 1:1",
                    "mixed": "1:2 2:1"}.items():
    add("same", NAME, SHOWN, f"label-{NAME}.rec")
