#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A mount that a container's runtime has made and passed on as /dev/fd/N, as Apptainer does for
# --fusemount: in the foreground and as a daemon, by root and by another user.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar timeout
need_python ctypes
passed=$abs_top_srcdir/tests/mount/passed_mount.py

# passes UID GID ARGUMENT...: a mount at $mnt, in the background. Sets $runtime.
passes() {
	local uid=$1 gid=$2
	shift 2
	"$python" "$passed" "$uid" "$gid" "$mnt" "$work/programs/granaryfs" "$@" \
		"$work/t.tar" >"$work/said" 2>&1 </dev/null &
	runtime=$!
	started+=("$runtime")
	watch_mount "$mnt"
}

shows() {
	check "$1: the tree" wait_until 20 timeout -k 5 20 diff -r "$work/tree" "$mnt"
}

ends() {
	check "$1: unmounted" timeout -k 5 20 umount "$mnt"
	wait_until 20 no_server
	ok $? "$1: no process is left"
}

no_server() {
	! program_runs "$work/programs/granaryfs"
}

foreground() {
	passes "$1" "$2" -f
	shows "$3"
	check "$3: it is there while it is mounted" kill -0 "$runtime"
	ends "$3"
	wait "$runtime"
	is $? 0 "$3: its status"
}

daemonized() {
	passes "$1" "$2"
	wait "$runtime"
	is $? 0 "$3: it has gone into the background" || diag "$(cat "$work/said")"
	shows "$3"
	ends "$3"
}

# A source that is refused: the runtime learns it, and readers get an error, not a hang.
refused() {
	echo text >"$work/t.tar"
	passes 0 0 -f
	wait "$runtime"
	is $? 3 "no dataset: the status"
	timeout -k 5 20 ls "$mnt" >/dev/null 2>"$work/error"
	is $? 2 "no dataset: readers get an error"
	umount "$mnt"
}

make_tree() {
	mkdir -p "$work/tree/class"
	seq 1000 >"$work/tree/class/one"
	seq 99999 >"$work/tree/class/two"
	tar -C "$work/tree" -cf "$work/t.tar" .
	chmod 644 "$work/t.tar"
}

make_tree
public_programs
foreground 0 0 "root, in the foreground"
daemonized 0 0 "root, as a daemon"
foreground 65534 65534 "a user, in the foreground"
daemonized 65534 65534 "a user, as a daemon"
refused
finish
