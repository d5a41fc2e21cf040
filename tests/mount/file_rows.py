#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares mounted files of rows with what expected.tsv of their fixtures says of them.

file_rows.py FORMAT ROOT FILE...: the files are one dataset of tests/fixtures/FORMAT, in this
order. A class
is a directory called by its name where all have one, or by its label, in as many digits
as the largest has; a sample is called by its name, or, without one, by its row's number.
There is nothing else.
"""
import argparse
import os
import random
import sys
import zlib

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")


def read_groups(form, files):
    """[(group's columns, [row's columns])] of these files, in their order"""
    groups = {name: [] for name in files}
    name = None
    with open(os.path.join(FIXTURES, form, "expected.tsv"), encoding="utf-8") as lines:
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


def class_directory(columns, row, called, width):
    """The directory of a row's class: [] where it has no label, or one below 0."""
    label, class_name = row[:2]
    if columns[2] == "-":
        return []
    if class_name != "-":
        return [class_name]
    if int(label) < 0:
        return []
    if called:
        return [columns[4].split("|")[int(label)].replace("/", "_")]
    return ["%0*d" % (width, int(label))]


def are_called(columns, rows):
    """Has each label of these rows a name?"""
    count = 0 if columns[4] == "-" else len(columns[4].split("|"))
    return columns[2] != "-" and all(int(row[0]) < count for row in rows)


def wanted(groups):
    """[(path, bytes, CRC32)]"""
    labels = [row[0] for columns, rows in groups if columns[2] != "-" for row in rows
              if int(row[0]) >= 0]
    label_width = max([len(label) for label in labels] or [1])
    row_width = len(str(max(len(rows) for _, rows in groups) - 1))
    splits = [columns[0] for columns, _ in groups if columns[2] != "-"]
    for columns, rows in groups:
        above = [] if columns[0] == "-" else [columns[0]]
        named = any(row[2] != "-" for row in rows)
        if (columns[2] == "-" and not named) or splits.count(columns[0]) > 1:
            above.append(columns[1])
        called = are_called(columns, rows)
        for number, row in enumerate(rows):
            if row[3] == "-":  # it has no bytes, and is counted only
                continue
            name = "%0*d.%s" % (row_width, number, columns[3]) if row[2] == "-" else row[2]
            yield ("/".join(above + class_directory(columns, row, called, label_width) + [name]),
                   int(row[3]), int(row[4]))


def sum_of(path):
    with open(path, "rb") as file:
        data = file.read()
    return len(data), zlib.crc32(data)


def compare(root, rows):
    """What is wrong, one line each."""
    there = {os.path.relpath(os.path.join(directory, name), root)
             for directory, _, names in os.walk(root) for name in names}
    with_bytes = []
    for path, size, total in rows:
        if path not in there:
            yield "%s: missing" % path
            continue
        if sum_of(os.path.join(root, path)) != (size, total):
            yield "%s: other bytes" % path
        there.discard(path)
        if size:
            with_bytes.append((path, size))
    yield from ("%s: too much" % path for path in sorted(there))
    random.seed(1)
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
    parser.add_argument("form")
    parser.add_argument("root")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    rows = list(wanted(join_shards(read_groups(options.form, options.files))))
    wrong = list(compare(options.root, rows))
    print("\n".join(wrong[:20]) or "%d files, all as expected" % len(rows))
    if wrong or not rows:
        sys.exit("file_rows.py: %d are wrong" % len(wrong))


if __name__ == "__main__":
    main()
