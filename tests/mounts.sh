# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# mounts.sh: the part of lib.sh that mounts, unmounts, and finds the processes of a mount.
# Sourced by it.

# A poll starts no process: a hundred of them a second is more than a busy machine
# has time for. Tables of the kernel are read in one go (mapfile): `read` seeks back
# after each line, and lines are lost where others come and go meanwhile.

# mount_lines MOUNTPOINT: the granaryfs there, as /proc/mounts has them, bare or shielded.
# Fails where there is none.
mount_lines() {
	local line lines fields status=1
	mapfile -t lines </proc/mounts
	for line in "${lines[@]}"; do
		IFS=' ' read -r -a fields <<<"$line"
		[ "${fields[1]}" = "$1" ] || continue
		case ${fields[2]}:${fields[3]} in
		fuse.granaryfs:* | overlay:*/granaryfs@[0-9]*)
			printf '%s\n' "$line"
			status=0
			;;
		esac
	done
	return $status
}

is_mounted() {
	mount_lines "$1" >/dev/null
}

is_shielded() {
	[[ $(mount_lines "$1") == */granaryfs@[0-9]* ]]
}

not_mounted() {
	! is_mounted "$1"
}

# leave_mount MOUNTPOINT: unmounts as this user can.
leave_mount() {
	if is_root; then
		umount "$1"
	else
		fusermount3 -u "$1"
	fi
}

# umount_lazily: takes $mnt out of the tree; who is in it has it on.
umount_lazily() {
	if is_root; then umount -l "$mnt"; else fusermount3 -u -z "$mnt"; fi
}

force_umount() {
	is_mounted "$1" || return 0
	leave_mount "$1" 2>/dev/null && return 0
	# Last resort: a test failed with a file open.
	if is_root; then umount -l "$1"; else fusermount3 -u -z "$1"; fi
} 2>/dev/null

# watch_mount MOUNTPOINT: unmount it at the end, if it is still there.
watch_mount() {
	mounts+=("$1")
}

# granary_mount [OPTIONS] SOURCE... MOUNTPOINT: granaryfs in the foreground of a
# background process, so that its log and its status can be seen. Returns when
# the mount is there.
granary_mount() {
	local where=${!#} log
	log=$(mktemp "$work/log.XXXXXX")
	[ -d "$where" ] || mkdir -p "$where"
	"$granaryfs" -f "$@" >/dev/null 2>"$log" &
	mount_pid[$where]=$!
	mount_log[$where]=$log
	started+=("$!")
	watch_mount "$where"
	if wait_until "${MOUNT_SECONDS:-30}" mounted_or_gone "$where" &&
		is_mounted "$where" && settled "$where" "$@"; then
		return 0
	fi
	echo "granaryfs -f $* did not mount:"
	cat "$log"
	return 1
}

# settled MOUNTPOINT ARGUMENTS: a mount may get its shield a moment after it is there. It
# takes signals when that is done.
settled() {
	local IFS=' '
	case "$*" in
	*allow_other* | *shield=on*) requests "$1" >/dev/null ;;
	esac
}

mounted_or_gone() {
	is_mounted "$1" || process_gone "${mount_pid[$1]}"
}

# mount_ok DESCRIPTION ARGUMENTS: granary_mount as a test point. Not `check`:
# that runs its command in a subshell, and what is started has to be remembered.
mount_ok() {
	local description=$1
	shift
	granary_mount "$@" >"$work/mount-output" 2>&1
	ok $? "$description" && return 0
	diag "$(head -n 20 "$work/mount-output")"
	return 1
}

# granary_umount MOUNTPOINT: unmounts, waits for the daemon, returns its status.
granary_umount() {
	local where=$1 pid=${mount_pid[$1]}
	leave_mount "$where" || return 1
	daemon_status "$pid" "$where"
}

# held_elsewhere MOUNTPOINT: was a mount namespace made while it was mounted? That
# has a copy, which our umount does not reach, and the daemon serves it on.
held_elsewhere() {
	grep -l -F -- " $1 " /proc/[0-9]*/mountinfo 2>/dev/null | grep -q .
}

# daemon_gone PID MOUNTPOINT: after an unmount, does the process end?
daemon_gone() {
	wait_until 20 process_gone "$1" && return 0
	held_elsewhere "$2" || return 1
	kill -TERM "$1"
	wait_until 20 process_gone "$1"
}

daemon_status() {
	local pid=$1 where=$2 status
	if ! daemon_gone "$pid" "$where"; then
		echo "granaryfs (process $pid) did not end"
		return 1
	fi
	wait "$pid"
	status=$?
	no_server_died "${mount_log[$where]}" || return 1
	[ "$status" -eq 0 ] && return 0
	echo "granaryfs ended with status $status; its log:"
	tail -n 20 "${mount_log[$where]}"
	return "$status"
}

# no_server_died LOG: a supervisor hides what must not happen; its log tells it. Tests
# that kill servers set servers_may_die.
servers_may_die=
no_server_died() {
	[ -n "$servers_may_die" ] || ! grep -a -F ": the server (process " "$1"
}

# umount_ok MOUNTPOINT [DESCRIPTION]
umount_ok() {
	granary_umount "$1" >"$work/umount-output" 2>&1
	ok $? "${2:-unmounted, and the daemon ended with 0}" && return 0
	diag "$(head -n 40 "$work/umount-output")"
	return 1
}

# daemon_pids MOUNTPOINT: the supervisor of this mount (and of others there): of the
# processes that were started with the mount point those that no other one started.
daemon_pids() {
	local pid parent all
	all=" $(mount_processes "$1" | tr '\n' ' ')"
	for pid in $all; do
		is_server "$pid" || is_named "$pid" granaryfs-log || is_named "$pid" granaryfs-trace &&
			continue
		parent=$(parent_of "$pid") || continue
		case $all in *" $parent "*) ;; *) echo "$pid" ;; esac
	done
}

# server_pid MOUNTPOINT: the process that answers its requests, now.
server_pid() {
	local supervisor pid children
	supervisor=$(daemon_pids "$1" | head -n 1)
	children=$(cat "/proc/${supervisor:-none}/task/"*/children 2>/dev/null)
	for pid in $children; do
		is_server "$pid" && echo "$pid"
	done
}

has_server() {
	[ -n "$(server_pid "$mnt")" ]
}

# is_server PID
is_server() {
	is_named "$1" granaryfs-serve
}

# is_named PID NAME
is_named() {
	local name
	{ read -r name <"/proc/$1/comm"; } 2>/dev/null && [ "$name" = "$2" ]
}

# log_writer MOUNTPOINT: the process that writes its log.
log_writer() {
	local pid
	for pid in $(mount_processes "$1"); do
		is_named "$pid" granaryfs-log && echo "$pid"
	done
}

# parent_of PID: fails when it has ended, also when nobody has asked how.
parent_of() {
	local line lines=()
	mapfile -t lines <"/proc/$1/status"
	for line in "${lines[@]}"; do
		case $line in
		State:*Z*) return 1 ;;
		PPid:*)
			echo "${line##*[[:space:]]}"
			return 0
			;;
		esac
	done
	return 1
} 2>/dev/null

# mount_processes MOUNTPOINT: all that were started with it.
mount_processes() {
	local directory name word words
	for directory in /proc/[0-9]*; do
		read -r name <"$directory/comm" || continue
		case $name in granaryfs*) ;; *) continue ;; esac
		[ "$directory/exe" -ef "$granaryfs" ] ||
			[ "$directory/exe" -ef "$work/programs/granaryfs" ] || continue
		words=()
		mapfile -d '' -t words <"$directory/cmdline"
		for word in "${words[@]}"; do
			[ "$word" != "$1" ] || {
				echo "${directory#/proc/}"
				break
			}
		done
	done
	return 0
} 2>/dev/null

# program_runs PATH: does any process run it? Nothing is asked of the process itself: the
# arguments of one that hangs, another test's perhaps, cannot be read.
program_runs() {
	find /proc -maxdepth 2 -name exe -lname "$1*" 2>/dev/null | grep -q .
}

# no_format_library MOUNTPOINT: no process of the mount has one, so that no read can call it.
no_format_library() {
	local pid
	for pid in "${mount_pid[$1]}" "$(server_pid "$1")"; do
		grep -q libfuse3 "/proc/$pid/maps" || return 1
		! grep -E 'lib(hdf5|archive|squashfuse)' "/proc/$pid/maps" || return 1
	done
}

# Neither supervisor nor server.
no_daemon() {
	[ -z "$(mount_processes "$1")" ]
}

# says_dead PATH: that its mount is. What is on the way when it dies is ECONNABORTED.
says_dead() {
	LC_ALL=C stat --cached=never "$1" 2>&1 | grep 'endpoint is not connected'
}

# memory_directory: sets $memory to a directory for what is compared with: what waits for
# storage is to be the mount.
memory_directory() {
	memory=$work/trees
	if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && [ -w /dev/shm ]; then
		memory=$(mktemp -d /dev/shm/granaryfs-test.XXXXXX)
		at_exit rm -rf "$memory"
	else
		mkdir "$memory"
	fi
}

# leave_others: what others had mounted when the namespace was made it must not hold.
leave_others() {
	local path
	# shellcheck disable=SC2059  # the table's octal escapes
	while read -r path; do
		umount -l "$(printf "${path//%/%%}")"
	done < <(awk '$3 ~ /^fuse[.]/ || /[/]granaryfs@/ { print $2 }' /proc/mounts)
	mount -t fusectl none /sys/fs/fuse/connections 2>/dev/null || true
}
