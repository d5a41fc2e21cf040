#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# A mount that cannot be made says why in one line, and the remedy with it: what a node or
# a container lacks, as granary doctor has it.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar setpriv unshare timeout
helper=$(command -v fusermount3) || lacking "fusermount3 is not installed"
box=$work/box

make_box() {
	mkdir "$work/tree" "$box" "$box/mnt"
	echo hello >"$work/tree/file"
	tar -C "$work/tree" -cf "$box/a.tar" file
	cp "$helper" "$box/plain"
	chmod 755 "$box/plain" "$box"
	chmod 644 "$box/a.tar"
	chmod 777 "$box/mnt"
	: >"$box/nothing"
	mknod -m 666 "$box/fuse" c 10 229
	mknod -m 600 "$box/closed" c 10 229
	public_programs
}

# says WORDS DESCRIPTION SETUP [-o OPTIONS] -- COMMAND...: in a mount namespace in which
# SETUP was done, COMMAND runs granaryfs, which must end with 32 and one such line.
says() {
	local words=$1 what=$2 setup=$3 options=index=off
	shift 3
	if [ "$1" = -o ]; then
		options+=,$2
		shift 2
	fi
	shift
	# shellcheck disable=SC2016  # the inner shell expands it
	unshare -m sh -c 'mount --bind "$1/fuse" /dev/fuse && eval "$2" && shift 2 && exec "$@"' \
		sh "$box" "$setup" timeout 60 "$@" "$work/programs/granaryfs" \
		-o "$options" "$box/a.tar" "$box/mnt" >"$work/said" 2>&1
	is $? 32 "$what: status"
	is "$(wc -l <"$work/said")" 1 "$what: one line" || diag "$(cat "$work/said")"
	grep -q -F -- "$words" "$work/said"
	ok $? "$what: the remedy" || diag "$(cat "$work/said")"
}

users() {
	says "ask for the package fuse3, or use granary run" "fusermount3 cannot be run" \
		"mount --bind $box/nothing $helper" -- "${nobody[@]}"
	says "granary doctor says which; granary run does without it" \
		"fusermount3 is not set-uid" "mount --bind $box/plain $helper" -- "${nobody[@]}"
	says "granary doctor says which; granary run does without it" "no_new_privs" true -- \
		"${nobody[@]}" setpriv --no-new-privs
	says "ask for that line, or leave allow_other away" "user_allow_other" \
		"mount --bind $box/nothing /etc/fuse.conf" -o allow_other -- "${nobody[@]}"
	says "or ask for a higher mount_max" "mount_max" \
		"echo mount_max=0 >$box/conf && mount --bind $box/conf /etc/fuse.conf" -- \
		"${nobody[@]}"
	says "mount at a directory of your own" "another's mount point" \
		"mount -t tmpfs -o mode=755 none $box/mnt" -- "${nobody[@]}"
	says "ask for its mode to be 0666" "/dev/fuse is root's" \
		"mount --bind $box/closed /dev/fuse" -- "${nobody[@]}"
	says "only root may label a mount" "a label" true -o context=a_u:b_r:c_t:s0 -- "${nobody[@]}"
}

root() {
	says "use granary run, or start the container with that capability (--cap-add SYS_ADMIN)" \
		"root without CAP_SYS_ADMIN" true -- \
		setpriv --inh-caps=-sys_admin --bounding-set=-sys_admin
	says "pass the device into the container (--device /dev/fuse)" "no /dev/fuse" \
		"umount /dev/fuse && mount -t tmpfs none /dev" --
	says "is no device; ask for: mknod /dev/fuse c 10 229" "a file as /dev/fuse" \
		"umount /dev/fuse && mount --bind $box/nothing /dev/fuse" --
	"$granary" index --output "$box/a.gidx" "$box/a.tar" >/dev/null
	# the address sanitizer has words of its own for that
	grep -q -a __asan_init "$granaryfs" ||
		says "/proc is not mounted; ask for: mount -t proc none /proc" "no /proc" \
			"mount -t tmpfs none /proc" -o "index=$box/a.gidx" --
	if [ -e /sys/fs/selinux/enforce ]; then
		skip "this kernel has SELinux" "a label without SELinux"
	else
		says "this kernel has no SELinux, or it is disabled: leave the option out" \
			"a label without SELinux" true -o 'context="a_u:b_r:c_t:s0\,c1"' --
	fi
}

# In namespaces of their own: a mount there would be in everybody's way.
system_directories() {
	local place
	for place in / /proc /sys /dev /..; do
		# timeout must not be process 1: that of coreutils 9.10 gives up then
		timeout -k 5 60 unshare --mount --pid --fork --kill-child --mount-proc \
			bash -c 'timeout -k 5 20 "$@"; exit "$?"' in-namespace \
			"$granaryfs" -o index=off "$box/a.tar" "$place" >"$work/said" 2>&1
		is $? 32 "a mount at $place: status"
		grep -q "cannot be a mount point, since .* make a directory for it" "$work/said"
		ok $? "a mount at $place: the remedy" || diag "$(cat "$work/said")"
	done
}

wrong_labels() {
	local label
	for label in '' '""' 'a"b' 'a\\b'; do
		timeout 20 "$granaryfs" -o "context=$label" "$box/a.tar" "$mnt" >"$work/said" 2>&1
		is $? 1 "context=$label: status"
		grep -q -i "label" "$work/said"
		ok $? "context=$label: said" || diag "$(cat "$work/said")"
	done
	timeout 20 "$granaryfs" -o "context=a:b:c,shield=on" "$box/a.tar" "$mnt" >"$work/said" 2>&1
	is $? 1 "context= and shield=on"
}

make_box
if [ -u "$helper" ]; then
	users
else
	skip "fusermount3 is not set-uid root" "what users are told"
fi
root
wrong_labels
system_directories
finish
