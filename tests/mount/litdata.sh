#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Datasets of LitData, by their directory or index.json, are ImageFolders with the bytes that
# went into them.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built zstd
need_fuse
need_python zlib
cp -R "$fixtures"/litdata/. "$work"
cd "$work" || exit 99
chmod -R u+w .
check "the fixtures are those that were written" sha256sum --quiet -c SHA256SUMS

# shown DATASET SOURCE: SPLIT/LABEL/NUMBER.EXTENSION, as went into the writer.
shown() {
	mount_ok "$2: mounted" "$2" "$mnt" || return
	check "$2: every item is a file, in its class, with its bytes" "$python" -c '
import os, sys, zlib
want = {}
for line in open("expected.tsv"):
    name, split, label, number, extension, crc = line.split()
    if name == sys.argv[2]:
        path = os.path.join("" if split == "-" else split, label, number + "." + extension)
        want[path] = int(crc)
there = {}
for directory, _, names in os.walk(sys.argv[1]):
    for name in names:
        path = os.path.join(directory, name)
        there[os.path.relpath(path, sys.argv[1])] = zlib.crc32(open(path, "rb").read())
assert there == want and want, (there, want)
try:
    from torchvision.datasets import ImageFolder
except ImportError:
    sys.exit()
data = ImageFolder(os.path.join(sys.argv[1], "train") if sys.argv[2] == "dict" else sys.argv[1])
assert (len(data), len(data.classes)) == (10, len({row.split("/")[-2] for row in want})), data
data.loader(data.samples[7][0])' "$mnt" "$1"
	umount_ok "$mnt" "$2: unmounted"
}

# says STATUS WORDS SOURCE: it is refused, in a sentence.
says() {
	"$granary" info -o index=off "$3" >output 2>&1
	is $? "$1" "$3: status $1"
	grep -q -F -- "$2" output
	ok $? "$3: says $2" || diag "$(cat output)"
}

edit() {
	rm -rf "$1"
	cp -R tuple "$1"
	sed -i "s|$2|$3|" "$1/index.json"
}

damaged() {
	edit dots chunk-0-1.bin ../x.bin
	says 3 "names the shard '../x.bin', which is no file below" dots
	edit links x x
	ln -sf ../tuple/chunk-0-1.bin links
	says 3 "'links/chunk-0-1.bin' leads out of the directory" links
	mv links/index.json links/chunks
	cp links/chunks elsewhere
	ln -s ../elsewhere links/index.json
	says 3 "'links/index.json' leads out of the directory" links
	mv links/chunks links/index.json
	rm links/chunk-0-1.bin
	says 2 "'links/chunk-0-1.bin' does not exist" links
	edit cut x x
	truncate -s -1 cut/chunk-0-2.bin
	says 3 "'cut/chunk-0-2.bin' is truncated: it is a LitData chunk" cut
	edit none x x
	echo '{"chunks": [], "config": {"data_format": []}}' >none/index.json
	says 3 "'none/index.json' lists no shards; write the dataset again" none
	edit leaves '"bytes", "int"' '"bytes"'
	says 3 "'leaves/index.json' has a data_spec of more leaves than data_format" leaves
	says 3 "the index.json beside it says what is in it" tuple/chunk-0-0.bin
	says 3 "its items are compressed within the chunks" batches
	says 3 "its columns are: text (str), n (int)" text
}

info() {
	"$granary" info --json -o index=off dict/train/index.json | "$python" -c '
import json, sys
info = json.load(sys.stdin)
assert info["format"] == "litdata", info
assert (info["files"], info["classes"]) == (10, 3), info
assert info["detail"].startswith("image (jpeg), label (int), more.a (float)"), info'
	ok $? "info --json: format, counts, columns"
	is "$("$granary" ls -R -o index=off,view=tree text | xargs)" \
		"text text/0.txt text/1.txt text/2.txt" "view=tree: each value is a file"
}

shown dict dict
shown tuple tuple/index.json
shown pil pil
shown chunks chunks
info
damaged
finish
