# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command whose output nobody reads, and says what its child without rights is.

    sandbox.py FIELDS COMMAND...

The pipe of standard output is full, so that whoever prints waits. When a process below the
command has a system call filter and sleeps, a line FIELD=VALUE of its /proc/PID/status is
printed for each; then the pipe is read, and the command's exit status is "status=N".
"""
import fcntl
import os
import subprocess
import sys
import time


def status_of(pid):
    with open("/proc/%d/status" % pid) as file:
        lines = (line.rstrip("\n").partition(":") for line in file)
        return {name: " ".join(value.split()) for name, _, value in lines}


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def find(pid, end):
    """The status of a child that parses and waits, or the last that could be seen."""
    seen = None
    while time.monotonic() < end:
        try:
            for child in children(pid):
                seen = status_of(child)
                if seen["Seccomp"] == "2" and seen["State"].startswith("S"):
                    return seen
        except (OSError, KeyError):
            pass
        time.sleep(0.001)
    return seen


def fill(fd):
    flags = fcntl.fcntl(fd, fcntl.F_GETFL)
    fcntl.fcntl(fd, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    try:
        while True:
            os.write(fd, b"x" * 4096)
    except BlockingIOError:
        pass
    fcntl.fcntl(fd, fcntl.F_SETFL, flags)


def main():
    fields, command = sys.argv[1].split(","), sys.argv[2:]
    read, write = os.pipe()
    fill(write)
    process = subprocess.Popen(command, stdout=write, stdin=subprocess.DEVNULL)
    os.close(write)
    seen = find(process.pid, time.monotonic() + 20) or {}
    for field in fields:
        print("%s=%s" % (field, seen.get(field)))
    while os.read(read, 1 << 20):
        pass
    print("status=%d" % process.wait())


main()
