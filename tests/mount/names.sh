#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary ls and stat: as ls(1) and stat(1) show what was packed; and where stat says that
# bytes are, there they are.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need tar mksquashfs
need_python json h5py numpy tarfile

make_tree() {
	local t=$work/tree size
	mkdir -p "$t/a/b"
	for size in 0 1 999 1023 1024 1025 10239 10240 10241 102400 1047552 1048575 1048576 3000000; do
		head -c "$size" /dev/urandom >"$t/a/$size"
	done
	yes "text that gets smaller" | head -c 300000 >"$t/a/b/text"
	truncate -s 2M "$t/holes"
	echo end >>"$t/holes"
	ln "$t/a/1024" "$t/second"
	ln -s a/1024 "$t/link"
	chmod 600 "$t/a/1"
	find "$t" -exec touch -h -d '2019-03-04 05:06:07.123456789' {} +
	tar -C "$t" --format=posix --sparse --owner=5 --group=6 -cf "$work/t.tar" .
	mksquashfs "$t" "$work/t.sqfs" -no-progress -quiet -all-root >/dev/null
	"$python" - "$work" <<-'END'
		import sys, h5py, numpy
		with h5py.File(sys.argv[1] + "/t.h5", "w") as file:
		    file["plain"] = numpy.arange(5000, dtype="u1")
		    file.create_dataset("packed", data=numpy.arange(200000) // 999, dtype="u1",
		                        chunks=(50000,), compression="gzip", shuffle=True)
	END
}

sizes() {
	granary ls -lh "$work/t.tar" a | awk '$1 !~ /^d/ { print $5 }' >"$work/got"
	# shellcheck disable=SC2012  # ls is what it is compared with
	(cd "$work/tree/a" && LC_ALL=C ls -lh | awk '$1 ~ /^-/ { print $5 }') >"$work/wanted"
	check "ls -lh: sizes as ls(1) has them" diff "$work/got" "$work/wanted"
	check "ls --help" grep -q -- "-h  .*1.3M" <(granary ls --help)
}

stats() {
	granary stat "$work/t.tar" a/1 /second link a >"$work/got"
	is "$(grep -c "File:" "$work/got")" 4 "stat: several paths"
	check "stat: size, links, kind" grep -qE '^  Size: 1024 +Links: 2 +file$' "$work/got"
	check "stat: mode and owner" \
		grep -qE '^Access: \(0600/-rw-------\)  Uid: 5  Gid: 6$' "$work/got"
	check "stat: time" grep -qF "$(date -d '2019-03-04 05:06:07' '+Modify: %F %T.123456789 %z')" \
		"$work/got"
	check "stat: a link" grep -qxF '  File: link -> a/1024' "$work/got"
	granary stat "$work/t.tar" nothing a >"$work/got" 2>"$work/said"
	is "$? $(grep -c File: "$work/got")" "2 1" "stat: goes on after what is not there"
	granary stat "$work/t.tar" 2>"$work/said"
	is "$?" 1 "stat: a path is needed"
}

# Every byte of every file is where stat says that it is.
places() {
	check "stat --json: $1" "$python" - "$granary" "$work/$1" "$2" <<-'END'
		import json, os, subprocess, sys, zlib
		granary, packed, compressed = sys.argv[1:]
		lines = subprocess.run([granary, "ls", "-R", "--json", packed], check=True,
		                       capture_output=True).stdout.splitlines()
		paths = [json.loads(line)["path"] for line in lines]
		told = subprocess.run([granary, "stat", "--json", packed] + paths, check=True,
		                      capture_output=True).stdout.splitlines()
		chunks = holes = 0
		for path, line in zip(paths, told, strict=True):
		    entry = json.loads(line)
		    assert entry["path"] == path, entry
		    if entry["kind"] != "file":
		        assert "places" not in entry, entry
		        continue
		    wanted = subprocess.run([granary, "cat", packed, path], check=True,
		                            capture_output=True).stdout
		    assert len(wanted) == entry["size"]
		    end = 0
		    for place in entry["places"]:
		        assert place["file_offset"] == end, entry
		        end += place["length"]
		        part = wanted[place["file_offset"]:end]
		        if place["hole"]:
		            holes += 1
		            assert part.count(0) == len(part), entry
		            continue
		        if not place["source"]:
		            continue
		        with open(place["source"], "rb") as file:
		            file.seek(place["offset"])
		            stored = file.read(place["stored"])
		        if place.get("codecs"):
		            chunks += 1
		            assert place["codecs"] == compressed, entry
		            stored = zlib.decompress(stored)
		            if "shuffle" in compressed:
		                continue  # of bytes: nothing to undo, but two steps
		        stored = stored[place.get("chunk_offset", 0):]
		        assert stored[:place["length"]] == part, (path, place)
		    assert end == entry["size"], entry
		assert not compressed or chunks, "no chunk"
		assert not packed.endswith(".tar") or holes, "no hole"
	END
}

# Where two other programs say that the bytes are.
oracles() {
	check "stat: offsets as Python's tarfile has them" "$python" - "$granary" "$work/t.tar" <<-'END'
		import json, subprocess, sys, tarfile
		for member in tarfile.open(sys.argv[2]):
		    if not member.isreg() or member.sparse is not None or not member.size:
		        continue
		    told = json.loads(subprocess.run(
		        [sys.argv[1], "stat", "--json", sys.argv[2], member.name], check=True,
		        capture_output=True).stdout)
		    assert [p["offset"] for p in told["places"]] == [member.offset_data], told
	END
	check "stat: offsets as h5py has them" "$python" - "$granary" "$work/t.h5" <<-'END'
		import json, subprocess, sys, h5py
		told = subprocess.run([sys.argv[1], "stat", "--json", sys.argv[2], "plain", "packed"],
		                      check=True, capture_output=True).stdout.splitlines()
		plain, packed = (json.loads(line)["places"] for line in told)
		with h5py.File(sys.argv[2]) as file:
		    assert plain[0]["offset"] == file["plain"].id.get_offset(), plain
		    chunks = [file["packed"].id.get_chunk_info(i) for i in range(4)]
		assert [(p["offset"], p["stored"]) for p in packed] == [
		    (c.byte_offset, c.size) for c in chunks], packed
	END
}

make_tree
sizes
stats
places t.tar ""
places t.sqfs zlib
places t.h5 shuffle+zlib
oracles
finish
