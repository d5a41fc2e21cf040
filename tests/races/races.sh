#!/bin/bash
# Somebody swaps folders, links, indexes and packed files between two calls of each program:
# races.py says how, and what may not come of it. 20 times each; RACES=1000 make check
# TESTS=tests/races/races.sh TEST_SECONDS=9000, and RACES_SEED=N for the same again.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need umount unshare fusermount3
at_call=$abs_top_builddir/tests/bin/at-call.so
export RACES=${RACES:-20}
# what is preloaded comes before a sanitizer's library
export ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS:-}"

# In a mount namespace in which users may mount, too, whatever the machine's device says.
race() {
	local status
	# shellcheck disable=SC2016  # the inner shell expands it
	unshare -m sh -c 'mount --bind "$0" /dev/fuse && exec "$@"' "$work/fuse" \
		"$python" "$abs_top_srcdir/tests/races/races.py" "$1" "$at_call" "$granaryfs" \
		"$granary" >"$work/said" 2>&1
	status=$?
	ok "$status" "$1: $RACES times"
	diag "$(head -n 60 "$work/said")"
}

need_python socket tarfile pwd
mknod -m 666 "$work/fuse" c 10 229
race index
race checksums
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
race umount
finish
