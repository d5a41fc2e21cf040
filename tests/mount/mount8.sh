#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# mount -t granaryfs, by mount.granaryfs, on the command line and from an fstab; and the units
# for systemd.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar mount umount findmnt systemd-analyze systemd-escape
units=$abs_top_srcdir/tools/mount

# built NAME: a file of tools/mount with the programs of this build.
built() {
	sed "s|@bindir@|${2:-$abs_top_builddir}|" "$units/$1.in"
}

# mount(8) looks in /sbin, and /sbin is this machine's: an overlay adds the program.
install_helper() {
	local sbin
	sbin=$(realpath /sbin)
	mkdir "$work/sbin"
	built mount.granaryfs >"$work/sbin/mount.granaryfs"
	chmod 755 "$work/sbin/mount.granaryfs"
	mount -t overlay -o "ro,lowerdir=$work/sbin:$sbin" overlay "$sbin" ||
		lacking "no overlay can be mounted"
	at_exit umount -l "$sbin"
}

make_archives() {
	mkdir "$work/tree" "$work/two words"
	echo one >"$work/tree/one"
	tar -C "$work/tree" -cf "$work/t.tar" one
	mv "$work/tree/one" "$work/tree/two"
	cp "$work/t.tar" "$work/set-0.tar"
	tar -C "$work/tree" -cf "$work/set-1.tar" two
	cp "$work/t.tar" "$work/two words/t.tar"
	mounts+=("$mnt" "$work/two words")
}

by_hand() {
	check "mount -t granaryfs" mount -t granaryfs "$work/t.tar" "$mnt"
	is "$(cat "$mnt/one")" one "it is read"
	is "$(findmnt -n -o FSTYPE,SOURCE "$mnt" | xargs)" "fuse.granaryfs $work/t.tar" \
		"the mount table"
	check "umount" umount "$mnt"
	check "with options" mount -t granaryfs -o ro,noatime,umask=077,nosuid "$work/t.tar" "$mnt"
	is "$(stat -c %a "$mnt/one")" 600 "they are granaryfs's"
	check "umount" umount "$mnt"
	check "a set of shards" mount -t granaryfs "$work/set-{0..1}.tar" "$mnt"
	is "$(cd "$mnt" && echo *)" "one two" "it is read"
	check "umount" umount "$mnt"
	check "a pretence: mount -f" mount -f -t granaryfs "$work/t.tar" "$mnt"
	check "mounts nothing" not_mounted "$mnt"
	says 2 "does not exist" "no such file: granaryfs's status and words" \
		mount -t granaryfs "$work/none.tar" "$mnt"
	says 1 "usage" "one argument is too few" "$work/sbin/mount.granaryfs" x
	says 1 "usage" "an option that is not mount(8)'s" \
		"$work/sbin/mount.granaryfs" "$work/t.tar" "$mnt" -z
}

from_fstab() {
	printf '%s granaryfs ro,allow_other,_netdev,nofail,x-systemd.automount 0 0\n' \
		"$work/t.tar $mnt" "$work/two\\040words/t.tar $work/two\\040words" >"$work/fstab"
	check "a line of fstab" mount -T "$work/fstab" "$mnt"
	is "$(cat "$mnt/one")" one "it is read"
	check "one with spaces" mount -T "$work/fstab" "$work/two words"
	is "$(cat "$work/two words/one")" one "it is read"
	check "umount" umount "$work/two words" "$mnt"
}

# No directive may hide the mount from everybody else, as those do that need a mount
# namespace.
hides='^(Private(Tmp|Devices|Mounts|Users|IPC)|Protect(System|Home|Kernel.*|ControlGroups|Proc)|ProcSubset|RootDirectory|RootImage|MountFlags|(ReadOnly|ReadWrite|Inaccessible|Exec|NoExec)Paths|Bind.*Paths|TemporaryFileSystem|DynamicUser|(State|Cache|Logs|Runtime)Directory|PrivateNetwork)='

for_systemd() {
	mkdir "$work/units"
	# the paths of an installation, which systemd-analyze looks for
	built granaryfs@.service >"$work/units/granaryfs@.service"
	cp "$units/"mnt-train.* "$work/units/"
	refuse "no directive hides the mount" grep -q -E "$hides" "$work/units/granaryfs@.service"
	systemd-analyze verify --man=no "$work/units/granaryfs@train.service" \
		"$work/units/mnt-train.automount" >"$work/verify" 2>&1
	is "$? $(grep -v -F "$work/units" "$work/verify" | head -5)" "0 " "the units are sound"
	check "the service is hardened: at most 4.2" systemd-analyze security --offline=true \
		--threshold=42 "$work/units/granaryfs@.service"
	is "$(systemd-escape --path --suffix=automount "$(
		sed -n 's/^Where=//p' "$units/mnt-train.automount")")" mnt-train.automount \
		"the automount has the name of its path"
}

# Their installed form has the directory of an installation.
made() {
	local name
	env -u MAKEFLAGS make -s --no-print-directory -C "$abs_top_builddir" \
		tools/mount/mount.granaryfs "tools/mount/granaryfs@.service" >"$work/made" 2>&1
	ok $? "made" || diag "$(cat "$work/made")"
	for name in mount.granaryfs granaryfs@.service; do
		built "$name" "$(sed -n 's/^bindir = //p' "$abs_top_builddir/Makefile" |
			sed "s|[$]{exec_prefix}|$(sed -n 's/^prefix = //p' "$abs_top_builddir/Makefile")|")" \
			>"$work/wanted"
		check "$name: as it is installed" cmp "$work/wanted" \
			"$abs_top_builddir/tools/mount/$name"
	done
}

make_archives
made
install_helper
by_hand
from_fstab
for_systemd
finish
