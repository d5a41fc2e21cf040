# SPDX-License-Identifier: GPL-3.0-or-later
"""What walks a million files: find, find and ls that ask for attributes, ImageFolder's
constructor.

Of an archive of headers (sparse.py), of the same tree in tmpfs, and of a FUSE daemon that
only gives names. There is room for the
inodes, as in a job: where there is none, listings bring no attributes along, and each
file is asked for.
"""
import os
import time

import report
import sparse
from bench_run import SHM
from contenders import EmptyFuse, Directory
from granaryfs import AUTO, BARE, EMPTY_FUSE, SHIELDED
from work import Failed

WALKED = 1536       # bytes, for -size +1k
EMPTY = "empty FUSE daemon"
COMMANDS = {"find": 'find "$1" -type f | wc -l',
            "find -size +1k": 'find "$1" -type f -size +1k | wc -l',
            "ls -lR": 'ls -lR "$1" | grep -c "^-"'}


def in_memory(bench, count):
    """The same names and sizes as a tree in tmpfs."""
    root = os.path.join(bench.work.shm, "walked")
    directory = None
    for name in sparse.names(count, 1000):
        path = os.path.join(os.fsencode(root), name)
        if os.path.dirname(path) != directory:
            directory = os.path.dirname(path)
            os.makedirs(directory)
        with open(path, "wb") as file:
            file.truncate(WALKED)
    return Directory(SHM, root)


def walked(bench, operation, root, count):
    """Seconds of one walk that saw all of them."""
    if operation == "ImageFolder()":
        found = bench.readers.python("construct", root)
        seen, took = found["files"], found["seconds"]
    else:
        start = time.monotonic()
        text = bench.work.run(["bash", "-c", COMMANDS[operation], "walk", root], 900)
        seen, took = int(text), time.monotonic() - start
    if seen != count:
        raise Failed("%s saw %d files, not %d" % (operation, seen, count))
    return took


def walk(bench):
    count = bench.settings.scale_walked
    path = os.path.join(bench.work.dir, "walked.tar")
    sparse.write(path, count, 1000, WALKED)
    made = bench.granaries(path, "prefetch=off", "cache=50%") + [
        bench.granaryfs(AUTO, path, "prefetch=off", "cache=50%"), in_memory(bench, count),
        EmptyFuse(bench.work, EMPTY, EMPTY_FUSE, count, 1000, WALKED)]
    for operation in (*COMMANDS, "ImageFolder()"):
        key = "walk-" + operation.replace(" ", "").replace("()", "").replace("+", "").lower()
        words = "%s over %s files" % (operation, "{:,}".format(count))
        first = bench.row("walk", key + "-first", words + ", fresh mount", operation,
                          "seconds", better="less")
        second = bench.row("walk", key + "-second", words + ", second time", operation,
                           "seconds", better="less")

        def once(contender, _):
            contender.mount()
            try:
                took = walked(bench, operation, contender.root, count)
                report.series_of(second, contender.name, contender.shield, contender.note)[
                    "values"].append(walked(bench, operation, contender.root, count))
                return took
            finally:
                contender.unmount()
        bench.turns(first, made, bench.settings.cold_rounds, once)
        for row, limit in ((first, 8), (second, 1.3)):
            for kind in (BARE, SHIELDED):
                report.target(row, "%s, %s, of /dev/shm" % (row["key"][5:], kind), kind, SHM,
                              "<=", limit, kind == SHIELDED)
        first_targets(first)


def first_targets(row):
    what = row["key"][5:]
    report.target(row, "%s, bare, of the empty daemon" % what, BARE, EMPTY, "<=", 1.15)
    report.target(row, "%s, shield=auto, of bare" % what, AUTO, BARE, "<=", 1.1)
    report.target(row, "%s, shielded, of bare" % what, SHIELDED, BARE, "<=", 1.5, True)
