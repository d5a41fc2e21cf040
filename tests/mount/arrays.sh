#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Image datasets of the layouts of docs/formats/hdf5.md are ImageFolders with the pixels
# that h5py reads; arrays are what numpy.load gives back.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built hdf5 deflate
need_fuse
need_python h5py PIL torchvision
scripts=$abs_top_srcdir/tests/mount

# try NAME KIND OPTIONS...
try() {
	local name=$1 kind=$2
	shift 2
	mount_ok "$name: mounted" "$@" "$work/$name.h5" "$mnt" || return
	check "$name: as h5py reads it" "$python" "$scripts/arrays.py" "$kind" \
		"$work/$name.h5" "$mnt"
	check "$name: no process of the mount has libhdf5" no_format_library "$mnt"
	umount_ok "$mnt" "$name: unmounted"
}

check "files are written" "$python" "$scripts/arrays.py" write "$work"
for name in pixels planes chunks grey fuel classes image_bytes coursera floats files; do
	try "$name" directory
done
for name in lz4 blosc; do
	if [ -e "$work/$name.h5" ]; then
		try "$name" directory
	else
		skip "h5py finds no plug-in that writes it" "$name"
	fi
done
for name in climate pixels chunks; do
	try "$name" npy -o view=arrays
done
if command -v ncgen >"$work/found" && command -v ncdump >"$work/found"; then
	check "netcdf: ncgen writes a file" \
		ncgen -k nc4 -o "$work/netcdf.h5" "$scripts/climate.cdl"
	try netcdf netcdf -o view=arrays
else
	skip "there is no ncgen or no ncdump" "netcdf"
fi
try pixels directory -o labels=ans
if mount_ok "a file for each class: mounted" "$work"/each/*.hdf5 "$mnt"; then
	check "a file for each class: its name is the class" \
		"$python" "$scripts/arrays.py" each "$work/each" "$mnt"
	umount_ok "$mnt"
fi
"$granary" info -o labels=nothing "$work/pixels.h5" >"$work/refused" 2>&1
is "$?" 3 "labels=nothing: refused"
grep -q "'/ans'" "$work/refused"
ok $? "the arrays that could be labels are listed" || diag "$(cat "$work/refused")"
"$granary" info "$work/climate.h5" >"$work/refused" 2>&1
is "$?" 3 "a file of numbers without labels: refused"
grep -q "view=arrays" "$work/refused" && grep -q "'/run/tas' (32-bit float, 10 x 12 x 18)" \
	"$work/refused"
ok $? "its datasets are listed, and what helps" || diag "$(cat "$work/refused")"
"$granary" info "$work/pixels.h5" >"$work/info" 2>&1
grep -q "images (as .ppm) and ans" "$work/info"
ok $? "info says what was chosen" || diag "$(cat "$work/info")"
"$granary" info -o index=off "$work/ambiguous.h5" >"$work/info" 2>&1
grep -q "'/images' .* could be images as planes or as pixels: .*view=arrays" "$work/info" &&
	grep -q "images (pixels, not planes, as .ppm) and labels" "$work/info"
ok $? "N x 3 x H x 3: what else it could be is said" || diag "$(cat "$work/info")"
for name in pixels planes; do
	"$granary" info -o index=off "$work/$name.h5" >"$work/info" 2>&1
	! grep -q "could be images" "$work/info"
	ok $? "$name: nothing else is said" || diag "$(cat "$work/info")"
done
"$granary" info -o view=arrays "$work/climate.h5" >"$work/info" 2>&1
grep -q "^view *arrays (view=arrays)" "$work/info"
ok $? "info says that arrays were asked for" || diag "$(cat "$work/info")"
finish
