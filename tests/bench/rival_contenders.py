# SPDX-License-Identifier: GPL-3.0-or-later
"""Contenders that serve the same samples: granaryfs, other mounts, libraries, plain files.

A Rival is a contender, how its samples are read, and what it cannot do without.
"""
import dataclasses
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import typing

from bench_run import ARCHIVEMOUNT, EROFS, SQUASHFS, SQUASHFUSE, TREE, lacking
from contenders import Directory, Mount
from granaryfs import BARE, SHIELDED
from read_samples import GROUP_ROWS

HERE = os.path.dirname(os.path.abspath(__file__))
TAR_BARE, TAR_SHIELDED = "granaryfs, tar, bare", "granaryfs, tar, shielded"
SQUASHFS_SHIELDED = "granaryfs, squashfs, shielded"
RATARMOUNT, RATARMOUNT_GZIP = "ratarmount, tar", "ratarmount, tar.gz"
LMDB, ARROW, HDF5, STREAM = "python-lmdb", "pyarrow, mapped", "h5py", "webdataset, stream"
UNPACKED = "tar x to /dev/shm"
# name: (kind of read_samples.py, module)
LIBRARIES = {LMDB: ("lmdb", "lmdb"), ARROW: ("arrow", "pyarrow"), HDF5: ("hdf5", "h5py"),
             STREAM: ("webdataset", "webdataset")}
# Of suites of their own.
TFRECORD, PARQUET = "tfrecord package, stream", "pyarrow, row groups"
CONTAINERS = {TFRECORD: ("tfrecord", "tfrecord"), PARQUET: ("parquet", "pyarrow")}
PARTS = 16   # of a TFRecord file, in any order
PACKAGES = {RATARMOUNT: "ratarmount", RATARMOUNT_GZIP: "ratarmount", LMDB: "lmdb",
            ARROW: "pyarrow", HDF5: "h5py", STREAM: "webdataset"}
VERSIONS = """
import importlib.metadata, json, sys
found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
print(json.dumps({name: found[package] for name, package in json.loads(sys.argv[1]).items()
                  if package in found}))
"""


class Environment:
    """The virtual environment of rivals.lock, or this Python where there is none."""

    def __init__(self, directory):
        self.directory = os.path.abspath(directory) if directory else ""
        if not os.path.exists(os.path.join(self.directory, "bin/python")):
            self.directory = ""
        self.python = os.path.join(self.directory, "bin/python") if self.directory else sys.executable

    def program(self, name):
        return os.path.join(self.directory, "bin", name) if self.directory else name

    def lacking(self, modules):
        """Modules of these that it does not have."""
        if not self.directory:
            return [name for name in modules if not importlib.util.find_spec(name)]
        return [name for name in modules if subprocess.run(
            [self.python, "-c", "import " + name], check=False,
            capture_output=True).returncode]

    def versions(self, work):
        """{contender: version} of those that are packages of Python."""
        return json.loads(work.run([self.python, "-c", VERSIONS, json.dumps(PACKAGES)]))

    def load(self, work):
        """All modules into memory: they lie on the node, not on the storage that is slow."""
        for directory in filter(None, (self.directory, sysconfig.get_path("stdlib"))):
            work.run(["find", directory, "-type", "f", "-regex", ".*\\.\\(pyc?\\|so.*\\)",
                      "-exec", "sh", "-c", 'cat "$@" >/dev/null', "cat", "{}", "+"])


class Ratarmount(Mount):
    """Its index lies beside the archive, as that of granaryfs does."""

    def __init__(self, work, name, packed, environment):
        super().__init__(work, name, packed)
        self.environment = environment

    def command(self):
        return [self.environment.program("ratarmount"), "--index-minimum-file-count", "1",
                self.packed, self.point]

    def no_index(self):
        if os.path.exists(self.packed + ".index.sqlite"):
            os.unlink(self.packed + ".index.sqlite")


class Unpacked(Directory):
    """Files that are copied to memory first, and stay there."""

    def __init__(self, work, files):
        super().__init__(UNPACKED, os.path.join(work.shm, "unpacked"))
        self.work, self.files = work, files

    def mount(self, groups=()):
        os.mkdir(self.root)
        self.work.run(["tar", "-C", self.root, "-xf", self.files.tar], 600, groups)

    def unmount(self):
        shutil.rmtree(self.root, True)


@dataclasses.dataclass
class Rival:
    name: str
    make: typing.Callable      # gives the contender
    programs: tuple = ()
    modules: tuple = ()        # of the environment
    slow: bool = False         # some of its samples are compared, not all
    kind: str = "files"        # of read_samples.py
    path: str = ""             # of the packed file that a library opens
    note: str = ""             # of the contender, whatever a run adds
    contender: typing.Any = None

    def without(self, environment):
        """Programs and modules that are not there."""
        return lacking(self.programs) + environment.lacking(self.modules)

    def lines(self, files, names):
        """A line for each item of read_samples.py."""
        if self.kind == "files":
            return [os.path.join(self.contender.root, name) for name in names]
        if self.kind == "webdataset":
            return [os.path.join(self.path, shard) for shard in sorted(os.listdir(self.path))]
        if self.kind == "tfrecord":
            return ["%d/%d" % (part, PARTS) for part in range(PARTS)]
        if self.kind == "parquet":
            return [str(group) for group in range(-(-len(names) // GROUP_ROWS))]
        return [str(place) for place in files.places(names)]


def gzipped(files):
    return files.once("tar.gz", lambda path: files.work.run(
        ["bash", "-c", 'gzip -1 <"$1" >"$2"', "gzip", files.tar, path], 600), files.work.dir)


def library(files, environment, name):
    """A library: nothing is mounted, and its file is opened when the clock runs."""
    kind, module = (LIBRARIES | CONTAINERS)[name]
    rival = Rival(name, None, modules=(module,), kind=kind)

    def make():
        rival.path = files.once(kind, lambda path: files.work.run(
            [environment.python, "-B", os.path.join(HERE, "pack_samples.py"), kind, files.tar,
             path], 600), files.work.dir)
        return Directory(name, "")
    rival.make = make
    return rival


def archives(bench, files, environment):
    """Mounts of a tar, and of the same tar that gzip has compressed."""
    def granaryfs(kind, name):
        return Rival(name, lambda: bench.granaryfs(kind, files.tar, name=name))

    def ratarmount(name, packed, slow):
        return Rival(name, lambda: Ratarmount(bench.work, name, packed(), environment),
                     modules=("ratarmount",), slow=slow)
    return [granaryfs(BARE, TAR_BARE), granaryfs(SHIELDED, TAR_SHIELDED),
            ratarmount(RATARMOUNT, lambda: files.tar, False),
            ratarmount(RATARMOUNT_GZIP, lambda: gzipped(files), True),
            Rival(ARCHIVEMOUNT, lambda: bench.archivemount(files), ("archivemount",), slow=True)]


def images(bench, files):
    """Mounts of images of a filesystem."""
    return [Rival(SQUASHFS_SHIELDED, lambda: bench.granaryfs(
                SHIELDED, files.squashfs("zstd"), name=SQUASHFS_SHIELDED), ("mksquashfs",)),
            Rival(SQUASHFUSE, lambda: bench.squashfuse(files, "zstd"),
                  ("mksquashfs", "squashfuse_ll")),
            Rival(SQUASHFS, lambda: bench.squashfs(files, "zstd"), ("mksquashfs",)),
            Rival(EROFS, lambda: bench.erofs(files), ("mkfs.erofs",))]


def rivals(bench, files, environment):
    """All of them; nothing is made yet."""
    return (archives(bench, files, environment) + images(bench, files) +
            [library(files, environment, name) for name in LIBRARIES] +
            [Rival(TREE, lambda: bench.tree(files)),
             Rival(UNPACKED, lambda: Unpacked(bench.work, files))])
