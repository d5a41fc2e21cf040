# SPDX-License-Identifier: GPL-3.0-or-later
"""LMDB, TFRecord and Parquet: the mount beside the libraries that read them in Python.

The suites run where they are named: `make bench BENCH='lmdb tfrecord parquet'
BENCHFLAGS='--environment DIRECTORY'`, a virtual environment with lmdb, tfrecord and pyarrow. Of
LMDB samples are read in random order by all; the two others are read by their libraries in order,
in pieces whose order is random, which is what they are made for.
"""
import os

import report
from granaryfs import BARE, SHIELDED
from rival_contenders import LMDB, PARQUET, TFRECORD, Rival, library
from suites.rivals import Runs, cold_epochs, data_of, measure

EXACT = "python-lmdb, readahead=False"
KINDS = {"bare": BARE, "shielded": SHIELDED}
TAR = "granaryfs, tar, shielded"


class Mounted(Rival):
    """Files that are called as the keys of pack_samples.py."""

    def lines(self, files, names):
        return [os.path.join(self.contender.root, "%08d.jpg" % place)
                for place in files.places(names)]


def libraries(runs, names):
    made = [library(runs.files, runs.environment, LMDB if name == EXACT else name)
            for name in names]
    for rival, name in zip(made, names):
        rival.contender = rival.make()
        if name == EXACT:
            rival.name = rival.contender.name = EXACT
            rival.kind = "lmdb-exact"
    return made


def mounted(bench, word, path):
    names = {"granaryfs, %s, %s" % (word, how): kind for how, kind in KINDS.items()}
    return [Mounted(name, None, contender=bench.granaryfs(kind, path, name=name))
            for name, kind in names.items()]


def warm_epochs(bench, row, runs, there, workers):
    measure(bench, row, there, lambda rival, number: runs.warm(rival, number, workers, "repeat"),
            bench.settings.rival_rounds)


def container(bench, key, word, names, workers):
    """Rows of one format: cold, and warm with so many processes."""
    runs = Runs(bench, bench.data.get("samples"))
    data = data_of(runs.files)
    others = libraries(runs, names)
    mounts = mounted(bench, word, others[0].path)
    tar = Rival(TAR, None, contender=bench.granaryfs(SHIELDED, runs.files.tar, name=TAR))
    there = [*mounts, tar, *others]
    cold = bench.row(key, key + "-cold", "first epoch of %s in %s, random, index present, %d "
                     "MiB/s and %d reads/s" % (data, word, bench.settings.mib,
                                               bench.settings.reads),
                     "Python, 2 processes; with the mount", "samples/s")
    memory = bench.row(key, key + "-memory", "the most memory in the first epoch",
                       "Pss_Anon + Pss_Shmem", "MB", better="less")
    for rival in there:
        bench.attempt(cold, rival.contender, runs.index)
    cold_epochs(bench, cold, memory, runs, there)
    for mount in mounts:
        for other in others if key == "lmdb" else []:
            report.target(cold, "cold %s, of %s" % (mount.name, other.name), mount.name,
                          other.name, ">=", 2)
        report.target(cold, "cold %s, of the same in a tar" % mount.name, mount.name, TAR,
                      ">=", 0.9)
    warm = [bench.row(key, "%s-warm-%d" % (key, n), "%s in %s, warm, random" % (data, word),
                      "Python, %d processes" % n, "samples/s") for n in workers]
    there = [rival for rival in there if bench.attempt(
        warm[0], rival.contender, lambda contender, rival=rival: runs.prepare(contender, rival))]
    for row, n in zip(warm, workers):
        warm_epochs(bench, row, runs, there, n)
    for rival in there:
        bench.attempt(warm[0], rival.contender, lambda contender: contender.unmount() or True)


def lmdb(bench):
    container(bench, "lmdb", "LMDB", [LMDB, EXACT], (2, 64))


def tfrecord(bench):
    container(bench, "tfrecord", "TFRecord", [TFRECORD], (2,))


def parquet(bench):
    container(bench, "parquet", "Parquet", [PARQUET], (2,))
