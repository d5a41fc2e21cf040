#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# LMDB databases that PyPI's lmdb and npm's wrote: the bytes that these read, in classes; the
# directories that are sources; a writer at work.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
scripts=$abs_top_srcdir/tests/mount
cp "$fixtures"/lmdb/*.lmdb "$work"
cd "$work" || exit 99

# shown FILE [--flat]
shown() {
	mount_ok "$1: mounted" "$1" "$mnt" || return
	check "$1: every value is a file, in its class, with its bytes" \
		"$python" "$scripts/lmdb_rows.py" "$mnt" "$@"
	umount_ok "$mnt" "$1: unmounted"
}

image_folder() {
	mount_ok "course: mounted" course.lmdb "$mnt" || return
	check "course: ImageFolder has the labels that were pickled, and each image decodes" \
		"$python" -c '
import sys
from torchvision.datasets import ImageFolder
data = ImageFolder(sys.argv[1])
assert len(data) == 60 and len(data.classes) == 10, data
for i, (path, index) in enumerate(data.samples):
    assert index == int(path.split("/")[-1][:-4]) // 6, (path, index)
    assert data[i][0].size == (12, 16), path' "$mnt"
	umount_ok "$mnt" "course: unmounted"
}

# names SOURCE... : the names of all files
names() {
	"$granary" ls -R -o index=off "$@" 2>said | grep '[.]' | xargs
}

directories() {
	local class
	mkdir -p one lsun/{bedroom,kitchen}_train_lmdb splits/{train,val} few/a few/b
	cp raw.lmdb one/data.mdb
	touch one/lock.mdb
	is "$(names one)" "$(names raw.lmdb)" "a directory with data.mdb"
	for class in bedroom kitchen; do
		cp raw.lmdb "lsun/${class}_train_lmdb/data.mdb"
	done
	is "$(names lsun | grep -o 'bedroom/[^ ]*' | wc -l) $(names lsun | grep -o 'kitchen/[^ ]*' | wc -l)" \
		"10 10" "LSUN: a class for each database"
	cp course.lmdb splits/train/data.mdb
	cp course.lmdb splits/val/data.mdb
	mount_ok "a database for each split: mounted" splits "$mnt"
	check "a database for each split: train" "$python" "$scripts/lmdb_rows.py" "$mnt/train" course.lmdb
	check "a database for each split: val" "$python" "$scripts/lmdb_rows.py" "$mnt/val" course.lmdb
	umount_ok "$mnt" "a database for each split: unmounted"
	cp raw.lmdb few/a/data.mdb
	refuse "a directory of which no more than half are databases" "$granary" ls -o index=off few
	mkdir -p deep/a/b
	cp raw.lmdb deep/a/b/data.mdb
	says 3 "granaryfs 'deep/a/b' MOUNTPOINT" "a directory further down is named" \
		"$granary" ls -o index=off deep
}

tree() {
	is "$("$granary" ls -o index=off,view=tree course.lmdb | wc -l)" 62 "view=tree: each key"
	"$granary" cat -o index=off,view=tree course.lmdb 17 >value
	is "$("$python" -c 'import pickle; print(pickle.load(open("value", "rb"))[1])')" 2 \
		"view=tree: the value as it is"
	says 0 "lmdb (version 1, transaction 1; images)" "info says what was recognised" \
		"$granary" info -o index=off raw.lmdb
	says 0 "1 of 11 values are not like the others ('small', for one)" \
		"info counts what is not shown" "$granary" info -o index=off raw.lmdb
}

# commit NUMBER: as if this transaction had been committed
commit() {
	"$python" -c '
import struct, sys
number = int(sys.argv[1])
with open("busy.lmdb", "r+b") as file:
    file.seek(144 + number % 2 * 4096)
    file.write(struct.pack("<Q", number))' "$1"
}

# Pages of transaction 1 may be used again once 3 is committed.
writer() {
	cp course.lmdb busy.lmdb
	mount_ok "a writer: mounted" -o "index=off,prefetch=off,log=$work/busy.log" busy.lmdb "$mnt" ||
		return
	commit 2
	check "a writer: the next transaction changes nothing" grep -q JFIF "$mnt/0/00.jpg"
	commit 3
	refuse "a writer: the one behind it does" cat "$mnt/0/01.jpg"
	check "a writer: what the kernel has stays" grep -q JFIF "$mnt/0/00.jpg"
	says 0 "busy.lmdb was written since it was indexed" "a writer: the log says so" \
		cat "$work/busy.log"
	umount_ok "$mnt" "a writer: unmounted"
	refuse "a writer: the index no longer fits" "$granary" ls -o index=require busy.lmdb
}

for file in raw pickles course planes grey tensorpack texts values dup deep v2; do
	shown "$file.lmdb"
done
shown datum.lmdb --flat
if "$python" -c 'import torchvision' 2>/dev/null; then
	image_folder
else
	skip "Python's torchvision is not installed" "course: ImageFolder"
fi
directories
tree
writer
finish
