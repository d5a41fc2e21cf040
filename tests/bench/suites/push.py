# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast an archive that is in the page cache gets to where readers find it."""
import os
import shutil
import time

import report
from bench_run import SWEEP
from cgroups import MIB
from contenders import Directory
from epoch import Epoch
from granaryfs import BARE, SHIELDED, Granaryfs, requests, wait_for_sweep
from work import read_through

UNPACK = "tar x to /dev/shm"
BEGUN_BY = 64   # files that are read as a loader does


def pushed(bench, files, contender, number):
    """Seconds from the walk of a fresh mount until all of it is in the page cache."""
    start = time.monotonic()
    for _ in os.walk(contender.root):
        pass
    step = len(files) // BEGUN_BY
    paths = files.list(contender.root, files.names[number % step::step][:BEGUN_BY])
    bench.readers.c(paths, number, 1)
    seconds = wait_for_sweep(contender, 120) - start
    before = contender.counters()
    Epoch(bench, files).c(2)(contender, number)
    asked = requests(contender.counters()) - requests(before)
    contender.note = "%s; %d requests in the epoch after it" % (
        contender.note.partition(";")[0], asked)
    return seconds


def unpacked(bench, files):
    path = os.path.join(bench.work.shm, "push")
    os.mkdir(path)
    try:
        start = time.monotonic()
        bench.work.run(["tar", "-C", path, "-xf", files.tar])
        return time.monotonic() - start
    finally:
        shutil.rmtree(path)


def push(bench):
    files = bench.data.get("photos")
    row = bench.row("push", "push", "%d files of 110 kB, the tar in the page cache; until all "
                    "of them are where readers find them" % len(files),
                    "a walk, %d random files, then the sweep" % BEGUN_BY, "MiB/s")

    def once(contender, number):
        bench.work.run(read_through(files.tar))
        if not isinstance(contender, Granaryfs):
            return files.bytes() / MIB / unpacked(bench, files)
        contender.mount()
        try:
            return files.bytes() / MIB / pushed(bench, files, contender, number)
        finally:
            contender.unmount()
    contenders = [Directory(UNPACK, "")] + bench.granaries(files.tar, *SWEEP)
    bench.turns(row, contenders, bench.settings.cold_rounds, once)
    for kind in (BARE, SHIELDED):
        report.target(row, "push, archive in the page cache, %s, of tar x to /dev/shm" % kind,
                      kind, UNPACK, ">=", 2, kind == SHIELDED)
