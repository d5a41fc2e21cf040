#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A packed file that rots while it is mounted, after it has been read and was right: what
# is read again from storage is compared again. No byte is another one; what granary verify
# names is an error, its other blocks and all other files are not; and what is mended is
# right again, without a new mount.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need_fuse
need_python h5py numpy
need tar mksquashfs timeout zip
rot=$abs_top_srcdir/tests/mount/rot.py
tree=$work/tree

make_sources() {
	cd "$work" || bail "no directory"
	"$python" "$rot" tree "$tree" || bail "no tree"
	tar -C "$tree" --sort=name -cf a.tar d
	tar -C "$tree" --sort=name -cf inner.tar d
	tar -cf nested.tar inner.tar
	mksquashfs tree stored.squashfs -noD -noF -noappend -no-progress -quiet ||
		bail "no squashfs image"
	mksquashfs tree zstd.squashfs -comp zstd -noappend -no-progress -quiet ||
		bail "no squashfs image"
	"$python" "$rot" hdf5 "$tree" c.h5 || bail "no HDF5 file"
	(cd tree && zip -q0 ../stored.zip d/* && zip -q ../deflate.zip d/*) || bail "no zip"
}

# flip ARCHIVE DIRECTORY SHARE
flip() {
	"$python" "$rot" flip "$granary" "$1" "$tree" "$2" "$3" || bail "$1 is not damaged"
}

# reads DESCRIPTION DIRECTORY MOST [small]: the files that have errors, in $work/errors
reads() {
	timeout 120 "$python" "$rot" read "$tree" "$mnt/$2" "${@:3}" >errors 2>said
	ok $? "$1: no other byte" || diag "$(cat said)"
}

# rots WHAT ARCHIVE DIRECTORY MOST OPTIONS SHARE [small]
rots() {
	local what="$1, $5, at $6${7:+, $7}"
	mount_ok "$what: mounted" -o "index=require,$5" "$2" "$mnt" || return
	reads "$what: sound" "$3" "$4" "${@:7}"
	is "$(cat errors)" "" "$what: sound: no error"
	flip "$2" "$3" "$6"
	"$python" "$rot" verified "$granary" "$2" "$3" >verified
	at_least "$(wc -l <verified)" 4 "$what: rotten: verify sees it"
	reads "$what: rotten" "$3" "$4" "${@:7}"
	case $5 in
	*cache=1M*) # nothing of before is in the daemon's memory
		is "$(cat errors)" "$(cat verified)" "$what: rotten: verify and the mount agree"
		;;
	*) # what still is in the daemon's memory is right
		is "$(LC_ALL=C comm -23 errors verified)" "" "$what: rotten: no error but where verify names one"
		;;
	esac
	flip "$2" "$3" "$6"
	reads "$what: mended" "$3" "$4" "${@:7}"
	is "$(cat errors)" "" "$what: mended: no error"
	umount_ok "$mnt"
}

# all_ways WHAT ARCHIVE DIRECTORY MOST
all_ways() {
	check "$1: indexed" "$granary" index -q --checksums "$2"
	rots "$@" prefetch=off,cache=1M 0.5
	rots "$@" prefetch=off 0
	rots "$@" prefetch=sweep 1
	rots "$@" prefetch=sweep,cache=1M 0.7
}

# The page cache has it all before; then it is read anew, through what is read ahead.
make_sources
all_ways tar a.tar "" 1
rots tar a.tar "" 1 prefetch=off,cache=1M 0.999 small
rots tar a.tar "" 1 prefetch=window,cache=1M 0.3
all_ways "a tar in a tar" nested.tar inner 1
all_ways "squashfs, stored" stored.squashfs "" 1
all_ways "squashfs, zstd" zstd.squashfs "" 1
all_ways "HDF5, chunks with lzf" c.h5 "" 2
for zip in stored deflate; do
	most=1
	[ $zip = stored ] || most=160
	check "zip, $zip: indexed" "$granary" index -q --checksums "$zip.zip"
	# deflated, a file is one chunk, of up to 153 blocks
	rots "zip, $zip" "$zip.zip" "" "$most" prefetch=off,cache=1M 0.5
done
finish
