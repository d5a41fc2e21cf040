#!/usr/bin/python3
"""Runs a command on a kernel that lacks something, by a seccomp filter.

Usage: refusing.py fsopen|beneath|tmpfs|overlay|namespace|sealed COMMAND... Only root can.

fsopen: none of the new calls for mounts (before Linux 5.2). beneath: nothing can be
moved beneath a mount (before 6.5). tmpfs and overlay: none can be mounted. namespace: no
mount namespace can be had. sealed: no file can be mapped as MAP_SHARED only, as one that
is sealed against writing (before 6.7).
"""
import ctypes
import errno
import os
import struct
import sys

PR_SET_SECCOMP, MODE_FILTER = 22, 2
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
REFUSE, ALLOW = 0x00050000, 0x7FFF0000
NOSUID, NOEXEC, BENEATH = 2, 8, 0x200
MOVE_MOUNT, FSOPEN, FSMOUNT = 429, 430, 432
CLONE_NEWNS = 0x20000
MAP_SHARED = 1
UNSHARE, MMAP = (272, 9) if os.uname().machine == "x86_64" else (97, 222)

# what: (call, its argument, the test of that, a value, the error)
CASES = {
    "fsopen": (FSOPEN, 1, ANY_BIT, 0xFFFFFFFF, errno.ENOSYS),
    "beneath": (MOVE_MOUNT, 4, ANY_BIT, BENEATH, errno.EINVAL),
    "tmpfs": (FSMOUNT, 2, EQUAL, NOEXEC, errno.EPERM),
    "overlay": (FSMOUNT, 2, ANY_BIT, NOSUID, errno.EPERM),
    "namespace": (UNSHARE, 0, ANY_BIT, CLONE_NEWNS, errno.ENOSPC),
    "sealed": (MMAP, 3, EQUAL, MAP_SHARED, errno.EPERM),
}


def argument_at(index):
    """Where the low half of an argument lies in struct seccomp_data."""
    return 16 + 8 * index + (4 if sys.byteorder == "big" else 0)


def program(call, argument, test, value, error):
    steps = [(LOAD, 0, 0, 0), (EQUAL, 0, 3, call), (LOAD, 0, 0, argument_at(argument)),
             (test, 0, 1, value), (RETURN, 0, 0, REFUSE | error), (RETURN, 0, 0, ALLOW)]
    return len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps)


def main():
    length, code = program(*CASES[sys.argv[1]])
    libc = ctypes.CDLL(None, use_errno=True)
    kept = ctypes.create_string_buffer(code, len(code))
    filter_program = struct.pack("@HP", length, ctypes.addressof(kept))
    if libc.prctl(PR_SET_SECCOMP, MODE_FILTER, filter_program, 0, 0) != 0:
        sys.exit("refusing.py: seccomp: " + os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[2], sys.argv[2:])


main()
