# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounts in a memory cgroup, with their defaults: one that has room, and many that have not.

No job's variables are set: what a mount may keep, it finds out from the cgroup.
"""
import os
import time

import report
from cgroups import MIB, Memory, read
from contenders import Directory
from data import MASK, Set, mixed, names_of, windows
from epoch import Epoch, verified
from granaryfs import BARE, SHIELDED
from machine import drop_caches
from readers import agree
from suites.cold import READER, throttled

SHARE = 0.4      # of the limit that the data set takes
MOUNTS, ARCHIVES = 4, 4
TOGETHER = "granaryfs, %d mounts" % MOUNTS
LIMIT = 1024 * MIB
SIZE = 110000    # bytes of a file
# by whether files are listed before they are read
WORDS = {True: ("", "listed first"), False: ("-unlisted", "not listed")}


def list_files(bench, root, groups):
    """As ImageFolder does: the kernel knows the inodes afterwards."""
    bench.work.run(["find", root, "-type", "f"], 600, groups)


def first_epoch(bench, listed):
    """Of a data set that fits: held against reading the archive in order."""
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    limit = int(files.bytes() / SHARE)
    row = bench.row("limits", "limits-first" + WORDS[listed][0], "first epoch, random, %d files "
                    "of 110 kB, %s, throttled; a memory cgroup of %d MiB, defaults, index "
                    "present" % (len(files), WORDS[listed][1], limit / MIB), READER, "seconds",
                    better="less")
    memory = Memory(bench.work, limit, "outside-job" + WORDS[listed][0])

    def once(contender, number):
        def epoch_of(groups):
            if listed:
                list_files(bench, contender.root, groups)
            found = bench.readers.c(epoch.list(contender), number, 2, groups=groups)
            agree(found, *epoch.expected(contender))
        return throttled(bench, contender, files.bytes(), epoch_of, [memory])[0]
    contenders = [bench.granaryfs(kind, files.tar) for kind in (BARE, SHIELDED)]
    contenders[0].index()
    contenders += bench.others(files, "tree")
    bench.turns(row, verified(bench, row, contenders, epoch), bench.settings.cold_rounds, once)
    for kind in (BARE, SHIELDED):
        report.target(row, "first epoch outside a job, defaults, %s, %s, of bytes / rate"
                      % (WORDS[listed][1], kind), kind,
                      os.path.getsize(files.tar) / (bench.settings.mib * MIB), "<=", 1.1,
                      kind == SHIELDED)


class Part(Set):
    """Files in several archives, which are mounted as one tree."""

    def __init__(self, work, number, count):
        super().__init__(work, "part-%d" % number)
        contents = windows([SIZE] * count, 20 + number)
        names = list(names_of(count, "bin"))
        for archive in range(ARCHIVES):
            self.tar = work.path("part-%d-%d.tar" % (number, archive))
            first, last = (count * (archive + i) // ARCHIVES for i in (0, 1))
            self.write((name, next(contents)) for name in names[first:last])
        self.tar = work.path("part-%d-{0..%d}.tar" % (number, ARCHIVES - 1))


def oom_kills(memory):
    """How many processes the kernel has killed in a group."""
    file = "memory.events" if memory.version == 2 else "memory.oom_control"
    words = dict(line.split() for line in read(memory.file(file)).splitlines())
    return int(words.get("oom_kill", 0))


def many_mounts(bench, parts, listed):
    """An epoch over all of them, and no process killed for memory."""
    count = len(parts[0])
    mounts = [bench.granaryfs(BARE, part.tar, name="part-%d" % number)
              for number, part in enumerate(parts)]
    size = sum(part.bytes() for part in parts)
    what = ("%d mounts of %d archives each, %d MiB in all, %s, a memory cgroup of %d MiB, defaults"
            % (MOUNTS, ARCHIVES, size / MIB, WORDS[listed][1], LIMIT / MIB))
    row = bench.row("limits", "limits-mounts" + WORDS[listed][0], "epoch, random: " + what,
                    "C: open, fstat, read to the end, close; %d processes; seconds with the "
                    "mounts" % MOUNTS, "seconds", better="less")
    killed = bench.row("limits", "limits-oom" + WORDS[listed][0], what, "oom_kill of the cgroup", "kills",
                       better="less")
    memory = Memory(bench.work, LIMIT, "mounts" + WORDS[listed][0])

    def mounted(reader):
        drop_caches()
        try:
            start = time.monotonic()
            for mount in mounts:
                mount.mount([memory])
                if listed:
                    list_files(bench, mount.root, [memory])
            found = reader(paths(bench, parts, mounts))
            return found, time.monotonic() - start
        finally:
            for mount in mounts:
                mount.unmount()

    def verify(_):
        found, _ = mounted(lambda path: bench.readers.python(
            "files", path, 0, MOUNTS, "check", groups=[memory]))
        agree(found, MOUNTS * count, size, sum(mixed(i, crc) for i, crc in enumerate(
            crc for part in parts for crc in part.crcs)) & MASK)

    def once(_, number):
        found, seconds = mounted(lambda path: bench.readers.c(
            path, number, MOUNTS, groups=[memory]))
        agree(found, MOUNTS * count, size)
        return seconds
    together = Directory(TOGETHER, "")
    bench.attempt(row, together, verify)
    bench.turns(row, [together], bench.settings.cold_rounds, once)
    report.series_of(killed, TOGETHER)["values"].append(oom_kills(memory))
    report.target(killed, "%d mounts in %d MiB, %s, processes killed"
                  % (MOUNTS, LIMIT / MIB, WORDS[listed][1]), TOGETHER, None, "==", 0)


def paths(bench, parts, mounts):
    """A list of the files of all mounts."""
    path = os.path.join(bench.work.shm, "list-all")
    with open(path, "w", encoding="utf-8") as out:
        for part, mount in zip(parts, mounts):
            out.writelines("%s/%s\n" % (mount.root, name) for name in part.names)
    return path


def limits(bench):
    for listed in (True, False):
        first_epoch(bench, listed)
    count = bench.settings.larger_files // MOUNTS
    parts = [Part(bench.work, number, count) for number in range(MOUNTS)]
    for listed in (True, False):
        many_mounts(bench, parts, listed)
