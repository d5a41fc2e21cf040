# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents of a set of tokens, which programs map: warm, in random order."""
import os

import report
from bench_run import SHM
from epoch import unmount
from granaryfs import BARE, SHIELDED
from readers import agree


def prefix(contender):
    return os.path.join(contender.root, "set")


def tokens(bench):
    files = bench.data.get("tokens")
    size = files.sizes[0]
    row = bench.row("tokens", "tokens-warm", "warm, random, %d documents of %d bytes on average, "
                    "mapped" % (files.documents, size // files.documents),
                    "Python: numpy.memmap; 2 processes", "documents/s")

    def read(contender, number):
        found = bench.readers.python("tokens", prefix(contender), number, 2)
        agree(found, files.documents, size)
        return found["files"] / found["seconds"]

    def prepare(contender):
        contender.mount()
        for number in range(2):
            read(contender, number)
        return True
    contenders = [bench.shm(files)] + bench.granaries(files.tar) + bench.others(files, "tree")
    there = [contender for contender in contenders if bench.attempt(row, contender, prepare)]
    bench.turns(row, there, bench.settings.rounds, read)
    unmount(bench, row, there)
    for kind in (BARE, SHIELDED):
        report.target(row, "documents of tokens, mapped, warm, %s, of /dev/shm" % kind, kind, SHM,
                      ">=", 0.95, kind == SHIELDED)
