# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# mounts.sh: what a guest does: each kind of mount, of each format, with everything that
# must hold in it. Run by `boot`; /data has what tests/kernels/run made.
# shellcheck source=tests/kernels/guest_lib.sh
. /data/guest_lib.sh

mnt=/mnt/data
looked='same_root same_names same_bytes same_epoch'

# mount_as USER KIND OPTIONS SOURCE: as a user does, who waits for the mount.
mount_as() {
	log=$(mktemp -u /tmp/log.XXXXXX)
	check "$2: mounted" as "$1" timeout -k 5 60 granaryfs -o "$3,log=$log" "$4" "$mnt" &&
		return
	diag "$(tail -n 5 "$log")"
	return 1
}

# unmounted USER KIND
unmounted() {
	local umount=umount
	[ "$1" = root ] || umount='fusermount3 -u'
	# shellcheck disable=SC2086  # two words
	check "$2: unmounted" as "$1" $umount "$mnt"
	check "$2: the daemon ended" wait_until 10 has_ended
	all_is_over "$2"
}

# Nor did a server die but the one that was killed.
has_ended() {
	grep -q 'the filesystem has ended' "$log" && no_processes &&
		[ "$(grep -c 'the server (process' "$log")" = 1 ]
}

all_is_over() {
	check "$1: nothing is left" nothing_left
	diag "$1: at $SECONDS seconds"
	check "$1: no error in the kernel's log" kernel_is_silent
	dmesg --level emerg,alert,crit,err >/tmp/said-before
}

# try KIND MOUNTER LOOKER OPTIONS SOURCE [READER]: of a mount at a mount point, once READER
# has read.
try() {
	local kind=$1 mounter=$2 looker=$3
	mount_as "$mounter" "$kind" "$4" "$5" || return
	[ $# -lt 6 ] || check "$kind: $6" "$6"
	# shellcheck disable=SC2086  # names are words
	tell "$kind" < <(as "$looker" bash -c '. /data/guest_lib.sh; looks "$@"' - $mnt $looked)
	tell "$kind" < <(next_server_for "$looker")
	report_front "$kind"
	unmounted "$mounter" "$kind"
}

# gets_a_shield: opens files as Python before 3.14 does, with a question if each is a
# terminal, until there is a shield.
gets_a_shield() {
	local file end=$((SECONDS + 30))
	until grep -q " $mnt overlay " /proc/mounts; do
		[ $SECONDS -lt $end ] || return 1
		for file in $mnt/many/*; do
			! [ -t 3 ] 3<"$file" || return 1
		done
	done
}

# next_server_for USER: root ends the server; what the user then sees is looked at.
next_server_for() {
	local before
	before=$(server | head -n 1)
	kill -KILL "$before"
	echo 3 >/proc/sys/vm/drop_caches
	as "$1" bash -c '. /data/guest_lib.sh; looks "$@"' - $mnt same_root same_epoch |
		sed 's/^looked .*/& after SIGKILL of the server/'
	another_server "$before"
	echo "looked $? another server"
}

# try_run KIND USER SOURCE: by granary run, which shows a mount to its command alone.
try_run() {
	local kind=$1 user=$2
	rm -f /tmp/front
	tell "$kind" < <(cd /home/user1 && as "$user" granary run "$3:here" -- \
		bash -c '. /data/guest_lib.sh; looks here '"$looked"' next_server
			grep " $PWD/here " /proc/mounts >/tmp/front' 2>&1)
	report "$kind" "$(front_of /tmp/front)"
	all_is_over "$kind"
}

# report_front KIND: what the mount table and the log say of the front.
report_front() {
	grep " $mnt " /proc/mounts >/tmp/front
	report "$1" "$(front_of /tmp/front)"
	report "$1 log" "$(grep -o -E '(without the )?shield.*' "$log" | head -n 1)"
}

# front_of FILE: lines of the mount table. A data-only layer has two colons before it, or,
# since Linux 6.13, an option of its own.
front_of() {
	case $(tail -n 1 "$1") in
	overlay* | granaryfs*' overlay '* | *' overlay '*lowerdir*)
		if grep -q -E '::|datadir' "$1"; then
			echo 'overlay, data-only root'
		else
			echo 'overlay, merged root'
		fi
		;;
	*' fuse.granaryfs '*) echo bare ;;
	*) echo none ;;
	esac
}

# ---- What the kernel gives ----------------------------------------------------

# terms: of .granaryfs/config, once a name was looked up; and what doctor says.
terms() {
	mount_as root "what the kernel agreed to" shield=off,prefetch=off /data/d.tar || return
	sed -n 's/^kernel[.]/# report /p' $mnt/.granaryfs/config
	cat $mnt/numbers >/dev/null
	report 'reads of numbers' "$(counter fuse_read)"
	report 'numbers' "$(stat -c %s $mnt/numbers)"
	report 'read_ahead_kb' "$(cat "/sys/class/bdi/0:$(stat -c %Ld $mnt)/read_ahead_kb")"
	check "what the kernel agreed to: unmounted" umount $mnt
	wait_until 10 no_processes
	report doctor "$(granary doctor | sed -n 's/^[a-z]*  *kernel  *//p')"
}

# counter NAME
counter() {
	sed -n "s/^$1 *\([0-9]*\) .*/\1/p" $mnt/.granaryfs/stats
}

# pushes: does the kernel take pages before they are asked for?
pushes() {
	mount_as root "pages are pushed" shield=off,prefetch=sweep /data/d.tar || return
	check "pages are pushed: by a sweep" wait_until 20 has_pushed
	report 'pushed files' "$(counter pushed_files)"
	report 'reads after' "$(before=$(counter fuse_read)
		cat $mnt/numbers $mnt/many/* >/dev/null
		echo $(($(counter fuse_read) - before)))"
	check "pages are pushed: unmounted" umount $mnt
	wait_until 10 no_processes
}

has_pushed() {
	[ "$(counter pushed_files)" -ge 150 ]
}

prepare() {
	mkdir -p $mnt /home/user1/here
	cp /data/d.sqfs /data/d.tar /home/user1/
	chown -R user1:user1 /home/user1 $mnt
	dmesg --level emerg,alert,crit,err >/tmp/said-before
}

prepare
report kernel "$kernel"
terms
pushes
try 'bare, tar' root root shield=off /data/d.tar
try 'bare, HDF5' root root shield=off /data/d.h5
try 'allow_other, tar' root user1 allow_other,shield=early /data/d.tar
try 'allow_other, squashfs' root user1 allow_other,shield=early /data/d.sqfs
try 'shield=on, HDF5' root user1 allow_other,shield=on /data/d.h5
try 'user=, squashfs' root user1 user=user1 /home/user1/d.sqfs
try 'fusermount3, tar' user1 user1 shield=auto /home/user1/d.tar
try_run 'granary run as root, HDF5' root /data/d.h5
try_run 'granary run as a user, tar' user1 /home/user1/d.tar
# Linux 6.12 moves nothing beneath a mount on the guest's initial file system
mount -t tmpfs none /mnt && mkdir -p $mnt
try 'shield=auto, tar' root user1 allow_other,shield=auto /data/d.tar gets_a_shield
finish
