#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# ImageNet.h5, written by the calls that JSC's course makes, is an ImageFolder: a
# class for each label, in the labels' order, and the bytes of the images.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built hdf5 deflate
need_fuse
need_python h5py PIL torch torchvision json
scripts=$abs_top_srcdir/tests/mount
images=$work/images

# 12 classes: labels of two digits. Images under 4 KiB share a heap collection,
# those over 64 KiB have one each.
make_images() {
	local path class
	"$python" "$fixtures/make-image-tree" --classes 12 --images 10 --size 16 "$images" ||
		bail "no images"
	"$python" "$fixtures/make-image-tree" --classes 12 --images 2 --size 600 "$work/large" ||
		bail "no large images"
	for path in "$work/large"/*/*; do
		class=$(basename "$(dirname "$path")")
		mv "$path" "$images/$class/large-${path##*/}"
	done
	is "$(find "$images" -type f -size -4k | wc -l)" 120 "images under 4 KiB"
	[ "$(find "$images" -type f -size +64k | wc -l)" -ge 10 ]
	ok $? "images over 64 KiB"
}

# write NAME OPTIONS...: NAME.h5 and NAME.list
write() {
	local name=$1
	shift
	"$python" "$fixtures/make-jsc-h5" "$@" --list "$work/$name.list" \
		"$images" "$work/$name.h5"
}

rows() {
	"$python" "$fixtures/compare-samples" "$@"
}

# ImageFolder's view of names: classes are labels, indexes are their values.
class_indexes() {
	"$python" -c '
import sys
from torchvision.datasets import ImageFolder
directory = ImageFolder(sys.argv[1])
assert directory.classes == ["%02d" % i for i in range(12)], directory.classes
for path, index in directory.samples:
    assert int(path.split("/")[-2]) == index, (path, index)' "$1"
}

one_file() {
	mount_ok "$1: mounted" "$work/$1.h5" "$mnt" || return
	check "$1: every row is a file, also small, large and empty ones" \
		rows "$work/$1.list" "$mnt"
	check "$1: train: labels are ImageFolder's indexes" class_indexes "$mnt/train"
	[ "$1" != mixed ] || check "no process of the mount has a format library" \
		no_format_library "$mnt"
	umount_ok "$mnt" "$1: unmounted"
}

tensors() {
	check "all for train: written" write all --val-each 0 --splits train
	mount_ok "all for train: mounted" "$work/all.h5" "$mnt" || return
	check "an epoch: the same tensors and labels as from the directory" \
		"$python" "$scripts/imagefolder.py" --any-names "$mnt/train" "$images"
	umount_ok "$mnt"
}

file_for_each_split() {
	check "train.h5: written" write train --splits train
	check "val.h5: written" write val --splits val
	cat "$work/train.list" "$work/val.list" >"$work/both.list"
	mount_ok "train.h5 and val.h5: one mount" "$work/train.h5" "$work/val.h5" "$mnt" || return
	check "train.h5 and val.h5: every row" rows "$work/both.list" "$mnt"
	umount_ok "$mnt"
}

# Rows are numbered through the shards of one split.
shards() {
	local n
	n=$(wc -l <"$work/train.list")
	cp "$work/train.h5" "$work/more.h5"
	awk -v n="$n" '{ print } { again = again $1 " " $2 + n " " $3 " " $4 "\n" }
		END { printf "%s", again }' "$work/train.list" >"$work/shards.list"
	mount_ok "two shards of train: mounted" "$work/train.h5" "$work/more.h5" "$mnt" || return
	check "two shards of train: every row" rows "$work/shards.list" "$mnt"
	umount_ok "$mnt"
}

# Files that hold their rows at the root, and are one split each by their names; next to
# one file alone, whose classes lie at the root.
split_names() {
	mkdir "$work/named"
	"$python" -c '
import h5py, numpy, sys
for split in "train", "val":
    with h5py.File("%s/x-%s.hdf5" % (sys.argv[1], split), "w") as out:
        for group in "", "masks/":
            rows = out.create_dataset(group + "image_bytes", (4,), h5py.vlen_dtype("u1"), chunks=True)
            for i in range(4):
                rows[i] = numpy.frombuffer(b"\xff\xd8\xff" + (split + group).encode() + b"%d" % i, "u1")
            out[group + "targets"] = numpy.arange(4) // 2' "$work/named"
	mount_ok "x-train.hdf5 and x-val.hdf5: mounted" "$work/named/x-{train,val}.hdf5" "$mnt" || return
	is "$(cd "$mnt" && echo */* */masks/*)" \
		"train/0 train/1 train/masks val/0 val/1 val/masks train/masks/0 train/masks/1 val/masks/0 val/masks/1" \
		"the names of the files are the splits"
	is "$(cat "$mnt/train/0/1.jpg" "$mnt/val/1/3.jpg" "$mnt/val/masks/0/0.jpg" | tr -d '\377\330')" \
		"train1val3valmasks/0" "each row is in its own split"
	umount_ok "$mnt"
	mount_ok "x-train.hdf5 alone: mounted" "$work/named/x-train.hdf5" "$mnt" || return
	is "$(ls "$mnt" | xargs)" "0 1 masks" "one file alone: classes at the root"
	umount_ok "$mnt"
}

view_tree() {
	mount_ok "view=tree: mounted" -o view=tree "$work/mixed.h5" "$mnt" || return
	check "view=tree: SPLIT/images/ROW.jpg" rows --view tree "$work/mixed.list" "$mnt"
	umount_ok "$mnt"
}

info() {
	"$granary" info "$work/mixed.h5" >"$work/info" 2>&1
	ok $? "info"
	for word in hdf5 targets 12 row; do
		grep -q -i -w -E -- "$word(s)?" "$work/info"
		ok $? "info says $word" || diag "$(cat "$work/info")"
	done
	"$granary" info --json "$work/mixed.h5" | "$python" -c '
import json, sys
info = json.load(sys.stdin)
rows = int(sys.argv[1])
assert info["format"] == "hdf5", info
assert (info["files"], info["classes"]) == (rows, 12), info
assert "images" in info["detail"], info
assert "row" in info["names"] and "targets" in info["labels"], info
assert info["walk_bytes"] > 0, info' "$(wc -l <"$work/mixed.list")"
	ok $? "info --json: format, counts, where names and labels come from, walk"
}

# Labels that are no labels: one sentence for each array of rows.
no_labels() {
	"$python" -c '
import h5py, numpy, sys
with h5py.File(sys.argv[1], "w") as out:
    for split in "train", "val":
        rows = out.create_dataset(split + "/images", (4,), h5py.vlen_dtype("u1"))
        for i in range(4):
            rows[i] = numpy.frombuffer(b"\xff\xd8\xff", "u1")
        out[split + "/targets"] = numpy.full(4, .5, "f4")' "$work/floats.h5"
	"$granary" info "$work/floats.h5" >"$work/info" 2>"$work/said"
	ok $? "labels that are no integers: info" || diag "$(cat "$work/said")"
	is "$(grep -c "the rows get no labels from it" "$work/said")" 2 \
		"labels that are no integers: said once for each split"
	"$python" -c '
import h5py, sys
with h5py.File(sys.argv[1], "a") as out:
    for split in "train", "val":
        del out[split + "/targets"]
        out[split + "/labels"] = [1, 2, 3]' "$work/floats.h5"
	"$granary" info -o view=tree "$work/floats.h5" >"$work/info" 2>"$work/said"
	ok $? "labels that are too few: with view=tree they are no matter"
	is "$(grep -c "labels from\|3 labels" "$work/said")" 0 "labels that are too few: nor are they told" ||
		diag "$(cat "$work/said")"
}

# A file of `data` alone is a class, called as the file without its suffix.
file_classes() {
	mkdir "$work/each"
	"$python" -c '
import h5py, sys
for name in "v1.0", "v1.5":
    with h5py.File("%s/%s.hdf5" % (sys.argv[1], name), "w") as out:
        out.create_dataset("data", (1,), h5py.vlen_dtype("u1"))[0] = [255, 216, 255]' "$work/each"
	is "$("$granary" ls "$work/each/v1.0.hdf5" "$work/each/v1.5.hdf5" 2>/dev/null | xargs)" \
		"v1.0 v1.5" "files that differ behind a dot are two classes"
}

# Rows of several types are images all the same; what is not known is said.
mixed_types() {
	local kind
	"$python" -c '
import h5py, numpy, sys
heads = {"mixed": [b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"], "unknown": [b"abc", b"\xff\xd8\xff"]}
for name, some in heads.items():
    with h5py.File("%s/%s-types.h5" % (sys.argv[1], name), "w") as out:
        rows = out.create_dataset("train/images", (8,), h5py.vlen_dtype("u1"))
        for i in range(8):
            rows[i] = list(some[i // 4])
        out["train/targets"] = [i % 2 for i in range(8)]
        out["train/meta/deep/text"] = "of variable length"
        out["train/more/readme"] = numpy.frombuffer(b"bytes", "u1")' "$work"
	for kind in mixed unknown; do
		"$granary" ls -R "$work/$kind-types.h5" >"$work/names" 2>"$work/said"
		is "$(grep -c "jpg$" "$work/names") $(grep -c "bin$" "$work/names") $(grep -c "called .bin" "$work/said")" \
			"$([ $kind = mixed ] && echo 8 0 0 || echo 0 8 1)" "rows of $kind types"
	done
	is "$("$granary" ls "$work/mixed-types.h5" train 2>/dev/null | xargs)" "train/0 train/1 train/more" \
		"a group without anything to show is no class"
	is "$("$granary" ls -o view=tree "$work/mixed-types.h5" train 2>/dev/null | xargs)" \
		"train/images train/meta train/more" "with view=tree it is a directory"
}

make_images
for version in earliest latest; do
	name=mixed
	[ "$version" = latest ] && name=latest
	check "$name: written" write "$name" --empty 3 --libver "$version"
	one_file "$name"
done
tensors
file_for_each_split
shards
split_names
view_tree
info
no_labels
file_classes
mixed_types
finish
