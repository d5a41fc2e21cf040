#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# A tree with everything odd in it, packed by mksquashfs with every compressor,
# is the same tree when it is mounted, and the one that unsquashfs unpacks.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd
need_fuse
need mksquashfs unsquashfs diff setfattr cmp truncate
need_python os

# Set-id and sticky bits are never shown, FIFOs and devices neither. An image has
# whole seconds, of 32 bits.
args=(--seconds --ignore-special --mode-mask 777)
is_root || args+=(--no-owner)

make_tree() {
	local xattrs=()
	touch "$work/probe"
	setfattr -n user.probe -v 1 "$work/probe" 2>/dev/null && xattrs=(--xattrs)
	"$python" "$fixtures/make-odd-tree" "${xattrs[@]}" "$work/tree" || bail "no odd tree"
	touch -d @4294967295 "$work/tree/times/2106-after"
	touch -d @0 "$work/tree/times/1969"
	args+=("${xattrs[@]}")
	# Bytes that compress, over several blocks, and bytes that do not.
	seq 50000 >"$work/tree/numbers"
	cp "$work/tree/numbers" "$work/tree/numbers again"
	head -c 200000 /dev/urandom | cat "$work/tree/numbers" - "$work/tree/numbers" \
		>"$work/tree/mixed"
	touch -d @1000000000 "$work/tree/"{numbers,'numbers again',mixed} "$work/tree"
}

# pack NAME OPTIONS...
pack() {
	local name=$1
	shift
	mksquashfs "$work/tree" "$work/$name.squashfs" -noappend -no-progress -quiet \
		-processors 2 "$@"
}

# mounts_as_it_is NAME DESCRIPTION MOUNT-OPTIONS...
mounts_as_it_is() {
	local name=$1 description=$2
	shift 2
	mount_ok "$description: mounted" -o index=off "$@" "$work/$name" "$mnt" || return
	check "$description: the original" compare "${args[@]}" "$work/tree" "$mnt"
	umount_ok "$mnt" "$description: unmounted"
}

# try NAME OPTIONS...
try() {
	local name=$1
	shift
	check "$name: packed" pack "$name" "$@" || return
	mount_ok "$name: mounted" -o index=off "$work/$name.squashfs" "$mnt" || return
	check "$name: the original" compare "${args[@]}" "$work/tree" "$mnt"
	check "$name: holes are honest" \
		find "$mnt/sparse" -type f -exec "$python" "$abs_top_srcdir/tests/mount/holes.py" {} +
	umount_ok "$mnt" "$name: unmounted"
	rm "$work/$name.squashfs"
}

# Contents by another program, once for each compressor.
unpacks_the_same() {
	local name=$1
	check "$name: packed" pack "$name" -comp "$name" || return
	check "$name: unpacked by unsquashfs" unsquashfs -quiet -no-progress \
		-dest "$work/unpacked" "$work/$name.squashfs"
	if mount_ok "$name: mounted" "$work/$name.squashfs" "$mnt"; then
		check "$name: the original" compare "${args[@]}" "$work/tree" "$mnt"
		check "$name: what unsquashfs unpacks" \
			compare "${args[@]}" "$work/unpacked" "$mnt"
		umount_ok "$mnt" "$name: unmounted"
	fi
	chmod -R u+w "$work/unpacked"
	rm -r "$work/unpacked"
}

make_tree
for compressor in gzip lzo xz lz4 zstd; do
	unpacks_the_same "$compressor"
	try "$compressor-no-fragments" -comp "$compressor" -no-fragments -b 4096
done
try lz4-hc -comp lz4 -Xhc -b 1M
try xz-bcj -comp xz -Xbcj x86,arm -b 64K
try gzip-strategies -comp gzip -Xstrategy huffman_only,fixed -Xwindow-size 10
try always-fragments -comp zstd -always-use-fragments -tailends
try stored -noI -noD -noF -noX
try stored-blocks -noD
try stored-fragments -noF -b 4096
try stored-metadata -noI -no-exports -no-duplicates
try stored-no-fragments -noD -no-fragments -b 1M

# The image is a part of its file, or shorter than it.
check "packed for a window" pack window -comp zstd -nopad
mounts_as_it_is window.squashfs "without padding"
{ head -c 12345 /dev/zero; cat "$work/window.squashfs"; } >"$work/behind"
mounts_as_it_is behind "behind 12345 bytes" -o base=12345
said=$("$granaryfs" "$work/behind" "$mnt" 2>&1)
is $? 3 "behind 12345 bytes: refused without an option"
option=$(grep -o 'base=[0-9]*' <<<"$said" | head -n 1)
is "$option" base=12345 "behind 12345 bytes: the option is named"
mounts_as_it_is behind "behind 12345 bytes, as it was said" -o "$option"
{ cat "$work/window.squashfs"; head -c 70000 /dev/urandom; } >"$work/padded"
mounts_as_it_is padded "with 70000 bytes behind it"

# One byte less than bytes_used.
size=$(stat -c %s "$work/window.squashfs")
truncate -s $((size - 1)) "$work/window.squashfs"
said=$("$granary" index "$work/window.squashfs" 2>&1)
is $? 3 "a truncated image is refused"
check "and is said to be truncated" grep -q "is truncated: it needs $size bytes and has $((size - 1))" \
	<<<"$said"
finish
