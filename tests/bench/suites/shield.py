# SPDX-License-Identifier: GPL-3.0-or-later
"""shield=auto beside both: it should be as fast as the faster one, whoever reads."""
import time

import report
from epoch import Epoch, unmount
from granaryfs import AUTO, BARE, SHIELDED
from readers import agree

SETTLE = 4          # epochs before the first that counts,
PAUSE = 1           # with so many seconds behind each: the daemon looks a few times a second
READERS = (
    ("c2", "C: open, fstat, read to the end, close; 2 processes", lambda e: e.c(2)),
    ("python2", "Python: open(path, 'rb').read(); 2 processes", lambda e: e.python(2)),
    ("raw2", "Python: the same with buffering=0, so without an ioctl, as Python 3.14 does it; "
     "2 processes", lambda e: e.python(2, "raw")),
)


def settled(bench, epoch, read):
    """Mounted, compared by a reader without ioctls, and read until nothing changes."""
    def once(contender):
        contender.mount()
        found = bench.readers.python("raw", epoch.list(contender), 0, 2, "check")
        agree(found, *epoch.expected(contender),
              epoch.files.checksum(epoch.names(contender)))
        for _ in range(SETTLE):
            read(contender, 0)
            time.sleep(PAUSE)
        contender.look()
        return True
    return once


def shield(bench):
    files = bench.data.get("photos")
    epoch = Epoch(bench, files)
    for key, words, reader in READERS:
        row = bench.row("shield", "auto-" + key,
                        "warm, random, %d files of 110 kB, a mount for each reader" % len(files),
                        words, "files/s")
        contenders = bench.granaries(files.tar) + [
            bench.granaryfs(AUTO, files.tar, "prefetch=sweep", "cache=50%")]
        read = reader(epoch)
        there = [contender for contender in contenders
                 if bench.attempt(row, contender, settled(bench, epoch, read))]
        bench.turns(row, there, bench.settings.rounds, read)
        unmount(bench, row, there)
        report.target(row, "warm, %s, shield=auto, of the better of bare and shielded" % key,
                      AUTO, [BARE, SHIELDED], ">=", 0.97)
