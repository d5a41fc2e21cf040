#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads all files of a tree in random order, again and again, and compares each.

Usage: shield_reader.py terminal|plain MOUNTPOINT TREE STOP [LEAST]. `terminal`: with an ioctl at
each open, as Python before 3.14 does it; `plain`: as it is since, and in C. Ends when the
file STOP is there and LEAST files were read, and then prints how many. One file is open and mapped
all the time.
"""
import errno
import fcntl
import mmap
import os
import random
import sys
import termios

TURN = 500  # files between two looks at STOP


def ask(fd):
    try:
        fcntl.ioctl(fd, termios.TCGETS, bytes(64))
    except OSError as error:
        if error.errno != errno.ENOTTY:
            raise


def read(path, terminal):
    fd = os.open(path, os.O_RDONLY)
    try:
        if terminal:
            ask(fd)
        return os.read(fd, os.fstat(fd).st_size + 1)
    finally:
        os.close(fd)


def contents_of(tree):
    found = {}
    for directory, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, tree)] = file.read()
    return found


def main():
    kind, root, tree, stop = sys.argv[1:5]
    least = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    contents = contents_of(tree)
    names = sorted(contents)
    total = 0
    with open(os.path.join(root, names[0]), "rb") as kept:
        mapped = mmap.mmap(kept.fileno(), 0, prot=mmap.PROT_READ)
        while total < least or not os.path.exists(stop):
            for name in random.sample(names, min(TURN, len(names))):
                if read(os.path.join(root, name), kind == "terminal") != contents[name]:
                    sys.exit("%s: wrong bytes" % name)
                total += 1
            kept.seek(0)
            if mapped[:] != contents[names[0]] or kept.read() != contents[names[0]]:
                sys.exit("the open file has other bytes")
    print(total)


main()
