#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# A file that is no packed dataset is refused with a command, and that command works: it is
# run as it stands in the sentence, and its output shows the same files. Formats whose tools
# no package brings are tests of the sentence only (tests/format/test_signature.c,
# tests/unit/source/test_directory.c).
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built hdf5 squashfs
need_fuse
need tar xz bsdtar ncgen nccopy
need_python numpy

make_tree() {
	mkdir -p "$work/tree/cat" "$work/tree/dog" "$work/here"
	head -c 70000 /dev/urandom >"$work/tree/cat/1.jpg"
	echo dog >"$work/tree/dog/2.jpg"
}

# told NAME COMMAND: the sentence on NAME has this command.
told() {
	timeout 60 "$granaryfs" "$1" "$mnt" >"$work/said" 2>&1 </dev/null
	is "$?" 3 "$1: refused" || diag "$(cat "$work/said")"
	grep -qF -- "$2" "$work/said"
	ok $? "$1: the sentence has the command: $2" || diag "$(cat "$work/said")"
	is "$(wc -l <"$work/said")" 1 "$1: one line"
}

# follow NAME SENTENCE'S-COMMAND RESULT [COMMAND]: what RESULT shows is the tree. COMMAND
# comes after the first one in the sentence.
follow() {
	told "$1" "$2"
	rm -rf directory
	check "$1: the command works" bash -c "$2"
	[ -z "${4:-}" ] || { told "$1" "$4" && check "$1: so does the next" bash -c "$4"; }
	shows "$1" "$3"
	rm -rf directory packed.tar unpacked
}

# shows NAME SOURCE...
shows() {
	local name=$1
	shift
	mount_ok "$name: the result mounts" -o index=off "$@" "$mnt" || return
	check "$name: with the same files" diff -r "$work/tree" "$mnt"
	umount_ok "$mnt" "$name: unmounted"
}

# follow_mount NAME COMMAND: the sentence's command mounts, at MOUNTPOINT.
follow_mount() {
	told "$1" "$2"
	check "$1: the command works" bash -c "${2/MOUNTPOINT/$mnt}"
	check "$1: it shows the same files" diff -r "$work/tree" "$mnt"
	umount_ok "$mnt" "$1: unmounted"
}

compressed() {
	tar -C "$work/tree" -cf t.tar .
	xz --format=lzma -c t.tar >t.lzma
	follow t.lzma "xz -dc 't.lzma' >unpacked" unpacked
}

archives() {
	local kind
	for kind in newc odc 7zip iso9660; do
		bsdtar -C "$work/tree" --format="$kind" -cf "t.$kind" cat dog
		follow "t.$kind" "bsdtar -cf packed.tar @'t.$kind'" packed.tar
	done
}

lists() {
	ln -s "$work/tree/cat" "$work/tree/dog" .
	printf '%s\n' cat/1.jpg dog/2.jpg >list
	follow list "tar -cf packed.tar -T 'list'" packed.tar
	rm cat dog
}

# Arrays: what is shown is the same in other files.
arrays() {
	ncgen -k classic -o t.nc - <<<'netcdf t { dimensions: n = 3; variables: int v(n);
		data: v = 1, 2, 3; }'
	told t.nc "nccopy -k nc4 't.nc' new.nc, and mount new.nc with -o view=arrays"
	check "t.nc: written again" nccopy -k nc4 t.nc new.nc
	mount_ok "t.nc: mounted" -o view=arrays new.nc "$mnt"
	is "$("$python" -c 'import numpy, sys; print(numpy.load(sys.argv[1]).tolist())' \
		"$mnt/v.npy")" "[1, 2, 3]" "t.nc: the array"
	umount_ok "$mnt" "t.nc: unmounted"
	rm -rf directory packed.tar
}

directories() {
	local name
	cp -r "$work/tree" images
	follow images "granary pack 'images' 'images.tar'" images.tar
	mkdir shards alone
	tar -C "$work/tree" -cf shards/x-08.tar cat
	tar -C "$work/tree" -cf shards/x-09.tar dog
	follow_mount shards "granaryfs 'shards/x-{08..09}.tar' MOUNTPOINT"
	mv shards/x-09.tar shards/x-11.tar
	follow_mount shards "granaryfs 'shards'/*.tar MOUNTPOINT"
	tar -C "$work/tree" -cf alone/t.tar .
	follow_mount alone "granaryfs 'alone/t.tar' MOUNTPOINT"
	for name in data-00000-of-00002.arrow data-00001-of-00002.arrow; do
		mkdir -p saved
		cp "$fixtures/arrow/pets-train-${name#data-}" "saved/$name"
	done
	touch saved/state.json saved/dataset_info.json
	told saved "granaryfs 'saved/data-{00000..00001}-of-00002.arrow' MOUNTPOINT"
	check "saved: the command works" \
		granaryfs 'saved/data-{00000..00001}-of-00002.arrow' "$mnt"
	at_least "$(find "$mnt" -type f | wc -l)" 2 "saved: samples are shown"
	umount_ok "$mnt" "saved: unmounted"
}

make_tree
cd "$work/here" || bail "no directory"
compressed
archives
lists
arrays
directories
finish
