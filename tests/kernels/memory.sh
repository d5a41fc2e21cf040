# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# memory.sh: four mounts of four archives each in a control group (v2) with less memory than
# the archives have. Pages and daemons are charged to the group, and no process of it may be
# killed. Run by hand, as it takes minutes:
#
#	tests/kernels/boot newest tests/kernels/memory.sh tests/kernels/guest_lib.sh
# shellcheck source=tests/kernels/guest_lib.sh
. /data/guest_lib.sh

group=/sys/fs/cgroup/job
most=128 # MiB; the archives have 160 MB

# little_memory MIB
little_memory() {
	mount -t cgroup2 none /sys/fs/cgroup &&
		echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$group" &&
		echo "$1M" >"$group/memory.max"
}

# make_photos DIRECTORY NUMBER: twenty files of 500 kB, and the archive of them.
make_photos() {
	local i
	mkdir -p "$1/$2"
	for i in {1..20}; do
		head -c 500000 /dev/urandom >"$1/$2/$i.jpg"
	done
	tar -C "$1" -cf "/tmp/four-$(($2 % 4))-$2.tar" "$2"
}

# read_in_group SUM: mounts, and two epochs of two processes for each mount.
read_in_group() {
	local i
	echo $BASHPID >$group/cgroup.procs
	for i in 0 1 2 3; do
		mkdir -p /mnt/four/$i
		granaryfs -o shield=off,index=off /tmp/four-$i-*.tar /mnt/four/$i || return
	done
	for i in 1 2; do
		epochs
		[ "$(cat /mnt/four/[0-3]/*/* | cksum)" = "$1" ] || return
	done
}

epochs() {
	local i readers=()
	for i in 0 1 2 3; do
		find /mnt/four/$i -name '*.jpg' >/tmp/list-$i
		read-all -c /tmp/list-$i "$RANDOM" 2 >/dev/null &
		readers+=($!)
	done
	wait "${readers[@]}"
}

dmesg --level emerg,alert,crit,err >/tmp/said-before
check "a control group" little_memory $most
for i in {1..16}; do
	make_photos /tmp/four/$((i % 4)) "$i"
done
sums=$(cat /tmp/four/[0-3]/*/* | cksum)
rm -rf /tmp/four
(read_in_group "$sums")
ok $? "all files of four mounts are right, twice"
report 'memory at most' "$(cat $group/memory.peak 2>/dev/null || echo '?') of $((most << 20))"
report 'reclaimed pages' "$(sed -n 's/^pgsteal //p' $group/memory.stat)"
check "no process was killed for memory" grep -q -x 'oom_kill 0' $group/memory.events
check "unmounted" umount /mnt/four/{0,1,2,3}
rm -f /tmp/four-*
check "nothing is left" nothing_left
check "no error in the kernel's log" kernel_is_silent
finish
