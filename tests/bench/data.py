# SPDX-License-Identifier: GPL-3.0-or-later
"""The data sets: packed files on the disk that TMPDIR is on, and the truth.

Each set is made when a suite first asks for it. What was written is remembered as
sizes and CRCs while it is written: that is what every contender is compared with.
"""
import io
import itertools
import os
import random
import tarfile
import zlib

from work import Failed

BLOCK = 16 << 20
JPEGS_MADE = 200
JPEG_BEGINS = b"\xff\xd8\xff\xe0\0\x10JFIF\0"
MASK = (1 << 64) - 1


def mixed(index, crc):
    """What one file adds to the checksum of all, in whatever order they come."""
    return (crc + 1) * (2 * index + 1) & MASK


class Set:
    """Files by their names in one tar, in its order."""

    def __init__(self, work, name):
        self.work, self.name = work, name
        self.names, self.sizes, self.crcs = [], [], []
        self.tar = work.path(name + ".tar")
        self.made = {}

    def __len__(self):
        return len(self.names)

    def bytes(self):
        return sum(self.sizes)

    def checksum(self, names=None):
        chosen = range(len(self)) if names is None else self.places(names)
        return sum(mixed(i, self.crcs[at]) for i, at in enumerate(chosen)) & MASK

    def places(self, names):
        where = {name: i for i, name in enumerate(self.names)}
        return [where[name] for name in names]

    def write(self, files):
        """files: pairs of name and bytes."""
        with open(self.tar, "wb", buffering=1 << 20) as out:
            for name, content in files:
                out.write(tar_header(name, len(content)))
                out.write(content)
                out.write(bytes(-len(content) % 512))
                self.names.append(name)
                self.sizes.append(len(content))
                self.crcs.append(zlib.crc32(content))
            out.write(bytes(1024))
        return self

    # The same files otherwise; each made once.

    def tree(self):
        return self.once("tree", lambda path: self.extract(path), self.work.dir)

    def in_shm(self):
        return self.once("shm", lambda path: self.extract(path), self.work.shm)

    def squashfs(self, codec, *options):
        return self.once(codec + ".squashfs", lambda path: self.work.run(
            ["mksquashfs", self.tree(), path, "-comp", codec, "-noappend",
             "-no-progress", "-quiet", *options], 1200), self.work.dir)

    def erofs(self):
        return self.once("erofs", lambda path: self.work.run(
            ["mkfs.erofs", "--quiet", path, self.tree()], 1200), self.work.dir)

    def extract(self, path):
        os.mkdir(path)
        self.work.run(["tar", "-C", path, "-xf", self.tar])

    def once(self, kind, make, directory):
        if kind not in self.made:
            path = os.path.join(directory, "%s.%s" % (self.name, kind))
            make(path)
            self.made[kind] = path
        return self.made[kind]

    def list(self, root, names=None):
        """A file with the paths of all (or some) under a root; readers take it. In
        memory: what a cold reader waits for is its data, not this."""
        path = os.path.join(self.work.shm, "list")
        with open(path, "w", encoding="utf-8") as out:
            for name in self.names if names is None else names:
                out.write("%s/%s\n" % (root, name))
        return path


def tar_header(name, size):
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, 1600000000, 0o644
    return info.tobuf(tarfile.USTAR_FORMAT)


def names_of(count, suffix):
    """In classes, as ImageFolder wants them."""
    for i in range(count):
        yield "class-%02d/%07d.%s" % (i * 20 // count, i, suffix)


def windows(sizes, seed):
    """Bytes that no compressor gets smaller, no two files alike."""
    rng = random.Random(seed)
    block = rng.randbytes(BLOCK)
    for size in sizes:
        start = rng.randrange(BLOCK - size)
        yield block[start:start + size]


def texts(sizes, seed):
    """Words of a vocabulary, the first ones the most often: about a third when compressed."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randrange(2, 11))) for _ in range(20000)]
    often = list(itertools.accumulate(1 / (place + 3) for place in range(len(words))))
    block = " ".join(rng.choices(words, cum_weights=often, k=BLOCK // 7)).encode("ascii")
    for size in sizes:
        start = rng.randrange(len(block) - size)
        yield block[start:start + size]


def jpegs():
    """Some hundred real ones of about 110 kB."""
    from PIL import Image
    for seed in range(JPEGS_MADE):
        rng = random.Random(seed)
        small = Image.frombytes("RGB", (8, 8), rng.randbytes(192))
        noise = Image.frombytes("RGB", (500, 375), rng.randbytes(500 * 375 * 3))
        out = io.BytesIO()
        Image.blend(small.resize((500, 375), Image.BICUBIC), noise, 0.4).save(
            out, "JPEG", quality=84 + seed % 7)
        yield out.getvalue()


def picture(rng, block, side=224):
    """A PPM that compresses about threefold: flat stripes and noisy ones."""
    rows = []
    for _ in range(side // 8):
        if rng.random() < 0.3:
            start = rng.randrange(BLOCK - side * 24)
            rows.append(block[start:start + side * 24])
        else:
            rows.append(rng.randbytes(3) * (side * 8))
    return b"P6 %d %d 255\n" % (side, side) + b"".join(rows)


class Data:
    def __init__(self, work, settings):
        self.work, self.settings = work, settings
        self.sets = {}

    def get(self, name):
        """photos, small, jpegs, samples, pictures, texts, large, larger, packed, tokens, or
        many"""
        if name not in self.sets:
            free = os.statvfs(self.work.dir)
            if free.f_bavail * free.f_frsize < 6 << 30:
                raise Failed("%s: less than 6 GiB are free; set TMPDIR" % self.work.dir)
            print("bench: making %s" % name, flush=True)
            made = Set(self.work, name)
            self.sets[name] = made
            getattr(self, "make_" + name)(made)
        return self.sets[name]

    def make_photos(self, made):
        count = self.settings.files
        made.write(zip(names_of(count, "bin"), windows([110000] * count, 1)))

    def make_small(self, made):
        count = self.settings.small_files
        made.write(zip(names_of(count, "bin"), windows([3000] * count, 2)))

    def make_larger(self, made):
        count = self.settings.larger_files
        made.write(zip(names_of(count, "bin"), windows([110000] * count, 3)))

    def make_packed(self, made):
        count = self.settings.pack_files
        made.write(zip(names_of(count, "bin"), windows([110000] * count, 7)))

    def make_jpegs(self, made):
        count, pictures = self.settings.jpegs, list(jpegs())
        made.write((name, pictures[i % len(pictures)])
                   for i, name in enumerate(names_of(count, "jpg")))

    def make_samples(self, made):
        """JPEGs with a number behind the image: no two are alike, or images would store
        one of them."""
        count, pictures = self.settings.samples, list(jpegs())
        made.write((name, pictures[i % len(pictures)] + b"%08d" % i)
                   for i, name in enumerate(names_of(count, "jpg")))

    def make_pictures(self, made):
        rng = random.Random(4)
        block = rng.randbytes(BLOCK)
        made.write((name, picture(rng, block))
                   for name in names_of(self.settings.pictures, "ppm"))

    def make_texts(self, made):
        count = self.settings.texts
        made.write(zip(names_of(count, "txt"), texts([150000] * count, 8)))

    def make_large(self, made):
        import numpy
        size = self.settings.large
        out = io.BytesIO()
        rng = random.Random(5)
        numpy.savez(out, images=numpy.frombuffer(rng.randbytes(size), dtype="uint8"))
        made.write([("images.npz", out.getvalue()), ("images.bin", rng.randbytes(size))])

    def make_tokens(self, made):
        import token_sets
        binary, index, made.documents = token_sets.megatron(self.settings.documents, 6)
        made.write([("set.bin", binary), ("set.idx", index)])

    def make_many(self, made):
        """A header each, and no bytes: what the daemon holds for names alone."""
        count = self.settings.many_files
        with open(made.tar, "wb", buffering=1 << 20) as out:
            for i in range(count):
                out.write(empty_member(b"class-%03d/%07d.JPEG" % (i * 1000 // count, i)))
            out.write(bytes(1024))
        made.count = count

    def hdf5(self, layout):
        """Rows in one of the layouts of data_hdf5.py, which stay until the next."""
        import data_hdf5
        print("bench: making hdf5: %s" % layout.name, flush=True)
        return data_hdf5.write(layout, self.work.path("rows.h5"), self.settings)


TEMPLATE = tar_header("", 0)


def empty_member(name):
    """A tar header by hand: a million of tarfile's take a minute."""
    header = name + TEMPLATE[len(name):]
    total = sum(header[:148]) + sum(header[156:]) + 8 * 32
    return header[:148] + b"%06o\0 " % total + header[156:]
