#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the courses' examples do with a dataset, in few lines.

    courses.py jsc-save IMAGES ROOT          a dataset as JSC's course has it
    courses.py jsc-loaders ROOT FILES        its two loaders: batches must be the same
    courses.py alcf-list TREE OUT            a list of files, as ALCF's workshop has it
    courses.py alcf-read LIST CLASSES        reads the list, and looks for annotations
    courses.py dlio-make TAR DIGESTS         UNet3D as DLIO writes it, but few files
    courses.py dlio-read ROOT DIGESTS        reads them as DLIO does, and compares
"""
import glob
import hashlib
import io
import json
import os
import pickle
import random
import sys
import tarfile
import time

SPLITS = ("train", "val")
PREFIX = "ILSVRC/Data/CLS-LOC"


# ---- JSC: a label map, a tree of files, and an HDF5 file of the same ----

def label_maps(images):
    """{split: {key: label}} in a shuffled order; val's keys hold no class."""
    classes = sorted(os.listdir(images))
    maps = {split: {} for split in SPLITS}
    rows = [(name, path) for name in classes
            for path in sorted(os.listdir(os.path.join(images, name)))]
    random.Random(3).shuffle(rows)
    for i, (name, path) in enumerate(rows):
        if i % 5:
            key = "%s/train/%s/%s_%s" % (PREFIX, name, name, path)
        else:
            key = "%s/val/ILSVRC2012_val_%08d.JPEG" % (PREFIX, i)
        maps["train" if i % 5 else "val"][key] = (classes.index(name),
                                                  os.path.join(images, name, path))
    return maps


def jsc_save(images, root):
    import h5py
    import numpy as np

    with h5py.File(os.path.join(root, "ImageNet.h5"), "w") as out:
        for split, rows in label_maps(images).items():
            group = out.create_group(split)
            data = group.create_dataset("images", (len(rows),),
                                        dtype=h5py.vlen_dtype(np.dtype("uint8")))
            targets = group.create_dataset("targets", (len(rows),), dtype=np.dtype("int16"))
            for i, (label, path) in enumerate(rows.values()):
                with open(path, "rb") as image:
                    data[i] = np.frombuffer(image.read(), dtype="uint8")
                targets[i] = label
            with open(os.path.join(root, "imagenet_%s.pkl" % split), "wb") as said:
                pickle.dump({key: label for key, (label, _) in rows.items()}, said)


class FromFiles:
    """The label map's keys are paths below the root."""

    def __init__(self, root, split, transform, maps):
        with open(os.path.join(maps, "imagenet_%s.pkl" % split), "rb") as said:
            self.rows = list(pickle.load(said).items())
        self.root, self.transform = root, transform

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        from PIL import Image
        key, label = self.rows[i]
        with open(os.path.join(self.root, key), "rb") as image:
            return self.transform(Image.open(image).convert("RGB")), label


class FromHDF5:
    """One open file for each worker."""

    def __init__(self, path, split, transform):
        self.path, self.split, self.transform, self.file = path, split, transform, None

    def rows(self):
        import h5py
        if self.file is None:
            self.file = h5py.File(self.path, "r")
        return self.file[self.split]

    def __len__(self):
        import h5py
        with h5py.File(self.path, "r") as opened:
            return len(opened[self.split]["images"])

    def __getitem__(self, i):
        from PIL import Image
        rows = self.rows()
        image = Image.open(io.BytesIO(rows["images"][i].tobytes())).convert("RGB")
        return self.transform(image), int(rows["targets"][i])


def epoch_of(dataset):
    """(digest of all batches in their order, images, seconds)"""
    import torch
    sampler = torch.utils.data.distributed.DistributedSampler(
        dataset, num_replicas=2, rank=0, shuffle=True, seed=1)
    batches = torch.utils.data.DataLoader(dataset, batch_size=16, num_workers=2,
                                          sampler=sampler)
    digest, images, begin = hashlib.sha256(), 0, time.monotonic()
    for pictures, labels in batches:
        digest.update(pictures.numpy().tobytes())
        digest.update(labels.numpy().tobytes())
        images += len(labels)
    return digest.hexdigest(), images, time.monotonic() - begin


def jsc_loaders(root, files):
    from torchvision import transforms
    transform = transforms.Compose([transforms.ToTensor(), transforms.Resize((64, 64))])
    h5 = FromHDF5(os.path.join(root, "ImageNet.h5"), "train", transform)
    fs = FromFiles(files, "train", transform, root)
    from_h5, images, h5_seconds = epoch_of(h5)
    from_fs, as_many, fs_seconds = epoch_of(fs)
    print("%d images: h5 %.2f s, fs on the mount %.2f s" % (images, h5_seconds, fs_seconds))
    if images == 0 or (from_h5, images) != (from_fs, as_many):
        sys.exit("the two loaders do not give the same batches")


# ---- ALCF: lists of files, and annotations that are mostly not there ----

def alcf_list(tree, out):
    found = sorted(glob.glob(os.path.join(tree, "Data/CLS-LOC/train/*/*.jpg")))
    random.Random(5).shuffle(found)
    with open(out, "w", encoding="utf-8") as lines:
        lines.writelines(path + "\n" for path in found)
    print(len(found))


def alcf_read(listed, classes):
    with open(listed, encoding="utf-8") as lines:
        paths = [line.rstrip("\n") for line in lines]
    root = paths[0].split("/Data/")[0]
    numbers = {os.path.basename(path): i for i, path in
               enumerate(sorted(glob.glob(root + "/Data/CLS-LOC/train/*")))}
    digest, annotated = hashlib.sha256(), 0
    for path in sorted(paths):
        with open(path, "rb") as image:
            digest.update(image.read())
        digest.update(b"%d" % numbers[path.split("/")[-2]])
        try:
            with open(path.replace("/Data/", "/Annotations/")[:-4] + ".xml", "rb") as boxes:
                annotated += len(boxes.read()) > 0
        except FileNotFoundError:
            pass
    if len(numbers) != int(classes):
        sys.exit("%d classes" % len(numbers))
    print(digest.hexdigest(), annotated)


# ---- DLIO: UNet3D's volumes, one a file ----

FILES, EPOCHS = 6, 2
SIDE = 12108   # of a sample of 146.6 MB, which is the benchmark's mean; the first file's
SUFFIXES = ("npz", "hdf5")


def dlio_name(i, suffix):
    return "unet3d/train/img_%d_of_%d.%s" % (i, FILES, suffix)


def dlio_write(out, suffix, x):
    """A sample is the last axis of an NPZ, and the first in HDF5."""
    import h5py
    import numpy as np
    y = np.zeros(x.shape[2], dtype=np.int64)
    if suffix == "npz":
        np.savez(out, x=x, y=y)
        return
    with h5py.File(out, "w", libver="latest") as file:
        file.create_dataset("records_0", data=x.transpose(2, 0, 1))
        file.create_dataset("labels", data=y)


def digests_of(samples):
    import numpy as np
    return [hashlib.sha256(np.ascontiguousarray(sample)).hexdigest() for sample in samples]


def dlio_make(packed, said):
    """Straight into a tar, so that the large ones lie nowhere twice."""
    import numpy as np
    numbers, digests = np.random.default_rng(1), {}
    with tarfile.open(packed, "w") as out:
        for i in range(FILES):
            shape = (512 + 128 * i, 512 + 64 * i, 2) if i else (SIDE, SIDE, 1)
            x = numbers.integers(0, 255, shape, dtype=np.uint8)
            digests[i] = digests_of(x[..., k] for k in range(shape[2]))
            for suffix in SUFFIXES:
                member, data = tarfile.TarInfo(dlio_name(i, suffix)), io.BytesIO()
                dlio_write(data, suffix, x)
                member.size = data.seek(0, os.SEEK_END)
                data.seek(0)
                out.addfile(member, data)
    with open(said, "w", encoding="utf-8") as out:
        json.dump(digests, out)


class FromDLIO:
    """A file at a time: np.load asks for it in pieces, h5py for each sample at once."""

    def __init__(self, root, suffix):
        self.root, self.suffix = root, suffix

    def __len__(self):
        return FILES

    def __getitem__(self, i):
        import h5py
        import numpy as np
        path = os.path.join(self.root, dlio_name(i, self.suffix))
        if self.suffix == "npz":
            with np.load(path, allow_pickle=True) as loaded:
                x = loaded["x"]
            return i, digests_of(x[..., k] for k in range(x.shape[2]))
        with h5py.File(path, "r") as opened:
            return i, digests_of(opened["records_0"][k] for k in range(len(opened["labels"])))


def dlio_read(root, said):
    """Two readers, which take the files in another order each time."""
    import torch
    with open(said, encoding="utf-8") as digests:
        wanted = {int(i): samples for i, samples in json.load(digests).items()}
    for suffix in SUFFIXES:
        for epoch in range(EPOCHS):
            begin = time.monotonic()
            loader = torch.utils.data.DataLoader(
                FromDLIO(root, suffix), batch_size=None, shuffle=True, num_workers=2,
                generator=torch.Generator().manual_seed(epoch))
            found = dict(loader)
            print("%s, epoch %d: %.2f s" % (suffix, epoch, time.monotonic() - begin))
            if found != wanted:
                sys.exit("the samples are not the same")


def main():
    commands = {"jsc-save": jsc_save, "jsc-loaders": jsc_loaders, "alcf-list": alcf_list,
                "alcf-read": alcf_read, "dlio-make": dlio_make, "dlio-read": dlio_read}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


if __name__ == "__main__":
    main()
