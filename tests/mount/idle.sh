#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A mount that was read and is left alone takes no processor: no tick, and at most one
# wake-up a second, in all threads of supervisor and server; also when threads have just
# polled for the ioctls that Python sends. Then it answers as before. And root's mounts
# read ahead.
#
#	make check TESTS=tests/mount/idle.sh IDLE_SECONDS=60
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar
seconds=${IDLE_SECONDS:-6}

# ioctls FILE COUNT: as many requests, one after the other. [ -t ] sends one.
ioctls() {
	local i
	exec 7<"$1" || return 1
	for ((i = 0; i < $2; i++)); do
		[ ! -t 7 ] || return 1
	done
	exec 7<&-
}

# usage MOUNTPOINT: ticks and wake-ups so far, of all its processes and threads.
usage() {
	local pid
	for pid in $(mount_processes "$1"); do
		awk '{ sub(/.*\) /, ""); ticks += $12 + $13 } END { print ticks + 0, 0 }' \
			"/proc/$pid/stat"
		awk '$1 == "voluntary_ctxt_switches:" { n += $2 } END { print 0, n + 0 }' \
			"/proc/$pid/task/"*/status
	done | awk '{ ticks += $1; switches += $2 } END { print ticks + 0, switches + 0 }'
}

# left_alone WHAT: a tick may be complete now of which most was used before: one of
# three times there must be none. But each time there may only be so many wake-ups.
left_alone() {
	local try before after ticks
	for try in 1 2 3; do
		before=$(usage "$mnt")
		sleep "$seconds"
		after=$(usage "$mnt")
		at_most "$((${after#* } - ${before#* }))" "$seconds" \
			"$1: at most one wake-up a second (time $try)"
		ticks=$((${after% *} - ${before% *}))
		[ "$ticks" -eq 0 ] && break
	done
	at_least "${after#* }" 1 "$1: its threads were found"
	is "$ticks" 0 "$1: no tick in $seconds seconds"
}

# idle WHAT OPTIONS: mounted, read, and left alone.
idle() {
	local what=$1
	shift
	mount_ok "$what: mounted" "$@" "$work/data.tar" "$mnt" || return
	check "$what: read" cmp "$mnt/numbers" "$work/tree/numbers"
	ioctls "$mnt/numbers" 2000
	ok $? "$what: 2000 requests that wait for nothing"
	# what it has to finish after the last request
	sleep 3
	left_alone "$what"
	check "$what: read again" cmp "$mnt/more" "$work/tree/more"
	ioctls "$mnt/more" 200
	ok $? "$what: and asked again"
	umount_ok "$mnt" "$what: unmounted"
}

# The mount must have reached the daemon with each of them.
counted() {
	local before
	mount_ok "counted: mounted" -o shield=off "$work/data.tar" "$mnt" || return
	before=$(requests "$mnt")
	ioctls "$mnt/numbers" 500
	at_least "$(request_change fuse_ioctl "$before" "$(requests "$mnt")")" 500 \
		"counted: 500 ioctls are 500 requests"
	umount_ok "$mnt" "counted: unmounted"
}

# device_of MOUNTPOINT: major:minor, as the mount table has it.
device_of() {
	awk -v where="$1" '$5 == where && / fuse.granaryfs / { print $3 }' /proc/self/mountinfo
}

reads_ahead() {
	local value
	is_root || return 0
	mount_ok "read-ahead: mounted" -o shield=off "$work/data.tar" "$mnt" || return
	value=/sys/class/bdi/$(device_of "$mnt")/read_ahead_kb
	if [ -w "$value" ]; then
		is "$(cat "$value")" 512 "read-ahead: raised"
	else
		skip "there is no $value" "read-ahead: raised"
	fi
	umount_ok "$mnt" "read-ahead: unmounted"
}

mkdir "$work/tree"
seq 100000 >"$work/tree/numbers"
seq 100000 -1 1 >"$work/tree/more"
tar -C "$work/tree" -cf "$work/data.tar" .
# without the shield, which answers the ioctls itself
idle "adaptive" -o shield=off
idle "spin=0" -o shield=off,spin=0
idle "spin=10000" -o shield=off,spin=10000
counted
reads_ahead
finish
