#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of images, and what must be true of the shards that were made of it."""
import os
import random
import re
import sys
import tarfile

# webdataset/tariterators.py: a key is all up to the first dot of the base name.
KEY = re.compile(r"^((?:.*/|)[^.]+)[.]([^/]*)$")


def make(root):
    """Ten classes of 40 files; beside them some that are in no sample."""
    chance = random.Random(5)
    for number in range(10):
        os.makedirs("%s/c%d" % (root, number))
        for i in range(40):
            path = "%s/c%d/%04d.jpg" % (root, number, number * 40 + i)
            with open(path, "wb") as out:
                out.write(chance.randbytes(chance.randrange(1000, 9000)))
            os.utime(path, (10 ** 9 + i, 10 ** 9 + i))
    with open(root + "/c4/0160.txt", "w", encoding="ascii") as out:
        out.write("of the same sample")
    with open(root + "/c4/a.b.jpg", "wb") as out:
        out.write(b"a name with a dot")
    with open(root + "/readme", "w", encoding="ascii") as out:
        out.write("in no class")


def members(path):
    with tarfile.open(path) as archive:
        return [(m, archive.extractfile(m).read() if m.isreg() else None)
                for m in archive]


def files_of(root):
    found = {}
    for directory, _, names in os.walk(root):
        for name in names:
            path = os.path.join(directory, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, root)] = file.read()
    return found


def assert_even(counts, sizes, units):
    assert max(counts) - min(counts) <= units, counts
    mean = sum(sizes) / len(sizes)
    assert max(sizes) - min(sizes) <= 0.02 * mean, sizes
    assert all(abs(size - mean) <= 0.01 * mean for size in sizes), sizes


def even(root, units, *shards):
    seen, counts = {}, []
    for shard in shards:
        files = [(m.name, data) for m, data in members(shard) if m.isreg()]
        counts.append(len(files))
        for name, data in files:
            assert name not in seen, name
            seen[name] = data
    assert seen == files_of(root), "not the same files"
    assert_even(counts, [os.stat(shard).st_size for shard in shards], int(units))


def differs(one, other):
    orders = [[m.name for m, _ in members(path) if m.isreg()] for path in (one, other)]
    assert orders[0] != orders[1]


def samples_of(shard):
    """[(key, {extension: bytes})] as WebDataset groups them."""
    found = []
    for member, data in members(shard):
        assert member.isreg(), member.name
        assert (member.uid, member.mode, member.pax_headers) == (0, 0o444, {}), member.name
        key, extension = KEY.match(member.name).groups()
        if not found or found[-1][0] != key:
            found.append((key, {}))
        assert extension not in found[-1][1], member.name
        found[-1][1][extension] = data
    return found


def samples(root, classes, *shards):
    with open(classes, encoding="ascii") as file:
        names = file.read().split()
    assert names == sorted(d for d in os.listdir(root)
                           if os.path.isdir(os.path.join(root, d))), names
    wanted = {path: data for path, data in files_of(root).items() if "/" in path}
    seen = set()
    for shard in shards:
        for key, parts in samples_of(shard):
            assert key not in seen, key
            seen.add(key)
            assert names[int(parts.pop("cls"))] == key.split("/")[0], key
            for extension, data in parts.items():
                source = key.replace("a_b", "a.b") + "." + extension
                assert wanted.pop(source) == data, source
    assert not wanted, wanted.keys()


def even_samples(*shards):
    counts = [len(samples_of(shard)) for shard in shards]
    assert_even(counts, [os.stat(shard).st_size for shard in shards], 1)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
