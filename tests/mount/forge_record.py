# SPDX-License-Identifier: GPL-3.0-or-later
"""Announces a mount that is not there: a copy of a record of this user's daemon, with the
connection of another mount (its id, as granary list has it) and a mount point of its own,
by so many processes. Also names that lead nowhere. Prints `ready`, and waits to be ended.

	forge_record.py ID MOUNTPOINT PROCESSES
"""
import ctypes
import os
import re
import signal
import socket
import struct
import sys

HEAD = 32           # before the facts: started, connection, uid, user, jobid
MOUNTPOINT = HEAD + 16 + 64 + 64 + 4096


def announced():
    for line in open("/proc/net/unix", encoding="utf-8", errors="replace"):
        found = re.search(r"@granaryfs/1/(\d+)/(\d+)/", line)
        if found:
            yield found.groups()


def copy_of_own():
    for pid, fd in announced():
        try:
            with open("/proc/%s/fd/%s" % (pid, fd), "rb") as file:
                return bytearray(file.read())
        except OSError:
            continue
    sys.exit("no record can be read")


def announce(text):
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name.bind("\0granaryfs/1/" + text)
    return name


def announce_many(count):
    """In children, which end with this process."""
    for _ in range(count):
        ready, done = os.pipe()
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            main(lambda: os.write(done, b"x"))
        os.close(done)
        if os.read(ready, 1) != b"x":
            sys.exit("a process could not announce")
        os.close(ready)


def main(ready):
    connection = int(sys.argv[1].split(".")[0])
    struct.pack_into("<I", record, HEAD + 8, connection)
    struct.pack_into("<4096s", record, MOUNTPOINT, sys.argv[2].encode())
    memory = os.memfd_create("forged")
    os.write(memory, record)
    pipe, _ = os.pipe()
    held = [announce("%d/%d/0" % (os.getpid(), memory)),
            announce("%d/%d/7" % (os.getpid(), memory)),
            announce("%d/%d/0" % (os.getpid(), pipe)),
            announce("1/0/%d" % os.getpid()), announce("999999999/3/%d" % os.getpid()),
            announce("x/y/%d" % os.getpid())]
    held.append(announce("%s/%s/%d" % (*true_name, os.getpid()))) # once more
    ready()
    signal.pause()


# before there are names that lie
true_name = next(announced())
record = copy_of_own()
announce_many(int(sys.argv[3]) - 1)
main(lambda: print("ready", flush=True))
