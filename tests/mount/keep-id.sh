#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# A mount in a container of rootless Podman with --userns=keep-id. The runtime there is the
# container's root, which is a subordinate id: it has to look at what it binds.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar setpriv timeout mount

one=games
id "$one" >"$work/id" 2>&1 || lacking "there is no user $one"
uid=$(id -u "$one")
gid=$(id -g "$one")
two=daemon
inside=$work/inside
options="user=$one,allow_other,uid=$uid,gid=$gid,umask=077"

public_programs
mkdir "$work/tree" "$inside"
echo hello >"$work/tree/file"
tar -C "$work/tree" -cf "$work/a.tar" file
chown "$uid:$gid" "$work/a.tar"

start() {
	watch_mount "$mnt"
	timeout 60 "$work/programs/granaryfs" -o "index=off,$1" "$work/a.tar" "$mnt"
	is $? 0 "$1: mounted"
}

# contained COMMAND: in a container, with the mount bound to $inside.
contained() {
	timeout 30 "$python" "$abs_top_srcdir/tests/mount/keep_id.py" "$uid" "$gid" \
		sh -c 'mount --bind "$1" "$2" && cd / && shift 2 && eval "$1"' sh \
		"$mnt" "$inside" "$1" 2>"$work/said"
}

by_default() {
	start "user=$one"
	refuse "by default: the container's root may not look at it" \
		contained "stat '$inside/file'"
	grep -q "Permission denied" "$work/said"
	ok $? "by default: as Podman says" || diag "$(cat "$work/said")"
	leave_mount "$mnt"
}

with_options() {
	start "$1"
	check "$1: the container's root may look at it" contained "stat '$inside' '$inside/file'"
	is "$(contained "setpriv --reuid=$uid --regid=$gid --clear-groups cat '$inside/file'")" \
		hello "$1: the user reads in the container"
	is "$(setpriv --reuid="$uid" --regid="$gid" --clear-groups cat "$mnt/file")" hello \
		"$1: the user reads outside"
	refuse "$1: another user does not" \
		setpriv --reuid="$(id -u "$two")" --regid="$gid" --clear-groups ls "$mnt/"
	leave_mount "$mnt"
	wait_until 20 no_daemon "$mnt"
	ok $? "$1: the process ended"
}

by_default
with_options "$options"
with_options "$options,shield=off"
finish
