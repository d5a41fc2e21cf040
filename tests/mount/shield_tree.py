#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints all that stat(2) and friends say of a tree, sorted: two such can be compared.

Usage: shield_tree.py DIRECTORY [ignore-numbers]. Also fails where files and directories
are on more than one device. Without inode numbers what are hard links still shows.
"""
import errno
import hashlib
import os
import sys


def attributes(path):
    """Where no file has any the mount says that there are none."""
    try:
        names = os.listxattr(path)
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        names = []
    return [(name, os.getxattr(path, name)) for name in sorted(names)]


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def main():
    top = sys.argv[1]
    numbers = len(sys.argv) < 3
    paths = [top]
    for directory, directories, files in os.walk(top):
        paths += [os.path.join(directory, name) for name in directories + files]
    devices, seen = set(), {}
    for path in sorted(paths):
        st = os.lstat(path)
        devices.add(st.st_dev)
        link = seen.setdefault(st.st_ino, path)
        row = [os.path.relpath(path, top), oct(st.st_mode), st.st_uid, st.st_gid, st.st_size,
               st.st_mtime_ns, os.path.relpath(link, top)]
        if numbers:
            row += [st.st_ino, st.st_nlink]
        if os.path.islink(path):
            row.append(os.readlink(path))
        else:
            row += attributes(path)
        if os.path.isfile(path) and not os.path.islink(path):
            row += [st.st_nlink, digest(path)]
        print(*row)
    if len(devices) != 1:
        sys.exit("%d devices: %s" % (len(devices), devices))


main()
