# SPDX-License-Identifier: GPL-3.0-or-later
"""What a figure was measured on, and the state that it is measured from."""
import importlib.util
import os
import platform
import re
import shutil
import subprocess

from work import Failed

# program: Debian's package
PROGRAMS = {"mksquashfs": "squashfs-tools", "squashfuse_ll": "squashfuse",
            "mkfs.erofs": "erofs-utils", "archivemount": "archivemount",
            "fusermount3": "fuse3", "fusermount": "fuse3", "tar": "tar"}
MODULES = {"torch": "python3-torch", "torchvision": "python3-torchvision",
           "PIL": "python3-pil", "h5py": "python3-h5py", "numpy": "python3-numpy"}


def first_line(path, key):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(key):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def describe():
    memory = int(first_line("/proc/meminfo", "MemTotal").split()[0])
    return {"cores": len(os.sched_getaffinity(0)),
            "processor": first_line("/proc/cpuinfo", "model name"),
            "memory_gib": round(memory / 2**20, 1),
            "kernel": platform.release(),
            "load": round(os.getloadavg()[0], 1),
            "python": platform.python_version()}


def sentence(machine):
    return "%d cores%s, %g GiB, Linux %s" % (
        machine["cores"], " (%s)" % machine["processor"] if machine["processor"] else "",
        machine["memory_gib"], machine["kernel"])


def busy(machine):
    """A sentence, where others worked on the machine when the run began."""
    if machine.get("load", 0) <= 0.3 * machine["cores"]:
        return ""
    return "others kept the machine busy (load %g): what is warm is disturbed" % machine["load"]


def missing():
    """[(what, package)] of what is not installed."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    lacking = [(name, package) for name, package in PROGRAMS.items()
               if not shutil.which(name, path=path)]
    os.environ["PATH"] = path
    for name, package in MODULES.items():
        if not importlib.util.find_spec(name):
            lacking.append(("Python's " + name, package))
    return lacking


def drop_caches():
    """Nothing of any disk is in memory afterwards."""
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
            file.write("3")
    except OSError as error:
        raise Failed("caches cannot be dropped (%s); run it as root" % error) from None


def load_programs(*programs):
    """Into memory, with their libraries: they lie on the node, not on the storage that
    is slow. Whoever is not installed is left out."""
    for program in filter(None, map(shutil.which, programs)):
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
        for path in [program] + re.findall(r"(/\S+) \(0x", listed.stdout):
            with open(path, "rb") as file:
                while file.read(1 << 20):
                    pass


def disk_of(path):
    """MAJOR:MINOR of the whole disk under a path: only that can be throttled."""
    device = os.stat(path).st_dev
    name = "%d:%d" % (os.major(device), os.minor(device))
    directory = os.path.realpath("/sys/dev/block/" + name)
    if not os.path.isdir(directory):
        raise Failed("%s lies on no block device (%s): set TMPDIR to a directory on a disk"
                     % (path, name))
    if os.path.exists(os.path.join(directory, "partition")):
        directory = os.path.dirname(directory)
    with open(os.path.join(directory, "dev"), encoding="ascii") as file:
        return file.read().strip()
