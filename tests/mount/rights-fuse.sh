#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Packed files on a FUSE filesystem of the user's own, which answers nobody else, not
# even root: -o user= opens them as that user. And the user's means against the process
# that does so: its storage, signals, tracing.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar setpriv timeout sshfs
[ -x /usr/lib/openssh/sftp-server ] || [ -x /usr/libexec/openssh/sftp-server ] ||
	lacking "sftp-server is not installed"

one=games
two=daemon
id "$one" >"$work/id" 2>&1 && id "$two" >>"$work/id" 2>&1 || lacking "there are no users $one and $two"
one_uid=$(id -u "$one")
one_gid=$(id -g "$one")

public_programs
daemon=$work/programs/granaryfs
far=$work/far   # what the user mounts,
net=$work/net   # and where

# as USER COMMAND...
as() {
	local user=$1
	shift
	setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"
}

make_archives() {
	local i
	mkdir "$work/tree" "$far" "$net" "$work/ones"
	for i in 1 2 3; do
		mkdir -p "$work/tree/$i/train"
		echo "file $i" >"$work/tree/$i/train/$i"
		tar -C "$work/tree/$i" -cf "$far/part-$i.tar" .
	done
	tar -C "$work/tree/1" -cf "$far/small.tar" .
	chown -R "$one_uid:$one_gid" "$far" "$net" "$work/ones"
	chmod 400 "$far"/*.tar
	chmod 700 "$far"
}

# Sets $storage, the process that answers for it.
mount_storage() {
	timeout 600 "$python" "$abs_top_srcdir/tests/mount/user_sshfs.py" "$one_uid" "$one_gid" "$far" "$net" \
		>"$work/storage" 2>&1 &
	started+=($!)
	at_exit umount -l "$net"
	wait_until 20 as "$one" test -e "$net/small.tar"
	ok $? "the user's own FUSE filesystem" || bail "$(cat "$work/storage")"
	storage=$(awk '$1 == "pid" { print $2 }' "$work/storage")
	at_exit kill -CONT "$storage"
	refuse "it answers not even root" ls "$net/"
	refuse "nor another user" as "$two" ls "$net/"
}

start() {
	watch_mount "$mnt"
	timeout 90 "$daemon" "$@"
}

left() {
	leave_mount "$mnt"
	check "$1: the process ended" wait_until 20 no_daemon "$mnt"
}

shows() {
	is "$(as "$one" cat "$mnt/train/$1")" "file $1" "$2"
}

# ---- What is on it --------------------------------------------------------------

opens_sources() {
	start -o "user=$one" "$net/small.tar" "$mnt" 2>"$work/said"
	is $? 0 "an archive on it" || diag "$(cat "$work/said")"
	shows 1 "its file"
	is "$(cat "$work/said")" "" "nothing is said"
	left "an archive on it"
	is "$(stat -c %u:%g:%a "$far/small.tar.gidx")" "$one_uid:$one_gid:400" \
		"its index is beside it, and the user's"
	start -o "user=$one,index=require" "$net/small.tar" "$mnt"
	is $? 0 "its index is used"
	shows 1 "its file, by the index"
	left "its index"
	# what the server reads after that it reads as the user, by one that is new, too
	start -o "user=$one" "$net/part-{1..3}.tar" "$mnt"
	is $? 0 "a pattern of archives on it"
	shows 3 "the last one's file"
	kill -KILL "$(server_pid "$mnt")"
	shows 2 "the next server reads there, too"
	left "a pattern"
}

others_files() {
	start "$net/small.tar" "$mnt" 2>"$work/said"
	is $? 2 "root without user= is refused"
	grep -q -F "user id 0 may not read '$net/small.tar'" "$work/said" &&
		grep -q -F "granaryfs -o user=NAME" "$work/said"
	ok $? "with the path and its own number" || diag "$(cat "$work/said")"
	start -o "user=$two" "$net/small.tar" "$mnt" 2>"$work/said"
	is $? 2 "another user is refused"
	grep -q -F "user id $(id -u "$two") may not read '$net/small.tar'" "$work/said"
	ok $? "with the path and that user's number" || diag "$(cat "$work/said")"
	start -o "user=$one" "$net/none.tar" "$mnt" 2>"$work/said"
	is $? 2 "a file that is not there"
	is "$(cat "$work/said")" \
		"granaryfs: '$net/none.tar' does not exist; check the path" "its sentence"
	start -o "user=$one,missing=skip" "$net/part-{3..4}.tar" "$mnt" 2>"$work/said"
	is $? 0 "missing=skip"
	is "$(cat "$work/said")" "granaryfs: '$net/part-4.tar' does not exist and is left out" \
		"a warning comes through"
	left "missing=skip"
}

index_elsewhere() {
	cp "$far/small.tar" "$work/ones/near.tar"
	chown "$one_uid:$one_gid" "$work/ones/near.tar"
	start -o "user=$one,index=$net/an.gidx" "$work/ones/near.tar" "$mnt"
	is $? 0 "index=PATH on it: it is written"
	left "index=PATH"
	start -o "user=$one,index=$net/an.gidx" "$work/ones/near.tar" "$mnt" 2>"$work/said"
	is "$?$(cat "$work/said")" 0 "index=PATH on it: it is used"
	shows 1 "index=PATH on it"
	# the index is in memory by now: what the user's storage does is nothing to root
	kill -STOP "$storage"
	timeout 10 "$granary" umount "$mnt" >"$work/said" 2>&1
	is $? 0 "index=PATH: unmounted while its storage hangs" || diag "$(cat "$work/said")"
	kill -CONT "$storage"
	wait_until 20 no_daemon "$mnt"
	ok $? "index=PATH: the process ended"
}

log_and_fifo() {
	start -o "user=$one,log=$net/log" "$net/small.tar" "$mnt" 2>"$work/said"
	is $? 0 "a log on it" || diag "$(cat "$work/said")"
	wait_until 20 grep -q ': mounted$' "$far/log" # sshfs writes behind
	ok $? "gets its lines" || diag "$(ls -l "$far"; cat "$far/log")"
	is "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$(log_writer "$mnt")/status")" \
		"$one_uid $one_uid $one_uid $one_uid" "from a process of the user's"
	kill -STOP "$storage"
	timeout 20 "$granary" umount "$mnt" >"$work/said" 2>&1
	is $? 0 "a log on it hangs: unmounted" || diag "$(cat "$work/said")"
	kill -CONT "$storage"
	check "a log on it: the processes ended" wait_until 20 no_daemon "$mnt"
	start -o "user=$one,notify_pipe=$net/small.tar" "$net/small.tar" "$mnt" 2>"$work/said"
	is $? 2 "what is no FIFO"
	grep -q -F "$net/small.tar: is not a FIFO" "$work/said"
	ok $? "is named" || diag "$(cat "$work/said")"
	as "$one" mkfifo "$work/ones/fifo"
	timeout 60 head -c 1 "$work/ones/fifo" >"$work/byte" &
	started+=($!)
	start -o "user=$one,notify_pipe=$work/ones/fifo" "$net/small.tar" "$mnt"
	is $? 0 "a FIFO of the user's"
	wait_until 10 test -s "$work/byte"
	is "$(cat "$work/byte")" s "gets its byte"
	left "a FIFO"
}

# ---- What the user may do to the process ------------------------------------------

# The user's process that granaryfs has started. Sets $child.
opener() {
	child=$(pgrep -P "$launcher" -u "$one_uid" -x granaryfs) && [ -n "$child" ]
}

start_hanging() {
	kill -STOP "$storage"
	"$daemon" -o "user=$one" "$net/part-2.tar" "$mnt" 2>"$work/said" &
	launcher=$!
	started+=("$launcher")
	wait_until 20 opener
	ok $? "$1: there is a process of the user's" || diag "$(cat "$work/said")"
}

cannot_look() {
	refuse "the user cannot see its descriptors" as "$one" readlink "/proc/$child/fd/0"
	refuse "nor its environment" as "$one" cat "/proc/$child/environ"
	refuse "nor its memory" as "$one" head -c 1 "/proc/$child/mem"
	is "$(awk '/^(Uid|Gid):/ { print $2, $3, $4, $5 }' "/proc/$child/status" | tr '\n' ' ')" \
		"$one_uid $one_uid $one_uid $one_uid $one_gid $one_gid $one_gid $one_gid " \
		"all of its ids are the user's"
	is "$(awk '/^Cap(Inh|Prm|Eff|Bnd|Amb):/ { print $2 }' "/proc/$child/status" | sort -u)" \
		0000000000000000 "it has no capability"
	is "$(readlink "/proc/$child"/fd/* | grep -v -F "$net/part-2.tar" |
		grep -v -c -E '^(socket:.*|/dev/null)$')" 0 \
		"it has nothing open but its socket and the user's file"
	is "$(awk '/^Uid:/ { print $2, $3, $4, $5 }' "/proc/$launcher/status")" "0 0 0 0" \
		"the launcher's ids are its own"
}

# A signal that leaves a core dump elsewhere.
user_ends_it() {
	start_hanging "ended"
	cannot_look
	as "$one" kill -SEGV "$child"
	kill -CONT "$storage"
	wait "$launcher"
	is $? 2 "the user ends it: the launcher's status"
	is "$(cat "$work/said")" "granaryfs: the process that opens files as user id $one_uid was \
ended by signal 11 (Segmentation fault); try again" "and its sentence"
	check "and no mount" not_mounted "$mnt"
}

launcher_ends() {
	start_hanging "the launcher ends"
	kill -TERM "$launcher"
	wait "$launcher"
	is $? 143 "the launcher is told to end, and does"
	kill -CONT "$storage"
	wait_until 10 process_gone "$child"
	ok $? "and the process with it"
}

# The caller reads what is said to its end: who hangs must not hold that.
storage_hangs() {
	local began=$SECONDS said
	kill -STOP "$storage"
	said=$(timeout 90 "$daemon" -o "user=$one" "$net/part-3.tar" "$mnt" 2>&1)
	is $? 2 "storage that hangs: the status"
	at_most $((SECONDS - began)) 45 "storage that hangs: within its time"
	is "$said" "granaryfs: '$net/part-3.tar' has not answered for 30 s: the storage that it is \
on hangs; look at it as user id $one_uid, with ls(1), say, and mount when that returns" \
		"storage that hangs: its sentence"
	kill -CONT "$storage"
	check "storage that hangs: no process is left" wait_until 20 no_daemon "$mnt"
}

# ---- Storage that never answers root ------------------------------------------------

# mount_stubborn close|ask: what it does (stubborn.c). Sets $stubborn.
mount_stubborn() {
	[ -d "$work/stubborn" ] || mkdir "$work/stubborn"
	"$abs_top_builddir/tests/bin/stubborn" "$one_uid" "$one_gid" "$far" "$work/stubborn" \
		"$1" >"$work/storage" 2>&1 &
	stubborn=$!
	started+=("$stubborn")
	at_exit umount -l "$work/stubborn"
	wait_until 20 as "$one" test -e "$work/stubborn/small.tar"
	ok $? "storage that leaves root waiting: $1" || bail "$(cat "$work/storage")"
}

end_stubborn() {
	kill -KILL "$stubborn"
	wait_until 20 no_daemon "$mnt"
	ok $? "$1: no process is left when its storage has ended"
	umount -l "$work/stubborn"
}

# A process that closes a file there waits, even when it is killed.
closing_hangs() {
	local began=$SECONDS
	mount_stubborn close
	timeout -k 5 30 "$daemon" -o "user=$one,index=require" "$work/stubborn/part-2.tar" \
		"$mnt" >"$work/said" 2>&1
	is $? 3 "closing hangs: a refusal"
	grep -q -F "index=require" "$work/said"
	ok $? "closing hangs: its sentence" || diag "$(cat "$work/said")"
	watch_mount "$mnt"
	timeout -k 5 30 "$daemon" -o "user=$one,index=require" "$work/stubborn/small.tar" "$mnt"
	is $? 0 "closing hangs: the launcher ends"
	at_most $((SECONDS - began)) 20 "closing hangs: in time"
	shows 1 "closing hangs: a file"
	check "closing hangs: unmounted" timeout -k 5 30 "$granary" umount "$mnt"
	end_stubborn "closing hangs"
}

# Others may look at it: root, too, and then waits.
asking_hangs() {
	local began=$SECONDS
	as "$one" touch "$far/log"
	mount_stubborn ask
	timeout -k 5 30 "$daemon" -o "user=$one,log=$work/stubborn/log" "$work/ones/near.tar" \
		"$mnt" >"$work/said" 2>&1
	is $? 0 "asking hangs: a log there" || diag "$(cat "$work/said")"
	at_most $((SECONDS - began)) 20 "asking hangs: in time"
	shows 1 "asking hangs, with a log there: a file"
	left "asking hangs, with a log there"
	timeout -k 5 30 "$daemon" -o "user=$one,index=require" "$work/stubborn/small.tar" "$mnt"
	is $? 0 "asking hangs: an index there is used"
	shows 1 "asking hangs: a file"
	check "asking hangs: unmounted" timeout -k 5 30 "$granary" umount "$mnt"
	end_stubborn "asking hangs"
}

# ---- The indexer ------------------------------------------------------------------

# The same member many times: a long scan, a small tree.
make_long_archive() {
	"$python" - "$work/ones/long.tar" <<-'EOS'
		import sys, tarfile
		block = tarfile.TarInfo("x").tobuf()
		with open(sys.argv[1], "wb") as out:
		    for _ in range(1200):
		        out.write(block * 1000)
		    out.write(bytes(1024))
	EOS
	chown "$one_uid:$one_gid" "$work/ones/long.tar"
}

# indexers_of PLACE: that look for it.
indexers_of() {
	local pid
	# not of all processes: the arguments of one that hangs cannot be read
	for pid in $(pgrep -U "$one_uid" -x granary); do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -F -- "index=$1" |
			grep -q -F -- for-mount && echo "$pid"
	done
}

has_indexer() {
	[ -n "$(indexers_of "$1")" ]
}

no_indexer() {
	! has_indexer "$1"
}

# Stops the indexer at its claim, from when on it blocks TERM, with its id in the file
# `indexers`. A shell that looks through /proc is too slow for that. In the background; it
# looks once `looking` is there.
start_to_stop_indexer() {
	rm -f "$work/looking" "$work/indexers"
	timeout 60 "$python" - "index=$1" "$work/looking" "$one_uid" >"$work/indexers" <<-'EOS' &
		import glob, os, signal, sys, time
		words = sys.argv[1].encode(), b"--for-mount"
		user = "\nUid:\t%s\t" % sys.argv[3]
		open(sys.argv[2], "w").close()
		while True:
		    stopped = []
		    for directory in glob.glob("/proc/[0-9]*"):
		        try:
		            status = open(directory + "/status").read()
		            # The arguments of a process that hangs cannot be read.
		            line = open(directory + "/cmdline", "rb").read() if user in status else b""
		        except OSError:
		            continue
		        blocked = int(status.split("SigBlk:")[1].split()[0], 16)
		        if all(word in line for word in words) and blocked & 1 << signal.SIGTERM - 1:
		            os.kill(int(directory[6:]), signal.SIGSTOP)
		            stopped.append(directory[6:])
		    if stopped:
		        print(*stopped)
		        sys.exit()
		    time.sleep(0.001)
	EOS
	stopper=$!
	started+=("$stopper")
	wait_until 20 test -e "$work/looking"
}

# One of the indexers asks the storage, which does not answer.
writes_index() {
	local pid
	for pid in $indexers; do
		in_request "$pid" && return
	done
	return 1
}

# hang_indexer: a mount whose indexer waits for its storage, from its claim on. Sets
# $launcher and $indexers. On a busy machine the indexer may be stopped too late, and ends.
hang_indexer() {
	start_to_stop_indexer "$net/long.gidx"
	"$daemon" -o "user=$one,index=$net/long.gidx" "$work/ones/long.tar" "$mnt" \
		2>"$work/said" &
	launcher=$!
	started+=("$launcher")
	wait "$stopper" || return 1
	indexers=$(cat "$work/indexers")
	kill -STOP "$storage"
	# shellcheck disable=SC2086  # one or two
	kill -CONT $indexers
	wait_until 20 writes_index_or_ended
	writes_index && return
	kill -CONT "$storage"
	wait "$launcher"
	"$granary" umount "$mnt"
	wait_until 10 no_indexer "$net/long.gidx"
	as "$one" rm -f "$net/long.gidx"
	return 1
}

writes_index_or_ended() {
	writes_index || process_gone "$launcher"
}

# Its storage hangs when it has begun.
indexer_hangs() {
	local tries=5
	make_long_archive
	until hang_indexer; do
		[ $((--tries)) -gt 0 ] || break
	done
	ok $((tries == 0)) "an indexer that hangs: it has begun" || diag "$(cat "$work/said")"
	check "an indexer that hangs: it is still there" has_indexer "$net/long.gidx"
	kill -TERM "$launcher"
	wait_until 10 process_gone "$launcher"
	ok $? "an indexer that hangs: TERM ends the launcher"
	wait "$launcher"
	is $? 143 "an indexer that hangs: the launcher's status"
	# the kernel keeps it: a file that it has open there is closed by its storage
	kill -CONT "$storage"
	wait_until 10 no_indexer "$net/long.gidx"
	ok $? "an indexer that hangs: it ends when its storage answers"
}

make_archives
mount_storage
opens_sources
others_files
index_elsewhere
log_and_fifo
crashing user_ends_it
launcher_ends
storage_hangs
closing_hangs
asking_hangs
indexer_hangs
finish
