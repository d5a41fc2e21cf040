#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A library that a build leaves out is named where it is missed, and only there.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need tar
cd "$work" || exit 99

left_out() {
	grep -q "^#define WITH_$1 0" "$abs_top_builddir/config.h"
}

# refused LIBRARY STATUS WHAT COMMAND...
refused() {
	local library=$1 status=$2 what=$3
	shift 3
	"$@" >said 2>&1
	is "$?" "$status" "$what: refused" || diag "$(cat said)"
	grep -q "this granaryfs was built without .*; build it again: ./configure --with-$library (" said
	ok $? "$what: why, and what helps" || diag "$(cat said)"
}

# known WHAT COMMAND...: no library is missing for it, whatever else is wrong.
known() {
	local what=$1
	shift
	"$@" >said 2>&1
	refuse "$what: no library is missing" grep "was built without" said
}

# A file that begins like one of the format is recognised: nothing else is read of it.
signature() {
	printf "$2" >"$1" # the format is the data
	truncate -s 64K "$1"
}

mkdir tree
echo text >tree/a.txt
tar -cf a.tar tree
signature x.h5 '\211HDF\r\n\032\n'
signature x.sqfs 'hsqs'
printf '\4\0\0\0' | dd of=x.sqfs bs=1 seek=28 conv=notrunc 2>/dev/null
if left_out HDF5; then
	refused hdf5 3 "an HDF5 file: indexed" granary index x.h5
	refused hdf5 3 "an HDF5 file: listed" granary ls -o index=off x.h5
	refused hdf5 1 "an HDF5 file: packed" granary pack tree out.h5
	refuse "--help leaves HDF5 out" grep -q HDF5 <(granaryfs --help)
else
	known "an HDF5 file" granary ls -o index=off x.h5
	check "--help has HDF5" grep -q HDF5 <(granaryfs --help)
fi
if left_out SQUASHFS; then
	refused squashfs 3 "a squashfs image: listed" granary ls -o index=off x.sqfs
	refused squashfs 1 "a squashfs image: packed" granary pack tree out.sqfs
	tar -cf nested.tar x.sqfs
	check "a squashfs image in a tar: a file" grep -q '^x.sqfs$' \
		<(granary ls -o index=off nested.tar)
else
	known "a squashfs image" granary ls -o index=off x.sqfs
fi
signature x.zip 'PK\003\004'
if left_out DEFLATE; then
	refused deflate 3 "a zip: listed" granary ls -o index=off x.zip
	refuse "--help leaves zip out" grep -q 'zip archive' <(granaryfs --help)
else
	known "a zip" granary ls -o index=off x.zip
	check "--help has zip" grep -q 'zip archive' <(granaryfs --help)
fi
if left_out NETTLE; then
	refused nettle 1 "a manifest" granary verify --write-checksums sums a.tar
else
	known "a manifest" granary verify --write-checksums sums a.tar
fi
if left_out IMAGES; then
	refused images 1 "images decoded" granary pack --decode tree out.tar
else
	known "images decoded" granary pack --decode tree out.tar
fi
finish
