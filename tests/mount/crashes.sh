#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A server that crashes on one file, or on one name: EIO there, after two crashes,
# and one line in the log; eight readers of everything else notice nothing. A server
# that crashes on many ends the mount. Where somebody kills servers no file is to blame.
#
# The crashes are in tests/faults, in a program that is made for tests.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar cmp timeout
tree=$work/tree
# shellcheck disable=SC2034  # for lib.sh
servers_may_die=yes
files=(a b c d e f)

make_program() {
	mkdir "$work/faulty"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
	granaryfs=$work/faulty/granaryfs
}

make_source() {
	local name i
	mkdir -p "$tree/bad" "$tree/good"
	for name in "${files[@]}"; do
		seq "$RANDOM" 60000 >"$tree/bad/$name"
	done
	for i in $(seq 100); do
		head -c "$((i * 1500))" /dev/urandom >"$tree/good/$i"
	done
	ln -s good/1 "$tree/link"
	tar --numeric-owner --format=pax -C "$tree" -cf "$work/t.tar" .
	"$granary" index "$work/t.tar" >/dev/null || bail "no archive"
}

# Inode numbers are those of the index: a mount that is well tells them.
find_inodes() {
	local name
	mount_ok "mounted" "$work/t.tar" "$mnt" || return
	for name in "${files[@]}"; do
		inode[$name]=$(stat -c %i "$mnt/bad/$name")
	done
	umount_ok "$mnt"
}
declare -A inode

# mounted WHAT CRASH...: and eight readers of all but the directory `bad`.
mounted() {
	local what=$1
	shift
	GRANARY_CRASH=$(IFS=';' && echo "$*") mount_ok "$what: mounted" "$work/t.tar" "$mnt" ||
		return
	rm -f "$work/enough" "$work/enough.reading"
	"$hammer" -u "$work/enough" "${left_out[@]}" "$tree" "$mnt" \
		>"$work/counts" 2>"$work/said" &
	readers=$!
	started+=("$readers")
}
left_out=(-x bad)
for name in "${files[@]}"; do
	left_out+=(-x "bad/$name")
done

unharmed() {
	touch "$work/enough"
	wait "$readers"
	ok $? "$1: eight readers of the others noticed nothing" || diag "$(cat "$work/said")"
	is "$(counted wrong) $(counted errors) $(counted hung)" "0 0 0" \
		"$1: no byte was wrong, no error, no hang"
	at_least "$(counted reads)" 1 "$1: and they did read"
	died=$((died + $(counter servers_started) - 1))
	reads=$((reads + $(counted reads)))
}
died=0
reads=0

log_lines() {
	grep -c -F -- "$1" "${mount_log[$mnt]}"
}

# is_eio WHAT COMMAND...: and in time.
is_eio() {
	local what=$1
	shift
	LC_ALL=C timeout "${EIO_SECONDS:-60}" "$@" >/dev/null 2>"$work/error"
	grep -q "Input/output error" "$work/error"
	ok $? "$what" || diag "$(cat "$work/error")"
}

# gives_up_on WHAT FILE...: each is EIO, and stays so without a further crash.
gives_up_on() {
	local what=$1 name
	shift
	for name; do
		is_eio "$what: $name answers EIO" cat "$mnt/bad/$name"
		is_eio "$what: $name answers EIO to the next one" cat "$mnt/bad/$name"
		check "$what: $name is still there" test -s "$mnt/bad/$name"
		is "$(log_lines "bad/$name: servers died")" 1 "$what: the log names $name once"
	done
}

one_file() {
	local signal
	for signal in SEGV ABRT; do
		mounted "$signal" "node=${inode[a]},signal=$signal" || continue
		gives_up_on "$signal" a
		is "$(counter servers_started)" 3 "$signal: two servers died of it"
		check "$signal: a file beside it can be read" cmp "$tree/bad/b" "$mnt/bad/b"
		unharmed "$signal"
		umount_ok "$mnt"
	done
}

once() {
	mounted "one crash" "node=${inode[a]},count=1" || return
	check "one crash: the file is read by the next server" cmp "$tree/bad/a" "$mnt/bad/a"
	is "$(counter servers_started)" 2 "one crash: there was one"
	is "$(counter requests_condemned)" 0 "one crash: no request was given up"
	unharmed "one crash"
	umount_ok "$mnt"
}

several_files() {
	mounted "three files" "node=${inode[a]}" "node=${inode[c]},signal=ABRT" \
		"node=${inode[e]}" || return
	gives_up_on "three files" a c e
	is "$(counter servers_started)" 7 "three files: two servers died of each"
	check "three files: those between them can be read" \
		cmp "$tree/bad/b" "$mnt/bad/b"
	unharmed "three files"
	umount_ok "$mnt"
}

# Two readers of one bad file at once.
together() {
	local one
	mounted "two at once" "node=${inode[a]}" || return
	LC_ALL=C cat "$mnt/bad/a" >/dev/null 2>"$work/one" &
	one=$!
	is_eio "two at once: EIO for the one" cat "$mnt/bad/a"
	wait "$one"
	check "two at once: and for the other" grep -q "Input/output error" "$work/one"
	at_most "$(counter servers_started)" 4 "two at once: two servers died of it, or three"
	unharmed "two at once"
	umount_ok "$mnt"
}

one_name() {
	mounted "a name" "name=cursed" || return
	is_eio "a name: it answers EIO" stat "$mnt/good/cursed"
	is_eio "a name: it answers EIO to the next one" stat "$mnt/good/cursed"
	is "$(counter servers_started)" 3 "a name: two servers died of it"
	is "$(log_lines "good/cursed: servers died")" 1 "a name: the log has its path once"
	is "$(LC_ALL=C stat "$mnt/good/blessed" 2>&1 | grep -c 'No such file')" 1 \
		"a name: another one that is not there is just that"
	check "a name: the directory can be listed" diff <(ls "$tree/good") <(ls "$mnt/good")
	unharmed "a name"
	umount_ok "$mnt"
}

# As lack of memory kills: no server can say what it died of.
killed() {
	mounted "killed" "node=${inode[a]},signal=KILL" || return
	is_eio "killed at one file: EIO at last" cat "$mnt/bad/a"
	is "$(log_lines "bad/a: servers died")" 1 "killed at one file: the log names it once"
	check "killed at one file: a file beside it can be read" \
		cmp "$tree/bad/b" "$mnt/bad/b"
	unharmed "killed at one file"
	umount_ok "$mnt"
}

# The same where nobody else reads.
killed_alone() {
	GRANARY_CRASH="node=${inode[a]},signal=KILL" \
		mount_ok "killed alone: mounted" "$work/t.tar" "$mnt" || return
	is_eio "killed at one file, alone: EIO at last" cat "$mnt/bad/a"
	check "killed at one file, alone: a file beside it can be read" \
		cmp "$tree/bad/b" "$mnt/bad/b"
	umount_ok "$mnt"
}

# The next server does nothing for four times as long, and then has all the time there
# is for one that is handled alone. That takes more than a minute: once, in the build
# that is shipped.
killed_late() {
	! grep -q -a -E '__(tsan|asan)_init' "$granaryfs" || return
	GRANARY_CRASH="node=${inode[a]},signal=KILL,after=1200" \
		mount_ok "killed late: mounted" "$work/t.tar" "$mnt" || return
	EIO_SECONDS=300 is_eio "killed late at one file: EIO at last" cat "$mnt/bad/a"
	check "killed late: a file beside it can be read" cmp "$tree/bad/b" "$mnt/bad/b"
	umount_ok "$mnt"
}

# Reads that wait for storage while somebody kills one server after the other: they have
# done nothing. slow_storage KILLS MILLISECONDS OPTIONS of the mount.
slow_storage() {
	local kills=$1 within=$2
	shift 2
	local what="slow storage, kills within $within ms${*:+, $*}" name cats=() wrong=0
	GRANARY_FAULTS="kind=late,while=$work/slow" mount_ok "$what: mounted" \
		-o prefetch=off "$@" "$work/t.tar" "$mnt" || return
	touch "$work/slow"
	for name in a b c; do
		timeout 120 cat "$mnt/bad/$name" >"$work/slow.$name" 2>"$work/slow.error" &
		cats+=("$!")
	done
	"$kill_servers" -n "$kills" -i "$within" "${mount_pid[$mnt]}" >"$work/kills" 2>&1
	ok $? "$what: $kills servers were killed" || diag "$(cat "$work/kills")"
	rm "$work/slow"
	for name in "${cats[@]}"; do
		wait "$name" || wrong=$((wrong + 1))
	done
	is "$wrong" 0 "$what: three reads that were under way got their bytes" ||
		diag "$(cat "$work/slow.error")"
	for name in a b c; do
		check "$what: and the right ones" cmp "$tree/bad/$name" "$work/slow.$name"
	done
	is "$(counter requests_condemned)" 0 "$what: no request was given up"
	umount_ok "$mnt"
}

# Ten crashes in a minute, whatever of: something is wrong with all of it.
too_many() {
	local name crashes=()
	for name in "${files[@]}"; do
		crashes+=("node=${inode[$name]}")
	done
	GRANARY_CRASH=$(IFS=';' && echo "${crashes[*]}") \
		mount_ok "ten crashes: mounted" "$work/t.tar" "$mnt" || return
	for name in a b c d; do
		is_eio "ten crashes: $name answers EIO" cat "$mnt/bad/$name"
	done
	LC_ALL=C timeout 60 cat "$mnt/bad/e" "$mnt/bad/f" >/dev/null 2>"$work/error"
	grep -q -E "endpoint is not connected|connection abort" "$work/error"
	ok $? "ten crashes: the next one finds no connection" || diag "$(cat "$work/error")"
	is "$(log_lines "$mnt: 10 servers have died")" 1 "ten crashes: the log says so"
	check "ten crashes: every other file answers ENOTCONN" wait_until 10 says_dead "$mnt/good/1"
	check "ten crashes: the processes have ended" wait_until 10 no_daemon "$mnt"
	check "ten crashes: granary umount" "$granary" umount "$mnt"
	check "ten crashes: unmounted" not_mounted "$mnt"
}

# other_server PID
other_server() {
	local now
	now=$(server_pid "$mnt")
	[ -n "$now" ] && [ "$now" != "$1" ]
}

# The mount's user may send any signal to the server: that is a kill, and no crash.
# Twelve of them would end the mount if they counted.
sent_signals() {
	local signal pid lost=0
	mounted "sent signals" || return
	for signal in SEGV SEGV SEGV BUS TRAP ABRT SYS BUS TRAP ILL FPE USR2; do
		pid=$(server_pid "$mnt")
		kill -s "$signal" "$pid"
		wait_until 20 other_server "$pid" || lost=$((lost + 1))
	done
	pid=$(server_pid "$mnt")
	/bin/kill -q 7 -s SEGV "$pid" # by sigqueue(3), which leaves another trace
	wait_until 20 other_server "$pid" || lost=$((lost + 1))
	is "$lost" 0 "sent signals: another server takes over each time"
	is "$(counter requests_condemned)" 0 "sent signals: no request was given up"
	check "sent signals: every file can be read" diff -r "$tree" "$mnt"
	unharmed "sent signals"
	umount_ok "$mnt"
}

# prlimit(1) on a server of root's needs no more than its user id.
lowered_limits() {
	local pid limit
	mount_ok "lowered limits: mounted" -o prefetch=off "$work/t.tar" "$mnt" || return
	for limit in --as=1000000 --nofile=3 --data=1000; do
		pid=$(server_pid "$mnt")
		prlimit --pid "$pid" "$limit"
		check "lowered limits: $limit: another server takes over" \
			wait_until 20 other_server "$pid"
		check "lowered limits: $limit: it has the limits of the supervisor" diff \
			<(tail -n +2 "/proc/${mount_pid[$mnt]}/limits") \
			<(tail -n +2 "/proc/$(server_pid "$mnt")/limits")
	done
	check "lowered limits: every file can be read" diff -r "$tree" "$mnt"
	umount_ok "$mnt"
}

make_program
make_source
find_inodes
crashing sent_signals
lowered_limits
crashing one_file
crashing once
crashing several_files
crashing together
crashing one_name
crashing killed
crashing killed_alone
crashing killed_late
slow_storage 70 40
slow_storage 70 40 -s
slow_storage 70 600
crashing too_many
diag "$died servers died at a file or a name; $reads reads of others were compared"
finish
