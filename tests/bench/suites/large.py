# SPDX-License-Identifier: GPL-3.0-or-later
"""One large file, cold, throttled: np.load and cat against dd of the archive."""
import os

import report
from cgroups import DD, MIB
from contenders import Directory
from epoch import Epoch, verified
from granaryfs import BARE, SHIELDED
from machine import drop_caches
from readers import Wrong
from work import Failed

# a sweep would have read half of it before the reader has begun
WINDOW = ("prefetch=window", "cache=50%")
DD_TAR = "dd of the tar"   # as many of its bytes as the file has
HEAD = DD.replace("bs=1M", "bs=1M iflag=count_bytes count=$2")
# bash's own clock around cat
CAT = DD.replace('dd if="$1" of=/dev/null bs=1M status=none', 'cat "$1" >/dev/null')


def dd(bench, path, groups):
    size = bench.settings.large
    took = float(bench.work.run(["bash", "-c", HEAD, "dd", path, size], 600, groups))
    return size / took / MIB


def npz(bench, path, groups):
    found = bench.readers.python("npz", path, groups=groups)
    if found["bytes"] != bench.settings.large:
        raise Wrong("numpy got %d bytes, not %d" % (found["bytes"], bench.settings.large))
    return found["bytes"] / found["seconds"] / MIB


def cat(bench, path, groups):
    took = float(bench.work.run(["bash", "-c", CAT, "cat", path], 600, groups))
    return bench.settings.large / took / MIB


def cold_read(bench, contender, least, read):
    """The rate of `read` with everything but the mount cold."""
    storage = bench.storage(bench.data.get("large").tar)
    contender.mount([storage])
    try:
        drop_caches()
        before = storage.bytes_read()
        rate = read([storage])
        counted = storage.bytes_read() - before
    finally:
        contender.unmount()
    if counted < 0.9 * least:
        raise Failed("not throttled: %d MiB were counted" % (counted / MIB))
    return rate


def one_file(bench, name, reader, read):
    files = bench.data.get("large")
    row = bench.row("large", "large-" + name.rpartition(".")[2],
                    "one file of %d MB, cold, throttled" % (bench.settings.large // 10**6),
                    reader, "MiB/s")

    def once(contender, _):
        def inside(groups):
            if contender.name == DD_TAR:
                return dd(bench, files.tar, groups)
            return read(bench, os.path.join(contender.root, name), groups)
        return cold_read(bench, contender, bench.settings.large, inside)
    contenders = bench.granaries(files.tar, *WINDOW) + bench.others(files, "tree", "squashfs")
    there = [Directory(DD_TAR, "")] + verified(bench, row, contenders, Epoch(bench, files))
    # a round takes a second, of which the throttle lets a tenth begin early or late
    bench.turns(row, there, bench.settings.rounds, once)
    for kind in (BARE, SHIELDED):
        report.target(row, "150 MB by %s, cold, %s, of dd of the archive"
                      % (reader.partition(" ")[0], kind), kind, DD_TAR, ">=", 0.95,
                      kind == SHIELDED)


def large(bench):
    one_file(bench, "images.npz", "np.load of an NPZ", npz)
    one_file(bench, "images.bin", "cat", cat)
