# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for FFCV files."""
import gzip
import os

from laws_kit import FIXTURES, case


def unpack(*names):
    for name in names:
        with gzip.open(os.path.join(FIXTURES, "ffcv", name + ".gz")) as packed:
            with open(name, "wb") as file:
                file.write(packed.read())


def add(law, name, shows, *names, **more):
    case("ffcv", law, name, shows, sources=" ".join(names), **more)(lambda: unpack(*names))


add("mixed", "files", "train/0:2 train/1:1 val/0:2 val/1:1", "pets_train.beton", "pets_val.beton")
add("mixed", "several", "left/0:1 left/1:1 right/0:1 right/1:1", "several.beton")
add("shifted", "fraction", "image:3", "label-fraction.beton", tells="numbers that are not whole")
add("remedy", "fraction", "-", "label-fraction.beton", options="labels=label", status=3,
    tells="-o view=tree, which shows no classes")
add("remedy", "rival", "0:1 1:1 2:1", "rival.beton", tells="labels=target takes it")
for NAME, SHOWN in {"float": ".:1 0:1 1:1", "below": ".:1 0:1 1:1"}.items():
    add("same", NAME, SHOWN, f"label-{NAME}.beton")
