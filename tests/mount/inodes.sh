#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# The point of it all: on a filesystem with 64 inodes, eight shards of 8,000
# files each can be read, and the index costs one inode at most.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need mkfs.ext4 tar df
files=8000
full=$work/full

used_inodes() {
	df --output=iused "$full" | tail -n 1 | tr -d ' '
}

write_shards() {
	"$python" "$abs_top_srcdir/tests/mount/write_shards.py" --shards 8 \
		--files "$files" --size 700 "$full/shard-%d.tar"
}

unpack() {
	mkdir "$full/unpacked" && tar -C "$full/unpacked" -xf "$full/shard-0.tar"
}

# Not by `check`: a subshell would forget to unmount it.
loop_ext4 "$work/image" "$full" 256M -N 64 || lacking "no filesystem on a loop device"
check "eight shards written" write_shards
before=$(used_inodes)
refuse "tar x runs out of inodes" unpack
rm -rf "$full/unpacked"
is "$(used_inodes)" "$before" "cleaned up"

check "granary index" "$granary" index "$full/shard-{0..7}.tar"
if mount_ok "mounted" -o index=require "$full/shard-{0..7}.tar" "$mnt"; then
	is "$(find "$mnt" -type f | wc -l)" $((8 * files)) "all files are there"
	find "$mnt" -type f >"$work/list"
	check "all files can be read" "$read_all" "$work/list" 1 2
	is "$("$read_all" "$work/list" 1 2 | cut -d ' ' -f 4)" $((8 * files * 700)) "all bytes"
	at_most "$(used_inodes)" $((before + 1)) "at most one inode more than before"
	umount_ok "$mnt"
fi
at_most "$(used_inodes)" $((before + 1)) "at most one inode more afterwards"
finish
