#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# TFRecord files in the layouts of TensorFlow's models, TFDS and a package of PyPI are
# ImageFolders with the bytes that went into the files; any record can be a file.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/rows_lib.sh
. "$abs_top_srcdir/tests/mount/rows_lib.sh"
need_built zlib
need_fuse
need_python zlib
begin_rows tfrecord

listing() {
	"$granary" ls -R -o "index=off${2:+,$2}" "$1" 2>said | xargs
}

directory_of_train() {
	mount_ok "train: mounted" 'train-{00000..00001}-of-00002' "$mnt" || return
	check "train: ImageFolder's classes are the wnids" "$python" -c '
import sys
from torchvision.datasets import ImageFolder
data = ImageFolder(sys.argv[1])
assert data.classes == ["n01440764", "n01443537", "n02855925"], data.classes
assert len(data) == 8, len(data)
for path, index in data.samples:
    assert path.split("/")[-1].startswith(data.classes[index] + "_"), path
    data.loader(path)' "$mnt/train"
	umount_ok "$mnt" "train: unmounted"
}

# A record as a file is a TFRecord file of one record: all of them make the source again.
records() {
	mount_ok "$1: mounted as records" -o view=tree "$1" "$mnt" || return
	find "$mnt" -name '*.tfrecord' | sort | xargs cat >joined
	check "$1: the records, one behind the other, are the file" cmp joined "$1"
	umount_ok "$mnt" "$1: unmounted"
}

info() {
	"$granary" info --json 'train-{00000..00001}-of-00002' | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["format"] == "tfrecord", info
assert (info["files"], info["classes"]) == (8, 3), info
assert info["detail"].startswith("Example, image/encoded (bytes), labels: image/class/synset"), info
assert "image/class/synset" in info["labels"], info'
	ok $? "info --json: format, counts, features"
}

named_classes() {
	is "$(listing 'pets-{train,test}.tfrecord-00000-of-00001' classes=label.labels.txt)" \
		"test test/cat test/cat/pet_6.png test/dog test/dog/pet_7.png test/owl \
test/owl/pet_5.png test/owl/pet_8.png train train/cat train/cat/pet_0.png train/cat/pet_3.png \
train/dog train/dog/pet_1.png train/owl train/owl/pet_2.png" "TFDS: classes= names the labels"
	is "$(listing train-00000-of-00002 labels=image/class/label)" \
		"train train/1 train/1/n01440764_0.JPEG train/1/n01440764_3.JPEG train/2 \
train/2/n01443537_1.JPEG train/3 train/3/n02855925_2.JPEG" "labels= takes the numbers"
}

checksums() {
	cp package.tfrecord flipped.tfrecord
	printf x | dd of=flipped.tfrecord bs=1 seek=2000 conv=notrunc status=none
	"$granary" info -o index=off flipped.tfrecord >/dev/null 2>&1
	is $? 0 "a flipped byte of an image: not read without --checksums"
	"$granary" index --checksums --output x.gidx flipped.tfrecord >output 2>&1
	is $? 3 "a flipped byte of an image: refused with --checksums"
	grep -q "has data that its checksum does not fit" output
	ok $? "and told" || diag "$(cat output)"
}

# A stream that ends within its last record.
cut_stream() {
	gzip -dc zipped-train.tfrecord.gz | head -c -3 | gzip >cut.tfrecord.gz
	refused_as "is truncated: TFRecord 3" cut.tfrecord.gz
	refused_as "no feature of encoded images" numbers.tfrecord
	mkdir -p directory && cp train-0000* directory
	refused_as "the TFRecord files in it: granaryfs 'directory/train-{00000..00001}-of-00002'" directory
}

shown train-00000-of-00002 train-00001-of-00002
shown validation-00000-of-00001
shown pets-train.tfrecord-00000-of-00001 pets-test.tfrecord-00000-of-00001
for file in package label-float label-hot label-hot-float label-words label-below label-none \
		label-fraction label-multi rival; do
	shown "$file.tfrecord"
done
shown zipped-train.tfrecord.gz
for file in numbers bytes empty-records sequence; do
	records "$file.tfrecord"
done
image_folder directory_of_train
info
named_classes
checksums
cut_stream
finish
