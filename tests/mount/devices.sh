#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Packed files that lie on block devices, as on an LVM volume or a partition.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd
need_fuse
need_root
need tar losetup mksquashfs
[ -e /dev/loop-control ] || lacking "there is no /dev/loop-control"
export XDG_CACHE_HOME=$work/cache
indexes=$XDG_CACHE_HOME/granaryfs

# attach NAME [OPTION...]: a loop device with that file; it is in $device.
attach() {
	local name=$1
	shift
	device=$(losetup --find --show "$@" "$work/$name" 2>/dev/null) ||
		lacking "no loop device can be had"
	at_exit losetup --detach "$device"
}

make_files() {
	mkdir -p "$work/tree/directory" "$work/other"
	head -c 3000000 /dev/urandom >"$work/tree/large"
	echo small >"$work/tree/directory/small"
	tar -C "$work/tree" -cf "$work/t.tar" .
	truncate -s 20M "$work/t.tar"
	mksquashfs "$work/tree" "$work/s.img" -noappend -quiet -no-progress >/dev/null
	head -c 1048576 /dev/zero | cat - "$work/s.img" >"$work/disk"
	truncate -s 20M "$work/disk"
	echo two >"$work/other/two"
	tar -C "$work/other" -cf "$work/second.tar" two
	truncate -s 1M "$work/second.tar"
}

# same DESCRIPTION TREE ARGUMENTS...
same() {
	local description=$1 tree=$2
	shift 2
	mount_ok "$description: mounted" "$@" "$mnt" || return
	check "$description: the tree is right" diff -r "$tree" "$mnt"
	umount_ok "$mnt" "$description: unmounted"
}

log_says() {
	grep -q -E -- "$1" "${mount_log[$mnt]}"
}

a_tar() {
	local before
	attach t.tar
	tar_device=$device
	same "tar" "$work/tree" "$device"
	is "$(find "$indexes" -name '*.gidx' | wc -l)" 1 "tar: its index is in the cache"
	is "$(find /dev -maxdepth 1 -name '*.gidx*')" "" "tar: nothing is put into /dev"
	before=$(stat -c '%i %y' "$indexes"/*.gidx)
	touch "$device" # as its node is new after each start of the machine
	same "tar again" "$work/tree" "$device"
	refuse "tar again: nothing is said of an index" log_says "index"
	is "$(stat -c '%i %y' "$indexes"/*.gidx)" "$before" "tar again: the index is used"
	check "granary verify" "$granary" verify "$device"
}

# A link's target may be another at the next start: the link's name counts.
a_link() {
	ln -s "$tar_device" "$work/volume"
	same "a link" "$work/tree" "$work/volume"
	is "$(find "$indexes" -name 'volume-*.gidx' | wc -l)" 1 "a link: the index has its name"
	refuse "the same device twice" "$granary" ls "$tar_device" "$work/volume"
}

changed() {
	local time
	time=$(stat -c @%.Y "$work/t.tar")
	dd if=/dev/urandom of="$tar_device" bs=4096 seek=300 count=100 conv=notrunc,fsync \
		status=none
	touch -d "$time" "$work/t.tar"
	mount_ok "changed in the middle: mounted" "$tar_device" "$mnt" || return
	check "changed in the middle: the old index is not used" \
		log_says "index not used: .*another beginning or end"
	umount_ok "$mnt" "changed in the middle: unmounted"
}

# same_ends SIZES: a tar of files of these sizes, between two large ones.
same_ends() {
	local tree=$work/ends-$1 i=0 size
	mkdir -p "$tree"
	head -c 1000000 /dev/zero | tee "$tree/0" >"$tree/9"
	for size in ${1//,/ }; do
		i=$((i + 1))
		head -c "$size" /dev/zero | tr '\0' "$i" >"$tree/$i"
	done
	tar --sort=name --mtime=@1000 -C "$tree" -cf "$work/ends-$1.tar" .
}

# The blocks that are looked at are the same: the file behind the device tells them apart.
another_file() {
	local first=1000,3000 second=3000,1000
	same_ends $first
	same_ends $second
	is "$(stat -c %s "$work/ends-$first.tar")" "$(stat -c %s "$work/ends-$second.tar")" \
		"another file: as large"
	touch -d @1000000000 "$work/ends-$first.tar"
	device=$(losetup --find --show "$work/ends-$first.tar")
	ln -sfn "$device" "$work/swapped"
	same "one file" "$work/ends-$first" "$work/swapped"
	losetup --detach "$device"
	attach ends-$second.tar
	ln -sfn "$device" "$work/swapped"
	same "another file" "$work/ends-$second" "$work/swapped"
	dd if="$work/ends-$first.tar" of="$device" conv=notrunc,fsync status=none
	same "written in place" "$work/ends-$first" "$work/swapped"
}


images() {
	attach s.img --read-only
	same "squashfs" "$work/tree" "$device"
	attach disk
	refuse "behind something: refused" "$granaryfs" "$device" "$mnt"
	same "behind something" "$work/tree" -o base=1048576 "$device"
	attach disk --offset 1048576
	same "a partition" "$work/tree" "$device"
}

a_set() {
	local first
	cp "$work/t.tar" "$work/first.tar"
	tar -C "$work/tree" -cf "$work/first.tar" .
	truncate -s 20M "$work/first.tar"
	attach first.tar
	first=$device
	attach second.tar
	cp "$work/other/two" "$work/tree/two"
	same "two devices" "$work/tree" "$first" "$device"
}

refused() {
	local said
	truncate -s 0 "$work/nothing"
	attach nothing
	said=$("$granaryfs" "$device" "$mnt" 2>&1)
	is $? 3 "a device of no size: refused"
	check "a device of no size: said" grep -q "is empty (0 bytes)" <<<"$said"
	mknod "$work/none" b 240 0 # a number that nobody has
	said=$("$granaryfs" "$work/none" "$mnt" 2>&1)
	is $? 2 "a device that is not there: refused"
	check "a device that is not there: named" grep -q "'$work/none'" <<<"$said"
}

make_files
a_tar
a_link
changed
another_file
images
a_set
refused
finish
