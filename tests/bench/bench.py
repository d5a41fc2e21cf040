#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast granaryfs is, side by side with everything else; run by `make bench`.

All contenders take turns on one machine in one run; medians are shown, and ratios
only of figures of this run. Statuses: 0, 1 where something failed or gave wrong
bytes, 2 where something is missing. A target that is not reached is a line, not a
failure, unless --strict.
"""
import argparse
import json
import os
import signal
import sys
import time

import chart
import machine
import report
from bench_run import Bench
from settings import Settings, quick_settings
from suites import NAMED, SUITES
from work import Failed, Work


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="SUITE",
                        help="of: %s (all); %s" % (" ".join(SUITES), " ".join(NAMED)))
    parser.add_argument("--quick", action="store_true", help="a few minutes")
    parser.add_argument("--allow-missing", action="store_true",
                        help="leave out contenders that are not installed")
    parser.add_argument("--out", default="bench", help="directory for results.json and chart.svg")
    parser.add_argument("--environment", default="", metavar="DIRECTORY",
                        help="virtual environment of rivals.lock, for the suite rivals")
    parser.add_argument("--note", default="", help="what a reader should know of this run")
    parser.add_argument("--strict", action="store_true", help="fail where a target is missed")
    parser.add_argument("--mib", type=int, help="throttled storage, MiB a second (200)")
    parser.add_argument("--reads", type=int, help="throttled storage, reads a second (1000)")
    parser.add_argument("--rest", metavar="JSON", help="a run of the same machine, of which "
                        "to take the suites that are not measured now")
    parser.add_argument("--draw", metavar="JSON", help="only table and chart, of that run")
    options = parser.parse_args()
    unknown = set(options.suites) - set(SUITES) - set(NAMED)
    if unknown:
        parser.error("no such suite: %s; there are %s" % (
            " ".join(sorted(unknown)), " ".join([*SUITES, *NAMED])))
    return options


def settings_of(options):
    settings = quick_settings() if options.quick else Settings()
    settings.mib = options.mib or settings.mib
    settings.reads = options.reads or settings.reads
    return settings


def check_missing(options):
    lacking = machine.missing()
    for name, package in lacking:
        print("bench: %s is not installed (Debian: %s)" % (name, package))
    if lacking and not options.allow_missing:
        print("bench: install them, or leave them out: --allow-missing")
        sys.exit(2)


def measure(options):
    """The whole run, as it goes into the JSON."""
    settings = settings_of(options)
    run = {"machine": machine.describe(), "quick": options.quick, "note": options.note,
           "date": time.strftime("%Y-%m-%d"), "settings": vars(settings), "rows": []}
    rest = rest_of(run, options)
    work = Work()
    bench = Bench(work, settings, run["rows"], options.allow_missing, options.environment)
    start = time.monotonic()
    try:
        for name in options.suites or SUITES:
            bench.suite(name, {**SUITES, **NAMED}[name])
            print("bench: %s: measured, %d s since the start"
                  % (name, time.monotonic() - start), flush=True)
    except KeyboardInterrupt:
        run["interrupted"] = True
    finally:
        work.close()
    run["seconds"] = round(time.monotonic() - start)
    run["rows"] = in_order(run["rows"] + rest)
    return run


def rest_of(run, options):
    """The rows of an earlier run that this one does not measure again. Figures of two
    machines, or of more and of less data, are not shown as if they were of one run."""
    if not options.rest:
        return []
    with open(options.rest, encoding="utf-8") as file:
        earlier = json.load(file)
    for key in ("cores", "processor", "kernel"):
        if earlier["machine"][key] != run["machine"][key]:
            raise Failed("%s was measured on another machine: its %s is %s, and here %s" % (
                options.rest, key, earlier["machine"][key], run["machine"][key]))
    for key in ("mib", "reads", "quick"):
        if earlier["settings"][key] != run["settings"][key]:
            raise Failed("%s was measured with other settings: its %s is %s, and here %s" % (
                options.rest, key, earlier["settings"][key], run["settings"][key]))
    measured = set(options.suites or SUITES)
    return [row for row in earlier["rows"] if row["suite"] not in measured]


def in_order(rows):
    """As all suites would have left them; those that there are no more come last."""
    places = {name: place for place, name in enumerate(SUITES)}
    return sorted(rows, key=lambda row: places.get(row["suite"], len(places)))


def show(run):
    for entry in run["rows"]:
        report.evaluate(entry)
    print(report.table(run["rows"]))
    print("\n%s; %s, Python %s%s" % (run["date"], machine.sentence(run["machine"]),
                                     run["machine"]["python"],
                                     "; quick" if run["quick"] else ""))
    for sentence in (machine.busy(run["machine"]), run["note"]):
        if sentence:
            print(sentence)


def save(run, directory):
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "results.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(run, out, indent=1)
        out.write("\n")
    with open(os.path.join(directory, "chart.svg"), "w", encoding="utf-8") as out:
        out.write(chart.draw(run))
    print("%s, chart.svg: written" % path)


def status_of(run, strict):
    failed = report.failures(run["rows"])
    for sentence in failed:
        print("bench: failed: %s" % sentence)
    missed = [t for entry in run["rows"] for t in entry["targets"]
              if t["verdict"] != report.YES]
    return 1 if failed or run.get("interrupted") or (strict and missed) else 0


def stop(number, _):
    raise KeyboardInterrupt(number)


def main():
    options = arguments()
    if options.draw:
        with open(options.draw, encoding="utf-8") as file:
            run = json.load(file)
    else:
        for name in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, stop)
        check_missing(options)
        run = measure(options)
    show(run)
    save(run, options.out)
    return status_of(run, options.strict)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        print("bench: %s" % error)
        sys.exit(1)
