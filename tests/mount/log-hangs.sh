#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# The file of log= is on storage that hangs: the mount answers, a server that dies is
# replaced, and the log has its lines, or how many were lost, when the storage is back.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar timeout sshfs
[ -x /usr/lib/openssh/sftp-server ] || [ -x /usr/libexec/openssh/sftp-server ] ||
	lacking "sftp-server is not installed"

servers_may_die=1
far=$work/far
net=$work/net

make_archive() {
	mkdir "$work/tree" "$far" "$net"
	echo content >"$work/tree/file"
	head -c 200000 /dev/urandom >"$work/tree/large"
	tar -C "$work/tree" -cf "$work/t.tar" .
	"$granary" index -q "$work/t.tar" || bail "no index"
}

# Sets $storage, the process that answers for it.
mount_storage() {
	timeout 600 "$python" "$abs_top_srcdir/tests/mount/user_sshfs.py" 0 0 "$far" "$net" \
		>"$work/storage" 2>&1 &
	started+=($!)
	at_exit umount -l "$net"
	wait_until 20 grep -q -F " $net " /proc/mounts && wait_until 20 grep -q pid "$work/storage"
	ok $? "storage for the log" || bail "$(cat "$work/storage")"
	storage=$(awk '$1 == "pid" { print $2 }' "$work/storage")
	at_exit kill -CONT "$storage"
}

start() {
	watch_mount "$mnt"
	timeout -k 5 60 "$granaryfs" "$@"
}

gone() {
	wait_until 30 not_mounted "$mnt" && wait_until 10 no_daemon "$mnt"
}

# Not a signal that the supervisor has not looked at: what it logs it has logged.
has_heard() {
	awk '$1 == "ShdPnd:" { exit index("0145", substr($2, 14, 1)) == 0 }' "/proc/$1/status"
}

# The counters, so often.
log_counters() {
	local i supervisor
	supervisor=$(daemon_pids "$mnt")
	for ((i = 0; i < $1; i++)); do
		kill -USR1 "$supervisor"
		wait_until 20 has_heard "$supervisor" || return 1
	done
}

serves() {
	check "$1: ls answers" timeout -k 5 20 ls -l "$mnt"
	check "$1: df answers" timeout -k 5 20 df "$mnt"
	timeout -k 5 20 cmp "$mnt/large" "$work/tree/large"
	ok $? "$1: a file is read"
}

another_server() {
	local server=$1
	set -- $(server_pid "$mnt")
	[ $# -eq 1 ] && [ "$1" != "$server" ]
}

# counted LOG: all lines of counters, and those that were lost
counted() {
	awk '/ stats: / { n++ }
		match($0, /\([0-9]+ lines were lost\)/) { n += substr($0, RSTART + 1) + 0 }
		END { print n }' "$1"
}

# A dump may still be under way: the signal for it is taken before its lines are written.
counts_whole_dumps() {
	[ $(($(counted "$far/log") % $1)) -eq 0 ]
}

last_is_whole() {
	log_counters 1 && tail -n 1 "$far/log" | grep -q 'stats: end$'
}

log_hangs() {
	local server each dumps=20
	start -o "log=$net/log" "$work/t.tar" "$mnt"
	is $? 0 "mounted"
	wait_until 20 grep -q ': mounted$' "$far/log" # sshfs writes behind
	ok $? "the log says so" || diag "$(cat "$far/log")"
	log_counters 1
	check "the counters are there" wait_until 20 grep -q 'stats: end$' "$far/log"
	each=$(grep -c ' stats: ' "$far/log")
	server=$(server_pid "$mnt")
	kill -STOP "$storage"
	kill -KILL "$server"
	check "the log hangs: another server begins" wait_until 20 another_server "$server"
	serves "the log hangs"
	check "the supervisor takes signals" log_counters "$dumps"
	serves "more is logged than can wait"
	kill -CONT "$storage"
	check "the storage is back: the log goes on" wait_until 30 last_is_whole
	check "the log has the server's death" grep -q ': the server (process .* was ended' "$far/log"
	check "the log says how many lines were lost" grep -q '([0-9]* lines were lost)' "$far/log"
	check "and no line is missing otherwise" wait_until 20 counts_whole_dumps "$each"
	refuse "a line without time and process" \
		grep -v -E '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z granaryfs\[[0-9]+\]: ' "$far/log"
}

ends() {
	leave_mount "$mnt"
	check "unmounted: the daemon and the writer end" gone
	check "the log's last line" wait_until 20 grep -q 'the filesystem has ended$' "$far/log"
}

ends_while_it_hangs() {
	start -o "log=$net/second" "$work/t.tar" "$mnt"
	is $? 0 "another log: mounted"
	kill -STOP "$storage"
	is "$(timeout -k 5 20 cat "$mnt/file")" content "another log, which hangs: a file is read"
	leave_mount "$mnt"
	check "the log hangs: the daemon ends" wait_until 20 only_writer
	kill -CONT "$storage"
	check "the storage is back: the writer ends" gone
	check "with the log's last line" wait_until 20 grep -q 'the filesystem has ended$' "$far/second"
}

only_writer() {
	not_mounted "$mnt" && [ "$(mount_processes "$mnt")" = "$(log_writer "$mnt")" ]
}

has_two_ends() {
	[ "$(grep -c 'stats: end$' "$mnt/.granaryfs/log")" -eq 2 ]
}

# A signal to the daemon's processes, or of its user, and the log.
writer_is_ended() {
	local writer
	start -o "log=$work/log" "$work/t.tar" "$mnt"
	writer=$(log_writer "$mnt")
	is "$(readlink "/proc/$writer/cwd")" / "the writer keeps no directory busy"
	is "$(readlink "/proc/$writer"/fd/* | grep -v '^socket:' | LC_ALL=C sort | tr '\n' ' ')" \
		"/dev/null $work/log " "it has nothing open but the log and its socket"
	is "$(awk '/^Cap(Inh|Prm|Eff|Bnd|Amb):/ { print $2 }' "/proc/$writer/status" | sort -u)" \
		0000000000000000 "it has no capability"
	kill -TERM "$writer"
	kill -HUP "$writer"
	log_counters 1
	check "TERM and HUP do not end it" wait_until 20 grep -q 'stats: end$' "$work/log"
	kill -KILL "$writer"
	wait_until 10 process_gone "$writer"
	log_counters 1
	check "KILL does: lines are in the mount's own log" wait_until 20 has_two_ends
	is "$(grep -c 'stats: end$' "$work/log")" 1 "and not in the file"
	serves "without its writer"
	leave_mount "$mnt"
	check "without its writer: unmounted, and ended" gone
}

make_archive
mount_storage
log_hangs
ends
ends_while_it_hangs
writer_is_ended
finish
