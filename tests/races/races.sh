#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Somebody swaps directories, links, indexes and packed files between two calls of each program:
# races.py says how, and what may not come of it. 20 times each; RACES=1000 make check
# TESTS=tests/races/races.sh TEST_SECONDS=9000, and RACES_SEED=N for the same again.

# A mount namespace of its own, in which users may mount, too, whatever the machine's device
# says. Without others' mounts: a copy would keep them from ending.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need umount unshare fusermount3
programs=$work/programs
export RACES=${RACES:-20}
# what is preloaded comes before a sanitizer's library
export ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS:-}"

# race PROGRAM [HOW-OFTEN]
race() {
	local status
	"$python" "$abs_top_srcdir/tests/races/races.py" "$1" "$programs/at-call.so" \
		"$programs/granaryfs" "$programs/granary" >"$work/said" 2>&1
	status=$?
	ok "$status" "$1: ${2:-$RACES times}"
	diag "$(head -n 60 "$work/said")"
}

need_python socket tarfile pwd
public_programs # a user may have no way into the build directory
cp "$abs_top_builddir/tests/bin/at-call.so" "$abs_top_builddir/tests/bin/forge-index" "$programs/"
leave_others
mknod -m 666 "$work/fuse" c 10 229
mount --bind "$work/fuse" /dev/fuse || bail "no /dev/fuse for all"
race index
race checksums
race renew
race cat
race ls
race verify
race extract
race extract-new
race pack
race mount
race mount-user
race mount-as-user
race mount-dead
race mount-rival "at each call"
race umount
finish
