#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes shards quickly: many files of one size with cheap, checkable contents.

Usage: write_shards.py [--shards N] [--files N] [--size BYTES] [--seed N]
                       [--directory NAME] PATTERN

PATTERN has one %d for the shard's number. Files are DIRECTORY/NNNNNNN; each is a
window on one block of pseudo-random bytes, so that no two files are alike.
"""
import argparse
import random
import tarfile

BLOCK = 8 << 20


def header(name, size):
    info = tarfile.TarInfo(name)
    info.size = size
    info.mtime = 1600000000
    info.mode = 0o644
    return info.tobuf(tarfile.USTAR_FORMAT)


def write_shard(out, names, size, block, rng):
    padding = bytes(-size % 512)
    for name in names:
        start = rng.randrange(len(block) - size)
        out.write(header(name, size))
        out.write(block[start:start + size])
        out.write(padding)
    out.write(bytes(1024))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--files", type=int, default=1000, help="in each shard")
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory", default="files")
    return parser.parse_args()


def main():
    options = arguments()
    rng = random.Random(options.seed)
    block = rng.randbytes(max(BLOCK, 2 * options.size))
    for shard in range(options.shards):
        path = options.pattern % shard if "%" in options.pattern else options.pattern
        first = shard * options.files
        names = ("%s/%07d" % (options.directory, i)
                 for i in range(first, first + options.files))
        with open(path, "wb", buffering=1 << 20) as out:
            write_shard(out, names, options.size, block, rng)


if __name__ == "__main__":
    main()
