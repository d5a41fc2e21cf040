# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for Parquet files."""
from laws_kit import case, fixture


def add(law, name, shows, *names, **more):
    case("parquet", law, name, shows, sources=" ".join(names), **more)(
        lambda: fixture(*names, form="parquet"))


SHARDS = [f"{split}-00000-of-00001.parquet" for split in ("train", "test")]

add("mixed", "files", "test/cat:2 test/dog:2 test/owl:2 train/cat:2 train/dog:2 train/owl:2", *SHARDS)
add("mixed", "split-column", "0:2 1:1", "split-column.parquet",
    tells="labels=split has a directory for each of its values")
add("mixed", "split-as-labels", "train:2 val:1", "split-column.parquet", options="labels=split")
add("shifted", "fraction", "image:3", "label-fraction.parquet",
    tells="a label that is no whole number, 0.5")
add("remedy", "fraction", "-", "label-fraction.parquet", options="labels=label", status=3,
    tells="-o view=tree, which shows no classes")
add("remedy", "rival", "0:1 1:1 2:1", "rival.parquet", tells="labels=target takes it")
add("remedy", "several", "-", "several.parquet", tells="view=tree shows it")
for NAME, SHOWN in {"bool": ".:1 0:1 1:2", "uint32": "0:1 1:1 3:1 4:1", "int8": ".:2 0:1 1:1",
                    "float": ".:1 0:1 1:1 2:1", "double": ".:1 0:1 1:1 2:1",
                    "words": ".:2 x:1 y:1", "large": "x:1 y:3"}.items():
    add("same", NAME, SHOWN, f"label-{NAME}.parquet")
