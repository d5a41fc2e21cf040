#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# A tree in an HDF5 file, one dataset a file, is that tree when it is mounted: in
# each encoding, in old files and new ones, with a user block and without.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built hdf5 deflate
need_fuse
need timeout
need_python h5py
encodings=(uint8 string opaque compact chunked gzip gzip-shuffle
	gzip-shuffle-fletcher fletcher)
scripts=$abs_top_srcdir/tests/mount

# Regular files, and hard links: an HDF5 file has no others.
make_tree() {
	"$python" "$fixtures/make-odd-tree" "$work/tree" || bail "no odd tree"
	find "$work/tree" ! -type d ! -type f -delete
	find "$work/tree/sparse" -type f -size +1000k -delete
}

# mirror NAME OPTIONS...: all encodings in one file, each below its name.
mirror() {
	local name=$1 encoding arguments=()
	shift
	for encoding in "${encodings[@]}"; do
		arguments+=(--encoding "$encoding")
	done
	"$python" "$fixtures/make-tree-h5" "${arguments[@]}" "$@" "$work/tree" \
		"$work/$name.h5" 2>"$work/left-out" || { cat "$work/left-out"; return 1; }
	[ ! -s "$work/left-out" ] || { cat "$work/left-out"; return 1; }
}

# try NAME OPTIONS...
try() {
	local name=$1 encoding
	shift
	check "$name: written" mirror "$name" "$@" || return
	mount_ok "$name: mounted" "$work/$name.h5" "$mnt" || return
	for encoding in "${encodings[@]}"; do
		check "$name: $encoding: trees are the same" \
			compare --no-attributes "$work/tree" "$mnt/$encoding"
	done
	check "$name: as h5py reads it" "$python" "$scripts/h5_tree.py" "$work/$name.h5" "$mnt"
	check "$name: without libhdf5" no_format_library "$mnt"
	umount_ok "$mnt" "$name: unmounted"
	rm "$work/$name.h5"
}

every_encoding() {
	local version block
	for version in earliest latest; do
		for block in 0 512; do
			try "$version-$block" --libver "$version" --userblock "$block"
		done
	done
}

write() {
	"$python" "$scripts/write_h5.py" "$1" "$work/$1.h5"
}

same_file() {
	is "$(stat -c %i "$mnt/$1")" "$(stat -c %i "$mnt/$2")" "$3"
}

links() {
	check "links: written" write links
	mount_ok "links: mounted" "$work/links.h5" "$mnt" || return
	same_file a/file a/hard "links: two names of one dataset are one inode"
	same_file a/file b/hard "links: also in another group"
	is "$(stat -c %h "$mnt/a/file")" 3 "links: and it counts them"
	is "$(readlink "$mnt/b/relative")" hard "links: a soft link is a symbolic one"
	check "links: a soft link from the root leads there" cmp "$mnt/b/soft" "$mnt/a/file"
	check "links: a soft link to a group" cmp "$mnt/soft-directory/file" "$mnt/a/file"
	umount_ok "$mnt"
}

# Links that lead nowhere, or back.
odd_links() {
	check "dangling: written" write dangling
	is "$(granary ls -l "$work/dangling.h5" a | grep -o -e '->.*')" "-> ../nothing/here" \
		"dangling: a soft link may lead nowhere"
	check "loop: written" write loop
	is "$(timeout 20 granary ls -R "$work/loop.h5" 2>"$work/err")" $'a\na/file' \
		"loop: a group inside itself is shown once"
	is "$(grep -c -F a/again "$work/err")" 1 "loop: and a warning names the link"
}

# refused KIND WORD DESCRIPTION
refused() {
	local kind=$1 word=$2 description=$3
	check "$description: written" write "$kind"
	timeout 60 "$granaryfs" "$work/$kind.h5" "$mnt" >"$work/out" 2>"$work/err"
	is $? 3 "$description: status 3"
	is "$(wc -l <"$work/err")" 1 "$description: one sentence" || diag "$(cat "$work/err")"
	grep -q -F -- "$kind.h5" "$work/err" && grep -q -i -E -- "$word" "$work/err"
	ok $? "$description: names the file and $word" || diag "$(cat "$work/err")"
	refuse "$description: no mount" is_mounted "$mnt"
	refuse "$description: no index" test -e "$work/$kind.h5.gidx"
}

unsupported() {
	refused bitshuffle '32008' "a filter that we lack"
	refused virtual virtual "a virtual dataset"
	refused external_link external "an external link"
	refused external_file external "data in another file"
	refused floats 'temperature|pressure|float|no files' "only arrays of numbers"
}

make_tree
every_encoding
links
odd_links
unsupported
finish
