#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Formats that are read from their end or by pointers, in a compressed stream; and archives
# in archives, two compressions deep: the bytes that were packed. Three deep is refused with
# the command that takes a layer off.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/flip_lib.sh
. "$abs_top_srcdir/tests/mount/flip_lib.sh"
need_built zlib zstd lzma deflate hdf5 squashfs
need_fuse
need tar gzip zstd pzstd xz zip mksquashfs bsdtar cmp
need_python h5py numpy
scripts=$abs_top_srcdir/tests/mount

args=(--no-attributes)
cd "$work" || bail "no directory"

make_tree() {
	mkdir -p tree/n01/deep tree/n02
	seq 300000 >tree/n01/text
	head -c 2500000 /dev/urandom >tree/n01/noise
	yes granary | head -c 9000000 >tree/n02/repeated
	: >tree/n02/nothing
	head -c 1000 /dev/urandom >tree/n01/deep/small
}

# The packed files, each of the same tree; and what stands beside the tree.
pack_tree() {
	tar -C tree -cf a.tar .
	tar -C tree -czf a.tar.gz .
	(cd tree && zip -qr ../a.zip . && zip -qr0 ../stored.zip .)
	mksquashfs tree a.sqfs -quiet -no-progress -comp zstd -b 128K -all-root >/dev/null
	mksquashfs tree gzip.sqfs -quiet -no-progress -comp gzip -b 4K -all-root >/dev/null
	"$python" "$fixtures/make-tree-h5" --encoding gzip-shuffle-fletcher --encoding uint8 \
		--encoding chunked --libver latest tree a.h5 || bail "no HDF5 file"
	"$python" - <<'EOP'
import h5py, numpy
random = numpy.random.default_rng(5)
with h5py.File("pcam_x.h5", "w") as out:
    out.create_dataset("x", data=random.integers(0, 256, (40, 16, 16, 3), "u1"),
                       chunks=(8, 16, 16, 3), compression="gzip")
with h5py.File("pcam_y.h5", "w") as out:
    out.create_dataset("y", data=random.integers(0, 2, (40, 1, 1, 1), "u1"))
EOP
}

# row NAME DIRECTORY TREE: the directory of the mounted file is the tree.
row() {
	mount_ok "$1: mounted" -o index=off "$1" "$mnt" || return
	check "$1: the bytes of $3" compare "${args[@]}" "$3" "$mnt/$2"
	umount_ok "$mnt" "$1: unmounted"
}

# as_plain FILE COMPRESSED...: the same tree as the file that is not compressed
as_plain() {
	local file=$1 each
	shift
	mount_ok "$file: mounted" -o index=off "$file" "$mnt" || return
	rm -rf want
	cp -r "$mnt" want
	umount_ok "$mnt"
	for each; do
		row "$each" . want
	done
}

whole_files() {
	gzip -k a.zip stored.zip a.h5 a.sqfs
	zstd -q a.zip
	pzstd -q a.h5 a.sqfs
	xz -k -0 -T1 --block-size=1MiB gzip.sqfs
	row a.zip.gz . tree
	row a.zip.zst . tree
	row stored.zip.gz . tree
	row a.sqfs.gz . tree
	row a.sqfs.zst . tree
	row gzip.sqfs.xz . tree
	row a.h5.gz gzip-shuffle-fletcher tree
	row a.h5.gz uint8 tree
	row a.h5.zst chunked tree
}

rows() {
	local name
	for name in ImageNet_train pets-train-00000-of-00002; do
		cp "$fixtures/arrow/$name.arrow" .
		zstd -q "$name.arrow"
		gzip -k "$name.arrow"
		as_plain "$name.arrow" "$name.arrow.zst" "$name.arrow.gz"
	done
}

# Images and labels in two files, each compressed, as PatchCamelyon is shipped
pair() {
	gzip -k pcam_x.h5 pcam_y.h5
	mount_ok "a pair: mounted" -o index=off pcam_x.h5 pcam_y.h5 "$mnt" || return
	cp -r "$mnt" want-pair
	umount_ok "$mnt"
	is "$(find want-pair -type f | wc -l)" 40 "a pair: all images"
	mount_ok "a compressed pair: mounted" -o index=off pcam_x.h5.gz pcam_y.h5.gz "$mnt" || return
	check "a compressed pair: the same" compare "${args[@]}" want-pair "$mnt"
	umount_ok "$mnt"
	flip pcam_y.h5.gz $(($(stat -c %s pcam_y.h5.gz) - 6))
	says 3 "pcam_y.h5.gz' is damaged" "a pair: damaged labels" \
		"$granary" index -o index=none.gidx pcam_x.h5.gz pcam_y.h5.gz
}

# Archives in archives: two compressions deep, three where the innermost is a zip's own.
stacks() {
	mkdir many
	cp a.tar.gz a.zip many
	cp a.tar many/plain.tar
	cp a.tar many/second.tar
	mv many/a.zip many/z.zip
	tar -C many -cf many.tar .
	tar -C many -czf many.tar.gz .
	tar -C many -cf - . | pzstd -q -o many.tar.zst
	(cd many && zip -qr0 ../many.zip .)
	gzip <many.tar.gz >twice.tar.gz
	tar -czf deep.tar.gz many.tar.gz
	row many.tar a tree
	row many.tar z tree
	row many.zip z tree
	row many.zip a tree
	row many.tar.gz plain tree
	row many.tar.gz second tree
	row many.tar.gz z tree
	row many.tar.gz a tree
	row many.tar.zst z tree
	row twice.tar.gz z tree
	row twice.tar.gz plain tree
}

# The command of the warning takes a layer off.
three_deep() {
	local command
	says 0 "more than 2 deep" "three deep: a file, and a warning" \
		"$granary" info -o index=off deep.tar.gz
	mount_ok "three deep: mounted" -o index=off deep.tar.gz "$mnt" || return
	check "three deep: a file" cmp a.tar.gz "$mnt/many/a.tar.gz"
	umount_ok "$mnt"
	"$granary" index -o index=deep.gidx deep.tar.gz >said 2>&1
	command=$(sed -n 's/.*mount what is inside: \(.*\) (package.*/\1/p' said | head -n 1)
	check "three deep: the command works: $command" bash -c "$command"
	row unpacked.tar many/a tree
	gzip <twice.tar.gz >thrice.tar.gz
	says 3 "bsdtar -cf unpacked.tar @'thrice.tar.gz'" "three deep, alone: refused" \
		"$granary" index -o index=none.gidx thrice.tar.gz
}

# A byte of the packed file changes behind the index's back.
rot() {
	local name=$1
	cp "$name" "rot-$name"
	check "$name: indexed" "$granary" index -o index=rot.gidx "rot-$name"
	mount_ok "$name: mounted" -o index=rot.gidx "rot-$name" "$mnt" || return
	flip "rot-$name" $(($(stat -c %s "$name") / 2))
	"$python" "$scripts/compressed.py" tree "$mnt/$2" >rot 2>&1
	is "$(sed 's/ .*//' rot | sort -u | tr '\n' ' ')" "EIO same " \
		"$name: errors and right bytes, no wrong ones" || diag "$(cat rot)"
	check "$name: the log names the file and the place" grep -q "rot-$name.* byte " \
		"${mount_log[$mnt]}"
	umount_ok "$mnt"
}

# The inner file lies: refused with a sentence, or shown.
hostile() {
	local file status
	"$python" - <<'EOP'
import gzip, os, random
random.seed(7)
os.mkdir("hostile")
for name in ("a.sqfs", "gzip.sqfs", "a.zip", "a.h5", "ImageNet_train.arrow"):
    with open(name, "rb") as file:
        sound = file.read()
    for i in range(16):
        bytes_ = bytearray(sound)
        if name.endswith("sqfs") and i < 12:  # a word of the superblock
            at = (0, 4, 8, 12, 16, 26, 32, 40, 48, 56, 64, 72)[i]
            bytes_[at:at + 4] = random.choice((b"\xff\xff\xff\x7f", b"\x61\0\0\0", b"\0\0\0\0"))
        elif i == 12:
            del bytes_[len(bytes_) // 2:]
        elif i == 13:
            del bytes_[-1:]
        else:  # near an end, where tables lie
            for _ in range(8):
                where = random.randrange(4096)
                bytes_[-where if i % 2 or name == "a.zip" else where] = random.randrange(256)
        with open("hostile/%s-%d.gz" % (name, i), "wb") as out:
            out.write(gzip.compress(bytes(bytes_), 1))
EOP
	for file in hostile/*; do
		timeout -k 5 60 "$granary" index --quiet --force -o index=none.gidx "$file" >said 2>&1
		status=$?
		[[ $status == 0 || ($status == 3 && $(wc -l <said) -ge 1) ]]
		ok $? "$file: ended with $status" || diag "$(cat said)"
	done
}

make_tree
pack_tree
whole_files
rows
pair
stacks
three_deep
rot a.sqfs.zst .
rot a.h5.zst uint8
rot a.zip.zst .
hostile
finish
