#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# From the command line to the last unmount: granaryfs returns when the mount
# answers, holds nothing of its caller's, and ends when it should.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar timeout

make_archive() {
	mkdir -p "$work/tree/directory"
	echo content >"$work/tree/file"
	head -c 200000 /dev/urandom >"$work/tree/directory/large"
	tar -C "$work/tree" -cf "$work/t.tar" .
}

# start ARGUMENTS: granaryfs as a user starts it, in the background.
start() {
	watch_mount "$mnt"
	timeout 30 "$granaryfs" "$@"
}

ends() {
	wait_until 10 no_daemon "$mnt" && not_mounted "$mnt"
}

# left DESCRIPTION: unmounts what `start` mounted.
left() {
	leave_mount "$mnt"
	check "$1: unmounted, and the process ended" ends
}

answers_at_once() {
	local i failed=0
	for i in 1 2 3 4 5 6 7 8 9 10; do
		start "$work/t.tar" "$mnt" && [ "$(cat "$mnt/file")" = content ] ||
			failed=$((failed + 1))
		leave_mount "$mnt"
		wait_until 10 no_daemon "$mnt"
	done
	is "$failed" 0 "the mount answers when granaryfs returns, ten times of ten"
}

holds_nothing() {
	# A daemon that keeps the pipe open would keep cat waiting.
	# shellcheck disable=SC2016  # the inner shell expands it
	check "standard output and error are let go" timeout 10 \
		sh -c '"$1" "$2" "$3" 2>&1 | cat' sh "$granaryfs" "$work/t.tar" "$mnt"
	watch_mount "$mnt"
	is "$(cat "$mnt/file")" content "and the mount is there"
	daemon_session
	left "in a pipe"
}

# A lock of the caller's is the caller's, and not held for as long as the mount.
keeps_no_lock() {
	(
		exec 9>"$work/lock"
		flock 9
		exec granaryfs "$work/t.tar" "$mnt"
	)
	is "$?" 0 "mounted under a lock"
	watch_mount "$mnt"
	flock -n "$work/lock" true
	ok $? "the daemon does not keep the lock"
	left "the lock's mount"
}

daemon_session() {
	local pid
	pid=$(daemon_pids "$mnt" | head -n 1)
	is "$(readlink "/proc/$pid/cwd")" / "the daemon's directory is /"
	[ "$(ps -o sid= -p "$pid" | tr -d ' ')" != "$(ps -o sid= -p $$ | tr -d ' ')" ]
	ok $? "the daemon is in a session of its own"
}

status_of_parent() {
	start "$work/t.tar" "$mnt"
	is $? 0 "status 0 when it is mounted"
	left "status"
	start "$work/none.tar" "$mnt" 2>/dev/null
	is $? 2 "status 2 when it is not"
}

foreground() {
	local pid
	mount_ok "-f: mounted" -o index=off "$work/t.tar" "$mnt" || return
	pid=${mount_pid[$mnt]}
	is "$(daemon_pids "$mnt")" "$pid" "-f: the process that was started serves"
	umount_ok "$mnt" "-f: umount from outside ends it"
}

# The findings of a mount in the foreground that makes its index are told once, there.
foreground_findings() {
	local log=$work/findings.log
	(cd "$work" && printf 'one' >0.jpg && tar -cf inner.tar 0.jpg && tar -cf "$work/outer.tar" inner.tar)
	printf 'none.jpg 0\n' >"$work/none.map"
	watch_mount "$mnt"
	"$granaryfs" -f -o "index=off,names=$work/none.map" "$work/outer.tar" "$mnt" 2>"$log" &
	started+=($!)
	check "-f: findings: mounted" wait_until 30 is_mounted "$mnt"
	is "$(grep -c 'no file here has one of its 1 names' "$log")" 1 "-f: a warning is told once" ||
		diag "$(cat "$log")"
	is "$(grep -c 'an archive inside' "$log")" 1 "-f: so is what is usual" || diag "$(cat "$log")"
	left "-f: findings"
}

# A lock that it is started under is held for as long as it runs, and what it was given
# as its standard streams stays that.
foreground_descriptors() {
	local pid n before=() after=() log=$work/foreground.log
	watch_mount "$mnt"
	exec 9>"$work/lock"
	flock 9
	"$granaryfs" -f -o index=off "$work/t.tar" "$mnt" </dev/zero >"$work/out" 2>"$log" &
	pid=$!
	started+=("$pid")
	exec 9>&-
	check "-f: mounted, under a lock" wait_until 30 is_mounted "$mnt"
	is "$(cat "$mnt/file")" content "-f: it is served"
	for n in 0 1 2 9; do
		after+=("$(readlink "/proc/$pid/fd/$n")")
	done
	before=(/dev/zero "$work/out" "$log" "$work/lock")
	is "${after[*]}" "${before[*]}" "-f: the caller's descriptors are what they were"
	refuse "-f: the lock is held" flock -n "$work/lock" true
	leave_mount "$mnt"
	check "-f: the process ended" ends
	check "-f: the lock is free" flock -n "$work/lock" true
}

# Signals that no program expects: neither process ends of them.
unexpected_signals() {
	local signal server
	mount_ok "unexpected signals: mounted" -o index=off "$work/t.tar" "$mnt" || return
	wait_until 10 test -n "$(server_pid "$mnt")"
	for signal in PIPE ALRM VTALRM PROF IO PWR XCPU XFSZ USR2 RTMIN RTMAX; do
		kill -"$signal" "${mount_pid[$mnt]}"
	done
	for signal in QUIT PIPE ALRM VTALRM PROF IO PWR XCPU XFSZ RTMIN RTMAX; do
		server=$(server_pid "$mnt")
		kill -"$signal" "$server"
	done
	sleep 0.3 # for any of them to end it; some stay pending
	is "$(cat "$mnt/file")" content "unexpected signals: it is served"
	is "$(requests "$mnt" | awk '$1 == "servers_started" { print $2 }')" 1 \
		"unexpected signals: by the same server"
	is "$(daemon_pids "$mnt")" "${mount_pid[$mnt]}" "unexpected signals: and supervisor"
	umount_ok "$mnt" "unexpected signals: umount ends it"
}

signals() {
	local signal
	for signal in TERM INT HUP; do
		mount_ok "$signal: mounted" "$work/t.tar" "$mnt" || continue
		cat "$mnt/file" >/dev/null
		kill -"$signal" "${mount_pid[$mnt]}"
		daemon_status "${mount_pid[$mnt]}" "$mnt" >"$work/said"
		ok $? "$signal: the process ends with 0" || diag "$(cat "$work/said")"
		check "$signal: unmounted" not_mounted "$mnt"
	done
}

# With a file open the first signal takes the mount away and leaves the reader
# its file; the process ends with the last file, or with a second signal.
signal_when_busy() {
	local how pid
	for how in "the file is closed" "a second TERM"; do
		start "$work/t.tar" "$mnt"
		exec 8<"$mnt/directory/large"
		pid=$(daemon_pids "$mnt")
		kill -TERM "$pid"
		check "TERM with a file open: unmounted" wait_until 10 not_mounted "$mnt"
		cmp -s - "$work/tree/directory/large" <&8
		ok $? "TERM with a file open: it can be read on"
		[ "$how" = "a second TERM" ] && kill -TERM "$pid"
		[ "$how" = "a second TERM" ] || exec 8<&-
		check "TERM with a file open: the process ends after $how" ends
		exec 8<&-
	done
}

# A start that a signal ended leaves no mount, whenever the signal came.
signal_to_the_launcher() {
	local pid status wrong=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$granaryfs" -o index=off "$work/t.tar" "$mnt" &
		pid=$!
		wait_until 20 mounted_or_ended "$pid"
		kill -TERM "$pid" 2>/dev/null
		wait "$pid"
		status=$?
		if [ "$status" -eq 0 ]; then
			leave_mount "$mnt" || wrong=$((wrong + 1))
		elif is_mounted "$mnt"; then
			wrong=$((wrong + 1))
			leave_mount "$mnt"
		fi
		# one that ends looks once more at what is mounted there
		wait_until 10 no_daemon "$mnt"
	done
	is "$wrong" 0 "TERM to the process that waits: no mount, or no failure, ten times of ten"
}

# launch HOW: what becomes of the process that waits for a daemon that is `stopped` as
# soon as there is one; `kept` so, while who waits is told to end; or `killed` as soon as
# it has mounted. Prints its status, or "waits".
launch() {
	watch_mount "$mnt"
	"$python" - "$1" "$mnt" "$granaryfs" "$work/t.tar" "$mnt" <<-'EOS'
		import os, signal, subprocess, sys, threading, time
		how, mnt, command = sys.argv[1], sys.argv[2], sys.argv[3:]
		launcher = subprocess.Popen(command, stderr=subprocess.DEVNULL)

		def daemon():
		    """The child that has a session of its own; 0: none yet."""
		    with open(f"/proc/{launcher.pid}/task/{launcher.pid}/children") as children:
		        for pid in map(int, children.read().split()):
		            try:
		                if os.getsid(pid) == pid:
		                    return pid
		            except ProcessLookupError:
		                pass
		    return 0

		def is_mounted():
		    with open("/proc/self/mountinfo") as lines:
		        return any(line.split()[4] == mnt for line in lines)

		def send(pid, number):
		    try:
		        os.kill(pid, number)
		        return True
		    except ProcessLookupError:
		        return False

		pid = 0
		while not pid and launcher.poll() is None:
		    pid = daemon()
		while how != "stopped" and not is_mounted() and launcher.poll() is None:
		    pass
		if pid:
		    send(pid, signal.SIGKILL if how == "killed" else signal.SIGSTOP)
		if pid and how == "kept":
		    launcher.send_signal(signal.SIGTERM)
		    while launcher.poll() is None and send(pid, signal.SIGSTOP):
		        time.sleep(0.0002)
		try:
		    print(launcher.wait(60))
		except subprocess.TimeoutExpired:
		    print("waits")
		    launcher.kill()
		if pid:
		    send(pid, signal.SIGCONT)
	EOS
}

# A daemon may be stopped or killed at any moment: who waits for it does not wait on.
daemon_that_does_not_report() {
	local status wrong=0 how
	for how in stopped stopped stopped; do
		status=$(launch "$how")
		[ "$status" = 0 ] && [ "$(cat "$mnt/file")" = content ] || wrong=$((wrong + 1))
		leave_mount "$mnt"
		wait_until 10 no_daemon "$mnt"
	done
	is "$wrong" 0 "a daemon that is stopped before it reports goes on, three times of three"
	wrong=0
	for how in kept killed killed killed killed killed; do
		status=$(launch "$how")
		[ "$status" != waits ] || wrong=$((wrong + 1))
		[ "$status" = 0 ] || ! is_mounted "$mnt" || wrong=$((wrong + 1))
		leave_mount "$mnt"
		wait_until 10 no_daemon "$mnt" || wrong=$((wrong + 1))
	done
	is "$wrong" 0 "of one that is not let go, or killed, neither mount nor process is left"
}

mounted_or_ended() {
	is_mounted "$mnt" || process_gone "$1"
}

# The same member many times: a long scan, a small tree.
make_long_archive() {
	"$python" - "$work/t.tar" "$work/long.tar" <<-'EOS'
		import sys
		member = open(sys.argv[1], "rb").read(512)
		with open(sys.argv[2], "wb") as out:
		    for _ in range(400):
		        out.write(member * 1000)
	EOS
}

# Signals that the shell has background processes ignore are not ignored. Sets $launcher.
launch_long() {
	setsid "$python" -c 'import os, signal, sys
for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(n, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$granaryfs" "$work/long.tar" "$mnt" &
	launcher=$!
	started+=("$launcher")
}

# left_nothing WHAT
left_nothing() {
	wait_until 10 no_indexer
	ok $? "$1: and so did the indexer" || end_indexers
	is "$(find "$work" -name 'long.tar.gidx*')" "" "$1: nothing is left"
}

end_indexers() {
	local pid
	for pid in $(indexer_pids); do
		kill -KILL "$pid"
	done
	rm -f "$work"/long.tar.gidx*
}

signal_while_indexing() {
	local signal
	for signal in TERM INT HUP; do
		launch_long
		wait_until 20 indexer_runs
		kill "-$signal" "$launcher"
		wait "$launcher"
		[ "$?" -gt 128 ]
		ok $? "$signal while indexing: ended by it"
		left_nothing "$signal while indexing"
	done
}

# The two processes of an indexer, once it holds its claim and scans, are stopped.
stop_indexer() {
	timeout 60 "$python" - "$granary" "$work/long.tar" <<-'EOS'
		import glob, os, signal, sys, time
		tool, source = sys.argv[1:]
		def indexers():
		    for directory in glob.glob("/proc/[0-9]*"):
		        try:
		            if (os.readlink(directory + "/exe") == tool and source.encode() in
		                    open(directory + "/cmdline", "rb").read().split(b"\0")):
		                yield int(directory[6:]), len(os.listdir(directory + "/task"))
		        except OSError:
		            pass
		while True:
		    found = list(indexers())
		    if len(found) == 2 and max(threads for _, threads in found) > 3:
		        for pid, _ in found:
		            os.kill(pid, signal.SIGSTOP)
		        break
		    time.sleep(0.001)
	EOS
}

# stopped_indexer SIGNAL: to the launcher. A user may stop what runs as that user.
stopped_indexer() {
	launch_long
	stop_indexer
	ok $? "$1 to the launcher of a stopped indexer: there is one"
	[ -e "$work/long.tar.gidx.claim" ]
	ok $? "$1 to the launcher of a stopped indexer: which has claimed"
	kill "-$1" "$launcher"
	wait "$launcher"
	[ "$?" -gt 128 ]
	ok $? "$1 to the launcher of a stopped indexer: ended by it"
}

stopped_indexers() {
	stopped_indexer TERM
	left_nothing "TERM to the launcher of a stopped indexer"
	stopped_indexer KILL
	wait_until 10 no_indexer
	ok $? "KILL to the launcher of a stopped indexer: and so did the indexer"
	end_indexers
}

# Signals that the launcher's caller ignores are ignored while the launcher waits, too.
ignored_while_indexing() {
	(
		trap '' HUP
		exec "$granaryfs" "$work/long.tar" "$mnt"
	) &
	launcher=$!
	started+=("$launcher")
	watch_mount "$mnt"
	wait_until 20 indexer_runs
	kill -HUP "$launcher"
	wait "$launcher"
	is $? 0 "HUP while indexing, ignored: mounted"
	left "HUP while indexing, ignored"
	rm -f "$work"/long.tar.gidx*
}

indexer_pids() {
	grep -l -a -F -- for-mount /proc/[0-9]*/cmdline 2>/dev/null |
		xargs -r grep -l -a -F -- "$work/long.tar" 2>/dev/null | cut -d / -f 3
}

indexer_runs() {
	[ -n "$(indexer_pids)" ]
}

no_indexer() {
	! indexer_runs
}

granary_umount_command() {
	start "$work/t.tar" "$mnt"
	check "granary umount" "$granary" umount "$mnt"
	check "granary umount: the process ended" ends
	check "granary umount again: status 0" "$granary" umount "$mnt"
	refuse "granary umount of /proc" "$granary" umount /proc
	check "and /proc is still there" test -e /proc/self
	if is_root; then
		mkdir -p "$work/other" && mount -t tmpfs none "$work/other"
		at_exit umount "$work/other"
		refuse "granary umount of somebody else's mount" "$granary" umount "$work/other"
		check "which is still there" mountpoint -q "$work/other"
	fi
}

stale_mount() {
	local pid
	start "$work/t.tar" "$mnt"
	pid=$(daemon_pids "$mnt" | head -n 1)
	[ -n "$pid" ] && kill -KILL "$pid"
	wait_until 10 no_daemon "$mnt"
	check "kill -9: an error, not a hang" wait_until 10 says_dead "$mnt/file"
	check "granary umount clears it" "$granary" umount "$mnt"
	check "kill -9: unmounted" not_mounted "$mnt"
	start "$work/t.tar" "$mnt"
	is $? 0 "and it can be mounted again"
	left "after kill -9"
}

arguments() {
	start "$work/t.tar" "$mnt" -o uid=77 -o gid=78
	is "$(stat -c %u,%g "$mnt/file")" 77,78 "options after the positionals, two -o"
	left "options last"
	start -o uid=79,gid=80 -o umask=077 -- "$work/t.tar" "$mnt"
	is "$(stat -c %u,%g,%a "$mnt/file")" 79,80,600 "a list in -o, another -o, and --"
	left "options first"
	(cd "$work" && timeout 30 "$granaryfs" t.tar mnt)
	is "$(cat "$mnt/file")" content "relative paths"
	leave_mount "$mnt"
	wait_until 10 no_daemon mnt
	start "$work//t.tar" "$mnt/"
	is "$(cat "$mnt/file")" content "a slash at the end of the mount point"
	leave_mount "$mnt"
	wait_until 10 no_daemon "$mnt/"
	start -s "$work/t.tar" "$mnt"
	is "$(cat "$mnt/file")" content "-s: one thread"
	left "-s"
}

odd_paths() {
	local odd="$work/a b,c=d"$'\n'"e"
	mkdir -p "$odd/mnt"
	cp "$work/t.tar" "$odd/t.tar"
	watch_mount "$work/link"
	timeout 30 "$granaryfs" "$odd/t.tar" "$odd/mnt"
	is "$(cat "$odd/mnt/file")" content "spaces, commas and newlines in paths"
	leave_mount "$odd/mnt"
	wait_until 10 test ! -e "$odd/mnt/file"
	ok $? "and it can be unmounted"
}

# Files that a caller may open, but the daemon may find no path to.
descriptor_source() {
	exec 7<"$work/t.tar"
	start -o index=off /proc/self/fd/7 "$mnt"
	is $? 0 "/proc/self/fd/N as a source"
	exec 7<&-
	is "$(cat "$mnt/file")" content "and it is read after the caller closed it"
	cmp -s "$work/tree/directory/large" "$mnt/directory/large"
	ok $? "in the background too"
	left "/proc/self/fd"
}

mount_command() {
	local source="$granaryfs#$work/t.tar"
	command -v mount.fuse >/dev/null || [ -x /sbin/mount.fuse ] || {
		skip "mount.fuse is not installed" "mount(8)"
		return
	}
	watch_mount "$mnt"
	check "mount -t fuse" timeout 30 mount -t fuse "$source" "$mnt" -o uid=91,allow_other
	is "$(stat -c %u "$mnt/file")" 91 "mount -t fuse: options arrive"
	check "umount" umount "$mnt"
	check "umount: the process ended" ends
	check "mount -t fuse -o ro,nosuid,nodev,noatime" timeout 30 \
		mount -t fuse -o ro,nosuid,nodev,noatime "$source" "$mnt"
	is "$(cat "$mnt/file")" content "mount -t fuse: the usual options are understood"
	umount "$mnt"
	check "umount: the process ended" ends
}

# The archive is replaced under the mount: what was mounted stays.
archive_removed() {
	cp "$work/t.tar" "$work/gone.tar"
	start -o index=off "$work/gone.tar" "$mnt"
	rm "$work/gone.tar"
	cmp -s "$work/tree/directory/large" "$mnt/directory/large"
	ok $? "a removed archive can still be read"
	left "a removed archive"
}

# A parent that ignores SIGCHLD passes that on through exec.
parent_without_children() {
	rm -f "$work/t.tar.gidx"
	(
		trap '' CHLD
		start "$work/t.tar" "$mnt"
	)
	is "$?" 0 "SIGCHLD ignored by the parent: mounted, with a new index"
	left "SIGCHLD ignored"
	(
		trap '' CHLD
		"$granary" index --force "$work/t.tar" >/dev/null
	)
	is "$?" 0 "SIGCHLD ignored by the parent: granary index"
}

make_archive
answers_at_once
parent_without_children
status_of_parent
holds_nothing
keeps_no_lock
foreground
foreground_findings
foreground_descriptors
unexpected_signals
signals
signal_when_busy
signal_to_the_launcher
daemon_that_does_not_report
make_long_archive
signal_while_indexing
stopped_indexers
ignored_while_indexing
rm "$work/long.tar"
granary_umount_command
stale_mount
arguments
odd_paths
descriptor_source
archive_removed
if is_root; then
	mount_command
else
	skip "only root may use mount(8)" "mount -t fuse"
fi
finish
