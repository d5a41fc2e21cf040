#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary pack to squashfs and HDF5: read by others and by a mount, and compared with the
# source; and nothing half-made ever has the final name.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/pack_lib.sh
. "$abs_top_srcdir/tests/mount/pack_lib.sh"
need_built squashfs deflate zstd hdf5
need_fuse
need unsquashfs setfattr h5dump
need_python h5py

same() {
	compare --xattrs --seconds --ignore-special --mode-mask "$1" "$work/odd" "$2"
}

# The verdict of the kernel, which has read squashfs since 2009.
kernel_reads() {
	is_root || { skip "only root may mount a loop device" "$1: the kernel's squashfs"; return; }
	mkdir -p "$work/loop"
	if ! mount -o loop,ro "$work/$1.sqfs" "$work/loop" 2>/dev/null; then
		skip "no loop device" "$1: the kernel's squashfs"
		return
	fi
	check "$1: the kernel reads the source" same 07777 "$work/loop"
	umount "$work/loop" || bail "not unmounted"
}

squashfs() {
	local compressor=$1
	check "$compressor: packed" pack --no-index --compress "$compressor" "$work/odd" \
		"$work/$compressor.sqfs"
	check "$compressor: unsquashfs unpacks it" unsquashfs -quiet -no-progress \
		-dest "$work/unpacked" "$work/$compressor.sqfs"
	if is_root; then
		check "$compressor: what it unpacks is the source" same 07777 "$work/unpacked"
	fi
	check "$compressor: and diff -r has nothing to say" \
		diff -r --no-dereference -x special "$work/odd" "$work/unpacked"
	chmod -R u+w "$work/unpacked"
	rm -r "$work/unpacked"
	kernel_reads "$compressor"
	mount_ok "$compressor: mounted" "$work/$compressor.sqfs" "$mnt" || return
	check "$compressor: the mount is the source" same 0777 "$mnt"
	umount_ok "$mnt"
}

# HDF5 has no links that lead out, and no owners, modes and times.
tame_tree() {
	"$fixtures/make-odd-tree" "$work/tame" || bail "no tree"
	find "$work/tame" \( -type l -o -type p \) -delete
	mkdir -p "$work/tame/links/deep"
	echo there >"$work/tame/links/file"
	ln -s file "$work/tame/links/beside"
	ln -s ../../links/file "$work/tame/links/deep/up"
}

hdf5() {
	local name=$1
	shift
	check "$name: packed" pack "$@" "$work/tame" "$work/$name.h5"
	mount_ok "$name: mounted" "$work/$name.h5" "$mnt" || return
	check "$name: the mount is the source" compare --no-attributes "$work/tame" "$mnt"
	check "$name: h5py reads the same" "$python" "$here/tests/mount/h5_tree.py" \
		"$work/$name.h5" "$mnt"
	check "$name: diff -r has nothing to say" \
		diff -r --no-dereference "$work/tame" "$mnt"
	umount_ok "$mnt"
}

image_tree() {
	local split class i
	for split in train val; do
		for class in n01 n02 n03; do
			mkdir -p "$work/images/$split/$class"
			for i in 1 2 3 4 5 6; do
				head -c $((i * 3000)) /dev/urandom \
					>"$work/images/$split/$class/$split $class $i.JPEG"
			done
		done
	done
	: >"$work/images/val/n02/empty.JPEG"
	echo x >"$work/images/train/n03/$(printf 'b\377d ü').JPEG"
	ln "$work/images/train/n01/train n01 1.JPEG" "$work/images/train/n02/another.JPEG"
}

jsc() {
	"$python" "$fixtures/make-jsc-h5" "$work/images" "$work/course.h5" || bail "no h5"
	check "jsc: packed" pack --hdf5-layout jsc "$work/images" "$work/Set.h5"
	check "jsc: rows, labels and maps, as the course's loader reads them" \
		"$python" "$here/tests/mount/pack_jsc.py" "$work/Set.h5" "$work/images" \
		"$work/course.h5"
	check "jsc: shuffled" pack --hdf5-layout jsc --shuffle 7 "$work/images" "$work/Mix.h5"
	check "jsc: shuffled, the same" \
		"$python" "$here/tests/mount/pack_jsc.py" "$work/Mix.h5" "$work/images"
	cmp -s "$work/set_train.pkl" "$work/mix_train.pkl"
	is "$?" 1 "jsc: in another order"
	mount_ok "jsc: mounted" "$work/Set.h5" "$mnt" || return
	is "$(find "$mnt" -type f -exec sha256sum {} + | cut -c1-64 | sort)" \
		"$(find "$work/images" -type f -exec sha256sum {} + | cut -c1-64 | sort)" \
		"jsc: the mount has the same files"
	is "$(ls "$mnt/train")" "$(printf '%s\n' 0 1 2)" "jsc: in directories of their labels"
	umount_ok "$mnt"
}

# made OUT OPTIONS...: the sum of what is made, labels and all.
made() {
	local out=$1
	shift
	rm -rf "$work/made"
	mkdir "$work/made"
	pack --no-index "$@" "$work/made/$out" >/dev/null 2>&1 || echo failed
	(cd "$work/made" && sha256sum ./*)
}

same_bytes() {
	local threads
	cp -a "$work/images" "$work/images2"
	find "$work/images2" -exec touch -h -r "$work/images" {} +
	find "$work/images" -exec touch -h -r "$work/images2" {} +
	for threads in 2 4 13; do
		is "$(made x.sqfs --threads "$threads" "$work/odd")" \
			"$(made x.sqfs --threads 1 "$work/odd")" "squashfs: the same bytes, $threads threads"
	done
	sleep 1.1 # the clock has another second, which may not be in the image
	is "$(made x.sqfs "$work/images2")" "$(made x.sqfs "$work/images")" \
		"squashfs: the same bytes of a copy"
	is "$(made x.h5 --threads 4 "$work/images2")" \
		"$(made x.h5 --threads 1 "$work/images")" "HDF5: the same bytes of a copy"
	is "$(made x.h5 --threads 4 --hdf5-layout jsc "$work/images2")" \
		"$(made x.h5 --threads 1 --hdf5-layout jsc "$work/images")" \
		"jsc: the same bytes of a copy"
}

refusals() {
	local there=$work/refused
	mkdir "$there"
	mkdir -p "$work/out-link/a"
	ln -s /etc "$work/out-link/a/etc"
	refused 1 "lz4" "a compressor that squashfs has not" \
		pack --compress lzma "$work/images" "$there/x.sqfs"
	refused 1 "none and gzip" "one that HDF5 has not" \
		pack --compress zstd "$work/images" "$there/x.h5"
	refused 2 "pack to tar or squashfs" "a link that leads out, to HDF5" \
		pack "$work/out-link" "$there/x.h5"
	refused 3 "train/CLASS/FILE" "what is no set of images, as jsc" \
		pack --hdf5-layout jsc "$work/images/train" "$there/x.h5"
	refused 1 "give one of them" "--keep-going with jsc" \
		pack --hdf5-layout jsc --keep-going "$work/images" "$there/x.h5"
	refused 1 "for HDF5 files" "--hdf5-layout of a tar" \
		pack --hdf5-layout jsc "$work/images" "$there/x.tar"
	mkdir "$work/nothing"
	refused 3 "there is no file in it" "an HDF5 file of nothing" \
		pack "$work/nothing" "$there/x.h5"
	refused 1 "levels 1 to 9" "a level that there is not" \
		pack --compress gzip:99 "$work/images" "$there/x.sqfs"
	is "$(names_in "$there")" "" "and nothing is left"
	echo mine >"$there/x_train.pkl"
	refused 2 "--force" "a label map that is there" \
		pack --hdf5-layout jsc "$work/images" "$there/x.h5"
	is "$(names_in "$there")" "x_train.pkl " "nothing was made"
	is "$(cat "$there/x_train.pkl")" mine "the label map is what it was"
	check "--force replaces it" \
		pack --no-index --force --hdf5-layout jsc "$work/images" "$there/x.h5"
	check "then all is there" "$python" "$here/tests/mount/pack_jsc.py" "$there/x.h5" \
		"$work/images"
}

# killed SIGNAL SOURCE OUT OPTIONS...: at many moments; what has the name is complete.
killed() {
	local signal=$1 source=$2 out=$3 where=$work/killed wanted pid name begin pace i ended=0
	shift 3
	rm -rf "$where"
	mkdir "$where"
	begin=${EPOCHREALTIME/./}
	pack --no-index "$@" "$source" "$where/$out" 2>/dev/null || bail "not packed"
	pace=$(((${EPOCHREALTIME/./} - begin) / 1000 + 1))
	wanted=$(sha256sum <"$where/$out")
	rm "$where"/*
	for ((i = 0; i < 8 || (ended < 3 && i < 60); i++)); do
		"$granary" pack --quiet --no-index "$@" "$source" "$where/$out" 2>/dev/null &
		pid=$!
		# a shell that has not become it yet would clean up as this one does
		while read -r name 2>/dev/null <"/proc/$pid/comm" && [ "$name" != granary ]; do
			:
		done
		sleep "0.$(printf %03d $((RANDOM % pace)))" # ends it at any moment
		kill "-$signal" "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null || ended=$((ended + 1))
		if [ -e "$where/$out" ] && [ "$(sha256sum <"$where/$out")" != "$wanted" ]; then
			ok 1 "$out: $signal: a file that is not complete has the name"
			return
		fi
		rm -f "$where"/*
		if [ "$signal" != KILL ] && [ -n "$(names_in "$where")" ]; then
			ok 1 "$out: $signal: something is left: $(names_in "$where")"
			return
		fi
	done
	at_least "$ended" 3 "$out: $signal: some were ended early, nothing half-made has the name"
	pack --no-index "$@" "$source" "$where/$out" 2>/dev/null
	is "$(sha256sum <"$where/$out")" "$wanted" "$out: $signal: the next one is complete"
	is "$(find "$where" -name '.*.part')" "" "$out: $signal: and nothing is left"
}

kills() {
	local signal
	for signal in KILL TERM; do
		killed "$signal" "$work/odd" x.sqfs
		killed "$signal" "$work/tame" x.h5
		killed "$signal" "$work/images" x.h5 --hdf5-layout jsc
	done
}

full() {
	is_root || { skip "only root can make a small filesystem" "a full filesystem"; return; }
	mkdir "$work/full" "$work/large"
	mkdir -p "$work/large/train/a"
	head -c 3000000 /dev/urandom >"$work/large/train/a/x"
	head -c 3000000 /dev/urandom >"$work/large/train/a/y"
	mount -t tmpfs -o size=2m none "$work/full" || bail "no tmpfs"
	at_exit umount "$work/full"
	refused 2 "no space left" "squashfs: a full filesystem" \
		pack "$work/large" "$work/full/x.sqfs"
	refused 2 "no space left" "HDF5: a full filesystem" pack "$work/large" "$work/full/x.h5"
	# behind what there is no space for: before anything is written
	ln -s /etc "$work/large/train/z"
	refused 2 "pack to tar or squashfs" "a link that leads out is seen first" \
		pack "$work/large" "$work/full/x.h5"
	rm "$work/large/train/z" && ln -s x "$work/large/train/a/z"
	refused 3 "is a link" "jsc: so is a link" \
		pack --hdf5-layout jsc "$work/large" "$work/full/x.h5"
	rm "$work/large/train/a/z"
	refused 2 "no space left" "HDF5, gzip: a full filesystem" \
		pack --compress gzip "$work/large" "$work/full/x.h5"
	refused 2 "no space left" "jsc: a full filesystem" \
		pack --hdf5-layout jsc "$work/large" "$work/full/x.h5"
	is "$(names_in "$work/full")" "" "nothing is left of them"
}

"$fixtures/make-odd-tree" --xattrs "$work/odd" || bail "no tree"
# the nearest times that an image can hold
touch -d @0 "$work/odd/times/1969"
touch -d @4294967295 "$work/odd/times/2106-after"
for compressor in none lz4 zstd xz:0; do
	squashfs "$compressor"
done
tame_tree
hdf5 plain
hdf5 packed --compress gzip:1
image_tree
jsc
same_bytes
refusals
kills
full
finish
