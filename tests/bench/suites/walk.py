# SPDX-License-Identifier: GPL-3.0-or-later
"""What walks a million files: find, find that asks for sizes, ImageFolder's constructor.

Of an archive of headers (sparse.py), and of the same tree in tmpfs. There is room for the
inodes, as in a job: where there is none, listings bring no attributes along, and each
file is asked for.
"""
import os
import time

import report
import sparse
from bench_run import SHM
from contenders import Folder
from granaryfs import BARE, SHIELDED
from work import Failed

WALKED = 1536       # bytes, for -size +1k
COUNT = 'find "$1" -type f %s | wc -l'


def in_memory(bench, count):
    """The same names and sizes as a tree in tmpfs."""
    root = os.path.join(bench.work.shm, "walked")
    folder = None
    for name in sparse.names(count, 1000):
        path = os.path.join(os.fsencode(root), name)
        if os.path.dirname(path) != folder:
            folder = os.path.dirname(path)
            os.makedirs(folder)
        with open(path, "wb") as file:
            file.truncate(WALKED)
    return Folder(SHM, root)


def walked(bench, operation, root, count):
    """Seconds of one walk that saw all of them."""
    if operation == "ImageFolder()":
        found = bench.readers.python("construct", root)
        seen, took = found["files"], found["seconds"]
    else:
        start = time.monotonic()
        text = bench.work.run(["bash", "-c", COUNT % operation.partition(" ")[2], "find", root],
                              900)
        seen, took = int(text), time.monotonic() - start
    if seen != count:
        raise Failed("%s saw %d files, not %d" % (operation, seen, count))
    return took


def walk(bench):
    count = bench.settings.scale_walked
    path = os.path.join(bench.work.dir, "walked.tar")
    sparse.write(path, count, 1000, WALKED)
    made = bench.granaries(path, "prefetch=off", "cache=50%") + [in_memory(bench, count)]
    for operation in ("find", "find -size +1k", "ImageFolder()"):
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
