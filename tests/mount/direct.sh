#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Readers that go past the page cache (O_DIRECT): the right bytes on every kind of mount,
# no error that other filesystems do not give, and nothing that they read is held to be
# in the page cache, or to have been let go of.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_python
need tar timeout
direct=$abs_top_srcdir/tests/mount/direct.py
files=120

make_archive() {
	local i
	mkdir -p "$work/tree/a"
	for ((i = 0; i < files; i++)); do
		head -c $((i * 997)) /dev/urandom >"$work/tree/a/$i"
	done
	head -c 9000001 /dev/urandom >"$work/tree/large"
	tar -C "$work/tree" -cf "$work/t.tar" . && "$granary" index "$work/t.tar"
}

# reads DESCRIPTION [mixed]
reads() {
	timeout 120 "$python" "$direct" "$work/tree" "$mnt" "${@:2}" >"$work/said" 2>&1
	ok $? "$1" || diag "$(tail -n 5 "$work/said")"
}

# bytes_of WHAT OPTIONS
bytes_of() {
	mount_ok "$1: mounted" -o "$2" "$work/t.tar" "$mnt" || return
	reads "$1: right bytes"
	reads "$1: and beside the page cache" mixed
	check "$1: dd to the end of an odd file" cmp "$work/tree/a/77" \
		<(dd if="$mnt/a/77" iflag=direct bs=4096 status=none)
	check "$1: the counters as well" timeout 20 dd if="$mnt/.granaryfs/stats" iflag=direct \
		bs=64k of=/dev/null status=none
	refuse "$1: nothing can be written so" dd if=/dev/zero of="$mnt/a/77" oflag=direct \
		bs=4096 count=1 conv=notrunc status=none
	umount_ok "$mnt"
}

# Files that such readers have read are not in the page cache: the sweep stores them, and
# does not take them for files that the kernel has let go of.
beside_the_sweep() {
	local before reads try
	mount_ok "beside the sweep: mounted" -o prefetch=sweep,cache=256M "$work/t.tar" "$mnt" ||
		return
	find "$mnt" -type f -exec stat {} + >/dev/null
	reads "beside the sweep: right bytes"
	check "all is warm" timeout 60 "$granary" wait -q --warm 100 "$mnt"
	reads "of warm files: right bytes"
	is "$(counter evicted_files)" 0 "and none was let go of"
	# some machines take pages away at any time: one pass of a few
	for try in 1 2 3 4 5 6; do
		before=$(requests "$mnt")
		cat "$mnt/large" "$mnt"/a/* >"$work/all"
		reads=$(request_change fuse_read "$before" "$(requests "$mnt")")
		[ "$try" -gt 1 ] && [ "$reads" -eq 0 ] && break
	done
	is "$reads" 0 "no read comes here"
	check "and the bytes are right" cmp "$work/all" <(cat "$work/tree/large" "$work/tree"/a/*)
	umount_ok "$mnt"
}

# A loader of that kind, and then a usual one.
before_the_sweep() {
	local before
	is_root || return
	mount_ok "before the sweep: mounted" -o prefetch=window,cache=256M "$work/t.tar" "$mnt" ||
		return
	reads "before the sweep: right bytes"
	is "$(counter resident_bytes)" 0 "nothing is held to be in the page cache"
	cat "$mnt/large" "$mnt"/a/* >/dev/null
	before=$(requests "$mnt")
	reads "afterwards: right bytes"
	is "$(counter evicted_files)" 0 "and nothing was let go of"
	at_least "$(request_change fuse_read "$before" "$(requests "$mnt")")" "$files" \
		"though each of them was asked for"
	umount_ok "$mnt"
}

check "an archive" make_archive
bytes_of "bare" opens=hidden,shield=off
bytes_of "visible opens" opens=visible,shield=off
bytes_of "nothing ahead" prefetch=off,shield=off
bytes_of "a small budget" cache=1M,shield=off
is_root && bytes_of "shielded" allow_other,shield=on,prefetch=sweep
beside_the_sweep
before_the_sweep
finish
