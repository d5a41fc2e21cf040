"""HDF5 in many layouts: rows with h5py, and as files of a mount."""
import os

import report
from bench_run import SWEEP
from contenders import Folder
from data_hdf5 import LAYOUTS, PLUGINS
from granaryfs import SHIELDED, Granaryfs
from readers import agree

H5PY = "h5py"
EPOCHS = 5   # a turn: one is over in a twentieth of a second


def paths_of(bench, contender):
    """A list of the files by their rows."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(contender.root)
             for name in names]
    path = os.path.join(bench.work.shm, "list")
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(name + "\n" for name in sorted(found, key=os.path.basename))
    return path


def check_rows(bench, rows, contender):
    """Every row once, and right."""
    if isinstance(contender, Granaryfs):
        found = bench.readers.python("files", paths_of(bench, contender), 0, 2, "check")
        agree(found, rows.count, rows.file_total, rows.file_checksum)
    else:
        found = bench.readers.python("rows", rows.path, rows.dataset, 0, 2, "check")
        agree(found, rows.count, rows.total, rows.checksum)


def read_rows(bench, rows, contender, seed):
    if isinstance(contender, Granaryfs):
        found = bench.readers.python("epochs", paths_of(bench, contender), seed, 2, EPOCHS)
        agree(found, EPOCHS * rows.count, EPOCHS * rows.file_total)
    else:
        found = bench.readers.python("row-epochs", rows.path, rows.dataset, seed, 2, EPOCHS)
        agree(found, EPOCHS * rows.count, EPOCHS * rows.total)
    return found["files"] / found["seconds"]


def load_rows(bench, rows, contender, seed):
    """A DataLoader of two workers: over h5py, or an ImageFolder that only reads."""
    if isinstance(contender, Granaryfs):
        found = bench.readers.python("folder", os.path.join(contender.root, "train"), seed, 2,
                                     "bytes")
    else:
        found = bench.readers.python("row-loader", rows.path, rows.dataset, seed, 2)
    agree(found, rows.count, rows.total)
    return found["files"] / found["seconds"]


def mounted(bench, row, rows):
    """Who can read it at all, each having read every row once and right."""
    def right(one):
        one.mount()
        check_rows(bench, rows, one)
        return True
    return [one for one in [Folder(H5PY, "")] + bench.granaries(rows.path, *SWEEP)
            if bench.attempt(row, one, right)]


def one_layout(bench, number, layout):
    rows = bench.data.hdf5(layout)
    what = "%d rows in one HDF5 file, %s; warm, random" % (rows.count, layout.name)
    first = number == 0
    row = bench.row("hdf5", "hdf5-%d" % number, what, "Python, 2 processes: h5py, or "
                    "open(path, 'rb').read()", "rows/s",
                    chart="HDF5, warm, random order, 2 processes in Python: rows/s"
                    if first else "")
    loaded = bench.row("hdf5", "hdf5-loader", what, "DataLoader, 2 workers: h5py, or "
                       "ImageFolder that only reads", "rows/s") if first else None
    there = mounted(bench, row, rows)
    bench.turns(row, there, bench.settings.loader_rounds,
                lambda contender, turn: read_rows(bench, rows, contender, turn))
    if loaded:
        bench.turns(loaded, there, bench.settings.loader_rounds,
                    lambda contender, turn: load_rows(bench, rows, contender, turn))
    for contender in there:
        bench.attempt(row, contender, lambda c: c.unmount() or True)
    if layout.least:
        report.target(row, "HDF5, %s: warm, random, Python, 2 processes, shielded, of h5py"
                      % layout.name, SHIELDED, H5PY, ">=", layout.least, True)


def hdf5(bench):
    os.environ.setdefault("HDF5_PLUGIN_PATH", PLUGINS)
    for number, layout in enumerate(LAYOUTS):
        one_layout(bench, number, layout)
