#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a directory through libc: sorted names, and offsets that stay.

Usage: readdir.py DIRECTORY. Seeks back to every tenth offset that telldir gave
and must find the same names from there on.
"""
import ctypes
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.opendir.restype = ctypes.c_void_p
libc.readdir.argtypes = [ctypes.c_void_p]
libc.readdir.restype = ctypes.c_void_p
libc.telldir.argtypes = [ctypes.c_void_p]
libc.telldir.restype = ctypes.c_long
libc.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
libc.rewinddir.argtypes = [ctypes.c_void_p]
libc.closedir.argtypes = [ctypes.c_void_p]


class Dirent(ctypes.Structure):
    _fields_ = [("inode", ctypes.c_uint64), ("offset", ctypes.c_int64),
                ("length", ctypes.c_uint16), ("kind", ctypes.c_uint8),
                ("name", ctypes.c_char * 256)]


def read_on(handle):
    """[(offset of the entry, name, kind)] to the end."""
    entries = []
    while True:
        where = libc.telldir(handle)
        entry = libc.readdir(handle)
        if not entry:
            return entries
        dirent = Dirent.from_address(entry)
        entries.append((where, dirent.name, dirent.kind))


def check(path):
    handle = libc.opendir(os.fsencode(path))
    if not handle:
        return "opendir: %s" % os.strerror(ctypes.get_errno())
    entries = read_on(handle)
    names = [name for _, name, _ in entries if name not in (b".", b"..")]
    if names != sorted(names):
        return "the names are not sorted"
    if len(set(names)) != len(names):
        return "a name comes twice"
    if any(kind == 0 for _, _, kind in entries):
        return "an entry has no d_type"
    for i in list(range(0, len(entries), 10)) + [len(entries) - 1]:
        libc.seekdir(handle, entries[i][0])
        if read_on(handle) != entries[i:]:
            return "seekdir to entry %d finds other names" % i
    libc.rewinddir(handle)
    if read_on(handle) != entries:
        return "rewinddir finds other names"
    libc.closedir(handle)
    if sorted(os.fsencode(entry.name) for entry in os.scandir(path)) != names:
        return "scandir finds other names"
    return None


def main():
    error = check(sys.argv[1])
    if error:
        sys.exit("%s: %s" % (sys.argv[1], error))


if __name__ == "__main__":
    main()
