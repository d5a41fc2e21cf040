# SPDX-License-Identifier: GPL-3.0-or-later
"""Millions of files: their index, how it is made, and how it is mounted.

The archives are sparse (sparse.py). Where headers are to be in the page cache they lie
in /dev/shm, whose holes no reader fills; on a disk's filesystem read-ahead would fill
memory with pages of zeros.
"""
import json
import os
import sys
import time

import report
import sparse
from bench_run import lacking
from cgroups import MIB
from contenders import Directory
from granaryfs import BARE, GRANARY
from machine import drop_caches, load_programs
from readers import HERE
from work import Absent, Failed

INDEX, BSDTAR = "granary index, 2 cores", "bsdtar -t, 1 core"
MEASURED = os.path.join(HERE, "measured.py")
SMALL = 1000        # files of a mount that is not large
PHOTO = 110_000
APART = 1_000_000   # bytes: what is between costs more than a read


def archive(bench, name, count, size, directory=None):
    path = os.path.join(directory or bench.work.dir, name)
    if not os.path.exists(path):
        print("bench: making %s, %d members" % (name, count), flush=True)
        classes = 21_841 if count > 10**7 else max(10, min(1000, count // 100))
        sparse.write(path, count, classes, size)
    return path


def measured(bench, argv, groups=(), cores=""):
    """{seconds, memory} of a program, on those cores."""
    pinned = ["taskset", "-c", cores] if cores else []
    text = bench.work.run([sys.executable, MEASURED, *pinned, *argv], 3600, groups)
    return json.loads(text.strip().splitlines()[-1])


def index(bench, path, **more):
    return measured(bench, [GRANARY, "index", "--force", path], **more)


def cores():
    """Two of ours, and the first of them."""
    ours = sorted(os.sched_getaffinity(0))[:2]
    return ",".join(map(str, ours)), str(ours[0])


def read_all(path):
    """So that it is in the page cache."""
    with open(path, "rb") as file:
        while file.read(1 << 20):
            pass


def many(bench):
    return archive(bench, "millions.tar", bench.settings.scale_files, 0)


def sizes(bench):
    """What the index of all of them takes, on the disk and while it is made."""
    count, path = bench.settings.scale_files, many(bench)
    what = "index of %s files, named as ImageNet's" % "{:,}".format(count)
    size = bench.row("scale", "scale-size", what, "granary index; no checksums",
                     "bytes a file", better="less")
    memory = bench.row("scale", "scale-memory", what, "its memory at most, less what %d files "
                       "take" % SMALL, "of the index", better="less")

    def once(contender, _):
        small = index(bench, archive(bench, "small.tar", SMALL, 0))["memory"]
        took = index(bench, path)["memory"] - small
        bytes_of = os.path.getsize(path + ".gidx")
        report.series_of(memory, contender.name)["values"].append(took / bytes_of)
        return bytes_of / count
    bench.turns(size, [Directory(INDEX, "")], 1, once)
    report.target(size, "index, bytes a file", INDEX, None, "<=", 64)
    report.target(memory, "memory of indexing, of the index", INDEX, None, "<=", 2)


def rates(bench):
    count = bench.settings.scale_rate
    path = archive(bench, "rate.tar", count, PHOTO, bench.work.shm)
    both, first = cores()
    row = bench.row("scale", "scale-rate", "indexing %s members 110 kB apart, headers in "
                    "memory" % "{:,}".format(count), "seconds with start and end", "members/s")

    def once(contender, _):
        if contender.name == BSDTAR:
            if lacking(["bsdtar"]):
                raise Absent("bsdtar is not installed (Debian: libarchive-tools)")
            took = measured(bench, ["bsdtar", "-tf", path], cores=first)
        else:
            took = index(bench, path, cores=both)
        return count / took["seconds"]
    bench.turns(row, [Directory(INDEX, ""), Directory(BSDTAR, "")], bench.settings.rounds, once)
    report.target(row, "indexing, 2 cores, of bsdtar -t on one", INDEX, BSDTAR, ">=", 4)
    os.unlink(path)


def mounts(bench):
    """From an index in the page cache, which is copied once: what its size costs."""
    settings = bench.settings
    small, path = archive(bench, "small.tar", SMALL, 0), many(bench)
    middle = archive(bench, "million.tar", settings.scale_walked, 0)
    row = bench.row("scale", "scale-mount", "mount, index present and in memory",
                    "until it is in /proc/self/mounts", "seconds", better="less")
    memory = bench.row("scale", "scale-mount-memory", "daemon of %s files" %
                       "{:,}".format(settings.scale_files),
                       "RssAnon + RssShmem after the mount", "MB", better="less")
    few = bench.granaryfs(BARE, small, name="%s, %d files" % (BARE, SMALL)).index()
    larger = [(count, limit, bench.granaryfs(BARE, packed, name="%s, %s files" %
                                             (BARE, "{:,}".format(count))).index())
              for count, limit, packed in ((settings.scale_walked, 0.1, middle),
                                           (settings.scale_files, 1.5, path))]
    large = larger[-1][2]

    def once(contender, number):
        read_all(contender.packed + ".gidx")
        start = time.monotonic()
        contender.mount()
        took = time.monotonic() - start
        try:
            os.stat(contender.root)
            if contender is large:
                report.series_of(memory, BARE, "off", contender.note)["values"].append(
                    contender.memory() / 1e6)
        finally:
            contender.unmount()
        return took
    bench.turns(row, [few] + [contender for _, _, contender in larger], settings.rounds, once)
    for count, limit, contender in larger:
        difference = "%s files more than %d" % ("{:,}".format(count), SMALL)
        pairs = zip(row["series"][contender.name]["values"], row["series"][few.name]["values"])
        report.series_of(row, difference)["values"].extend(a - b for a, b in pairs)
        report.target(row, "mount of %s files, seconds more than %d" %
                      ("{:,}".format(count), SMALL), difference, None, "<=", limit)
    report.target(memory, "daemon's anonymous memory, MB", BARE, None, "<=", 64)


def throttled_index(bench, row, path, count):
    """Against what reading all of it takes, or a read a member, whichever is less."""
    settings = bench.settings
    least = min(os.path.getsize(path) / (settings.mib * MIB), count / settings.reads)

    def once(_, number):
        storage = bench.storage(bench.data.get("photos").tar)
        drop_caches()
        load_programs(GRANARY, "bsdtar")
        before = storage.bytes_read()
        took = index(bench, path, groups=[storage])["seconds"]
        if storage.bytes_read() - before < 0.9 * min(os.path.getsize(path), 4096 * count):
            raise Failed("not throttled: hardly anything was counted")
        return took
    bench.turns(row, [Directory(INDEX, "")], settings.cold_rounds, once)
    report.target(row, "indexing, throttled: %s" % row["what"], INDEX, least, "<=", 1.2)


def throttled(bench):
    settings, photos = bench.settings, bench.data.get("photos")
    count = settings.scale_throttled
    there = [("dense", "%s members of 110 kB" % "{:,}".format(len(photos)), photos.tar,
              len(photos))]
    for key, size, words in (("apart", APART, "1 MB"), ("sparse", PHOTO, "110 kB")):
        there.append((key, "%s members %s apart, sparse" % ("{:,}".format(count), words),
                      archive(bench, key + ".tar", count, size), count))
    for key, what, path, members in there:
        row = bench.row("scale", "scale-throttled-" + key, what, "granary index; %d MiB/s, "
                        "%d reads/s" % (settings.mib, settings.reads), "seconds",
                        better="less")
        throttled_index(bench, row, path, members)


def scale(bench):
    rates(bench)
    sizes(bench)
    mounts(bench)
    throttled(bench)
