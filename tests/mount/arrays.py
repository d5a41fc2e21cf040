#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes image datasets as HDF5 files, and compares mounts with what h5py reads.

arrays.py write DIRECTORY          DIRECTORY/NAME.h5 for each layout
arrays.py directory FILE MOUNT     ImageFolder's view of MOUNT: classes, counts, pixels
arrays.py each DIRECTORY MOUNT     the same, of a directory with a file for each class
arrays.py npy FILE MOUNT        view=arrays: each dataset as numpy.load has it
arrays.py netcdf FILE MOUNT     the same, and `tas` as ncdump prints it
"""
import collections
import io
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../format"))
import hdf5_plugins  # before h5py
import h5py
import numpy as np
from PIL import Image

ROWS = h5py.vlen_dtype(np.uint8)
COUNT, CLASSES = 60, 5
FILTERS = {"lz4": 32004, "blosc": 32001}


def pictures(seed, *shape):
    """Smooth noise, which every filter makes smaller."""
    noise = np.random.default_rng(seed).integers(0, 256, (*shape[:-1], 1), dtype="u1")
    return np.broadcast_to(noise // 8 * 8, shape).copy()


def encode(picture):
    out = io.BytesIO()
    Image.fromarray(picture).save(out, "PNG")
    return np.frombuffer(out.getvalue(), "u1")


def labels(count=COUNT):
    return np.arange(count) * 7 % CLASSES


def write_pixels(file):
    file.create_dataset("images", data=pictures(1, COUNT, 24, 20, 3))
    file["ans"] = labels().astype("u1")


def write_planes(file):
    data = pictures(2, COUNT, 24, 20, 3).transpose(0, 3, 1, 2)
    file.create_dataset("imgs", data=data, chunks=(7, 3, 24, 20), compression="lzf")
    file["labels"] = labels()


def write_chunks(file):
    file.create_dataset("data", data=pictures(3, COUNT, 24, 20, 3), chunks=(4, 10, 7, 2),
                        compression="gzip", shuffle=True, fletcher32=True)
    file["label"] = labels().astype(">i4")


def write_grey(file):
    file.create_dataset("records", data=pictures(4, COUNT, 24, 20, 1)[..., 0])
    file["labels"] = labels()


def write_ambiguous(file):
    """Planes of 20 x 3, or 3 x 20 pixels of three colours."""
    file["images"] = pictures(7, COUNT, 3, 20, 3)
    file["labels"] = labels()


def write_fuel(file):
    kind = np.dtype([("split", "S5"), ("source", "S20"), ("start", "i8"), ("stop", "i8"),
                     ("indices", h5py.ref_dtype), ("available", "?"), ("comment", "S1")])
    table = np.zeros(6, kind)
    rows = file.create_dataset("encoded_images", (COUNT,), dtype=ROWS)
    for i, picture in enumerate(pictures(5, COUNT, 24, 20, 3)):
        rows[i] = encode(picture)
    file["targets"] = labels().astype("i2").reshape(-1, 1)
    file["filenames"] = np.array([f"{i:06d}.PNG" for i in range(COUNT)], "S32").reshape(-1, 1)
    places = [("train", 0, 40), ("valid", 40, COUNT)]
    for i, (split, start, stop) in enumerate(places):
        for k, source in enumerate(("encoded_images", "targets", "filenames")):
            table[3 * i + k] = (split, source, start, stop, h5py.Reference(), True, b".")
    file.attrs["split"] = table


def write_classes(file):
    for split in ("train", "val"):
        for i in range(CLASSES):
            rows = file.create_dataset(f"{split}/n{i:08d}", (12,), dtype=ROWS, chunks=(5,),
                                       compression="gzip")
            for row, picture in enumerate(pictures(10 + i, 12, 8, 9, 3)):
                rows[row] = encode(picture)


def write_image_bytes(file):
    """A table in chunks, with filters."""
    rows = file.create_dataset("image_bytes", (COUNT,), dtype=ROWS, chunks=(16,),
                               compression="gzip", shuffle=True)
    for i, picture in enumerate(pictures(30, COUNT, 24, 20, 3)):
        rows[i] = encode(picture)
    file["targets"] = labels()


def write_coursera(file):
    """Two splits beside one another, and what the numbers are called."""
    file["list_classes"] = np.array([b"cat", b"dog", b"emu", b"fox", b"gnu"])
    for seed, (part, count) in enumerate((("train", COUNT), ("test", COUNT // 2))):
        file[f"{part}_set_x"] = pictures(31 + seed, count, 24, 20, 3)
        file[f"{part}_set_y"] = labels(count)


def write_floats(file):
    file["data"] = np.random.default_rng(33).random((COUNT, 3, 24, 20)).astype("f4")
    file["label"] = labels()


def write_files(file):
    """A dataset for each file, of each type that can be one."""
    for i, picture in enumerate(pictures(34, COUNT, 24, 20, 3)):
        encoded = encode(picture)
        value = (encoded, np.bytes_(encoded.tobytes()), np.void(encoded.tobytes()))[i % 3]
        file[f"{('train', 'val')[i % 5 == 0]}/n{i % 4:08d}/{i:04d}.png"] = value


def write_filter(file, number):
    file.create_dataset("images", data=pictures(35, COUNT, 24, 20, 3), chunks=(4, 24, 20, 3),
                        compression=number)
    file["labels"] = labels()


def write_climate(file):
    for name, count in (("lat", 12), ("lon", 18)):
        file[name] = np.linspace(0, 1, count).astype(">f4")
        file[name].make_scale(name)
    data = np.random.default_rng(6).random((10, 12, 18)).astype(">f4")
    file.create_dataset("run/tas", data=data, chunks=(1, 12, 18), maxshape=(None, 12, 18),
                        compression="gzip", shuffle=True)
    file.create_dataset("run/cut", data=data.astype("f8"), chunks=(3, 5, 7), compression="lzf")
    file["run/mask"] = data[0] > 0.5
    file["run/count"] = np.int32(10)


def put_each(directory):
    """A file for each class, as `each/NAME.hdf5`."""
    os.mkdir(os.path.join(directory, "each"))
    for seed, name in enumerate(("cat", "dog", "emu")):
        with h5py.File(os.path.join(directory, "each", name + ".hdf5"), "w") as file:
            rows = file.create_dataset("data", (9,), dtype=ROWS)
            for row, picture in enumerate(pictures(20 + seed, 9, 8, 9, 3)):
                rows[row] = encode(picture)


def check_each(directory, mount):
    from torchvision.datasets import ImageFolder
    found, seen = ImageFolder(mount), collections.Counter()
    for image, number in found:
        seen[found.classes[number], np.array(image).tobytes()] += 1
    wanted = collections.Counter()
    for name in (x for x in os.listdir(directory) if x.endswith(".hdf5")):
        with h5py.File(os.path.join(directory, name)) as file:
            for row in file["data"]:
                wanted[name.removesuffix(".hdf5"), decoded(row).tobytes()] += 1
    assert seen == wanted, found.classes


def write(directory):
    put_each(directory)
    writers = {name[6:]: (function,) for name, function in sorted(globals().items())
               if name.startswith("write_") and function is not write_filter}
    writers.update({name: (write_filter, number) for name, number in FILTERS.items()
                    if h5py.h5z.filter_avail(number)})
    for name, (function, *more) in writers.items():
        with h5py.File(os.path.join(directory, name + ".h5"), "w") as file:
            function(file, *more)


# The reading of h5py, as {directory: [(class, pixels)]} in the order of the rows

def decoded(row):
    if row.dtype != "u1":
        return row
    if row.ndim == 1:
        return np.array(Image.open(io.BytesIO(row.tobytes())).convert("RGB"))
    if row.ndim == 2:
        return np.repeat(row[..., None], 3, 2)
    return row.transpose(1, 2, 0) if row.shape[0] == 3 else row


def expected(file):
    directories = collections.defaultdict(list)
    if "train" in file:
        for split in file:
            for wnid, rows in file[split].items():
                for row in rows.values() if isinstance(rows, h5py.Group) else rows:
                    if isinstance(row, h5py.Dataset):
                        row = np.frombuffer(row[()].tobytes(), "u1")
                    directories[split].append((wnid, decoded(row).tobytes()))
        return directories
    if "list_classes" in file:
        for part in ("train_set", "test_set"):
            for row, number in zip(file[part + "_x"], file[part + "_y"]):
                name = file["list_classes"][number].decode()
                directories[part + "_x"].append((name, decoded(row).tobytes()))
        return directories
    array = next(x for x in file if file[x].ndim > 2 or file[x].dtype == ROWS)
    numbers = next(file[x] for x in ("labels", "label", "targets", "ans") if x in file)
    ends = {(a["start"], a["stop"]): a["split"].decode() for a in file.attrs.get("split", [])}
    for i, row in enumerate(file[array]):
        split = next((s for (a, b), s in ends.items() if a <= i < b), "")
        name = str(int(np.ravel(numbers[i])[0]))
        directories[split].append((name, decoded(row).tobytes()))
    return directories


def image_directory(directory):
    """... of images, or of .npy files."""
    from torchvision.datasets import DatasetFolder, ImageFolder
    if any(name.endswith(".npy") for _, _, names in os.walk(directory) for name in names):
        return DatasetFolder(directory, np.load, (".npy",))
    return ImageFolder(directory)


def check_directory(path, mount):
    with h5py.File(path) as file:
        wanted = expected(file)
    for split, samples in wanted.items():
        found = image_directory(os.path.join(mount, split))
        assert found.classes == sorted({name for name, _ in samples}), found.classes
        seen = [(found.classes[number], np.array(image).tobytes()) for image, number in found]
        assert seen == sorted(samples, key=lambda one: one[0]), f"{split}: {len(seen)} images"
        print(f"{split or '/'}: {len(seen)} images in {len(found.classes)} classes")


def is_dimension_only(item):
    """Of what has no values netCDF writes the length, as a dataset without storage."""
    return item.attrs.get("NAME", b"").startswith(b"This is a netCDF dimension but not")


def check_npy(path, mount):
    shown = {os.path.relpath(os.path.join(directory, name), mount)
             for directory, _, names in os.walk(mount) for name in names}

    def visit(name, item):
        if not isinstance(item, h5py.Dataset) or is_dimension_only(item):
            return
        if name + ".npy" in shown:
            compare(name + ".npy", item[()])
        else:
            for i, row in enumerate(item):
                compare(f"{name}/{i:0{len(str(len(item) - 1))}d}.npy", row)

    def compare(name, value):
        value = np.asarray(value)
        with open(os.path.join(mount, name), "rb") as file:
            got = np.load(file)
        assert got.dtype == value.dtype and got.shape == value.shape, (name, got.dtype)
        assert got.tobytes() == value.tobytes(), name
        shown.remove(name)

    with h5py.File(path) as file:
        file.visititems(visit)
    assert not shown, shown


def check_netcdf(path, mount):
    check_npy(path, mount)
    text = subprocess.check_output(["ncdump", "-v", "tas", path], text=True)
    text = re.search(r"\n tas =([^;]*);", text)[1].replace("_", "-32768")
    directory = os.path.join(mount, "tas")
    shown = [np.load(os.path.join(directory, name)).ravel() for name in sorted(os.listdir(directory))]
    assert len(shown) == 3 and np.concatenate(shown).tolist() == [
        int(word) for word in text.split(",")], shown


if __name__ == "__main__":
    COMMANDS = {"write": write, "directory": check_directory, "npy": check_npy, "each": check_each,
                "netcdf": check_netcdf}
    COMMANDS[sys.argv[1]](*sys.argv[2:])
