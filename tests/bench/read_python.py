#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers in Python, as loaders read. Prints {files, bytes, checksum, seconds}.

Usage: read_python.py files LIST SEED PROCESSES [check]     open(path, "rb").read()
       read_python.py raw LIST SEED PROCESSES [check]       the same, buffering=0
       read_python.py epochs LIST SEED PROCESSES EPOCHS     the same, several times
       read_python.py rows FILE DATASET SEED PROCESSES [check]   h5py
       read_python.py row-epochs FILE DATASET SEED PROCESSES EPOCHS [LABELS]
                                                            with the label of each
       read_python.py row-loader FILE DATASET SEED WORKERS       h5py in a DataLoader
       read_python.py directory ROOT SEED WORKERS decode|bytes ImageFolder in a DataLoader
       read_python.py construct ROOT                        ImageFolder itself
       read_python.py stream TAR EPOCHS [check]             tarfile, as WebDataset does
       read_python.py npz PATH                              numpy.load
       read_python.py tokens PREFIX SEED PROCESSES [check]  documents of a Megatron set, mapped
       read_python.py ranks LIST TRUTH RANKS WORKERS        DistributedSampler

What is imported is not measured, nor are processes that begin: they wait for each
other first.
"""
import json
import multiprocessing
import queue
import random
import sys
import time
import zlib

from data import MASK, mixed

forked = multiprocessing.get_context("fork")


def share(process, items, read, check, gate, out):
    """One process' files: (index, what) pairs."""
    files = size = checksum = 0
    gate.wait()
    for index, item in items:
        content = read(item)
        files += 1
        size += len(content)
        if check:
            checksum += mixed(index, zlib.crc32(content))
    out.put((process, files, size, checksum & MASK))


def in_processes(items, seed, processes, opener, check):
    """Each takes every PROCESSES-th of the shuffled items."""
    items = list(enumerate(items))
    random.Random(seed).shuffle(items)
    gate, out = forked.Barrier(processes + 1), forked.Queue()

    def child(process):
        share(process, items[process::processes], opener(), check, gate, out)
    children = [forked.Process(target=child, args=(i,), daemon=True)
                for i in range(processes)]
    for process in children:
        process.start()
    gate.wait(60)
    start = time.monotonic()
    found = [next_of(out, children) for _ in children]
    seconds = time.monotonic() - start
    return {"files": sum(f[1] for f in found), "bytes": sum(f[2] for f in found),
            "checksum": sum(f[3] for f in found) & MASK, "seconds": seconds}


def next_of(out, children):
    """What the next child says, as long as none failed."""
    while True:
        try:
            return out.get(timeout=1)
        except queue.Empty:
            if any(process.exitcode for process in children):
                sys.exit("a reader failed")


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def read_raw(path):
    """Without the ioctl that Python before 3.14 sends where files are buffered."""
    with open(path, "rb", buffering=0) as file:
        return file.read()


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def files(paths, seed, processes, check=""):
    return in_processes(read_lines(paths), int(seed), int(processes), lambda: read_file,
                        bool(check))


def raw(paths, seed, processes, check=""):
    return in_processes(read_lines(paths), int(seed), int(processes), lambda: read_raw,
                        bool(check))


def several(read, seed, count):
    """Epochs, each in an order of its own: the sums."""
    total = {"files": 0, "bytes": 0, "seconds": 0}
    for i in range(int(count)):
        found = read(int(count) * int(seed) + i)
        total = {key: total[key] + found[key] for key in total}
    return total


def file_epochs(paths, seed, processes, count):
    return several(lambda order: files(paths, order, processes), seed, count)


def row_epochs(path, dataset, seed, processes, count, labels=""):
    return several(lambda order: rows(path, dataset, order, processes, "", labels), seed,
                   count)


def rows_below(path, name):
    """(dataset, row) of the rows of a dataset, or of those in a group; of a dataset that
    is a file, all of it."""
    import h5py
    found = []

    def add(_, item):
        if isinstance(item, h5py.Dataset):
            is_file = item.ndim == 1 and item.dtype == "uint8"
            found.extend((item.name, row) for row in ([()] if is_file else range(len(item))))
    with h5py.File(path, "r") as file:
        if isinstance(file[name], h5py.Group):
            file[name].visititems(add)
        else:
            add(name, file[name])
    return found


def rows(path, dataset, seed, processes, check="", labels=""):
    import h5py

    def opener():
        file, arrays = h5py.File(path, "r"), {}
        targets = file[labels] if labels else None

        def array(name):
            if name not in arrays:
                arrays[name] = file[name]
            return arrays[name]

        def sample(item):
            name, row = item
            content = (file[name] if row == () else array(name))[row].tobytes()
            if labels:
                targets[row].item()
            return content
        return sample
    return in_processes(rows_below(path, dataset), int(seed), int(processes), opener,
                        bool(check))


def epochs(dataset, seed, workers):
    """The second epoch of a DataLoader: its workers are there already."""
    import torch
    torch.manual_seed(int(seed))
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True,
                                         num_workers=int(workers),
                                         persistent_workers=True)
    for _ in range(2):
        files = size = 0
        start = time.monotonic()
        for sizes, _ in loader:
            files += len(sizes)
            size += int(sizes.sum()) if sizes.dim() == 1 else 0
        seconds = time.monotonic() - start
    return {"files": files, "bytes": size, "seconds": seconds}


def row_loader(path, dataset, seed, workers):
    import h5py
    import torch

    class Dataset(torch.utils.data.Dataset):
        images = None

        def __init__(self):
            with h5py.File(path, "r") as file:
                self.count = len(file[dataset])

        def __len__(self):
            return self.count

        def __getitem__(self, row):
            if self.images is None:
                self.images = h5py.File(path, "r")[dataset]
            return len(self.images[row].tobytes()), row
    return epochs(Dataset(), seed, workers)


def directory(root, seed, workers, how):
    from torchvision import datasets, transforms
    if how == "bytes":
        return epochs(datasets.ImageFolder(root, loader=lambda path: len(read_file(path))),
                      seed, workers)
    crop = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
    return epochs(datasets.ImageFolder(root, crop), seed, workers)


def construct(root):
    """An ImageFolder itself, which lists all files; and no more."""
    from torchvision import datasets
    start = time.monotonic()
    made = datasets.ImageFolder(root)
    seconds = time.monotonic() - start
    return {"files": len(made), "bytes": 0, "seconds": seconds}


def stream(path, count, check=""):
    import tarfile
    start = time.monotonic()
    for _ in range(int(count)):
        number = size = checksum = 0
        with tarfile.open(path, "r|") as tar:
            for member in tar:
                if member.isfile():
                    content = tar.extractfile(member).read()
                    size += len(content)
                    if check:
                        checksum += mixed(number, zlib.crc32(content))
                    number += 1
                tar.members = []   # or it remembers a million of them
    return {"files": number, "bytes": size, "checksum": checksum & MASK,
            "seconds": time.monotonic() - start}


def npz(path):
    import numpy
    start = time.monotonic()
    with numpy.load(path) as file:
        images = file["images"]
    return {"files": 1, "bytes": images.nbytes, "seconds": time.monotonic() - start,
            "checksum": zlib.crc32(images)}


def tokens(prefix, seed, processes, check=""):
    import numpy
    from token_sets import read_index
    sizes, pointers, width = read_index(prefix + ".idx")

    def opener():
        stored = numpy.memmap(prefix + ".bin", dtype="uint8", mode="r")
        return lambda number: stored[pointers[number]:
                                     pointers[number] + width * sizes[number]].tobytes()
    return in_processes(range(len(sizes)), int(seed), int(processes), opener, bool(check))


def ranks(*words):
    import read_ranks
    return read_ranks.run(*words)


def main():
    modes = {"files": files, "raw": raw, "epochs": file_epochs, "rows": rows,
             "row-epochs": row_epochs,
             "row-loader": row_loader, "directory": directory, "construct": construct,
             "stream": stream, "npz": npz, "tokens": tokens, "ranks": ranks}
    if len(sys.argv) < 3 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    print(json.dumps(modes[sys.argv[1]](*sys.argv[2:])))


if __name__ == "__main__":
    main()
