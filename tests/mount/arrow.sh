#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Arrow files of the JSC course and of Hugging Face are ImageFolders: a class for each
# label, in the labels' order, and the bytes that went into the files.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_python zlib
scripts=$abs_top_srcdir/tests/mount
shards="pets-train-00000-of-00002.arrow pets-train-00001-of-00002.arrow"
cp "$fixtures"/arrow/*.arrow "$work"
cd "$work" || exit 99

# shown FILE...: one mount of them.
shown() {
	mount_ok "$*: mounted" "$@" "$mnt" || return
	check "$*: every row is a file, in its class, with its bytes" \
		"$python" "$scripts/file_rows.py" arrow "$mnt" "$@"
	umount_ok "$mnt" "$*: unmounted"
}

directory_of_train() {
	mount_ok "train: mounted" ImageNet_train.arrow "$mnt" || return
	check "train: ImageFolder's numbers are the labels" "$python" -c '
import sys
from torchvision.datasets import ImageFolder
directory = ImageFolder(sys.argv[1])
assert directory.classes == ["%02d" % i for i in range(12)], directory.classes
assert len(directory) == 24, len(directory)
for path, index in directory.samples:
    assert int(path.split("/")[-2]) == index, (path, index)' "$mnt/train"
	umount_ok "$mnt" "train: unmounted"
}

info() {
	# shellcheck disable=SC2086
	"$granary" info --json $shards | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["format"] == "arrow", info
assert (info["files"], info["classes"]) == (14, 3), info
assert "stream" in info["detail"] and "struct<bytes, path>" in info["detail"], info
assert "label" in info["labels"] and "as the file says" in info["labels"], info
assert "from the file" in info["names"], info'
	ok $? "info --json: format, counts, columns, where names come from"
}

# says WORD FILE: it is refused, in a sentence.
says() {
	"$granary" info "$2" >output 2>&1
	is $? 3 "$2: refused"
	grep -q -F -- "$1" output
	ok $? "$2: says $1" || diag "$(cat output)"
}

refused() {
	says "a (int32), b (utf8)" numbers.arrow
	says "write it again without compression" zstd.arrow
	head -c 3000 ImageNet_train.arrow >cut.arrow
	says "without a footer" cut.arrow
	head -c 1200 pets-train-00000-of-00002.arrow >cut-stream.arrow
	says "file ends before" cut-stream.arrow
}

# notes WORDS SOURCE [OPTIONS]: the log says it while an index is made, and info says it.
notes() {
	"$granary" info -o "index=off${3:+,$3}" "$2" >output 2>said
	grep -q -F -- "$1" output && grep -q -F -- "$1" said
	ok $? "$2: the log and info say: $1" || diag "$(cat output said)"
}

# Columns that are left out are named, and the option that shows them does.
left_out() {
	notes "'annotations', 'attributes' are not shown beside 'media.image'" datumaro.arrow
	notes "2 of 5 rows hold no bytes in 'media.image' (null): they are left out" datumaro.arrow
	is "$("$granary" ls -R -o index=off,view=tree datumaro.arrow 2>said | grep -c '\.bin$')" 5 \
		"view=tree: the annotations"
	notes "'y' could be meant, too: labels=y takes it" two-labels.arrow
	is "$("$granary" ls -R -o index=off,labels=y two-labels.arrow | xargs)" \
		"0 0/2.png 1 1/1.png 2 2/0.png" "labels=y takes it"
	notes "none is taken; labels=scene takes it" two-classes.arrow
	is "$("$granary" ls -R -o index=off,labels=scene two-classes.arrow | xargs)" \
		"x x/2.png y y/1.png z z/0.png" "labels=scene takes it, with its names"
	is "$("$granary" ls -R -o index=off,labels=meta.label,view=class datumaro.arrow 2>said |
		grep jpg | xargs)" "0/i4.jpg 2/i2.jpg 4/i0.jpg" "labels= of a struct's member"
	says "in any of its 3 rows (null), but paths of files; write it with them" paths-only.arrow
}

# A finding of several shards is told once.
several() {
	# shellcheck disable=SC2086
	"$granary" info -o index=off $shards >output 2>said
	is "$(grep -c "'pets-train-00000-of-00002.arrow' and 1 more: 1 of 8 rows hold no" said)" 1 \
		"two shards: the log says it once"
	is "$(grep -c '^note .* 1 of 8 rows hold no bytes' output)" 1 "two shards: info says it once"
}

# A directory of save_to_disk() of Hugging Face's datasets 1.x: both splits share a table.
saved() {
	local split
	for split in train test; do
		mkdir -p "v1/$split"
		cp pets-train-00000-of-00002.arrow "v1/$split/dataset.arrow"
	done
	cp indices.arrow v1/train
	"$granary" ls -R -o index=off v1/train/dataset.arrow 2>said >rows
	is "$(grep -o '[^/]*png' rows | xargs)" "2.png 0.png 1-a_1.png 3-a_1.png" \
		"dataset.arrow: the rows of indices.arrow, in its order"
	notes "4 of its 8 rows are shown, those of 'indices.arrow'" v1/train/dataset.arrow
	is "$("$granary" ls -R -o index=off v1/train/dataset.arrow v1/train/indices.arrow 2>said)" \
		"$(cat rows)" "both named: the same"
	mount_ok "two splits: mounted" 'v1/{train,test}/dataset.arrow' "$mnt"
	is "$(find "$mnt/train" -type f | wc -l) $(find "$mnt/test" -type f | wc -l)" "4 7" \
		"two splits: each has its own rows"
	umount_ok "$mnt" "two splits: unmounted"
	refuse "numbers of rows alone" "$granary" ls -o index=off indices.arrow
	cp indices-beyond.arrow v1/test/indices.arrow
	refuse "a number beyond the rows" "$granary" ls -o index=off v1/test/dataset.arrow
	rm v1/test/indices.arrow
	printf '{"_data_files": [{"filename": "%s"}], "_indices_data_files": [{"filename": "%s"}]}' \
		/home/me/v1/train/dataset.arrow indices.arrow >v1/train/state.json
	printf '{"_data_files": [{"filename": "dataset.arrow"}], "_indices_data_files": null}' \
		>v1/test/state.json
	printf '{"splits": ["train", "test"]}' >v1/dataset_dict.json
	is "$("$granary" ls -R -o index=off v1/train 2>said)" "$(cat rows)" \
		"a directory that a Dataset was saved to"
	mount_ok "a directory that a DatasetDict was saved to: mounted" v1 "$mnt"
	is "$(find "$mnt/train" -type f | wc -l) $(find "$mnt/test" -type f | wc -l)" "4 7" \
		"a directory that a DatasetDict was saved to"
	umount_ok "$mnt" "a directory that a DatasetDict was saved to: unmounted"
	printf '{"_data_files": [{"filename": ".."}]}' >v1/test/state.json
	refuse "a state.json that leads elsewhere" "$granary" ls -o index=off v1
	refuse "indices of several files" "$granary" ls -o index=off v1/train/dataset.arrow \
		v1/test/dataset.arrow pets-train-00001-of-00002.arrow kinds.arrow indices.arrow
}

shown ImageNet_train.arrow
shown ImageNet_train.arrow ImageNet-val.arrow
# shellcheck disable=SC2086
shown $shards
for file in kinds flicker flicker-bytes wide views.test words old polars-train-file datumaro \
		label-bool label-hot label-several dictionary-stream dictionary-file; do
	shown "$file.arrow"
done
if "$python" -c 'import torchvision' 2>/dev/null; then
	directory_of_train
else
	skip "Python's torchvision is not installed" "train: ImageFolder's numbers"
fi
info
left_out
several
saved
refused
finish
