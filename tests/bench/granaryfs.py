# SPDX-License-Identifier: GPL-3.0-or-later
"""granaryfs as a contender: its mount, its counters and its processes."""
import os
import re
import signal
import time

from contenders import Mount
from work import Absent, Failed, wait_until

BUILD = os.environ.get("abs_top_builddir", os.getcwd())
PROGRAM = os.path.join(BUILD, "granaryfs")
GRANARY = os.path.join(BUILD, "granary")
READ_ALL = os.path.join(BUILD, "tests/bin/read-all")
EMPTY_FUSE = os.path.join(BUILD, "tests/bin/empty-fuse")
BARE, SHIELDED, AUTO = "granaryfs-bare", "granaryfs-shielded", "granaryfs-auto"
# With the shield other users may look; without it the default is kept.
SHIELD_OPTIONS = {BARE: ["shield=off"], SHIELDED: ["allow_other", "shield=on"],
                  AUTO: ["allow_other", "shield=auto"]}
STATS = re.compile(r"stats: (\w+) (\d+)$", re.M)


class Granaryfs(Mount):
    """`kind` is BARE, SHIELDED or AUTO; `options` are those of the row: prefetch=, cache=."""

    def __init__(self, work, kind, packed, *options, name=None):
        name = name or kind
        super().__init__(work, name, packed)
        self.options = SHIELD_OPTIONS[kind] + list(options)
        self.pid = 0
        self.note = "-o " + ",".join(self.options)
        self.log = work.path(self.word + ".log")

    def command(self):
        return [PROGRAM, "-o", ",".join(self.options + ["log=" + self.log]), self.packed,
                self.point]

    def mount(self, groups=()):
        open(self.log, "w", encoding="ascii").close()
        super().mount(groups)
        self.pid = self.supervisor()
        self.look()

    def look(self):
        """With AUTO a shield comes once readers need it."""
        self.shield = "on" if self.counters().get("shielded") else "off"

    def index(self):
        """Beside the packed file, as `granary index` leaves it."""
        self.work.run([GRANARY, "index", self.packed], 1200)
        return self

    def no_index(self):
        if os.path.exists(self.packed + ".gidx"):
            os.unlink(self.packed + ".gidx")

    def supervisor(self):
        """Of the processes of this mount the one that no other of them started."""
        all_of_them = self.processes()
        for pid in all_of_them:
            parent = status_of(pid).get("PPid", ["0"])[0]
            if int(parent) not in all_of_them:
                return pid
        raise Failed("%s: its daemon has ended" % self.name)

    def counters(self):
        """{name: value} now, from the log: asking through the mount is a request."""
        at = os.path.getsize(self.log)
        try:
            os.kill(self.pid, signal.SIGUSR1)
        except ProcessLookupError:
            raise Failed("%s: its daemon has ended" % self.name) from None
        if not wait_until(10, lambda: self.said_since(at), 0.002):
            raise Failed("%s: no counters in its log" % self.name)
        return self.said_since(at)

    def said_since(self, at):
        """The counters that the log has behind `at`; None while the end is not there."""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(at)
            text = log.read()
        if not re.search(r"stats: end\b", text):
            return None
        return {name: int(value) for name, value in STATS.findall(text)}

    def memory(self):
        """Bytes of its processes that are no file's: its own."""
        return sum(1024 * int(status_of(pid).get(key, ["0"])[0])
                   for pid in self.processes() for key in ("RssAnon", "RssShmem"))

    def work_done(self):
        """(ticks, wake-ups) of all its threads so far."""
        ticks = wakes = 0
        for pid in self.processes():
            with open("/proc/%d/stat" % pid, encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
            for thread in os.listdir("/proc/%d/task" % pid):
                said = status_of("%d/task/%s" % (pid, thread))
                wakes += int(said.get("voluntary_ctxt_switches", ["0"])[0])
        return ticks, wakes


def status_of(pid):
    """{key: words} of /proc/PID/status; empty when it has ended."""
    try:
        with open("/proc/%s/status" % pid, encoding="ascii", errors="replace") as file:
            return {key: value.split() for key, _, value in
                    (line.partition(":") for line in file)}
    except OSError:
        return {}


def requests(counters):
    return sum(value for name, value in counters.items() if name.startswith("fuse_"))


def wait_for_sweep(mount, seconds):
    """When (monotonic) all that is to be in the page cache was there, once it has begun.
    A file that is being read is left out of the push: what then lacks the last
    hundredth, and stands still, has ended when it last grew."""
    start = changed = time.monotonic()
    resident = 0
    while time.monotonic() < start + seconds:
        counters = mount.counters()
        now, wanted = time.monotonic(), counters.get("sweep_target", 0)
        if counters.get("swept_bytes", 0) != resident:
            resident, changed = counters["swept_bytes"], now
        if wanted and (resident >= wanted or
                       resident >= 0.99 * wanted and now > changed + 1):
            return changed
        if not wanted and now > start + 3:
            raise Absent("no sweep was begun")
        time.sleep(0.01)
    raise Failed("%s: the sweep did not end in %d s" % (mount.name, seconds))
