#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary umount: whatever is there, it goes, and the command ends. Mounts that are
# busy, dead, stacked, hidden or hung; as root, and as a user through fusermount3.

# Root has a mount namespace of its own: what is mounted here is nobody else's, and
# /dev/fuse may be everybody's.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar timeout mountpoint
need_python json
# libfuse keeps the path of a mount that it must not take away any more.
echo leak:fuse_session_mount >"$work/suppressions"
export LSAN_OPTIONS="$LSAN_OPTIONS:suppressions=$work/suppressions:print_suppressions=0"

make_archive() {
	mkdir -p "$work/tree/directory"
	echo content >"$work/tree/file"
	head -c 20000000 /dev/urandom >"$work/tree/directory/large"
	tar -C "$work/tree" -cf "$work/t.tar" .
	"$granary" index "$work/t.tar" >/dev/null
	chmod -R a+rX "$work/t.tar"*
}

as=()   # before the commands of the user whose mount it is

# start [OPTIONS] [MOUNTPOINT]: mounts in the background.
start() {
	watch_mount "${!#}"
	timeout 30 "${as[@]}" granaryfs "$work/t.tar" "$@"
}

# let_go COMMAND...: granary umount, bounded; what it says and its JSON are kept.
let_go() {
	timeout 20 "${as[@]}" granary umount --json "$@" >"$work/json" 2>"$work/said"
}

# has DESCRIPTION EXPRESSION: something that is true of the JSON.
has() {
	"$python" -c '
import json, sys
if not eval(sys.argv[1], {}, json.loads(sys.stdin.readline())):
    sys.exit(1)' "$2" <"$work/json"
	ok $? "$1" || diag "$(cat "$work/json" "$work/said")"
}

# gone DESCRIPTION [ARGUMENTS]: it is unmounted, without a word, and the daemon ends.
gone() {
	local description=$1
	shift
	let_go "$@" "$mnt"
	is "$?" 0 "$description: status 0"
	is "$(cat "$work/said")" "" "$description: not a word"
	check "$description: unmounted" not_mounted "$mnt"
	check "$description: the daemon ended" wait_until 20 no_daemon "$mnt"
}

# refused WANTED DESCRIPTION COMMAND...: the status, and one sentence.
refused() {
	local wanted=$1 description=$2
	shift 2
	timeout 20 "$@" >/dev/null 2>"$work/said"
	is "$?" "$wanted" "$description: refused"
	is "$(wc -l <"$work/said")" 1 "$description: one sentence" || diag "$(cat "$work/said")"
}

# shellcheck disable=SC2046  # process ids
signal_all() {
	kill "-$1" $(mount_processes "$mnt")
}

kill_all() {
	signal_all KILL
	wait_until 10 no_daemon "$mnt"
}

# The supervisor first: it replaces a server that is stopped.
stop_all() {
	local pid
	for pid in $(daemon_pids "$mnt") $(mount_processes "$mnt"); do
		at_exit kill -CONT "$pid"
		kill -STOP "$pid"
		wait_until 5 grep -q '^State:.T' "/proc/$pid/status"
	done
}

# ---- What each user can ------------------------------------------------------

nothing_there() {
	check "nothing mounted" let_go "$mnt"
	has "nothing mounted: said" 'not unmounted and layers == 0 and not lazy'
	check "a directory that does not exist" let_go "$work/nothing"
	check "a file" let_go "$work/t.tar"
	start "$mnt"
	check "a directory within a mount" let_go "$mnt/directory"
	check "which is still there" "${as[@]}" test -e "$mnt/file"
	gone "mounted"
	has "mounted: said" 'unmounted and layers == 1 and not lazy and not held'
	check "again" let_go "$mnt"
	has "again: said" 'not unmounted'
}

# form DESCRIPTION ARGUMENT
form() {
	start "$mnt"
	check "$1: unmounted" let_go "$2"
	check "$1: the mount is gone" not_mounted "$mnt"
	wait_until 20 no_daemon "$mnt"
}

forms() {
	ln -sfn "$mnt" "$work/link"
	form "a slash at the end" "$mnt/"
	form "slashes and a dot" "$work//mnt/./"
	form "a symbolic link" "$work/link"
	form "a link and a slash" "$work/link/"
	cd "$work" || bail "no directory"
	form "a relative path" mnt
	form "a relative path with a slash" ./mnt/
	cd / || bail "no /"
	start "$mnt"
	refused 1 "an unknown option" "$granary" umount -x "$mnt"
	refused 1 "no mount point" "$granary" umount
	check "several, of which one is nothing" let_go "$work/nothing" "$mnt"
	is "$(wc -l <"$work/json")" 2 "a line each"
	check "the other is unmounted" not_mounted "$mnt"
}

busy() {
	start "$mnt"
	exec 8<"$mnt/directory/large"
	let_go "$mnt"
	is "$?" 0 "a file is open: status 0"
	check "a file is open: said" grep -q 'still open' "$work/said"
	has "a file is open: said in JSON" 'unmounted and lazy and layers == 1'
	check "a file is open: unmounted" not_mounted "$mnt"
	cmp -s - "$work/tree/directory/large" <&8
	ok $? "a file is open: it can be read on"
	exec 8<&-
	check "a file was open: the daemon ended with it" wait_until 20 no_daemon "$mnt"

	start "$mnt"
	cd "$mnt/directory" || bail "no directory"
	let_go .. >/dev/null
	is "$?" 0 "somebody is in a directory: status 0"
	has "somebody is in a directory: said" 'unmounted and lazy'
	check "somebody is in a directory: unmounted" not_mounted "$mnt"
	cd / || bail "no /"
	check "nobody is: the daemon ended" wait_until 20 no_daemon "$mnt"
}

dead() {
	start "$mnt"
	kill_all
	gone "dead"
	start "$mnt"
	cat "$mnt/file" >/dev/null
	ls "$mnt" >/dev/null
	exec 8<"$mnt/file"
	kill_all
	gone "dead, with a file open"
	exec 8<&-
	start "$mnt"
	kill_all
	gone "dead, with force" --force
}

# A reader while all processes of the mount are stopped.
begin_to_read() {
	"${as[@]}" cat "$mnt/directory/large" >"$work/read" 2>"$work/read-said" &
	reader=$!
	started+=("$reader")
	wait_until 20 reader_waits
}

# In a request, or with the file open, about to read it. (Anything may sleep for other
# reasons, as for a page of its program.)
reader_waits() {
	in_request "$reader" || has_open "$reader" "$mnt/*"
}

stopped() {
	start "$mnt"
	stop_all
	let_go "$mnt"
	is "$?" 0 "stopped: status 0"
	check "stopped: unmounted" not_mounted "$mnt"
	signal_all CONT
	check "stopped: it ended when it could" wait_until 20 no_daemon "$mnt"

	start "$mnt"
	stop_all
	begin_to_read
	let_go "$mnt"
	is "$?" 0 "stopped, with a reader: status 0"
	has "stopped, with a reader: said" 'unmounted and lazy'
	check "stopped, with a reader: unmounted" not_mounted "$mnt"
	signal_all CONT
	wait "$reader"
	is "$?" 0 "stopped, with a reader: it read on"
	check "all of it" cmp "$work/read" "$work/tree/directory/large"
	check "and the daemon ended" wait_until 20 no_daemon "$mnt"
}

# Below a mount that hangs nothing can be found.
stopped_above() {
	start -o opens=visible "$mnt"
	stop_all
	refused 32 "stopped, and a path into it" \
		"${as[@]}" granary umount "$mnt/directory/.."
	signal_all CONT
	gone "running again"
}

# ---- What takes fusectl or root ----------------------------------------------

force() {
	start "$mnt"
	exec 8<"$mnt/directory/large"
	let_go --force "$mnt"
	is "$?" 0 "force: status 0"
	is "$(cat "$work/said")" "" "force: not a word"
	check "force: unmounted" not_mounted "$mnt"
	refuse "force: the open file cannot be read on" cat <&8
	check "force: the daemon ended although a file is open" wait_until 20 no_daemon "$mnt"
	exec 8<&-

	start "$mnt"
	stop_all
	begin_to_read
	let_go --force "$mnt"
	is "$?" 0 "force, stopped: status 0"
	check "force, stopped: the reader was let go" wait_until 20 process_gone "$reader"
	wait "$reader"
	is "$?" 1 "force, stopped: with an error"
	check "force, stopped: unmounted" not_mounted "$mnt"
	signal_all CONT
	check "force, stopped: the daemon ended when it could" wait_until 20 no_daemon "$mnt"
}

# Its supervisor ends a server that hangs, once the filesystem is no more.
server_hangs() {
	local server
	start "$mnt"
	server=$(server_pid "$mnt")
	kill -STOP "$server"
	at_exit kill -CONT "$server"
	begin_to_read
	let_go --force "$mnt"
	is "$?" 0 "the server hangs: status 0"
	check "the server hangs: the reader was let go" wait_until 20 process_gone "$reader"
	check "the server hangs: no process is left" wait_until 20 no_daemon "$mnt"
}

# The daemon is stopped in the midst of answering: its readers cannot even be killed.
force_in_the_midst() {
	local readers=() pid
	start "$mnt"
	for _ in 1 2 3 4; do
		"${as[@]}" "$python" -c '
import os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
while True:
    os.pread(fd, 1 << 20, 0)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
' "$mnt/directory/large" 2>/dev/null &
		readers+=($!)
		started+=($!)
	done
	for pid in "${readers[@]}"; do
		wait_until 20 has_open "$pid" "$mnt/*"
	done
	stop_all
	let_go --force "$mnt"
	is "$?" 0 "force, in the midst: status 0"
	check "force, in the midst: unmounted" not_mounted "$mnt"
	for pid in "${readers[@]}"; do
		check "force, in the midst: a reader was let go" \
			wait_until 20 process_gone "$pid"
	done
	signal_all CONT
	check "force, in the midst: the daemon ended" wait_until 20 no_daemon "$mnt"
}

# ---- What takes root -----------------------------------------------------------

layers() {
	mkdir -p "$work/other"
	start "$mnt"
	start "$work/other"
	mount --bind "$work/other" "$mnt"
	mount --bind "$mnt" "$mnt"
	kill_all
	let_go "$mnt"
	is "$?" 0 "three layers, the lowest dead: status 0"
	check "three layers: unmounted" not_mounted "$mnt"
	has "three layers: said" 'unmounted and layers == 3 and held'
	check "what is also mounted elsewhere is there still" test -e "$work/other/file"
	umount "$work/other"

	mount -t tmpfs none "$mnt"
	start "$mnt"
	gone "over a tmpfs"
	check "the tmpfs is still there" mountpoint -q "$mnt"
	refused 32 "a tmpfs" "$granary" umount "$mnt"
	refused 32 "a tmpfs, with force" "$granary" umount --force "$mnt"
	check "the tmpfs is there still" mountpoint -q "$mnt"
	umount "$mnt"

	start "$mnt"
	mount -t tmpfs none "$mnt"
	refused 32 "under a tmpfs" "$granary" umount "$mnt"
	umount "$mnt"
	check "and the mount is there" test -e "$mnt/file"
	mount -t tmpfs none "$mnt/directory"
	refused 32 "with a tmpfs in it" "$granary" umount "$mnt"
	check "with a tmpfs in it: named" grep -qF "$mnt/directory" "$work/said"
	check "with a tmpfs in it: both are there" mountpoint -q "$mnt/directory"
	gone "with a tmpfs in it, by force" --force
}

# A copy in another namespace keeps the daemon; that is said, not waited for.
held() {
	local copy
	start "$mnt"
	unshare --mount --propagation private sleep 300 &
	copy=$!
	started+=("$copy")
	wait_until 10 grep -qs -F " $mnt " "/proc/$copy/mountinfo"
	wait_until 10 grep -qs sleep "/proc/$copy/comm"
	let_go "$mnt"
	is "$?" 0 "another namespace: status 0"
	has "another namespace: said in JSON" 'unmounted and held and not lazy'
	check "another namespace: said" grep -q 'namespace' "$work/said"
	refuse "another namespace: its daemon lives" no_daemon "$mnt"
	kill "$copy"
	check "another namespace: its daemon ended with it" wait_until 20 no_daemon "$mnt"
}

# ---- As somebody else --------------------------------------------------------------

everybodys_device() {
	mkdir "$work/dev"
	mount -t tmpfs -o mode=755 none "$work/dev" && mknod -m 666 "$work/dev/fuse" c 10 229 &&
		chmod 666 "$work/dev/fuse" && mount --bind "$work/dev/fuse" /dev/fuse &&
		at_exit umount /dev/fuse "$work/dev"
}

as_a_user() {
	public_programs
	if ! everybodys_device || ! [ -u "$(command -v fusermount3)" ]; then
		skip "fusermount3 is not set-uid root" "as a user"
		return
	fi
	mnt=$work/users
	mkdir "$mnt"
	chown 65534:65534 "$mnt"
	as=("${nobody[@]}")
	nothing_there
	busy_for_a_user
	dead_for_a_user
	stopped
	force_for_a_user
	foreign
	without_fusermount
	without_mtab
	hanging_fusermount
}

# Root is not let into a user's mount, and still has to clear it.
dead_for_a_user() {
	start "$mnt"
	kill_all
	gone "a user's, dead"
	for who in root user; do
		start "$mnt"
		hold_open
		refuse "a user's: root is not let in" ls "$mnt"
		kill_all
		[ "$who" = root ] && as=()
		gone "a user's, dead, with a file open, by $who"
		as=("${nobody[@]}")
		kill "$holder"
	done
}

# hold_open: a process of the user's that keeps a file open.
hold_open() {
	# shellcheck disable=SC2016  # the inner shell expands it
	"${as[@]}" sh -c 'exec sleep 300 <"$1"' sh "$mnt/file" &
	holder=$!
	started+=("$holder")
	wait_until 10 grep -qs sleep "/proc/$holder/comm"
}

busy_for_a_user() {
	start "$mnt"
	hold_open
	let_go "$mnt"
	is "$?" 0 "a user's, busy: status 0"
	has "a user's, busy: said" 'unmounted and lazy'
	check "a user's, busy: unmounted" not_mounted "$mnt"
	kill "$holder"
	check "a user's, busy: the daemon ended" wait_until 20 no_daemon "$mnt"
}

force_for_a_user() {
	force_in_the_midst
	while umount /sys/fs/fuse/connections; do :; done 2>/dev/null # the machine's own, too
	start "$mnt"
	let_go --force "$mnt"
	is "$?" 0 "a user's, by force, without fusectl: status 0"
	check "a user's, by force, without fusectl: said" grep -q fusectl "$work/said"
	check "a user's, by force, without fusectl: unmounted" not_mounted "$mnt"
	wait_until 20 no_daemon "$mnt"
	start "$mnt"
	kill_all
	gone "a user's, dead, by force, without fusectl" --force
	mount -t fusectl none /sys/fs/fuse/connections
}

foreign() {
	as=()
	start "$mnt"
	refused 32 "another's" "${nobody[@]}" granary umount "$mnt"
	refused 32 "another's, by force" "${nobody[@]}" granary umount --force "$mnt"
	check "another's is still there" test -e "$mnt/file"
	gone "its owner's"
	as=("${nobody[@]}")
	start "$mnt"
	as=()
	gone "a user's, by root"
	as=("${nobody[@]}")
}

without_fusermount() {
	start "$mnt"
	mkdir "$work/none"
	refused 32 "without fusermount3" \
		"${as[@]}" env PATH="$work/none" "$work/programs/granary" umount "$mnt"
	check "without fusermount3: said" grep -q 'package fuse3' "$work/said"
	gone "with fusermount3 again"
}

# Where it looks for a mount's owner: images that no init system has begun may lack it.
without_mtab() {
	start "$mnt"
	mkdir "$work/etc"
	# shellcheck disable=SC2016  # the inner shell expands it
	timeout 20 unshare -m --propagation private bash -c '
		mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" && mount -t overlay -o \
			"lowerdir=/etc,upperdir=$1/upper,workdir=$1/work" none /etc &&
			rm -f /etc/mtab && shift && exec "$@"' bash "$work/etc" \
		"${as[@]}" granary umount "$mnt" 2>"$work/said"
	is "$?" 32 "without /etc/mtab: refused"
	check "without /etc/mtab: said" grep -q 'ln -s /proc/self/mounts' "$work/said"
	at_most "$(wc -l <"$work/said")" 3 "without /etc/mtab: it is not tried again and again"
	gone "with /etc/mtab again"
}

# asked_again LINES: fusermount3 was run once more since there were so many lines.
asked_again() {
	[ "$(wc -l <"$work/hanging/asked")" -gt "$1" ]
}

# A fusermount3 that does not come back: libfuse finds the true one by its path.
hanging_fusermount() {
	local server asked
	mkdir "$work/hanging"
	printf '#!/bin/sh\necho >>%s/hanging/asked\nexec sleep 300\n' "$work" \
		>"$work/hanging/fusermount3"
	touch "$work/hanging/asked"
	chmod 666 "$work/hanging/asked"
	chmod 755 "$work/hanging" "$work/hanging/fusermount3"
	as+=(env PATH="$work/hanging:$work/programs:$PATH")
	start "$mnt"
	let_go "$mnt"
	is "$?" 32 "fusermount3 hangs: granary umount ends, with status 32"
	check "fusermount3 hangs: said" grep -q 'has not answered' "$work/said"
	check "fusermount3 hangs: still mounted" is_mounted "$mnt"
	server=$(server_pid "$mnt")
	asked=$(wc -l <"$work/hanging/asked")
	kill -TERM "$(daemon_pids "$mnt")"
	wait_until 10 asked_again "$asked"
	kill -KILL "$server"
	as=("${nobody[@]}")
	is "$(timeout 5 "${as[@]}" cat "$mnt/file")" content \
		"fusermount3 hangs: the supervisor still starts servers"
	kill -TERM "$(daemon_pids "$mnt")"
	check "fusermount3 hangs: another signal ends it at once" wait_until 20 no_daemon "$mnt"
	gone "after a fusermount3 that hung"
}

is_root && leave_others
make_archive
nothing_there
forms
busy
dead
stopped
stopped_above
if is_root; then
	force
	server_hangs
	force_in_the_midst
	layers
	held
	as_a_user
else
	skip "only root can" "mounts in layers, other namespaces, other users"
fi
finish
