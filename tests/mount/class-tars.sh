#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Two layouts that image datasets come in: a tar of one tar a class (ImageNet),
# and a numbered set of shards. Both are one ImageFolder tree.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar script
need_python PIL

classes=6
images=12
args=(--no-owner --seconds)
opened="$classes archives inside, .* are shown as directories; -o nested=off shows them as files"

make_sources() {
	local directory i=0 name
	"$python" "$fixtures/make-image-tree" --classes "$classes" --images "$images" \
		--size 32 "$work/tree" || return 1
	mkdir "$work/classes" "$work/set"
	for directory in "$work"/tree/*; do
		name=${directory##*/}
		tar --sort=name -C "$directory" -cf "$work/classes/$name.tar" . || return 1
	done
	tar --sort=name -C "$work/classes" -cf "$work/nested.tar" . || return 1
	# 8 shards: the images dealt out in turn.
	(cd "$work/tree" && find . -name '*.jpg' | LC_ALL=C sort) >"$work/list"
	for i in 0 1 2 3 4 5 6 7; do
		awk -v i="$i" 'NR % 8 == i' "$work/list" >"$work/part"
		tar -C "$work/tree" -cf "$work/set/train-00000$i.tar" -T "$work/part" ||
			return 1
	done
}

count_files() {
	find "$mnt" -type f | wc -l
}

class_names() {
	(cd "$mnt" && find . -mindepth 1 -maxdepth 1 -type d | LC_ALL=C sort | tr -d './\n')
}

nested_tar() {
	mount_ok "nested: mounted" "$work/nested.tar" "$mnt" || return
	check "nested: the tree is right" \
		compare "${args[@]}" --no-directory-attributes "$work/tree" "$mnt"
	is "$(count_files)" $((classes * images)) "nested: number of images"
	check "nested: the log says what was opened" \
		wait_until 5 grep -q "$opened" "${mount_log[$mnt]}"
	umount_ok "$mnt" "nested: unmounted"
	mount_ok "nested=off: mounted" -o nested=off "$work/nested.tar" "$mnt" || return
	check "nested=off: the tars are files" \
		compare "${args[@]}" --no-directory-attributes "$work/classes" "$mnt"
	refuse "nested=off: the log has no such line" grep nested=off "${mount_log[$mnt]}"
	umount_ok "$mnt" "nested=off: unmounted"
	# The index of the first mount was made with other options.
	mount_ok "nested again: mounted" "$work/nested.tar" "$mnt" || return
	is "$(count_files)" $((classes * images)) "nested again: number of images"
	umount_ok "$mnt" "nested again: unmounted"
}

# in_background COMMAND...: the same mount as a daemon, and what COMMAND's user reads.
in_background() {
	"$@" >"$work/said" 2>&1 </dev/null
	is "$?" 0 "$1: mounted" || diag "$(cat "$work/said")"
	# the launcher may return before the line is written
	check "$1: the log file says what was opened" \
		wait_until 5 grep -q "$opened" "$work/log"
	check "$1: unmounted" "$granary" umount "$mnt"
	rm -f "$work/log"
}

# A mount of a tar of tars tells how to get the tars: by granary info, in the log,
# and on a terminal.
told_of_nested() {
	local mount="$granaryfs -o log=$work/log $work/nested.tar $mnt"
	check "granary info says what was opened" \
		grep -q "^note  *$opened" <("$granary" info "$work/nested.tar")
	refuse "granary info: not of nested=off" \
		grep nested=off <("$granary" info -o nested=off "$work/nested.tar" | grep ^note)
	# shellcheck disable=SC2086  # words
	in_background $mount
	is "$(cat "$work/said")" "" "no terminal: nothing is said"
	in_background script -qec "$mount" /dev/null
	is "$(grep -c "$opened" "$work/said")" 1 "a terminal: one line" || diag "$(cat "$work/said")"
	is "$(wc -l <"$work/said")" 1 "a terminal: and nothing else"
	in_background script -qec "${mount/log=/index=off,log=}" /dev/null
	is "$(grep -c "$opened" "$work/said")" 1 "a terminal, and a new index: one line" ||
		diag "$(cat "$work/said")"
}

# A tar of WebDataset shards, one of them damaged; tars in it that are deeper.
tar_of_shards() {
	mkdir -p "$work/shards/deep" "$work/inner"
	(cd "$work/set" && cp train-000000.tar train-000001.tar "$work/shards")
	tar -C "$work/set" -cf "$work/shards/deep/more.tar" train-000002.tar
	head -c 700 "$work/set/train-000003.tar" >"$work/shards/zz-damaged.tar"
	tar --sort=name -C "$work/shards" -cf "$work/outer.tar" .
	"$granary" info "$work/outer.tar" 2>/dev/null | sed -n 's/^note  *//p' >"$work/notes"
	check "a tar of shards: the damaged one is shown as a file" grep -q \
		"^'outer.tar: ./zz-damaged.tar' is truncated.*; it is shown as a file" "$work/notes"
	is "$(tail -n +2 "$work/notes")" \
		"4 archives inside, 'deep/more.tar' first, are shown as directories; -o nested=off shows them as files" \
		"a tar of shards: what was opened"
	mount_ok "a tar of shards: mounted" -o nested=off "$work/outer.tar" "$mnt" || return
	check "a tar of shards: nested=off shows the files" diff -r "$work/shards" "$mnt"
	mount_ok "a tar of shards: one of these files mounts" \
		-o index=off "$mnt/train-000000.tar" "$work/inner" || return
	is "$(find "$work/inner" -type f | wc -l)" $((classes * images / 8)) \
		"a tar of shards: with its images"
	umount_ok "$work/inner" "a tar of shards: the inner mount ends"
	umount_ok "$mnt" "a tar of shards: unmounted"
	tar -C "$work/set" -cf "$work/one.tar" train-000000.tar
	is "$("$granary" info "$work/one.tar" | sed -n 's/^note  *//p')" \
		"an archive inside, 'train-000000.tar', is shown as a directory; -o nested=off shows it as a file" \
		"a tar of one shard: what was opened"
}

shard_set() {
	local pattern="$work/set/train-{000000..000007}.tar"
	mount_ok "set: mounted" "$pattern" "$mnt" || return
	check "set: the tree is right" \
		compare "${args[@]}" --no-directory-attributes "$work/tree" "$mnt"
	is "$(class_names)" "$(cd "$work/tree" && printf '%s' *)" "set: names of the classes"
	umount_ok "$mnt" "set: unmounted"
	mount_ok "several sources: mounted" "$work"/set/*.tar "$mnt" || return
	is "$(count_files)" $((classes * images)) "several sources: number of images"
	umount_ok "$mnt" "several sources: unmounted"
}

# A set with numbers that are not there.
missing_shards() {
	local pattern="$work/set/train-{000000..000009}.tar" wanted
	refuse "missing=error: refused" "$granaryfs" -o index=off "$pattern" "$mnt"
	is "$("$granaryfs" -o index=off "$pattern" "$mnt" 2>&1 | grep -c 'train-000008.tar')" 1 \
		"missing=error: the sentence names the first missing shard"
	mount_ok "missing=skip: mounted" -o missing=skip,index=off "$pattern" "$mnt" || return
	wanted=$((classes * images))
	is "$(count_files)" "$wanted" "missing=skip: number of images"
	umount_ok "$mnt" "missing=skip: unmounted"
	refuse "missing=skip: not when all are missing" \
		"$granaryfs" -o missing=skip,index=off "$work/set/none-{0..3}.tar" "$mnt"
}

# first.tar and second.tar both have class-00/same.
duplicate_files() {
	local which pair="$work/{first,second}.tar"
	for which in first second; do
		mkdir -p "$work/$which/class-00"
		echo "$which" >"$work/$which/class-00/same"
		echo "$which" >"$work/$which/class-00/only-$which"
		tar -C "$work/$which" -cf "$work/$which.tar" .
	done
	refuse "duplicates=error: refused" "$granaryfs" -o index=off "$pair" "$mnt"
	is "$("$granaryfs" -o index=off "$pair" "$mnt" 2>&1 | grep -c 'class-00/same')" 1 \
		"duplicates=error: the sentence names the file"
	duplicate_choice first first
	duplicate_choice last second
}

duplicate_choice() {
	mount_ok "duplicates=$1: mounted" -o "duplicates=$1,index=off" \
		"$work/first.tar" "$work/second.tar" "$mnt" || return
	is "$(cat "$mnt/class-00/same")" "$2" "duplicates=$1: the right one"
	is "$(count_files)" 3 "duplicates=$1: the others are there"
	umount_ok "$mnt" "duplicates=$1: unmounted"
}

# A class that has a second name, as a symbolic and as a hard link.
linked_tars() {
	mkdir -p "$work/linked/cats" "$work/linked/packed"
	echo meow >"$work/linked/cats/1.txt"
	(
		cd "$work/linked" && tar -cf packed/cats.tar -C cats . &&
			ln -s cats.tar packed/felines.tar && ln packed/cats.tar packed/zcats.tar &&
			tar -cf ../linked.tar -C packed cats.tar felines.tar zcats.tar
	)
	mount_ok "links to tars: mounted" -o index=off "$work/linked.tar" "$mnt" || return
	is "$(ls "$mnt" | xargs)" "cats felines zcats" "links to tars: directories by name"
	is "$(cat "$mnt"/{cats,felines,zcats}/1.txt | xargs)" "meow meow meow" \
		"links to tars: each leads to the files"
	is "$(readlink "$mnt/felines" "$mnt/zcats" | xargs)" "cats cats" \
		"links to tars: as symbolic links"
	umount_ok "$mnt" "links to tars: unmounted"
	mount_ok "nested=off: mounted" -o index=off,nested=off "$work/linked.tar" "$mnt" || return
	check "nested=off: links to tars as they are" \
		cmp "$mnt/felines.tar" "$work/linked/packed/cats.tar"
	umount_ok "$mnt" "nested=off: unmounted"
}

check "sources made" make_sources || bail "no sources"
nested_tar
told_of_nested
tar_of_shards
shard_set
missing_shards
duplicate_files
linked_tars
finish
