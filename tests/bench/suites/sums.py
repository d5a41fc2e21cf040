# SPDX-License-Identifier: GPL-3.0-or-later
"""What the comparison with checksums costs: epochs that the kernel has nothing of, of
packed files that are in memory, so that nothing else is measured."""
import os
import time

from cgroups import MIB
from epoch import Epoch
from granaryfs import BARE, GRANARY
from readers import agree

ON, OFF = "granaryfs, compared", "granaryfs, not compared"
OPTIONS = ("prefetch=off", "cache=256M")
CAT = ["bash", "-c", 'cat "$1" >/dev/null', "cat"]
# as a database reads: of each block one page, and all of it has to be compared
RANDOM_READS = 4000
RANDOM = ["python3", "-c", """
import mmap, os, random, sys
fd, page = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4096)
places = random.Random(1)
for _ in range(%d):
    os.preadv(fd, [page], places.randrange(os.fstat(fd).st_size // 4096) * 4096)
""" % RANDOM_READS]


def contenders(bench, packed):
    bench.work.run([GRANARY, "index", "--force", "--checksums", packed], 1200)
    return [bench.granaryfs(BARE, packed, *OPTIONS, "checksums=" + word, name=name)
            for word, name in (("on", ON), ("off", OFF))]


def mounted(bench, contender, read):
    """The packed file in memory, and nothing of the mount."""
    bench.work.run(["cat", contender.packed], 600)
    contender.mount()
    try:
        return read()
    finally:
        contender.unmount()


def photos(bench):
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    row = bench.row("sums", "sums-photos", "an epoch of %d files of 110 kB, the tar in memory "
                    "and nothing in the kernel" % len(files),
                    "C: open, fstat, read to the end, close; 2 processes", "files/s")

    def once(contender, number):
        def read():
            found = bench.readers.c(epoch.list(contender), number, 2)
            agree(found, *epoch.expected(contender))
            return found["files"] / found["seconds"]
        return mounted(bench, contender, read)
    there = contenders(bench, files.tar)
    bench.turns(row, there, bench.settings.rounds, once)
    there[0].no_index()


def large(bench, key, reader, command, unit, amount):
    files = bench.data.get("large")
    row = bench.row("sums", key, "a file of %d MB, the tar in memory and nothing in the kernel"
                    % (bench.settings.large // 10**6), reader, unit)

    def once(contender, _):
        def read():
            begin = time.monotonic()
            bench.work.run([*command, os.path.join(contender.root, "images.bin")], 600)
            return amount / (time.monotonic() - begin)
        return mounted(bench, contender, read)
    there = contenders(bench, files.tar)
    bench.turns(row, there, bench.settings.rounds, once)
    there[0].no_index()


def sums(bench):
    photos(bench)
    large(bench, "sums-cat", "cat", CAT, "MiB/s", bench.settings.large / MIB)
    large(bench, "sums-random", "Python: 4 KiB at random places, O_DIRECT", RANDOM, "reads/s",
          RANDOM_READS)
