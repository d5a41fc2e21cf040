#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Compressed tars, by every writer, alone, in tars, and in one another: the tree that was
# packed. A stream that cannot be entered, or is damaged, is refused with a sentence.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/flip_lib.sh
. "$abs_top_srcdir/tests/mount/flip_lib.sh"
need_built zlib zstd lzma lz4 bzip2
need_fuse
need tar gzip pigz bgzip zstd pzstd xz pixz lz4 bzip2 lbzip2 cmp head tail
need_python os

args=(--ignore-special --mode-mask 777)
is_root || args+=(--no-owner)

make_tree() {
	"$python" "$fixtures/make-odd-tree" "$work/tree" || bail "no odd tree"
	seq 400000 >"$work/tree/numbers"
	head -c 2500000 /dev/urandom >"$work/tree/noise"
	head -c 9000000 /dev/zero >"$work/tree/zeros"
	tar --numeric-owner --sort=name --format=posix -C "$work/tree" -cf "$work/plain.tar" .
}

# write NAME COMMAND...: $work/NAME, compressed by the command
write() {
	local name=$1
	shift
	"$@" <"$work/plain.tar" >"$work/$name"
}

members() {
	head -c 3000000 "$work/plain.tar" | gzip
	tail -c +3000001 "$work/plain.tar" | gzip -1
}

padded() {
	gzip
	head -c 10240 /dev/zero
}

# shows FILE DIRECTORY DESCRIPTION
shows() {
	mount_ok "$3: mounted" -o index=off "$work/$1" "$mnt" || return
	check "$3: the tree" compare "${args[@]}" "$work/tree" "$mnt/$2"
	umount_ok "$mnt" "$3: unmounted"
}

# try NAME COMMAND...
try() {
	local name=$1
	check "$name: written" write "$@" || return
	shows "$name" . "$name"
}

try_writers() {
	try gzip-1.tar.gz gzip -1
	try gzip-6.tgz gzip
	try gzip-9.tar.gz gzip -9
	try pigz.tar.gz pigz -p 3
	try pigz-independent.tar.gz pigz -i -p 3
	try bgzip.tar.gz bgzip
	try members.tar.gz members
	try padded.tar.gz padded
	try called-otherwise gzip
	try zstd.tar.zst zstd -q
	try pzstd.tar.zst pzstd -q -p 3
	try frames.tar.zst frames
	try xz.tar.xz xz -1
	try blocks.tar.xz xz -0 -T2 --block-size=1MiB
	try sha256.txz xz -0 --check=sha256 --block-size=3MiB
	try pixz.tar.xz pixz -1
	try lz4.tar.lz4 lz4 -q
	try sums.tar.lz4 lz4 -q -9 -B4 -BX
	try bzip2.tar.bz2 bzip2
	try lbzip2.tar.bz2 lbzip2 -1
}

frames() {
	head -c 3000000 "$work/plain.tar" | zstd -q
	printf '\x50\x2a\x4d\x18\3\0\0\0abc' # a skippable one
	tail -c +3000001 "$work/plain.tar" | zstd -q
}

# repacks FILE NEW: what cannot be entered is refused with a command that works.
repacks() {
	local command
	"$granary" index -o index="$work/none.gidx" "$1" >"$work/said" 2>&1
	is "$?" 3 "$1: refused"
	command=$(sed -n 's/.* write it again: //p' "$work/said")
	check "$1: the command works: $command" bash -c "$command"
	mount_ok "$1: written again, mounted" -o index=off "$2" "$mnt" || return
	check "$1: written again, the tree" compare "${args[@]}" "$work/large" "$mnt"
	umount_ok "$mnt"
}

# packs NAME PROGRAM OPTIONS...: granary's own, read by the program and entered everywhere
packs() {
	local name=$1 program=$2
	shift 2
	check "$name: packed" "$granary" pack --quiet --no-index "$@" "$work/tree" "$work/$name" ||
		return
	check "$name: tar reads it" bash -c "$program -dc '$work/$name' | tar -tf - >'$work/listed'"
	shows "$name" . "$name"
	"$granary" info -o index=off "$work/$name" >"$work/said"
	check "$name: entered each MiB" grep -q "at most 1.0 MiB" "$work/said"
}

# Samples side by side, whose labels are read from the streams.
try_shards() {
	local i shard
	mkdir "$work/samples"
	for ((i = 0; i < 60; i++)); do
		head -c 30000 /dev/urandom >"$work/samples/$i.jpg"
		echo $((i % 3)) >"$work/samples/$i.cls"
	done
	for shard in 0 1; do
		(cd "$work/samples" && tar --sort=name -cf "$work/shard-$shard.tar" "$shard"*)
		gzip -k "$work/shard-$shard.tar"
	done
	"$granary" extract -o index=off "$work/shard-{0..1}.tar" "$work/plain-shards" 2>/dev/null
	check "shards: extracted" "$granary" extract -o index=off "$work/shard-{0..1}.tar.gz" \
		"$work/gzip-shards"
	check "shards: the same as uncompressed" diff -r "$work/plain-shards" "$work/gzip-shards"
	is "$(find "$work/gzip-shards" -name '*.jpg' | wc -l)" 12 "shards: all images"
	says 0 "gzip, 1 point, a cold read decodes" "shards: info tells the cost" \
		"$granary" info -o index=off "$work/shard-{0..1}.tar.gz"
}

try_packing() {
	packs packed.tar.gz gzip --compress gzip:1
	packs packed.tar.zst zstd
	packs packed.tar.xz xz --compress xz:0
}

try_repacking() {
	cd "$work" || bail "no directory"
	mkdir large
	head -c 70000000 /dev/zero >large/zeros
	seq 1000 >large/numbers
	tar --sort=name --format=posix -C large -cf large.tar .
	zstd -q large.tar -o large.tar.zst
	xz -0 -T1 -k large.tar
	lz4 -q -BD large.tar linked.tar.lz4
	repacks large.tar.zst new.tar.zst
	repacks large.tar.xz new.tar.xz
	repacks linked.tar.lz4 new.tar.lz4
}

# Two deep is read; three deep is a file.
try_stacks() {
	cd "$work" || bail "no directory"
	mkdir outer
	cp gzip-6.tgz pigz.tar.gz pzstd.tar.zst blocks.tar.xz lz4.tar.lz4 outer
	cp plain.tar outer/plain.tar
	tar -C outer -cf in-tar.tar .
	tar -C outer -czf in-gzip.tar.gz .
	tar -czf deeper.tar.gz in-gzip.tar.gz
	gzip <gzip-6.tgz >twice.gz
	shows in-tar.tar gzip-6 "tar.gz in a tar"
	shows in-tar.tar pzstd "tar.zst in a tar"
	shows in-gzip.tar.gz plain "tar in a tar.gz"
	shows in-gzip.tar.gz blocks "tar.xz in a tar.gz"
	shows in-gzip.tar.gz lz4 "tar.lz4 in a tar.gz"
	shows in-gzip.tar.gz pigz "tar.gz in a tar.gz"
	shows twice.gz . "gzip twice"
	says 0 "more than 2 deep" "three deep: said" "$granary" info -o index=off deeper.tar.gz
	mount_ok "three deep: mounted" -o index=off deeper.tar.gz "$mnt" || return
	check "three deep: a file" cmp pigz.tar.gz "$mnt/in-gzip/pigz.tar.gz"
	check "three deep: the tar beside it" compare "${args[@]}" tree "$mnt/in-gzip/plain"
	umount_ok "$mnt"
	mount_ok "nested=off: mounted" -o index=off,nested=off in-gzip.tar.gz "$mnt" || return
	check "nested=off: a file" cmp pigz.tar.gz "$mnt/pigz.tar.gz"
	umount_ok "$mnt"
}

refuses() {
	says 3 "$2" "$3" "$granary" index -o index="$work/none.gidx" "$work/$1"
}

try_damage() {
	local size i
	size=$(stat -c %s "$work/gzip-6.tgz")
	head -c $((size / 2)) "$work/gzip-6.tgz" >"$work/cut.tgz"
	head -c 9000000 "$work/plain.tar" | gzip >"$work/short.tgz"
	cp "$work/gzip-6.tgz" "$work/flipped.tgz"
	flip "$work/flipped.tgz" $((size - 6))
	seq 1000 | gzip >"$work/numbers.gz"
	refuses cut.tgz "is truncated: its compressed data end in their middle, at byte $((size / 2))" \
		"a file that ends too early"
	refuses short.tgz "is truncated: it ends at byte 9000000 inside the member" \
		"a tar that ends too early"
	refuses flipped.tgz "the checksum does not match of the gzip member that begins at byte 0" \
		"a wrong checksum"
	for i in zstd.tar.zst pzstd.tar.zst blocks.tar.xz lz4.tar.lz4 bzip2.tar.bz2; do
		size=$(stat -c %s "$work/$i")
		head -c $((size / 2)) "$work/$i" >"$work/cut-$i"
		cp "$work/$i" "$work/flipped-$i"
		flip "$work/flipped-$i" $((size / 2))
		refuses "cut-$i" "is truncated: its compressed data end in their middle, at byte $((size / 2))" \
			"$i: a file that ends too early"
		refuses "flipped-$i" "flipped-$i' is damaged: " "$i: a changed bit"
	done
	refuses numbers.gz "is a gzip-compressed" "no tar inside"
}

# A byte of the packed file changes behind the index's back: EIO for what lies in that
# chunk, and the right bytes elsewhere.
try_rot() {
	cp "$work/gzip-6.tgz" "$work/rot.tgz"
	check "rot: indexed" "$granary" index -o index="$work/rot.gidx" "$work/rot.tgz"
	mount_ok "rot: mounted" -o index="$work/rot.gidx" "$work/rot.tgz" "$mnt" || return
	flip "$work/rot.tgz" $(($(stat -c %s "$work/rot.tgz") / 2))
	"$python" "$abs_top_srcdir/tests/mount/compressed.py" "$work/tree" "$mnt" \
		>"$work/rot" 2>&1
	is "$(sed 's/ .*//' "$work/rot" | sort -u | tr '\n' ' ')" "EIO same " \
		"rot: errors and right bytes, no wrong ones" || diag "$(cat "$work/rot")"
	check "rot: the log names the file and the place" grep -q "rot.tgz.* byte " \
		"${mount_log[$mnt]}"
	umount_ok "$mnt"
}

# pzstd's frames are larger than blocks that are read ahead: each is read about once, and
# decoded once.
try_reading_ahead() {
	local size i
	mkdir "$work/photos"
	for ((i = 0; i < 300; i++)); do
		head -c 110000 /dev/urandom >"$work/photos/$i"
	done
	tar --sort=name -C "$work/photos" -cf - . | pzstd -q -p 1 -o "$work/photos.tar.zst"
	size=$(stat -c %s "$work/photos.tar.zst")
	mount_ok "reading ahead: mounted" -o index=off,prefetch=sweep "$work/photos.tar.zst" "$mnt" ||
		return
	check "reading ahead: all of it is read ahead" wait_until 30 is_read_ahead "$size"
	check "reading ahead: the files" diff -r "$work/photos" "$mnt"
	at_most "$(counter chunks_decoded)" 6 "reading ahead: five chunks are decoded once"
	at_most "$(counter source_read_bytes)" $((size * 3 / 2)) \
		"reading ahead: stored bytes are read once"
	umount_ok "$mnt"
}

# is_read_ahead BYTES
is_read_ahead() {
	[ "$(counter source_read_bytes)" -ge $(($1 * 9 / 10)) ]
}

make_tree
try_reading_ahead
try_writers
try_shards
try_packing
try_repacking
try_stacks
try_damage
try_rot
finish
