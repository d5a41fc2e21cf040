#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Archives as Python's tarfile writes them, and the odd ones that tools write.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_python tarfile
writer=$abs_top_srcdir/tests/mount/write_tars.py
args=(--no-directory-attributes --ignore-special)
is_root || args+=(--no-owner)

# The members carry no times for links, and directories that no member names have
# none at all: the trees are compared without directories' attributes.
same_tree() {
	local name=$1 options=()
	case $name in
	symlinks | link-before-target) options=(--no-times) ;;
	esac
	compare "${args[@]}" "${options[@]}" "$work/$name" "$mnt"
}

try() {
	local name=$1
	check "$name: written" "$python" "$writer" "$name" "$work/$name.tar" "$work/$name" ||
		return
	mount_ok "$name: mounted" "$work/$name.tar" "$mnt" || return
	check "$name: the tree is right" same_tree "$name"
	umount_ok "$mnt" "$name: unmounted"
}

for name in $("$python" "$writer" --list); do
	try "$name"
done
finish
