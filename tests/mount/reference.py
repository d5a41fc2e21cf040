# SPDX-License-Identifier: GPL-3.0-or-later
"""What other readers make of packed files: unsquashfs and h5py.

A class for each kind of packed file says what is in it ({path: bytes}), where
its superblock has fields, which regions hold file data, and how to read a
damaged copy: `read` gives {path: bytes or None}, or None if all of it fails.
Readers may crash, so they run in processes of their own.
"""
import os
import pickle
import resource
import shutil
import signal
import subprocess
import tempfile

import h5py
import numpy as np

import h5_tree

SECONDS = 20
ADDRESS_SPACE = 4 << 30


def directory_files(root):
    """{relative path: bytes} of all regular files."""
    found = {}
    root = os.fsencode(root)
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, root)] = file.read()
    return found


class Packed:
    def __init__(self, path):
        self.name = os.path.basename(path)
        with open(path, "rb") as file:
            self.data = file.read()


# ---- squashfs --------------------------------------------------------------

class Squashfs(Packed):
    reader = "unsquashfs"
    superblock = [(at, 4) for at in (0, 4, 8, 12, 16)] + \
        [(at, 2) for at in (20, 22, 24, 26, 28, 30)] + \
        [(at, 8) for at in range(32, 96, 8)]

    def __init__(self, path, tree):
        super().__init__(path)
        self.files = directory_files(tree)
        inodes = int.from_bytes(self.data[64:72], "little")
        self.regions = [(96, inodes)]

    def read(self, path):
        directory = tempfile.mkdtemp(dir=os.path.dirname(path))
        try:
            done = subprocess.run(
                ["unsquashfs", "-n", "-q", "-p", "1", "-no-xattrs", "-d", directory + "/tree",
                 path], capture_output=True, timeout=SECONDS, check=False)
            if done.returncode not in (0, 2):
                return None
            return directory_files(directory + "/tree")
        except subprocess.TimeoutExpired:
            return None
        finally:
            shutil.rmtree(directory, ignore_errors=True)


# ---- HDF5 ------------------------------------------------------------------

OLD_SUPERBLOCK = [(0, 8)] + [(at, 1) for at in range(8, 16)] + \
    [(16, 2), (18, 2), (20, 4)] + [(at, 8) for at in (24, 32, 40, 48, 56, 64)] + \
    [(72, 4), (76, 4), (80, 8), (88, 8)]
NEW_SUPERBLOCK = [(0, 8)] + [(at, 1) for at in range(8, 12)] + \
    [(at, 8) for at in (12, 20, 28, 36)] + [(44, 4)]


def in_a_fork(function, path):
    """What function(path) returns, or None if it fails, crashes or hangs."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        run_child(function, path, writer)
    os.close(writer)
    with open(reader, "rb") as results:
        data = results.read()
    _, status = os.waitpid(pid, 0)
    return pickle.loads(data) if status == 0 else None


def run_child(function, path, writer):
    status = 1
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(SECONDS)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open(writer, "wb") as out:
            pickle.dump(function(path), out)
        status = 0
    finally:
        os._exit(status)  # whatever it was, it stays in this process


def bytes_or_none(dataset):
    try:
        return h5_tree.dataset_bytes(dataset)
    except Exception:
        return None


def walk_tree(group, path, found):
    for name in group.id:
        try:
            child = group[name]
        except Exception:
            continue
        if isinstance(child, h5py.Group):
            walk_tree(child, os.path.join(path, name), found)
        elif isinstance(child, h5py.Dataset):
            found[os.path.join(path, name)] = bytes_or_none(child)


def read_tree(path):
    found = {}
    with h5py.File(path, "r") as file:
        walk_tree(file["/"], b"", found)
    return found


def row_bytes(images, row):
    try:
        return images[row].tobytes()
    except Exception:
        return None


def read_rows(path):
    """The files that the view makes of /SPLIT/images and /SPLIT/targets."""
    with h5py.File(path, "r") as file:
        splits = {s: (file[s]["images"], file[s]["targets"][:]) for s in file}
        digits = len(str(max(t.max() for _, t in splits.values())))
        wide = len(str(max(len(t) for _, t in splits.values()) - 1))
        return {b"%s/%0*d/%0*d.jpg" % (s.encode(), digits, targets[row], wide, row):
                row_bytes(images, row)
                for s, (images, targets) in splits.items()
                for row in range(len(targets))}


def data_regions(path):
    """Where the bytes of datasets are; not those of targets, which are labels."""
    regions = []

    def visit(name, dataset):
        if not isinstance(dataset, h5py.Dataset) or name.endswith("targets"):
            return
        if dataset.chunks:
            for i in range(dataset.id.get_num_chunks()):
                chunk = dataset.id.get_chunk_info(i)
                regions.append((chunk.byte_offset, chunk.byte_offset + chunk.size))
        elif dataset.id.get_offset() and not h5py.check_vlen_dtype(dataset.dtype):
            start = dataset.id.get_offset()
            regions.append((start, start + dataset.id.get_storage_size()))

    with h5py.File(path, "r") as file:
        file.visititems(visit)
    return regions


class Hdf5(Packed):
    reader = "h5py"

    def __init__(self, path, tree):
        super().__init__(path)
        self.files = directory_files(tree) if tree else self.read(path)
        self.regions = data_regions(path)
        self.superblock = OLD_SUPERBLOCK if self.data[8] < 2 else NEW_SUPERBLOCK

    def read(self, path):
        return in_a_fork(read_tree, path)


class Rows(Hdf5):
    """What make-jsc-h5 writes: the rows lie in heaps, after 32 bytes of headers."""

    def __init__(self, path, tree):
        super().__init__(path, tree)
        places = [(self.data.find(data), len(data))
                  for data in self.files.values() if data]
        self.regions = [(at, at + length) for at, length in places]

    def read(self, path):
        return in_a_fork(read_rows, path)


KINDS = {"squashfs": Squashfs, "hdf5": Hdf5, "rows": Rows}
