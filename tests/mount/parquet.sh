#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Parquet files of pyarrow and of Hugging Face are ImageFolders, in each codec and encoding.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built deflate zstd lz4
need_fuse
need_python zlib
scripts=$abs_top_srcdir/tests/mount
cp "$fixtures"/parquet/* "$work"
cd "$work" || exit 99
check "the fixtures are those that were written" sha256sum --quiet -c SHA256SUMS

# shown FILE...: one mount of them.
shown() {
	mount_ok "$*: mounted" "$@" "$mnt" || return
	check "$*: every row is a file, in its class, with its bytes" \
		"$python" "$scripts/file_rows.py" parquet "$mnt" "$@"
	umount_ok "$mnt" "$*: unmounted"
}

directory_of_train() {
	mount_ok "train: mounted" train-00000-of-00001.parquet "$mnt" || return
	check "train: ImageFolder's classes and numbers are the file's" "$python" -c '
import sys
from torchvision.datasets import ImageFolder
data = ImageFolder(sys.argv[1])
assert data.classes == ["cat", "dog", "owl"], data.classes
assert [index for _, index in data.samples] == [0, 0, 1, 1, 2, 2], data.samples
for path, index in data.samples:
    data.loader(path)' "$mnt/train"
	umount_ok "$mnt" "train: unmounted"
}

# says WORDS FILE: it is refused, in a sentence.
says() {
	"$granary" info -o index=off "$2" >output 2>&1
	is $? 3 "$2: refused"
	grep -q -F -- "$1" output
	ok $? "$2: says $1" || diag "$(cat output)"
}

info() {
	"$granary" info --json train-00000-of-00001.parquet test-00000-of-00001.parquet | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["format"] == "parquet", info
assert (info["files"], info["classes"]) == (12, 3), info
assert info["detail"] == "no codec, image.bytes (binary), labels: label (int64), 3 names", info
assert "as the file says" in info["labels"], info'
	ok $? "info --json: format, counts, columns, where names come from"
}

shown train-00000-of-00001.parquet test-00000-of-00001.parquet
for codec in none snappy zstd gzip lz4; do
	shown "$codec-dictionary.parquet"
	shown "$codec-plain.parquet"
done
for file in none-v2 snappy-v2 zstd-v2-dictionary delta-length-byte-array-none \
		delta-byte-array-none delta-byte-array-snappy pages label-words label-coded; do
	shown "$file.parquet"
done
if "$python" -c 'import torchvision' 2>/dev/null; then
	directory_of_train
else
	skip "Python's torchvision is not installed" "train: ImageFolder's classes"
fi
info
says "load_dataset('parquet'" text.parquet
says "brotli" brotli.parquet
head -c 1000 zstd-plain.parquet >cut.parquet
says "is truncated: it does not end as a Parquet file does" cut.parquet
is "$("$granary" ls -R -o index=off,view=tree several.parquet 2>said | grep -c bin)" 2 \
	"view=tree: the masks, too"
finish
