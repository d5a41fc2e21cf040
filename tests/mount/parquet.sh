#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Parquet files of pyarrow and of Hugging Face are ImageFolders, in each codec and encoding.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/rows_lib.sh
. "$abs_top_srcdir/tests/mount/rows_lib.sh"
need_built deflate zstd lz4
need_fuse
need_python zlib
begin_rows parquet

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
image_folder directory_of_train
info
refused_as "load_dataset('parquet'" text.parquet
refused_as "brotli" brotli.parquet
head -c 1000 zstd-plain.parquet >cut.parquet
refused_as "is truncated: it does not end as a Parquet file does" cut.parquet
is "$("$granary" ls -R -o index=off,view=tree several.parquet 2>said | grep -c bin)" 2 \
	"view=tree: the masks, too"
finish
