# SPDX-License-Identifier: GPL-3.0-or-later
"""How each contender of the suite rivals reads, and why it may be the first.

A reason names a mechanism; which of them is told, figures decide.
"""
from bench_run import ARCHIVEMOUNT, EROFS, SQUASHFS, SQUASHFUSE, TREE
from rival_contenders import (ARROW, HDF5, LIBRARIES, LMDB, RATARMOUNT, RATARMOUNT_GZIP,
                              SQUASHFS_SHIELDED, STREAM, TAR_BARE, TAR_SHIELDED, UNPACKED)

HOW = {
    TAR_BARE: "a tar, `shield=off`",
    TAR_SHIELDED: "a tar, `shield=on`",
    SQUASHFS_SHIELDED: "a squashfs image by zstd, `shield=on`",
    RATARMOUNT: "a tar, its index in SQLite beside it",
    RATARMOUNT_GZIP: "the tar by gzip, with rapidgzip",
    ARCHIVEMOUNT: "a tar by libarchive, `readonly`",
    SQUASHFUSE: "the squashfs image, by FUSE",
    SQUASHFS: "the squashfs image, by the kernel on a loop device",
    EROFS: "an EROFS image that is not compressed, by the kernel on a loop device",
    LMDB: "a database of number and bytes; `readonly=True, lock=False`",
    ARROW: "an IPC file, mapped, in batches of 256 rows",
    HDF5: "rows of bytes in one dataset, as JSC's course stores them",
    STREAM: "8 shards, in their own order: no random access",
    TREE: "an extracted tar in the disk's filesystem",
    UNPACKED: "an extracted tar in memory, of which unpacking is a part of the time",
}

IN_FILE = "its file has the index, and nothing is mounted"
IN_IMAGE = "the image has the index of its files"
CACHED = "its files are in the kernel's page cache"
KERNEL = "the kernel answers from its page cache, without a daemon"
COPIED = "a sample is copied from a mapping, and no file is opened for it"
IN_ORDER = "the packed file is read from begin to end, not in random order"
NO_DAEMON = "no daemon runs, and pages of the kernel are not counted"

WHY = {
    "first": {LMDB: IN_FILE, ARROW: IN_FILE, HDF5: IN_FILE, SQUASHFUSE: IN_IMAGE,
              SQUASHFS: IN_IMAGE, EROFS: IN_IMAGE, SQUASHFS_SHIELDED: IN_IMAGE,
              STREAM: "the first sample of a shard is read, and not a random one",
              TREE: "the files lie there, and nothing is mounted"},
    "cold": {STREAM: IN_ORDER, UNPACKED: IN_ORDER,
             TAR_BARE: "what is fetched ahead is read in the order of the tar",
             TAR_SHIELDED: "what is fetched ahead is read in the order of the tar",
             SQUASHFS_SHIELDED: "what is fetched ahead is read in the order of the image",
             LMDB: "a sample is one range of its file", ARROW: "a sample is one range of its file",
             HDF5: "a sample is one range of its file"},
    "warm": {LMDB: COPIED, ARROW: COPIED, TAR_BARE: CACHED, TAR_SHIELDED: CACHED,
             SQUASHFS_SHIELDED: CACHED, SQUASHFUSE: CACHED, SQUASHFS: KERNEL, EROFS: KERNEL,
             TREE: KERNEL, UNPACKED: KERNEL},
    "memory": {SQUASHFS: NO_DAEMON, EROFS: NO_DAEMON, TREE: NO_DAEMON},
}
WHY["decode"] = WHY["warm"]


def is_file(name):
    """Whether a sample is a file that is opened."""
    return name not in LIBRARIES
