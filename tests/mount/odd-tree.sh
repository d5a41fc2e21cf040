#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# A tree with everything odd in it, packed by GNU tar in every format that it
# writes, is the same tree when it is mounted.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar find diff setfattr
need_python os

# Set-id and sticky bits are never shown, FIFOs and devices neither.
keep=777
args=(--ignore-special --mode-mask "$keep")
is_root || args+=(--no-owner)
xattrs=no

# pack NAME TREE TAR-OPTIONS...
pack() {
	local name=$1 tree=$2
	shift 2
	tar --numeric-owner "$@" -C "$work/$tree" -cf "$work/$name.tar" . 2>"$work/tar.log" ||
		{ cat "$work/tar.log"; return 1; }
}

# Names as bytes, and all that find can print.
listing() {
	(cd "$1" && find . ! -type p \
		\( -type d -printf '%P\t%y\t%U\t%G\t%T@\n' -o \
		-type l -printf '%P\t%y\t%s\t%U\t%G\t%T@\t%l\n' -o \
		-printf '%P\t%y\t%s\t%U\t%G\t%T@\t%n\n' \) | LC_ALL=C sort)
}

# GNU tar's listing has whole seconds in all formats but pax.
same_listing() {
	local cut=$3
	diff <(listing "$1" | sed -E "$cut") <(listing "$2" | sed -E "$cut")
}

no_fractions='s/(\t-?[0-9]+)\.[0-9]+/\1/'

# try NAME TREE COMPARE-OPTIONS...
try() {
	local name=$1 tree=$2 cut=$no_fractions
	shift 2
	case " $* " in *" --seconds "*) ;; *) cut='' ;; esac
	mount_ok "$name: mounted" "$work/$name.tar" "$mnt" || return
	check "$name: trees are the same" compare "${args[@]}" "$@" "$work/$tree" "$mnt"
	check "$name: find prints the same" same_listing "$work/$tree" "$mnt" "$cut"
	check "$name: diff -r finds nothing" \
		diff -r --no-dereference -x fifo "$work/$tree" "$mnt"
	check "$name: holes are honest" \
		find "$mnt/sparse" -type f -exec "$python" "$abs_top_srcdir/tests/mount/holes.py" {} +
	umount_ok "$mnt" "$name: unmounted"
}

make_trees() {
	local subset options=()
	touch "$work/probe"
	if setfattr -n user.probe -v 1 "$work/probe" 2>/dev/null; then
		xattrs=yes
		options=(--xattrs)
	fi
	for subset in full ustar v7; do
		"$python" "$fixtures/make-odd-tree" --subset "$subset" \
			"${options[@]}" "$work/$subset" || bail "no odd tree"
	done
}

make_trees
for sparse in '' --sparse; do
	check "gnu $sparse: packed" pack "gnu$sparse" full --format=gnu $sparse &&
		try "gnu$sparse" full --seconds
	check "pax $sparse: packed" pack "pax$sparse" full --format=pax $sparse &&
		try "pax$sparse" full
done
for version in 0.0 0.1 1.0; do
	check "pax with sparse format $version: packed" pack "pax-$version" full \
		--format=pax --sparse --sparse-version=$version && try "pax-$version" full
done
for format in ustar v7 oldgnu; do
	tree=$format
	[ "$format" = oldgnu ] && tree=full
	check "$format: packed" pack "$format" "$tree" --format="$format" &&
		try "$format" "$tree" --seconds
done
if [ "$xattrs" = yes ]; then
	check "pax with xattrs: packed" pack xattrs full --format=pax --xattrs &&
		try xattrs full --xattrs
else
	skip "this filesystem has no user xattrs" "pax with xattrs"
fi
finish
