#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mounts as a container's runtime does it for `--fusemount`: opens /dev/fuse, mounts, gives its
rights away, and starts the program with /dev/fd/N as the mount point.

Usage: passed_mount.py UID GID MOUNTPOINT COMMAND [ARGUMENT...]

The command gets /dev/fd/N as its last argument, and takes the place of this process.
"""
import ctypes
import os
import sys

MS_RDONLY, MS_NOSUID, MS_NODEV = 1, 2, 4


def mount(fd, uid, gid, where):
    options = "fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other" % (fd, uid, gid)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"fuse", where.encode(), b"fuse.granaryfs",
                  MS_RDONLY | MS_NOSUID | MS_NODEV, options.encode()) != 0:
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))


def main():
    uid, gid, where, *command = sys.argv[1:]
    fd = os.open("/dev/fuse", os.O_RDWR)
    os.set_inheritable(fd, True)
    mount(fd, int(uid), int(gid), where)
    os.setgroups([])
    os.setgid(int(gid))
    os.setuid(int(uid))
    os.execv(command[0], command + ["/dev/fd/%d" % fd])


main()
