#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# An unmodified torchvision ImageFolder with workers reads a mount as it reads
# the directory: the same classes, the same tensors, in the same order.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_python PIL torch torchvision
script=$abs_top_srcdir/tests/mount/imagefolder.py

# report ROOT EPOCHS
report() {
	"$python" "$script" --epochs "$2" "$1"
}

check "images made" "$python" "$fixtures/make-image-tree" --classes 7 --images 30 "$work/tree"
tar -C "$work/tree" -cf "$work/tree.tar" .
wanted=$(report "$work/tree" 2)
like=$(printf '%s\n' "$wanted" | grep -c '^images 210$')
is "$like" 2 "the directory itself: two epochs of 210 images"
if mount_ok "mounted" "$work/tree.tar" "$mnt"; then
	is "$(report "$mnt" 2)" "$wanted" "two epochs: the same tensors in the same order"
	umount_ok "$mnt"
fi
finish
