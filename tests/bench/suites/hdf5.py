# SPDX-License-Identifier: GPL-3.0-or-later
"""HDF5 in many layouts: rows with h5py, and as files of a mount and of /dev/shm.

The same files in /dev/shm show what a reader can do at all: beside them it is seen
whether the mount bounds it, or its own open and read. The first layout is read from
slow storage, too, as the first epoch of a job is.
"""
import os
import shutil

import report
from bench_run import SHM, SWEEP
from contenders import Directory
from data_hdf5 import LAYOUTS
from granaryfs import BARE, SHIELDED
from readers import agree
from suites.cold import throttled
from work import read_through

H5PY = "h5py"
EPOCHS = 5   # a turn: one is over in a twentieth of a second


def paths_of(bench, rows, contender, times=1):
    """A list of the files by their rows; of some epochs, that many times."""
    found = [os.path.join(directory, name) for directory, _, names in os.walk(contender.root)
             for name in names]
    path = os.path.join(bench.work.shm, "list")
    with open(path, "w", encoding="utf-8") as out:
        for _ in range(times):
            out.writelines(name + "\n" for name in sorted(found, key=rows.order))
    return path


def check_rows(bench, rows, contender):
    """Every row once, and right."""
    if contender.name == H5PY:
        found = bench.readers.python("rows", rows.path, rows.dataset, 0, 2, "check")
        agree(found, rows.count, rows.total, rows.checksum)
    else:
        found = bench.readers.python("files", paths_of(bench, rows, contender), 0, 2, "check")
        agree(found, rows.count, rows.file_total, rows.file_checksum)


def by_python(bench, rows, contender, seed, labels=""):
    if contender.name == H5PY:
        found = bench.readers.python("row-epochs", rows.path, rows.dataset, seed, 2, EPOCHS,
                                     labels)
        agree(found, EPOCHS * rows.count, EPOCHS * rows.total)
    else:
        found = bench.readers.python("epochs", paths_of(bench, rows, contender), seed, 2, EPOCHS)
        agree(found, EPOCHS * rows.count, EPOCHS * rows.file_total)
    return found["files"] / found["seconds"]


def by_samples(bench, rows, contender, seed):
    """A row and its label, as the courses' classes read them; a path has its label."""
    return by_python(bench, rows, contender, seed, rows.labels)


def by_c(bench, rows, contender, seed):
    """h5py is Python as it is: who reads HDF5 from C takes its lock, too."""
    if contender.name == H5PY:
        return by_python(bench, rows, contender, seed)
    found = bench.readers.c(paths_of(bench, rows, contender, EPOCHS), seed, 2)
    agree(found, EPOCHS * rows.count, EPOCHS * rows.file_total)
    return found["files"] / found["seconds"]


def by_loader(bench, rows, contender, seed):
    """A DataLoader of two workers: over h5py, or an ImageFolder that only reads."""
    if contender.name == H5PY:
        found = bench.readers.python("row-loader", rows.path, rows.dataset, seed, 2)
    else:
        found = bench.readers.python("directory", os.path.join(contender.root, "train"), seed, 2,
                                     "bytes")
    agree(found, rows.count, rows.total)
    return found["files"] / found["seconds"]


def mounted(bench, row, rows):
    """Who can read it at all, each having read every row once and right."""
    copy = Directory(SHM, os.path.join(bench.work.shm, "rows"))

    def right(one):
        one.mount()
        check_rows(bench, rows, one)
        return True
    there = [one for one in [Directory(H5PY, "")] + bench.granaries(rows.path, *SWEEP)
             if bench.attempt(row, one, right)]
    if there and there[-1].name != H5PY:
        shutil.copytree(there[-1].root, copy.root)
        there += [copy] if bench.attempt(row, copy, right) else []
    return there


def unmounted(bench, row, there):
    for contender in there:
        bench.attempt(row, contender, lambda c: c.unmount() or True)
        if contender.name == SHM:
            shutil.rmtree(contender.root)


READS = (("", by_python, "Python, 2 processes: h5py, or open(path, 'rb').read()",
          "Python, 2 processes"),
         ("-labels", by_samples, "Python, 2 processes: h5py, the row and its label, or "
          "open(path, 'rb').read(), the label being the directory",
          "with labels, Python, 2 processes"),
         ("-c", by_c, "2 processes: h5py, or C: open, fstat, read to the end, close",
          "C, 2 processes"))


def cold_epoch(bench, layout, rows):
    row = bench.row("hdf5", "hdf5-cold", "%d rows in one HDF5 file, %s; first epoch, random, "
                    "%d MiB/s and %d reads/s; index present"
                    % (rows.count, layout.name, bench.settings.mib, bench.settings.reads),
                    READS[0][2], "rows/s, mounting included")
    lists = {}

    def right(one):
        one.mount()
        check_rows(bench, rows, one)
        lists[one.name] = shutil.copy(paths_of(bench, rows, one),
                                      os.path.join(bench.work.shm, "list-" + one.word))
        one.unmount()
        return True

    def read(contender, seed):
        def once(groups):
            if contender.name == H5PY:
                found = bench.readers.python("rows", rows.path, rows.dataset, seed, 2,
                                             groups=groups)
                agree(found, rows.count, rows.total)
            else:
                found = bench.readers.python("files", lists[contender.name], seed, 2,
                                             groups=groups)
                agree(found, rows.count, rows.file_total)
        return rows.count / throttled(bench, contender, os.path.getsize(rows.path), once)[0]
    there = [Directory(H5PY, "")] + [one for one in bench.granaries(rows.path)
                                  if bench.attempt(row, one, right)]
    bench.turns(row, there, bench.settings.cold_rounds, read)


def first_epoch(bench, number, layout, rows):
    """As a user mounts it, and after its loader has listed it; the file is in the page
    cache, and nothing of it is decoded."""
    row = bench.row("hdf5", "hdf5-first-%d" % number, "%d rows in one HDF5 file, %s; first epoch, "
                    "random, file in the page cache" % (rows.count, layout.name), READS[0][2],
                    "rows/s")

    def read(contender, seed):
        bench.work.run(read_through(rows.path))
        contender.mount()
        try:
            if contender.name == H5PY:
                found = bench.readers.python("rows", rows.path, rows.dataset, seed, 2)
                agree(found, rows.count, rows.total)
            else:
                found = bench.readers.python("files", paths_of(bench, rows, contender), seed, 2)
                agree(found, rows.count, rows.file_total)
        finally:
            contender.unmount()
        return found["files"] / found["seconds"]
    defaults = bench.granaryfs(BARE, rows.path)
    bench.turns(row, [Directory(H5PY, ""), defaults], bench.settings.cold_rounds, read)
    report.target(row, "HDF5, %s: first epoch, defaults, Python, 2 processes, of h5py"
                  % layout.name, BARE, H5PY, ">=", 2)


def one_layout(bench, number, layout):
    rows = bench.data.hdf5(layout)
    what = "%d rows in one HDF5 file, %s; warm, random" % (rows.count, layout.name)
    first = number == 0
    chart = "HDF5, warm, random order, 2 processes in Python: rows/s" if first else ""
    reads = [one for one in READS if rows.labels or one[1] is not by_samples]
    made = [bench.row("hdf5", "hdf5-%d%s" % (number, key), what, reader, "rows/s",
                      chart="" if key else chart) for key, _, reader, _ in reads]
    there = mounted(bench, made[0], rows)
    for row, (_, read, _, said) in zip(made, reads):
        bench.turns(row, there, bench.settings.loader_rounds,
                    lambda contender, turn, read=read: read(bench, rows, contender, turn))
        if layout.least:
            report.target(row, "HDF5, %s: warm, random, %s, shielded, of h5py"
                          % (layout.name, said), SHIELDED, H5PY, ">=", layout.least, True)
    if first:
        loaded = bench.row("hdf5", "hdf5-loader", what, "DataLoader, 2 workers: h5py, or "
                           "ImageFolder that only reads", "rows/s")
        bench.turns(loaded, there, bench.settings.loader_rounds,
                    lambda contender, turn: by_loader(bench, rows, contender, turn))
    unmounted(bench, made[0], there)
    if first:
        cold_epoch(bench, layout, rows)
    if layout.options.get("compression") == "gzip":
        first_epoch(bench, number, layout, rows)


def hdf5(bench):
    for number, layout in enumerate(LAYOUTS):
        one_layout(bench, number, layout)
