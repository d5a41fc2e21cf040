# SPDX-License-Identifier: GPL-3.0-or-later
"""PyTorch's own loaders over a warm data set."""
import os

import report
from bench_run import SHM
from epoch import Epoch, prepared, unmount
from granaryfs import SHIELDED
from readers import agree

RANKS = 4


def directory(bench, files, how):
    """An epoch of ImageFolder through a DataLoader of two workers."""
    def read(contender, number):
        found = bench.readers.python("directory", contender.root, number, 2, how)
        agree(found, len(files), files.bytes() if how == "bytes" else 0)
        return found["files"] / found["seconds"]
    return read


def images(bench):
    files = bench.data.get("jpegs")
    what = "ImageFolder, warm, %d real JPEGs of about 110 kB" % len(files)
    rows = [bench.row("loaders", "imagefolder-decode", what,
                      "DataLoader, 2 workers: PIL, RandomResizedCrop(224), ToTensor",
                      "images/s", chart="ImageFolder, 2 workers, decoding: images/s"),
            bench.row("loaders", "imagefolder-bytes", what,
                      "DataLoader, 2 workers: a loader that only reads", "images/s")]
    contenders = [bench.shm(files)] + bench.granaries(files.tar) + bench.others(files, "tree",
                                                                            "squashfs")
    there = prepared(bench, rows[0], contenders, Epoch(bench, files))
    for row, how in zip(rows, ("decode", "bytes")):
        bench.turns(row, there, bench.settings.loader_rounds, directory(bench, files, how))
    unmount(bench, rows[0], there)
    report.target(rows[0], "ImageFolder, 2 workers, decoding, shielded, of /dev/shm", SHIELDED,
                  SHM, ">=", 0.95, True)
    report.target(rows[1], "ImageFolder, 2 workers, only reading, shielded, of /dev/shm",
                  SHIELDED, SHM, ">=", 0.8, True)


def ranks(bench):
    files = bench.data.get("photos")
    workers = bench.settings.rank_workers
    row = bench.row("loaders", "ranks", "warm, %d files of 110 kB; every sample once, bytes "
                    "compared" % len(files), "%d DistributedSampler ranks (gloo) x %d workers"
                    % (RANKS, workers), "files/s")
    truth = os.path.join(bench.work.shm, "truth")
    with open(truth, "w", encoding="ascii") as out:
        for size, crc in zip(files.sizes, files.crcs):
            out.write("%d %d\n" % (size, crc))
    epoch = Epoch(bench, files)

    def read(contender, _):
        found = bench.readers.python("ranks", epoch.list(contender), truth, RANKS, workers)
        return epoch.rate(found, contender)
    contenders = [bench.shm(files)] + bench.granaries(files.tar)
    there = prepared(bench, row, contenders, epoch)
    bench.turns(row, there, bench.settings.cold_rounds, read)
    unmount(bench, row, there)
    report.target(row, "4 ranks x 8 workers, shielded, of /dev/shm", SHIELDED, SHM, ">=", 0.9,
                  True)


def loaders(bench):
    images(bench)
    ranks(bench)
