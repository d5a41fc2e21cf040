# SPDX-License-Identifier: GPL-3.0-or-later
"""A reader of samples that is ready before the clock starts, and its memory.

The interpreter and its modules are nobody's work. They lie on the node, too, and not on
the storage that is slow: so the reader enters the cgroups when it is ready.
"""
import json
import os
import select
import subprocess
import time

from cgroups import write
from work import Failed, end_group

HERE = os.path.dirname(os.path.abspath(__file__))
READY_SECONDS = 120
POLL_SECONDS = 0.1
OWN_MEMORY = ("Pss_Anon:", "Pss_Shmem:")


def processes_of(session):
    """Who runs in a session: a reader and its workers."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(pid)) == session:
                found.append(int(pid))
        except ProcessLookupError:
            pass
    return found


def own_memory(pids):
    """Bytes that are no file's; what processes share is counted once."""
    total = 0
    for pid in pids:
        try:
            with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
                total += sum(1024 * int(words[1]) for words in map(str.split, file)
                             if words[0] in OWN_MEMORY)
        except OSError:
            pass
    return total


class SampleReader:
    def __init__(self, work, python, words):
        self.errors = open(work.path("reader.log"), "w+b")
        self.process = subprocess.Popen(
            [python, "-B", os.path.join(HERE, "read_samples.py"), *map(str, words)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            start_new_session=True)

    def __enter__(self):
        try:
            if self.line(READY_SECONDS) != "ready":
                raise Failed("the reader did not begin: %s" % self.said())
        except Failed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        end_group(self.process)
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()

    def enter(self, groups):
        for pid in processes_of(self.process.pid):
            for path in (path for group in groups for path in group.entrances()):
                write(path, str(pid))

    def go(self):
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def line(self, seconds, poll=None):
        """The next line that is printed; meanwhile poll() is called at times."""
        end = time.monotonic() + seconds
        while not select.select([self.process.stdout], [], [], POLL_SECONDS)[0]:
            if time.monotonic() > end:
                raise Failed("the reader: not done after %g s" % seconds)
            if poll:
                poll()
        return self.process.stdout.readline().decode().strip()

    def result(self, seconds, poll=None):
        text = self.line(seconds, poll)
        try:
            return json.loads(text)
        except ValueError:
            raise Failed("the reader: %s" % self.said()) from None

    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()[-300:]
