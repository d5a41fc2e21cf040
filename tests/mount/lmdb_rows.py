#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a mounted LMDB file with what tests/fixtures/lmdb/expected.tsv says of it.

lmdb_rows.py ROOT FILE [--flat]: a file with a label is in a directory that is called as the
label, or by its number; with --flat the directories are those in its path. There is nothing
else.
"""
import os
import sys
import zlib

EXPECTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures/lmdb/expected.tsv")


def expected(name, flat):
    with open(EXPECTED, encoding="utf-8", errors="surrogateescape") as lines:
        rows = [line.rstrip("\n").split("\t")[1:] for line in lines
                if line.startswith(name + "\t")]
    numbers = [int(label) for label, *_ in rows if label.lstrip("-").isdigit()]
    width = len(str(max(numbers, default=0)))
    for label, path, size, crc in rows:
        if path == "digits.jpg":  # its label is a text, which keeps its spelling
            path = label + "/" + path
        elif label.isdigit() and not flat:
            path = "%0*d/%s" % (width, int(label), path)
        elif not label.lstrip("-").isdigit() and label not in ("-", "none") and not flat:
            path = label + "/" + path
        yield path, int(size), int(crc)


def shown(root):
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                content = file.read()
            yield os.path.relpath(path, root), len(content), zlib.crc32(content)


def main():
    root, name = sys.argv[1:3]
    want, got = sorted(expected(name, "--flat" in sys.argv)), sorted(shown(root))
    if want != got or not want:
        for row in set(want) ^ set(got):
            print("expected" if row in want else "shown", ascii(row))
        sys.exit("%d files are expected, and %d shown" % (len(want), len(got)))


main()
