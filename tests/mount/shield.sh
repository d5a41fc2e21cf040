#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# The shield: a read-only overlay on the FUSE mount. What it must not change, whom it must
# not let in, how it ends, and what becomes of it where the kernel will not have it.
# shellcheck source=tests/mount/shield_lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/mount/shield_lib.sh"

# ---- Who gets in ----------------------------------------------------------------

owner_only() {
	bare_ok "no allow_other" umask=0
	refuse "no allow_other: nobody else gets in" as_nobody ls "$mnt"
	left "no allow_other"
	start shield=on
	is $? 1 "shield=on without allow_other: a wrong command line"
	check "shield=on without allow_other: says what to add" grep -q 'add allow_other' "$work/said"
	is "$(wc -l <"$work/said")" 1 "shield=on without allow_other: in one sentence"
	check "shield=on without allow_other: nothing is mounted" not_mounted "$mnt"
	bare_ok "shield=off" allow_other,shield=off
	check "shield=off: says so" grep -q 'without the shield: shield=off' "$log"
	left "shield=off"
}

# Nobody has looked at it before them: an overlay copies the mode of the root.
another_user() {
	shielded_ok "another user" allow_other
	is "$(as_nobody cat "$mnt/a-file" 2>&1)" first "another user reads, and is the first"
	is "$(as_nobody stat -c %a "$mnt")" "$(stat -c %a "$work/tree")" "the mode of the root"
	refuse "modes are respected" as_nobody cat "$mnt/closed"
	refuse "those of directories too" as_nobody ls "$mnt/private"
	is "$(setpriv --reuid=1234 --regid=4321 --clear-groups cat "$mnt/private/file")" secret \
		"the owner reads"
	is "$(cat "$mnt/closed")" closed "root reads"
	left "another user"
}

# ---- What must be the same --------------------------------------------------------

visible_options() {
	local name
	shielded_ok "options" allow_other,suid,dev,exec
	for name in ro nosuid nodev; do
		check "options: $name" grep -q -x "$name" <(options_of)
	done
	refuse "options: not noexec" grep -q -x noexec <(options_of)
	is "$(mount_lines "$mnt" | awk '{ print $1 }')" "$work/t.tar" \
		"options: the source is what is packed"
	is "$("$mnt/program")" ran "options: a program runs"
	refuse "options: nothing can be written" touch "$mnt/new"
	refuse "options: not even after remounting" sh -c \
		"mount -o remount,rw '$mnt' && touch '$mnt/new'"
	left "options"
	shielded_ok "noexec" allow_other,noexec
	check "noexec: to be seen" grep -q -x noexec <(options_of)
	refuse "noexec: no program runs" "$mnt/program"
	left "noexec"
}

# The bare mount is the measure: numbers, links, devices, attributes and contents.
same_tree() {
	local archive=$1
	start allow_other,shield=off "$archive"
	"$python" "$helpers/shield_tree.py" "$mnt" >"$work/bare" 2>&1
	ok $? "${archive##*/}: bare, on one device" || diag "$(tail -n 3 "$work/bare")"
	left "${archive##*/}, bare"
	shielded_ok "${archive##*/}" allow_other "$archive"
	"$python" "$helpers/shield_tree.py" "$mnt" >"$work/shielded" 2>&1
	ok $? "${archive##*/}: shielded, on one device" || diag "$(tail -n 3 "$work/shielded")"
	check "${archive##*/}: all is the same" diff "$work/bare" "$work/shielded"
}

same_trees() {
	same_tree "$work/t.tar"
	check "the tree that was packed" compare "$work/tree" "$mnt"
	is "$(stat -c '%i %h' "$mnt")" "1 $(stat -c %h "$work/tree")" \
		"the root has its number, and its links"
	is "$(stat -c '%h %i' "$mnt/directory/same")" "3 $(stat -c %i "$mnt/a-file")" \
		"hard links are one file"
	check "holes are holes" "$python" "$helpers/holes.py" "$mnt/holes"
	is "$("$python" -c 'import os, sys
print(os.lseek(os.open(sys.argv[1], os.O_RDONLY), 0, os.SEEK_DATA) > 0)' "$mnt/holes")" True \
		"SEEK_DATA finds one"
	check "mmap" "$python" -c 'import mmap, sys
a = open(sys.argv[1], "rb"); b = open(sys.argv[2], "rb").read()
assert mmap.mmap(a.fileno(), 0, prot=mmap.PROT_READ)[:] == b' "$mnt/large" "$work/tree/large"
	left "t.tar"
}

marks() {
	same_tree "$work/marked.tar"
	is "$(cat "$mnt/one/file" "$mnt/two/link")" onetwo "marks: no file is whited out"
	is "$(ls -A "$mnt/one")" "$("$granary" ls "$work/marked.tar" one | sed 's,.*/,,' | sort)" \
		"marks: each name is there"
	is "$(cd "$mnt" && getfattr -h -R -P -d -m - . 2>/dev/null | grep -c '^user.shown')" 11 \
		"marks: user.* are shown"
	refuse "marks: user.overlay.* are not" grep -q overlay "$work/shielded"
	refuse "marks: nor given" getfattr -n user.overlay.opaque "$mnt/one"
	refuse "marks: nor trusted.overlay.*" getfattr -n trusted.overlay.opaque "$mnt/one"
	refuse "marks: bare neither" grep -q overlay "$work/bare"
	left "marks"
}

# ---- What it is for ------------------------------------------------------------------

read_by_python() {
	"$python" -c 'import glob, sys
for p in glob.glob(sys.argv[1] + "/directory/deep/*"):
    open(p, "rb").read()' "$mnt"
}

quiet() {
	local before after form
	for form in on off; do
		mount_ok "shield=$form" -o "allow_other,shield=$form" "$work/t.tar" "$mnt" || return
		is "$(requests "$mnt" | awk '$1 == "shielded" { print $2 }')" \
			"$([ $form = on ] && echo 1 || echo 0)" "shield=$form: the gauge"
		# anybody may drop the pages meanwhile: then it is not warm
		for _ in 1 2 3; do
			read_by_python
			before=$(requests "$mnt")
			read_by_python
			after=$(requests "$mnt")
			[ "$(request_change fuse_read "$before" "$after")" -ne 0 ] || break
		done
		if [ $form = on ]; then
			is "$(request_changes "$before" "$after")" "" "Python, warm: no request"
		elif [ "$("$python" -c 'import sys; print(sys.version_info < (3, 14))')" = True ]; then
			at_least "$(request_change fuse_ioctl "$before" "$after")" 200 \
				"bare: a request a file"
		fi
		umount_ok "$mnt" "shield=$form: unmounted, and the daemon ended with 0"
	done
}

# ---- How it ends -----------------------------------------------------------------------

ends() {
	shielded_ok "lazy" allow_other
	exec 7<"$mnt/large"
	check "lazy: umount -l while a file is open" umount -l "$mnt"
	refuse "lazy: the daemon stays" wait_until 1 no_daemon "$mnt"
	same_bytes /dev/fd/7
	ok $? "lazy: and what is open is read on"
	exec 7<&-
	check "lazy: it ends with the last file" wait_until 20 no_daemon "$mnt"
	shielded_ok "busy" allow_other
	exec 7<"$mnt/large"
	refuse "busy: umount" umount "$mnt"
	exec 7<&-
	left "busy"
	shielded_ok "TERM" allow_other
	exec 7<"$mnt/large"
	kill -TERM "$(supervisor)"
	check "TERM: it disappears" wait_until 10 not_mounted "$mnt"
	same_bytes /dev/fd/7
	ok $? "TERM: and what is open is read on"
	exec 7<&-
	check "TERM: it ends with the last file" wait_until 20 no_daemon "$mnt"
	is "$(litter)" "" "no litter"
}

by_the_tool() {
	shielded_ok "granary umount" allow_other
	left "granary umount" "$granary" umount "$mnt"
	check "granary umount: again" "$granary" umount "$mnt"
	shielded_ok "granary umount --force" allow_other
	exec 7<"$mnt/large"
	left "granary umount --force" "$granary" umount --force "$mnt"
	refuse "granary umount --force: who reads gets an error" cat <&7
	exec 7<&-
	shielded_ok "granary umount, busy" allow_other
	exec 7<"$mnt/large"
	check "granary umount, busy: with a remark" "$granary" umount "$mnt"
	check "granary umount, busy: gone" not_mounted "$mnt"
	same_bytes /dev/fd/7
	ok $? "granary umount, busy: and what is open is read on"
	exec 7<&-
	check "granary umount, busy: the daemon ends" wait_until 20 no_daemon "$mnt"
	shielded_ok "without fusectl" allow_other
	umount /sys/fs/fuse/connections
	exec 7<"$mnt/large"
	left "without fusectl: --force" "$granary" umount --force "$mnt"
	refuse "without fusectl: who reads gets an error" cat <&7
	exec 7<&-
	mount -t fusectl none /sys/fs/fuse/connections
}

timeout_option() {
	shielded_ok "timeout=" allow_other,timeout=1
	exec 7<"$mnt/large"
	sleep 3 # longer than the timeout
	check "timeout=: it stays while a file is open" is_shielded "$mnt"
	exec 7<&-
	check "timeout=: unmounted" wait_until 15 not_mounted "$mnt"
	check "timeout=: no process" wait_until 20 no_daemon "$mnt"
}

# Another mount namespace has a copy, and keeps the daemon for as long.
held() {
	shielded_ok "held" allow_other
	# shellcheck disable=SC2016  # the inner shell expands it
	timeout 120 unshare -m sh -c 'touch "$1"; exec sleep 100' sh "$work/held" &
	started+=("$!")
	wait_until 10 test -e "$work/held"
	timeout 20 "$granary" umount "$mnt" 2>"$work/said"
	is $? 0 "held: granary umount"
	check "held: and says so" grep -q 'still mounted elsewhere' "$work/said"
	refuse "held: the daemon stays" no_daemon "$mnt"
	end_child "${started[-1]}"
	check "held: until the other is gone" wait_until 20 no_daemon "$mnt"
}

end_child() {
	local children
	read -r -a children <"/proc/$1/task/$1/children"
	kill "${children[@]}"
}

# ---- When something dies -------------------------------------------------------------------

# Eight readers compare everything, while all caches are dropped and servers killed.
server_killed() {
	local i reader
	shielded_ok "killed servers" allow_other
	"$hammer" -r -u "$work/enough" "$work/tree" "$mnt" >"$work/hammered" 2>&1 &
	reader=$!
	started+=("$reader")
	for ((i = 0; i < 20; i++)); do
		sleep 0.2 # the readers are in the midst of something else each time
		kill -KILL "$(server_pid "$mnt")" 2>/dev/null
	done
	touch "$work/enough"
	wait "$reader"
	ok $? "killed servers: nobody saw anything but what is right" ||
		diag "$(tail -n 20 "$work/hammered")"
	diag "$(grep -E '^(reads|wrong|errors|hung) ' "$work/hammered" | tr '\n' ' ')"
	at_least "$(grep -c 'another one takes over' "$log")" 3 "killed servers: they were"
	check "killed servers: still shielded" is_shielded "$mnt"
	left "killed servers"
}

kill_supervisor() {
	kill -KILL "$(supervisor)"
	wait_until 10 no_daemon "$mnt"
}

supervisor_killed() {
	shielded_ok "dead" allow_other
	cat "$mnt/a-file" >/dev/null
	kill_supervisor
	check "dead: it is still there" is_shielded "$mnt"
	wait_until 10 says_dead "$mnt/large"
	cat "$mnt/large" >/dev/null 2>"$work/said"
	is "$(sed 's/.*: //' "$work/said")" "Transport endpoint is not connected" \
		"dead: what is not cached is ENOTCONN"
	shielded_ok "mounted over what is dead" allow_other
	same_bytes "$mnt/large"
	ok $? "and it is read"
	kill_supervisor
	bare_ok "bare over what is dead and shielded" shield=off
	left "bare"
	shielded_ok "dead" allow_other
	exec 7<"$mnt/a-file"
	kill_supervisor
	left "dead, with a file open: granary umount" "$granary" umount "$mnt"
	exec 7<&-
}

leave_others
make_archives
make_faulty
owner_only
another_user
visible_options
same_trees
marks
quiet
ends
by_the_tool
timeout_option
held
server_killed
supervisor_killed
finish
