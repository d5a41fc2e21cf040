#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# Storage that does not answer: whoever reads there waits. Files on other storage are
# read for as long as there are threads left; ls, stat and df answer even then; and
# the mount ends.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar timeout df

threads=4
readers=40
late_ms=60000

make_shards() {
	local i
	mkdir -p "$work/faulty" "$work/hung" "$work/sound"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
	granaryfs=$work/faulty/granaryfs
	for ((i = 0; i < readers; i++)); do
		head -c 20000 /dev/urandom >"$work/hung/$i"
	done
	echo sound >"$work/sound/file"
	tar -C "$work" -cf "$work/hung.tar" hung
	tar -C "$work" -cf "$work/sound.tar" sound
	"$granary" index "$work/hung.tar" "$work/sound.tar" >/dev/null || bail "no index"
}

# A shard that does not answer once it is mounted: its head and tail have been read.
mount_hung() {
	GRANARY_FAULTS="kind=late,path=hung.tar,from=$(($(identified "$work/hung.tar") + 1)),ms=$late_ms" \
		mount_ok "mounted" -o threads=$threads,index=require \
		"$work/hung.tar" "$work/sound.tar" "$mnt" || finish
}

# start_readers FIRST LAST
start_readers() {
	local i
	for ((i = $1; i <= $2; i++)); do
		cat "$mnt/hung/$i" >/dev/null 2>&1 &
		started+=("$!")
	done
}

# One thread is left to park what nobody has a thread for.
all_threads_hang() {
	start_readers 0 1
	is "$(timeout 20 cat "$mnt/sound/file")" sound "two readers hang: another shard is read"
	start_readers 2 $((readers - 1))
	wait_until 20 parked
	ok $? "as many readers as there are threads, and more: their reads are parked"
}

parked() {
	[ "$(requests "$mnt" | awk '$1 == "requests_parked" { print $2 }')" -ge \
		$((readers - threads + 1)) ]
}

answers() {
	check "df answers" timeout 20 df "$mnt"
	check "ls -lR answers" timeout 20 ls -lR "$mnt"
	refuse "a name that is not there is said so" timeout 20 stat "$mnt/none"
	check "and by stat, not by the time limit" timeout 20 test ! -e "$mnt/not-there-either"
	is "$(jobs -r -p | wc -l)" $((readers + 1)) "all readers still wait, and the daemon lives"
}

ends() {
	local i
	for i in "${started[@]:1}"; do
		kill -KILL "$i" 2>/dev/null
	done
	kill -TERM "${mount_pid[$mnt]}"
	check "TERM: unmounted" wait_until 20 not_mounted "$mnt"
	check "TERM: the daemon ends, whatever its threads wait for" \
		wait_until 30 process_gone "${mount_pid[$mnt]}"
	check "and the server with it" wait_until 10 no_daemon "$mnt"
}

# With checksums all of a block is read for a part of it, once for all who ask: but nobody
# waits for one whose read hangs.
one_read_hangs() {
	local reader
	"$granary" index -q --checksums "$work/hung.tar" || bail "no checksums"
	GRANARY_FAULTS="kind=late,path=hung.tar,from=$(($(identified "$work/hung.tar") + 1)),count=1,ms=$late_ms" \
		mount_ok "one read of a block hangs: mounted" -o prefetch=off,index=require \
		"$work/hung.tar" "$mnt" || return
	dd if="$mnt/hung/0" iflag=direct bs=4096 count=1 of=/dev/null status=none 2>/dev/null &
	reader=$!
	started+=("$reader")
	wait_until 20 is_asked
	ok $? "a reader waits for it"
	timeout 20 dd if="$mnt/hung/0" iflag=direct bs=4096 skip=1 of="$work/rest" status=none
	ok $? "another part of the same block is read"
	check "and right" cmp "$work/rest" <(tail -c +4097 "$work/hung/0")
	check "while the first one still waits" kill -0 "$reader"
	# the kernel lets nobody leave such a read before it is answered
	kill -TERM "${mount_pid[$mnt]}"
	check "TERM: unmounted" wait_until 20 not_mounted "$mnt"
	kill -TERM "${mount_pid[$mnt]}"
	check "TERM again: the daemon ends, with a file open" \
		wait_until 20 process_gone "${mount_pid[$mnt]}"
}

is_asked() {
	[ "$(requests "$mnt" | awk '$1 == "fuse_read" { print $2 }')" -ge 1 ]
}

make_shards
mount_hung
all_threads_hang
answers
ends
one_read_hangs
finish
