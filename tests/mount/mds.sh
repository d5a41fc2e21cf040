#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Datasets of MDS shards, by their directory or index.json, are ImageFolders with the bytes
# that went into them. No shard is opened that lies elsewhere.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built zlib
need_fuse
need_python zlib
scripts=$abs_top_srcdir/tests/mount
cp -R "$fixtures"/mds/. "$work"
cd "$work" || exit 99
chmod -R u+w .
check "the fixtures are those that were written" sha256sum --quiet -c SHA256SUMS

shown() {
	mount_ok "$1: mounted" "$1" "$mnt" || return
	check "$1: every sample is a file, in its class, with its bytes" \
		"$python" "$scripts/file_rows.py" mds "$mnt" "$1"
	umount_ok "$mnt" "$1: unmounted"
}

# The files are SPLIT/LABEL/NUMBER.jpg, as the library's reader found them.
splits() {
	mount_ok "$1: mounted" "$1" "$mnt" || return
	check "$1: ImageFolder's samples are those of the library's reader" "$python" -c '
import os, sys, zlib
want = {}
for line in open("pets/expected.tsv"):
    split, label, number, crc = line.split()
    want["%s/%s/%02d.jpg" % (split, label, int(number))] = int(crc)
there = {}
for split in sorted(os.listdir(sys.argv[1])):
    for directory, _, names in os.walk(os.path.join(sys.argv[1], split)):
        for name in names:
            path = os.path.join(directory, name)
            there[os.path.relpath(path, sys.argv[1])] = zlib.crc32(open(path, "rb").read())
assert there == want, (there, want)
try:
    from torchvision.datasets import ImageFolder
except ImportError:
    sys.exit()
data = ImageFolder(os.path.join(sys.argv[1], "train"))
assert (data.classes, len(data)) == (["0", "1", "2"], 18), data
data.loader(data.samples[7][0])' "$mnt"
	umount_ok "$mnt" "$1: unmounted"
}

# The first samples of the training split, in shards of each codec.
codec() {
	mount_ok "$1: mounted" "packed/$1" "$mnt" || return
	check "$1: the bytes of each sample" "$python" -c '
import glob, os, sys, zlib
want = [line.split() for line in open("pets/expected.tsv")][:4]
there = {os.path.relpath(path, sys.argv[1]): zlib.crc32(open(path, "rb").read())
         for path in glob.glob(sys.argv[1] + "/*/*")}
assert there == {f"{row[1]}/{row[2]}.jpg": int(row[3]) for row in want}, there' "$mnt"
	umount_ok "$mnt" "$1: unmounted"
}

# says STATUS WORDS SOURCE [OPTION]: it is refused, in a sentence.
says() {
	"$granary" info -o "index=off${4:+,$4}" "$3" >output 2>&1
	is $? "$1" "$3: status $1"
	grep -q -F -- "$2" output
	ok $? "$3: says $2" || diag "$(cat output)"
}

# edit NAME PATTERN TEXT: a copy of the training split, with another index.
edit() {
	rm -rf "$1"
	cp -R pets/train "$1"
	sed -i "s|$2|$3|" "$1/index.json"
}

names_elsewhere() {
	local name

	for name in ../pets/val/shard.00000.mds /etc/passwd a/../../x .. ""; do
		edit dots shard.00001.mds "$name"
		says 3 "names the shard '$name', which is no file below" dots
	done
	edit links shard.00001.mds sub/shard.00001.mds
	mkdir links/sub
	ln -s ../shard.00001.mds links/sub
	"$granary" ls -R -o index=off links >output 2>&1
	is "$(grep -c jpg output)" 18 "a link that stays below the directory is followed"
	ln -sf ../../pets/train/shard.00001.mds links/sub
	says 3 "'links/sub/shard.00001.mds' leads out of the directory" links
	ln -sf "$work/links/shard.00001.mds" links/sub
	says 3 "'links/sub/shard.00001.mds' leads out of the directory" links
	rm links/sub/*
	says 2 "'links/sub/shard.00001.mds' does not exist" links
	"$granary" ls -R -o index=off,missing=skip links 2>&1 | grep -c jpg >output
	is "$(cat output)" 11 "missing=skip shows the other shards"
	mkfifo links/sub/shard.00001.mds
	says 3 "'links/sub/shard.00001.mds' is a pipe" links
}

damaged_indexes() {
	edit size '"bytes": [0-9]*' '"bytes": 77'
	says 3 "and its index.json says 77" size
	edit format '"format": "mds"' '"format": "xsv"'
	says 3 "'format/index.json' lists files of another format" format
	edit open '"version": 2}$' ''
	says 3 "'open/index.json' is no JSON object" open
	edit none . .
	echo '{"shards": []}' >none/index.json
	says 3 "'none/index.json' lists no shards" none
	echo '{"pages": 1}' >none/index.json
	says 3 "'none' is a directory" none
	edit cut x x
	truncate -s -1 cut/shard.00002.mds
	says 3 "'cut/shard.00002.mds' has" cut
	says 3 "'cut/shard.00002.mds' is truncated" cut/shard.00002.mds
}

# A split is refused by the name of its index.json, or a link that leads out; never left out.
damaged_splits() {
	mkdir splits
	cp -R pets/train pets/val splits
	cp -R pets/val splits/test
	: >splits/test/index.json
	says 3 "'splits/test/index.json' is empty" splits
	echo '{"pages": 1}' >splits/test/index.json
	says 3 "'splits/test/index.json' lists no shards" splits
	rm -r splits/test
	ln -s ../pets/val splits/test
	says 3 "'splits/test/shard.00000.mds' leads out of the directory 'splits'" splits
}

# Root's file, in a directory that nobody can list.
rights() {
	if [ "$(id -u)" -ne 0 ]; then
		skip "it takes root to be another user" "a shard of another user"
		return
	fi
	public_programs
	edit "$work/programs/other" x x
	chmod -R go=rX "$work/programs/other"
	chmod 600 "$work/programs/other/shard.00001.mds"
	as_nobody timeout 60 granary info -o index=off "$work/programs/other" >output 2>&1
	is $? 2 "a shard of another user: refused"
	grep -q "may not read '$work/programs/other/shard.00001.mds'" output
	ok $? "and named" || diag "$(cat output)"
}

info() {
	"$granary" info --json -o index=off pets/train/index.json | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["format"] == "mds", info
assert (info["files"], info["classes"]) == (18, 3), info
assert info["detail"] == "image (jpeg), labels: label (int)", info'
	ok $? "info --json: format, counts, columns"
}

tree() {
	mount_ok "text.mds: mounted with view=tree" -o view=tree text.mds "$mnt" || return
	is "$(cd "$mnt" && find . -type f | sort | xargs)" \
		"./more/0.json ./more/1.json ./more/2.json ./text/0.txt ./text/1.txt ./text/2.txt" \
		"text.mds: each value is a file"
	is "$(cat "$mnt/text/1.txt" "$mnt/more/2.json")" 'Words 1{"a": 2}' "and has its bytes"
	umount_ok "$mnt" "text.mds: unmounted"
}

# view=tree is no remedy where it was given.
numbers() {
	"$python" -c 'import struct
head = (b"{\"column_names\":[\"n\"],\"column_encodings\":[\"int\"],\"column_sizes\":[8],"
        b"\"version\":2}")
begin = 12 + len(head)
open("numbers.mds", "wb").write(struct.pack("<III", 1, begin, begin + 8) + head + bytes(8))'
	says 3 "has no column of images; its columns are: n (int); -o view=tree" numbers.mds
	says 3 "has only columns of numbers, which are no files" numbers.mds view=tree
}

# A plain shard beside a compressed one is taken.
unpacked_beside() {
	gzip -dk packed/gz/shard.00000.mds.gz
	"$granary" info -o index=off packed/gz | grep -q "^source .*shard.00000.mds ("
	ok $? "gz: the plain shard beside the compressed one is taken"
}

for file in train-jpeg pil-modes jpegarray; do
	shown "$file.mds"
done
splits pets
"$python" - <<'EOS'
import json
shards = []
for split in ("train", "val"):
    for shard in json.load(open(f"pets/{split}/index.json"))["shards"]:
        shard["raw_data"]["basename"] = f"{split}/" + shard["raw_data"]["basename"]
        shards.append(shard)
json.dump({"version": 2, "shards": shards}, open("pets/index.json", "w"))
EOS
splits pets/index.json
for name in zstd gz bz2; do
	codec "$name"
done
says 3 "is compressed by br, which is not read; unpack each shard beside itself: brotli" packed/br
says 3 "is compressed by snappy, which is not read" packed/snappy
unpacked_beside
info
tree
numbers
names_elsewhere
damaged_indexes
damaged_splits
rights
finish
