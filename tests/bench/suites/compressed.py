# SPDX-License-Identifier: GPL-3.0-or-later
"""Compressed tars beside the programs that unpack them: indexing, the first epoch, one file."""
import os
import time

import report
from bench_run import SWEEP
from contenders import Directory
from epoch import Epoch, verified
from granaryfs import BARE, GRANARY
from suites.decode import at_first, first_seconds
from work import read_through

INDEX, TEST, UNPACK = "granary index", "gzip -t", "gzip -dc >/dev/null"
GZIP, ZSTD = "granaryfs-bare, tar.gz", "granaryfs-bare, tar.zst"
TAR = "granaryfs-bare, tar"
ONE_FILE = 1 / 1500  # of the time for a file of
ONE_OF = 2e9         # bytes
MEMORY = 64          # MiB


def packed(files, suffix, command):
    return files.once("packed" + suffix, lambda path: files.work.run(
        ["sh", "-c", command + ' <"$1" >"$2"', "sh", files.tar, path], 1200), files.work.dir)


def seconds_of(bench, path, command):
    """The file is in the page cache."""
    bench.work.run(read_through(path))
    start = time.monotonic()
    bench.work.run(command, 1200)
    return time.monotonic() - start


def indexing(bench, kind, most):
    files = bench.data.get(kind)
    path = packed(files, ".tar.gz", "gzip")
    index = files.work.path("compressed.gidx")
    row = bench.row("compressed", "gzip-index-" + kind, "index of a tar.gz of %d %s of %d kB, in "
                    "the page cache" % (len(files), kind, files.sizes[0] // 1000),
                    "the command", "seconds", better="less")
    commands = {INDEX: [GRANARY, "index", "--quiet", "--force", "-o", "index=" + index, path],
                TEST: ["gzip", "-t", path]}

    def once(contender, _):
        if os.path.exists(index):
            os.unlink(index)
        return seconds_of(bench, path, commands[contender.name])
    bench.turns(row, [Directory(name, "") for name in commands], bench.settings.cold_rounds, once)
    report.target(row, "index of a tar.gz of %s, time of gzip -t" % kind, INDEX, TEST, "<=", most)


def first_epoch(bench):
    files = bench.data.get("photos")
    path = packed(files, ".tar.gz", "gzip")
    row = first_seconds(bench, ("compressed", "gzip-first"), "tar.gz", files,
                        [bench.granaryfs(BARE, path, *SWEEP, name=GZIP).index()],
                        [(UNPACK, lambda: seconds_of(bench, path, [
                            "sh", "-c", 'gzip -dc "$1" >/dev/null', "sh", path]))])
    report.target(row, "tar.gz, first epoch, 2 C processes, time of gzip -dc", GZIP, UNPACK, "<=",
                  0.45)


def frames_epoch(bench):
    files = bench.data.get("photos")
    path = packed(files, ".tar.zst", "pzstd -q")
    row = first_seconds(bench, ("compressed", "zstd-first"), "tar.zst of pzstd", files,
                        [bench.granaryfs(BARE, each, *SWEEP, name=name).index()
                         for each, name in ((path, ZSTD), (files.tar, TAR))])
    report.target(row, "tar.zst, first epoch, 2 C processes, time of the tar's", ZSTD, TAR, "<=",
                  1.3)


def one_file(bench):
    """Of JPEGs, which are no stored blocks. The archive's size makes no difference to the
    file's time, and gzip -t takes as much longer as the archive is larger."""
    files = bench.data.get("samples")
    epoch = Epoch(bench, files)
    path = packed(files, ".tar.gz", "gzip")
    size = os.path.getsize(path)
    row = bench.row("compressed", "gzip-one", "one JPEG of a tar.gz of %d MB, nothing decoded yet"
                    % (size // 1000000), "open, read to the end, close", "seconds",
                    better="less")

    def once(contender, number):
        if contender.name == TEST:
            return seconds_of(bench, path, ["gzip", "-t", path])
        return at_first(bench, contender, path, lambda c: read_one(epoch.list(c), number))
    ours = [bench.granaryfs(BARE, path, "prefetch=off", name=GZIP).index()]
    bench.turns(row, verified(bench, row, ours, epoch) + [Directory(TEST, "")],
                bench.settings.cold_rounds, once)
    report.target(row, "one file of a tar.gz, time of gzip -t, for one of 2 GB", GZIP, TEST, "<=",
                  ONE_FILE * ONE_OF / size)


def memory(bench):
    """Memory of the daemon after that epoch, beyond the index; all has been listed."""
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    row = bench.row("compressed", "memory", "the daemon after an epoch of %d files of %d kB, all of "
                    "them listed" % (len(files), files.sizes[0] // 1000),
                    "RssAnon + RssShmem - index", "MiB", better="less")
    contenders = [bench.granaryfs(BARE, packed(files, suffix, command), name=name).index()
                  for suffix, command, name in ((".tar.gz", "gzip", GZIP),
                                                (".tar.zst", "pzstd -q", ZSTD))]

    def once(contender, number):
        def listed(mounted):
            bench.work.run(["find", mounted.root, "-size", "+1G"], 600)
            epoch.c(2)(mounted, number)
            return (mounted.memory() - os.path.getsize(mounted.packed + ".gidx")) / 2**20
        return at_first(bench, contender, contender.packed, listed)
    bench.turns(row, contenders, bench.settings.cold_rounds, once)
    for contender in contenders:
        report.target(row, "the daemon after an epoch, %s, MiB" % contender.name, contender.name,
                      None, "<=", MEMORY)


def read_one(listed, number):
    """The path is looked up before: it takes no byte of the archive."""
    with open(listed, encoding="utf-8") as names:
        paths = names.read().splitlines()
    path = paths[(number * 7919 + 1234) % len(paths)]
    os.stat(path)
    start = time.monotonic()
    with open(path, "rb") as file:
        file.read()
    return time.monotonic() - start


def compressed(bench):
    indexing(bench, "photos", 0.9)
    indexing(bench, "texts", 1.2)
    first_epoch(bench)
    frames_epoch(bench)
    one_file(bench)
    memory(bench)
