#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Packed files that were copied together with their index: times in whole seconds, and
# granary index --adopt.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar cp dd touch timeout

from=$work/from
to=$work/to

make_dataset() {
	local i
	mkdir "$from" "$work/tree"
	for i in 1 2 3; do
		mkdir "$work/tree/c$i"
		head -c 30000 /dev/urandom >"$work/tree/c$i/file"
	done
	# the directories are not in it: they are shown with the packed file's own time
	tar -C "$work/tree" -cf "$from/a.tar" c1/file c2/file c3/file
	tar -C "$work/tree" -cf "$from/b.tar" c1
	mv "$work/tree/c1" "$work/tree/d1"
	tar -C "$work/tree" -cf "$from/c.tar" d1
}

# copied [OPTION...]: all of it, with another time of change.
copied() {
	rm -rf "$to"
	mkdir "$to"
	cp "$@" "$from"/* "$to"
	[ $# -gt 0 ] || touch -d '2020-01-02 03:04:05.678' "$to"/*.tar
}

fits() {
	"$granary" index --check "$@" >"$work/said" 2>&1
}

# adopted SOURCE: standard output, and in $work/said what was said.
adopt() {
	"$granary" index --json --adopt "$@" >"$work/json" 2>"$work/said"
	is $? 0 "index --adopt ${*##*/}: status"
}

# outcome BUILT ADOPTED CHECKSUMS DESCRIPTION
outcome() {
	is "$(sed 's/.*\("built":[a-z]*,"adopted":[a-z]*\),.*\("checksums":[a-z]*\)}/\1,\2/' \
		"$work/json")" "\"built\":$1,\"adopted\":$2,\"checksums\":$3" "$4" ||
		diag "$(cat "$work/said")"
}

# ---- Times ------------------------------------------------------------------------

whole_seconds() {
	local time=1700000000
	"$granary" index "$from/a.tar" >/dev/null
	touch -d "@$time.25" "$from/a.tar"
	"$granary" index "$from/a.tar" >/dev/null
	copied -p
	check "a copy with its time: its index fits" fits "$to/a.tar"
	touch -d "@$time" "$to/a.tar"
	check "a time that has lost its nanoseconds" fits "$to/a.tar"
	mount_ok "it is mounted with index=require" -o index=require "$to/a.tar" "$mnt"
	umount_ok "$mnt"
	touch -d "@$time.125" "$to/a.tar"
	refuse "a time with other nanoseconds" fits "$to/a.tar"
	touch -d "@$((time + 1))" "$to/a.tar"
	refuse "the next second" fits "$to/a.tar"
	"$granary" index "$to/a.tar" >/dev/null 2>&1
	touch -d "@$((time + 1)).75" "$to/a.tar"
	check "an index that was made with whole seconds" fits "$to/a.tar"
	rm "$from/a.tar.gidx"
}

# ---- Adoption ---------------------------------------------------------------------

with_checksums() {
	"$granary" index --checksums "$from/a.tar" >/dev/null
	copied
	refuse "a copy with another time: its index does not fit" fits "$to/a.tar"
	grep -q "another time of change .*; if it is a copy: granary index --adopt '[^']*tar'" "$work/said"
	ok $? "the sentence names --adopt" || diag "$(cat "$work/said")"
	adopt "$to/a.tar"
	outcome false true true "with checksums: adopted"
	is "$(cat "$work/said")" "" "with checksums: nothing to warn of"
	check "it fits" fits --checksums "$to/a.tar"
	mount_ok "it is mounted with index=require" -o index=require "$to/a.tar" "$mnt"
	check "it shows the files" diff -r "$work/tree/c2" "$mnt/c2"
	umount_ok "$mnt"
	adopt "$to/a.tar"
	outcome false false true "once more: it is up to date"
	check "the text says so" grep -q "is up to date: " <("$granary" index --adopt "$to/a.tar")
	copied
	check "the text says what became of it" grep -q "a.tar.gidx adopted: the packed files hold" \
		<("$granary" index --adopt "$to/a.tar")
}

# Changes that a file system, or an interruption, makes to a copy.
damaged_copies() {
	copied
	printf X | dd of="$to/a.tar" bs=1 seek=50000 conv=notrunc status=none
	adopt "$to/a.tar"
	outcome true false true "a byte of a file is another: not adopted"
	grep -q "a.tar.gidx is not adopted, and made anew: c2/file: its checksum is another" \
		"$work/said"
	ok $? "the file is named" || diag "$(cat "$work/said")"
	copied
	# the second header's name: class c2 becomes c4; its checksum with it
	"$python" - "$to/a.tar" <<-'EOS'
		import sys
		f = open(sys.argv[1], "r+b")
		bytes_ = bytearray(f.read())
		at = bytes_.index(b"c2/file")
		bytes_[at + 1] = ord("4")
		head = bytes_[at:at + 512]
		head[148:156] = b" " * 8
		bytes_[at + 148:at + 156] = b"%06o\0 " % sum(head)
		f.seek(0)
		f.write(bytes_)
	EOS
	adopt "$to/a.tar"
	outcome true false true "a name is another: not adopted"
	grep -q "made anew: c2: it is not there now" "$work/said"
	ok $? "the name is named" || diag "$(cat "$work/said")"
	mount_ok "the new one is of what is there" -o index=require "$to/a.tar" "$mnt"
	check "with the new name" test -f "$mnt/c4/file"
	umount_ok "$mnt"
	copied
	truncate -s -512 "$to/a.tar"
	refuse "a copy that is shorter: its index does not fit" fits "$to/a.tar"
	refuse "the sentence does not name --adopt" grep -qe --adopt "$work/said"
	adopt "$to/a.tar"
	grep -q "'$to/a.tar' has another size than" "$work/said"
	ok $? "a copy that is shorter" || diag "$(cat "$work/said")"
	outcome true false true "it is not adopted"
}

without_checksums() {
	rm "$from/a.tar.gidx"
	"$granary" index "$from/a.tar" >/dev/null
	copied
	adopt "$to/a.tar"
	outcome false true false "without checksums: the names are compared"
	check "it fits" fits "$to/a.tar"
	copied
	rm "$to/a.tar.gidx"
	adopt "$to/a.tar"
	outcome true false false "no index: one is made"
	grep -q "'$to/a.tar' has no index that could be adopted" "$work/said"
	ok $? "and that is said"
	copied
	truncate -s 1000 "$to/a.tar.gidx"
	adopt "$to/a.tar"
	outcome true false false "half an index: another is made"
}

# One index of two; and another packed file in the place of one.
sets() {
	local set="$to/{b,c}.tar"
	"$granary" index --checksums "$from/{b,c}.tar" >/dev/null
	copied
	touch -d '2021-01-01 00:00:00.5' "$to"/[bc].tar
	adopt "$set"
	outcome false true true "a set: adopted"
	cp "$from/c.tar" "$work/keep.tar"
	cp "$from/b.tar" "$to/c.tar"
	rm "$to/b.tar"
	cp "$work/keep.tar" "$to/b.tar"
	adopt "$set"
	outcome true false true "a set in another order: not adopted"
}

wrong_usage() {
	"$granary" index --adopt --force "$to/a.tar" >/dev/null 2>"$work/said"
	is $? 1 "--adopt and --force"
	"$granary" index --adopt --check "$to/a.tar" >/dev/null 2>"$work/said"
	is $? 1 "--adopt and --check"
}

make_dataset
whole_seconds
with_checksums
damaged_copies
without_checksums
sets
wrong_usage
finish
