#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# ILSVRC's flat val/ is an ImageFolder, once a map of names says which class its files
# have: in a tar, a squashfs, a tar in a tar, and shards.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd
need_fuse
need tar mksquashfs
need_python PIL torchvision
set=$work/set
maps=$set/maps
args=(--no-owner --seconds --no-directory-attributes)

make_sources() {
	mkdir "$set" && "$python" "$abs_top_srcdir/tests/mount/regroup.py" make "$set" &&
		tar --sort=name -C "$set/tree" -cf "$work/all.tar" . &&
		tar --sort=name -C "$set/tree" -cf "$work/train.tar" train &&
		tar --sort=name -C "$set/tree" -cf "$work/val.tar" val &&
		tar --sort=name -C "$set/tree/val" -cf "$work/flat.tar" . &&
		mkdir "$work/in" && cp "$work/flat.tar" "$work/in/val.tar" &&
		tar -C "$work/in" -cf "$work/nested.tar" val.tar &&
		mksquashfs "$set/tree" "$work/all.sqsh" -quiet -no-progress >/dev/null
}

# regrouped NAME WANT OPTIONS... SOURCE...: what is shown is the tree WANT.
regrouped() {
	local name=$1 want=$2
	shift 2
	mount_ok "$name: mounted" "$@" "$mnt" || return
	check "$name: the tree is right, byte for byte" compare "${args[@]}" "$want" "$mnt"
	case $want in
	"$set/want")
		check "$name: ImageFolder has the right labels" "$python" \
			"$abs_top_srcdir/tests/mount/regroup.py" check "$mnt" "$set"
		;;
	esac
	umount_ok "$mnt" "$name: unmounted"
}

# warned TEXT: the last mount's log has it.
warned() {
	grep -q -F -- "$1" "${mount_log[$mnt]}"
	ok $? "it says: $1" || diag "$(cat "${mount_log[$mnt]}")"
}

# refused NAME MAP TEXT: there is no mount, but a sentence.
refused() {
	refused_of "$work/all.tar" "$@"
}

# refused_of SOURCE NAME MAP TEXT
refused_of() {
	local source=$1 name=$2 map=$3 text=$4
	"$granaryfs" -o "names=$map" "$source" "$mnt" >"$work/said" 2>&1
	is $? 3 "$name: refused, with the status of a dataset that cannot be read"
	grep -q -F -- "$text" "$work/said"
	ok $? "$name: it says $text" || diag "$(cat "$work/said")"
	not_mounted "$mnt"
	ok $? "$name: nothing is mounted" || force_umount "$mnt"
}

whole_trees() {
	local source
	for source in all.tar all.sqsh; do
		regrouped "$source, table" "$set/want" \
			-o names="$maps/LOC_val_solution.csv" "$work/$source"
		regrouped "$source, two pickles" "$set/want" \
			-o names="$maps/train-4.pkl:$maps/val-2.pkl" "$work/$source"
		# one number a class, and one directory below train/
		regrouped "$source, JSON alone" "$set/want" -o names="$maps/val.json" \
			"$work/$source"
		regrouped "$source, not asked for" "$set/tree" "$work/$source"
		regrouped "$source, view=tree" "$set/tree" \
			-o view=tree,names="$maps/val-0.pkl" "$work/$source"
	done
	"$granary" info -o names="$maps/LOC_val_solution.csv" "$work/all.tar" >"$work/said" 2>&1
	grep -q "classes are called by the names in the maps" "$work/said"
	ok $? "info: the table has the names of the classes" || diag "$(cat "$work/said")"
}

# In the tree view maps are not looked at: that is why they do nothing.
not_in_a_tree() {
	"$granary" info -o names="$maps/LOC_val_solution.csv,view=tree" "$work/all.tar" \
		>"$work/said" 2>&1
	is "$(grep '^note ' "$work/said")" \
		"note         names= does nothing here: with view=tree files stay where they are stored" \
		"info: view=tree is why names= does nothing"
}

parts() {
	regrouped "shards" "$set/want-shards" \
		-o names="$maps/train-0.pkl:$maps/val-4.pkl" "$work/train.tar" "$work/val.tar"
	regrouped "val.tar, numbers" "$set/numbers-val" -o names="$maps/val-4.pkl" \
		"$work/val.tar"
	regrouped "val.tar, list of classes" "$set/want-val" \
		-o "names=$maps/val-4.pkl,classes=$maps/LOC_synset_mapping.txt" "$work/val.tar"
	regrouped "flat.tar, JSON of classes" "$set/want-val/val" \
		-o "names=$maps/val-4.pkl,classes=$maps/imagenet_class_index.json" \
		"$work/flat.tar"
	regrouped "nested.tar" "$set/want-val" -o names="$maps/LOC_val_solution.csv" \
		"$work/nested.tar"
}

# Names of parts of the trees.
make_parts() {
	mkdir -p "$set/want-shards" "$set/want-val" "$set/numbers-val" &&
		cp -a "$set/want/train" "$set/want/val" "$set/want-shards" &&
		cp -a "$set/want/val" "$set/want-val" &&
		cp -a "$set/numbers/val" "$set/numbers-val"
}

maps_that_do_not_fit() {
	regrouped "names of others" "$set/tree" -o names="$maps/other.csv" "$work/all.tar"
	warned "no file here has one of its 2 names"
	regrouped "more names than files" "$set/tree-train" \
		-o names="$maps/train-4.pkl:$maps/LOC_val_solution.csv" "$work/train.tar"
	warned "no file here has one of its 22 names"
	refused "a pickle that calls" "$maps/calls.pkl" "which is not followed"
	[ ! -e "$set/called" ]
	ok $? "and nothing was called"
	head -c 200 "$maps/val-4.pkl" >"$work/cut.pkl"
	refused "a pickle that is cut off" "$work/cut.pkl" "the file ends within it"
	printf 'a,1\na,2\n' >"$work/two.csv"
	refused "a table that contradicts itself" "$work/two.csv" "line 2: 'a'"
}

# Kaggle's layout: train/ and test/ are numbered alike, and the table has numbers only.
bare_ids() {
	local tree=$work/ids
	mkdir -p "$tree/train" "$tree/test" "$work/want-ids/train/cat" "$work/want-ids/train/dog"
	printf 'cat' >"$tree/train/0.jpg"
	printf 'dog' >"$tree/train/1.jpg"
	printf 'unknown' | tee "$tree/test/0.jpg" >"$tree/test/1.jpg"
	cp "$tree/train/0.jpg" "$work/want-ids/train/cat"
	cp "$tree/train/1.jpg" "$work/want-ids/train/dog"
	cp -r "$tree/test" "$work/want-ids"
	tar --sort=name -C "$tree" -cf "$work/ids.tar" test train
	printf 'id,label\n0,cat\n1,dog\n' >"$maps/ids.csv"
	refused_of "$work/ids.tar" "bare ids" "$maps/ids.csv" \
		"its name '0' is that of 'test/0.jpg' and of 'train/0.jpg'"
	printf 'path,label\ntrain/0.jpg,cat\ntrain/1.jpg,dog\n' >"$maps/paths.csv"
	mount_ok "paths: mounted" -o "names=$maps/paths.csv" "$work/ids.tar" "$mnt" || return
	check "paths: train/ is in classes, test/ as it was" diff -r "$work/want-ids" "$mnt"
	umount_ok "$mnt" "paths: unmounted"
}

# Two tars without directories, of two splits by their names.
two_splits() {
	local d=$work/splits
	mkdir -p "$d/n1"
	echo 1 >"$d/n1/n1_1.jpg"
	echo 2 >"$d/v_1.jpg"
	tar -C "$d" -cf "$work/img_train.tar" n1
	tar -C "$d" -cf "$work/img_val.tar" v_1.jpg
	printf 'v_1,n1\n' >"$maps/v.csv"
	mount_ok "two splits: mounted" -o "names=$maps/v.csv" "$work"/img_{train,val}.tar \
		"$mnt" || return
	warned "files of 'train' and of 'val', as the sources' names say, are in one directory"
	umount_ok "$mnt" "two splits: unmounted"
	"$granary" info -o "names=$maps/v.csv" "$work"/img_{train,val}.tar >"$work/said" 2>&1
	grep -q "^note *names=: files of 'train' and of 'val'.*'/n1/' (1 such); mount" "$work/said"
	ok $? "two splits: info says so" || diag "$(cat "$work/said")"
	"$granary" info -o "names=$maps/val-4.pkl" "$work"/{train,val}.tar >"$work/said" 2>&1
	is "$(grep -c "as the sources' names say" "$work/said")" 0 "not of directories that are apart"
}

# A table of some of the files only.
part_of_a_directory() {
	head -n 20 "$maps/LOC_val_solution.csv" >"$maps/part.csv"
	mount_ok "a part: mounted" -o "names=$maps/part.csv" "$work/val.tar" "$mnt" || return
	warned "names=: 3 files have no name in it ('ILSVRC2012_val_"
	is "$(find "$mnt/val" -maxdepth 1 -type f | wc -l)" 3 "a part: the others stay"
	umount_ok "$mnt" "a part: unmounted"
	"$granary" info -o "names=$maps/part.csv" "$work/val.tar" 2>&1 >"$work/said"
	grep -q "^note *names=: 3 files have no name in it .* in '/val/', where" "$work/said"
	ok $? "a part: info says so, of an index that is there" || diag "$(cat "$work/said")"
	is "$(grep '^classes' "$work/said")" "classes      10 in val" \
		"a part: info has the split, files beside its classes or not"
}

check "sources" make_sources
check "their parts" make_parts
mkdir "$set/tree-train" && cp -a "$set/tree/train" "$set/tree-train"
whole_trees
not_in_a_tree
parts
maps_that_do_not_fit
bare_ids
part_of_a_directory
two_splits
finish
