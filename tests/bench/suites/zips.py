# SPDX-License-Identifier: GPL-3.0-or-later
"""Zips: stored members beside the same files in a tar, compressed ones beside `unzip`."""
import os
import shutil
import time

import report
from bench_run import SWEEP, lacking
from epoch import Epoch, prepared, unmount
from granaryfs import BARE
from suites.decode import first_seconds
from work import Absent, read_through

TAR, ZIP = "granaryfs-bare, tar", "granaryfs-bare, zip"
TAR_AGAIN = "granaryfs-bare, tar, once more"
UNZIP = "unzip to /dev/shm"


def zipped(files, level):
    return files.once("%d.zip" % level, lambda path: files.work.run(
        ["sh", "-c", 'cd "$1" && zip -qr -%d "$2" .' % level, "sh", files.tree(), path], 1200),
        files.work.dir)


def stored(bench):
    """The same contender twice says how much two of them differ by chance."""
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    row = bench.row("zip", "zip-stored", "warm, random, %d files of 110 kB, stored" % len(files),
                    "C: open, fstat, read to the end, close; 2 processes", "files/s")
    contenders = [bench.granaryfs(BARE, packed, *SWEEP, name=name).index() for packed, name in (
        (files.tar, TAR), (files.tar, TAR_AGAIN), (zipped(files, 0), ZIP))]
    there = prepared(bench, row, contenders, epoch)
    bench.turns(row, there, bench.settings.rounds, epoch.c(2))
    unmount(bench, row, there)
    report.target(row, "warm, zip stored, 2 C processes, of tar", ZIP, TAR, ">=", 0.97)


def deflated(bench):
    files = bench.data.get("texts")
    packed = zipped(files, 6)
    row = first_seconds(bench, ("zip", "zip-first"), "zip, deflate", files,
                        [bench.granaryfs(BARE, packed, name=ZIP).index()],
                        [(UNZIP, lambda: unzip(bench, packed))])
    report.target(row, "zip, deflate, first epoch, 2 C processes, time of unzip's", ZIP, UNZIP,
                  "<=", 0.45)


def unzip(bench, packed):
    if lacking(["unzip"]):
        raise Absent("without unzip")
    directory = os.path.join(bench.work.shm, "unzipped")
    bench.work.run(read_through(packed))
    start = time.monotonic()
    bench.work.run(["unzip", "-q", packed, "-d", directory], 1200)
    seconds = time.monotonic() - start
    shutil.rmtree(directory)
    return seconds


def zips(bench):
    if lacking(["zip"]):
        return
    stored(bench)
    deflated(bench)
