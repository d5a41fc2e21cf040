#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary extract: what comes out is what was packed; each file whole or not at all; and
# nothing outside of the destination, whatever lies in the way.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need tar find mksquashfs unsquashfs setfattr getfattr
need_python json h5py numpy

# listing DIRECTORY: every name with what is not its contents.
listing() {
	(cd "$1" && find . -mindepth 1 ! -type d -printf '%P %y %m %n %s %T@ %l\0' \
		-o -mindepth 1 -type d -printf '%P %y %m %T@\0') | LC_ALL=C sort -z
}

# same_trees A B DESCRIPTION: contents, kinds, modes, times, links.
same_trees() {
	check "$3: contents" diff -r --no-dereference "$1" "$2"
	cmp <(listing "$1") <(listing "$2") >"$work/said" 2>&1
	ok $? "$3: modes, times, links" || diag "$(diff <(listing "$1" | tr '\0' '\n') \
		<(listing "$2" | tr '\0' '\n') | head -n 20)"
}

no_temporaries() {
	is "$(find "$1" -name '.granary-*')" "" "$2: nothing temporary is left"
}

make_tree() {
	local t=$work/tree i
	mkdir -p "$t/train/a" "$t/train/b/deep/er" "$t/val/a" "$t/closed" "$t/empty"
	for i in {1..40}; do
		head -c $((i * 997)) /dev/urandom >"$t/train/a/$i.jpg"
		echo "$i" >"$t/train/b/$i.cls"
	done
	echo deep >"$t/train/b/deep/er/file"
	printf odd >"$t/val/a/"$'caf\xe9 \n tab\t'
	echo star >"$t/val/a/x[1].txt"
	: >"$t/val/nothing"
	truncate -s 3M "$t/val/holes"
	echo middle | dd of="$t/val/holes" bs=1M seek=1 conv=notrunc status=none
	ln "$t/train/a/7.jpg" "$t/val/a/seven"
	ln "$t/train/a/7.jpg" "$t/seven"
	ln -s ../train/a/1.jpg "$t/val/link"
	ln -s /etc/passwd "$t/val/away"
	setfattr -n user.colour -v blue "$t/val/nothing"
	setfattr -n user.colour -v red "$t/val"
	echo sealed >"$t/closed/file"
	chmod 640 "$t/train/a/1.jpg"
	chmod 755 "$t/train/a/2.jpg"
	find "$t" -exec touch -h -d '2019-03-04 05:06:07.123456789' {} +
	chmod 500 "$t/closed"
}

# Three packed files, read by their own tools for comparison.
packs() {
	tar -C "$work/tree" --xattrs --format=posix --sparse -cf "$work/t.tar" .
	mksquashfs "$work/tree" "$work/t.sqfs" -no-progress -quiet -all-root >"$work/said" 2>&1 ||
		diag "$(cat "$work/said")"
	"$python" - "$work/t.h5" "$work/h5" <<-'END'
		import os, sys, h5py, numpy
		with h5py.File(sys.argv[1], "w") as file:
		    for name in ("a/1.jpg", "a/2.jpg", "b/c/3.jpg"):
		        data = numpy.frombuffer(os.urandom(5000), dtype="u1")
		        file[name] = data
		        path = os.path.join(sys.argv[2], name)
		        os.makedirs(os.path.dirname(path), exist_ok=True)
		        data.tofile(path)
	END
}

whole() {
	check "extract a tar" "$granary" extract "$work/t.tar" "$work/tar"
	same_trees "$work/tree" "$work/tar" "tar"
	is "$(getfattr --absolute-names --only-values -n user.colour "$work/tar/val/nothing" "$work/tar/val" 2>&1)" \
		bluered "tar: extended attributes"
	at_most "$(du -k "$work/tar/val/holes" | cut -f1)" 64 "tar: holes stay holes"
	mkdir "$work/gnu"
	tar -C "$work/gnu" -xpf "$work/t.tar"
	same_trees "$work/gnu" "$work/tar" "as GNU tar does"
	no_temporaries "$work/tar" "tar"

	check "extract a squashfs image" "$granary" extract --threads 4 "$work/t.sqfs" "$work/sq"
	unsquashfs -quiet -no-progress -no-xattrs -d "$work/unsquashed" "$work/t.sqfs" \
		>"$work/said" 2>&1 || diag "$(cat "$work/said")"
	check "squashfs: contents, as unsquashfs does" \
		diff -r --no-dereference "$work/unsquashed" "$work/sq"
	check "extract an HDF5 file" "$granary" extract "$work/t.h5" "$work/hdf"
	check "HDF5: contents, as h5py wrote them" diff -r "$work/h5" "$work/hdf"
}

# paths DIRECTORY: the files in it.
paths() {
	(cd "$1" && find . ! -type d -printf '%P\n' | LC_ALL=C sort)
}

parts() {
	check "a directory" "$granary" extract "$work/t.tar" "$work/p1" train/b/deep
	is "$(paths "$work/p1")" train/b/deep/er/file "a directory: all below it, and no more"
	check "a pattern" "$granary" extract "$work/t.tar" "$work/p2" '*/a/1?.jpg' ./seven
	is "$(paths "$work/p2" | wc -l)" 11 "a pattern: what it matches"
	is "$(stat -c %a "$work/p2/train/a")" "$(stat -c %a "$work/tree/train/a")" \
		"a pattern: the directories above with their modes"
	check "a name with brackets" "$granary" extract "$work/t.tar" "$work/p3" 'val/a/x[1].txt'
	is "$(paths "$work/p3")" 'val/a/x[1].txt' "a name with brackets is a name"
	check "only a second name" "$granary" extract "$work/t.tar" "$work/p4" val/a/seven
	check "only a second name: its contents" cmp "$work/tree/seven" "$work/p4/val/a/seven"
	check "subdir" "$granary" extract -o subdir=train/b "$work/t.tar" "$work/p5" deep
	is "$(paths "$work/p5")" deep/er/file "subdir: paths begin there"
	says 2 "matches nothing" "a pattern that matches nothing" \
		"$granary" extract "$work/t.tar" "$work/p6" seven nowhere
	[ ! -e "$work/p6" ]
	ok $? "and then nothing is made"
	says 1 "missing" "no destination" "$granary" extract "$work/t.tar"
	says 1 "missing" "no destination, but a second packed file" \
		"$granary" extract "$work/t.tar" "$work/t.sqfs"
	says 2 "make the directory" "a destination in no directory" \
		"$granary" extract "$work/t.tar" "$work/none/none"
	says 2 "into a directory" "a destination that is a file" \
		"$granary" extract "$work/t.tar" "$work/tree/seven"
}

sets() {
	tar -C "$work/tree" -cf "$work/s-1.tar" train
	tar -C "$work/tree" -cf "$work/s-2.tar" val
	check "a shard set" "$granary" extract "$work/s-{1..2}.tar" "$work/s"
	check "a shard set: one tree" diff -r --no-dereference "$work/s/val" "$work/tree/val"
	check "shards by name" "$granary" extract "$work/s-1.tar" "$work/s-2.tar" "$work/s2" val
	check "shards by name: a part" diff -r --no-dereference "$work/s2/val" "$work/tree/val"
	is "$(ls "$work/s2")" val "shards by name: no more"
}

# same_files DIRECTORY DESCRIPTION: all but what directories are, which were there before.
same_files() {
	check "$2: contents" diff -r --no-dereference "$work/tree" "$1"
	cmp <(listing "$work/tree" | grep -azv ' d ') <(listing "$1" | grep -azv ' d ')
	ok $? "$2: modes, times, links"
}

existing() {
	local d=$work/exist
	mkdir -p "$d/train/a"
	echo mine >"$d/train/a/3.jpg"
	says 2 "--skip-existing" "a file that is there is not replaced" \
		"$granary" extract "$work/t.tar" "$d" train/a
	is "$(cat "$d/train/a/3.jpg")" mine "it is left alone"
	says 0 "1 were there already" "--skip-existing leaves it, and goes on" \
		"$granary" extract --skip-existing "$work/t.tar" "$d" train/a/3.jpg
	"$granary" extract --json --skip-existing "$work/t.tar" "$d" train/a >"$work/json"
	is "$(cat "$d/train/a/3.jpg")" mine "--skip-existing: it is left alone"
	is "$(paths "$d/train/a" | wc -l)" 40 "--skip-existing: the others are there"
	check "--json" "$python" -c '
import json, sys
got = json.load(open(sys.argv[1]))
assert got["complete"] and got["skipped"] + got["files"] == 40, got' "$work/json"
	ln "$d/train/a/5.jpg" "$work/other-name"
	check "--force" "$granary" extract --force "$work/t.tar" "$d"
	same_files "$d" "--force"
	no_temporaries "$d" "--force"
	check "--force again, over links" "$granary" extract --force "$work/t.tar" "$d"
	same_files "$d" "--force again"
	no_temporaries "$d" "--force again"
	says 1 "choose one" "--force and --skip-existing" \
		"$granary" extract --force --skip-existing "$work/t.tar" "$d"
	mkdir -p "$work/directory/seven/x"
	says 2 "a directory is in its place" "--force removes no directory" \
		"$granary" extract --force "$work/t.tar" "$work/directory" seven
	no_temporaries "$work/directory" "a directory in a file's place"
}

# Nothing is written through a link, neither one that lies there nor one of an archive.
outside() {
	local d=$work/planted
	mkdir -p "$d" "$work/victim"
	ln -s "$work/victim" "$d/train"
	says 2 "is in the way" "a link to a directory in the way" \
		"$granary" extract "$work/t.tar" "$d" train
	says 2 "is in the way" "a link to a directory in the way, with --force" \
		"$granary" extract --force "$work/t.tar" "$d" train/a
	ln -s "$work/victim/new" "$d/seven"
	check "a link in a file's place, with --force" \
		"$granary" extract --force "$work/t.tar" "$d" seven
	[ ! -L "$d/seven" ] && cmp "$d/seven" "$work/tree/seven"
	ok $? "it is replaced, not followed"
	"$python" - "$work" <<-'END'
		import io, sys, tarfile
		def add(tar, name, data=None, link=None):
		    info = tarfile.TarInfo(name)
		    if link:
		        info.type, info.linkname = tarfile.SYMTYPE, link
		        tar.addfile(info)
		    else:
		        info.size = len(data)
		        tar.addfile(info, io.BytesIO(data))
		with tarfile.open(sys.argv[1] + "/link.tar", "w") as tar:
		    add(tar, "out", link=sys.argv[1] + "/victim")
		with tarfile.open(sys.argv[1] + "/through.tar", "w") as tar:
		    add(tar, "out/file", b"bad")
		with tarfile.open(sys.argv[1] + "/names.tar", "w") as tar:
		    add(tar, "../victim/up", b"bad")
		    add(tar, "a/../../victim/up2", b"bad")
		    add(tar, sys.argv[1] + "/victim/absolute", b"bad")
		with tarfile.open(sys.argv[1] + "/patched.tar", "w") as tar:
		    add(tar, "qq/victim-file", b"bad")
	END
	"$granary" extract "$work/link.tar" "$work/two" >/dev/null
	says 2 "is in the way" "a link of one archive, a file of another" \
		"$granary" extract "$work/through.tar" "$work/two"
	check "names with .. and absolute ones" "$granary" extract "$work/names.tar" "$work/names"
	is "$(paths "$work/names" | wc -l)" 3 "they are made safe, and land inside"
	hostile_index
	is "$(ls "$work/victim")" "" "nothing has come outside"
}

# An index may be anybody's: one that says `..` where the tar said `qq`.
hostile_index() {
	mkdir "$work/h"
	"$granary" index -o "index=$work/h.gidx" "$work/patched.tar" >/dev/null
	check "an index is forged" "$abs_top_builddir/tests/bin/forge-index" "$work/h.gidx" \
		$'\x02qq' $'\x02..'
	says 2 "index is damaged" "an index that leads out: no name of it is shown" \
		"$granary" ls -o "index=$work/h.gidx" "$work/patched.tar"
	says 3 "index is damaged" "an index that leads out" \
		"$granary" extract -o "index=$work/h.gidx" "$work/patched.tar" "$work/h/dest"
	is "$(find "$work/h" -type f)" "" "an index that leads out: nothing"
}

# A name that rotted in the index is seen by its checksum, and the index made anew.
damaged_index() {
	mkdir "$work/hi"
	"$granary" index -o "index=$work/hi.gidx" "$work/patched.tar" >/dev/null
	sed -i 's/\x02qq/\x02ww/' "$work/hi.gidx"
	says 0 "hi.gidx: its section NAMES is damaged" "an index with a flipped name" \
		"$granary" extract -o "index=$work/hi.gidx" "$work/patched.tar" "$work/hi/dest"
	is "$(cat "$work/hi/dest/qq/victim-file")" "bad" \
		"an index with a flipped name: the file has its own"
}

# A block of the first file makes no sense: that file is not there, the others are.
damage() {
	mkdir "$work/dam"
	yes "some text that gets smaller" | head -c 400000 >"$work/dam/1"
	echo two >"$work/dam/2"
	mksquashfs "$work/dam" "$work/d.sqfs" -no-progress -quiet -no-fragments >/dev/null
	"$granary" index "$work/d.sqfs" >/dev/null
	touch -r "$work/d.sqfs" "$work/stamp"
	head -c 100 /dev/zero | dd of="$work/d.sqfs" bs=1 seek=120 conv=notrunc status=none
	touch -r "$work/stamp" "$work/d.sqfs"
	says 6 "/1: it is damaged: its bytes make no sense" "a damaged file" \
		"$granary" extract -k "$work/d.sqfs" "$work/dd"
	is "$(paths "$work/dd")" 2 "a damaged file: only the others"
	no_temporaries "$work/dd" "a damaged file"
	says 6 "1: byte 0 cannot be read" "cat of a damaged file" "$granary" cat "$work/d.sqfs" 1
}

no_room() {
	head -c 300000 /dev/urandom >"$work/big"
	tar -C "$work" -cf "$work/d.tar" big tree/seven
	mkdir "$work/full"
	mount -t tmpfs -o size=200k none "$work/full" || return 1
	says 2 "no space is left" "a full disk" "$granary" extract "$work/d.tar" "$work/full" big
	is "$(ls -A "$work/full")" "" "a full disk: no part of the file"
	says 2 "no space is left" "a full disk, with --force" \
		"$granary" extract --force "$work/d.tar" "$work/full" big
	is "$(ls -A "$work/full")" "" "a full disk: nothing temporary"
	says 2 "1 could not be extracted" "--keep-going" \
		"$granary" extract -k "$work/d.tar" "$work/full"
	is "$(paths "$work/full")" tree/seven "--keep-going: the others"
	umount "$work/full"
}

# Another file is in the first name's place: the link is not made to that.
foreign_first() {
	mkdir "$work/hl" "$work/own" "$work/own2"
	echo right >"$work/hl/a"
	ln "$work/hl/a" "$work/hl/b"
	tar -C "$work/hl" --sort=name -cf "$work/hl.tar" a b
	echo wrong-one | tee "$work/own/a" >"$work/own2/a"
	check "a stranger's first name, --skip-existing" \
		"$granary" extract --skip-existing "$work/hl.tar" "$work/own"
	is "$(cat "$work/own/a" "$work/own/b")" $'wrong-one\nright' "the link has its own bytes"
	says 2 "is there already" "a stranger's first name, --keep-going" \
		"$granary" extract --keep-going "$work/hl.tar" "$work/own2"
	is "$(cat "$work/own2/b")" right "the link has its own bytes with --keep-going"
}

# Any number of times in the middle of it: whole files, and nothing else. With names for
# what is temporary (--force), for without them there is nothing that could be left.
interrupted() {
	local i signal bad="" statuses=""
	truncate -s 150M "$work/long"
	tar -C "$work" -cf "$work/i.tar" long tree
	"$granary" index "$work/i.tar" >/dev/null
	for i in 1 2 3; do
		for signal in INT TERM; do
			rm -rf "$work/i"
			setsid timeout --foreground -s "$signal" "0.0$((i * 2))" "$granary" extract --force \
				--threads 2 "$work/i.tar" "$work/i" >/dev/null 2>&1
			statuses+=" $?"
			[ -z "$(find "$work/i" -name '.granary-*' 2>/dev/null)" ] || bad+=" temporary"
			[ ! -e "$work/i/long" ] || [ "$(stat -c %s "$work/i/long")" = $((150 << 20)) ] ||
				bad+=" part"
		done
	done
	is "$bad" "" "interrupted: nothing in part"
	grep -q 124 <<<"$statuses"
	ok $? "interrupted: it was ($statuses)"
}

make_tree
packs
whole
parts
sets
existing
outside
damaged_index
damage
if is_root; then no_room; else skip "only root can mount a small filesystem" "a full disk"; fi
foreign_first
interrupted
finish
