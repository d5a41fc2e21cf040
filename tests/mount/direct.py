# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads every file of a tree with O_DIRECT and compares it with the same file elsewhere.

    direct.py TREE MOUNT [MIXED]

In pieces from aligned memory, as O_DIRECT wants it, to beyond the end; and with MIXED,
turn by turn, through the page cache as well, from the same file. An errno is a failure.
"""
import mmap
import os
import sys

PIECES = (4096, 128 << 10, 1 << 20)


def read(path: str, piece: int, mixed: bool) -> bytes:
    out = bytearray()
    buffer = mmap.mmap(-1, piece)
    direct = os.open(path, os.O_RDONLY | os.O_DIRECT)
    cached = os.open(path, os.O_RDONLY)
    while True:
        odd = mixed and len(out) // piece % 2
        n = os.preadv(cached if odd else direct, [buffer], len(out))
        if n == 0:
            break
        out += buffer[:n]
    os.close(direct)
    os.close(cached)
    return bytes(out)


def main() -> int:
    tree, mount, mixed = sys.argv[1], sys.argv[2], len(sys.argv) > 3
    files = wrong = 0
    for directory, _, names in os.walk(tree):
        for name in names:
            path = os.path.relpath(os.path.join(directory, name), tree)
            with open(os.path.join(tree, path), "rb") as file:
                right = file.read()
            got = read(os.path.join(mount, path), PIECES[files % len(PIECES)], mixed)
            files += 1
            if got != right:
                wrong += 1
                print(f"{path}: {len(got)} bytes, not those {len(right)}")
    print(f"{files} files, {wrong} wrong")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
