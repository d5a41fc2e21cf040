#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# The page and the charts that are made of a run of the suite rivals, here a made-up one;
# and its reader, of plain files. Nothing is mounted or measured.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_python json
bench=$abs_top_srcdir/tests/bench
page=$work/page/RIVALS.md

draw() {
	"$python" -B "$bench/rivals_page.py" "$1" "$work/page" >"$work/out" 2>&1
}

# says TEXT DESCRIPTION: a part of the page, its line breaks as blanks.
says() {
	tr '\n' ' ' <"$page" | grep -q -F -- "$1"
	ok $? "$2" || diag "$(cat "$page")"
}

draw "$bench/canned_rivals.json"
ok $? "a page is made of a run" || diag "$(cat "$work/out")"
says "| contender | first sample, ms | cold, 2 | warm, 1 | warm, 2 | warm, 4 | decoded, 2 | memory, MB |" \
	"the table has a column for each row of the run"
says "| granaryfs, tar, bare | 50.0 | **950** | 500 | 1,000 | 2,000 | **99.0** | 50.0 |" \
	"medians, the best of a column bold"
says "| archivemount | - | 10.0 |" "a dash for what was not measured"
says "- ratarmount, tar: not measured: without ratarmount" "who is not installed is named"
says "- archivemount: failed: wrong bytes" "who failed is named"
says "- archivemount: cold: 50 of 1000 samples, in 5 s" "who was ended is named"
says "**granaryfs, tar, bare** leads with 950 samples/s, and granaryfs, tar, shielded within" \
	"differences below 5 % are none"
says "**python-lmdb** leads with 5.00 ms, before granaryfs, tar, bare with 50.0 ms" \
	"where less is better, the least leads"
says "**granaryfs, tar, bare** has place 2 of 4 with 50.0 ms, 10.0 times that of python-lmdb" \
	"where granaryfs does not lead, its place is told"
says "Warm, 2 processes: **python-lmdb** leads with 4,000 samples/s, before tar x to /dev/shm" \
	"each number of processes has its sentence"
says "Files in /dev/shm give 2,000 samples/s; granaryfs reaches 0.80 of that. An open" \
	"what bounds it against a library: opening files"
says "The machine: 2 cores (A Processor), 16 GiB, Linux 6.1, Python 3.11" "the machine is named"
says "a quick one, on 2026-01-01: \`make bench-rivals QUICK=1\`" "date and command are named"
says "Others kept the machine busy (load 1.5)" "that it was busy is told"
says "| python-lmdb | 1.2.3 |" "versions are told"

# Other figures, other sentences: nothing about the order is written down.
"$python" - "$bench/canned_rivals.json" >"$work/other.json" <<'END'
import json, sys
run = json.load(open(sys.argv[1]))
for row in run["rows"]:
    series = row["series"]
    if row["key"] == "rivals-cold":
        series["python-lmdb"]["values"] = [990]
        series["granaryfs, tar, shielded"]["values"] = [980]
    if row["key"].startswith("rivals-warm"):
        series["python-lmdb"]["values"] = [1]
run["machine"]["load"], run["quick"], run["note"] = 0, False, ""
json.dump(run, sys.stdout)
END
draw "$work/other.json"
says "**python-lmdb** leads with 990 samples/s, and granaryfs, tar, shielded and granaryfs," \
	"another order, another winner, and those that are as good"
says "The storage's rate allows 1,000 samples/s; granaryfs reaches 0.98 of that" \
	"what bounds a cold epoch: the storage"
says "Warm, 1 processes: **tar x to /dev/shm** leads" "and of the warm ones"
says "granaryfs reaches 0.80 of that. FUSE, and with the shield overlayfs" \
	"what bounds it against files"
says "The run, on 2026-01-01: \`make bench-rivals\`" "a whole run is no quick one"
grep -q busy "$page"
is $? 1 "nobody kept the machine busy"

check "each chart that the page shows is XML with a bar for each figure, and fits" "$python" -c '
import os, re, sys
import xml.etree.ElementTree as tree
directory = sys.argv[1]
text = open(os.path.join(directory, "RIVALS.md")).read()
charts = re.findall(r"\]\((bench/rivals/\w+\.svg)\)", text)
assert len(charts) == 5, charts
space = "{http://www.w3.org/2000/svg}"
for chart in charts:
    root = tree.parse(os.path.join(directory, chart)).getroot()
    bars = [r for r in root.iter(space + "rect") if r.get("class") in ("ours", "other")]
    assert len(bars) == {"first": 4, "warm": 15}.get(
        os.path.basename(chart)[:-4], 5), (chart, len(bars))
    assert max(float(b.get("y")) for b in bars) < float(root.get("height"))
    names = [t for t in root.iter(space + "text") if t.get("text-anchor") == "end"]
    assert all(6.6 * len(t.text) < float(t.get("x")) for t in names), chart
    assert "prefers-color-scheme: dark" in root.find(space + "style").text
assert os.path.exists(os.path.join(directory, "bench/rivals/results.json"))' "$work/page"

check "each contender has a name that fits beside its bar, and a way to be read" \
	env TMPDIR="$work" "$python" -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import chart
from rival_contenders import LIBRARIES, Environment, rivals
from rivals_words import HOW
here = Environment("")
assert here.python == sys.executable and here.lacking(["sys", "no_such"]) == ["no_such"]
made = rivals(None, None, here)
assert [rival.name for rival in made if rival.name not in HOW] == []
assert set(HOW) == {rival.name for rival in made}
assert all(6.6 * len(name + " (no shield)" * ("shielded" in name)) + 16 < chart.LEFT
           for name in HOW)' "$bench"

check "docs/RIVALS.md and its charts are what is made of the results beside them" \
	"$python" -B "$bench/rivals_page.py" "$abs_top_srcdir/docs/bench/rivals/results.json" \
	"$work/kept"
check "the page is the one that is kept" \
	cmp "$work/kept/RIVALS.md" "$abs_top_srcdir/docs/RIVALS.md"
check "the charts, too" \
	diff -r "$work/kept/bench/rivals" "$abs_top_srcdir/docs/bench/rivals"

check "where no environment can be made the run goes on without it" \
	env PYTHON=false sh "$bench/rivals-environment" "$bench/rivals.lock" "$work/environment"
[ ! -e "$work/environment" ]
ok $? "and nothing of it is left"

refuse "results without the suite are refused" "$python" -B "$bench/rivals_page.py" \
	"$bench/canned.json" "$work/none"

check "a reader begins when it is told, reads each file once, and finds wrong bytes" \
	env TMPDIR="$work" "$python" -B -c '
import os, sys, time
sys.path.insert(0, sys.argv[1])
from readers import agree
from sample_reader import SampleReader, own_memory, processes_of
from settings import Settings
from data import Data
from work import Failed, Work

work = Work()
try:
    files = Data(work, Settings(files=40)).get("photos")
    root, listed = files.in_shm(), files.list(files.in_shm())
    def read(*words):
        with SampleReader(work, sys.executable, ["files", "-", listed, 1, *words]) as reader:
            assert own_memory(processes_of(reader.process.pid)) > 1 << 20
            start = time.monotonic()
            reader.go()
            found = reader.result(60)
            assert found["ended"] > start
            return found
    agree(read(2, 60, "once", "check"), 40, files.bytes(), files.checksum())
    assert read(1, 0, "repeat", "list=" + root)["files"] == 1
    assert read(2, 0.3, "repeat")["files"] > 40
    with open(os.path.join(root, files.names[3]), "r+b") as file:
        file.write(b"other bytes")
    try:
        agree(read(2, 60, "once", "check"), 40, files.bytes(), files.checksum())
        sys.exit("wrong bytes were not found")
    except Failed as error:
        assert "wrong bytes" in str(error), error
finally:
    work.close()' "$bench"
finish
