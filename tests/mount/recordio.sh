#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# RecordIO files that MXNet's own programs wrote are ImageFolders with the bytes that went into
# them, those of records in several parts, too; any record can be a file.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built zlib
need_fuse
need_python zlib
# shellcheck source=tests/mount/rows_lib.sh
. "$abs_top_srcdir/tests/mount/rows_lib.sh"
begin_rows recordio

# A record as a file is a RecordIO file of one record: all of them make the source again.
records() {
	mount_ok "$1: mounted as records" -o view=tree "$1" "$mnt" || return
	find "$mnt" -name '*.rec' | sort | xargs cat >joined
	check "$1: the records, one behind the other, are the file" cmp joined "$1"
	umount_ok "$mnt" "$1: unmounted"
}

classes() {
	mount_ok "train: mounted" train.rec "$mnt" || return
	check "train: ImageFolder's samples, labels and bytes are those of the list" "$python" -c '
import sys, zlib
from torchvision.datasets import ImageFolder
data = ImageFolder(sys.argv[1])
assert data.classes == ["0", "1", "2"], data.classes
labels = [int(float(line.split("\t")[1])) for line in open("train.lst")]
for path, index in data.samples:
    assert labels[int(path.split("/")[-1].split(".")[0])] == index, path
    data.loader(path)
assert len(data) == len(labels)' "$mnt/train"
	umount_ok "$mnt" "train: unmounted"
}

info() {
	"$granary" info --json 'set-train-{00000..00001}-of-00002.rec' | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["format"] == "recordio", info
assert (info["files"], info["classes"]) == (6, 2), info
assert info["detail"] == "images (jpg), one label each", info'
	ok $? "info --json: format, counts, labels"
}

listing() {
	"$granary" ls -R -o "index=off${2:+,$2}" "$1" 2>said | xargs
}

shown train.rec val.rec
shown set-train-00000-of-00002.rec set-train-00001-of-00002.rec
for file in label-boxes faces faces-aligned parts; do
	shown "$file.rec"
done
records texts.rec
image_folder classes
info
is "$(listing label-boxes.rec labels=0)" "2 2/1.jpg 3 3/2.jpg 4 4/0.jpg" \
	"labels=0 takes the first of several labels"
is "$(listing parts.rec view=tree | cut -d' ' -f1-3)" "images images/0.jpg images/1.jpg" \
	"view=tree shows no classes"
is "$(listing train.rec names=train.lst)" "train train/cat train/cat/pet_0.jpg \
train/cat/pet_3.jpg train/cat/pet_6.jpg train/dog train/dog/pet_1.jpg train/dog/pet_4.jpg \
train/dog/pet_7.jpg train/owl train/owl/pet_2.jpg train/owl/pet_5.jpg" \
	"names= takes names and classes from .lst"
is "$(listing '{train,val}.rec' names=train.lst:val.lst | tr ' ' '\n' | grep -c jpg)" 12 \
	"a .lst for each split"
sed '4s/1.000000/2.000000/' train.lst >other-train.lst
refused_as "says of row 3 of '/train', 'dog/pet_7.jpg', that its label is 2" -o names=other-train.lst train.rec
sed 4d train.lst >short-train.lst
refused_as "has 7 names for '/train'" -o names=short-train.lst train.rec
head -c -3 train.rec >cut.rec
refused_as "is truncated: RecordIO's record 7" cut.rec
gzip -c parts.rec >parts.rec.gz
is "$(listing parts.rec.gz)" "$(listing parts.rec)" "a file that is compressed as a whole: the same"
gzip -c cut.rec >cut.rec.gz
refused_as "is truncated: RecordIO's record 7" cut.rec.gz
mkdir -p directory && cp set-train-* directory
refused_as "the RecordIO files in it: granaryfs 'directory/set-train-{00000..00001}-of-00002.rec'" directory
finish
