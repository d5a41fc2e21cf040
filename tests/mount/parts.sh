#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Files that were cut: by split(1), zip -s and 7zz -v, named by their first part, by braces,
# or one by one. The tree is that of the joined file; a part that is missing is named.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built zlib zstd
need_fuse
need tar gzip zstd split cat cmp truncate
need_python os

args=(--ignore-special --mode-mask 777)
is_root || args+=(--no-owner)

make_tree() {
	"$python" "$fixtures/make-odd-tree" "$work/tree" || bail "no odd tree"
	seq 100000 >"$work/tree/numbers"
	head -c 900000 /dev/urandom >"$work/tree/noise"
	tar --numeric-owner --sort=name --format=posix -C "$work/tree" -cf "$work/plain.tar" .
	gzip -k -1 "$work/plain.tar"
}

# cut DIRECTORY FILE NAME SPLIT-OPTIONS...: parts of FILE, NAME and a number each.
cut_file() {
	local directory=$work/$1 file=$work/$2 name=$3
	shift 3
	mkdir -p "$directory" && split "$@" "$file" "$directory/$name" &&
		cat "$directory/$name"* | cmp - "$file"
}

# shows DESCRIPTION ARGUMENT...: mounted, as the tree that was packed.
shows() {
	local what=$1
	shift
	mount_ok "$what: mounted" -o index=off "$@" "$mnt" || return
	check "$what: the tree" compare "${args[@]}" "$work/tree" "$mnt"
	umount_ok "$mnt" "$what: unmounted"
}

refuses() {
	says 3 "$2" "$1" "$granary" index -o index="$work/none.gidx" "${@:3}"
}

# NAME of the parts, the options of split, the first part
try_split() {
	local row
	for row in "plain.tar.gz.part:-b 300000:plain.tar.gz.partaa" \
		"plain.tar.gz.:-b 300000 -d -a 3:plain.tar.gz.000" \
		"plain.tar.:-b 1000000:plain.tar.aa" "plain.tar.:-n 7 -d:plain.tar.00" \
		"plain.tar-:-b 8192 -a 4:plain.tar-aaaa" \
		"plain.tar.gz.:-b 300000 --numeric-suffixes=7:plain.tar.gz.07"; do
		IFS=: read -r name options first <<<"$row"
		file=${name%-}
		file=${file%.part}
		# shellcheck disable=SC2086  # options are words
		check "$first: cut" cut_file "cut-$first" "${file%.}" "$name" $options || continue
		shows "$first" "$work/cut-$first/$first"
		rm -r "$work/cut-$first"
	done
}

# Numbers without zeros in front, which the shell puts into another order.
try_lists() {
	local i count=12
	check "lists: cut" cut_file lists plain.tar.gz plain.tar.gz.part -n $count -d || return
	cd "$work/lists" || return
	for ((i = 0; i < count; i++)); do
		mv "plain.tar.gz.part$(printf %02d $i)" "plain.tar.gz.part-$((i + 1))"
	done
	shows "the first" plain.tar.gz.part-1
	shows "braces" "plain.tar.gz.part-{1..$count}"
	shows "a pattern of the shell" plain.tar.gz.part*
	check "braces, and a path" "$granary" ls -o index=off "plain.tar.gz.part-{1..$count}" /
	check "one by one" "$granary" ls -o index=off plain.tar.gz.part* /
	cd "$work" || return
}

# The index is of all parts: any one that changes makes it stale.
try_index() {
	local parts=$work/index file
	check "index: cut" cut_file index plain.tar.gz plain.tar.gz.part -b 300000 || return
	check "index: made" "$granary" index "$parts/plain.tar.gz.partaa"
	check "index: beside the first part" test -f "$parts/plain.tar.gz.partaa.gidx"
	mount_ok "index: used" -o index=require "$parts/plain.tar.gz.partaa" "$mnt" &&
		umount_ok "$mnt"
	says 0 "is up to date" "index: fits" "$granary" index "$parts/plain.tar.gz.partaa"
	file=$(find "$parts" -name '*.part??' | sort | tail -1)
	cp "$file" "$work/same"
	cat "$work/same" >"$file"
	says 3 "has no index that fits" "index: a part was written anew" \
		"$granaryfs" -o index=require "$parts/plain.tar.gz.partaa" "$mnt"
}

# Of a file that lies in two parts, the bytes of each are named as they lie there.
try_places() {
	local parts=$work/places
	check "places: cut" cut_file places plain.tar plain.tar. -b 500000 || return
	"$granary" stat -o index=off "$parts/plain.tar.aa" noise >"$work/said" 2>&1
	is "$(grep -o 'plain.tar.a[a-z]' "$work/said" | sort -u | wc -l)" \
		"$(grep -c 'plain.tar.a[a-z]' "$work/said")" "places: a line a part" ||
		diag "$(cat "$work/said")"
	at_least "$(grep -c 'plain.tar.a[a-z]' "$work/said")" 2 "places: two parts at least"
}

# A part that becomes shorter under a mount: EIO in it, and right bytes before it.
try_rot() {
	local parts=$work/rot
	check "rot: cut" cut_file rot plain.tar plain.tar. -b 500000 || return
	check "rot: indexed" "$granary" index --checksums -q "$parts/plain.tar.aa"
	mount_ok "rot: mounted" "$parts/plain.tar.aa" "$mnt" || return
	truncate -s 100 "$parts/plain.tar.ab"
	find "$mnt" -type f -exec cat {} + >/dev/null 2>"$work/said"
	at_least "$(grep -c "Input/output error" "$work/said")" 1 "rot: errors"
	check "rot: the log names the part" grep -q "plain.tar.ab at byte [0-9]" "${mount_log[$mnt]}" ||
		diag "$(tail -5 "${mount_log[$mnt]}")"
	umount_ok "$mnt"
	says 6 "plain.tar.aa: is cut off" "rot: granary verify" "$granary" verify "$parts/plain.tar.aa"
}

try_missing() {
	local parts=$work/missing
	check "missing: cut" cut_file missing plain.tar.gz plain.tar.gz.part -b 300000 || return
	mv "$parts/plain.tar.gz.partac" "$work/kept"
	refuses "missing: one between" "plain.tar.gz.partac' is missing" "$parts/plain.tar.gz.partaa"
	mv "$work/kept" "$parts/plain.tar.gz.partac"
	refuses "missing: the wrong one named" "name the first, '$parts/plain.tar.gz.partaa'" \
		"$parts/plain.tar.gz.partab"
	truncate -s 200000 "$parts/plain.tar.gz.partac"
	refuses "a short one" "its part '$parts/plain.tar.gz.partac' has 200000 bytes" \
		"$parts/plain.tar.gz.partaa"
	rm "$parts/plain.tar.gz.part"[a-z][d-z]
	refuses "the last ones missing" "its compressed data end in their middle" \
		"$parts/plain.tar.gz.partaa"
	rm "$parts/plain.tar.gz.partac"
	refuses "the last ones missing: named" "plain.tar.gz.partac' is not there" \
		"$parts/plain.tar.gz.partaa"
	rm "$parts/plain.tar.gz.partab"
	refuses "alone" "plain.tar.gz.partab' is not there" "$parts/plain.tar.gz.partaa"
}

# Cut between two members, a tar is sound without its last part.
try_end() {
	local i
	mkdir "$work/blocks"
	for i in {10..29}; do
		head -c 512 /dev/urandom >"$work/blocks/$i"
	done
	(cd "$work/blocks" && tar --format=ustar -cf "$work/blocks.tar" *)
	check "end: cut" cut_file end blocks.tar blocks.tar. -b 10240 -a 2 || return
	"$granary" ls -o index=off "$work/end/blocks.tar.aa" >"$work/said" 2>&1
	is "$(grep -c 'is not there' "$work/said")" 0 "end: all parts are there"
	rm "$work/end/blocks.tar.ac"
	says 0 "blocks.tar.ac' is not there" "end: the last part is missing, and is named" \
		"$granary" ls -o index=off "$work/end/blocks.tar.aa"
}

# Shards count before the extension; and files that begin alike are whole.
try_shards() {
	local i
	mkdir "$work/shards"
	for i in 0 1; do
		mkdir "$work/shard-$i"
		echo "$i" >"$work/shard-$i/file-$i"
		tar -C "$work/shard-$i" -cf "$work/shards/train-$i.tar" .
		cp "$work/shards/train-$i.tar" "$work/shards/train.tar.$i"
	done
	is "$("$granary" ls -o index=off "$work/shards/train-{0..1}.tar" / | tr '\n' ' ')" \
		"file-0 file-1 " "shards"
	is "$("$granary" ls -o index=off "$work/shards/train.tar.{0..1}" / | tr '\n' ' ')" \
		"file-0 file-1 " "whole tars that are named like parts"
	is "$("$granary" ls -o index=off "$work/shards/train.tar.0" / | tr '\n' ' ')" "file-0 " \
		"one of these"
}

try_zip() {
	local seven
	# Debian 13 calls it 7z
	if ! command -v zip >/dev/null || ! seven=$(command -v 7zz || command -v 7z); then
		skip "zip or 7zz is not installed" "zips in parts"
		return
	fi
	mkdir "$work/zips" "$work/files"
	cp "$work/tree/numbers" "$work/tree/noise" "$work/files"
	mkdir "$work/files/directory"
	seq 1000 >"$work/files/directory/few"
	(cd "$work/files" && zip -q -r -s 64k "$work/zips/cut.zip" . &&
		zip -q -0 -r -s 64k "$work/zips/stored.zip" . &&
		"$seven" a -v100k "$work/zips/seven.zip" . >"$work/said") || bail "no zips"
	local name
	for name in cut.zip cut.z01 stored.zip seven.zip.001; do
		mount_ok "$name: mounted" -o index=off "$work/zips/$name" "$mnt" || continue
		check "$name: the files" diff -r "$work/files" "$mnt"
		umount_ok "$mnt"
	done
	mv "$work/zips/cut.z02" "$work/kept"
	refuses "zip: a part is missing" "cut.z02' is missing" "$work/zips/cut.zip"
	mv "$work/kept" "$work/zips/cut.z02"
	rm "$work/zips/"cut.z1? "$work/zips/"cut.z0[4-9]
	refuses "zip: the last numbers are missing" "is a zip archive in parts" "$work/zips/cut.zip"
}

# A part of more than 4 GiB: a member, a hole, begins in it and ends in the next.
try_large() {
	local parts=$work/large tree=$work/large-tree first=4500
	mkdir "$parts" "$tree"
	truncate -s 5G "$tree/hole"
	seq 200000 >"$tree/numbers"
	tar --format=ustar -C "$tree" -cf - hole 2>/dev/null | head -c 512 >"$parts/large.tar.00"
	truncate -s "${first}M" "$parts/large.tar.00"
	truncate -s $((512 + (5 << 30) - (first << 20))) "$parts/large.tar.01"
	tar --format=ustar -C "$tree" -cf - numbers >>"$parts/large.tar.01"
	mount_ok "large: mounted" -o index=off "$parts/large.tar.00" "$mnt" || return
	check "large: behind a part of more than 4 GiB" cmp "$tree/numbers" "$mnt/numbers"
	is "$(stat -c %s "$mnt/hole")" $((5 << 30)) "large: the size"
	umount_ok "$mnt"
}

# As root: another user's parts, opened with that user's rights.
try_user() {
	is_root || return
	local parts=$work/user
	public_programs # nobody may have no way into the build directory
	local granaryfs=$work/programs/granaryfs
	check "user=: cut" cut_file user plain.tar.gz plain.tar.gz.part -b 300000 || return
	chown -R 65534 "$parts"
	chmod 600 "$parts"/*
	mount_ok "user=: mounted" -o index=off,allow_other,user=nobody \
		"$parts/plain.tar.gz.partaa" "$mnt" || return
	check "user=: the tree" compare "${args[@]}" "$work/tree" "$mnt"
	umount_ok "$mnt"
	chown 0 "$parts/plain.tar.gz.partab"
	refuses "parts of two users" "have all parts belong to one user" "$parts/plain.tar.gz.partaa"
}

make_tree
try_split
try_lists
try_index
try_places
try_rot
try_missing
try_end
try_shards
try_zip
try_large
try_user
finish
