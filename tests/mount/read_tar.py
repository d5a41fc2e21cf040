#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compares a tar, as Python's tarfile reads it, with the tree that was packed."""
import os
import stat
import sys
import tarfile

TYPES = {stat.S_IFREG: tarfile.REGTYPE, stat.S_IFDIR: tarfile.DIRTYPE,
         stat.S_IFLNK: tarfile.SYMTYPE}


def compare(archive, member, root):
    path = os.path.join(root, member.name)
    status = os.lstat(path)
    if member.islnk():
        assert os.path.samefile(os.path.join(root, member.linkname), path), path
        return
    assert member.type == TYPES[stat.S_IFMT(status.st_mode)], path
    assert member.mode == stat.S_IMODE(status.st_mode) or member.issym(), path
    assert (member.uid, member.gid) == (status.st_uid, status.st_gid), path
    # tarfile makes a double of it
    assert abs(member.mtime - status.st_mtime_ns / 1e9) < 1e-6, (path, member.mtime)
    if member.issym():
        assert member.linkname == os.readlink(path), path
    if member.isreg():
        with open(path, "rb") as source:
            assert archive.extractfile(member).read() == source.read(), path


def main():
    name, root = sys.argv[1:]
    seen = set()
    with tarfile.open(name) as archive:
        for member in archive:
            compare(archive, member, root)
            assert member.name not in seen, member.name
            seen.add(member.name)
    wanted = {"."}
    for directory, directories, files in os.walk(root):
        for entry in directories + files:
            path = os.path.join(directory, entry)
            if not stat.S_ISFIFO(os.lstat(path).st_mode):
                wanted.add(os.path.relpath(path, root))
    assert seen == wanted, seen ^ wanted


if __name__ == "__main__":
    main()
