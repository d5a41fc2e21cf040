#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Python's open(path, 'rb').read() makes a buffer of st_blksize bytes for each file. With
# one that is too large for what glibc keeps of the heap, and too small to make it keep
# more, each file is read into pages that have to be faulted in anew.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar
sizes="3000 30000 55000 65000 80000 110000 140000 180000 250000 300000 700000"

# faults DIRECTORY: a line for each size: size, page faults for 100 files read after others.
faults() {
	local size
	for size in $sizes; do
		"$python" -c '
import resource, sys
def read(count):
    for i in range(count):
        with open("%s/%d" % (sys.argv[1], i % 10), "rb") as file:
            assert len(file.read()) == int(sys.argv[2])
read(50)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
read(100)
print(sys.argv[2], resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)' \
			"$1/$size" "$size" || return 1
	done
}

for size in $sizes; do
	mkdir -p "$work/tree/$size"
	for i in 0 1 2 3 4 5 6 7 8 9; do
		head -c "$size" /dev/zero >"$work/tree/$size/$i"
	done
done
mkdir "$work/tree/mixed"
"$python" -c '
import math, random, sys
rng = random.Random(1)
for i in range(400):
    size = int(rng.lognormvariate(math.log(97000), 0.5))   # as in ImageNet
    with open("%s/%d" % (sys.argv[1], i), "wb") as out:
        out.truncate(size)' "$work/tree/mixed"
tar -C "$work/tree" -cf "$work/data.tar" .
mount_ok "mounted" "$work/data.tar" "$mnt"
plain=$(faults "$work/tree")
mounted=$(faults "$mnt")
while read -r size many && read -r _ few <&3; do
	at_most "$many" $((few + 300)) "$size bytes: as few page faults a file as elsewhere"
done <<<"$mounted" 3<<<"$plain"
is "$(wc -l <<<"$mounted")" "$(wc -w <<<"$sizes")" "all sizes were read"

# Sizes that differ, as those of photographs do, and the content before is kept meanwhile,
# as `content = read(path)` does: eight workers, each in an order of its own.
faults_mixed() {
	find "$1/mixed" -type f | sort >"$work/list"
	"$python" -c '
import os, random, resource, sys
names = [line.strip() for line in open(sys.argv[1])]
def worker(seed):
    kept = None
    for name in random.Random(seed).choices(names, k=2000):
        with open(name, "rb") as file:
            kept = file.read()
for seed in range(8):
    if os.fork() == 0:
        worker(seed)
        os._exit(0)
    assert os.wait()[1] == 0
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt)' "$work/list"
}

at_most "$(faults_mixed "$mnt")" "$(faults_mixed "$work/tree")" \
	"sizes of photographs in turn: no more page faults than elsewhere"
umount_ok "$mnt"
finish
