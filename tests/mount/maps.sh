#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Label maps and class lists: ImageNet.h5, which holds no names, is the tree that it
# was made of; what does not fit is refused; and maps are opened as whom -o user= says.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built hdf5 deflate
need_fuse
need diff
need_python h5py PIL torch torchvision json
maps=$work/maps
h5=$maps/ImageNet.h5

make_dataset() {
	mkdir "$maps"
	"$python" "$fixtures/make-image-tree" --classes 12 --images 10 --size 16 \
		"$work/images" || bail "no images"
	"$python" "$fixtures/make-jsc-h5" --val-each 3 --list "$maps/list" "$work/images" \
		"$h5" || bail "no dataset"
	"$python" "$abs_top_srcdir/tests/mount/write_maps.py" "$maps/list" "$maps" ||
		bail "no maps"
	cd "$maps" || bail "no directory"
}

# same OPTIONS: what is extracted is the tree.
same() {
	rm -rf "$work/out"
	mkdir "$work/out"
	"$granary" extract -q -o "$1" "$h5" "$work/out" && diff -r tree "$work/out"
}

# listed OPTIONS: the paths of all files.
listed() {
	"$granary" ls -R -o "$1" "$h5"
}

# Contents for ImageFolder in both splits: the classes of the tree, with their labels.
image_directory() {
	"$python" -c '
import sys
from torchvision.datasets import ImageFolder
labels = {}
for line in open(sys.argv[2]):
    split, row, label, image = line.split()
    labels[image.split("/")[-2]] = int(label)
for split in "train", "val":
    directory = ImageFolder(sys.argv[1] + "/" + split)
    assert directory.class_to_idx == labels, (directory.class_to_idx, labels)
    assert len(directory) == sum(l.startswith(split + " ") for l in open(sys.argv[2]))' "$mnt" list
}

# Relative paths, which the daemon cannot resolve: they are open by then.
the_tree_is_back() {
	mount_ok "pickled maps: mounted" -o names=train.pkl:val.pkl "$h5" "$mnt" || return
	check "pickled maps: the tree, byte for byte" diff -r tree "$mnt"
	check "pickled maps: ImageFolder's classes are the labels" image_directory
	umount_ok "$mnt" "pickled maps: unmounted"
	check "JSON maps, in another order" same names=val.json:train.json
	check "a map and an index of classes" same names=val.pkl:train.json,classes=index.json
	is "$(listed names=val.pkl,classes=classes.txt | grep ^val/ | grep JPEG)" \
		"$(cd tree && find val -type f | LC_ALL=C sort)" \
		"classes= for what the map says no class of"
	is "$(listed names=train.pkl | grep ^train/ | grep jpg)" \
		"$(cd tree && find train -type f | LC_ALL=C sort)" "the map of one split alone"
	is "$(listed names=train.pkl | grep -c '^val/[01][0-9]/[0-9]*\.jpg$')" \
		"$(find tree/val -type f | wc -l)" "and then the other has numbers"
	is "$(listed view=class,classes=classes.txt | grep -c '^val/c')" \
		"$(find tree/val -mindepth 1 | wc -l)" "classes= alone"
	is "$(listed view=tree,names=val.pkl:train.pkl | grep JPEG)" \
		"$(cd tree && find val -type f -printf 'val/%f\n' | LC_ALL=C sort)" \
		"view=tree: as the keys are"
}

# refused WORDS OPTIONS: status 3, and one line.
refused() {
	"$granaryfs" -o "$2" "$h5" "$mnt" 2>"$work/refused"
	is $? 3 "$2: refused"
	is "$(wc -l <"$work/refused")" 1 "$2: one line" || diag "$(cat "$work/refused")"
	grep -q -F -- "$1" "$work/refused"
	ok $? "$2: $1" || diag "$(cat "$work/refused")"
	check "$2: not mounted" not_mounted "$mnt"
}

what_does_not_fit() {
	"$python" - <<-'END'
		import json
		train = json.load(open("train.json"))
		keys = list(train)
		json.dump({k: train[k] for k in keys[:-1]}, open("short.json", "w"))
		json.dump({k: train[k] for k in reversed(keys)}, open("reversed.json", "w"))
		train[keys[5]] = (train[keys[5]] + 1) % 12
		json.dump(train, open("wrong.json", "w"))
	END
	head -n 5 classes.txt >few.txt
	: >empty
	truncate -s 1073741825 large
	refused "wrong.json says of row 5 of '/train', 'ILSVRC/Data/" names=wrong.json
	refused "reversed.json says of row 0 of '/train'" names=reversed.json
	refused "short.json has 79 names for '/train', whose array 'images' has 80 rows" \
		names=short.json
	refused "few.txt has no name for label 5" classes=few.txt
	refused "-o names: 'empty' is empty" names=empty
	refused "more than the GiB that a map may have" names=large
	refused "-o names: 'tree' is a directory" names=tree
	rm large
	"$granary" ls -o names=is-not-there "$h5" 2>"$work/refused"
	is $? 2 "a map that is not there: status"
	grep -q "names: 'is-not-there' does not exist" "$work/refused"
	ok $? "a map that is not there is named" || diag "$(cat "$work/refused")"
}

# An index belongs to the maps that it was made with.
a_changed_map() {
	cp train.json map.json
	"$granary" index -o names=map.json "$h5" >"$work/said"
	"$granary" index -o names=map.json "$h5" >>"$work/said"
	is "$(grep -c 'written' "$work/said") $(grep -c 'up to date' "$work/said")" "1 1" \
		"the same map: one index"
	sed -i 's/\.jpg"/.JPG"/' map.json
	is "$(listed names=map.json | grep -c '^train/.*\.JPG$')" \
		"$(grep -o '\.JPG"' map.json | wc -l)" "a changed map: other names"
	[ "$(grep -o '\.JPG"' map.json | wc -l)" -gt 0 ]
	ok $? "the map was changed"
	refuse "another map has no index yet" \
		"$granary" index --check -o names=train.json "$h5"
}

info() {
	"$granary" info -o names=train.pkl:val.pkl "$h5" >"$work/info"
	grep -q '^view *class (auto: ' "$work/info" &&
		grep -q '^names *from train.pkl, val.pkl$' "$work/info" &&
		grep -q "^labels .*targets: 0 to 11, called as the maps' directories" "$work/info"
	ok $? "info: which view, and where names and labels come from" ||
		diag "$(cat "$work/info")"
	is "$(grep -c '^note' "$work/info")" 0 "info: nothing is without effect"
	"$granary" info --json -o names=val.pkl,sidecars=hide "$h5" |
		"$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["view"].startswith("class"), info
notes = " ".join(info["notes"])
assert "for \x27/train\x27" in notes, info
assert "sidecars= does nothing" in notes, info'
	ok $? "info --json: what has no effect"
	tac classes.txt >backwards.txt
	"$granary" info -o classes=backwards.txt "$h5" >"$work/info" 2>"$work/refused"
	grep -q "label 0 is called .*; -o classes=FILE of names" "$work/refused"
	ok $? "names in another order than the labels: a warning" || diag "$(cat "$work/refused")"
	"$granary" info -o classes=backwards.txt "$h5" >"$work/info"
	grep -q "^note *label 0 is called .*; -o classes=FILE of names" "$work/info"
	ok $? "and a note, when there is an index" || diag "$(cat "$work/info")"
	seq -w 0 11 >numbers.txt
	is "$("$granary" info -o classes=numbers.txt "$h5" 2>&1 | grep -c 'is called')" 0 \
		"the remedy: names that sort as the labels do"
	tar -cf plain.tar -C tree train
	"$granary" info -o view=arrays,classes=classes.txt,labels=x plain.tar >"$work/info"
	is "$(grep -c '^note .* does nothing here' "$work/info")" 3 "info: of a tar, too" ||
		diag "$(cat "$work/info")"
}

# told WORDS OPTIONS: the log says it while an index is made, and info says it then.
told() {
	"$granary" info -o "index=off,$2" "$h5" >"$work/info" 2>"$work/said"
	grep -q -F -- "$1" "$work/said" && grep -q -F -- "$1" "$work/info"
	ok $? "$2: the log and info say: $1" || diag "$(cat "$work/said" "$work/info")"
}

# The list of names as JSON, and tables of it in many forms and orders: one tree.
lists_that_say_their_labels() {
	local kind
	"$python" - <<-'END'
		import json
		names = ["sign %c" % (98 + i * 7 % 12) for i in range(12)]
		order = sorted(range(12), key=lambda i: i * 5 % 12)
		json.dump(names, open("plain.json", "w"))
		def write(kind, lines, encoding="utf-8"):
		    open("list." + kind, "w", encoding=encoding).write("\n".join(lines) + "\n")
		write("table", ["ClassId,SignName"] + ["%d,%s" % (i, names[i]) for i in order])
		write("caffe", ["%s %d" % (names[i].replace(" ", "_"), i) for i in order])
		write("colon", ["%d: %s" % (i, names[i]) for i in order])
		write("utf16", ["name\tid"] + ["%s\t%d" % (names[i], i) for i in order], "utf-16")
		write("yaml", ["path: x", "nc: 12", "names:"] + ["  %d: %s" % (i, names[i]) for i in order])
		write("dict", [repr({i: names[i] for i in order})])
		write("pbtxt", ["item { id: %d name: '%s' }" % (i, names[i]) for i in order])
		write("comment", ["# signs"] + names)
		write("gap", ["%d,%s" % (i, names[i]) for i in order if i != 7] + [names[7]])
		write("from1", ["%d,%s" % (i + 1, names[i]) for i in range(12)])
		write("longer", ["other"] + names)
		write("background", ["__background__"] + names)
		write("labelled-background",
		      ["%d: %s" % (i, n) for i, n in enumerate(["__background__"] + names)])
		write("labelled", ["%d: %s" % (i, n) for i, n in enumerate(names + ["more"])])
		json.dump(names + ["more"], open("more.json", "w"))
	END
	listed view=class,classes=plain.json >"$work/want"
	for kind in table caffe colon utf16 yaml dict pbtxt comment; do
		listed "view=class,classes=list.$kind" 2>"$work/said" | tr _ ' ' |
			diff - "$work/want" >"$work/difference"
		ok $? "classes=list.$kind: each label has its name" ||
			diag "$(cat "$work/difference" "$work/said")"
	done
	told "'list.table' says the label of each name, and is read so (its titles left out); a \
JSON list of names" classes=list.table
	told "'list.comment' is read as a name a line (1 comment left out); a JSON list" \
		classes=list.comment
	refused "list.gap: line 12: it has no number and a name" classes=list.gap
	refuse "list.from1: it counts from 1" "$granary" ls -o index=off,classes=list.from1 "$h5"
	"$granary" ls -o index=off,classes=list.from1 "$h5" 2>"$work/said"
	grep -q "list.from1 has no name for label 0.*; its 12 lines are of labels 1 to 12, as it says itself" \
		"$work/said"
	ok $? "and that is said" || diag "$(cat "$work/said")"
	refused "its first line, '__background__', may be none of theirs" classes=list.background
	is "$(listed view=class,classes=list.labelled-background | grep -c '__background__$')" 2 \
		"the remedy: each name has its label"
	told "list.longer has 13 names, and the labels end with 11" classes=list.longer
	is "$("$granary" info -o index=off,classes=list.labelled "$h5" 2>&1 | grep -c 'labels end')" \
		0 "the remedy: lines with their labels"
	is "$(listed view=class,classes=list.labelled | diff - "$work/want")" "" \
		"and they are the same classes"
}

# A shard of WebDataset has labels of its own, and a map must not say others.
labels_of_a_shard() {
	mkdir shard
	for key in a b; do
		cp "$(find tree/train -name '*.jpg' | head -n 1)" "shard/$key.jpeg"
		[ "$key" = a ]
		printf '%d' $? >"shard/$key.cls"
	done
	tar -C shard -cf shard.tar a.cls a.jpeg b.cls b.jpeg
	printf 'a.JPEG,0\nb.JPEG,1\n' >same.csv
	printf 'a.JPEG,1\nb.JPEG,0\n' >others.csv
	"$granaryfs" -o names=others.csv shard.tar "$mnt" 2>"$work/refused"
	is $? 3 "another map than a shard's labels: refused"
	grep -q "others.csv says of 'a.* that its label is '1', and '.cls' of .* is '0'; is it" \
		"$work/refused"
	ok $? "and it is said which" || diag "$(cat "$work/refused")"
	check "not mounted" not_mounted "$mnt"
	is "$("$granary" ls -R -o names=same.csv shard.tar 2>"$work/said" | grep -c jpeg)" 2 \
		"the same labels: nothing is changed"
	grep -q "names= does nothing here: the rows have names and labels" "$work/said"
	ok $? "and that is said" || diag "$(cat "$work/said")"
}

# Only the user may read dataset and maps; the indexer, which runs as the user, gets
# them as descriptors.
as_another_user() {
	local user=games
	if ! is_root || ! id "$user" >"$work/id" 2>&1; then
		skip "only root can name another user"
		return
	fi
	public_programs
	mkdir "$work/theirs"
	cp "$h5" train.pkl val.pkl "$work/theirs"
	cp val.pkl "$work/theirs/roots.pkl"
	chown -R "$user:" "$work/theirs"
	chmod 400 "$work/theirs"/*
	chmod 700 "$work/theirs"
	chown 0:0 "$work/theirs/roots.pkl"
	cd "$work/theirs" || return
	watch_mount "$mnt"
	"$work/programs/granaryfs" -o "user=$user,names=train.pkl:val.pkl" ImageNet.h5 "$mnt"
	is $? 0 "user=$user: mounted with maps that only this user may read"
	is "$(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups \
		find "$mnt" -type f | wc -l)" "$(find "$maps/tree" -type f | wc -l)" \
		"user=$user: all files are there"
	leave_mount "$mnt"
	"$work/programs/granaryfs" -o "user=$user,names=roots.pkl" ImageNet.h5 "$mnt" \
		2>"$work/refused"
	is $? 2 "user=$user: a map that the user may not read"
	grep -q "user id $(id -u "$user") may not read 'roots.pkl'" "$work/refused"
	ok $? "user=$user: it is named" || diag "$(cat "$work/refused")"
	cd "$maps" || return
}

make_dataset
the_tree_is_back
what_does_not_fit
a_changed_map
info
lists_that_say_their_labels
labels_of_a_shard
as_another_user
finish
