# SPDX-License-Identifier: GPL-3.0-or-later
"""Epochs through one data set in random order, and what they have to give."""
import report
from bench_run import ARCHIVEMOUNT
from granaryfs import Granaryfs, requests
from readers import agree


class Epoch:
    """One data set, and epochs through it in random order; their requests counted."""

    def __init__(self, bench, files):
        self.bench, self.files = bench, files
        slow = bench.settings.slow_files
        self.few = files.names[::max(1, len(files) // slow)][:slow]
        self.size_of = dict(zip(files.names, files.sizes))

    def names(self, contender):
        """All, or what the slowest can do in time."""
        return self.few if contender.name == ARCHIVEMOUNT else self.files.names

    def list(self, contender):
        return self.files.list(contender.root, self.names(contender))

    def expected(self, contender):
        names = self.names(contender)
        return len(names), sum(self.size_of[name] for name in names)

    def verify(self, contender):
        """Mounted, and every byte compared."""
        contender.mount()
        found = self.bench.readers.python("files", self.list(contender), 0, 2, "check")
        agree(found, *self.expected(contender), self.files.checksum(self.names(contender)))
        return True

    def prepare(self, contender):
        """Verified, and in memory."""
        self.verify(contender)
        for _ in range(2):
            self.c(2)(contender, 0)
        return True

    def rate(self, found, contender):
        agree(found, *self.expected(contender))
        return found["files"] / found["seconds"]

    def c(self, processes):
        def read(contender, number):
            found = self.bench.readers.c(self.list(contender), number, processes)
            return self.rate(found, contender)
        return read

    def python(self, processes, how="files"):
        def read(contender, number):
            found = self.bench.readers.python(how, self.list(contender), number, processes)
            return self.rate(found, contender)
        return read

    def counting(self, row, read):
        """read, and the requests that it caused as a value of `row`."""
        def counted(contender, number):
            if not isinstance(contender, Granaryfs):
                return read(contender, number)
            before = requests(contender.counters())
            value = read(contender, number)
            report.series_of(row, contender.name, contender.shield, contender.note)[
                "values"].append(requests(contender.counters()) - before)
            return value
        return counted


def prepared(bench, row, contenders, epoch):
    """Those that could be mounted and gave the right bytes; they stay mounted."""
    return [contender for contender in contenders
            if bench.attempt(row, contender, epoch.prepare)]


def verified(bench, row, contenders, epoch):
    """Those that gave the right bytes; none is mounted any more."""
    def once(contender):
        epoch.verify(contender)
        contender.unmount()
        return True
    return [c for c in contenders if bench.attempt(row, c, once)]


def unmount(bench, row, contenders):
    for contender in contenders:
        bench.attempt(row, contender, lambda c: c.unmount() or True)
