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
		"$python" "$scripts/arrow_rows.py" "$mnt" "$@"
	umount_ok "$mnt" "$*: unmounted"
}

folder_of_train() {
	mount_ok "train: mounted" ImageNet_train.arrow "$mnt" || return
	check "train: ImageFolder's numbers are the labels" "$python" -c '
import sys
from torchvision.datasets import ImageFolder
folder = ImageFolder(sys.argv[1])
assert folder.classes == ["%02d" % i for i in range(12)], folder.classes
assert len(folder) == 24, len(folder)
for path, index in folder.samples:
    assert int(path.split("/")[-2]) == index, (path, index)' "$mnt/train"
	umount_ok "$mnt" "train: unmounted"
}

info() {
	# shellcheck disable=SC2086
	"$granary" info --json $shards | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["format"] == "arrow", info
assert (info["files"], info["classes"]) == (16, 3), info
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
	printf 'PAR1' >x.parquet
	says "d.dataset" x.parquet
}

shown ImageNet_train.arrow
shown ImageNet_train.arrow ImageNet-val.arrow
# shellcheck disable=SC2086
shown $shards
for file in kinds flicker flicker-bytes wide views.test words old polars-train-file; do
	shown "$file.arrow"
done
if "$python" -c 'import torchvision' 2>/dev/null; then
	folder_of_train
else
	skip "Python's torchvision is not installed" "train: ImageFolder's numbers"
fi
info
refused
finish
