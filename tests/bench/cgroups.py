# SPDX-License-Identifier: GPL-3.0-or-later
"""Cgroups, v1 or v2: storage of a known speed, and memory of a known size.

Reader and daemon are in one group: whoever reads the device is slowed down, and
whatever they cause to be read is counted.
"""
import os
import re

from machine import disk_of, drop_caches
from work import Failed, wait_until

MIB = 1 << 20


def find_hierarchies():
    """{controller: (directory, version)} of what is mounted here."""
    found = {}
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            _, directory, kind, options = line.split()[:4]
            if kind == "cgroup":
                for name in {"blkio", "memory"} & set(options.split(",")):
                    found[name] = (directory, 1)
            elif kind == "cgroup2":
                add_unified(found, directory)
    return found


def add_unified(found, directory):
    with open(os.path.join(directory, "cgroup.controllers"), encoding="ascii") as file:
        has = file.read().split()
    for name, key in (("io", "blkio"), ("memory", "memory")):
        if name in has:
            found.setdefault(key, (directory, 2))


def write(path, text):
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise Failed("%s: %s; the benchmark needs cgroups, and root" % (path, error)) from None


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


class Group:
    """One cgroup of one controller; gone when the work is."""

    def __init__(self, work, controller, name):
        hierarchies = find_hierarchies()
        if controller not in hierarchies:
            raise Failed("there is no %s controller: no cgroup v1, nor v2" % controller)
        root, self.version = hierarchies[controller]
        if self.version == 2:
            word = "io" if controller == "blkio" else controller
            write(os.path.join(root, "cgroup.subtree_control"), "+" + word)
        self.dir = os.path.join(root, "granaryfs-bench.%d.%s" % (os.getpid(), name))
        os.mkdir(self.dir)
        work.at_exit(self.remove)

    def entrances(self):
        return [os.path.join(self.dir, "cgroup.procs")]

    def file(self, name):
        return os.path.join(self.dir, name)

    def remove(self):
        """A group can be removed a moment after its last process has gone."""
        def gone():
            try:
                os.rmdir(self.dir)
            except FileNotFoundError:
                pass
            except OSError:
                return False
            return True
        if not wait_until(10, gone):
            print("bench: %s is still in use" % self.dir)


class Storage(Group):
    """A disk of so many MiB and reads a second."""

    def __init__(self, work, mib, reads):
        super().__init__(work, "blkio", "storage")
        self.disk = disk_of(work.dir)
        self.mib, self.limit = mib, mib * MIB
        if self.version == 2:
            write(self.file("io.max"),
                  "%s rbps=%d riops=%d" % (self.disk, self.limit, reads))
        else:
            write(self.file("blkio.throttle.read_bps_device"),
                  "%s %d" % (self.disk, self.limit))
            write(self.file("blkio.throttle.read_iops_device"), "%s %d" % (self.disk, reads))

    def bytes_read(self):
        """What was read from the disk by this group so far."""
        if self.version == 2:
            text, rule = read(self.file("io.stat")), r"^%s .*\brbytes=(\d+)"
        else:
            text = read(self.file("blkio.throttle.io_service_bytes"))
            rule = r"^%s Read (\d+)"
        found = re.search(rule % re.escape(self.disk), text, re.M)
        return int(found.group(1)) if found else 0

    def check(self, work, path):
        """Does it bite, and count? What dd reads is neither faster nor uncounted."""
        drop_caches()
        size = os.stat(path).st_size
        before = self.bytes_read()
        took = float(work.run(["bash", "-c", DD, "dd", path], groups=[self]))
        counted = self.bytes_read() - before
        if size / took > 1.3 * self.limit or counted < 0.95 * size:
            raise Failed("the throttle of %s does nothing: dd read %d MiB at %d MiB/s, "
                         "%d MiB were counted" % (self.disk, size / MIB, size / took / MIB,
                                                  counted / MIB))
        return size / took / MIB


# bash's own clock: a process' start is not measured
DD = """a=${EPOCHREALTIME/./}; dd if="$1" of=/dev/null bs=1M status=none || exit
b=${EPOCHREALTIME/./}; echo "$(((b - a) / 1000000)).$(printf %06d $(((b - a) % 1000000)))" """


class Memory(Group):
    """Processes and page cache within a limit."""

    def __init__(self, work, size, name="memory"):
        super().__init__(work, "memory", name)
        key = "memory.max" if self.version == 2 else "memory.limit_in_bytes"
        write(self.file(key), str(size))
