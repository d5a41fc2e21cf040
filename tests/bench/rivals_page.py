#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes a page and charts of a run of the suite rivals.

Usage: rivals_page.py RESULTS.json DIRECTORY

Writes DIRECTORY/RIVALS.md, and DIRECTORY/bench/rivals/ with the charts and the results. All
sentences follow the order of this run's figures.
"""
import json
import os
import shutil
import sys

import chart
import machine
import report
from report import number
from rival_contenders import UNPACKED
from rivals_words import HOW, WHY, is_file

OURS = "granaryfs"
EQUAL = 1.05     # ratios below it are no difference
COLUMNS = (("first", "first sample, ms"), ("cold", "cold, 2"), ("warm1", "warm, 1"),
           ("warm2", "warm, 2"), ("warm4", "warm, 4"), ("decode", "decoded, 2"),
           ("memory", "memory, MB"))
SECTIONS = (("first", "The first sample", ("first",)), ("cold", "The first epoch", ("cold",)),
            ("warm", "Later epochs", ("warm1", "warm2", "warm4")),
            ("decode", "With decoding", ("decode",)), ("memory", "Memory", ("memory",)))
INTRODUCTION = """<!-- SPDX-License-Identifier: GPL-3.0-or-later -->
<!-- Made by tests/bench/rivals_page.py -->
# granaryfs beside other ways to read a packed dataset

{data}. A sample is the bytes of one of them; with decoding it is
224 x 224 pixels. All readers are processes of Python. All contenders take turns on one
machine, and medians are shown. Every byte is compared first; of archivemount and of
ratarmount over gzip, those of some samples.

The machine: {host}.
The run{quick}, on {date}: `{command}`; [its results](bench/rivals/results.json).
{notes}"""


def rows_of(run):
    return {row["key"].partition("-")[2]: row for row in run["rows"]
            if row["key"].startswith("rivals-")}


def ranking(row):
    """[(name, median)], the best first."""
    found = [(name, series["median"]) for name, series in row["series"].items()
             if series["median"] is not None]
    return sorted(found, key=lambda pair: pair[1], reverse=row["better"] == "more")


def lead(row, one, other):
    """How many times better one figure is than another one."""
    return one / other if row["better"] == "more" else other / one


def figure(row, value):
    return "%s %s" % (number(value), row["unit"])


def winner(row, order, kind):
    """Who is the best, and why."""
    name, value = order[0]
    close = [other for other, its in order[1:] if lead(row, value, its) < EQUAL]
    told = "**%s** leads with %s" % (name, figure(row, value))
    if close:
        told += ", and %s within %d %% of it" % (enumeration(close), round(EQUAL * 100 - 100))
    elif len(order) > 1:
        told += ", before %s with %s" % (order[1][0], figure(row, order[1][1]))
    why = WHY[kind].get(name, "")
    return told + (": " + why if why else "") + "."


def enumeration(names):
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def place_of_ours(row, order, kind):
    """Where the best of granaryfs stands, if it is not the first, and what bounds it."""
    ours = [place for place, (name, _) in enumerate(order) if name.startswith(OURS)]
    if not ours or ours[0] == 0:
        return ""
    name, value = order[ours[0]]
    told = "**%s** has place %d of %d with %s, %s times that of %s." % (
        name, ours[0] + 1, len(order), figure(row, value), number(value / order[0][1]),
        order[0][0])
    return told + " " + BOUNDS[kind](row, order, value)


def bound_first(*_):
    return "An index of all samples is made before the first of them is read."


def bound_cold(row, order, value):
    told = ("The storage's rate allows %s; granaryfs reaches %s of that."
            % (figure(row, row["bound"]), number(value / row["bound"])))
    return told + (" The kernel's throttle lets a tenth of a second's bytes through at once, so "
                   "that figures can be above it." if order[0][1] > row["bound"] else "")


def bound_warm(row, order, value):
    """Files in tmpfs are what files can reach: what is beyond is not opening one."""
    memory = dict(order).get(UNPACKED)
    if memory is None:
        return ""
    ratio = value / memory
    told = "Files in /dev/shm give %s; granaryfs reaches %s of that." % (figure(row, memory),
                                                                     number(ratio))
    if not is_file(order[0][0]):
        return (told + " An open, reads and a close for each sample bound all files, and %s has "
                "none of them." % order[0][0])
    return told if lead(row, memory, value) < EQUAL else told + " FUSE, and with the shield " \
        "overlayfs, are the difference."


def bound_memory(*_):
    return "Samples that were fetched ahead, up to `cache=`, are the difference."


BOUNDS = {"first": bound_first, "cold": bound_cold, "warm": bound_warm, "decode": bound_warm,
          "memory": bound_memory}


def sentences(row, kind):
    order = ranking(row)
    if not order:
        return "Nothing was measured."
    return " ".join(filter(None, (winner(row, order, kind), place_of_ours(row, order, kind))))


def table(rows):
    there = [(key, title) for key, title in COLUMNS if key in rows]
    names = list(dict.fromkeys(name for key, _ in there for name in rows[key]["series"]))
    yield "| contender | %s |" % " | ".join(title for _, title in there)
    yield "|---|%s" % ("--:|" * len(there))
    for name in names:
        cells = [cell(rows[key], name) for key, _ in there]
        yield "| %s | %s |" % (name, " | ".join(cells))


def cell(row, name):
    """A figure; the best of a column is bold."""
    value = row["series"].get(name, {}).get("median")
    best = ranking(row)[:1]
    return "**%s**" % number(value) if best and best[0][0] == name else number(value)


def partial(rows):
    """Sentences on who failed, is not here, or was ended before all samples were read."""
    told = {}
    for row in rows.values():
        for name, series in row["series"].items():
            for kind, word in (("failed", "failed"), ("absent", "not measured")):
                if series[kind]:
                    told.setdefault("- %s: %s: %s" % (name, word, series[kind]))
    for name, series in rows["cold"]["series"].items():
        if "samples" in series["note"]:
            told.setdefault("- %s: cold: %s" % (name, series["note"]))
    return ["Left out, or not read to the end:", "", *told, ""] if told else []


def section(rows, name, title, keys):
    there = [rows[key] for key in keys if key in rows]
    if not there:
        return []
    lines = ["## " + title, "", "%s. %s." % (capital(there[0]["what"]), there[0]["reader"]), "",
             "![%s](bench/rivals/%s.svg)" % (there[0]["chart"], name), ""]
    for row in there:
        told = row["chart"].partition(":")[0] + ": " if len(there) > 1 else ""
        lines += [told + sentences(row, name), ""]
    return lines


def capital(text):
    return text[:1].upper() + text[1:]


def page(run):
    rows = rows_of(run)
    notes = [s for s in (machine.busy(run["machine"]), run["note"]) if s]
    head = INTRODUCTION.format(
        data=capital(rows["cold"]["data"]), date=run["date"],
        host="%s, Python %s" % (machine.sentence(run["machine"]), run["machine"]["python"]),
        quick=", a quick one" if run["quick"] else "",
        command="make bench-rivals" + " QUICK=1" * run["quick"],
        notes="".join("\n%s.\n" % capital(note) for note in notes))
    lines = [head, "Samples a second, by 1, 2 or 4 processes:", "", *table(rows),
             "", *partial(rows)]
    for name, title, keys in SECTIONS:
        lines += section(rows, name, title, keys)
    lines += ["## How each is read", "", "| contender | version | what it reads |", "|---|---|---|"]
    versions = rows["cold"].get("versions", {})
    lines += ["| %s | %s | %s |" % (name, versions.get(name, ""), how)
              for name, how in HOW.items() if name in rows["cold"]["series"]]
    return "\n".join(lines) + "\n"


def write(run, results, directory):
    charts = os.path.join(directory, "bench/rivals")
    os.makedirs(charts, exist_ok=True)
    rows = rows_of(run)
    for name, _, keys in SECTIONS:
        shown = [rows[key] for key in keys if key in rows]
        with open(os.path.join(charts, name + ".svg"), "w", encoding="utf-8") as out:
            out.write(chart.draw({**run, "rows": shown}))
    kept = os.path.join(charts, "results.json")
    if os.path.realpath(results) != os.path.realpath(kept):
        shutil.copyfile(results, kept)
    with open(os.path.join(directory, "RIVALS.md"), "w", encoding="utf-8") as out:
        out.write(page(run))
    print("%s: written" % os.path.join(directory, "RIVALS.md"))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        run = json.load(file)
    for row in run["rows"]:
        report.evaluate(row)
    if "cold" not in rows_of(run):
        sys.exit("rivals_page.py: %s: no rows of the suite rivals; run `make bench-rivals`"
                 % sys.argv[1])
    write(run, sys.argv[1], sys.argv[2])


if __name__ == "__main__":
    main()
