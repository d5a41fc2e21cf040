#!/bin/bash
# Python's open(path, 'rb').read() makes a buffer of st_blksize bytes for each file. With
# one that is too large for what glibc keeps of the heap, and too small to make it keep
# more, each file is read into pages that have to be faulted in anew.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar
sizes="3000 30000 55000 65000 80000 110000 140000 180000 250000 300000 700000"

# faults FOLDER: a line for each size: size, page faults for 100 files read after others.
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
tar -C "$work/tree" -cf "$work/data.tar" .
mount_ok "mounted" "$work/data.tar" "$mnt"
plain=$(faults "$work/tree")
mounted=$(faults "$mnt")
while read -r size many && read -r _ few <&3; do
	at_most "$many" $((few + 300)) "$size bytes: as few page faults a file as elsewhere"
done <<<"$mounted" 3<<<"$plain"
is "$(wc -l <<<"$mounted")" "$(wc -w <<<"$sizes")" "all sizes were read"
umount_ok "$mnt"
finish
