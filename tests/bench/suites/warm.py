# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything is in memory: what a file costs then, and whether the daemon is asked."""
import report
from bench_run import ARCHIVEMOUNT, SHM
from epoch import Epoch, prepared, unmount
from granaryfs import BARE, SHIELDED

OPENS = "C: open, fstat, read to the end, close; "
PYTHON = "Python: open(path, 'rb').read(); "


def photos(bench):
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    what = "warm, random, %d files of 110 kB" % len(files)
    rows = [bench.row("warm", "warm-c2", what, OPENS + "2 processes", "files/s",
                      chart="Warm, random order, 110 kB, 2 processes in C: files/s"),
            bench.row("warm", "warm-c1", what, OPENS + "1 process", "files/s"),
            bench.row("warm", "warm-python2", what, PYTHON + "2 processes", "files/s",
                      chart="The same, 2 processes in Python: files/s"),
            bench.row("warm", "warm-python1", what, PYTHON + "1 process", "files/s")]
    asked = [bench.row("warm", "requests-c", "requests that reach the daemon in " + what,
                       OPENS + "1 and 2 processes", "an epoch", better="less"),
             bench.row("warm", "requests-python", "requests that reach the daemon in " + what,
                       PYTHON + "1 and 2 processes", "an epoch", better="less")]
    contenders = [bench.shm(files)] + bench.granaries(files.tar) + bench.others(
        files, "tree", "squashfs", "erofs", "squashfuse", "archivemount")
    there = prepared(bench, rows[0], contenders, epoch)
    readers = [epoch.c(2), epoch.c(1), epoch.python(2), epoch.python(1)]
    for i, row in enumerate(rows):
        bench.turns(row, there, bench.settings.rounds, epoch.counting(asked[i // 2],
                                                                      readers[i]))
        if ARCHIVEMOUNT in row["series"]:
            row["series"][ARCHIVEMOUNT]["note"] = "%d of the files" % len(epoch.few)
    unmount(bench, rows[0], there)
    photo_targets(rows, asked)


def photo_targets(rows, asked):
    c2, _, python2, python1 = rows
    report.target(asked[0], "requests in a warm epoch, C readers, bare", BARE, None, "==", 0)
    report.target(asked[0], "requests in a warm epoch, C readers, shielded", SHIELDED, None,
                  "==", 0, True)
    report.target(asked[1], "requests in a warm epoch, Python readers, shielded", SHIELDED,
                  None, "==", 0, True)
    report.target(c2, "warm, 2 C processes, 110 kB, bare, of /dev/shm", BARE, SHM, ">=", 0.9)
    report.target(c2, "warm, 2 C processes, 110 kB, shielded, of /dev/shm", SHIELDED, SHM,
                  ">=", 0.82, True)
    report.target(python2, "warm, Python, 2 processes, shielded, of /dev/shm", SHIELDED, SHM,
                  ">=", 0.8, True)
    report.target(python1, "warm, Python, 1 process, bare, a core to spare, of /dev/shm", BARE,
                  SHM, ">=", 0.4)


def small(bench):
    files = bench.data.get("small")
    epoch = Epoch(bench, files)
    row = bench.row("warm", "warm-small", "warm, random, %d files of 3 kB" % len(files),
                    OPENS + "2 processes", "files/s",
                    chart="Warm, random order, 3 kB, 2 processes in C: files/s")
    contenders = [bench.shm(files)] + bench.granaries(files.tar) + bench.others(
        files, "tree", "squashfs", "erofs", "squashfuse")
    there = prepared(bench, row, contenders, epoch)
    bench.turns(row, there, bench.settings.rounds, epoch.c(2))
    unmount(bench, row, there)
    report.target(row, "warm, 2 C processes, 3 kB, bare, of /dev/shm", BARE, SHM, ">=", 0.65)
    report.target(row, "warm, 2 C processes, 3 kB, shielded, of /dev/shm", SHIELDED, SHM,
                  ">=", 0.42, True)


def warm(bench):
    photos(bench)
    small(bench)
