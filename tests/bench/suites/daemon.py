# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon itself takes: memory for many files, and processor time for none."""
import time

import report
from bench_run import SWEEP
from epoch import Epoch, prepared, unmount
from granaryfs import BARE, GRANARY, SHIELDED, requests
from work import Failed


def memory(bench):
    files = bench.data.get("many")
    count = files.count
    row = bench.row("memory", "memory", "the daemon's own memory beyond its cache, %d files, "
                    "all of them listed" % count, "find; RssAnon + RssShmem - cache_bytes",
                    "MB", better="less")

    def once(contender, _):
        contender.mount()
        try:
            found = bench.work.run(["bash", "-c", 'find "$1" -type f | wc -l', "find",
                                    contender.root], 600)
            if int(found) != count:
                raise Failed("find saw %s files, not %d" % (found.strip(), count))
            return (contender.memory() - contender.counters().get("cache_bytes", 0)) / 1e6
        finally:
            contender.unmount()
    bench.work.run([GRANARY, "index", files.tar], 1200)
    contenders = [bench.granaryfs(BARE, files.tar, *SWEEP)]
    bench.turns(row, contenders, 1, once)
    report.target(row, "daemon's own memory, %d files, MB (64 MB and 64 bytes a file)" % count,
                  BARE, None, "<=", 64 + 64 * count / 1e6)


def idle(bench):
    """After a warm epoch nothing is asked; then nothing may be done."""
    files = bench.data.get("photos")
    seconds = bench.settings.idle_seconds
    what = "idle for %d s with a warm mount" % seconds
    ticks = bench.row("idle", "idle-ticks", what, "utime + stime of all threads", "ticks",
                      better="less")
    wakes = bench.row("idle", "idle-wakes", what, "voluntary context switches of all threads",
                      "a second", better="less")
    contenders = bench.granaries(files.tar)
    there = prepared(bench, ticks, contenders, Epoch(bench, files))
    asked = [requests(contender.counters()) for contender in there]
    time.sleep(2)
    before = [contender.work_done() for contender in there]
    time.sleep(seconds)
    after = [contender.work_done() for contender in there]
    for contender, then, now, had in zip(there, before, after, asked):
        # somebody else's drop_caches is requests to forget
        note = "%s; %d requests came" % (contender.note, requests(contender.counters()) - had)
        words = (contender.name, contender.shield, note)
        report.series_of(ticks, *words)["values"].append(now[0] - then[0])
        report.series_of(wakes, *words)["values"].append((now[1] - then[1]) / seconds)
    unmount(bench, ticks, there)
    for kind in (BARE, SHIELDED):
        shielded = kind == SHIELDED
        report.target(ticks, "idle daemon, ticks, " + kind, kind, None, "<=", 0, shielded)
        report.target(wakes, "idle daemon, wake-ups a second, " + kind, kind, None, "<=", 1,
                      shielded)
