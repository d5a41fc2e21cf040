#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""ILSVRC in small: a tree with a flat val/, its maps, and what a mount should show.

Usage: regroup.py make DIRECTORY       writes tree/, want/, numbers/ and maps/
       regroup.py check MOUNT DIRECTORY  the ImageFolders of MOUNT have the labels of DIRECTORY/maps

In want/ val/ has the wnids' directories, in numbers/ those of their ranks. Links in tree/ lead
to files of val/; in want/ they lead to the same ones.
"""
import csv
import json
import os
import pickle
import shutil
import subprocess
import sys

WNIDS = ["n%08d" % (1440764 + 7919 * i) for i in range(11)]
PREFIX = "ILSVRC/Data/CLS-LOC/"
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures")


def put(source, path, mtime):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(source, path)
    os.chmod(path, 0o640 if mtime % 2 else 0o604)
    os.utime(path, (mtime, mtime))


def images(directory):
    """11 classes of 4 images: two to train, two to validate."""
    subprocess.run([sys.executable, FIXTURES + "/make-image-tree", "--classes", "11",
                    "--images", "4", "--size", "24", directory], check=True)
    for label, name in enumerate(sorted(os.listdir(directory))):
        files = sorted(os.listdir(os.path.join(directory, name)))
        for i, file in enumerate(files):
            yield label, i, os.path.join(directory, name, file)


def make_trees(top):
    train, val = {}, {}
    for label, i, source in images(os.path.join(top, "images")):
        wnid = WNIDS[label]
        if i < 2:
            path = "train/%s/%s_%d.JPEG" % (wnid, wnid, i)
            train[PREFIX + path] = label
            for tree in "tree", "want", "numbers":
                put(source, os.path.join(top, tree, path), 10 ** 9 + label)
            continue
        # classes are mixed in val/, and test/ has no labels
        name = "ILSVRC2012_val_%08d" % (1 + (label * 2 + i - 2) * 13 % 22)
        assert name not in val
        val[name] = label
        for tree, directory in ("tree", ""), ("want", wnid), ("numbers", "%02d" % label):
            put(source, os.path.join(top, tree, "val", directory, name + ".JPEG"),
                10 ** 9 + 100 + label)
            put(source, os.path.join(top, tree, "test/%s.JPEG" % name.replace("val", "test")),
                10 ** 9 + 7)
            put(__file__, os.path.join(top, tree, "Annotations/val/%s.xml" % name), 10 ** 9)
    return train, val


def make_links(top, val):
    name = "ILSVRC2012_val_00000003"
    for tree, directory in (("tree", ""), ("want", WNIDS[val[name]] + "/"),
                         ("numbers", "%02d/" % val[name])):
        path = "val/%s%s.JPEG" % (directory, name)
        os.symlink(path, os.path.join(top, tree, "one.JPEG"))
        os.symlink("../../" + path, os.path.join(top, tree, "train", WNIDS[0], "two.JPEG"))
        os.symlink("val", os.path.join(top, tree, "validation"))
        os.link(os.path.join(top, tree, path), os.path.join(top, tree, "hard"))


def make_maps(top, train, val):
    directory = os.path.join(top, "maps")
    os.mkdir(directory)
    full = {PREFIX + "val/%s.JPEG" % k: v for k, v in val.items()}
    for name, data in ("train", train), ("val", full):
        for protocol in 0, 2, 4:
            with open("%s/%s-%d.pkl" % (directory, name, protocol), "wb") as f:
                pickle.dump(data, f, protocol=protocol)
    with open(directory + "/val.json", "w") as f:
        json.dump(full, f)
    with open(directory + "/LOC_val_solution.csv", "w", newline="") as f:
        rows = csv.writer(f)
        rows.writerow(["ImageId", "PredictionString"])
        rows.writerows([k, "%s 12 33 100 200 " % WNIDS[v]] for k, v in val.items())
    with open(directory + "/LOC_synset_mapping.txt", "w") as f:
        f.writelines("%s tench, Tinca tinca %d\n" % (w, i) for i, w in enumerate(WNIDS))
    with open(directory + "/imagenet_class_index.json", "w") as f:
        json.dump({str(i): [w, "tench"] for i, w in enumerate(WNIDS)}, f)

    class Call:
        def __reduce__(self):
            return os.mkdir, (os.path.join(top, "called"),)
    with open(directory + "/calls.pkl", "wb") as f:
        pickle.dump({"val/ILSVRC2012_val_00000003.JPEG": Call()}, f)
    with open(directory + "/other.csv", "w") as f:
        f.write("a.JPEG,1\nb.JPEG,2\n")


def make(top):
    train, val = make_trees(top)
    make_links(top, val)
    make_maps(top, train, val)
    for tree in "tree", "want", "numbers":
        for path, _, _ in os.walk(os.path.join(top, tree)):
            os.utime(path, (10 ** 9, 10 ** 9))


def check(mount, top):
    from torchvision.datasets import ImageFolder
    with open(top + "/maps/val-4.pkl", "rb") as f:
        labels = {os.path.basename(k): v for k, v in pickle.load(f).items()}
    directory, train = ImageFolder(mount + "/val"), ImageFolder(mount + "/train")
    assert directory.class_to_idx == train.class_to_idx, directory.classes
    assert len(directory) == len(labels) == 22, len(directory)
    for path, label in directory.samples:
        assert labels[os.path.basename(path)] == label, path
    assert directory[0][0].size, "it opens"


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    check(*sys.argv[2:])
