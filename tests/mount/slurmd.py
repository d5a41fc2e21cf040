#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a script as slurmd runs its Prolog and Epilog.

    slurmd.py [--limit SECONDS] SCRIPT [NAME=VALUE...]

The environment is what is given and nothing else; standard input is /dev/null;
standard output and error are one pipe, which is read to its end; other
descriptors are closed; the script leads a process group of its own, which gets
TERM, and KILL after 10 ms, when the script has ended. Slurm: run_command.c.

Prints STATUS MILLISECONDS BYTES: the script's status, or 128 and the signal, or
"timeout" where it, or the pipe, was still there after --limit; how long all of
it took; how many bytes came through the pipe.
"""
import argparse
import os
import select
import signal
import time


def child(script, environment, pipe):
    os.setpgid(0, 0)
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(pipe, 1)
    os.dup2(pipe, 2)
    os.closerange(3, 1024)
    # Python ignores this one, and what is ignored stays so through exec.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve(script, [script], environment)


def read_to_end(pipe, end):
    """How many bytes came, and whether that was all."""
    count = 0
    while (left := end - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            data = os.read(pipe, 65536)
            if not data:
                return count, True
            count += len(data)
    return count, False


def wait_until(pid, end):
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status
        if time.monotonic() > end:
            return None
        time.sleep(0.002)


def kill_group(pid):
    for number in signal.SIGTERM, signal.SIGKILL:
        try:
            os.killpg(pid, number)
        except ProcessLookupError:
            return
        time.sleep(0.01)


def run(script, environment, limit):
    begin = time.monotonic()
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            child(script, environment, writer)
        finally:
            os._exit(127)
    os.close(writer)
    count, closed = read_to_end(reader, begin + limit)
    status = wait_until(pid, begin + limit) if closed else None
    kill_group(pid)
    if status is None:
        os.waitpid(pid, 0)
        return "timeout", time.monotonic() - begin, count
    return os.waitstatus_to_exitcode(status) % 256, time.monotonic() - begin, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("script")
    parser.add_argument("environment", nargs="*")
    options = parser.parse_args()
    pairs = (os.fsencode(pair).split(b"=", 1) for pair in options.environment)
    status, seconds, count = run(options.script, dict(pairs), options.limit)
    print(status, round(seconds * 1000), count)


main()
