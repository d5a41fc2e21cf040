#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes one archive with Python's tarfile, and the tree that it should show.

Usage: write_tars.py CASE ARCHIVE TREE. `write_tars.py --list` prints the cases.
"""
import io
import os
import random
import sys
import tarfile

CASES = {}
DEFAULT_TIME = 1600000000


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


class Writer:
    """Adds members to an archive, and says what the tree should be."""

    def __init__(self, archive, tree, tar_format=tarfile.USTAR_FORMAT):
        self.tar = tarfile.open(archive, "w", format=tar_format)
        self.tree = tree
        os.makedirs(tree, exist_ok=True)

    def info(self, name, kind, **fields):
        info = tarfile.TarInfo(name)
        info.type = kind
        info.mode = 0o755 if kind == tarfile.DIRTYPE else 0o644
        info.mtime = DEFAULT_TIME
        info.uid = info.gid = 0
        for key, value in fields.items():
            setattr(info, key, value)
        return info

    def file(self, name, data, shown=None, **fields):
        info = self.info(name, tarfile.REGTYPE, size=len(data), **fields)
        self.tar.addfile(info, io.BytesIO(data))
        self.show(shown or name, data, info.mtime)

    def show(self, path, data, mtime=DEFAULT_TIME):
        path = os.path.join(self.tree, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.lexists(path):
            os.unlink(path)
        with open(path, "wb") as out:
            out.write(data)
        os.utime(path, ns=(int(mtime) * 10**9 + round(mtime % 1 * 10**9),) * 2)

    def directory(self, name, shown=None, **fields):
        self.tar.addfile(self.info(name, tarfile.DIRTYPE, **fields))
        os.makedirs(os.path.join(self.tree, shown or name), exist_ok=True)

    def link(self, name, target, kind):
        """A member that is only a link; the caller shows it."""
        self.tar.addfile(self.info(name, kind, linkname=target))

    def shown(self, name):
        return os.path.join(self.tree, name)

    def close(self):
        self.tar.close()


def plain_members(out, seed, mtime=DEFAULT_TIME):
    rng = random.Random(seed)
    out.directory("train")
    for i in range(40):
        data = rng.randbytes(rng.randrange(5000))
        out.file("train/%04d.jpg" % i, data, mtime=mtime)
    out.file("README", b"text\n", mtime=mtime)
    if out.tar.format != tarfile.USTAR_FORMAT:
        out.file("train/" + "long" * 50 + ".jpg", b"long", mtime=mtime)
        out.file("a" * 90 + "/" + "b" * 90 + "/" + "ü" * 90, b"longer", mtime=mtime)


@case
def ustar(archive, tree):
    out = Writer(archive, tree)
    plain_members(out, 1)
    out.close()


@case
def gnu(archive, tree):
    out = Writer(archive, tree, tarfile.GNU_FORMAT)
    plain_members(out, 2)
    out.close()


@case
def pax(archive, tree):
    """As WebDataset writes: PAX, with the clock's float as mtime."""
    out = Writer(archive, tree, tarfile.PAX_FORMAT)
    plain_members(out, 3, mtime=1700000000.25)
    out.close()


@case
def dot_prefix(archive, tree):
    out = Writer(archive, tree)
    out.directory("./")
    out.directory("./a")
    out.file("./a/one", b"1", shown="a/one")
    out.file("././a/two", b"2", shown="a/two")
    out.file("./a/./three", b"3", shown="a/three")
    out.file("a//four", b"4", shown="a/four")
    out.file(".//five", b"5", shown="five")
    out.close()


@case
def unsafe_names(archive, tree):
    """As GNU tar does: what follows the last `..`, without a leading slash."""
    out = Writer(archive, tree)
    out.file("/absolute/file", b"a", shown="absolute/file")
    out.file("../up", b"b", shown="up")
    out.file("../../etc/passwd", b"c", shown="etc/passwd")
    out.file("x/../y/file", b"d", shown="y/file")
    out.file("p/../../q/../r", b"e", shown="r")
    out.file("..dots/file", b"f", shown="..dots/file")
    out.file("//two/slashes", b"g", shown="two/slashes")
    out.close()


@case
def duplicates(archive, tree):
    out = Writer(archive, tree)
    out.file("file", b"the first")
    out.file("other", b"other")
    out.file("file", b"the second, longer")
    out.directory("d")
    out.file("d/x", b"1")
    out.directory("d")
    out.file("d/x", b"2")
    out.close()


@case
def no_directories(archive, tree):
    out = Writer(archive, tree)
    for i in range(30):
        out.file("a/%d/b/%d" % (i % 3, i), b"%d" % i)
    out.close()


@case
def hard_links(archive, tree):
    out = Writer(archive, tree)
    out.file("data/original", b"linked" * 1000)
    for name in ("data/second", "third"):
        out.link(name, "data/original", tarfile.LNKTYPE)
        os.link(out.shown("data/original"), out.shown(name))
    out.link("to-a-link", "third", tarfile.LNKTYPE)
    os.link(out.shown("third"), out.shown("to-a-link"))
    out.link("dotted", "./data/original", tarfile.LNKTYPE)
    os.link(out.shown("data/original"), out.shown("dotted"))
    out.close()


@case
def link_before_target(archive, tree):
    out = Writer(archive, tree)
    out.link("early", "z/late", tarfile.LNKTYPE)
    out.link("symbolic", "z/late", tarfile.SYMTYPE)
    out.file("z/late", b"comes last")
    os.link(out.shown("z/late"), out.shown("early"))
    os.symlink("z/late", out.shown("symbolic"))
    out.close()


@case
def symlinks(archive, tree):
    out = Writer(archive, tree, tarfile.GNU_FORMAT)
    out.file("here/file", b"x")
    for i, target in enumerate(("here/file", "nowhere", "/etc/passwd", "../..",
                                "t" * 300, "new\nline")):
        out.link("link-%d" % i, target, tarfile.SYMTYPE)
        os.symlink(target, out.shown("link-%d" % i))
    out.close()


@case
def concatenated(archive, tree):
    """cat a.tar b.tar: the zeros between them do not end it.

    GNU tar wants --ignore-zeros for this; a dataset that was put together with
    cat has to be shown whole."""
    for i in range(3):
        part = "%s.part" % archive
        out = Writer(part, tree)
        out.file("part-%d/file" % i, b"%d" % i)
        out.file("common", b"from %d" % i)
        out.close()
        with open(archive, "ab" if i else "wb") as whole, open(part, "rb") as data:
            whole.write(data.read())
        os.unlink(part)


@case
def special_files(archive, tree):
    out = Writer(archive, tree)
    out.file("file", b"shown")
    for kind in (tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE):
        info = out.info("special-%s" % kind.decode(), kind, devmajor=1, devminor=3)
        out.tar.addfile(info)
    out.close()


@case
def file_then_directory(archive, tree):
    """The last member wins over what was there, also over another kind."""
    out = Writer(archive, tree)
    out.file("name", b"a file first", shown="discarded")
    os.unlink(out.shown("discarded"))
    out.file("name/inside", b"now a directory")
    out.close()


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return
    name, archive, tree = sys.argv[1:]
    CASES[name](archive, tree)


if __name__ == "__main__":
    main()
