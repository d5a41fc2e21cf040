#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# shield=auto: it comes under readers that send an ioctl at each open(), and to no others.
# Nobody may see it come: neither who reads and walks, nor who unmounts meanwhile; but for
# programs that compare device numbers, as cp does.
# shellcheck source=tests/mount/shield_lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/mount/shield_lib.sh"
need du find cp

packed=$work/few.tar
tree=$work/few
make_few() {
	local i
	mkdir -p "$tree/one/inner" "$tree/two" "$tree/private" "$tree/empty"
	for ((i = 0; i < 300; i++)); do
		head -c 3000 /dev/urandom >"$tree/one/$i"
		head -c 200 /dev/urandom >"$tree/two/$i"
	done
	cp "$tree"/two/1* "$tree/one/inner/"
	echo closed >"$tree/private/closed"
	chown -R 1234:4321 "$tree/private"
	chmod 700 "$tree/private"
	tar -C "$tree" -cf "$packed" .
	"$granary" index -q "$packed" || bail "no index"
	chmod a+r "$packed"*
}

# begin DESCRIPTION [OPTIONS]: mounted, and bare.
begin() {
	rm -f "$work/stop"
	bare_ok "$1" "allow_other,shield=auto${2:+,$2}" "$packed"
	check "$1: and it may come" grep -q 'it comes once programs send an ioctl' "$log"
}

# reads KIND [LEAST]: in the background; its output is in $work/read.
reads() {
	"$python" "$helpers/shield_reader.py" "$1" "$mnt" "$tree" "$work/stop" "${2:-1000}" \
		>"$work/read" 2>&1 &
	reader=$!
	started+=("$reader")
}

reader_ends() {
	touch "$work/stop"
	wait "$reader"
	ok $? "$1: the reader saw nothing of it" || diag "$(cat "$work/read")"
	at_least "$(tail -n 1 "$work/read")" 1000 "$1: and has read"
}

comes() {
	check "$1: it comes" wait_until 20 is_shielded "$mnt" || diag "$(cat "$log")"
	check "$1: and is logged" wait_until 10 grep -q ': shielded by an overlay' "$log"
	is "$(mount_lines "$mnt" | wc -l)" 1 "$1: one mount is seen"
}

# ---- Who gets it ------------------------------------------------------------------

gauge() {
	sed -n "s/^$1 *\([0-9]*\) .*/\1/p" "$mnt/.granaryfs/stats"
}

for_python() {
	local names
	begin "ioctls"
	names=$(gauge name_bytes)
	reads terminal
	comes "ioctls"
	is "$(gauge shielded)" 1 "ioctls: the gauge"
	at_least "$(gauge name_bytes)" $((names + 1)) "ioctls: a name takes more memory"
	check "ioctls: stats" grep -q '^shield *on' <("$granary" stats "$mnt")
	asked=$(gauge fuse_ioctl)
	sleep 0.5 # thousands of files
	is "$(gauge fuse_ioctl)" "$asked" "ioctls: none reaches the daemon any more"
	reader_ends "ioctls"
	left "ioctls" "$granary" umount "$mnt"
}

# 10,000 files with all their ioctls are ten times what brings it.
for_nobody_else() {
	begin "no ioctls"
	reads plain 10000
	sleep 3 # ticks
	reader_ends "no ioctls"
	at_least "$(tail -n 1 "$work/read")" 10000 "no ioctls: files enough"
	refuse "no ioctls: it does not come" is_shielded "$mnt"
	left "no ioctls"
	bare_ok "for the owner alone" shield=auto "$packed"
	check "for the owner alone: why" grep -q 'would let other users in' "$log"
	left "for the owner alone"
	kernel=("$without" beneath --)
	shielded_ok "before Linux 6.5, at the mount" allow_other,shield=auto "$packed"
	left "before Linux 6.5"
	kernel=()
}

# A kernel that turns out to have none when it is wanted is asked once.
refused() {
	kernel=("$without" overlay --)
	begin "refused"
	kernel=()
	reads terminal
	check "refused: why" wait_until 20 grep -q 'without the shield: no overlay can be' "$log"
	sleep 1 # ticks
	reader_ends "refused"
	refuse "refused: bare" is_shielded "$mnt"
	is "$(grep -c 'no overlay can be' "$log")" 1 "refused: said once"
	left "refused"
}

# ---- Who is there meanwhile ----------------------------------------------------------

seen_by() {
	case $1 in
	find) (cd / && find "$mnt" -xdev -printf '%P %y %s %i\n' | LC_ALL=C sort) ;;
	du) (cd / && du -x -a --apparent-size "$mnt" | LC_ALL=C sort) ;;
	cp) rm -rf "$work/copy" && cp -r "$mnt" "$work/copy" && (diff -r "$tree" "$work/copy"; true) ;;
	two) setpriv --reuid=1234 --regid=4321 --clear-groups cat "$mnt/private/closed" ;;
	nobody) ! as_nobody cat "$mnt/private/closed" 2>/dev/null ;;
	esac
}

# walks KIND: until the end is told, and ends well where each walk saw the same. One walk
# may fail, and say so: the device number may change between two looks at a file.
walks() {
	local n=0 failed=0
	set -o pipefail
	while ! [ -e "$work/stop" ]; do
		if seen_by "$1" >"$work/$1.now"; then
			cmp "$work/$1.now" "$work/$1.bare" || return 1
			n=$((n + 1))
		else
			failed=$((failed + 1))
			[ $failed -le 1 ] || return 1
		fi
	done
	[ $n -gt 0 ]
}

unseen() {
	local kind walkers=()
	begin "walkers"
	for kind in find du cp two nobody; do
		seen_by $kind >"$work/$kind.bare" 2>&1
		ok $? "walkers: bare, $kind" || diag "$(head "$work/$kind.bare")"
		walks $kind >"$work/$kind.said" 2>&1 &
		walkers+=($!)
		started+=($!)
	done
	reads terminal
	comes "walkers"
	sleep 1 # walks that began before
	reader_ends "walkers"
	for kind in find du cp two nobody; do
		wait "${walkers[0]}"
		ok $? "walkers: $kind saw the same all the time" ||
			diag "$(head "$work/$kind.said"; diff "$work/$kind.bare" "$work/$kind.now" | head)"
		walkers=("${walkers[@]:1}")
	done
	left "walkers"
}

# A server that is killed while the front is made and tried.
with_kills() {
	local i
	begin "killed servers"
	reads terminal
	for ((i = 0; i < 100; i++)); do
		is_shielded "$mnt" && break
		kill -KILL "$(server_pid "$mnt")" 2>/dev/null
		sleep 0.1
	done
	comes "killed servers"
	at_least "$(grep -c 'another one takes over' "$log")" 1 "killed servers: they were"
	reader_ends "killed servers"
	left "killed servers"
}

# A directory that somebody is in would lose its path.
works_in_it() {
	local worker
	begin "a working directory"
	(cd "$mnt/one" && exec sleep 300) &
	worker=$!
	started+=("$worker")
	reads terminal
	check "a working directory: it waits" wait_until 20 \
		grep -q "process $worker works in it" "$log"
	refuse "a working directory: bare" is_shielded "$mnt"
	is "$(readlink "/proc/$worker/cwd")" "$mnt/one" "a working directory: has its path"
	kill "$worker"
	comes "a working directory, left"
	reader_ends "a working directory"
	left "a working directory"
}

# cp -x compares device numbers path by path, and takes another one for a border.
stays_on_device() {
	local copier
	begin "cp -x"
	mkfifo "$work/fifo"
	cp -x "$work/fifo" "$work/copied" &
	copier=$!
	started+=("$copier")
	reads terminal
	check "cp -x: it waits" wait_until 20 \
		grep -q "process $copier stays on one file system" "$log"
	refuse "cp -x: bare" is_shielded "$mnt"
	kill "$copier"
	comes "cp -x, ended"
	reader_ends "cp -x"
	left "cp -x"
}

mounted_in_it() {
	begin "a mount inside"
	mount -t tmpfs none "$mnt/empty"
	reads terminal
	check "a mount inside: it waits" wait_until 20 grep -q 'something is mounted in it' "$log"
	refuse "a mount inside: bare" is_shielded "$mnt"
	check "a mount inside: is still there" mountpoint -q "$mnt/empty"
	umount "$mnt/empty"
	comes "a mount inside, unmounted"
	reader_ends "a mount inside"
	left "a mount inside"
}

peers() {
	local mnt
	shared_mount
	begin "shared"
	reads terminal
	comes "shared"
	peer_shielded
	reader_ends "shared"
	peer_left
}

for_a_user() {
	local log=$work/users-log
	touch "$log"
	chown 65534 "$log"
	begin "user=" user=nobody
	reads terminal
	comes "user="
	check "user=: the user reads" as_nobody cmp "$tree/one/1" "$mnt/one/1"
	reader_ends "user="
	left "user="
}

# automounted KIND PLACE: the automounter's process group alone may mount there.
automounted() {
	rm -f "$work/stop"
	: >"$log"
	AUTOFS_THEN="exec '$python' '$helpers/shield_reader.py' terminal \"\$1\" '$tree' '$work/stop'" \
		timeout -k 5 120 "$python" "$helpers/autofs.py" "$1" "$mnt" \
		"$granaryfs" -o "allow_other,log=$log" "$packed" {} >"$work/said" 2>&1 &
	started+=($!)
	check "automounted, $1: it comes" wait_until 30 is_shielded "$2" ||
		diag "$(cat "$log" "$work/said")"
	touch "$work/stop"
	wait "$!"
	ok $? "automounted, $1: the automounter is through"
	check "automounted, $1: the reader saw nothing of it" grep -q -x "then 0" "$work/said"
	check "automounted, $1: no process" wait_until 20 no_daemon "$2"
}

# The command has a copy of the mount, out of the daemon's reach.
privately() {
	check "granary run: it is there from the start" grep -q ' overlay .*/granaryfs@' \
		<(timeout 30 "$granary" run -o allow_other "$packed:$mnt" -- cat /proc/self/mounts)
	check "granary run: no process" wait_until 20 no_daemon "$mnt"
}

# ---- Who unmounts it -----------------------------------------------------------------

expires() {
	begin "timeout=" timeout=2
	reads terminal
	comes "timeout="
	reader_ends "timeout="
	check "timeout=: unmounted" wait_until 20 not_mounted "$mnt"
	check "timeout=: no process" wait_until 20 no_daemon "$mnt"
}

# In each of so many moments from before it is made to after it is there.
unmounted_meanwhile() {
	local i how pid bad=0
	for ((i = 0; i < 24; i++)); do
		rm -f "$work/stop"
		start allow_other,shield=auto "$packed" || bad=1
		pid=$(supervisor)
		reads terminal
		wait_until 20 counted_at_least 600
		sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
		case $((i % 3)) in
		0) how=TERM && kill -TERM "$pid" ;;
		1) how="granary umount" && timeout 20 "$granary" umount "$mnt" 2>/dev/null ;;
		2) how="umount -l" && umount -l "$mnt" ;;
		esac
		kill "$reader" 2>/dev/null
		wait "$reader" 2>/dev/null
		wait_until 20 no_daemon "$mnt" && not_mounted "$mnt" && continue
		diag "$how: $(mount_lines "$mnt") $(tail -n 3 "$log")"
		bad=1
		umount -l "$mnt" 2>/dev/null
	done
	is $bad 0 "unmounted meanwhile: nothing is left"
	is "$(litter)" "" "unmounted meanwhile: no litter"
}

counted_at_least() {
	local n
	n=$(sed -n 's/^fuse_ioctl *\([0-9]*\) .*/\1/p' "$mnt/.granaryfs/stats")
	[ "${n:-0}" -ge "$1" ]
}

leave_others
make_few
for_python
for_nobody_else
refused
unseen
with_kills
works_in_it
stays_on_device
mounted_in_it
peers
for_a_user
automounted direct "$mnt"
automounted indirect "$mnt/name"
privately
expires
unmounted_meanwhile
finish
