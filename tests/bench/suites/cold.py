# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is in memory, and the storage is slow: the first epochs.

Reader and daemon are in one cgroup whose reads are throttled, and counted. Mounting
is a part of the time. A contender for which less was counted than it must have read
was not throttled, and has failed.
"""
import os
import shutil
import time

import report
from bench_run import SWEEP
from cgroups import MIB
from contenders import Directory
from epoch import Epoch, verified
from granaryfs import BARE, GRANARY, PROGRAM, READ_ALL, SHIELDED, Granaryfs
from machine import drop_caches, load_programs
from readers import agree
from work import Failed

LIMIT = "dd of the tar"
UNPACKED = "tar x to /dev/shm, then read"
STREAM = "Python tarfile, streaming"
READER = "C: open, fstat, read to the end, close; 2 processes; seconds with the mount"
# Programs that `throttled` measures: contenders and readers.
PROGRAMS = (PROGRAM, GRANARY, READ_ALL, "mount", "squashfuse_ll", "tar", "dd", "find", "python3")
PYTHON3 = "Python: open(path, 'rb').read(); 2 processes; seconds with the mount"


class Unpacked(Directory):
    """What people do: copy all of it to memory first."""

    def __init__(self, bench, files):
        super().__init__(UNPACKED, os.path.join(bench.work.shm, "unpacked"))
        self.bench, self.files = bench, files

    def mount(self, groups=()):
        os.mkdir(self.root)
        self.bench.work.run(["tar", "-C", self.root, "-xf", self.files.tar], 600, groups)

    def unmount(self):
        shutil.rmtree(self.root)


def throttled(bench, contender, least, read, more=()):
    """Seconds from before the mount until `read` has ended, the reader's start included:
    who fetches meanwhile has no lead. At least `least` bytes have to be counted. `more` are
    cgroups beside the one of the storage."""
    storage = bench.storage(bench.data.get("photos").tar)
    drop_caches()
    load_programs(*PROGRAMS)
    before = storage.bytes_read()
    start = time.monotonic()
    try:
        contender.mount([storage, *more])
        read([storage, *more])
        seconds = time.monotonic() - start
        counted = storage.bytes_read() - before
    finally:
        contender.unmount()
    if counted < 0.9 * least:
        raise Failed("not throttled: %d MiB were counted, not %d"
                     % (counted / MIB, least / MIB))
    return seconds, counted


def first_epochs(bench):
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    limit = os.path.getsize(files.tar) / (bench.settings.mib * MIB)
    row = bench.row("cold", "cold-epoch", "first epoch, random, %d files of 110 kB, %d MiB/s "
                    "and %d reads/s; index present" % (len(files), bench.settings.mib,
                                                       bench.settings.reads),
                    READER, "seconds", better="less",
                    chart="First epoch from storage of %d MiB/s, random order, mount included:"
                    " seconds" % bench.settings.mib)

    def read(contender, number):
        def once(groups):
            if contender.name == LIMIT:
                bench.work.run(["dd", "if=" + files.tar, "of=/dev/null", "bs=1M"], 600, groups)
                return
            found = bench.readers.c(epoch.list(contender), number, 2, groups=groups)
            agree(found, *epoch.expected(contender))
        return throttled(bench, contender, files.bytes(), once)[0]
    contenders = bench.granaries(files.tar) + [Unpacked(bench, files)] + bench.others(
        files, "tree", "squashfs", "erofs", "squashfuse")
    there = [Directory(LIMIT, "")] + verified(bench, row, contenders, epoch)
    bench.turns(row, there, bench.settings.cold_rounds, read)
    for name in (BARE, SHIELDED):
        report.target(row, "cold first epoch, index present, %s, of bytes / rate" % name, name,
                      limit, "<=", 1.1, name == SHIELDED)


def without_index(bench):
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    size = os.path.getsize(files.tar)
    what = "first epoch, random, %d files of 110 kB, throttled; no index" % len(files)
    row = bench.row("cold", "cold-no-index", what, READER, "seconds", better="less")
    again = bench.row("cold", "cold-no-index-bytes", what,
                      "bytes from storage / bytes of the tar", "times", better="less")

    def read(contender, number):
        if isinstance(contender, Granaryfs):
            contender.no_index()

        def once(groups):
            found = bench.readers.c(epoch.list(contender), number, 2, groups=groups)
            agree(found, *epoch.expected(contender))
        seconds, counted = throttled(bench, contender, files.bytes(), once)
        report.series_of(again, contender.name, contender.shield, contender.note)[
            "values"].append(counted / size)
        return seconds
    contenders = [bench.granaryfs(kind, files.tar, *SWEEP) for kind in (BARE, SHIELDED)]
    # who copies all of it first knows no index either
    bench.turns(row, contenders + [Unpacked(bench, files)], bench.settings.cold_rounds, read)
    for name in (BARE, SHIELDED):
        report.target(row, "cold first epoch, no index, %s, of bytes / rate" % name, name,
                      size / (bench.settings.mib * MIB), "<=", 1.15, name == SHIELDED)


def first_samples(bench):
    """Mount, and 32 files in random order: how long until training begins."""
    files = bench.data.get("photos")
    step = max(1, len(files) // 32)
    names = files.names[step // 2::step][:32]
    size = sum(files.sizes[i] for i in files.places(names))
    row = bench.row("cold", "first-32", "mount to the first 32 random samples, throttled; "
                    "index present", "C: 1 process; seconds with the mount", "seconds",
                    better="less")

    def read(contender, number):
        def once(groups):
            paths = files.list(contender.root, names)
            found = bench.readers.c(paths, number, 1, groups=groups)
            agree(found, 32, size)
        return throttled(bench, contender, size, once)[0]
    contenders = bench.granaries(files.tar) + bench.others(
        files, "tree", "squashfs", "erofs", "squashfuse", "archivemount")
    bench.turns(row, contenders, bench.settings.cold_rounds, read)
    for name in (BARE, SHIELDED):
        report.target(row, "mount to first 32 random samples, %s, seconds" % name, name, None,
                      "<=", 0.5, name == SHIELDED)


def three_epochs(bench):
    """Three epochs as Python reads them, the first one cold; a tar as a stream too."""
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    row = bench.row("cold", "three-epochs", "3 epochs of %d files of 110 kB, throttled, the "
                    "first one cold" % len(files), PYTHON3, "seconds", better="less",
                    chart="3 epochs in Python, the first one from slow storage: seconds")

    def stream(groups, *more):
        return bench.readers.python("stream", files.tar, 3, *more, groups=groups)

    def read(contender, number):
        def once(groups):
            if contender.name == STREAM:
                agree(stream(groups), len(files), files.bytes())
                return
            found = bench.readers.python("epochs", epoch.list(contender), number, 2, 3,
                                         groups=groups)
            agree(found, 3 * len(files), 3 * files.bytes())
        return throttled(bench, contender, files.bytes(), once)[0]
    streamed = Directory(STREAM, "", "in the tar's order, 1 process")
    bench.attempt(row, streamed, lambda c: agree(stream((), "check"), len(files),
                                                 files.bytes(), files.checksum()))
    contenders = bench.granaries(files.tar) + [streamed, Unpacked(bench, files)]
    bench.turns(row, contenders + bench.others(files, "tree"), bench.settings.cold_rounds, read)


def cold(bench):
    first_epochs(bench)
    without_index(bench)
    first_samples(bench)
    three_epochs(bench)
