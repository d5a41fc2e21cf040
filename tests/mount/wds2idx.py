#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of a shard's files, as DALI's wds2idx makes them: wds2idx.py [--tarfile] TAR...

It asks GNU tar where each header is and what it says; --tarfile: Python's tarfile, as
it does where there is no GNU tar. Non-files are left out, and so are names without a stem.
"""
import subprocess
import sys
import tarfile


def by_tar(path):
    places = subprocess.check_output(["tar", "--list", "--block-num", "--file", path])
    types = subprocess.check_output(["tar", "--verbose", "--list", "--file", path])
    for place, said in zip(places.decode().splitlines(), types.decode().splitlines()):
        if said[0] != "-":
            continue
        number, name = place.split(": ", 1)
        yield (int(number.split()[1]) + 1) * 512, int(said.split()[2]), name


def by_tarfile(path):
    with tarfile.open(path, "r:") as archive:
        for member in archive:
            if member.type == tarfile.REGTYPE:
                yield member.offset_data, member.size, member.name


def write(path, files):
    samples, last = [], None
    for offset, size, name in files:
        dot = name.find(".", name.rfind("/") + 1)
        stem, suffix = name[:dot], name[dot + 1:]
        if not stem or stem.endswith("/"):
            continue
        if stem != last:
            samples.append([])
            last = stem
        samples[-1] += [suffix, str(offset), str(size), name]
    with open(path, "w", encoding="utf-8") as out:
        out.write("v1.2 %d\n" % len(samples))
        for sample in samples:
            out.write(" ".join(sample) + "\n")


paths = sys.argv[1:]
lister = by_tar
if paths[0] == "--tarfile":
    lister = by_tarfile
    del paths[0]
for shard in paths:
    write(shard.removesuffix(".tar") + ".idx", lister(shard))
