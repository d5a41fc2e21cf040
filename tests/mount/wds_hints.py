#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follows each hint that is given for a shard whose labels are not where they should be.

Usage: wds_hints.py GRANARY DIRECTORY [CASE...]

Each image holds its right class. So wherever an option, or a command, that `granary info` or
a warning names puts it in a class, it must be that one; and no image may be left without one.
A line "not ok" for each that is not so.
"""
import io
import json
import os
import random
import re
import subprocess
import sys
import tarfile

JPEG = b"\xff\xd8\xff"
CASES = {}
HINTED = set()


def case(hinted):
    """A function that yields (name, right class of an image or other bytes) of members."""
    def add(function):
        CASES[function.__name__.replace("_", "-")] = function
        if hinted:
            HINTED.add(function.__name__.replace("_", "-"))
        return function
    return add


def keyed(keys, suffix="cls", count=3, label=lambda i: b"%d" % i):
    for i, key in enumerate(keys):
        yield key + "." + suffix, label(i % count)
        yield key + ".jpg", str(i % count)


@case(True)
def dots():
    return keyed(["cat.1", "cat.2", "dog.1", "dog.2"], count=4)


@case(True)
def dots_of_one_key_each():
    return keyed(["img%d.v%d" % (i, i % 5) for i in range(12)])


@case(True)
def dots_of_dates():
    return keyed(["IMG.2020.01.%02d" % i for i in range(1, 31)])


@case(True)
def dots_of_one_key_in_all():
    return keyed(["v1.0_%05d" % i for i in range(300)])


@case(True)
def dots_and_json():
    return keyed(["a.%d" % i for i in range(9)], "json",
                 label=lambda i: b'{"label": %d, "x": NaN}' % i)


@case(True)
def dots_in_directories():
    return keyed(["set.a/b.%d/x.%d" % (i % 2, i) for i in range(12)], "class")


@case(True)
def left_and_right():
    for i in range(6):
        yield from keyed(["%d.left" % i, "%d.right" % i], count=2)


@case(True)
def one_dot_that_all_have():
    return keyed(["%d.v1" % i for i in range(9)])


@case(True)
def suffix_class():
    return keyed(["%d" % i for i in range(9)], "class")


@case(True)
def suffix_target():
    return keyed(["%d" % i for i in range(9)], "target.cls")


@case(True)
def suffix_with_two_images():
    for i in range(9):
        yield from (("%d.left.jpg" % i, str(i % 3)), ("%d.right.jpg" % i, str(i % 3)),
                    ("%d.target.cls" % i, b"%d\r\n" % (i % 3)))


@case(False)
def suffix_of_numbers_that_count():
    for i in range(9):
        yield from (("%d.jpg" % i, "none"), ("%d.count" % i, b"%d" % (i % 3)),
                    ("%d.id" % i, b"%d" % (1000 + i)))


@case(False)
def suffix_of_odd_bytes():
    return keyed(["%d" % i for i in range(9)], "a,class")


@case(False)
def suffix_of_many_bytes():
    return keyed(["%d" % i for i in range(9)], "x" * 60 + ".cls")


@case(False)
def suffix_of_few_numbers():
    return keyed(["%d" % i for i in range(200)], "class",
                 label=lambda i: b"%d" % i if random.random() < 0.1 else b"x")


@case(True)
def item_of_json():
    return keyed(["%d" % i for i in range(200)], "json", label=lambda i: json.dumps({
        "category_id": i, "caption": "%d" % random.random(), "width": 512, "id": 7}).encode())


@case(True)
def item_that_repeats():
    return keyed(["%d" % i for i in range(40)], "json", label=lambda i: json.dumps({
        "breed": i, "sha256": "%x" % random.getrandbits(256), "original_width": i}).encode())


@case(True)
def item_beside_a_label_that_is_none():
    return keyed(["%d" % i for i in range(40)], "json", label=lambda i: json.dumps({
        "label": [i], "class_id": i}).encode())


@case(False)
def item_that_is_a_suffix():
    for i in range(9):
        yield from (("%d.jpg" % i, str(i % 3)), ("%d.target" % i, b"x%d" % i),
                    ("%d.json" % i, b'{"target": %d}' % (i % 3)))


@case(False)
def items_of_img2dataset():
    for i in range(40):
        yield "%09d.jpg" % i, "none"
        yield "%09d.json" % i, json.dumps({
            "url": "https://host/%d.jpg" % i, "caption": "a photo", "key": "%09d" % i,
            "status": "success", "error_message": None, "width": 256, "height": 256 + i % 2,
            "original_width": 512 + i % 3, "exif": json.dumps({"UserComment": "\0" * 4}),
            "sha256": "%064x" % i, "similarity": 0.3 + i, "hash": -(i % 3),
            "punsafe": float("nan")}).encode()
        yield "%09d.txt" % i, b"a photo"


@case(True)
def wnids():
    for i in range(12):
        yield "n0000000%d_%d.JPEG" % (i % 3, i), "n0000000%d" % (i % 3)


@case(False)
def wnids_with_dots():
    for i in range(300):
        yield "n0000000%d.%d.JPEG" % (i // 100, i), "n0000000%d" % (i // 100)


@case(True)
def apart():
    members = list(keyed(["%d" % i for i in range(12)]))
    return sorted(members, key=lambda member: member[0].endswith("cls"))


def write(path, members):
    """The right class of each image, by its bytes."""
    right = {}
    with tarfile.open(path, "w") as tar:
        for i, (name, data) in enumerate(members):
            if isinstance(data, str):
                right[JPEG + b"%d" % i] = data
                data = JPEG + b"%d" % i
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return right


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def wrong(granary, path, right, options):
    """What is wrong with the classes that a mount with these options has; or ''."""
    out = path + ".out"
    r = run("rm", "-rf", out)
    r = run(granary, "extract", "-o", "index=off" + options, path, out)
    if r.returncode:
        return "it is refused: " + r.stderr
    found = set()
    for directory, _, names in os.walk(out):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                data = file.read()
            where = os.path.relpath(directory, out).split("/")[0]
            if data not in right or where == ".":
                continue
            if where != right[data] and where.lstrip("0") != right[data].lstrip("0"):
                return "an image of class %s is in %s" % (right[data], where)
            found.add(data)
    return "" if len(found) == len(right) else \
        "%d of %d images are in a class" % (len(found), len(right))


def follow(granary, path, right):
    """Yields (hint, what is wrong with it); a command may lead to another hint."""
    said = run(granary, "info", "-o", "index=off", path).stdout
    said += run(granary, "ls", "-o", "index=off", path).stderr
    for hint in sorted(set(re.findall(r"labels=[^\s;,]+|view=class", said))):
        yield hint, wrong(granary, path, right, "," + hint)
    for command in sorted(set(re.findall(r"tar --sort.* NEW\.tar \.", said))):
        files, new = path + ".files", path[:-4] + "-new.tar"
        os.makedirs(files)
        run("tar", "-C", files, "-xf", path)
        r = run("sh", "-c", command.replace("DIRECTORY", files).replace("NEW.tar", new))
        again = list(follow(granary, new, right))
        yield command, r.stderr or ("" if again else wrong(granary, new, right, ""))
        yield from again


def main():
    granary, directory = sys.argv[1:3]
    random.seed(1)
    for name in sys.argv[3:] or sorted(CASES):
        path = os.path.join(directory, name + ".tar")
        followed = list(follow(granary, path, write(path, CASES[name]())))
        if bool(followed) != (name in HINTED):
            followed = [("a hint", "there is %s" % ("one" if followed else "none"))]
        for hint, fault in followed or [("no hint", "")]:
            print("%s %s: %s%s" % ("not ok" if fault else "ok", name, hint, fault and ": " + fault))


if __name__ == "__main__":
    main()
