#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label maps of a dataset that make-jsc-h5 wrote, and the tree that it was made of.

Usage: write_maps.py LIST DIRECTORY

LIST is what make-jsc-h5 --list wrote. In DIRECTORY then are {train,val}.{pkl,json}, as the
course has them: paths with labels in the order of the rows, those of val without a
class; classes.txt and index.json, the labels' names; and tree, the files themselves.
"""
import json
import os
import pickle
import shutil
import sys

PREFIX = "ILSVRC/Data/CLS-LOC/"


def read_list(path):
    """[(split, row, label, class, name, image)]"""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            split, row, label, image = line.rstrip("\n").split(" ", 3)
            directory, name = os.path.split(image)
            if split == "val":
                name = "ILSVRC2012_val_%08d.JPEG" % int(row)
            yield split, int(label), os.path.basename(directory), name, image


def write_map(path, labels):
    with open(path + ".pkl", "wb") as out:
        pickle.dump(labels, out)
    with open(path + ".json", "w", encoding="utf-8") as out:
        json.dump(labels, out)


def main():
    _, source, directory = sys.argv
    maps, classes = {"train": {}, "val": {}}, {}
    for split, label, wnid, name, image in read_list(source):
        inner = "" if split == "val" else wnid + "/"
        maps[split][PREFIX + split + "/" + inner + name] = label
        classes[label] = wnid
        path = os.path.join(directory, "tree", split, wnid, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copyfile(image, path)
    for split, labels in maps.items():
        write_map(os.path.join(directory, split), labels)
    with open(os.path.join(directory, "classes.txt"), "w", encoding="utf-8") as out:
        out.writelines(classes[label] + "\n" for label in sorted(classes))
    with open(os.path.join(directory, "index.json"), "w", encoding="utf-8") as out:
        json.dump({str(n): [wnid, "thing %d" % n] for n, wnid in classes.items()}, out)


if __name__ == "__main__":
    main()
