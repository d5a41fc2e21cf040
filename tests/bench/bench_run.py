# SPDX-License-Identifier: GPL-3.0-or-later
"""What every suite is given: data, readers, throttled storage, and turns."""
import importlib.util
import shutil
import traceback

import report
from cgroups import Storage
from contenders import Archivemount, Directory, Loop, Squashfuse
from data import Data
from granaryfs import BARE, SHIELDED, Granaryfs
from readers import Readers
from work import Absent, Failed

SHM, TREE = "/dev/shm", "files on disk"
SQUASHFS, EROFS = "kernel squashfs", "kernel erofs"
SQUASHFUSE, ARCHIVEMOUNT = "squashfuse_ll", "archivemount"
# Programs that a suite or a contender needs.
PROGRAMS = {"decode": ("mksquashfs", "squashfuse_ll"), "squashfs": ("mksquashfs",),
            "squashfuse": ("mksquashfs", "squashfuse_ll"), "erofs": ("mkfs.erofs",),
            "archivemount": ("archivemount",)}
MODULES = {"loaders": ("torch", "torchvision", "PIL"), "hdf5": ("torch", "torchvision", "h5py"),
           "large": ("numpy",), "sums": ("numpy",),
           "tokens": ("numpy",)}
# As in a job: everything that fits is fetched, and there is room for it.
SWEEP = ("prefetch=sweep", "cache=50%")


def lacking(programs, modules=()):
    return [name for name in programs if not shutil.which(name)] + [
        name for name in modules if not importlib.util.find_spec(name)]


class Bench:
    def __init__(self, work, settings, rows, allow_missing, environment=""):
        self.work, self.settings, self.rows = work, settings, rows
        self.allow_missing, self.environment = allow_missing, environment
        self.data = Data(work, settings)
        self.readers = Readers(work)
        self.throttle = None

    def suite(self, name, function):
        """One that cannot go on is a row that says so, and the others follow."""
        without = lacking(PROGRAMS.get(name, ()), MODULES.get(name, ()))
        row = report.row(name, name, "not measured to the end", "none", "")
        found = report.series_of(row, name)
        try:
            if without:
                found["absent"] = "without " + " ".join(without)
            else:
                function(self)
        except Exception as error:  # whatever it was
            if not isinstance(error, Failed):
                traceback.print_exc()
            found["failed"] = str(error) or repr(error)
        if found["failed"] or found["absent"]:
            self.rows.append(row)

    def row(self, *words, **more):
        made = report.row(*words, **more)
        self.rows.append(made)
        return made

    def storage(self, path):
        """The throttle, tried with a file before its first use."""
        if not self.throttle:
            self.throttle = Storage(self.work, self.settings.mib, self.settings.reads)
            rate = self.throttle.check(self.work, path)
            print("bench: throttled: dd reads %.0f MiB/s" % rate, flush=True)
        return self.throttle

    # Contenders for one data set.

    def granaryfs(self, kind, packed, *options, name=None):
        return Granaryfs(self.work, kind, packed, *options, name=name)

    def granaries(self, packed, *options):
        """Bare and shielded, with an index."""
        made = [self.granaryfs(kind, packed, *(options or SWEEP)) for kind in (BARE, SHIELDED)]
        made[0].index()
        return made

    def shm(self, files):
        return Directory(SHM, files.in_shm())

    def tree(self, files):
        return Directory(TREE, files.tree())

    def squashfs(self, files, codec="lz4", direct=False):
        return Loop(self.work, SQUASHFS, files.squashfs(codec), "squashfs", direct)

    def squashfuse(self, files, codec="lz4"):
        return Squashfuse(self.work, SQUASHFUSE, files.squashfs(codec))

    def erofs(self, files, direct=False):
        return Loop(self.work, EROFS, files.erofs(), "erofs", direct)

    def archivemount(self, files):
        return Archivemount(self.work, ARCHIVEMOUNT, files.tar)

    def others(self, files, *makers, **more):
        """Contenders by their makers' names, but those that may be missing."""
        return [getattr(self, maker)(files, **more) for maker in makers
                if not self.allow_missing or not lacking(PROGRAMS.get(maker, ()))]

    # Turns.

    def attempt(self, row, contender, function, *arguments):
        """function(contender, ...), or None and the reason in the row."""
        name = contender.name
        try:
            return function(contender, *arguments)
        except Failed as error:
            print("bench: %s: %s: %s" % (row["key"], name, error), flush=True)
            found = report.series_of(row, name, contender.shield, contender.note)
            kind = "absent" if isinstance(error, Absent) else "failed"
            found[kind] = found[kind] or str(error)   # the first is the cause
            return None

    def turns(self, row, contenders, rounds, function):
        """Each in turn, in every round another one first; the values that it gives."""
        for number in range(1, rounds + 1):
            first = number % len(contenders) if contenders else 0
            for contender in contenders[first:] + contenders[:first]:
                found = report.series_of(row, contender.name, contender.shield,
                                         contender.note)
                if found["failed"] or found["absent"]:
                    continue
                value = self.attempt(row, contender, function, number)
                found["shield"], found["note"] = contender.shield, contender.note
                if value is not None:
                    found["values"].append(value)
        in_order = {c.name: row["series"][c.name] for c in contenders}
        row["series"] = {**in_order, **row["series"]}
