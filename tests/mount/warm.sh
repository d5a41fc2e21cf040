#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A sweep whose servers are killed while they push: in the end each file has been stored,
# and is counted once. And what the kernel keeps of the names is counted, the overlay's too.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root # who may mount walks the tree for the sweep: the kernel knows all names
need tar
files=400
# shellcheck disable=SC2034  # for lib.sh
servers_may_die=yes

make_archive() {
	local i
	mkdir -p "$work/tree/a" "$work/faulty"
	for ((i = 0; i < files; i++)); do
		head -c $((20000 + i * 97)) /dev/urandom >"$work/tree/a/$i"
	done
	head -c 9000001 /dev/urandom >"$work/tree/large"
	tar -C "$work/tree" --sort=name -cf "$work/t.tar" . && "$granary" index "$work/t.tar" &&
		cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" &&
		ln -s "$granary" "$work/faulty/granary"
}

# value NAME
value() {
	timeout 20 cat "$mnt/.granaryfs/stats" | awk -v name="$1" '$1 == name { print $2 }'
}

has_swept() {
	[ "$(value swept_bytes)" -ge "$1" ]
}

has_ended() {
	[ "$(value swept_bytes)" -ge "$(value sweep_target)" ]
}

# killed WHAT BYTES: once so much is swept.
killed() {
	local server
	wait_until 60 has_swept "$2"
	ok $? "$1: the sweep goes on"
	server=$(server_pid "$mnt")
	kill -KILL "$server"
	wait_until 20 process_gone "$server"
	ok $? "$1: the server is gone"
}

# Each read of storage takes 30 ms.
survives() {
	local bytes granaryfs=$work/faulty/granaryfs
	GRANARY_FAULTS="kind=late,path=t.tar,from=$(($(identified "$work/t.tar") + 1)),ms=30" mount_ok "$1: mounted" \
		-o "index=require,prefetch=sweep,cache=256M,$2" "$work/t.tar" "$mnt" || return
	for bytes in 1 3000000 9000000 24000000; do
		killed "$1, killed after $bytes bytes" "$bytes"
	done
	check "$1: all is warm" timeout 100 "$granary" wait -q --warm 100 "$mnt"
	is "$(value swept_bytes)" "$(value sweep_target)" "$1: and was counted once"
	at_least "$(value servers_started)" 4 "$1: (servers were killed)"
	# not what a reader still finds there: some machines take pages away at any time
	is "$(value pushed_files)" $((files + 1)) "$1: each file was stored, and none left out"
	check "$1: and the bytes are right" cmp <(cat "$work/tree/large" "$work/tree"/a/*) \
		<(cat "$mnt/large" "$mnt"/a/*)
	umount_ok "$mnt"
}

# Of half a budget, what is pushed, kept and known keeps to it.
within_the_budget() {
	local inodes
	mount_ok "$1: mounted" -o "prefetch=sweep,cache=16M,$2" "$work/t.tar" "$mnt" || return
	find "$mnt" -type f -exec stat {} + >/dev/null
	check "$1: ends" timeout 60 "$granary" wait -q --warm 100 "$mnt"
	inodes=$(value inode_bytes)
	at_least "$inodes" $((files * $3)) "$1: what the kernel keeps of the names is counted"
	at_most "$inodes" $(((files + 20) * $3)) "$1: once"
	at_most $(($(value resident_bytes) + $(value cache_bytes) + inodes)) $((16 << 20)) \
		"$1: and all together is within the budget"
	umount_ok "$mnt"
}

check "an archive" make_archive
survives bare shield=off
survives shielded allow_other,shield=on
within_the_budget bare shield=off 1100
within_the_budget shielded allow_other,shield=on 2000
finish
