#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands for an automounter: has a command mount when the kernel's autofs asks for it.

Usage: autofs.py direct|indirect DIRECTORY COMMAND... Only root can, in a mount namespace of
its own.

autofs is mounted on DIRECTORY. A process of another session lists DIRECTORY, or DIRECTORY/name for
`indirect`. The kernel lets it wait and asks for a mount there, which COMMAND makes: {} in
it becomes the place. Only processes of this one's process group are let through before
that is done. Then is printed: the status of COMMAND and how long it took, what type of
filesystem is there, and what the process lists:

    status 0
    milliseconds 130
    type overlay
    listed file directory

and, where AUTOFS_THEN is a command of bash that does something with the place, $1, then
also its status: `then 0`.

COMMAND that takes too long is killed (`status hangs`). All that is mounted on DIRECTORY is
taken away at the end.
"""
import ctypes
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import time

COMMAND_SECONDS, LISTING_SECONDS = 15, 5
READY, FAIL, CATATONIC = 0x9360, 0x9361, 0x9362
PACKET = struct.Struct("=iiIIQIIIII256s")   # struct autofs_v5_packet
MISSING = {"direct": 5, "indirect": 3}
MNT_DETACH, UMOUNT_NOFOLLOW = 2, 8
libc = ctypes.CDLL(None, use_errno=True)


def mount_autofs(directory, kind):
    """The pipe that the kernel asks through, and the directory, opened before anybody waits there."""
    ours, kernels = os.pipe()
    options = "fd=%d,pgrp=%d,minproto=5,maxproto=5,%s" % (kernels, os.getpgrp(), kind)
    if libc.mount(b"test", directory.encode(), b"autofs", 0, options.encode()) != 0:
        sys.exit("autofs.py: autofs cannot be mounted: " + os.strerror(ctypes.get_errno()))
    os.close(kernels)
    return ours, os.open(directory, os.O_RDONLY | os.O_DIRECTORY)


def list_elsewhere(place):
    return subprocess.Popen(["ls", "-A", place], start_new_session=True, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def asked(pipe, kind):
    """The token of the request for a mount."""
    while select.select([pipe], [], [], LISTING_SECONDS)[0]:
        packet = PACKET.unpack(os.read(pipe, PACKET.size + 4)[:PACKET.size])
        if packet[1] == MISSING[kind]:
            return packet[2]
    sys.exit("autofs.py: the kernel asked for nothing")


def run(command):
    """Its status, or None: it hangs, and was killed."""
    begin = time.monotonic()
    child = subprocess.Popen(command)
    try:
        status = child.wait(COMMAND_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        status = None
    print("status", "hangs" if status is None else status)
    print("milliseconds", round((time.monotonic() - begin) * 1000))
    return status


def type_of(place):
    with open("/proc/self/mounts") as mounts:
        fields = [line.split(" ") for line in mounts]
    return [f[2] for f in fields if f[1] == place][-1:] or ["none"]


def say_what_is_there(place, lister):
    print("type", *type_of(place))
    try:
        print("listed", *lister.communicate(timeout=LISTING_SECONDS)[0].split())
    except subprocess.TimeoutExpired:
        print("listed hangs")


def take_away(place):
    """Nobody waits: what is on autofs first, and then autofs."""
    while libc.umount2(place.encode(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0:
        pass


def main():
    kind, directory, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    place = directory if kind == "direct" else directory + "/name"
    os.setpgrp()
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    pipe, root = mount_autofs(directory, kind)
    lister = list_elsewhere(place)
    try:
        token = asked(pipe, kind)
        if kind == "indirect":
            os.mkdir(place)
        status = run([word.replace("{}", place) for word in command])
        fcntl.ioctl(root, READY if status == 0 else FAIL, token)
        say_what_is_there(place, lister)
        if "AUTOFS_THEN" in os.environ:
            then = ["bash", "-c", os.environ["AUTOFS_THEN"], "bash", place]
            print("then", subprocess.run(then, start_new_session=True).returncode)
    finally:
        fcntl.ioctl(root, CATATONIC, 0)  # whoever still waits is let go
        os.close(root)
        take_away(place)
        take_away(directory)


main()
