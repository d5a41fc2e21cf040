#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Any fault: one line that names it, the right status, and nothing
# left behind: no mount, no index, no process.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar gzip timeout
usage=1 system=2 dataset=3 mount=32

# fails STATUS NAME DESCRIPTION COMMAND...: NAME must be in the sentence.
fails() {
	local wanted=$1 name=$2 description=$3 status
	shift 3
	timeout 60 "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
	is "$status" "$wanted" "$description: status" || diag "$(cat "$work/err")"
	is "$(wc -l <"$work/err")" 1 "$description: one line" || diag "$(cat "$work/err")"
	grep -q -F -- "$name" "$work/err"
	ok $? "$description: names $name" || diag "$(cat "$work/err")"
	is "$(wc -c <"$work/out")" 0 "$description: nothing on standard output"
	nothing_left "$description"
}

nothing_left() {
	local left=
	is_mounted "$mnt" && left="a mount"
	wait_until 5 no_daemon "$mnt" || left="$left a process"
	[ -z "$(find "$work/sources" "$work/cache" -name '*gidx*')" ] || left="$left an index"
	[ "$(find "$work/sources" | LC_ALL=C sort)" = "$sources" ] || left="$left a file"
	is "$left" "" "$1: nothing left"
}

make_sources() {
	local s=$work/sources
	mkdir -p "$s/directory" "$work/content"
	head -c 300000 /dev/urandom >"$work/content/large"
	echo 1 >"$work/content/small"
	tar -C "$work/content" -cf "$s/good.tar" small large
	head -c 100000 "$s/good.tar" >"$s/truncated.tar"
	head -c 1300 "$s/good.tar" >"$s/truncated-header.tar"
	echo text | gzip >"$s/text.gz"
	: >"$s/empty"
	head -c 102400 /dev/zero >"$s/zeros"
	head -c 102400 /dev/urandom >"$s/noise"
	printf '\377\330\377\340\000\020JFIF\000\001\001\000\000\001\000\001\000\000' >"$s/image.jpg"
	head -c 20000 /dev/urandom >>"$s/image.jpg"
	cp "$s/good.tar" "$s/unreadable.tar"
	chmod 000 "$s/unreadable.tar"
	{ cat "$s/good.tar" && echo; } >"$s/longer.tar"
	sources=$(find "$s" | LC_ALL=C sort)
}

bad_sources() {
	local s=$work/sources
	fails $system none.tar "a missing file" "$granaryfs" "$s/none.tar" "$mnt"
	fails $dataset directory "a directory" "$granaryfs" "$s/directory" "$mnt"
	fails $dataset truncated.tar "a truncated archive" "$granaryfs" "$s/truncated.tar" "$mnt"
	fails $dataset truncated-header.tar "an archive that ends in a header" \
		"$granaryfs" "$s/truncated-header.tar" "$mnt"
	fails $dataset image.jpg "a JPEG" "$granaryfs" "$s/image.jpg" "$mnt"
	fails $dataset empty "a file of no bytes" "$granaryfs" "$s/empty" "$mnt"
	fails $dataset noise "noise" "$granaryfs" "$s/noise" "$mnt"
	fails $dataset text.gz "a compressed text" "$granaryfs" "$s/text.gz" "$mnt"
	fails $dataset image.jpg "one bad shard of two" \
		"$granaryfs" "$s/good.tar" "$s/image.jpg" "$mnt"
	fails $system none-2.tar "a shard of a set that is missing" \
		"$granaryfs" -o index=off "$s/none-{2..4}.tar" "$mnt"
	if is_root; then
		# nobody may not mount where /dev/fuse is root's; the source comes first.
		chmod 777 "$mnt"
		public_programs
		fails $system unreadable.tar "an unreadable file" \
			"${nobody[@]}" granaryfs "$s/unreadable.tar" "$mnt"
	else
		fails $system unreadable.tar "an unreadable file" \
			"$granaryfs" "$s/unreadable.tar" "$mnt"
	fi
}

# 10 kB of zeros is what tar makes of no files; more zeros than a record too.
zeros() {
	fails $dataset zeros "an archive of zeros" "$granaryfs" "$work/sources/zeros" "$mnt"
}

bad_mount_points() {
	local good=$work/sources/good.tar
	fails $mount none "a missing mount point" "$granaryfs" -o index=off "$good" "$work/none"
	touch "$work/plain-file"
	fails $mount plain-file "a mount point that is a file" \
		"$granaryfs" -o index=off "$good" "$work/plain-file"
	mount_point_in_use "$good"
}

# A second granaryfs over the first would hide it.
mount_point_in_use() {
	local used=$work/used
	granary_mount -o index=off "$1" "$used" >/dev/null || return
	fails $mount "$used" "a mount point in use" "$granaryfs" -o index=off "$1" "$used"
	is "$(grep -c -F -- " $used " /proc/mounts)" 1 "a mount point in use: mounted once"
	is "$(cat "$used/small")" 1 "a mount point in use: the first still serves"
	umount_ok "$used"
}

bad_usage() {
	local good=$work/sources/good.tar
	fails $usage granaryfs "no arguments" "$granaryfs"
	fails $usage "mount point" "one argument" "$granaryfs" "$mnt"
	fails $usage nonsense "an unknown option" "$granaryfs" -o nonsense "$good" "$mnt"
	fails $usage missing "a value that is none" "$granaryfs" -o missing=perhaps "$good" "$mnt"
	fails $usage base "a number that is none" "$granaryfs" -o base=much "$good" "$mnt"
	fails $usage Q "an unknown letter" "$granaryfs" -Q "$good" "$mnt"
	fails $usage -o "-o without a value" "$granaryfs" "$good" "$mnt" -o
}

no_index_wanted() {
	fails $dataset "granary index" "index=require without an index" \
		"$granaryfs" -o index=require "$work/sources/good.tar" "$mnt"
}

help_and_version() {
	check "-h: status 0" "$granaryfs" -h
	is "$("$granaryfs" -V 2>&1 | wc -l)" 1 "-V: one line"
	check "-V: status 0" "$granaryfs" -V
	[ "$("$granaryfs" -h | grep -c -E 'index|missing|allow_other')" -ge 3 ]
	ok $? "-h names the options"
}

make_sources
bad_sources
zeros
bad_mount_points
bad_usage
no_index_wanted
help_and_version
finish
