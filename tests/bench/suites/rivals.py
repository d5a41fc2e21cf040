# SPDX-License-Identifier: GPL-3.0-or-later
"""The same samples through granaryfs and through everything that could be used instead.

Not one of the suites that run by default: `make bench-rivals` makes the environment that
it needs, and a page of its results.
"""
import os
import time

import report
from cgroups import MIB
from machine import drop_caches, load_programs
from readers import agree
from rival_contenders import UNPACKED, Environment, Ratarmount, rivals
from sample_reader import SampleReader, own_memory, processes_of
from suites.cold import PROGRAMS
from work import Failed

WORKERS = (1, 2, 4)
SLOWEST = 300    # seconds until a reader is ended
READS = "Python, %s: the bytes of a sample"


class Runs:
    """Runs of readers over one data set."""

    def __init__(self, bench, files):
        self.bench, self.files = bench, files
        self.environment = Environment(bench.environment)
        self.few = files.names[::max(1, len(files) // bench.settings.slow_files)]
        self.size_of = dict(zip(files.names, files.sizes))

    def reader(self, rival, names, seed, processes, seconds, *how):
        path = os.path.join(self.bench.work.shm, "list")
        with open(path, "w", encoding="utf-8") as out:
            out.writelines(line + "\n" for line in rival.lines(self.files, names))
        return SampleReader(self.bench.work, self.environment.python, [
            rival.kind, rival.path or "-", path, seed, processes, seconds, *how])

    def verify(self, rival):
        """Every byte, or some samples of those that are slow."""
        names = self.few if rival.slow else self.files.names
        with self.reader(rival, names, 0, 2, SLOWEST, "once", "check") as reader:
            reader.go()
            found = reader.result(SLOWEST)
        agree(found, len(names), sum(map(self.size_of.get, names)), self.files.checksum(names))

    def index(self, contender):
        """A mount leaves an index beside the packed file, whoever has one."""
        contender.mount()
        contender.unmount()
        return True

    def prepare(self, contender, rival):
        """Verified, mounted, and in memory as far as some seconds reach."""
        contender.mount()
        self.verify(rival)
        self.warm(rival, 0, 2, "once", seconds=self.bench.settings.rival_seconds * 2)
        return True

    def warm(self, rival, seed, processes, *how, seconds=None):
        """Samples a second of what is mounted."""
        seconds = seconds or self.bench.settings.rival_seconds
        with self.reader(rival, self.files.names, seed, processes, seconds, *how) as reader:
            start = time.monotonic()
            reader.go()
            found = reader.result(SLOWEST)
        if not found["files"]:
            raise Failed("no sample was read")
        return found["files"] / (found["ended"] - start)

    def cold(self, rival, names, seed, processes, seconds, *how):
        """(found, seconds, memory): nothing in memory, slow storage, with the mount."""
        contender, storage = rival.contender, self.bench.storage(self.files.tar)
        drop_caches()
        load_programs(*PROGRAMS, "archivemount", "losetup")
        if isinstance(contender, Ratarmount):
            self.environment.load(self.bench.work)
        peak = [0]
        with self.reader(rival, names, seed, processes, seconds, "once", *how) as reader:
            def poll():
                peak[0] = max(peak[0], own_memory(contender.processes() +
                                                  processes_of(reader.process.pid)))
            reader.enter([storage])
            before, start = storage.bytes_read(), time.monotonic()
            try:
                contender.mount([storage])
                reader.go()
                found = reader.result(SLOWEST, poll)
                counted = storage.bytes_read() - before
            finally:
                contender.unmount()
        if counted < 0.8 * found["bytes"]:
            raise Failed("not throttled: %d kB were counted, and %d kB read"
                         % (counted / 1000, found["bytes"] / 1000))
        return found, found["ended"] - start, peak[0]


def measure(bench, row, there, once, rounds):
    """Turns of contenders; `once` is told the rival and the round."""
    by_name = {rival.name: rival for rival in there}
    bench.turns(row, [rival.contender for rival in there], rounds,
                lambda contender, number: once(by_name[contender.name], number))


def available(bench, row, runs):
    """Those that can be made here; others are named in the row."""
    there = []
    for rival in rivals(bench, runs.files, runs.environment):
        missing = rival.without(runs.environment)
        if missing:
            report.series_of(row, rival.name)["absent"] = "without " + " ".join(missing)
            continue
        try:
            rival.contender = rival.make()
            rival.note = rival.contender.note
            there.append(rival)
        except Failed as error:
            report.series_of(row, rival.name)["failed"] = str(error)
    return there


def first_sample(bench, row, runs, there):
    def once(rival, number):
        names = [runs.files.names[number * 7919 % len(runs.files)]]
        rival.contender.no_index()
        # a stream ends with its first sample, since no time is left
        found, seconds, _ = runs.cold(rival, names, number, 1, 0)
        if found["files"] != 1:
            raise Failed("%d samples were read, not 1" % found["files"])
        return seconds * 1000
    measure(bench, row, there, once, bench.settings.rival_cold_rounds)


def cold_epochs(bench, row, memory, runs, there):
    count, limit = len(runs.files), bench.settings.rival_cold_seconds

    def once(rival, number):
        how = ["list=" + rival.contender.root] if rival.kind == "files" else []
        found, seconds, peak = runs.cold(rival, runs.files.names, number, 2, limit, *how)
        contender = rival.contender
        contender.note = rival.note
        if found["files"] < count:
            contender.note = "%d of %d samples, in %d s" % (found["files"], count, seconds)
        else:
            agree(found, count, runs.files.bytes())
        if rival.name == UNPACKED:
            peak += runs.files.bytes()
        report.series_of(memory, contender.name, contender.shield)["values"].append(peak / 1e6)
        return found["files"] / seconds
    measure(bench, row, there, once, bench.settings.rival_cold_rounds)
    for rival in there:
        rival.contender.note = rival.note


def warm_epochs(bench, rows, decoded, runs, there):
    def warm(*how):
        return lambda rival, number: runs.warm(rival, number, *how)
    rounds = bench.settings.rival_rounds
    mounted = [rival for rival in there if bench.attempt(
        rows[0], rival.contender, lambda contender, rival=rival: runs.prepare(contender, rival))]
    for row, workers in zip(rows, WORKERS):
        measure(bench, row, mounted, warm(workers, "repeat"), rounds)
    measure(bench, decoded, mounted, warm(2, "repeat", "decode"), rounds)
    for rival in mounted:
        bench.attempt(rows[0], rival.contender, lambda contender: contender.unmount() or True)


def data_of(files):
    return "%s JPEGs of %d kB" % ("{:,}".format(len(files)), files.bytes() / len(files) / 1000)


def suite_rows(bench, files):
    """[first, cold, memory, decode, warm...], as the page shows them."""
    settings = bench.settings
    data = data_of(files)
    slow = "{:,} MiB/s and {:,} reads/s".format(settings.mib, settings.reads)

    def row(key, what, reader, unit, chart, better="more"):
        return bench.row("rivals", "rivals-" + key, what, reader, unit, better, chart)
    return [
        row("first", "the first sample of %s, from the packed file alone: no index, nothing "
            "in memory, %s" % (data, slow), READS % "1 process", "ms",
            "From the packed file to the first sample: ms", "less"),
        row("cold", "first epoch of %s, random, index present, nothing in memory, %s"
            % (data, slow), READS % "2 processes" + "; with the mount, and a listing of all "
            "files where there are files", "samples/s",
            "First epoch from storage of %d MiB/s, 2 processes: samples/s" % settings.mib),
        row("memory", "the most memory that readers and daemon had of their own in the first "
            "epoch", "Pss_Anon + Pss_Shmem, and files in /dev/shm", "MB", "Memory in the first epoch, beside the page cache: MB", "less"),
        row("decode", "%s, warm, random" % data, READS % "2 processes" + ", decoded by Pillow "
            "and scaled to 224 x 224", "samples/s", "Warm, decoded, 2 processes: samples/s"),
        *[row("warm%d" % workers, "%s, warm, random" % data, READS % in_words(workers),
              "samples/s", "Warm, %s: samples/s" % in_words(workers)) for workers in WORKERS]]


def in_words(workers):
    return "1 process" if workers == 1 else "%d processes" % workers


def add_facts(bench, row, runs):
    """For the page: the data, what storage allows, and versions."""
    files = runs.files
    row["data"] = data_of(files)
    row["bound"] = bench.settings.mib * MIB * len(files) / files.bytes()
    row["versions"] = runs.environment.versions(bench.work)


def rivals_suite(bench):
    files = bench.data.get("samples")
    runs = Runs(bench, files)
    first, cold, memory, decoded, *warm = suite_rows(bench, files)
    add_facts(bench, cold, runs)
    there = available(bench, first, runs)
    first_sample(bench, first, runs, there)
    for rival in there:
        bench.attempt(cold, rival.contender, runs.index)
    cold_epochs(bench, cold, memory, runs, there)
    warm_epochs(bench, warm, decoded, runs, there)
