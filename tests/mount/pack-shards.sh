#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary pack: sets of shards, WebDataset samples, and going on where one was interrupted.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/pack_lib.sh
. "$abs_top_srcdir/tests/mount/pack_lib.sh"
need_fuse
need tar sha256sum
need_python tarfile

# shards COMMAND...: what the script of that name makes or compares.
shards() {
	"$python" "$here/tests/mount/pack_shards.py" "$@"
}

# A set of its own in a directory of its own: set_in NAME OPTIONS... makes $work/NAME/x-%06d.tar.
set_in() {
	local where=$work/$1
	shift
	mkdir -p "$where"
	pack "$@" "$work/src" "$where/x-%06d.tar"
}

sums_of() {
	(cd "$1" && sha256sum x-*.tar)
}

even_shards() {
	check "shards are made" set_in even --shards 6
	is "$("$granary" pack --shards 6 "$work/src" "$work/said-%06d.tar" 2>"$work/err" |
		sed 's/: .*//')" "$work/said-{000000..000005}.tar" "said as it can be read"
	refused 2 "named with braces" "the pattern of packing is none of reading" \
		"$granary" verify "$work/said-%06d.tar"
	check "and so it can" "$granary" verify -q "$work/said-{000000..000005}.tar"
	rm -f "$work"/said-*
	is "$(names_in "$work/even" | grep -o 'x-[0-9]*\.tar ' | tr -d '\n')" \
		"x-000000.tar x-000001.tar x-000002.tar x-000003.tar x-000004.tar x-000005.tar " \
		"their names"
	is "$(find "$work/even" -name '*.gidx' | wc -l)" 1 "one index for the set"
	is "$(find "$work/even" -name '.*' | wc -l)" 0 "nothing hidden is left"
	check "even in number and size, all is there once" \
		shards even "$work/src" 1 "$work"/even/x-*.tar
	mount_ok "the set is mounted" -o index=require "$work/even/x-{000000..000005}.tar" "$mnt"
	check "and is the source" compare "$work/src" "$mnt"
	umount_ok "$mnt"

	check "shuffled" set_in shuffled --shards 6 --shuffle 17
	check "shuffled: even, all there" shards even "$work/src" 1 "$work"/shuffled/x-*.tar
	check "shuffled: another order" shards differs "$work"/{even,shuffled}/x-000000.tar
	check "again" set_in again --shards 6 --shuffle 17 --threads 1
	is "$(sums_of "$work/again")" "$(sums_of "$work/shuffled")" "the same seed, the same bytes"
	check "another seed" set_in other --shards 6 --shuffle 18
	check "another order" shards differs "$work"/{other,shuffled}/x-000000.tar
}

numbers() {
	set_in multiple --shards 5 --multiple-of 4
	is "$(sums_of "$work/multiple" | wc -l)" 8 "--multiple-of"
	set_in sized --shard-size 300k --multiple-of 2
	is "$(find "$work/sized" -name 'x-*.tar' -size +300k | wc -l)" 0 "--shard-size: none is larger"
	is "$(($(sums_of "$work/sized" | wc -l) % 2))" 0 "and a multiple"
	mkdir "$work/braces"
	check "braces" pack "$work/src" "$work/braces/x-{00..03}.tar"
	is "$(names_in "$work/braces" | grep -o 'x-[0-9]*\.tar ' | tr -d '\n')" \
		"x-00.tar x-01.tar x-02.tar x-03.tar " "braces name the shards"
	refused 1 "another number" "braces and another number" \
		pack --shards 5 "$work/src" "$work/braces/y-{0..3}.tar"
	refused 1 "cannot be filled" "more shards than files" set_in toomany --shards 5000
	refused 1 "does not fit shards" "a file larger than a shard" set_in small --shard-size 2k
	is "$(names_in "$work/toomany")$(names_in "$work/small")" "" "nothing was made"
}

existing() {
	refused 2 "--resume" "a set that is there" set_in even --shards 6
	refused 2 "will have 4 shards only" "a shorter set over a longer one" \
		bash -c "rm '$work'/other/x-00000[0-3].tar;
			'$granary' pack --quiet --shards 4 '$work/src' '$work/other/x-%06d.tar'"
	check "--force replaces the set" set_in other --shards 4 --force
	is "$(find "$work/other" -name 'x-*.tar' | wc -l)" 4 "and removes those that are too many"
	check "the new one is whole" shards even "$work/src" 1 "$work"/other/x-*.tar
}

# Ctrl-C before the first shard is complete leaves nothing, not even the plan.
stopped() {
	local where=$work/ctrl-c i pid left=0 begun=0
	mkdir "$where"
	for ((i = 0; i < 20; i++)); do
		"$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$granary" pack --quiet --shards 2 "$work/src" \
			"$where/x-%06d.tar" 2>/dev/null &
		pid=$!
		while kill -0 "$pid" 2>/dev/null && [ ! -e "$where/.x-000000.tar.plan" ]; do :; done
		kill -INT "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
		if [ ! -e "$where/x-000000.tar" ]; then
			begun=$((begun + 1))
			left=$((left + $(find "$where" -type f | wc -l)))
		fi
		find "$where" -type f -delete
	done
	diag "it was stopped $begun times before the first shard"
	is "$left" 0 "nothing is left of a set that has no shard yet"
}

# Interrupted at many moments, and gone on with each time.
resume() {
	local where=$work/resume i pid died=0 complete=0 wanted
	wanted=$(sums_of "$work/even")
	mkdir "$where"
	for ((i = 0; i < 60; i++)); do
		"$granary" pack --quiet --no-index --resume --shards 6 "$work/src" \
			"$where/x-%06d.tar" 2>/dev/null &
		pid=$!
		sleep "0.$(printf %03d $((RANDOM % 25)))" # ends it at any moment
		kill -KILL "$pid" 2>/dev/null
		if ! wait "$pid" 2>/dev/null; then
			died=$((died + 1))
			continue
		fi
		complete=$((complete + 1))
		[ "$(sums_of "$where")" = "$wanted" ] || break
		rm "$where"/x-*.tar
	done
	diag "it was killed $died times, and came to its end $complete times"
	is "$((died + complete))" 60 "each set that came to its end has the same bytes"
	at_least "$died" 3 "some were killed"
	check "--resume ends what was interrupted" \
		pack --resume --shards 6 "$work/src" "$where/x-%06d.tar"
	is "$(sums_of "$where")" "$wanted" "the same bytes as in one go"
	is "$(find "$where" -name '.*' | wc -l)" 0 "nothing hidden is left"
	check "complete already" pack --resume --shards 6 "$work/src" "$where/x-%06d.tar"

	# a shard that is missing is made, and no other one
	rm "$where/x-000003.tar"
	refused 2 "the plan" "a set without its plan" \
		pack --resume --shards 6 "$work/src" "$where/x-%06d.tar"
	check "anew" pack --force --shards 6 "$work/src" "$where/x-%06d.tar"
	is "$(sums_of "$where")" "$(sums_of "$work/even")" "the same bytes again"
}

# A set that was stopped behind its first shards, by a file in the last that cannot be read.
interrupted() {
	local where=$work/stopped
	rm -rf "$where" && mkdir -m 777 "$where"
	cp -a "$work/src" "$where/src"
	chmod 755 "$where/src"
	chmod 000 "$where/src/$(tar -tf "$work/even/x-000005.tar" | tail -n 1)"
	as_nobody granary pack --quiet --shards 6 "$where/src" "$where/x-%06d.tar" \
		>/dev/null 2>&1
}

other_plan() {
	local where=$work/stopped kept inode
	interrupted
	kept=$(find "$where" -name 'x-*.tar' | wc -l)
	is "$kept" 5 "complete shards are kept"
	check "with the plan" test -s "$where/.x-000000.tar.plan"
	refused 2 "--force" "other options" \
		pack --resume --shards 6 --shuffle 1 "$where/src" "$where/x-%06d.tar"
	is "$(find "$where" -name 'x-*.tar' | wc -l)" "$kept" "nothing was touched"
	inode=$(stat -c %i "$where/x-000000.tar")
	check "the same options, now that all can be read" \
		pack --resume --shards 6 "$where/src" "$where/x-%06d.tar"
	is "$(stat -c %i "$where/x-000000.tar")" "$inode" "the first shard was not made again"
	check "the set is whole" shards even "$where/src" 1 "$where"/x-*.tar
	interrupted
	echo more >>"$where/src/c0/0000.jpg"
	refused 2 "has changed since" "a source that has changed" \
		pack --resume --shards 6 "$where/src" "$where/x-%06d.tar"
}

# A shard that was cut off has its name, and is not complete.
cut_off() {
	local where=$work/stopped said
	interrupted
	said=$(stat -c %s "$where/x-000001.tar")
	truncate -s $((said / 2)) "$where/x-000001.tar"
	refused 2 "x-000001.tar: is there, and is not whole" "a shard that was cut off" \
		pack --resume --shards 6 "$where/src" "$where/x-%06d.tar"
	# a kill before the note: then the end of the tar tells
	sed -i '/^shard/d' "$where/.x-000000.tar.plan"
	refused 2 "no end of a tar" "a shard that was cut off, and no size is known" \
		pack --resume --shards 6 "$where/src" "$where/x-%06d.tar"
	rm "$where/x-000001.tar"
	check "removed, it is made again" pack --resume --shards 6 "$where/src" "$where/x-%06d.tar"
	check "and the set is whole" shards even "$where/src" 1 "$where"/x-*.tar
	truncate -s -512 "$where/x-000002.tar"
	refused 2 "is not whole" "a complete set with a shard that was cut off" \
		pack --resume --shards 6 "$where/src" "$where/x-%06d.tar"
	# no index of another set stays
	check "six shards" pack --force --shards 6 "$where/src" "$where/x-%06d.tar"
	check "four instead" pack --force --shards 4 "$where/src" "$where/x-%06d.tar"
	is "$(find "$where" -name '*.gidx' | wc -l)" 1 "and one index, that of the four"
	check "which fits" "$granary" index --check --checksums "$where/x-{000000..000003}.tar"
}

# Files that cannot be read change no other label, and leave none alone.
unreadable_samples() {
	local where=$work/unreadable
	rm -rf "$where" && mkdir -m 777 "$where"
	mkdir -p "$where/src"/{a,b,c,d}
	for i in 1 2 3; do
		for class in a b c d; do
			echo "$class$i" >"$where/src/$class/$i.jpg"
			echo "$class$i" >"$where/src/$class/$i.txt"
		done
	done
	chmod 755 "$where/src" "$where/src"/*
	chmod 000 "$where/src/b" "$where/src/c/2.jpg" "$where/src/d/1.txt"
	as_nobody granary pack --quiet --no-index --json --keep-going --layout webdataset \
		"$where/src" "$where/x.tar" >"$work/out" 2>"$work/said"
	is "$?" 7 "samples that cannot be read: status"
	is "$(tr '\n' ' ' <"$where/classes.txt")" "a b c d " "the unreadable class has its number"
	is "$(tar -xOf "$where/x.tar" d/2.cls)" 3 "so the last has its own"
	is "$(tar -tf "$where/x.tar" | grep -c 'c/2\|d/1\|^b/')" 0 "a sample is left out as a whole"
	is "$(tar -tf "$where/x.tar" | wc -l)" $((7 * 3)) "and no other is"
	is "$("$python" -c 'import json, sys
print(" ".join(p["path"] for p in json.load(sys.stdin)["problems"]))' <"$work/out")" \
		"b c/2.jpg c/2.txt d/1.jpg d/1.txt" "each file of it is named"
}

webdataset() {
	mkdir "$work/wds"
	check "samples are packed" pack --layout webdataset --shuffle 5 --shards 4 "$work/src" \
		"$work/wds/w-%06d.tar"
	check "as WebDataset reads them: keys, members, labels" \
		shards samples "$work/src" "$work/wds/classes.txt" "$work"/wds/w-*.tar
	check "the shards are even" shards even_samples "$work"/wds/w-*.tar
	mount_ok "they are mounted" -o sidecars=show "$work/wds/w-{000000..000003}.tar" "$mnt"
	is "$(cat "$mnt/c3/0150.cls")" 3 "a label"
	check "an image" cmp "$work/src/c3/0150.jpg" "$mnt/c3/0150.jpg"
	umount_ok "$mnt"
	pack --layout webdataset "$work/src" "$work/wds/one.tar" 2>"$work/said"
	is "$?" 0 "a single file of samples"
	check "what is in no sample is said" grep -q "no class's directory" "$work/said"
	mkdir -p "$work/flat"
	echo x >"$work/flat/x.jpg"
	mkdir "$work/parts" && cp -a "$work/src/c1" "$work/parts/train"
	refused 2 "other classes" "another set's classes.txt" \
		pack --layout webdataset "$work/parts" "$work/wds/parts.tar"
	pack --layout webdataset --force "$work/parts" "$work/wds/parts.tar" 2>"$work/said"
	check "parts of a dataset that are taken for classes" grep -q "train and val" "$work/said"
	refused 3 "no samples" "a directory without classes" \
		pack --layout webdataset "$work/flat" "$work/wds/flat.tar"
}

shards make "$work/src" || bail "no source"
even_shards
numbers
existing
stopped
resume
other_plan
cut_off
unreadable_samples
webdataset
finish
