#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""SEEK_HOLE and SEEK_DATA must be honest: what they call a hole reads as zeros.

Usage: holes.py FILE... A filesystem may call a whole file data; it may not
call data a hole, nor miss the hole at the end of the file.
"""
import os
import sys


def segments(fd, size):
    """[(start, end)] of what is called data."""
    found = []
    at = 0
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError:
            break
        end = os.lseek(fd, start, os.SEEK_HOLE)
        if not at <= start < end <= size:
            raise ValueError("SEEK_DATA %d and SEEK_HOLE %d from %d" % (start, end, at))
        found.append((start, end))
        at = end
    return found


def zeros(fd, start, end):
    while start < end:
        piece = os.pread(fd, min(1 << 20, end - start), start)
        if not piece or piece.count(0) != len(piece):
            return False
        start += len(piece)
    return True


def check(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(fd).st_size
        at = 0
        for start, end in segments(fd, size) + [(size, size)]:
            if not zeros(fd, at, start):
                raise ValueError("data in a hole between %d and %d" % (at, start))
            at = end
        if size and os.lseek(fd, size - 1, os.SEEK_HOLE) not in (size - 1, size):
            raise ValueError("no hole at the end of the file")
        for whence in (os.SEEK_DATA, os.SEEK_HOLE):
            try:
                os.lseek(fd, size, whence)
            except OSError:
                continue
            raise ValueError("no ENXIO beyond the end")
    finally:
        os.close(fd)


def main():
    status = 0
    for path in sys.argv[1:]:
        try:
            check(path)
        except (OSError, ValueError) as error:
            print("%s: %s" % (path, error))
            status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
