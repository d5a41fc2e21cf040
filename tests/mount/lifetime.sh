#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# Messages that it is mounted, and reasons for its end: notify_pipe=, NOTIFY_SOCKET,
# log=, timeout=; mounts that race for one place; storage that hangs.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar timeout
need_python socket

make_archive() {
	mkdir -p "$work/tree/directory"
	echo content >"$work/tree/file"
	head -c 200000 /dev/urandom >"$work/tree/directory/large"
	tar -C "$work/tree" -cf "$work/t.tar" .
	"$granary" index "$work/t.tar" >/dev/null
}

start() {
	watch_mount "$mnt"
	timeout 30 "$granaryfs" "$@"
}

gone() {
	wait_until 30 not_mounted "$mnt" && wait_until 10 no_daemon "$mnt"
}

# ---- notify_pipe= ------------------------------------------------------------

pipe_says() {
	local reader
	mkfifo "$work/pipe"
	timeout 30 cat "$work/pipe" >"$work/said" &
	reader=$!
	start -o notify_pipe="$work/pipe" "$work/t.tar" "$mnt"
	is $? 0 "notify_pipe, its reader first: mounted"
	wait "$reader"
	is "$?,$(cat "$work/said")" 0,s "the reader gets s, and the end"
	leave_mount "$mnt"
	check "notify_pipe: ended" gone
	start -o notify_pipe="$work/pipe" "$work/t.tar" "$mnt"
	is $? 0 "notify_pipe, its reader later: mounted"
	is "$(timeout 30 cat "$work/pipe")" s "the later reader gets s, and the end"
	leave_mount "$mnt"
	check "notify_pipe: ended" gone
}

pipe_says_no() {
	local reader
	timeout 30 cat "$work/pipe" >"$work/said" &
	reader=$!
	start -o notify_pipe="$work/pipe" "$work/none.tar" "$mnt" 2>/dev/null
	is $? 2 "notify_pipe, and a source that does not exist: status 2"
	wait "$reader"
	is "$?,$(cat "$work/said")" 0,f "the reader gets f"
	timeout 30 cat "$work/pipe" >"$work/said" &
	reader=$!
	start -f -o notify_pipe="$work/pipe" "$work/t.tar" "$work/no-directory" 2>/dev/null
	is $? 32 "notify_pipe with -f, and no mount point: status 32"
	wait "$reader"
	is "$?,$(cat "$work/said")" 0,f "the reader gets f"
	echo precious >"$work/plain"
	refuse "notify_pipe: a plain file is refused" \
		start -o notify_pipe="$work/plain" "$work/t.tar" "$mnt"
	is "$(cat "$work/plain")" precious "and stays as it was"
	check "nothing is mounted" not_mounted "$mnt"
}

# ---- NOTIFY_SOCKET -----------------------------------------------------------

# Prints each datagram, its lines joined by spaces, until the file $2 is there.
listen() {
	"$python" - "$1" "$2" <<'PYTHON'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(0.1)
print("listening", flush=True)
while not os.path.exists(sys.argv[2]):
    try:
        print(s.recv(4096).decode().replace("\n", " "), flush=True)
    except socket.timeout:
        pass
PYTHON
}

socket_says() {
	local listener pid
	listen "$work/socket" "$work/enough" >"$work/said" &
	listener=$!
	wait_until 20 grep -q listening "$work/said"
	NOTIFY_SOCKET=$work/socket start "$work/t.tar" "$mnt"
	pid=$(daemon_pids "$mnt")
	check "READY=1" wait_until 20 grep -q READY=1 "$work/said"
	is "$(grep -o 'MAINPID=[0-9]*' "$work/said" | head -n 1)" "MAINPID=$pid" \
		"MAINPID is the supervisor's"
	kill -TERM "$pid"
	check "STOPPING=1" wait_until 20 grep -q STOPPING=1 "$work/said"
	check "NOTIFY_SOCKET: ended" gone
	touch "$work/enough"
	wait "$listener"
}

# ---- log= --------------------------------------------------------------------

log_file() {
	(cd "$work" && start -o log=the.log t.tar mnt)
	is $? 0 "log=, a relative path: mounted"
	kill -USR1 "$(daemon_pids mnt)"
	check "the counters are in the file" wait_until 20 grep -q 'stats: end' "$work/the.log"
	refuse "a line without time and process" \
		grep -v -E '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z .*[0-9]+' "$work/the.log"
	leave_mount "$mnt"
	check "log=: ended" wait_until 10 no_daemon mnt
	refuse "log= in a directory that does not exist" \
		start -o log="$work/none/log" "$work/t.tar" "$mnt"
	check "and then nothing is mounted" gone
}

# ---- timeout= ----------------------------------------------------------------

timeout_passes() {
	is_root || {
		skip "only root may expire mounts" "timeout="
		return
	}
	start -o timeout=1 "$work/t.tar" "$mnt"
	exec 8<"$mnt/directory/large"
	sleep 4 # longer than the timeout
	cmp -s - "$work/tree/directory/large" <&8
	ok $? "timeout=1: a file that is open is use"
	check "timeout=1: still mounted" is_mounted "$mnt"
	exec 8<&-
	check "timeout=1: closed, it goes, and the daemon with it" gone
	start -o timeout=1 "$work/t.tar" "$mnt"
	# for longer than the timeout
	(cd "$mnt" && sleep 4 && [ "$(cat file)" = content ])
	ok $? "timeout=1: a working directory is use"
	check "timeout=1: left, it goes" gone
	start -o timeout=3 "$work/t.tar" "$mnt"
	(
		end=$((SECONDS + 8))
		while [ "$SECONDS" -lt "$end" ]; do cat "$mnt/file"; done
	) >/dev/null 2>&1
	ok $? "timeout=3: read from the page cache for 8 s"
	check "timeout=3: that is use" is_mounted "$mnt"
	check "timeout=3: then it goes" gone
}

# Through fusermount3: /dev/fuse is opened for all in a mount namespace of its own.
timeout_of_nobody() {
	if ! is_root || [ ! -u "$(command -v fusermount3)" ]; then
		skip "only root can let nobody mount" "timeout= through fusermount3"
		return
	fi
	public_programs
	mkdir -m 777 "$work/theirs"
	cat >"$work/as-nobody" <<'SH'
mount -t tmpfs none /dev/shm && mknod -m 666 /dev/shm/fuse c 10 229 &&
	mount --bind /dev/shm/fuse /dev/fuse || exit 9
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
nobody "$1/programs/granaryfs" -o index=off,timeout=1 "$1/t.tar" "$1/theirs" 2>"$1/said" &&
	exit 8
grep -q opens=visible "$1/said" || exit 7
nobody "$1/programs/granaryfs" -o index=off,timeout=1,opens=visible "$1/t.tar" "$1/theirs" ||
	exit 6
nobody cat "$1/theirs/file" >/dev/null || exit 5
for i in $(seq 300); do
	grep -q -F " $1/theirs " /proc/mounts || exit 0
	sleep 0.1
done
exit 4
SH
	unshare -m --propagation private bash "$work/as-nobody" "$work"
	is $? 0 "timeout= through fusermount3: refused, and with opens=visible it goes"
}

# ---- Who waits for the mount is ended -------------------------------------------

# Its daemon waits for a fusermount3 that does not end, and hears of no signal.
launcher_is_ended() {
	if ! is_root || [ ! -u "$(command -v fusermount3)" ]; then
		skip "only root can let nobody mount" "a launcher is ended, its daemon hangs"
		return
	fi
	public_programs
	mkdir "$work/hung" && chmod 777 "$work/hung"
	cat >"$work/hanging" <<'SH'
mount -t tmpfs none /dev/shm && mknod -m 666 /dev/shm/fuse c 10 229 &&
	mount --bind /dev/shm/fuse /dev/fuse || exit 9
helper=$(command -v fusermount3)
printf '#!/bin/sh\ntouch "%s/hung/asked"\nexec sleep 1000\n' "$1" >/dev/shm/hangs
chmod 755 /dev/shm/hangs
mount -o remount,exec /dev/shm && mount --bind /dev/shm/hangs "$helper" || exit 8
setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$1/programs/granaryfs" -o index=off "$1/t.tar" "$1/hung/mnt" 2>/dev/null &
launcher=$!
for i in $(seq 300); do
	[ -e "$1/hung/asked" ] && break
	sleep 0.1
done
[ -e "$1/hung/asked" ] || exit 7
kill -TERM "$launcher"
timeout 60 tail --pid="$launcher" -f /dev/null || exit 6
wait "$launcher"
[ $? -eq 143 ] || exit 5
SH
	mkdir "$work/hung/mnt" && chmod 777 "$work/hung/mnt"
	timeout 120 unshare -m -p -f --kill-child --mount-proc --propagation private \
		bash "$work/hanging" "$work"
	is $? 0 "a launcher is ended while fusermount3 hangs: it ends by that signal"
	check "and no daemon stays" no_daemon "$work/hung/mnt"
}

# ---- One place, several mounts -----------------------------------------------

race() {
	local round i mounted wrong=0
	for round in 1 2 3 4 5; do
		rm -f "$work"/won.*
		for i in 1 2 3 4 5 6; do
			timeout 60 "$granaryfs" "$work/t.tar" "$mnt" 2>/dev/null &&
				touch "$work/won.$i" &
		done
		wait
		mounted=$(mount_lines "$mnt" | wc -l)
		mounted="$mounted layer, $(find "$work" -name 'won.*' | wc -l) winner"
		if [ "$mounted" != "1 layer, 1 winner" ]; then
			wrong=$((wrong + 1))
			diag "round $round: $mounted"
		fi
		leave_mount "$mnt"
		gone || wrong=$((wrong + 1))
	done
	is "$wrong" 0 "six mounts at one place at once: one of them gets it, five times"
}

# ---- A server that is stopped -------------------------------------------------

# Its user may stop it, and all others would wait.
stopped_server() {
	local server
	start "$work/t.tar" "$mnt"
	server=$(server_pid "$mnt")
	kill -STOP "$server"
	is "$(timeout 60 cat "$mnt/file")" content "the server is stopped: files are read"
	[ "$(server_pid "$mnt")" != "$server" ]
	ok $? "by another one"
	leave_mount "$mnt"
	check "and it ends" gone
}

# ---- The next mount at the same place ------------------------------------------

# A daemon that ends must not take its successor's mount for its own.
one_after_the_other() {
	local i lost=0
	for i in $(seq 40); do
		start "$work/t.tar" "$mnt"
		sleep 0.05 # for the one before to do harm
		[ "$(cat "$mnt/file" 2>/dev/null)" = content ] || lost=$((lost + 1))
		# somebody else may look at it at that very moment
		if [ $((i % 2)) -eq 0 ]; then
			wait_until 10 leave_mount "$mnt"
		else
			"$granary" umount "$mnt"
		fi
	done
	is "$lost" 0 "one mount after the other at one place: forty of forty stay"
	check "and all end" gone
}

make_archive
stopped_server
one_after_the_other
pipe_says
pipe_says_no
socket_says
log_file
timeout_passes
timeout_of_nobody
launcher_is_ended
race
finish
