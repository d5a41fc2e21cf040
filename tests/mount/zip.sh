#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# A tree packed by each program that writes zips, with each method, is the tree that was
# packed, and the one that another program unpacks.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/flip_lib.sh
. "$abs_top_srcdir/tests/mount/flip_lib.sh"
need_built deflate zlib bzip2 lzma zstd
need_fuse
# Debian 13 has it as 7z.
if ! type -P 7zz >/dev/null && type -P 7z >/dev/null; then
	mkdir -p "$work/bin" && ln -s "$(type -P 7z)" "$work/bin/7zz"
	PATH=$work/bin:$PATH
fi
need zip unzip 7zz bsdtar cmp
need_python zipfile numpy

# Set-id and sticky bits are never shown. Without a member of its own the root has the time
# of the archive.
common=(--mode-mask 777)
is_root || common+=(--no-owner)

make_tree() {
	mkdir -p "$work/tree/n01/deep" "$work/tree/n02" "$work/tree/empty"
	(
		cd "$work/tree" || exit
		seq 30000 >n01/text
		head -c 100000 /dev/urandom >n01/noise
		yes granary | head -c 3000000 >n02/repeated
		: >n02/nothing
		echo name >'n01/deep/ä ö &.txt'
		ln -s nothing n02/link
		ln -s nowhere/at/all n02/dangling
		chmod 640 n01/text
		chmod 700 n01/deep
		chmod 755 n02/repeated
		find . -exec touch -h -d @1700000000 {} +
	)
}

# packs NAME COMMAND...: in the tree, with the archive's path in $out.
packs() {
	local name=$1
	shift
	export out=$work/$name.zip
	check "$name: packed" bash -c "cd '$work/tree' && umask 022 && $*"
}

# shown NAME OPTIONS...: the mount is the tree.
shown() {
	local name=$1
	shift
	touch -d @1700000000 "$work/$name.zip"
	mount_ok "$name: mounted" -o index=off "$work/$name.zip" "$mnt" || return
	check "$name: the original" compare "${common[@]}" "$@" "$work/tree" "$mnt"
	umount_ok "$mnt" "$name: unmounted"
}

# unpacked NAME COMMAND...: and the tree that a program unpacks in the current directory.
unpacked() {
	local name=$1
	shift
	mkdir "$work/unpacked"
	check "$name: unpacked by $1" bash -c \
		"cd '$work/unpacked' && umask 022 && $* '$work/$name.zip' >/dev/null"
	(cd "$work/unpacked" && find . -type l -exec touch -h -d @1700000000 {} +)
	touch -d @1700000000 "$work/unpacked"
	mount_ok "$name: mounted" -o index=off "$work/$name.zip" "$mnt" && {
		check "$name: what $1 unpacks" compare "${common[@]}" --seconds \
			"$work/unpacked" "$mnt"
		umount_ok "$mnt" "$name: unmounted"
	}
	chmod -R u+w "$work/unpacked"
	rm -r "$work/unpacked"
}

writers() {
	export TZ=UTC
	packs infozip 'zip -qry "$out" .' && shown infozip --seconds
	unpacked infozip unzip -q -X
	packs infozip-stored 'zip -qry0 "$out" .' && shown infozip-stored --seconds
	packs infozip-bzip2 'zip -qry -Z bzip2 "$out" .' && shown infozip-bzip2 --seconds
	packs bsdtar-streamed 'bsdtar --format=zip -cf - . | cat >"$out"' &&
		shown bsdtar-streamed --seconds
	packs infozip-zip64 'zip -qry -fz "$out" .' && shown infozip-zip64 --seconds
	packs bsdtar 'bsdtar --format=zip -cf "$out" .' && shown bsdtar --seconds
	packs bsdtar-stored 'bsdtar --format=zip --options zip:compression=store -cf "$out" .' &&
		shown bsdtar-stored --seconds
	for method in Copy Deflate BZip2 LZMA xz; do
		packs "7zz-$method" "7zz a -tzip -snl -mtm=on -mm=$method \"\$out\" . >/dev/null" &&
			shown "7zz-$method" --seconds --no-owner
	done
	unpacked 7zz-LZMA 7zz x -snl
	unpacked 7zz-xz 7zz x -snl
	for method in ZIP_STORED ZIP_DEFLATED ZIP_BZIP2 ZIP_LZMA; do
		packs "python-$method" "'$python' '$work/pack.py' $method \"\$out\"" &&
			shown "python-$method" --seconds --no-owner
	done
}

# Python's module packs no links, so a member is made a link here.
cat >"$work/pack.py" <<'EOP'
import os, sys, zipfile
with zipfile.ZipFile(sys.argv[2], "w", getattr(zipfile, sys.argv[1])) as out:
    for directory, directories, files in os.walk("."):
        for name in sorted(directories + files):
            path = os.path.join(directory, name)
            if os.path.islink(path):
                info = zipfile.ZipInfo(path[2:], (2023, 11, 14, 22, 13, 20))
                info.external_attr = 0o120777 << 16
                out.writestr(info, os.readlink(path))
            else:
                out.write(path)
EOP

# sfx, joined parts, a window, a set
places() {
	cat "$(command -v cat)" "$work/infozip.zip" >"$work/program.zip"
	shown program --seconds
	cp "$work/program.zip" "$work/adjusted.zip"
	zip -qA "$work/adjusted.zip"
	shown adjusted --seconds
	mkdir "$work/parts"
	(cd "$work/tree" && zip -qry -s 64k "$work/parts/x.zip" .)
	mkdir "$work/alone"
	cp "$work/parts/x.zip" "$work/alone/x.zip"
	cp "$work/parts/x.z01" "$work/alone/y.z01"
	says 3 "put all of them into one directory" "the last of several parts alone is refused" \
		"$granary" ls -o index=off "$work/alone/x.zip"
	says 3 "put all of them into one directory" "the first part is, too" \
		"$granary" ls -o index=off "$work/alone/y.z01"
	check "the parts are joined as it is said" \
		bash -c "cd '$work/parts' && zip -q -s 0 x.zip --out ../joined.zip"
	shown joined --seconds
	mkdir "$work/set"
	(cd "$work/tree" && zip -qr "$work/set/a-0.zip" n01 && zip -qry "$work/set/a-1.zip" n02)
	is "$("$granary" ls -o index=off "$work/set/a-{0..1}.zip")" $'n01\nn02' "a set is one tree"
}

inside() {
	(
		cd "$work" || exit
		tar -cf outer.tar infozip.zip
		zip -q0 outer.zip infozip-stored.zip
		"$python" -c 'import numpy
numpy.savez("arrays.npz", x=numpy.arange(9), y=numpy.ones((2, 3)))
numpy.savez_compressed("packed.npz", x=numpy.arange(9))'
		tar -cf arrays.tar arrays.npz
	)
	mount_ok "a zip in a tar: mounted" -o index=off "$work/outer.tar" "$mnt" && {
		check "a zip in a tar is a directory" cmp "$mnt/infozip/n01/text" \
			"$work/tree/n01/text"
		umount_ok "$mnt" "a zip in a tar: unmounted"
	}
	is "$("$granary" ls -o index=off "$work/outer.zip" infozip-stored)" \
		$'infozip-stored/empty\ninfozip-stored/n01\ninfozip-stored/n02' "a zip in a zip is one"
	is "$("$granary" ls -o index=off,nested=off "$work/outer.zip")" infozip-stored.zip \
		"with nested=off it is a file"
	is "$("$granary" ls -o index=off "$work/arrays.tar")" arrays.npz "an .npz is a file"
	is "$("$granary" ls -R -o index=off,nested=npz "$work/arrays.tar")" \
		$'arrays\narrays/x.npy\narrays/y.npy' "with nested=npz it is a directory"
	mount_ok "an .npz: mounted" -o index=off "$work/arrays.npz" "$mnt" && {
		check "numpy maps an array" "$python" -c '
import numpy, sys
assert (numpy.load(sys.argv[1] + "/x.npy", mmap_mode="r") == numpy.arange(9)).all()' "$mnt"
		umount_ok "$mnt" "an .npz: unmounted"
	}
	check "a compressed array" cmp <("$granary" cat -o index=off "$work/packed.npz" x.npy) \
		<("$granary" cat -o index=off "$work/arrays.npz" x.npy)
}

encodings() {
	"$python" "$abs_top_srcdir/tests/format/zip_fixtures.py" "$work"
	mount_ok "names in GBK: mounted" -o index=off,names_encoding=GBK "$work/gbk.zip" "$mnt" && {
		is "$(cat "$mnt/数据/图像.jpg")" 1 "names in GBK are read in the sandbox"
		umount_ok "$mnt" "names in GBK: unmounted"
	}
	tar -C "$work" -cf "$work/gbk.tar" gbk.zip
	is "$("$granary" ls -o index=off,names_encoding=GBK "$work/gbk.tar" gbk/数据 2>&1)" \
		"gbk/数据/图像.jpg" "names of a zip in a tar, without a note"
	says 0 "view=arrays does nothing here" "a zip has no arrays" \
		"$granary" info -o index=off,view=arrays "$work/gbk.zip"
	says 3 "is no text in SHIFT-JIS" "another encoding is an error" \
		"$granary" ls -o index=off,names_encoding=SHIFT-JIS "$work/gbk.zip"
	says 0 "1 members have a later one of the same name, which is shown (twice, for one)" \
		"a name that comes twice is told" "$granary" info -o index=off "$work/names.zip"
	is "$("$granary" cat -o index=off "$work/names.zip" twice)" new "its last member is shown"
	says 1 "iconv -l" "an encoding that nobody knows is one, too" \
		"$granaryfs" -o index=off,names_encoding=no-such "$work/gbk.zip" "$mnt"
}

# Beyond 32 bits: sizes, places and the directory.
large() {
	"$python" "$abs_top_srcdir/tests/format/zip_fixtures.py" "$work" --large
	check "a zip of 5 GiB: unzip finds it sound to list" unzip -l "$work/large.zip"
	mount_ok "a zip of 5 GiB: mounted" -o index=off "$work/large.zip" "$mnt" && {
		is "$(stat -c %s "$mnt/big")" 5368709120 "a member of 5 GiB"
		is "$(head -c 5 "$mnt/big")" begin "its first bytes"
		is "$(tail -c 3 "$mnt/big")" end "its last bytes"
		is "$(cat "$mnt/after")" "behind 5 GiB" "the member behind it"
		umount_ok "$mnt" "a zip of 5 GiB: unmounted"
	}
}

unreadable() {
	(cd "$work/tree" && zip -qP secret "$work/secret.zip" n01/text)
	says 0 "1 members are encrypted ('n01/text', for one)" "encrypted members are named" \
		"$granary" index --output "$work/secret.gidx" "$work/secret.zip"
	mount_ok "encrypted: mounted" -o "index=$work/secret.gidx" "$work/secret.zip" "$mnt" && {
		is "$(stat -c %s "$mnt/n01/text")" "$(stat -c %s "$work/tree/n01/text")" \
			"an encrypted member is listed"
		refuse "it cannot be read" cat "$mnt/n01/text"
		umount_ok "$mnt" "encrypted: unmounted"
	}
	check "checksums are made of all others" "$granary" index --checksums "$work/secret.zip"
	says 0 "1 files are listed only" "verify tells them from damage" \
		"$granary" verify "$work/secret.zip"
}

# Where bytes are, and how they become the file's.
told() {
	says 0 "(crc32+deflate); in it byte 0, 168894 bytes" "stat names the codecs of a member" \
		"$granary" stat -o index=off "$work/infozip.zip" n01/text
	says 0 "zip (2 members stored, 3 compressed)" "info counts members" \
		"$granary" info -o index=off "$work/infozip.zip"
}

# A flipped bit behind the identity samples, in a deflated member.
flipped() {
	local at stamp

	(cd "$work/tree" && zip -qr "$work/flip.zip" n01)
	at=$(grep -obUa 'n01/text' "$work/flip.zip" | head -n 1 | cut -d: -f1)
	printf '\377\377' | dd of="$work/flip.zip" bs=1 seek=$((at + 20000)) conv=notrunc status=none
	mount_ok "a wrong byte: mounted" -o index=off "$work/flip.zip" "$mnt" && {
		refuse "a wrong byte of a deflated member is an error" cat "$mnt/n01/text"
		check "the others are right" cmp "$mnt/n01/noise" "$work/tree/n01/noise"
		umount_ok "$mnt" "a wrong byte: unmounted"
	}
	# stored, and indexed before it rots
	(cd "$work/tree" && zip -qr0 "$work/rot.zip" n01)
	check "stored: indexed" "$granary" index "$work/rot.zip"
	at=$(grep -obUa 'n01/text' "$work/rot.zip" | head -n 1 | cut -d: -f1)
	stamp=$(stat -c %y "$work/rot.zip")
	printf '\377\377' | dd of="$work/rot.zip" bs=1 seek=$((at + 20000)) conv=notrunc status=none
	touch -d "$stamp" "$work/rot.zip"
	says 6 "the CRC-32 of member 'n01/text'" "a wrong byte of a stored member: verify sees it" \
		"$granary" verify "$work/rot.zip"
	says 3 "the CRC-32 of member 'n01/text'" "it does not get into checksums" \
		"$granary" index --force --checksums "$work/rot.zip"
}

# A zip of zarr is shown as the directory that it opens by its path: the last record of a
# name, as unzip has it.
zarrs() {
	local version
	for version in v2 v3; do
		mkdir "$work/$version"
		(cd "$work/$version" && unzip -qo "$fixtures/zarr/$version.zarr.zip")
		mount_ok "zarr $version: mounted" -o index=off "$fixtures/zarr/$version.zarr.zip" \
			"$mnt" || return
		check "zarr $version: the records and chunks" compare --no-attributes \
			"$work/$version" "$mnt"
		check "zarr $version: the last record counts" grep -rq unit "$mnt/x"
		umount_ok "$mnt"
	done
	tar -C "$fixtures/zarr" -cf "$work/zarr.tar" v3.zarr.zip
	is "$("$granary" ls -o index=off "$work/zarr.tar" v3.zarr)" \
		$'v3.zarr/x\nv3.zarr/zarr.json' "zarr in a tar: a directory without .zip"
}

# Samples of WebDataset: a zip of them is the tree of the tar that has them.
write_samples() {
	"$python" - <<-'END'
		import io, json, os, tarfile, zipfile
		members = []
		for i in range(60):
		    key = "d/%04d" % i
		    members += [(key + ".jpg", b"\xff\xd8\xff" + os.urandom(900 + i) + bytes(2000)),
		                (key + ".img", b"\x89PNG\r\n\x1a\n" + os.urandom(700) + bytes(900)),
		                (key + ".json", json.dumps({"caption": "a text " * 20}).encode()),
		                (key + ".cls", b"%d" % (i % 6))]
		members.append(("README", b"no sample\n" * 50))
		with tarfile.open("samples.tar", "w") as tar:
		    for name, contents in members:
		        info = tarfile.TarInfo(name)
		        info.size = len(contents)
		        tar.addfile(info, io.BytesIO(contents))
		for name, method in ("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED):
		    with zipfile.ZipFile("samples-%s.zip" % name, "w", method) as out:
		        for member in members:
		            out.writestr(*member)
		with zipfile.ZipFile("labels.zip", "w", zipfile.ZIP_DEFLATED) as out:
		    for i in range(60):
		        out.writestr("%d.jpg" % i, b"\xff\xd8\xff" + os.urandom(99))
		        out.writestr("%d.json" % i, json.dumps({"label": i % 6, "text": "x" * 500}))
	END
}

samples() {
	local name option
	write_samples
	for option in sidecars=auto sidecars=show sidecars=hide view=tree; do
		rm -rf want
		"$granary" extract -q -o "index=off,$option" samples.tar want 2>said
		for name in stored deflated; do
			rm -rf got
			check "samples, $name, $option: unpacked" "$granary" extract -q \
				-o "index=off,$option" "samples-$name.zip" got
			check "samples, $name, $option: the tree of the tar" diff -r want got
		done
	done
	is "$("$granary" ls -o index=off samples-deflated.zip 2>said | head -n 6 | xargs)" \
		"0 1 2 3 4 5" "samples: classes"
	is "$("$granary" ls -R -o index=off labels.zip 2>said | grep -c '/.*[.]jpg$')" 60 \
		"labels in a compressed .json: classes"
}

# A label whose bytes are damaged: its sample is where it is stored.
damaged_label() {
	local at
	at=$("$python" -c '
import zipfile
member = zipfile.ZipFile("labels.zip").getinfo("7.json")
print(member.header_offset + 30 + len(member.filename) + member.compress_size - 3)')
	cp labels.zip damaged.zip
	flip damaged.zip "$at"
	"$granary" ls -R -o index=off damaged.zip >names 2>said
	check "a damaged label is named" grep -q "the label '7.json' cannot be decoded" said
	check "its image is not in a class" grep -q '^7[.]jpg$' names
	is "$(grep -c '/.*[.]jpg$' names)" 59 "all others are"
}

# Members of more than 64 MiB are entered in their middle, by places that indexing finds.
entered() {
	mkdir "$work/entered"
	seq 12000000 | head -c 70000000 >"$work/entered/numbers"
	head -c 68000000 /dev/urandom >"$work/entered/noise"
	check "entered: packed" bash -c "cd '$work/entered' && zip -q1 ../entered.zip numbers &&
		zip -q1 ../entered.zip noise"
	check "entered: indexed" "$granary" index -o index="$work/entered.gidx" "$work/entered.zip"
	mount_ok "entered: mounted" -o index="$work/entered.gidx,prefetch=off" "$work/entered.zip" \
		"$mnt" || return
	check "entered: bytes of an end" cmp -i 67900000 "$work/entered/noise" "$mnt/noise"
	at_most "$(counter chunk_bytes)" 4000000 "entered: MiBs were decoded, not all"
	check "entered: the bytes of numbers" cmp "$work/entered/numbers" "$mnt/numbers"
	check "entered: the bytes of noise" cmp "$work/entered/noise" "$mnt/noise"
	umount_ok "$mnt"
	flip "$work/entered.zip" 40000000
	mount_ok "entered: damaged, mounted" -o index=off "$work/entered.zip" "$mnt" || return
	refuse "entered: a damaged member is an error" cat "$mnt/noise"
	check "entered: the other is not" cmp "$work/entered/numbers" "$mnt/numbers"
	umount_ok "$mnt"
}

cd "$work" || exit 99
make_tree
writers
places
inside
encodings
large
zarrs
samples
damaged_label
entered
unreadable
told
flipped
finish
