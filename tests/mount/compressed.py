# SPDX-License-Identifier: GPL-3.0-or-later
"""compressed.py TREE MOUNT: of each file of the tree one line: "same", "EIO" or "other"."""
import errno
import os
import sys


def outcome(want, got):
    try:
        with open(want, "rb") as a, open(got, "rb") as b:
            return "same" if a.read() == b.read() else "other"
    except OSError as e:
        return errno.errorcode[e.errno]


for directory, _, names in os.walk(os.fsencode(sys.argv[1])):
    for name in names:
        path = os.path.join(directory, name)
        if os.path.isfile(path) and not os.path.islink(path):
            inside = os.path.relpath(path, os.fsencode(sys.argv[1]))
            print(outcome(path, os.path.join(os.fsencode(sys.argv[2]), inside)), inside)
