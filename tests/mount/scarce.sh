#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A server lacks threads, processes, descriptors or memory. A process that reads
# waits until it can, or gets an error and a sentence; never wrong bytes, and no hang.

# A mount namespace of its own, for control groups that are mounted here.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
leave_others
need tar prlimit timeout
# shellcheck disable=SC2034  # for lib.sh
servers_may_die=yes
user=$((61000 + $$ % 4000)) # whose processes are counted: nobody else's
files=24

# The user has to be known; whoever else is here does not see that.
make_user() {
	cp /etc/passwd "$work/passwd"
	echo "granaryfs-test:x:$user:$user::/nonexistent:/bin/false" >>"$work/passwd"
	chmod 644 "$work/passwd"
	mount --bind "$work/passwd" /etc/passwd || bail "no user"
	at_exit umount /etc/passwd
}

make_archive() {
	local i
	mkdir -p "$work/faulty" "$work/tree"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
	granaryfs=$work/faulty/granaryfs
	for ((i = 0; i < files; i++)); do
		head -c 300000 /dev/urandom >"$work/tree/$i"
	done
	tar -C "$work/tree" -cf "$work/t.tar" .
	"$granary" index "$work/t.tar" >/dev/null || bail "no index"
	chmod a+rX "$work/t.tar"*
}

# mounted WHAT OPTIONS: what is in $work/slow is not answered.
mounted() {
	local what=$1
	shift
	rm -f "$work/slow"
	GRANARY_FAULTS="kind=late,while=$work/slow" mount_ok "$what: mounted" \
		-o index=require,prefetch=off,shield=off "$@" "$work/t.tar" "$mnt"
}

# limit NAME=N: for servers to come. The hard one stays: not all may raise it again.
limit() {
	prlimit --pid "${mount_pid[$mnt]}" "--$1:"
}

# Where no server can begin umount(8) would wait for one.
leave() {
	timeout 20 "$granary" umount "$mnt" >"$work/said" 2>&1
	ok $? "$1: granary umount" || diag "$(cat "$work/said")"
	check "$1: no process is left" wait_until 20 no_daemon "$mnt"
}

kill_server() {
	wait_until 20 has_server
	kill -KILL "$(server_pid "$mnt")"
}

said() {
	grep -q -F -- "$1" "${mount_log[$mnt]}"
}

# start_readers: one a file, in the background.
start_readers() {
	local i
	readers=()
	for ((i = 0; i < files; i++)); do
		timeout 60 cat "$mnt/$i" >"$work/read.$i" 2>"$work/error.$i" &
		readers+=("$!")
	done
}

# all_read DESCRIPTION: each got its bytes.
all_read() {
	local i wrong=0
	for ((i = 0; i < files; i++)); do
		wait "${readers[i]}" && cmp -s "$work/tree/$i" "$work/read.$i" ||
			wrong=$((wrong + 1))
	done
	is "$wrong" 0 "$1: every reader got its bytes" || diag "$(cat "$work"/error.*)"
}

are_parked() {
	[ "$(counter requests_parked)" -ge "$1" ]
}

# ---- Threads -----------------------------------------------------------------

# Reads that eight threads had, and others that waited for them, are left to a single one.
one_thread_left() {
	mounted "one thread" -o "user=$user,allow_other,threads=8" || return
	touch "$work/slow"
	start_readers
	check "one thread: reads wait for others" wait_until 20 are_parked 8
	limit nproc=2
	kill_server
	check "one thread: said" wait_until 20 said "only 1 of 8 threads"
	rm "$work/slow"
	all_read "one thread"
	limit nproc=1000
	kill_server
	start_readers
	all_read "eight threads again"
	leave "one thread"
}

none_left() {
	mounted "no thread" -o "user=$user,allow_other,threads=4" || return
	limit nproc=1
	kill_server
	start_readers
	check "no thread: said" wait_until 20 said "no server can begin"
	sleep 2 # for tries that are not told
	is "$(grep -c "no server can begin" "${mount_log[$mnt]}")" 1 "no thread: said once"
	check "no thread: the supervisor stays" kill -0 "${mount_pid[$mnt]}"
	limit nproc=1000
	all_read "threads again"
	leave "no thread"
}

no_thread_and_term() {
	mounted "no thread, TERM" -o "user=$user,allow_other,threads=4" || return
	limit nproc=1
	kill_server
	wait_until 20 said "no server can begin"
	kill -TERM "${mount_pid[$mnt]}"
	daemon_status "${mount_pid[$mnt]}" "$mnt" >"$work/status"
	ok $? "no thread: TERM ends it, with 0" || diag "$(cat "$work/status")"
	check "no thread: unmounted" not_mounted "$mnt"
}

# ---- Processes ---------------------------------------------------------------

# group CONTROLLER: makes $group, a control group; fails where none can be had.
group() {
	local place
	group=
	for place in "/sys/fs/cgroup/$1" /sys/fs/cgroup; do
		mkdir "$place/granaryfs-test.$$" 2>/dev/null || continue
		group=$place/granaryfs-test.$$
		[ -e "$group/$(limit_file "$1")" ] && break
		rmdir "$group"
		group=
	done
	[ -n "$group" ] || return 1
	at_exit eval "cat $group/cgroup.procs >/dev/null && rmdir $group"
}

# Of version 1 or 2.
limit_file() {
	case $1 in
	pids) echo pids.max ;;
	memory)
		if [ -e "$group/memory.max" ]; then echo memory.max; else echo memory.limit_in_bytes; fi
		;;
	esac
}

# all_into GROUP: the supervisor and its server.
all_into() {
	local pid
	for pid in $(mount_processes "$mnt"); do
		echo "$pid" >"$group/cgroup.procs"
	done
}

no_process() {
	if ! group pids; then
		skip "no control group can be made" "no process can be had"
		return
	fi
	mounted "no process" || return
	all_into
	start_readers
	all_read "no process, before"
	echo 1 >"$group/pids.max"
	kill_server
	check "no process: said" wait_until 20 said "no server can begin"
	start_readers
	sleep 1 # the readers wait for so long
	echo 1000 >"$group/pids.max"
	all_read "processes again"
	check "no process: there is a server again" wait_until 20 has_server
	echo 1 >"$group/pids.max"
	kill_server
	kill -TERM "${mount_pid[$mnt]}"
	daemon_status "${mount_pid[$mnt]}" "$mnt" >"$work/status"
	ok $? "no process: TERM ends it, with 0" || diag "$(cat "$work/status")"
	check "no process: unmounted" not_mounted "$mnt"
	rmdir "$group"
}

# ---- Descriptors ---------------------------------------------------------------

no_descriptors() {
	mounted "no descriptor" || return
	limit nofile=3
	kill_server
	start_readers
	all_read "no descriptor: the next server"
	kill_server
	start_readers
	all_read "no descriptor: and the next"
	leave "no descriptor"
}

# Mounted, or a sentence, besides one for each place that an index was looked for at.
few_descriptors() {
	local n status wrong=0 refused=0
	for n in 4 6 8 10 12 16; do
		watch_mount "$mnt"
		timeout 30 prlimit --nofile=$n "$granaryfs" -o index=require "$work/t.tar" "$mnt" \
			>/dev/null 2>"$work/said" </dev/null
		status=$?
		if [ "$status" -eq 0 ]; then
			cmp -s "$work/tree/0" "$mnt/0" || wrong=$((wrong + 1))
			leave_mount "$mnt" || wrong=$((wrong + 1))
		elif grep -q 'while loading shared libraries' "$work/said"; then
			refused=$((refused + 1)) # before there is anything of ours
		elif [ ! -s "$work/said" ] || [ "$(wc -l <"$work/said")" -gt 3 ] ||
			[ "$status" -gt 32 ]; then
			wrong=$((wrong + 1))
			diag "$n descriptors: status $status: $(cat "$work/said")"
		else
			refused=$((refused + 1))
		fi
		wait_until 10 no_daemon "$mnt" || wrong=$((wrong + 1))
	done
	is "$wrong" 0 "few descriptors: it is mounted, or there is a sentence"
	at_least "$refused" 1 "few descriptors: and so it was refused"
	at_most "$refused" 5 "and mounted"
}

# ---- Memory --------------------------------------------------------------------

# right_or_error: what was read is right as far as it goes.
right_or_error() {
	local i status wrong=0 failed=0
	for ((i = 0; i < files; i++)); do
		wait "${readers[i]}"
		status=$?
		if [ "$status" -eq 0 ]; then
			cmp -s "$work/tree/$i" "$work/read.$i" || wrong=$((wrong + 1))
		elif [ "$status" -eq 124 ]; then
			wrong=$((wrong + 1))
			diag "file $i: the reader hung"
		else
			failed=$((failed + 1))
		fi
	done
	is "$wrong" 0 "$1: no byte is wrong, nobody hangs"
	diag "$1: $failed of $files readers got an error"
}

gone_with_a_sentence() {
	said "servers have died one after the other" && is_mounted "$mnt"
}

# Hardly more than the supervisor has. Where the kernel kills that, nobody can say so.
no_memory() {
	local size
	if ! group memory; then
		skip "no control group can be made" "memory is short"
		return
	fi
	mounted "no memory" -o threads=4 || return
	all_into
	for size in 2M 4M 8M; do
		echo "$size" 2>/dev/null >"$group/$(limit_file memory)" && break
	done
	diag "no memory: $size"
	start_readers
	sleep 4 # memory is short for so long
	echo 1G >"$group/$(limit_file memory)"
	right_or_error "no memory"
	if process_gone "${mount_pid[$mnt]}"; then
		gone_with_a_sentence || diag "no memory: the supervisor was killed, too"
	else
		diag "no memory: $(counter servers_started) servers"
		check "no memory: then files are read" cmp "$work/tree/0" "$mnt/0"
	fi
	leave "no memory"
	rmdir "$group"
}

make_user
make_archive
one_thread_left
none_left
no_thread_and_term
no_process
no_descriptors
few_descriptors
no_memory
finish
