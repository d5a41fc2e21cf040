#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Automounts: the kernel's autofs lets only the automounter's process group through while
# a mount is made. autofs(5)'s automounter, and a program that does what systemd's
# .automount units do; bare and shielded.

# A mount namespace of its own, with everything private: no automounter of the machine
# sees what is mounted here.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need automount mount.fuse3 setsid tar timeout unshare
grep -q -x $'nodev\tautofs' /proc/filesystems || modprobe autofs4 2>/dev/null ||
	lacking "this kernel has no autofs"
helpers=$abs_top_srcdir/tests/mount

make_archives() {
	mkdir -p "$work/tree/directory"
	echo contents >"$work/tree/file"
	echo more >"$work/tree/directory/other"
	tar -C "$work/tree" -cf "$work/t.tar" .
	cp "$work/t.tar" "$work/new.tar"
	"$granary" index "$work/t.tar" >/dev/null || bail "no index"
	chmod a+r "$work"/*.tar*
}

# mount(8) and the automounter look for programs in the system's directories only.
install_program() {
	mkdir "$work/bin"
	ln -s "$granaryfs" "$work/bin/granaryfs"
	mount --bind "$work/bin" /usr/local/bin || bail "no place for the program"
	at_exit umount -l /usr/local/bin
}

# ---- The kernel's autofs, as a systemd.automount unit uses it -------------------------------

# automounted DESCRIPTION TYPE KIND COMMAND...: the mount is made while a process waits for
# it, and of that type.
automounted() {
	local description=$1 type=$2 kind=$3
	shift 3
	timeout -k 5 60 "$python" "$helpers/autofs.py" "$kind" "$mnt" "$@" >"$work/said" 2>&1
	is $? 0 "$description: the automounter is through"
	is "$(grep -E '^(status|type|listed) ' "$work/said" | tr '\n' ' ')" \
		"status 0 type $type listed directory file " "$description: mounted, and seen" ||
		diag "$(cat "$work/said")"
	at_most "$(awk '$1 == "milliseconds" { print $2 }' "$work/said")" 5000 \
		"$description: at once"
	no_process_left "$description"
}

no_process_left() {
	wait_until 20 no_daemon "$mnt" && wait_until 1 no_daemon "$mnt/name"
	ok $? "$1: no process is left"
}

kernels_autofs() {
	local kind
	for kind in direct indirect; do
		automounted "$kind, bare" fuse.granaryfs $kind "$granaryfs" "$work/t.tar" {}
		automounted "$kind, shielded" overlay $kind \
			"$granaryfs" -o allow_other,shield=on "$work/t.tar" {}
		automounted "$kind, in the foreground" overlay $kind \
			"$work/in-foreground" -o allow_other,shield=on "$work/t.tar" {}
		automounted "$kind, by mount(8)" overlay $kind \
			mount -t fuse.granaryfs -o ro,allow_other,shield=early "$work/t.tar" {}
	done
	automounted "swept" overlay direct \
		"$granaryfs" -o allow_other,shield=on,prefetch=sweep "$work/t.tar" {}
	automounted "not indexed" fuse.granaryfs direct "$granaryfs" "$work/new.tar" {}
	public_programs # nobody may have no way into the build directory
	automounted "for a user" fuse.granaryfs direct \
		"$work/programs/granaryfs" -o user=nobody,index=off,allow_other,shield=off "$work/t.tar" {}
	automounted "for a user, shielded" overlay direct \
		"$work/programs/granaryfs" -o user=nobody,index=off,allow_other,shield=on "$work/t.tar" {}
	automounted "on an older kernel" overlay direct "$without" beneath -- \
		setarch --uname-2.6 "$granaryfs" -o allow_other,shield=on "$work/t.tar" {}
}

# An automounter does not wait for a daemon in the foreground.
make_in_foreground() {
	cat >"$work/in-foreground" <<-END
	#!/bin/bash
	"$granaryfs" -f -o "notify_pipe=$work/fifo" "\$@" 2>/dev/null &
	[ "\$(timeout 15 head -c 1 "$work/fifo")" = s ]
	END
	chmod 755 "$work/in-foreground"
	mkfifo "$work/fifo"
}

# refused DESCRIPTION STATUS COMMAND...: nothing is mounted, and nobody hangs.
refused() {
	local description=$1 status=$2
	shift 2
	timeout -k 5 60 "$python" "$helpers/autofs.py" direct "$mnt" "$@" >"$work/said" 2>&1
	check "$description: said" grep -q -x "status $status" "$work/said"
	check "$description: nothing is mounted" grep -q -x "type autofs" "$work/said"
	refuse "$description: nobody hangs" grep -q "hangs" "$work/said"
	no_process_left "$description"
}

refused_mounts() {
	refused "no such file" 2 "$granaryfs" "$work/nowhere.tar" {}
	refused "no shield" 32 "$without" overlay -- \
		"$granaryfs" -o allow_other,shield=on "$work/t.tar" {}
}

# ---- autofs(5) ------------------------------------------------------------------------------

start_automounter() {
	mkdir "$work/auto"
	cat >"$work/master" <<-END
	$work/auto file:$work/indirect --timeout=3
	/- file:$work/direct --timeout=3
	END
	cat >"$work/indirect" <<-END
	bare -fstype=fuse.granaryfs,ro,shield=off :$work/t.tar
	shielded -fstype=fuse.granaryfs,ro,allow_other,shield=early :$work/t.tar
	END
	cat >"$work/direct" <<-END
	$work/direct-bare -fstype=fuse.granaryfs,ro,shield=off :$work/t.tar
	$work/direct-shielded -fstype=fuse.granaryfs,ro,allow_other,shield=early :$work/t.tar
	END
	(cd / && exec setsid automount -f -v -C -p "$work/automount.pid" "$work/master") \
		>"$work/automount.log" 2>&1 &
	automounter=$!
	at_exit end_automounter
	wait_until 20 is_autofs "$work/auto" && wait_until 20 is_autofs "$work/direct-shielded"
	ok $? "autofs: the automounter runs" || diag "$(cat "$work/automount.log")"
}

is_autofs() {
	grep -q -F " $1 autofs " /proc/mounts
}

# A waiting process is let go; a mount in use stays, and is detached.
end_automounter() {
	local place
	[ -n "$automounter" ] || return 0
	kill -TERM "$automounter"
	wait_until 10 process_gone "$automounter" || kill -KILL "$automounter"
	awk -v under="$work/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r |
		while read -r place; do
			umount -l "$place"
		done
	automounter=
} 2>/dev/null

# by_autofs DESCRIPTION PLACE TYPE
by_autofs() {
	timeout -k 5 15 ls -A "$2" >"$work/seen" 2>&1
	is "$? $(tr '\n' ' ' <"$work/seen")" "0 directory file " "$1: mounted when it is looked at" ||
		diag "$(tail -n 20 "$work/automount.log")"
	is "$(mount_lines "$2" | awk '{ print $3 }')" "$3" "$1: as $3"
	check "$1: and it is read" timeout -k 5 15 cmp "$work/tree/file" "$2/file"
}

# expired DESCRIPTION PLACE: the automounter unmounts what nobody uses, and mounts it again.
expired() {
	check "$1: unmounted when nobody uses it" wait_until 30 not_mounted "$2"
	check "$1: and its daemon has ended" wait_until 20 no_daemon "$2"
	check "$1: mounted again" timeout -k 5 15 cmp "$work/tree/file" "$2/file"
}

autofs() {
	start_automounter
	by_autofs "indirect map, bare" "$work/auto/bare" fuse.granaryfs
	by_autofs "indirect map, shielded" "$work/auto/shielded" overlay
	by_autofs "direct map, bare" "$work/direct-bare" fuse.granaryfs
	by_autofs "direct map, shielded" "$work/direct-shielded" overlay
	expired "indirect map" "$work/auto/shielded"
	expired "direct map" "$work/direct-shielded"
	end_automounter
	check "autofs: no daemon is left" wait_until 20 no_daemon "$work/auto/shielded"
	check "autofs: none of the direct map" wait_until 20 no_daemon "$work/direct-shielded"
}

# ---- Whose session it is -----------------------------------------------------------------------

session_of() {
	ps -o sid= -p "$1" | tr -d ' '
}

# Supervisor and server leave the caller's session: no terminal's signal reaches them.
sessions() {
	local pid server
	watch_mount "$mnt"
	check "a daemon: mounted" timeout -k 5 30 "$granaryfs" "$work/t.tar" "$mnt"
	pid=$(daemon_pids "$mnt" | head -n 1)
	server=$(server_pid "$mnt")
	is "$(session_of "$pid")" "$pid" "a daemon: has a session of its own"
	refuse "a daemon: its server is not in the caller's" [ "$(session_of "$server")" = \
		"$(session_of $$)" ]
	kill -KILL "$server"
	check "a daemon: nor is the next server" wait_until 10 next_server "$server"
	refuse "a daemon: nor is that in the caller's" [ "$(session_of "$(server_pid "$mnt")")" = \
		"$(session_of $$)" ]
	check "a daemon: unmounted" umount "$mnt"
	no_process_left "a daemon"
}

# Until it is told that the mount answers, the daemon is in the launcher's process group.
# Storage that hangs while the shield is tried makes that long. Sets $launcher.
launch_job() {
	GRANARY_FAULTS="kind=late,path=t.tar,from=$(($(identified "$work/t.tar") + 1)),ms=8000" setsid "$python" -c 'import os, signal, sys
for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(n, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$granaryfs" -o allow_other,shield=early "$work/t.tar" "$mnt" 2>"$work/said" &
	launcher=$!
	started+=("$launcher")
	wait_until 10 is_mounted "$mnt"
	ok $? "$1: the mount is being made"
}

terminal_signals() {
	local sound=$granaryfs signal
	mkdir "$work/faulty"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
	granaryfs=$work/faulty/granaryfs
	for signal in INT HUP TERM; do
		launch_job "$signal to the job"
		kill -s "$signal" -- "-$launcher"
		wait "$launcher"
		is "$(kill -l $?)" "$signal" "$signal to the job: ends it"
		check "$signal to the job: and the mount" not_mounted "$mnt"
		no_process_left "$signal to the job"
	done
	launch_job "TSTP to the job"
	kill -s TSTP -- "-$launcher"
	wait_until 20 is_shielded "$mnt"
	ok $? "TSTP to the job: the daemon goes on"
	kill -s CONT -- "-$launcher"
	wait "$launcher"
	is $? 0 "TSTP to the job: and then the launcher"
	check "TSTP to the job: unmounted" timeout -k 5 20 "$granary" umount --force "$mnt"
	no_process_left "TSTP to the job"
	granaryfs=$sound
}

next_server() {
	local now
	now=$(server_pid "$mnt") && [ -n "$now" ] && [ "$now" != "$1" ]
}

leave_others
make_archives
make_in_foreground
install_program
kernels_autofs
refused_mounts
autofs
sessions
terminal_signals
finish
