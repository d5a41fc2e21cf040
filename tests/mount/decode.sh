#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A decoded byte is kept in one place: what a chunk has of other files is pushed when it is
# decoded for one of them, and what was given out is not kept in the daemon.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need mksquashfs find awk diff
need_built zstd
files=3000   # of up to 12 kB, about ten a chunk
large=200    # of 150 kB, each in chunks of its own
loader=200   # files that an epoch begins with

# Texts: every other word of a file is its own.
write_texts() {
	mkdir "$work/plain"
	awk -v files=$files -v large=$large -v directory="$work/plain" 'BEGIN {
		srand(7)
		for (i = 0; i < files + large; i++) {
			name = sprintf("%s/%05d.txt", directory, i)
			size = i < files ? 500 + int(rand() * 11500) : 150000
			for (n = 0; n < size; n += length(line) + 1) {
				line = "a line of text " int(rand() * 1e9) " and " i
				print line > name
			}
			close(name)
		}
	}'
}

value() {
	awk -v name="$1" '$1 == name { print $2 }' "$mnt/.granaryfs/stats"
}

# read_pass LIST SEED: files, bytes and checksum; without the seconds.
read_pass() {
	"$read_all" -c "$1" "$2" 2 | sed 's/ seconds.*//'
}

list_of() {
	find "$1" -name '*.txt' | LC_ALL=C sort
}

# reads_more: sixteen files, and others of their chunks have been pushed. Where pushes were
# in vain, before the order of the files was known, few of the reads are tried.
reads_more() {
	one=$(((one + 176) % (files + large)))
	awk -v one=$one 'NR > one && NR <= one + 176 && NR % 11 == 5' "$work/list" |
		xargs cat >"$work/read" && [ "$(value pushed_files)" -gt 0 ]
}

# begin OPTIONS: mounted, all listed, and a loader seen that has read some.
begin() {
	mount_ok "$1: mounted" -o "$1" "$work/texts.squashfs" "$mnt" || return
	list_of "$mnt" >"$work/list"
	awk "NR % 11 == 0 && NR <= 11 * $loader" "$work/list" >"$work/some"
	one=0
	is "$(read_pass "$work/some" 1 | cut -d ' ' -f 2)" $loader "$1: some are read"
}

each_chunk_once() {
	begin "prefetch=window,cache=512M" || return
	check "a loader's neighbours are pushed" wait_until 60 reads_more
	is "$(read_pass "$work/list" 2)" "$wanted" "the right bytes"
	at_most "$(value chunks_decoded)" $((chunks * 5 / 4)) "no chunk is decoded again and again"
	at_most "$(value fuse_read)" $(((files + large) / 2)) "most files are not asked for"
	at_most "$(value cache_bytes)" $((24 << 20)) "what was given out is not kept"
	at_most "$(value daemon_bytes)" $((64 << 20)) "and the daemon is small"
	at_least "$(value daemon_bytes)" $((256 << 10)) "as it says"
	check "the tree that was packed" diff -r "$work/plain" "$mnt"
	umount_ok "$mnt"
}

# A kernel that has dropped its pages gets all files of a chunk anew, decoded once.
once_more_after_drops() {
	local before
	begin "prefetch=window,cache=512M" || return
	check "others are pushed" wait_until 20 reads_more
	is "$(read_pass "$work/list" 2)" "$wanted" "the right bytes"
	before=$(value chunks_decoded)
	check "pages are dropped" "$python" -c 'import os, sys
for path in sys.stdin.read().split():
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)' <"$work/list"
	is "$(read_pass "$work/list" 3)" "$wanted" "pages were dropped: the right bytes"
	at_most "$(($(value chunks_decoded) - before))" $((chunks * 3 / 2)) \
		"and no chunk is decoded again and again"
	umount_ok "$mnt"
}

# Memory that the cache has given up is not kept by malloc.
memory_is_returned() {
	begin "cache=32M,prefetch=off" || return
	is "$(read_pass "$work/list" 2)" "$wanted" "prefetch=off: the right bytes"
	at_most "$(value cache_bytes)" $((4 << 20)) "prefetch=off: all was given out"
	at_most "$(value daemon_bytes)" $((14 << 20)) "prefetch=off: and its memory was returned"
	umount_ok "$mnt"
}

# Files that the budget has no room for are not pushed.
within_the_budget() {
	begin "cache=16M" || return
	is "$(read_pass "$work/list" 2)" "$wanted" "cache=16M: the right bytes"
	at_most "$(value pushed_bytes)" $((16 << 20)) "cache=16M: no more is pushed"
	at_most "$(value cache_bytes)" $((16 << 20)) "cache=16M: nor kept"
	umount_ok "$mnt"
}

write_texts
mksquashfs "$work/plain" "$work/texts.squashfs" -comp zstd -noappend -no-progress -quiet \
	>"$work/packed" 2>&1 || bail "mksquashfs"
list_of "$work/plain" >"$work/plain.list"
chunks=$((($(du -sb "$work/plain" | cut -f 1) + 131071) / 131072 + large + 20))
wanted=$(read_pass "$work/plain.list" 1)
each_chunk_once
once_more_after_drops
memory_is_returned
within_the_budget
finish
