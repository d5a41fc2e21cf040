"""ImageNet.h5 as JSC has it: rows of variable length, with h5py and as files."""
import os

import report
from bench_run import SWEEP
from contenders import Folder
from granaryfs import SHIELDED, Granaryfs
from readers import agree

H5PY = "h5py"


def paths_of(bench, contender):
    """A list of the files by their rows."""
    found = [os.path.join(folder, name) for folder, _, names in
             os.walk(os.path.join(contender.root, "train")) for name in names]
    path = os.path.join(bench.work.shm, "list")
    with open(path, "w", encoding="utf-8") as out:
        out.writelines(name + "\n" for name in sorted(found, key=os.path.basename))
    return path


def read_rows(bench, rows, contender, seed, check=()):
    if isinstance(contender, Granaryfs):
        found = bench.readers.python("files", paths_of(bench, contender), seed, 2, *check)
    else:
        found = bench.readers.python("rows", rows.path, seed, 2, *check)
    agree(found, rows.count, rows.total, rows.checksum if check else None)
    return found["files"] / found["seconds"]


def load_rows(bench, rows, contender, seed):
    """A DataLoader of two workers: over h5py, or an ImageFolder that only reads."""
    if isinstance(contender, Granaryfs):
        found = bench.readers.python("folder", os.path.join(contender.root, "train"), seed, 2,
                                     "bytes")
    else:
        found = bench.readers.python("row-loader", rows.path, seed, 2)
    agree(found, rows.count, rows.total)
    return found["files"] / found["seconds"]


def hdf5(bench):
    rows = bench.data.hdf5()
    what = "%d rows of 110 kB in one HDF5 file, warm, random" % rows.count
    plain = bench.row("hdf5", "hdf5-python2", what, "Python, 2 processes: h5py, or "
                      "open(path, 'rb').read()", "rows/s",
                      chart="HDF5, warm, random order, 2 processes in Python: rows/s")
    loaded = bench.row("hdf5", "hdf5-loader", what, "DataLoader, 2 workers: h5py, or ImageFolder "
                       "that only reads", "rows/s")
    there = []
    for contender in [Folder(H5PY, "")] + bench.granaries(rows.path, *SWEEP):
        def right(one):
            one.mount()
            return read_rows(bench, rows, one, 0, ["check"])
        if bench.attempt(plain, contender, right):
            there.append(contender)
    bench.turns(plain, there, bench.settings.loader_rounds,
                lambda contender, number: read_rows(bench, rows, contender, number))
    bench.turns(loaded, there, bench.settings.loader_rounds,
                lambda contender, number: load_rows(bench, rows, contender, number))
    for contender in there:
        bench.attempt(plain, contender, lambda c: c.unmount() or True)
    report.target(plain, "HDF5 rows, warm, random, Python, 2 processes, shielded, of h5py",
                  SHIELDED, H5PY, ">=", 5, True)
