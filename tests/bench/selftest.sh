#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The benchmark's output for a made-up run: medians, ratios, verdicts, the
# table and the chart. Nothing is mounted or measured.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_python json
bench=$abs_top_srcdir/tests/bench
drawn=$work/drawn

draw() {
	"$python" -B "$bench/bench.py" --draw "$bench/canned.json" --out "$drawn" "$@"
}

# says TEXT DESCRIPTION: a line of the table, blanks squeezed.
says() {
	tr -s ' ' <"$work/table" | grep -q -F -- "$1"
	ok $? "$2" || diag "$(cat "$work/table")"
}

# Where a contender has failed the run has: its status is 1.
draw >"$work/table" 2>&1
is $? 1 "a failed contender is a failed run"
says "/dev/shm 1,000 900 1,000 5,000" "the median of three rounds is the middle one"
says "granaryfs-bare off 950 900 1,000" "the median of two is between them"
says "bare, of /dev/shm 0.95 >= 0.9 yes" "a ratio of medians reaches its target"
says "bare, strict 0.95 >= 0.96 no" "a ratio that misses it"
says "shielded, of /dev/shm 1.10 >= 0.82 no: no shield" "what has no shield is no shielded figure"
says "bare, of the best 0.86 >= 0.9 no" "a ratio to the best of several"
says "requests 0 == 0 yes" "nothing is a figure"
says "seconds, of 4.0 1.25 <= 1.15 no" "less is better, against a number"
says "scaled 0.50 >= 0.8 no" "a ratio over a ratio"
says "push - >= 2 not there yet" "what does not exist yet says so"
says "larger - >= 0.95 failed" "what failed says so"
says "bench: failed: cold: squashfuse_ll: wrong bytes" "wrong bytes are named"
says "2 cores (A Processor), 16 GiB, Linux 6.1" "the machine is named"
says "others kept the machine busy (load 1.5)" "and that it was busy"
is "$(draw --strict 2>&1 | tail -n 1)" "bench: failed: push: granaryfs-bare: it fell over" \
	"failures come last"

check "the JSON holds medians, figures and verdicts" "$python" -c '
import json, sys
rows = {row["key"]: row for row in json.load(open(sys.argv[1]))["rows"]}
assert rows["warm"]["series"]["/dev/shm"]["median"] == 1000
assert [t["verdict"] for t in rows["warm"]["targets"]] == [
    "yes", "no", "no: no shield", "no"]
assert rows["warm"]["targets"][0]["figure"] == 0.95' "$drawn/results.json"

check "the chart is XML with a bar for each figure, and the machine" "$python" -c '
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
space = "{http://www.w3.org/2000/svg}"
bars = [r for r in root.iter(space + "rect") if r.get("class") in ("ours", "other")]
texts = [t.text for t in root.iter(space + "text")]
assert len(bars) == 6, len(bars)
widths = [float(bar.get("width")) for bar in bars]
assert widths[0] == max(widths[:3]) and widths[3] == min(widths[3:]), widths
assert [b.get("class") for b in bars].count("ours") == 3
assert any("2 cores" in t for t in texts), texts
assert any("load 1.5" in t for t in texts), texts
assert any("made up < & >" in t for t in texts), texts
heights = [float(bar.get("y")) + float(bar.get("height")) for bar in bars]
assert max(heights) < float(root.get("height"))' "$drawn/chart.svg"

check "the data set's truth is independent of the order" "$python" -B -c '
import sys
sys.path.insert(0, sys.argv[1])
import data
crcs = [5, 7, 9]
total = sum(data.mixed(i, crc) for i, crc in enumerate(crcs))
assert total == sum(data.mixed(i, crcs[i]) for i in (2, 0, 1))
assert total != sum(data.mixed(i, crc) for i, crc in enumerate([7, 5, 9]))
header = data.empty_member(b"class-001/0000001.JPEG")
import io, tarfile
with tarfile.open(fileobj=io.BytesIO(header + bytes(1024))) as tar:
    assert [m.name for m in tar] == ["class-001/0000001.JPEG"]' "$bench"

# A contender whose files are not what was packed, and one that never ends.
check "wrong bytes, short files and hung programs are failures, and nothing stays" \
	env TMPDIR="$work" "$python" -B -c '
import os, sys, time
sys.path.insert(0, sys.argv[1])
import report
from bench_run import Bench
from epoch import Epoch
from settings import Settings
from work import Failed, Work

work = Work()
bench = Bench(work, Settings(files=40), [], False)
row = bench.row("made-up", "row", "", "", "")
try:
    files = bench.data.get("photos")
    one, epoch = bench.shm(files), Epoch(bench, files)
    path = os.path.join(one.root, files.names[7])
    found = report.series_of(row, one.name)
    assert bench.attempt(row, one, epoch.verify), found
    with open(path, "r+b") as file:
        byte = file.read(1)[0]
        file.seek(0)
        file.write(bytes([byte ^ 1]))
    assert not bench.attempt(row, one, epoch.verify)
    assert "wrong bytes" in found["failed"], found
    os.truncate(path, 10)
    found["failed"] = ""
    assert not bench.attempt(row, one, epoch.verify)
    assert "were read, not" in found["failed"], found
    start = time.monotonic()
    try:
        work.run(["sleep", "60"], timeout=0.2)
        sys.exit("sleep ended")
    except Failed as error:
        assert "not done" in str(error)
    assert time.monotonic() - start < 10
finally:
    work.close()
assert not os.path.exists(work.dir) and not os.path.exists(work.shm)' "$bench"

check "a run in parts takes the rest from one of the same machine and settings" \
	"$python" -B -c '
import json, sys
sys.path.insert(0, sys.argv[1])
sys.argv[1:] = ["--rest", sys.argv[2], "hdf5"]
import bench
from settings import Settings
from work import Failed

machine = {"cores": 2, "processor": "A Processor", "kernel": "6.1"}
rows = [{"suite": name, "key": name} for name in ("pack", "hdf5", "warm")]
earlier = {"machine": dict(machine), "settings": vars(Settings()), "rows": rows}
options = bench.arguments()

def rest(**run):
    json.dump(earlier, open(options.rest, "w"))
    return bench.rest_of({"machine": machine, "settings": vars(Settings()), **run}, options)

assert [row["key"] for row in rest()] == ["pack", "warm"]
assert [row["key"] for row in bench.in_order(rest() + [rows[1]])] == ["warm", "hdf5", "pack"]
for run, word in (({"settings": vars(Settings(mib=100))}, "mib is 200, and here 100"),
                  ({"machine": {**machine, "processor": "B"}}, "another machine")):
    try:
        rest(**run)
        sys.exit("taken: %s" % word)
    except Failed as error:
        assert word in str(error), error' "$bench" "$work/rest.json"

refuse "an unknown suite is refused" "$python" -B "$bench/bench.py" nosuch
finish
