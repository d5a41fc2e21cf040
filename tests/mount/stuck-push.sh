#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A thread that stores a page waits in the kernel for a read of that page, and nothing
# ends it but that read's answer. Where the supervisor is killed then, no server follows
# that would answer: the last one has to, or readers wait for good.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar
# shellcheck disable=SC2034  # for lib.sh
servers_may_die=yes
faulty=$abs_top_builddir/tests/bin/granaryfs-faulty
[ -x "$faulty" ] || bail "$faulty is not built"

# The path has to end in what mount_processes looks for.
make_archives() {
	mkdir "$work/faulty" "$work/slow" "$work/sound"
	cp "$faulty" "$work/faulty/granaryfs"
	granaryfs=$work/faulty/granaryfs
	for i in 0 1 2 3 4 5; do
		head -c 4000000 /dev/urandom >"$work/slow/$i"
	done
	head -c 200000 /dev/urandom >"$work/sound/file"
	tar -C "$work" --sort=name -cf "$work/slow.tar" slow
	tar -C "$work" -cf "$work/sound.tar" sound
	"$granary" index "$work/slow.tar" "$work/sound.tar" >/dev/null || bail "no index"
}

# held FIRST-END FILE: bytes of slow.tar whose reads are noted, then wait while FILE exists.
held() {
	local what
	what="path=slow.tar,offset=$1,from=$(($(sampled "$work/slow.tar" "${1%-*}" "${1#*-}") + 1))"
	echo "kind=note,$what;kind=late,$what,while=$2"
}

# is_held FROM: a read of slow.tar from byte FROM on waits for the storage.
is_held() {
	awk -v from="$1" '$1 == "note:" && $5 >= from { found = 1 } END { exit !found }' \
		"${mount_log[$mnt]}"
}

# Files 0 to 3 hang where the sweep reads them, file 5 where a reader does. Before the sweep
# the server lists its own mount, which takes a thread that answers.
threads=2
mount_slow() {
	touch "$work/sweep" "$work/demand"
	GRANARY_FAULTS="$(held 2000000-14000000 "$work/sweep");$(held 20500000-22000000 "$work/demand")" \
		mount_ok "$1: mounted" -o threads=$threads,index=require,prefetch=sweep,cache=256M \
		"$work/slow.tar" "$work/sound.tar" "$mnt" || finish
	check "$1: the sweep waits for its storage" wait_until 10 is_held 2000000
	true <"$mnt/sound/file" # from here on nobody asks at close(2)
}

# One thread parks nothing: the read is not even received.
parked() {
	[ "$threads" -eq 1 ] || [ "$(counter requests_parked)" -ge 1 ]
}

# The server waits for a page of the file, and nobody answers.
reader_waits() {
	has_open "$second" "$mnt/sound/file" && in_state D "$second"
}

# asked WHAT: a read that is parked, or that nobody can receive; then the sweep goes on.
asked() {
	mount_slow "$1"
	cat "$mnt/slow/5" >/dev/null 2>&1 &
	first=$!
	cat "$mnt/slow/5" "$mnt/sound/file" >/dev/null 2>&1 &
	check "$1: a read waits for its storage" wait_until 10 is_held 20000000
	cat "$mnt/sound/file" >"$work/read" 2>/dev/null &
	second=$!
	started+=("$first" "$second")
	check "$1: a read is parked" wait_until 10 parked
	check "$1: its reader waits" wait_until 10 reader_waits
	server=$(server_pid "$mnt")
	rm "$work/sweep"
}

pushed() {
	[ "$(counter pushed_files)" -ge 4 ]
}

# Parked requests count as read: then it does not matter which process is killed.
parked_and_pushed() {
	local what="parked"
	asked "$what"
	check "$what: the sweep goes on" wait_until 30 pushed
	refuse "$what: no store waits for it" wait_until 1 in_state D "$server"
	kill -KILL "${mount_pid[$mnt]}" "$server"
	wait "${mount_pid[$mnt]}" 2>/dev/null
	check "$what: all killed at once: the server is gone" wait_until 10 process_gone "$server"
	check "$what: and the readers" wait_until 10 process_gone "$second"
	rm "$work/demand"
	check "$what: unmounted" "$granary" umount "$mnt"
}

supervisor_killed() {
	local what="supervisor killed"
	asked "$what"
	check "$what: a store waits" wait_until 30 in_state D "$server"
	kill -KILL "${mount_pid[$mnt]}"
	wait "${mount_pid[$mnt]}" 2>/dev/null
	check "$what: the server ends" wait_until 10 process_gone "$server"
	check "$what: the readers do" wait_until 10 process_gone "$second"
	rm "$work/demand"
	check "$what: unmounted" "$granary" umount "$mnt"
}

# stuck WHAT: a store waits for a read.
stuck() {
	asked "$1"
	check "$1: a store waits" wait_until 30 in_state D "$server"
}

whole() {
	echo "$server"
}

# A thread of it that waits for nothing in the kernel, and is not the first: what is sent
# to that it gets, as it gets its own faults. The others then wait for it, idle.
one_thread() {
	local task
	for task in "/proc/$server/task/"*; do
		[ "${task##*/}" = "$server" ] || ! grep -q '^State:[[:space:]]*S' "$task/status" ||
			echo "${task##*/}"
	done | tail -n 1
}

# answered_by_another WHAT SIGNAL [TO]: a server that has crashed waits for the store before it
# ends, to leave a core dump; of one that was stopped nobody is told before the store ends.
answered_by_another() {
	local what=$1
	stuck "$what"
	kill -s "$2" "$("${3:-whole}")"
	check "$what: another server begins" wait_until 10 replaced
	rm "$work/demand"
	check "$what: the reader ends" wait_until 10 process_gone "$second"
	cmp -s "$work/read" "$work/sound/file"
	ok $? "$what: with the right bytes"
	is "$(cksum <"$mnt/slow/5")" "$(cksum <"$work/slow/5")" "$what: and so has the next"
	umount_ok "$mnt"
}

replaced() {
	[ "$(counter servers_started)" -ge 2 ]
}

# An unmount waits in the kernel for stores; where one waits for the next
# server, the supervisor must not be the one that waits.
told_to_end() {
	local what="told to end" pid=${mount_pid[$mnt]}
	stuck "$what"
	pid=${mount_pid[$mnt]}
	kill -STOP "$pid"
	kill -KILL "$server" "$first" "$second"
	kill -TERM "$pid"
	check "$what: no reader is left" wait_until 10 process_gone "$second"
	rm "$work/demand"
	kill -CONT "$pid"
	daemon_status "$pid" "$mnt" >"$work/status"
	ok $? "$what: it ends, with 0" || diag "$(cat "$work/status")"
	check "$what: no process is left" wait_until 10 no_daemon "$mnt"
	check "$what: no mount is left" not_mounted "$mnt"
}

# And without a moment for another server in between.
told_twice() {
	local what="told to end twice" pid
	stuck "$what"
	pid=${mount_pid[$mnt]}
	kill -STOP "$pid"
	kill -KILL "$server"
	kill -TERM "$pid"
	kill -INT "$pid"
	rm "$work/demand"
	kill -CONT "$pid"
	check "$what: the readers end" wait_until 10 process_gone "$second"
	daemon_status "$pid" "$mnt" >"$work/status"
	ok $? "$what: it ends, with 0" || diag "$(cat "$work/status")"
	check "$what: no process is left" wait_until 10 no_daemon "$mnt"
	check "$what: no mount is left" not_mounted "$mnt"
}

make_archives
parked_and_pushed
threads=1
answered_by_another "crashed" SEGV
answered_by_another "crashed in a thread" SEGV one_thread
answered_by_another "stopped" STOP
told_to_end
told_twice
supervisor_killed
finish
