# SPDX-License-Identifier: GPL-3.0-or-later
"""LMDB: the mount beside PyPI's lmdb, whose readahead is on and off.

The suite runs where it is named: `make bench BENCH=lmdb BENCHFLAGS='--environment DIRECTORY'`, a
virtual environment with lmdb.
"""
import os

import report
from granaryfs import BARE, SHIELDED
from rival_contenders import LMDB, Rival, library
from suites.rivals import Runs, cold_epochs, data_of, measure

EXACT = "python-lmdb, readahead=False"
MOUNTS = {"granaryfs, LMDB, bare": BARE, "granaryfs, LMDB, shielded": SHIELDED}
TAR = "granaryfs, tar, shielded"
WORKERS = (2, 64)


class Mounted(Rival):
    """Files that are called as the keys of pack_samples.py."""

    def lines(self, files, names):
        return [os.path.join(self.contender.root, "%08d.jpg" % place)
                for place in files.places(names)]


def contenders(bench, runs):
    plain = library(runs.files, runs.environment, LMDB)
    plain.contender = plain.make()
    exact = library(runs.files, runs.environment, LMDB)
    exact.contender = exact.make()
    exact.name = exact.contender.name = EXACT
    exact.kind = "lmdb-exact"
    mounts = [Mounted(name, None, contender=bench.granaryfs(kind, plain.path, name=name))
              for name, kind in MOUNTS.items()]
    tar = Rival(TAR, None, contender=bench.granaryfs(SHIELDED, runs.files.tar, name=TAR))
    return [*mounts, tar, plain, exact]


def warm_epochs(bench, row, runs, there, workers):
    measure(bench, row, there, lambda rival, number: runs.warm(rival, number, workers, "repeat"),
            bench.settings.rival_rounds)


def lmdb(bench):
    runs = Runs(bench, bench.data.get("samples"))
    data = data_of(runs.files)
    there = contenders(bench, runs)
    cold = bench.row("lmdb", "lmdb-cold", "first epoch of %s in LMDB, random, index present, %d "
                     "MiB/s and %d reads/s" % (data, bench.settings.mib, bench.settings.reads),
                     "Python, 2 processes; with the mount", "samples/s")
    memory = bench.row("lmdb", "lmdb-memory", "the most memory in the first epoch",
                       "Pss_Anon + Pss_Shmem", "MB", better="less")
    for rival in there:
        bench.attempt(cold, rival.contender, runs.index)
    cold_epochs(bench, cold, memory, runs, there)
    for name in MOUNTS:
        report.target(cold, "cold LMDB, %s, of python-lmdb" % name, name, LMDB, ">=", 2)
        report.target(cold, "cold LMDB, %s, of python-lmdb without readahead" % name, name, EXACT,
                      ">=", 2)
    first = bench.row("lmdb", "lmdb-warm-2", "%s in LMDB, warm, random" % data,
                      "Python, 2 processes", "samples/s")
    there = [rival for rival in there if bench.attempt(
        first, rival.contender, lambda contender, rival=rival: runs.prepare(contender, rival))]
    warm_epochs(bench, first, runs, there, WORKERS[0])
    many = bench.row("lmdb", "lmdb-warm-64", "%s in LMDB, warm, random" % data,
                     "Python, 64 processes", "samples/s")
    warm_epochs(bench, many, runs, there, WORKERS[1])
    for rival in there:
        bench.attempt(first, rival.contender, lambda contender: contender.unmount() or True)
