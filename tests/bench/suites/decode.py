# SPDX-License-Identifier: GPL-3.0-or-later
"""Compressed files: what decoding costs, and what it saves."""
import os

import report
from bench_run import SQUASHFS, SQUASHFUSE, SWEEP
from contenders import Directory
from epoch import Epoch, verified
from granaryfs import BARE, SHIELDED
from readers import agree
from suites.cold import READER, throttled
from work import read_through

TAR, LZ4 = "granaryfs-bare, tar", "granaryfs-bare, lz4 squashfs"
CODECS = {"gzip": (), "zstd": ("-Xcompression-level", "6")}
DEFAULTS, OFF = "defaults", "prefetch=off"
CACHES = ("cache=64M", "cache=256M", "cache=1G", "cache=4G")


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
        return at_first(bench, contender, image, lambda c: epoch.c(2)(c, number))
    contenders = [bench.granaryfs(kind, image, *SWEEP) for kind in (BARE, SHIELDED)]
    contenders[0].index()
    contenders += [bench.squashfs(files, name), bench.squashfuse(files, name)]
    bench.turns(row, verified(bench, row, contenders, epoch), bench.settings.cold_rounds, read)
    report.target(row, "squashfs %s, fresh mount, 2 C processes, bare, of squashfuse_ll" % name,
                  BARE, "squashfuse_ll", ">=", 2)


def at_first(bench, contender, image, read):
    """With a mount of its own; the image is in the page cache."""
    bench.work.run(read_through(image))
    contender.mount()
    try:
        return read(contender)
    finally:
        contender.unmount()


def first_seconds(bench, key, what, files, ours, others=()):
    """A row of seconds: first epochs, each with a mount of its own, the packed file in the page
    cache, beside other programs (pairs of a name and what runs it)."""
    epoch, others = Epoch(bench, files), dict(others)
    row = bench.row(key[0], key[1], "%s, %d %s of %d kB, in the page cache, fresh mount, first "
                    "epoch, random" % (what, len(files), files.name, files.sizes[0] // 1000),
                    "C: open, fstat, read to the end, close; 2 processes", "seconds",
                    better="less")

    def once(contender, number):
        if contender.name in others:
            return others[contender.name]()
        return len(files) / at_first(bench, contender, contender.packed,
                                     lambda c: epoch.c(2)(c, number))
    there = verified(bench, row, ours, epoch) + [Directory(name, "") for name in others]
    bench.turns(row, there, bench.settings.cold_rounds, once)
    return row


def first_epoch(bench, name):
    """As a user mounts it: the first epoch is what a job on a node with one image sees."""
    files = bench.data.get("texts")
    epoch = Epoch(bench, files)
    image = files.squashfs(name)
    row = bench.row("decode", "decode-first-" + name, "squashfs %s of %d texts of %d kB, image "
                    "in the page cache, fresh mount, random"
                    % (name, len(files), files.sizes[0] // 1000),
                    "C: open, fstat, read to the end, close; 2 processes", "files/s",
                    chart="First epoch of texts in squashfs %s, 2 processes: files/s" % name)
    ours = [bench.granaryfs(BARE, image, name=DEFAULTS).index()]
    ours += [bench.granaryfs(BARE, image, word, name=word) for word in (OFF, *CACHES)]
    there = verified(bench, row, ours + [bench.squashfs(files, name),
                                         bench.squashfuse(files, name)], epoch)
    bench.turns(row, there, bench.settings.rounds, lambda contender, number: at_first(
        bench, contender, image, lambda c: epoch.c(2)(c, number)))
    for rival in (SQUASHFUSE, SQUASHFS):
        report.target(row, "squashfs %s, first epoch, defaults, 2 C processes, of %s"
                      % (name, rival), DEFAULTS, rival, ">=", 2.5)
    report.target(row, "squashfs %s, first epoch, defaults, of %s" % (name, OFF), DEFAULTS, OFF,
                  ">=", 0.97)
    for word in CACHES:
        report.target(row, "squashfs %s, first epoch, %s, of defaults" % (name, word), word,
                      DEFAULTS, ">=", 0.9)


def own_memory(bench, name):
    """What the daemon holds after that epoch, beyond the index; all has been listed."""
    files = bench.data.get("texts")
    epoch = Epoch(bench, files)
    image = files.squashfs(name)
    row = bench.row("decode", "decode-memory-" + name, "the daemon after an epoch, squashfs %s of "
                    "%d texts, all of them listed" % (name, len(files)),
                    "RssAnon + RssShmem - index", "MiB", better="less")

    def read(contender, number):
        def listed(mounted):
            bench.work.run(["find", mounted.root, "-size", "+1G"], 600)
            epoch.c(2)(mounted, number)
            return (mounted.memory() - os.path.getsize(image + ".gidx")) / 2**20
        return at_first(bench, contender, image, listed)
    contenders = [bench.granaryfs(BARE, image, name=DEFAULTS).index()]
    contenders += [bench.granaryfs(BARE, image, word, name=word) for word in CACHES]
    bench.turns(row, contenders, bench.settings.cold_rounds, read)
    for contender in contenders:
        report.target(row, "squashfs %s, the daemon after an epoch, %s, MiB"
                      % (name, contender.name), contender.name, None, "<=", 64)


def decode(bench):
    cold_pictures(bench)
    for name in CODECS:
        codec(bench, name)
        first_epoch(bench, name)
        own_memory(bench, name)
