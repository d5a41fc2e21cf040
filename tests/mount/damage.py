#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damages a copy of a file in one of many ways.

Usage: damage.py ORIGINAL COPY KIND NUMBER. Kinds: `head` flips the bits of byte
NUMBER; `cut` keeps NUMBER thousandths of the file; `random` flips 1 to 8 bytes
anywhere, NUMBER being the seed; `zero` clears the 512 bytes from NUMBER
thousandths on; `grow` adds NUMBER bytes of noise.
"""
import random
import sys


def flip(data, at):
    data[at] ^= 0xFF


def damage(data, kind, number):
    rng = random.Random(number)
    if kind == "head":
        flip(data, number % len(data))
    elif kind == "cut":
        del data[len(data) * number // 1000:]
    elif kind == "random":
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
    elif kind == "zero":
        start = len(data) * number // 1000
        end = min(start + 512, len(data))
        data[start:end] = bytes(end - start)
    elif kind == "grow":
        data += rng.randbytes(number)
    else:
        sys.exit("damage.py: what is %s?" % kind)


def main():
    original, copy, kind, number = sys.argv[1:]
    with open(original, "rb") as source:
        data = bytearray(source.read())
    damage(data, kind, int(number))
    with open(copy, "wb") as out:
        out.write(data)


if __name__ == "__main__":
    main()
