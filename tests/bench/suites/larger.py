# SPDX-License-Identifier: GPL-3.0-or-later
"""A data set of twice the budget: how much of an epoch comes from memory.

Reader and daemon are in one memory cgroup, which is a little larger than the budget,
and in the throttled one, which counts. Hits are what was not read from the storage.
"""
import report
from cgroups import MIB, Memory
from epoch import Epoch
from granaryfs import BARE, SHIELDED, Granaryfs
from machine import drop_caches
from readers import agree

EPOCHS = 3


def room_for(budget):
    """The group's limit: the budget, the readers, and what the daemon is itself."""
    return budget + max(64 * MIB, budget // 8)


class Epochs:
    """Three random epochs of one contender in a new group of its own."""

    def __init__(self, bench, files, budget):
        self.bench, self.files, self.budget = bench, files, budget
        self.epoch = Epoch(bench, files)
        self.own = None   # by the daemon's own account, as bytes read in the last epoch

    def __call__(self, contender, number):
        storage = self.bench.storage(self.files.tar)
        memory = Memory(self.bench.work, room_for(self.budget),
                        "memory-%d-%s" % (number, contender.name.replace(" ", "-")))
        drop_caches()
        try:
            contender.mount([storage, memory])
            for i in range(EPOCHS):
                counted = self.one(contender, number * EPOCHS + i, [storage, memory])
        finally:
            contender.unmount()
            memory.remove()
        return 1 - counted / self.files.bytes()

    def one(self, contender, seed, groups):
        before, own = groups[0].bytes_read(), own_reads(contender)
        found = self.bench.readers.c(self.epoch.list(contender), seed, 2, groups=groups)
        agree(found, *self.epoch.expected(contender))
        self.own = None if own is None else own_reads(contender) - own
        return groups[0].bytes_read() - before


def own_reads(contender):
    """source_read_bytes; None where the daemon does not count it."""
    if not isinstance(contender, Granaryfs):
        return None
    return contender.counters().get("source_read_bytes")


def larger(bench):
    files = bench.data.get("larger")
    budget = files.bytes() // 2
    what = ("third random epoch of %d MiB with a budget of %d MiB, a memory cgroup of %d MiB, "
            "throttled" % tuple(n / MIB for n in (files.bytes(), budget, room_for(budget))))
    rows = [bench.row("larger", "larger-storage", what, "C, 2 processes; hits as the storage "
                      "counts them", "of the bytes",
                      chart="Data set of twice the budget, third random epoch: hits"),
            bench.row("larger", "larger-own", what, "the same; hits as granaryfs counts them",
                      "of the bytes")]
    epochs = Epochs(bench, files, budget)

    def read(contender, number):
        hits = epochs(contender, number)
        if isinstance(contender, Granaryfs):
            found = report.series_of(rows[1], contender.name, contender.shield, contender.note)
            if epochs.own:
                found["values"].append(1 - epochs.own / files.bytes())
            else:
                found["absent"] = "source_read_bytes does not count yet"
        return hits
    options = ("prefetch=sweep", "cache=%dM" % (budget // MIB))
    contenders = bench.granaries(files.tar, *options) + bench.others(files, "tree")
    contenders += bench.others(files, "squashfs", "erofs", direct=True)
    bench.turns(rows[0], contenders, 1, read)
    for row, who in zip(rows, ("storage", "own count")):
        for kind in (BARE, SHIELDED):
            report.target(row, "twice the budget, third epoch, %s, %s, of budget/dataset"
                          % (kind, who), kind, None, ">=", 0.95, kind == SHIELDED,
                          scale=budget / files.bytes())
