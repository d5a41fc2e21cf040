# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is measured: where its files are, how it is mounted, and unmounted.

A contender is told which cgroups its daemon begins in; afterwards `root` is where
the files are. `shield` is None where there is no such thing, and `note` says what a
reader of the table has to know.
"""
import os
import re

from work import Failed, kill_with, processes_with, wait_until

MOUNT_SECONDS = 120


def is_mounted(point):
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        return any(line.split()[1] == point for line in mounts)


class Directory:
    """Files that lie there: nothing is mounted."""
    shield = None

    def __init__(self, name, root, note=""):
        self.name, self.root, self.note = name, root, note

    def mount(self, groups=()):
        pass

    def unmount(self):
        pass

    def processes(self):
        return []

    def no_index(self):
        pass


class Mount:
    """A program that mounts a packed file; `command` is told what and where."""
    shield = None
    note = ""

    def __init__(self, work, name, packed):
        self.work, self.name, self.packed = work, name, packed
        # in options too, where a comma ends a word
        self.word = re.sub(r"[^\w.]+", "-", name)
        self.point = self.root = work.path("mnt-" + self.word)
        self.watched = False

    def command(self):
        raise NotImplementedError

    def mount(self, groups=()):
        if not os.path.isdir(self.point):
            os.mkdir(self.point)
        if not self.watched:
            self.work.at_exit(self.leave)
            self.watched = True
        self.work.run(self.command(), MOUNT_SECONDS, groups)
        if not wait_until(10, lambda: is_mounted(self.point), 0.001):
            raise Failed("%s is not mounted" % self.name)

    def unmount(self):
        """No error where it could not be mounted: then that is what is told."""
        if not is_mounted(self.point):
            return
        self.work.run(["umount", self.point], 60)
        if not wait_until(30, lambda: not processes_with(self.point)):
            raise Failed("%s: its daemon did not end" % self.name)

    def processes(self):
        """Of its daemon, where there is one."""
        return processes_with(self.point)

    def no_index(self):
        """Removes what an earlier mount wrote beside the packed file."""

    def leave(self):
        """However it stands: at the end, and after a failure."""
        try:
            if is_mounted(self.point):
                self.work.run(["umount", self.point], 30)
        except Failed:
            kill_with(self.point)
            while is_mounted(self.point):
                self.work.run(["umount", "-l", self.point], 30)
        if not wait_until(5, lambda: not processes_with(self.point)):
            kill_with(self.point)


class Squashfuse(Mount):
    def command(self):
        return ["squashfuse_ll", self.packed, self.point]


class EmptyFuse(Mount):
    """A daemon that only gives names: what a walk through any costs."""

    def __init__(self, work, name, program, *words):
        super().__init__(work, name, program)
        self.words = [str(word) for word in words]

    def command(self):
        return [self.packed, *self.words, self.point]


class Archivemount(Mount):
    def command(self):
        return ["archivemount", "-o", "readonly,nobackup", self.packed, self.point]


class Loop(Mount):
    """The kernel's own filesystem on a loop device, as `mount -o loop` does it.

    `direct`: the loop device reads with O_DIRECT. Else the image's pages are nobody's,
    and a memory cgroup does not limit them.
    """

    def __init__(self, work, name, packed, kind, direct=False):
        super().__init__(work, name, packed)
        self.kind, self.direct = kind, direct
        self.device = None
        self.note = "loop device with O_DIRECT" if direct else ""

    def command(self):
        if self.device:
            return ["mount", "-t", self.kind, "-o", "ro", self.device, self.point]
        return ["mount", "-t", self.kind, "-o", "loop,ro", self.packed, self.point]

    def mount(self, groups=()):
        if not self.direct:
            super().mount(groups)
            return
        self.device = self.work.run(["losetup", "--find", "--show", "--read-only",
                                     "--direct-io=on", self.packed], 60).strip()
        try:
            super().mount(groups)
        finally:
            # it goes with the mount, or at once where there is none
            self.work.run(["losetup", "--detach", self.device], 60)
