#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes squashfs images that say a little, often: NAME of a bomb, FILE."""
import struct
import sys
import zlib

NONE = 0xffffffff
BLOCK = 8192  # of metadata


def table(data, packed=True):
    """The stored blocks, and where each begins."""
    out, starts, known = bytearray(), [], {}
    for at in range(0, len(data), BLOCK):
        plain = bytes(data[at:at + BLOCK])
        if plain not in known:
            small = zlib.compress(plain, 9) if packed else plain
            known[plain] = (struct.pack("<H", len(small)) + small
                            if len(small) < len(plain) else
                            struct.pack("<H", len(plain) | 0x8000) + plain)
        starts.append(len(out))
        out += known[plain]
    return bytes(out), starts


def locate(starts, at):
    """The reference to byte `at` of a table."""
    return starts[at // BLOCK] << 16 | at % BLOCK


def stored(at):
    """The same in a table that is not compressed, which need not be written yet."""
    return at // BLOCK * (BLOCK + 2), at % BLOCK


def base(kind, number):
    return struct.pack("<HHHHII", kind, 0o644, 0, 0, 0, number)


def directory(number, size, block, offset):
    return base(8, number) + struct.pack("<IIIIHHI", 2, size + 3, block, 1, 0, offset, NONE)


def file(number, size=0, start=96, links=1, xattrs=NONE):
    return base(9, number) + struct.pack("<QQQIIII", start, size, 0, links, NONE, 0, xattrs)


def listing(names):
    """Of (name, type, inode's block, its offset), one run for each 256 of a block."""
    out, i = bytearray(), 0
    while i < len(names):
        run = [x for x in names[i:i + 256] if x[2] == names[i][2]]
        out += struct.pack("<III", len(run) - 1, run[0][2], 1)
        for name, kind, _, offset in run:
            out += struct.pack("<HHHH", offset, 0, kind, len(name) - 1) + name
        i += len(run)
    return bytes(out)


def write(path, inodes, listings, packed=(True, True), used=0, block=4096, sets=None):
    """`inodes` and `listings` are packed as told; the root is the first inode."""
    nodes, _ = table(inodes, packed[0])
    lists, _ = table(listings, packed[1])
    at_lists = 96 + len(nodes)
    at_owner = at_lists + len(lists)
    body = nodes + lists + struct.pack("<HI", 4 | 0x8000, 0)
    at_owners = 96 + len(body)
    body += struct.pack("<Q", at_owner)
    at_sets = 2 ** 64 - 1
    if sets is not None:
        values, _ = table(sets[0])
        at_values = 96 + len(body)
        ids, _ = table(struct.pack("<QII", 0, sets[1], len(sets[0])))
        body += values + ids
        at_sets = 96 + len(body)
        body += struct.pack("<QIIQ", at_values, 1, 0, at_values + len(values))
    used = max(used, 96 + len(body))
    head = struct.pack("<IIIIIHHHHHHQQQQQQQQ", 0x73717368, 10, 0, block, 0, 1,
                       block.bit_length() - 1, 0, 1, 4, 0, 0, used, at_owners, at_sets,
                       96, at_lists, 2 ** 64 - 1, 2 ** 64 - 1)
    with open(path, "wb") as f:
        f.write(head + body)
        f.truncate(used)


def paths(path, depth=3000, count=2000):
    """Directories in directories, with names that are as long as can be."""
    lists, nodes = bytearray(), bytearray()
    for number in range(depth):
        at = len(lists)
        if number < depth - 1:
            lists += listing([(b"n" * 255, 1, *stored(40 * (number + 1)))])
        else:
            lists += listing([(b"%05d" % i, 2, *stored(40 * depth)) for i in range(count)])
        nodes += directory(number + 1, len(lists) - at, *stored(at))
    write(path, nodes + file(depth + 1), lists, (False, False))


def one_directory(path, kind, node, count, **more):
    """`count` names of one inode, which is behind the root's."""
    lists = listing([(b"%06d" % i, kind, 0, 40) for i in range(count)])
    write(path, directory(1, len(lists), 0, 0) + node, lists, **more)


def targets(path, count=80000, blocks=1 << 20):
    """A link with a long target, which has many names. Holes are before it, for
    the more metadata there are, the more often they may be read."""
    each = 40 + 56 + 4 * blocks
    link = base(3, 2) + struct.pack("<II", 1, 4000) + b"t" * 4000
    root = directory(1, 12 + 9 + (count + 255) // 256 * 12 + count * 14, 0, 0)
    nodes = root + file(3, blocks * 4096) + bytes(4 * blocks) + link
    _, starts = table(nodes)
    place = locate(starts, each)
    lists = listing([(b"0", 2, 0, 40)]) + listing(
        [(b"%06d" % i, 3, place >> 16, place & 0xffff) for i in range(count)])
    write(path, nodes, lists)


def long_target(path):
    """A link to a path that no system takes."""
    one_directory(path, 3, base(3, 2) + struct.pack("<II", 1, 4096) + b"t" * 4096, 1)


def xattrs(path):
    """A set of a megabyte, which many files have."""
    names = [b"%d" % i for i in range(16)]
    items = b"".join(struct.pack("<HH", 0, len(n)) + n + struct.pack("<I", 65000) +
                     b"v" * 65000 for n in names)
    one_directory(path, 2, file(2, xattrs=0), 10000, sets=(items, len(names)))


def small_xattrs(path):
    """As many files as that, with a small set: nothing is wrong with these."""
    items = struct.pack("<HH", 0, 1) + b"x" + struct.pack("<I", 200) + b"v" * 200
    one_directory(path, 2, file(2, xattrs=0), 100000, sets=(items, 1))


def names(path, count=1 << 24):
    """One name, over and over: that it comes again is seen by nobody before the end."""
    run = listing([(b"a", 2, 0, 40)] * 256)
    whole = run * 64  # a few of these are whole blocks of the table
    size = count // 256 * len(run)
    write(path, directory(1, size, 0, 0) + file(2), whole * (count // 256 // 64))


def long_names(path):
    """A set of names that are too long."""
    one = struct.pack("<HH", 0, 65535) + b"n" * 65535 + struct.pack("<I", 0)
    one_directory(path, 2, file(2, xattrs=0), 1, sets=(one * 4000, 4000))


def shared(path, files=40, blocks=1 << 21):
    """Lists of blocks that lie in one another: an inode is a list, too."""
    lists = listing([(b"%03d" % i, 2, 0, 40 + 56 * i) for i in range(files)])
    nodes = directory(1, len(lists), 0, 0)
    for i in range(files):
        nodes += struct.pack("<HHHHIIQQQIIII", 9, 0, 0, 0, 0, i + 2,
                             96, blocks * 4096, 0, 1, 0, 0, 0)
    write(path, nodes + struct.pack("<I", 1) * blocks, lists, used=blocks * 2)


def copies(path, count=8, blocks=1 << 21):
    """Files with lists of their own, of the same blocks of a byte."""
    each = 56 + 4 * blocks
    nodes = b"".join(file(i + 2, blocks * 4096) + struct.pack("<I", 1) * blocks
                     for i in range(count))
    root = directory(1, 21 * count, 0, 0)
    _, starts = table(root + nodes)
    lists = b""
    for i in range(count):
        place = locate(starts, 40 + each * i)
        lists += listing([(b"%d" % i, 2, place >> 16, place & 0xffff)])
    write(path, root + nodes, lists, used=blocks * 2)


def holes(path, size=1 << 46):
    """One file, which is nothing but holes."""
    lists = listing([(b"one", 2, 0, 40)])
    nodes = directory(1, len(lists), 0, 0) + file(2, size)
    write(path, nodes + bytes(size >> 18), lists, block=1 << 20)


def twice(path):
    """A directory that has one name twice."""
    lists = listing([(name, 2, 0, 40) for name in (b"a", b"name", b"name")])
    write(path, directory(1, len(lists), 0, 0) + file(2), lists)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
