#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes squashfs images with listings of other sizes than mksquashfs writes.

squashfs_oddities.py DIRECTORY writes DIRECTORY/NAME.sqfs as mksquashfs packs it, and with the
same bytes but for the sizes in its directories' inodes: NAME-exact.sqfs, in which the size
is that of the listing alone (squashfs-tools-ng before 1.1.3); NAME-less-N.sqfs, in which
it is N bytes less than mksquashfs's in directories that are not empty, and N in empty ones.
"""
import io
import os
import struct
import subprocess
import sys
import tarfile

FIXED = {1: 32, 2: 32, 3: 24, 4: 24, 5: 24, 6: 20, 7: 20, 8: 40, 9: 56, 10: 28, 11: 28,
         12: 28, 13: 24, 14: 24}


def add(tar, name, kind=tarfile.REGTYPE, data=b"", link="", xattrs=()):
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, len(data), link
    info.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
    info.pax_headers = {"SCHILY.xattr." + k: v for k, v in xattrs}
    tar.addfile(info, io.BytesIO(data))


def small(tar):
    add(tar, "d", tarfile.DIRTYPE)
    add(tar, "d/f", data=b"x")
    add(tar, "empty", tarfile.DIRTYPE)
    add(tar, "g", data=b"y" * 300000)


def nothing(tar):
    del tar


def many(tar):
    for directory, count in (("two-runs", 300), ("one-run", 256), ("one-more", 257)):
        add(tar, directory, tarfile.DIRTYPE)
        for i in range(count):
            add(tar, "%s/%d" % (directory, i), data=b"%d" % i)
        add(tar, directory + "/link", tarfile.SYMTYPE, link="0")
        add(tar, directory + "/hard", tarfile.LNKTYPE, link=directory + "/0")
        add(tar, directory + "/pipe", tarfile.FIFOTYPE)
        add(tar, directory + "/last", tarfile.DIRTYPE)


def extended(tar):
    with_xattr = [("user.a", "1")]
    add(tar, "d", tarfile.DIRTYPE, xattrs=with_xattr)
    add(tar, "d/f", data=b"x", xattrs=with_xattr)
    add(tar, "empty", tarfile.DIRTYPE, xattrs=with_xattr)
    add(tar, "long", tarfile.DIRTYPE)
    for i in range(1000):
        add(tar, "long/" + "%04d" % i * 60)


def pack(name, fill):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        fill(tar)
    subprocess.run(["mksquashfs", "-", name, "-tar", "-noI", "-noappend", "-quiet",
                    "-no-progress", "-xattrs", "-all-root", "-mkfs-time", "0"],
                   input=stream.getvalue(), check=True, stdout=subprocess.DEVNULL)
    with open(name, "rb") as f:
        return f.read()


def inode_table(image):
    """Where each byte of the table lies in the image: its blocks are stored."""
    at, end = struct.unpack_from("<QQ", image, 64)
    places = []
    while at < end:
        head, = struct.unpack_from("<H", image, at)
        assert head & 0x8000, "compressed"
        places += range(at + 2, at + 2 + (head & 0x7fff))
        at += 2 + (head & 0x7fff)
    return places


def inode_size(read, kind, block_size):
    """`read` takes a format and the offset in the inode."""
    size = FIXED[kind]
    if kind in (2, 9):
        length = read("<Q", 24) if kind == 9 else read("<I", 28)
        fragment = read("<I", 44 if kind == 9 else 20)
        size += 4 * (length // block_size + (fragment == 0xffffffff and
                                             length % block_size > 0))
    elif kind in (3, 10):
        size += read("<I", 20)
    elif kind == 8:
        for _ in range(read("<H", 32)):
            size += 12 + read("<I", size + 8) + 1
    return size


def with_sizes(image, change):
    """`change` takes the size of a listing as mksquashfs gives it."""
    out, places, at = bytearray(image), inode_table(image), 0
    block_size, = struct.unpack_from("<I", image, 12)
    table = bytes(image[p] for p in places)
    while at < len(table):
        def read(form, offset, inode=at):
            return struct.unpack_from(form, table, inode + offset)[0]
        kind = read("<H", 0)
        if kind in (1, 8):
            form, offset = ("<H", 24) if kind == 1 else ("<I", 20)
            for i, byte in enumerate(struct.pack(form, change(read(form, offset)))):
                out[places[at + offset + i]] = byte
        at += inode_size(read, kind, block_size)
    assert at == len(table)
    return bytes(out)


def main():
    os.chdir(sys.argv[1])
    for fill in (small, nothing, many, extended):
        image = pack(fill.__name__ + ".sqfs", fill)
        images = {"exact": with_sizes(image, lambda size: size - 3)}
        for less in (1, 2, 4, 20):
            images["less-%d" % less] = with_sizes(
                image, lambda size, n=less: size - n if size > 3 else n)
        for tag, changed in images.items():
            with open("%s-%s.sqfs" % (fill.__name__, tag), "wb") as f:
                f.write(changed)


if __name__ == "__main__":
    main()
