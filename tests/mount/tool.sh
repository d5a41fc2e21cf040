#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary without a mount: ls, cat, info, --json, and what its arguments mean.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need tar find
need_python json

# status_of WANTED DESCRIPTION COMMAND...
status_of() {
	local wanted=$1 description=$2
	shift 2
	"$@" >/dev/null 2>"$work/said"
	is "$?" "$wanted" "$description"
	is "$(wc -l <"$work/said")" 1 "$description: one sentence"
}

make_archive() {
	mkdir -p "$work/tree/a/b" "$work/here"
	printf one >"$work/tree/a/one"
	printf braces >"$work/tree/x{1}.txt"
	printf odd >"$work/tree/a/b/"$'caf\xe9 \n tab\t'
	ln -s one "$work/tree/a/link"
	tar -C "$work/tree" -cf "$work/here/t.tar" .
	cd "$work/here" || bail "no directory"
}

lists() {
	is "$(granary ls t.tar)" $'a\nx{1}.txt' "ls: the root"
	is "$(granary ls t.tar a)" $'a/b\na/link\na/one' "ls PATH"
	is "$(granary ls t.tar /a/one)" a/one "ls of a file, with a slash before it"
	granary ls -R0 t.tar | sort -z >"$work/got"
	(cd "$work/tree" && find . -mindepth 1 -printf '%P\0') | sort -z >"$work/wanted"
	cmp "$work/got" "$work/wanted"
	ok $? "ls -R0: every name, byte for byte"
	granary ls -l t.tar a | grep -q -- 'a/link -> one$'
	ok $? "ls -l: a link and its target"
	status_of 2 "ls of what is not there" granary ls t.tar nothing
}

# A command whose output is lost has failed.
full_output() {
	granary index --force t.tar >/dev/full 2>"$work/said"
	is "$?" 2 "index: a full disk under standard output"
	granary info t.tar >/dev/full 2>"$work/said"
	is "$?" 2 "info: a full disk under standard output"
}

# A class may be called anything; a terminal obeys some of it.
escapes() {
	mkdir -p "$work/escape/"$'spl\e[31mit/class'
	touch "$work/escape/"$'spl\e[31mit/class/file'
	tar -C "$work/escape" -cf escape.tar .
	granary info escape.tar | grep -q $'\e'
	is "$?" 1 "info: no escape sequences"
	granary info escape.tar | grep -q '1 in spl?\[31mit'
	ok $? "info: the name all the same"
}

# Names are not always UTF-8, and still come back from JSON as they were.
json() {
	granary ls -R --json t.tar | "$python" -c '
import json, os, sys
root = os.fsencode(sys.argv[1])
seen = set()
for line in sys.stdin:
    entry = json.loads(line)
    path = entry["path"].encode("utf-8", "surrogateescape")
    seen.add(path)
    st = os.lstat(os.path.join(root, path))
    assert entry["mtime"] == int(st.st_mtime), entry
    assert entry["mode"] == st.st_mode & 0o777, entry
    assert entry["kind"] != "file" or entry["size"] == st.st_size, entry
there = set()
for directory, directories, files in os.walk(root):
    there |= {os.path.relpath(os.path.join(directory, n), root) for n in directories + files}
assert seen == there, seen ^ there' "$work/tree"
	ok $? "ls --json: names, times, modes and sizes"
	granary info --json t.tar | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert (info["files"], info["symlinks"], info["directories"]) == (3, 1, 3), info'
	ok $? "info --json: the counts"
}

cats() {
	is "$(granary cat t.tar a/one 'x{1}.txt')" onebraces "cat: two files, one with braces in its name"
	is "$(granary cat t.tar ./a//one)" one "cat: a path as people write it"
	status_of 2 "cat of a directory" granary cat t.tar a
	status_of 1 "cat without a path" granary cat t.tar
	# A path that is also a file here is a path all the same.
	mkdir -p a && echo other >a/one
	is "$(granary cat t.tar a/one)" one "cat: the archive's file, not the one that lies here"
}

sets() {
	mkdir -p "$work/set"
	for n in 1 2 3; do
		echo "$n" >"$work/set/file$n"
		tar -C "$work/set" -cf "s-$n.tar" "file$n"
	done
	is "$(granary cat 's-{1..3}.tar' file3)" 3 "cat from a pattern"
	is "$(granary cat s-1.tar s-2.tar s-3.tar file2)" 2 "cat from shards by name"
	is "$(granary ls s-?.tar | wc -l)" 3 "ls of shards that the shell expanded"
}

# class_tree DIRECTORY CLASS...: a file in each.
class_tree() {
	local directory=$1 class
	shift
	for class; do
		mkdir -p "$directory/$class"
		echo "$class" >"$directory/$class/0.jpg"
	done
}

# says ARCHIVE EXPRESSION DESCRIPTION: something that is true of info's JSON.
says() {
	granary info --json "$1" | "$python" -c '
import json, sys
info = json.load(sys.stdin)
if not eval(sys.argv[1], {}, info):
    sys.exit(json.dumps(info, indent=1))' "$2" >"$work/said" 2>&1
	ok $? "$3" || diag "$(cat "$work/said")"
}

# prints ARCHIVE LINE DESCRIPTION
prints() {
	granary info "$1" | grep -qxF -- "$2"
	ok $? "$3" || diag "$(granary info "$1")"
}

classes() {
	local c=$work/classes
	class_tree "$c/root" cat dog eel
	tar -C "$c/root" -cf root.tar .
	prints root.tar "classes      3 at the root" "info: classes at the root"
	says root.tar 'classes == 3 and splits == [] and top_directories == 3' \
		"info --json: classes at the root"
	says root.tar 'names == "as in the archive" and labels == "the directories"' \
		"info --json: where names and labels come from"
	# 3 files, 3 directories and the root: what a kernel keeps of seven names
	says root.tar 'walk_bytes == 7 * 1100 and detail == "" and format == "tar"' \
		"info --json: what a walk costs"
	says root.tar 'walk_shield_bytes == 7 * 2000 and fits and budget_bytes >= 1 << 20' \
		"info --json: under the shield, and the budget here"

	class_tree "$c/splits" train/a train/b train/c val/a val/b
	mkdir "$c/splits/empty"
	tar -C "$c/splits" -cf splits.tar .
	prints splits.tar "classes      3 in train, 2 in val" "info: classes in splits"
	says splits.tar 'classes == 3 and top_directories == 3 and splits == [
		{"name": "train", "classes": 3}, {"name": "val", "classes": 2}]' \
		"info --json: classes in splits"

	class_tree "$c/both" extra many/x many/y
	tar -C "$c/both" -cf both.tar .
	prints both.tar "classes      1 at the root, 2 in many" "info: both"
	says both.tar 'classes == 2' "info --json: what one ImageFolder finds at most"

	class_tree "$c/ten" s{0..9}/{a,b}
	tar -C "$c/ten" -cf ten.tar .
	says ten.tar 'len(splits) == 8 and top_directories == 10 and classes == 2' \
		"info --json: eight splits are named"
	granary info ten.tar | grep -q '^classes .*, and more in 2 others$'
	ok $? "info: and the others are counted"

	# further below, beside what has no classes, and beside files that are in none
	class_tree "$c/deep" I/Data/LOC/train/{a,b,c} I/Data/LOC/val/{a,b} I/Sets/LOC
	class_tree "$c/deep/I/Data/LOC" test
	echo x >"$c/deep/I/Data/LOC/val/flat.jpg"
	tar -C "$c/deep" -cf deep.tar .
	prints deep.tar "classes      3 in I/Data/LOC/train, 2 in I/Data/LOC/val, 1 in I/Sets" \
		"info: classes far below"
	says deep.tar '{"name": "I/Data/LOC/val", "classes": 2} in splits' \
		"info --json: classes far below"
	class_tree "$c/nested" train/{a,b,c,c/more} train/d/only
	tar -C "$c/nested" -cf nested.tar .
	prints nested.tar "classes      4 in train" "info: classes with directories of their own"
	class_tree "$c/array" data/train/images/{0,1,2}
	tar -C "$c/array" -cf array.tar .
	prints array.tar "classes      3 in data/train/images" "info: classes of an array"

	mkdir "$c/none"
	echo x >"$c/none/file"
	tar -C "$c/none" -cf none.tar .
	prints none.tar "classes      0 at the root" "info: no classes"
	says none.tar 'classes == 0 and splits == []' "info --json: no classes"

	# a set is one tree: the classes of all shards
	tar -C "$c/root" -cf set-1.tar cat
	tar -C "$c/root" -cf set-2.tar dog eel
	says 'set-{1,2}.tar' 'classes == 3 and sources == 2' "info --json: classes of a set"
}

# A dataset of holes that is larger than the machine's memory.
memory() {
	truncate -s "$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)K" "$work/holes"
	tar -C "$work" -cSf holes.tar holes
	granary info t.tar | grep -q '^memory .* without cache=: all of the dataset fits$'
	ok $? "info: a small dataset fits"
	granary info holes.tar | grep -qE '^memory .* without cache=: [1-5]?[0-9] % of the dataset fits$'
	ok $? "info: a large one does in part" || diag "$(granary info holes.tar)"
	says holes.tar 'fits is False and budget_bytes > 0' \
		"info --json: a large one does not fit"
}

# fails_with STATUS MEMBERS COMMAND...: one object, with an error
fails_with() {
	local wanted=$1 text=$2
	shift 2
	timeout 60 granary "$@" >"$work/out" 2>"$work/err" </dev/null
	is "$?" "$wanted" "$1 --json, ${*: -1}: status"
	"$python" -c '
import json, sys
said = json.loads(open(sys.argv[1]).read())
assert list(said) == ["error"] and sys.argv[2] in said["error"], said' "$work/out" "$text"
	ok $? "$1 --json, ${*: -1}: an error" || diag "$(cat "$work/out" "$work/err")"
}

# With --json errors are JSON, too.
errors_in_json() {
	local command lines
	for command in info ls verify index; do
		fails_with 2 "'absent.tar' does not exist" "$command" --json absent.tar
	done
	fails_with 2 "'absent.tar' does not exist" stat --json absent.tar a
	fails_with 2 "'absent.tar' does not exist" extract --json absent.tar to
	fails_with 2 "t.tar" stat --json t.tar nothing
	fails_with 2 "none" stats --json none
	fails_with 1 "usage: granary" extract --json t.tar
	head -c 5000 /etc/passwd >noise
	for command in info ls verify; do
		fails_with 3 "standard error" "$command" --json noise
	done
	fails_with 3 "'noise'" index --json noise
	fails_with 3 "has no index" index --check --json -o index=none.gidx t.tar
	# through a terminal there is no second one either
	command -v script >/dev/null || return 0
	lines=$(script -qec "granary ls --json t.tar nothing 2>/dev/null" /dev/null </dev/null | wc -l)
	is "$lines" 1 "a terminal: one line"
}

# The commands of README that need no mount, unchanged but for the dataset's place.
readme() {
	local class line
	mkdir -p "$work/readme" "$work/unpacked"
	for class in n01440764 n01443537; do
		class_tree "$work/imagenet/train" "$class"
		touch "$work/imagenet/train/$class/${class}"_{18..49}.JPEG
	done
	while read -r line; do
		(cd "$work/readme" && TMPDIR=$work/unpacked bash -c "${line//\/data\//$work/}") \
			>"$work/said" 2>&1
		ok $? "README: $line" || diag "$(cat "$work/said")"
	done < <(sed -nE '/^\*\*Pack/,/^\*\*Where there is no/ {
		/^    (tar|granary (info|ls|cat|stat|extract|index|pack|verify)) /!d
		s/^ +//
		s/ {4,}.*//
		p
	}' "$abs_top_srcdir/README.md")
	is "$(find "$work/unpacked" -name '*_18.JPEG' | wc -l)" 2 "README: extracted"
}

make_archive
lists
full_output
escapes
json
cats
sets
classes
memory
errors_in_json
readme
finish
