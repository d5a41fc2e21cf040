#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Sets of tokens stay files: a tar and a squashfs image of Megatron's .bin and .idx are mapped
# through the mount, document by document, and give what the files give.
#
# MEGATRON names a Python that has megatron-core, whose reader is then compared as well.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs
need_fuse
need tar mksquashfs
need_python numpy
script=$abs_top_srcdir/tests/mount/token_sets.py

as_the_files() {
	mount_ok "$1: mounted" "$work/set.$1" "$mnt" || return
	is "$("$python" "$script" read "$mnt/tokens/set" 2>&1)" "$wanted" "$1: all documents, mapped"
	is "$("$python" "$script" shuffled "$mnt/tokens/set" 2>&1)" "$wanted" "$1: in random order"
	[ -z "${MEGATRON:-}" ] ||
		is "$("$MEGATRON" "$script" megatron "$mnt/tokens/set" 2>&1)" "$wanted" \
			"$1: by megatron-core"
	umount_ok "$mnt"
}

mkdir -p "$work/tree/tokens"
check "a set of tokens" "$python" "$script" write "$work/tree/tokens/set"
wanted=$("$python" "$script" read "$work/tree/tokens/set")
check "it has 3000 documents" grep -q '^3000 ' <<<"$wanted"
tar -C "$work/tree" -cf "$work/set.tar" tokens
mksquashfs "$work/tree" "$work/set.squashfs" -no-progress -quiet >/dev/null
as_the_files tar
as_the_files squashfs
finish
