#!/usr/bin/python3
"""Compares mounted Arrow files with what tests/fixtures/arrow/expected.tsv says of them.

arrow_rows.py ROOT FILE...: the files are one dataset, in this order. A class
is a directory called by its name, or by its label, in as many digits as the largest has;
a sample is called by its name, or by its row's number. There is nothing else.
"""
import argparse
import os
import random
import sys
import zlib

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures",
                        "arrow", "expected.tsv")


def read_groups(files):
    """[(group's columns, [row's columns])] of these files, in their order"""
    groups = {name: [] for name in files}
    name = None
    with open(EXPECTED, encoding="utf-8") as lines:
        for line in lines:
            kind, *columns = line.rstrip("\n").split("\t")
            if kind == "file":
                name = columns[0]
            elif name in groups and kind == "group":
                groups[name].append((columns, []))
            elif name in groups:
                groups[name][-1][1].append(columns)
    return [group for name in files for group in groups[name]]


def join_shards(groups):
    """The same with groups of one split and column joined, rows behind rows."""
    joined = {}
    for columns, rows in groups:
        joined.setdefault(tuple(columns[:3]), (columns, []))[1].extend(rows)
    return list(joined.values())


def places(columns, row, number, widths, several):
    """Where a row may be."""
    split, column, labels, extension, classes = columns
    label, class_name, name = row[:3]
    parts = [] if split == "-" else [split]
    files = ["%0*d.%s" % (widths[1], number, extension)] + [name] * (name != "-")
    folders = []
    if labels == "-" or several:
        parts.append(column)
    if labels != "-":
        folders.append("%0*d" % (widths[0], int(label)))
        if class_name != "-":
            folders.append(class_name)
        elif classes != "-" and 0 <= int(label) < len(classes.split("|")):
            folders.append(classes.split("|")[int(label)].replace("/", "_"))
    return ["/".join(parts + [folder] * (folder != "") + [file])
            for folder in folders or [""] for file in files]


def wanted(groups):
    """[(places, bytes, CRC32)]"""
    labels = [row[0] for columns, rows in groups if columns[2] != "-" for row in rows]
    widths = (max([len(label) for label in labels] or [1]),
              len(str(max(len(rows) for _, rows in groups) - 1)))
    splits = [columns[0] for columns, _ in groups if columns[2] != "-"]
    return [(places(columns, row, number, widths, splits.count(columns[0]) > 1),
             int(row[3]), int(row[4]))
            for columns, rows in groups for number, row in enumerate(rows)]


def sum_of(path, size):
    with open(path, "rb") as file:
        data = file.read()
    return len(data) == size and zlib.crc32(data)


def compare(root, rows):
    """What is wrong, one line each."""
    there = {os.path.relpath(os.path.join(folder, name), root)
             for folder, _, names in os.walk(root) for name in names}
    found = []
    for paths, size, total in rows:
        path = next((path for path in paths if path in there), None)
        if path is None:
            yield "%s: missing" % " or ".join(paths)
        elif sum_of(os.path.join(root, path), size) != total:
            yield "%s: other bytes" % path
        there.discard(path)
        found.append((path, size))
    yield from ("%s: too much" % path for path in sorted(there))
    random.seed(1)
    with_bytes = [f for f in found if f[0] and f[1]]
    for path, size in random.choices(with_bytes, k=200 if with_bytes else 0):
        yield from compare_part(os.path.join(root, path), size)


def compare_part(path, size):
    """A part of a file, read by itself, is what is there in the whole."""
    begin = random.randrange(size)
    with open(path, "rb", buffering=0) as file:
        whole = file.read()
        file.seek(begin)
        if file.read(100) != whole[begin:begin + 100]:
            yield "%s: other bytes from %d on" % (path, begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    rows = wanted(join_shards(read_groups(options.files)))
    wrong = list(compare(options.root, rows))
    print("\n".join(wrong[:20]) or "%d files, all as expected" % len(rows))
    if wrong or not rows:
        sys.exit("arrow_rows.py: %d are wrong" % len(wrong))


if __name__ == "__main__":
    main()
