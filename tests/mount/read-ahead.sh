#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# Bytes that are read ahead are right, are not asked for again, and have room:
# the sweep, its beginning, its end, its budget, and its interruptions.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar find awk
files=${FILES:-2000}
size=${SIZE:-30000}
megabytes=$((files * (size + 4095) / 4096 * 4096 / 1048576 + 1))

# swept: what was to be held is held.
swept() {
	requests "$mnt" >"$work/counters" || return 1
	awk '$1 == "swept_bytes" { held = $2 } $1 == "sweep_target" { target = $2 }
		END { exit !(target > 0 && held >= target) }' "$work/counters"
}

# The median of three, since pages may be taken back at any time.
quiet_pass() {
	local before seed
	for seed in 11 12 13; do
		before=$(counter fuse_read)
		is "$(read_pass "$work/list" "$seed")" "$wanted" "$1: the right bytes" || return
		[ "$(($(counter fuse_read) - before))" -le $((files / 100)) ] && break
	done
	at_most "$(($(counter fuse_read) - before))" $((files / 100)) "$1: hardly a read is asked for"
}

prepare() {
	local digit
	"$python" "$abs_top_srcdir/tests/mount/write_shards.py" --files "$files" \
		--size "$size" "$work/made.tar"
	mkdir "$work/plain"
	tar -C "$work/plain" -xf "$work/made.tar"
	for digit in {0..9}; do
		mkdir "$work/plain/$digit"
		mv "$work/plain/files"/*"$digit" "$work/plain/$digit"
	done
	rmdir "$work/plain/files"
	tar --numeric-owner --format=pax -C "$work/plain" -cf "$work/r.tar" .
	rm "$work/made.tar"
	list_of "$work/plain" >"$work/plain.list"
	wanted=$(read_pass "$work/plain.list" 1)
	"$granary" index "$work/r.tar" >"$work/indexed" 2>&1 || bail "no index"
}

# mount_it OPTIONS: and lists it.
mount_it() {
	mount_ok "$1: mounted" -o "$1" "$work/r.tar" "$mnt" || return 1
	list_of "$mnt" >"$work/list"
}

sweep_at_once() {
	mount_it "prefetch=sweep,cache=2G" || return
	check "everything is held soon" wait_until 60 swept
	quiet_pass "swept"
	at_least "$(counter pushed_files)" $((files * 9 / 10)) "it was pushed"
	at_most "$(counter source_read_bytes)" $(($(stat -c %s "$work/r.tar") * 11 / 10)) \
		"and every byte of the packed file was read once"
	umount_ok "$mnt"
}

# Without the kernel's help all comes from the daemon's own memory, which ends with it.
without_push() {
	local before
	servers_may_die=yes
	mount_it "prefetch=sweep,push=off,cache=2G" || return
	check "push=off: everything is in the cache soon" wait_until 60 is_cached
	kill -9 "$(server_pid "$mnt")"
	check "push=off: the next server reads it again" wait_until 60 is_cached_again 2
	before=$(counter source_read_bytes)
	is "$(read_pass "$work/list" 3)" "$wanted" "push=off: the right bytes"
	at_most "$(($(counter source_read_bytes) - before))" $((files * size / 50)) \
		"push=off: and storage is hardly asked"
	is "$(counter pushed_bytes)" 0 "push=off: nothing was pushed"
	umount_ok "$mnt"
	servers_may_die=
}

# is_cached_again N: by the Nth server.
is_cached_again() {
	[ "$(counter servers_started)" -ge "$1" ] && is_cached
}

is_cached() {
	[ "$(counter cache_bytes)" -ge $((files * size)) ]
}

without_prefetch() {
	mount_it "prefetch=off" || return
	is "$(read_pass "$work/list" 3)" "$wanted" "prefetch=off: the right bytes"
	is "$(counter pushed_bytes) $(counter cache_bytes)" "0 0" "prefetch=off: nothing is kept"
	umount_ok "$mnt"
}

# is_noted BYTES: the daemon has counted the files that were read.
is_noted() {
	[ "$(counter resident_bytes)" -ge "$1" ]
}

# some_of N: of the list, in a random order.
some_of() {
	awk 'BEGIN { srand(7) } { print rand() "\t" $0 }' "$work/list" | sort | cut -f 2 |
		head -n "$1"
}

# Neither ten files nor all of one directory are an epoch.
begins_with_an_epoch() {
	mount_it "cache=2G" || return
	some_of 10 | xargs -d '\n' cat >"$work/some"
	refuse "a directory is searched" grep -q -r "never written" "$mnt/7"
	check "its reads are noted" wait_until 20 is_noted $((files / 10 * size))
	is "$(counter sweep_target)" 0 "find, ten cats and grep -r of a directory begin no sweep"
	at_most "$(counter source_read_bytes)" $((files * size / 2)) "and most is not read"
	some_of 256 | xargs -d '\n' cat >"$work/some"
	check "256 files in random order do" wait_until 60 swept
	quiet_pass "an epoch"
	umount_ok "$mnt"
}

# A list from elsewhere, as of an index of samples: the files were never looked up.
begins_with_an_unlisted_epoch() {
	mount_ok "unlisted: mounted" -o cache=2G "$work/r.tar" "$mnt" || return 1
	some_of 10 | xargs -d '\n' cat >"$work/some"
	ls "$mnt" >"$work/some"
	check "unlisted: its reads are noted" wait_until 20 is_noted $((10 * size))
	at_most "$(counter inode_bytes)" $((files * 100)) "ten cats and ls look nothing else up"
	some_of 256 | xargs -d '\n' cat >"$work/some"
	check "unlisted: 256 files in random order begin the sweep" wait_until 60 swept
	quiet_pass "an unlisted epoch"
	at_least "$(counter pushed_files)" $((files * 8 / 10)) "unlisted: it was pushed"
	umount_ok "$mnt"
}

listed_again() {
	local inodes
	mount_it "cache=2G" || return
	inodes=$(counter inode_bytes)
	at_least "$inodes" $((files * 1000)) "a listing makes inodes"
	# what is dropped is asked for again: the same names, not more of them
	is_root && mount -o remount,ro "$mnt" 2>/dev/null
	list_of "$mnt" >"$work/again"
	list_of "$mnt" >"$work/again"
	at_most "$(counter inode_bytes)" $((inodes + 100000)) "and another one no more of them"
	is "$(read_pass "$work/list" 3)" "$wanted" "listed again: the right bytes"
	umount_ok "$mnt"
}

# dropped COUNT: so many files are, at least; a thread does that some time after the reads.
dropped() {
	[ "$(counter dropped_files)" -ge "$1" ]
}

# A dataset of twice the budget: half of it is read from storage in each epoch.
larger_than_memory() {
	local budget=$((megabytes / 2)) before inodes share epoch=3
	mount_it "prefetch=sweep,cache=${budget}M" || return
	wait_until 20 swept
	inodes=$(($(counter inode_bytes) / 1048576))
	share=$((budget - inodes - (budget < 32 ? budget / 4 : 8)))
	for epoch in 1 2 3; do
		before=$(counter source_read_bytes)
		is "$(read_pass "$work/list" "$epoch")" "$wanted" "larger: epoch $epoch: the right bytes"
	done
	at_most "$(($(counter source_read_bytes) - before))" \
		$(((megabytes - share * 19 / 20) * 1048576)) "larger: what is held is not read again"
	at_most "$(($(counter resident_bytes) + $(counter cache_bytes) + $(counter inode_bytes)))" \
		$((budget * 1048576)) "larger: the budget is kept"
	check "larger: what is not held is dropped" wait_until 20 dropped $((files / 4))
	umount_ok "$mnt"
}

# While it is pushed, the server is killed, pages are dropped, memory is squeezed.
disturbed() {
	local pid i
	servers_may_die=yes
	mount_it "prefetch=sweep,cache=2G" || return
	"$hammer" -s 8 -p 4 "$work/plain" "$mnt" >"$work/counts" 2>&1 &
	pid=$!
	for i in $(seq 1 20); do
		sleep 0.3 # it pushes for so long
		# the next one may take a while to be there
		wait_until 30 has_server && kill -9 "$(server_pid "$mnt")" 2>/dev/null
		! is_root || [ $((i % 5)) -ne 0 ] || drop_page_cache
	done
	wait "$pid"
	ok $? "killed while it pushes: nothing is wrong" || diag "$(cat "$work/counts")"
	is "$(read_pass "$work/list" 4)" "$wanted" "and then the right bytes"
	at_least "$(counter servers_started)" 10 "servers were replaced"
	umount_ok "$mnt"
	servers_may_die=
}

unmounted_in_the_middle() {
	local i
	for i in 1 2 3 4 5; do
		granary_mount -o prefetch=sweep,cache=2G "$work/r.tar" "$mnt" >"$work/mount-output" ||
			break
		find "$mnt" -type f | head -n 100 | xargs -d '\n' cat >"$work/ten" 2>&1 &
		sleep "0.0$i" # at another moment each time
		umount -l "$mnt" 2>/dev/null || fusermount3 -u -z "$mnt"
		wait $!
		wait_until 20 no_daemon "$mnt" || break
	done
	is "$i" 5 "unmounted while it pushes, five times"
	check "no process is left" no_daemon "$mnt"
}

prepare
sweep_at_once
without_push
without_prefetch
begins_with_an_epoch
begins_with_an_unlisted_epoch
listed_again
larger_than_memory
disturbed
unmounted_in_the_middle
finish
