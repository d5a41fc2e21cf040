# SPDX-License-Identifier: GPL-3.0-or-later
"""What `granary pack` and `verify` take, beside GNU tar, mksquashfs and cat.

Sources and what is packed lie in /dev/shm, so that no disk is measured; each contender
writes a new file, which is taken away again.
"""
import os
import time

import report
from bench_run import lacking
from cgroups import MIB
from contenders import Directory
from granaryfs import GRANARY
from work import Absent, read_through

TAR, PACK, PACK_INDEX = "GNU tar", "granary pack --no-index", "granary pack"
MKSQUASHFS = "mksquashfs"
CAT, VERIFY = "cat to /dev/null", "granary verify"
LEVELS = {"lz4": ("lz4", ()), "zstd": ("zstd:3", ("-Xcompression-level", "3")),
          "gzip": ("gzip:6", ("-Xcompression-level", "6"))}


def seconds(bench, argv, *outputs):
    start = time.monotonic()
    try:
        bench.work.run(argv, 1200)
        return time.monotonic() - start
    finally:
        for path in outputs:
            if os.path.exists(path):
                os.unlink(path)


def to_tar(bench, files):
    source, out = files.in_shm(), os.path.join(bench.work.shm, "packed.tar")
    row = bench.row("pack", "pack-tar", "%d files of 110 kB in memory to a tar" % len(files),
                    "the program", "MiB/s")
    programs = {TAR: ["tar", "--sort=name", "-C", source, "-cf", out, "."],
                PACK: [GRANARY, "pack", "-q", "--no-index", source, out],
                PACK_INDEX: [GRANARY, "pack", "-q", source, out]}

    def once(contender, _):
        return files.bytes() / MIB / seconds(bench, programs[contender.name], out,
                                             out + ".gidx")
    bench.turns(row, [Directory(TAR, ""), Directory(PACK, ""),
                      Directory(PACK_INDEX, "", "with an index and its checksums")],
                bench.settings.cold_rounds, once)
    report.target(row, "pack to tar, of GNU tar", PACK, TAR, ">=", 1)


def to_squashfs(bench, files, codec):
    source, out = files.in_shm(), os.path.join(bench.work.shm, "packed.sqfs")
    compress, level = LEVELS[codec]
    row = bench.row("pack", "pack-" + codec, "%d PPM in memory to squashfs, %s"
                    % (len(files), compress), "the program", "MiB/s")
    programs = {MKSQUASHFS: ["mksquashfs", source, out, "-comp", codec, *level,
                             "-noappend", "-no-progress", "-quiet"],
                PACK: [GRANARY, "pack", "-q", "--no-index", "--compress", compress, source,
                       out]}

    def once(contender, _):
        if contender.name == MKSQUASHFS and lacking([MKSQUASHFS]):
            raise Absent("without " + MKSQUASHFS)
        return files.bytes() / MIB / seconds(bench, programs[contender.name], out)
    bench.turns(row, [Directory(MKSQUASHFS, ""), Directory(PACK, "")], bench.settings.cold_rounds,
                once)
    report.target(row, "pack to squashfs, %s, of mksquashfs" % compress, PACK, MKSQUASHFS,
                  ">=", 0.9)


def verify(bench, files):
    row = bench.row("pack", "verify", "a tar of %d files of 110 kB in the page cache, "
                    "checksums in its index" % len(files), "the program", "MiB/s")
    bench.work.run([GRANARY, "index", "--force", "--checksums", files.tar], 1200)
    programs = {CAT: read_through(files.tar),
                VERIFY: [GRANARY, "verify", "-q", files.tar]}

    def once(contender, _):
        bench.work.run(read_through(files.tar))
        return files.bytes() / MIB / seconds(bench, programs[contender.name])
    bench.turns(row, [Directory(CAT, ""), Directory(VERIFY, "")], bench.settings.rounds, once)
    report.target(row, "verify, of cat to /dev/null", VERIFY, CAT, ">=", 0.5)


def packing(bench):
    files = bench.data.get("packed")
    to_tar(bench, files)
    verify(bench, files)
    for codec in LEVELS:
        to_squashfs(bench, bench.data.get("pictures"), codec)
