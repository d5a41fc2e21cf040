# SPDX-License-Identifier: GPL-3.0-or-later
"""Compressed files: what decoding costs, and what it saves."""
import os

import report
from bench_run import SWEEP
from epoch import Epoch, verified
from granaryfs import BARE, SHIELDED
from readers import agree
from suites.cold import READER, throttled
from work import read_through

TAR, LZ4 = "granaryfs-bare, tar", "granaryfs-bare, lz4 squashfs"
CODECS = {"gzip": (), "zstd": ("-Xcompression-level", "6")}


def cold_pictures(bench):
    files = bench.data.get("pictures")
    epoch = Epoch(bench, files)
    image = files.squashfs("lz4")
    ratio = os.path.getsize(files.tar) / os.path.getsize(image)
    row = bench.row("decode", "decode-cold", "first epoch, random, %d PPM of %d kB, which lz4 "
                    "makes %.1f times smaller; throttled"
                    % (len(files), files.sizes[0] // 1000, ratio),
                    READER.replace("seconds with", "files/s with"), "files/s",
                    chart="First epoch of PPM pictures from slow storage, random order:"
                    " files/s")

    def read(contender, number):
        def once(groups):
            found = bench.readers.c(epoch.list(contender), number, 2, groups=groups)
            agree(found, *epoch.expected(contender))
        least = files.bytes() if contender.name == TAR else os.path.getsize(image)
        return len(files) / throttled(bench, contender, 0.8 * least, once)[0]
    contenders = [bench.granaryfs(BARE, files.tar, *SWEEP, name=TAR).index(),
                  bench.granaryfs(BARE, image, *SWEEP, name=LZ4).index()]
    contenders += bench.others(files, "squashfs", "squashfuse", "tree")
    bench.turns(row, verified(bench, row, contenders, epoch), bench.settings.cold_rounds, read)
    report.target(row, "cold PPM epoch, lz4 squashfs against tar: rate ratio / size ratio", LZ4,
                  TAR, ">=", 0.8, scale=ratio)
    report.target(row, "cold PPM epoch, lz4 squashfs against tar: rate", LZ4, TAR, ">=", 1)


def codec(bench, name):
    """The image is in the page cache, nothing decoded is: what the decoders do."""
    files = bench.data.get("pictures")
    epoch = Epoch(bench, files)
    image = files.squashfs(name, *CODECS[name])
    row = bench.row("decode", "decode-" + name, "squashfs %s of %d PPM, image in the page cache, "
                    "fresh mount, random" % (name, len(files)),
                    "C: open, fstat, read to the end, close; 2 processes", "files/s")

    def read(contender, number):
        bench.work.run(read_through(image))
        contender.mount()
        try:
            return epoch.c(2)(contender, number)
        finally:
            contender.unmount()
    contenders = [bench.granaryfs(kind, image, *SWEEP) for kind in (BARE, SHIELDED)]
    contenders[0].index()
    contenders += [bench.squashfs(files, name), bench.squashfuse(files, name)]
    bench.turns(row, verified(bench, row, contenders, epoch), bench.settings.cold_rounds, read)
    report.target(row, "squashfs %s, fresh mount, 2 C processes, bare, of squashfuse_ll" % name,
                  BARE, "squashfuse_ll", ">=", 2)


def decode(bench):
    cold_pictures(bench)
    for name in CODECS:
        codec(bench, name)
