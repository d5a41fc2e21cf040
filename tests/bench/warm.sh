#!/bin/bash
# How fast a warm mount is, next to the same files in /dev/shm. Run by
# `make bench`. FILES, SIZE and ROUNDS may be set.
#
# The contenders take turns in every round, so that a noisy machine disturbs
# them alike; medians are shown. The archive lies on the disk that TMPDIR is on.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar find
files=${FILES:-8000}
size=${SIZE:-110000}
rounds=${ROUNDS:-7}
python_reader='import sys, time
paths = open(sys.argv[1]).read().splitlines()
import random
random.Random(int(sys.argv[2])).shuffle(paths)
start = time.monotonic()
for path in paths:
    with open(path, "rb") as file:
        file.read()
print("files %d seconds %.4f" % (len(paths), time.monotonic() - start))'

list_of() {
	(cd "$1" && find . -type f | LC_ALL=C sort) | sed "s|^\.|$1|"
}

# Readers: LIST SEED -> a line that ends in "seconds N".
read_c2() {
	"$read_all" "$1" "$2" 2
}

read_c1() {
	"$read_all" "$1" "$2" 1
}

read_python() {
	"$python" -c "$python_reader" "$1" "$2"
}

# rate READER WHERE ROUND: files/s, added to the reader's figures.
rate() {
	"read_$1" "$work/$2.list" "$3" |
		awk -v files="$files" '{ printf "%.0f\n", files / $NF }' >>"$work/$1.$2"
}

median() {
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

prepare() {
	shm=$(mktemp -d /dev/shm/granaryfs-bench.XXXXXX) || bail "no /dev/shm"
	at_exit rm -rf "$shm"
	"$python" "$abs_top_srcdir/tests/mount/write_shards.py" --files "$files" \
		--size "$size" "$work/bench.tar"
	tar -C "$shm" -xf "$work/bench.tar" || bail "/dev/shm is too small"
	granary_mount "$work/bench.tar" "$mnt" || bail "not mounted"
	list_of "$shm" >"$work/shm.list"
	list_of "$mnt" >"$work/granaryfs.list"
}

measure() {
	local round reader
	# What is warm is measured: once through everything first.
	read_c2 "$work/shm.list" 0 >/dev/null
	read_c2 "$work/granaryfs.list" 0 >"$work/first"
	before=$(requests "$mnt")
	for ((round = 1; round <= rounds; round++)); do
		for reader in c2 c1 python; do
			rate "$reader" shm "$round"
			rate "$reader" granaryfs "$round"
		done
	done
	after=$(requests "$mnt")
}

row() {
	local shm granaryfs
	shm=$(median "$work/$1.shm")
	granaryfs=$(median "$work/$1.granaryfs")
	printf '%-34s %12s %12s %7s\n' "$2" "$shm" "$granaryfs" \
		"$(awk -v a="$granaryfs" -v b="$shm" 'BEGIN { printf "%.2f", a / b }')"
}

report() {
	printf '\n%d files of %d bytes, random order, warm, median of %d rounds, files/s\n\n' \
		"$files" "$size" "$rounds"
	printf '%-34s %12s %12s %7s\n' reader /dev/shm granaryfs ratio
	row c2 'open, fstat, read: 2 processes'
	row c1 'open, fstat, read: 1 process'
	row python 'Python open().read(): 1 process'
	printf '\nFirst pass: %s\n' "$(cat "$work/first")"
	printf 'Requests in all %d warm passes:\n' $((rounds * 3))
	request_changes "$before" "$after" | sed 's/^/    /'
}

prepare
measure
report
