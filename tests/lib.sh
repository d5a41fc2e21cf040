# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# lib.sh: what every mount test uses. Sourced by bash scripts.
#
# A test prints TAP: `check`, `refuse`, `is` and `skip` count, `finish` prints
# the plan. Everything that a test starts, mounts or writes is undone when it
# ends, however it ends. What is missing is a failure where everything has to
# be there (CI=true or GRANARY_REQUIRE_ALL=1), and a skip that says so elsewhere.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
abs_top_srcdir=${abs_top_srcdir:-$here}
abs_top_builddir=${abs_top_builddir:-$PWD}
fixtures=$abs_top_srcdir/tests/fixtures
granaryfs=$abs_top_builddir/granaryfs
granary=$abs_top_builddir/granary
# shellcheck disable=SC2034  # for the scripts that source this
read_all=$abs_top_builddir/tests/bin/read-all
# shellcheck disable=SC2034
hammer=$abs_top_builddir/tests/bin/hammer
# shellcheck disable=SC2034
kill_servers=$abs_top_builddir/tests/bin/kill-servers
# shellcheck disable=SC2034
without=$abs_top_builddir/tests/bin/without
# Debian's own: PyTorch is installed for it, and for no other python3 in PATH.
python=${PYTHON:-/usr/bin/python3}
PATH=$abs_top_builddir:$PATH

tap_count=0
tap_failed=0
started=()    # process ids
mounts=()     # mount points
cleanups=()   # commands, run last to first
declare -A mount_pid mount_log

# ---- TAP ------------------------------------------------------------------

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# ok STATUS DESCRIPTION: one test point.
ok() {
	local status=$1
	shift
	tap_count=$((tap_count + 1))
	if [ "$status" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_count" "$*"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$*"
	return 1
}

# check DESCRIPTION COMMAND...: the command must succeed; else its output is shown.
check() {
	local description=$1 output status
	shift
	output=$("$@" 2>&1)
	status=$?
	ok "$status" "$description" && return 0
	diag "status $status of: $*"
	diag "$(printf '%s' "$output" | head -n 40)"
	return 1
}

# refuse DESCRIPTION COMMAND...: the command must fail.
refuse() {
	local description=$1
	shift
	if "$@" >/dev/null 2>&1; then
		ok 1 "$description"
		diag "this succeeded: $*"
		return 1
	fi
	ok 0 "$description"
}

# is GOT WANTED DESCRIPTION
is() {
	[ "$1" = "$2" ]
	ok $? "$3" && return 0
	diag "got:    $1"
	diag "wanted: $2"
	return 1
}

# at_most GOT LIMIT DESCRIPTION
at_most() {
	[ -n "$1" ] && [ "$1" -le "$2" ]
	ok $? "$3" && return 0
	diag "got $1, wanted at most $2"
	return 1
}

# at_least GOT LEAST DESCRIPTION
at_least() {
	[ -n "$1" ] && [ "$1" -ge "$2" ]
	ok $? "$3" && return 0
	diag "got $1, wanted at least $2"
	return 1
}

# skip WHY DESCRIPTION: only where something may be missing.
skip() {
	if everything_required; then
		ok 1 "$2"
		diag "$1"
		return 1
	fi
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$2" "$1"
}

finish() {
	check_sanitizers
	diag "took $SECONDS seconds"
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit $?
}

bail() {
	printf 'Bail out! %s\n' "$*"
	exit 99
}

# ---- What a test needs ----------------------------------------------------

everything_required() {
	[ "${CI:-}" = true ] || [ "${GRANARY_REQUIRE_ALL:-}" = 1 ]
}

# lacking WHY: ends the whole script.
lacking() {
	if everything_required; then
		printf '1..1\nnot ok 1 - %s\n' "$1"
		exit 1
	fi
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

need_fuse() {
	[ -x "$granaryfs" ] || bail "$granaryfs is not built"
	[ -c /dev/fuse ] || lacking "there is no /dev/fuse"
	# shellcheck disable=SC2217  # only the open is wanted
	{ true <>/dev/fuse; } 2>/dev/null || lacking "/dev/fuse cannot be opened"
	is_root || command -v fusermount3 >/dev/null ||
		lacking "there is no fusermount3"
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}

need_root() {
	is_root || lacking "only root can run this"
}

# need COMMAND...
need() {
	local name
	for name; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$name" >/dev/null ||
			lacking "$name is not installed"
	done
}

# need_python MODULE...
need_python() {
	local name
	for name; do
		"$python" -c "import $name" 2>/dev/null ||
			lacking "Python's $name is not installed"
	done
}

# ---- A place to work, and what is undone at the end -----------------------

work=$(mktemp -d "${TMPDIR:-/tmp}/granaryfs-test.XXXXXX") || exit 99
# Tests run parts of themselves as nobody.
chmod 755 "$work"
mkdir -m 1777 "$work/sanitizer"
mkdir "$work/home" "$work/cache" "$work/mnt"
# shellcheck disable=SC2034  # likewise
mnt=$work/mnt
# No test may touch the caller's own cache of indexes.
# shellcheck disable=SC2034  # for package managers' configuration
caller_home=$HOME
export HOME="$work/home" XDG_CACHE_HOME="$work/cache"

# Reports go to files: a test may close, or count lines of, standard error.
for name in ASAN TSAN UBSAN LSAN; do
	options=${name}_OPTIONS
	export "$options=${!options:+${!options}:}log_path=$work/sanitizer/report"
done

# at_exit COMMAND...: to be run when the test ends; the last one first.
at_exit() {
	cleanups+=("$(printf '%q ' "$@")")
}

# undo runs in the EXIT trap.
undo() {
	local i
	trap '' INT TERM HUP
	cd / || true
	for i in "${mounts[@]}"; do
		force_umount "$i"
	done
	stop_started
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}" >/dev/null 2>&1
	done
	chmod -R u+rwX "$work" 2>/dev/null
	rm -rf --one-file-system "$work"
}

# Numbers come again: a process that we did not start may have one of ours.
stop_started() {
	local pid
	for pid in "${started[@]}"; do
		[ "$(parent_of "$pid")" = "$$" ] || continue
		kill "$pid" 2>/dev/null && {
			wait_until 5 process_gone "$pid" ||
				kill -KILL "$pid" 2>/dev/null
		}
	done
}

trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# A limit of time is for an idle machine. Where more wants to run than there are processors,
# it is so many times as long, as /proc/loadavg has it: in $busy, without a process.
processors=$(nproc)
how_busy() {
	local load
	read -r load _ </proc/loadavg
	busy=$((1 + ${load%.*} / processors))
	[ "$busy" -le 10 ] || busy=10
}

# patience SECONDS: the limit for a program that is to end by itself.
patience() {
	how_busy
	echo $(($1 * busy))
}

# wait_until SECONDS COMMAND...: polls; fails when the time is over.
wait_until() {
	local begin=${EPOCHREALTIME/./} seconds=$1 busy
	shift
	until "$@" >/dev/null 2>&1; do
		how_busy
		[ $((${EPOCHREALTIME/./} - begin)) -lt $((seconds * busy * 1000000)) ] ||
			return 1
		sleep 0.02
	done
}

process_gone() {
	! kill -0 "$1" 2>/dev/null
}

# in_state LETTER PID: one of its threads is: D, in an uninterruptible sleep; T, stopped.
in_state() {
	grep -q "^State:[[:space:]]*$1" "/proc/$2/task/"*/status
} 2>/dev/null

# in_request PID: it waits for the answer of a FUSE server.
in_request() {
	grep -q -E 'request_wait|fuse' "/proc/$1/wchan"
} 2>/dev/null

# has_open PID PATTERN: it has a file whose path matches.
has_open() {
	find "/proc/$1/fd" -lname "$2" 2>/dev/null | grep -q .
}

# crashing COMMAND...: where processes crash because they are meant to, which is
# nothing that a sanitizer should report.
crashing() {
	local signals=handle_segv=0:handle_abort=0:handle_sigbus=0
	local -x ASAN_OPTIONS=$ASAN_OPTIONS:$signals TSAN_OPTIONS=$TSAN_OPTIONS:$signals \
		UBSAN_OPTIONS=$UBSAN_OPTIONS:$signals
	"$@"
}

# Sanitizers write a file a process; there must be none. That the search for leaks found a
# thread gone which it wanted to stop is no finding: what it finds follows.
unstopped='was not suspended. False leaks are possible|Unable to get registers from thread'
check_sanitizers() {
	local report
	for report in "$work"/sanitizer/*; do
		grep -q -s -v -E "$unstopped" "$report" || continue
		ok 1 "sanitizer report ${report##*/}"
		diag "$(head -n 60 "$report")"
	done
}

# ---- Mounts ---------------------------------------------------------------

# What is polled starts no process: a hundred of them a second is what a busy machine
# has no time for. Tables of the kernel are read in one go (mapfile): `read` seeks back
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
		is_server "$pid" && continue
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

# is_server PID
is_server() {
	local name
	{ read -r name <"/proc/$1/comm"; } 2>/dev/null && [ "$name" = granaryfs-serve ]
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

# memory_folder: sets $memory to a folder for what is compared with: what waits for
# storage is to be the mount.
memory_folder() {
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

# ---- Counters -------------------------------------------------------------

# requests MOUNTPOINT: the daemon's counters now, as lines NAME VALUE.
requests() {
	local log=${mount_log[$1]} before
	before=$(stats_ends "$log")
	kill -USR1 "${mount_pid[$1]}" || return 1
	wait_until 10 stats_newer "$log" "$before" || {
		echo "no counters in the log after SIGUSR1" >&2
		return 1
	}
	awk '$1 != "granaryfs:" || $2 != "stats:" { next }
		$3 == "end" { last = block; block = ""; next }
		{ block = block $3 " " $4 "\n" }
		END { printf "%s", last }' "$log"
}

stats_ends() {
	grep -c '^granaryfs: stats: end' "$1"
}

stats_newer() {
	[ "$(stats_ends "$1")" -gt "$2" ]
}

# request_changes BEFORE AFTER: "NAME DIFFERENCE" for each fuse_ counter that
# differs between two outputs of `requests`.
request_changes() {
	printf '%s\n--\n%s\n' "$1" "$2" | awk '
		$1 == "--" { after = 1; next }
		$1 !~ /^fuse_/ { next }
		!after { old[$1] = $2; next }
		$2 != old[$1] { print $1, $2 - old[$1] }'
}

# request_change NAME BEFORE AFTER: one difference, 0 if there is none.
request_change() {
	request_changes "$2" "$3" |
		awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }'
}

# ---- Small things ---------------------------------------------------------

# identified FILE: by how many reads it is told from others: its ends, and its samples
identified() {
	local pages=$(($(stat -c %s "$1") / 4096))
	echo $((2 + (pages < 64 ? pages : 64)))
}

# sampled FILE FROM TO: how many of its samples (of 64) hold one of these bytes
sampled() {
	local pages=$(($(stat -c %s "$1") / 4096)) i at n=0
	for ((i = 0; i < 64; i++)); do
		at=$((pages * (2 * i + 1) / 128 * 4096))
		n=$((n + (at < $3 && at + 4096 > $2)))
	done
	echo "$n"
}

compare() {
	"$python" "$fixtures/compare-trees" "$@"
}

# as_nobody COMMAND...: without any privilege. The programs are copied, because
# nobody may have no way into the build directory.
as_nobody() {
	public_programs
	"${nobody[@]}" "$@"
}

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups
	env HOME=/nonexistent PATH="$work/programs:$PATH")

# user_namespaces DESCRIPTION [COMMAND...]: can they be made, by COMMAND's user? In a chroot,
# say, or where a sysctl forbids them, they cannot, and what is described is skipped.
user_namespaces() {
	local description=$1
	shift
	"$@" unshare -U -r true 2>/dev/null && return
	skip "there are no user namespaces here" "$description"
	return 1
}

public_programs() {
	[ -d "$work/programs" ] && return
	mkdir "$work/programs"
	cp "$granaryfs" "$granary" "$work/programs/"
}

# loop_ext4 IMAGE MOUNTPOINT SIZE MKFS-OPTIONS...: a small filesystem of its own.
# Not to be called through `check`.
loop_ext4() {
	local image=$1 where=$2 size=$3
	shift 3
	truncate -s "$size" "$image" &&
		PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F "$@" "$image" &&
		mkdir -p "$where" && mount -o loop "$image" "$where" &&
		at_exit umount "$where"
}
