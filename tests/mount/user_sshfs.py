#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""user_sshfs.py UID GID DIRECTORY MOUNTPOINT: a FUSE filesystem of a user's own.

sshfs over a pipe to sftp-server, so that neither sshd nor a set-uid fusermount3 is
needed: root mounts, as fusermount3 does it, and both programs are the user's. Nobody but
the user can look into it. The last line of the user's: "pid PID", of sshfs.
"""
import ctypes
import os
import socket
import sys

SERVERS = "/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server"


def mount(uid, gid, mountpoint):
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id={uid},group_id={gid}"
    nosuid_nodev = 2 | 4
    if libc.mount(b"sshfs", os.fsencode(mountpoint), b"fuse.sshfs", nosuid_nodev,
                  options.encode()):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
    os.set_inheritable(fd, True)
    return fd


def become(uid, gid):
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def main():
    uid, gid = int(sys.argv[1]), int(sys.argv[2])
    directory, mountpoint = sys.argv[3:]
    server = next(path for path in SERVERS if os.path.exists(path))
    fd = mount(uid, gid, mountpoint)
    become(uid, gid)
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        os.dup2(theirs.fileno(), 0)
        os.dup2(theirs.fileno(), 1)
        os.execv(server, [server])
    print("pid", os.getpid(), flush=True)
    os.dup2(ours.fileno(), 0)
    os.dup2(ours.fileno(), 1)
    os.execvp("sshfs", ["sshfs", "-f", "-o", "passive", ":" + directory, f"/dev/fd/{fd}"])


main()
