#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""keep_id.py UID GID COMMAND...: runs it as the root of a container that a rootless
Podman makes with --userns=keep-id.

The ids UID and GID are in the container what they are outside; its root is one of the
subordinate ids of subuid(5), and so nobody's that a mount knows.
"""
import ctypes
import os
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
SUBORDINATE = 100000


def contain(ready, mapped, command):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        sys.exit("unshare: " + os.strerror(ctypes.get_errno()))
    os.write(ready, b"x")
    os.read(mapped, 1)
    os.setgroups([])
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    if libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    os.execvp(command[0], command)


def main():
    ids = {"uid": int(sys.argv[1]), "gid": int(sys.argv[2])}
    is_ready, ready = os.pipe()
    mapped, is_mapped = os.pipe()
    child = os.fork()
    if child == 0:
        contain(ready, mapped, sys.argv[3:])
    os.read(is_ready, 1)
    for name, number in ids.items():
        with open(f"/proc/{child}/{name}_map", "w", encoding="ascii") as out:
            out.write(f"0 {SUBORDINATE} {number}\n{number} {number} 1\n")
    os.write(is_mapped, b"x")
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))


main()
