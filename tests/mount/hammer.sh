#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# tests/bin/hammer finds what is wrong, and says nothing where nothing is: what
# other tests conclude from its silence rests on this.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar setfattr
need_python os
tree=$work/tree
options=()
is_root && options=(-r)

make_tree() {
	mkdir "$tree"
	"$python" "$fixtures/make-odd-tree" "$tree/odd" || bail "no odd tree"
	# one file that a hammer cannot miss, and that nothing else reads
	mkdir "$tree/small"
	head -c 300000 /dev/urandom >"$tree/small/file"
	ln -s file "$tree/small/link"
	setfattr -n user.x -v 1 "$tree/small/file" 2>/dev/null
	touch -d @1000000000.5 "$tree/small/file" "$tree/small" "$tree"
	tar --numeric-owner --format=pax --xattrs -C "$tree" -cf "$work/t.tar" .
}

# hit SECONDS OPTIONS...: the hammer's counts in $work/counts.
hit() {
	local seconds=$1
	shift
	"$hammer" "${options[@]}" -s "$seconds" "$@" "$tree" "$mnt" >"$work/counts" 2>"$work/said"
}

# A slow build on a busy machine may not come to the place at once.
hit_often() {
	for _ in 1 2 3 4 5 6; do
		hit 2 -p 2 || return 1
	done
}

clean() {
	local before after name
	before=$(requests "$mnt")
	check "nothing is wrong with a mount of the tree" hit 3
	[ ! -s "$work/said" ] || diag "$(cat "$work/said")"
	after=$(requests "$mnt")
	for name in reads files stats links listings absent xattrs others; do
		at_least "$(counted $name)" 1 "$name were compared"
	done
	is "$(counted wrong) $(counted errors) $(counted hung)" "0 0 0" "and none was wrong"
	for name in read readdirplus lookup ioctl; do
		at_least "$(request_change fuse_$name "$before" "$after")" 100 \
			"the daemon was asked: $name"
	done
	is_root || return 0
	at_least "$(counted drops)" 1 "dentries were dropped"
	at_least "$(request_change fuse_readlink "$before" "$after")" 10 "and asked for again"
}

# However soon it is told to end.
reads_first() {
	local i wrong=0
	touch "$work/enough"
	for i in 1 2 3; do
		"$hammer" -u "$work/enough" "$tree" "$mnt" >"$work/counts" 2>"$work/said" &&
			[ "$(counted reads)" -ge 8 ] || wrong=$((wrong + 1))
	done
	is "$wrong" 0 "told to end before it began: each process has read something"
}

# finds WHAT COMMAND...: after the command, the tree is not what is mounted.
finds() {
	local what=$1
	shift
	cp -a "$tree" "$work/kept"
	"$@"
	refuse "found: $what" hit_often
	at_least "$(counted wrong)" 1 "$what: counted as wrong" || diag "$(cat "$work/said")"
	is "$(counted errors)" 0 "$what: not as an error"
	rm -r "$tree"
	mv "$work/kept" "$tree"
}

flip() {
	# in the middle, and nothing else of it changes
	printf '\001' | dd of="$1" bs=1 seek=200001 conv=notrunc status=none
	touch -d @1000000000.5 "$1"
}

other_link() {
	ln -sfn other "$tree/small/link"
	touch -d @1000000000.5 "$tree/small"
}

one_more() {
	touch "$tree/small/more"
	touch -d @1000000000.5 "$tree/small"
}

differences() {
	flip_from=$(od -An -tx1 -j200001 -N1 "$tree/small/file")
	[ "$flip_from" != " 01" ] || bail "the byte to change is 1 already"
	finds "one byte" flip "$tree/small/file"
	finds "a size" truncate -s +1 "$tree/small/file"
	finds "a mode" chmod 700 "$tree/small/file"
	finds "a time" touch -d @1000000000.6 "$tree/small/file"
	finds "a link's target" other_link
	if getfattr -n user.x "$tree/small/file" >/dev/null 2>&1; then
		finds "an xattr" setfattr -n user.x -v 2 "$tree/small/file"
	else
		skip "this filesystem has no user xattrs" "an xattr"
	fi
}

# A name that the mount does not have is an error and a wrong listing.
one_name_more() {
	one_more
	refuse "found: a name that the mount lacks" hit_often
	at_least "$(counted wrong)" 1 "a missing name: the listing is wrong"
	at_least "$(counted errors)" 1 "a missing name: ENOENT is an error"
	rm "$tree/small/more"
	touch -d @1000000000.5 "$tree/small"
}

hang() {
	local server
	server=$(server_pid "$mnt")
	# who is stopped is replaced, if there is somebody to do it
	kill -STOP "${mount_pid[$mnt]}" "$server"
	refuse "found: a daemon that does not answer" hit 20 -p 2 -w 1
	kill -CONT "$server" "${mount_pid[$mnt]}"
	at_least "$(counted hung)" 2 "both processes hung"
	grep -q "hangs in" "$work/said"
	ok $? "and it is said where" || diag "$(cat "$work/said")"
}

# dead OPTIONS...: the daemon is killed under the hammer.
dead() {
	local pid
	rm -f "$work/enough" "$work/enough.reading"
	"$hammer" "${options[@]}" -u "$work/enough" "$@" "$tree" "$mnt" \
		>"$work/counts" 2>"$work/said" &
	pid=$!
	wait_until 60 test -e "$work/enough.reading"
	kill -KILL "${mount_pid[$mnt]}"
	sleep 1 # the hammer meets the dead mount, and says so at its end
	touch "$work/enough"
	wait "$pid"
}

end_of_the_daemon() {
	refuse "found: a daemon that has died" dead
	is "$(counted wrong)" 0 "a dead daemon: no byte is wrong"
	at_least "$(counted errors)" 1 "a dead daemon: errors"
	umount -l "$mnt" || leave_mount "$mnt"
	mount_ok "mounted again" -o index=off "$work/t.tar" "$mnt" || return
	check "-e: errors that may come" dead -e ENOTCONN,ECONNABORTED
	at_least "$(counted allowed)" 1 "-e: they were counted"
	is "$(counted errors) $(counted hung)" "0 0" "-e: and no other ones" ||
		diag "$(cat "$work/said")"
	leave_mount "$mnt"
}

make_tree
mount_ok "mounted" -o index=off "$work/t.tar" "$mnt" || finish
clean
reads_first
differences
one_name_more
hang
end_of_the_daemon
finish
