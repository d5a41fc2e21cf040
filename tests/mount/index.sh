#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where the index lives, when it is made again, and that nothing in one can do
# more than give an error.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar timeout
archives=$work/archives
archive=$archives/t.tar
index=$archive.gidx

make_archives() {
	local i
	mkdir -p "$archives" "$work/tree/directory" "$work/set"
	for i in 1 2 3 4 5 6 7 8 9; do
		head -c $((i * 1000)) /dev/urandom >"$work/tree/directory/$i"
	done
	ln "$work/tree/directory/1" "$work/tree/directory/link"
	ln -s directory/1 "$work/tree/symlink"
	truncate -s 100000 "$work/tree/hole"
	echo x >>"$work/tree/hole"
	tar --sparse --format=pax -C "$work/tree" -cf "$archive" .
	for i in 0 1 2; do
		mkdir "$work/part"
		echo "$i" >"$work/part/file-$i"
		tar -C "$work/part" -cf "$work/set/s-$i.tar" .
		rm -r "$work/part"
	done
}

stamp() {
	stat -c '%i %y' "$1"
}

# served DESCRIPTION ARGUMENTS: mounts, compares, unmounts.
served() {
	local description=$1
	shift
	mount_ok "$description: mounted" "$@" "$archive" "$mnt" || return
	check "$description: the tree is right" \
		compare --no-directory-attributes "$work/tree" "$mnt"
	umount_ok "$mnt" "$description: unmounted"
}

log_says() {
	grep -q -i -E -- "$1" "${mount_log[$mnt]}"
}

beside_the_archive() {
	local before
	served "auto"
	check "auto: the index is NAME.gidx, beside the archive" test -s "$index"
	is "$(find "$archives" -type f | wc -l)" 2 "auto: no other file"
	before=$(stamp "$index")
	served "auto again"
	is "$(stamp "$index")" "$before" "auto again: the index is used, not made again"
	check "granary index --check" "$granary" index --check "$archive"
	rm "$index"
	check "granary index" "$granary" index "$archive"
	check "granary index: made it" test -s "$index"
	before=$(stamp "$index")
	check "granary index again" "$granary" index "$archive"
	rm "$index"
}

beside_a_set() {
	local i
	granary_mount "$work/set/s-{0..2}.tar" "$mnt" >/dev/null
	for i in 0 1 2; do
		is "$(cat "$mnt/file-$i")" "$i" "set: shard $i"
	done
	umount_ok "$mnt"
	is "$(find "$work/set" -name '*.gidx' | wc -l)" 1 "set: one index, in the shards' directory"
	rm "$work/set"/*.gidx
}

named_places() {
	local before
	served "off" -o index=off
	is "$(find "$work" -name '*gidx*')" "" "off: nothing is left"
	served "a path" -o "index=$work/named"
	check "a path: the index is there" test -s "$work/named"
	check "a path: and not beside the archive" test ! -e "$index"
	before=$(stamp "$work/named")
	served "a path again" -o "index=$work/named"
	is "$(stamp "$work/named")" "$before" "a path again: used"
	rm "$work/named"
}

# Ctrl-C ends with the message that there is no index. Storage that takes its time.
interrupted() {
	local status
	cp "$archive" "$work/slow.tar"
	GRANARY_FAULTS="kind=late,path=slow.tar,from=$(($(identified "$work/slow.tar") + 1)),ms=3000" timeout --preserve-status \
		-s INT 1 "$abs_top_builddir/tests/bin/granary-faulty" index "$work/slow.tar" \
		>"$work/out" 2>&1 </dev/null
	status=$?
	[ "$status" -gt 128 ]
	ok $? "Ctrl-C while it is made: ended by it ($status)"
	grep -q "interrupted: the index $work/slow.tar.gidx was not made" "$work/out"
	ok $? "Ctrl-C while it is made: that is said" || diag "$(cat "$work/out")"
	is "$(find "$work" -name 'slow.tar.*')" "" "Ctrl-C while it is made: nothing is left"
}

require() {
	local said
	said=$(timeout 10 "$granaryfs" -o index=require "$archive" "$mnt" 2>&1)
	is $? 3 "require: status 3 without an index"
	case $said in *"granary index"*"$archive"*) true ;; *) false ;; esac
	ok $? "require: names the command to run" || diag "$said"
	"$granary" index "$archive"
	served "require, with an index" -o index=require
	rm "$index"
}

rejected_when_changed() {
	local before
	served "before the change"
	before=$(stamp "$index")
	echo new >"$work/tree/directory/new"
	tar --sparse --format=pax -C "$work/tree" -cf "$archive" .
	mount_ok "changed: mounted" "$archive" "$mnt" || return
	check "changed: the tree is the new one" \
		compare --no-directory-attributes "$work/tree" "$mnt"
	check "changed: the log says why the index is rejected" log_says 'gidx'
	umount_ok "$mnt"
	[ "$(stamp "$index")" != "$before" ]
	ok $? "changed: the index is made again"
	touch -d '2001-01-01' "$archive"
	served "another mtime"
	rejected_by_options
	rm "$index"
}

# The index with checksums stays, and what is made goes into the user's cache.
said_once() {
	"$granary" index --force --checksums "$archive" >/dev/null
	touch -d '2002-02-02' "$archive"
	mount_ok "an index for the cache: mounted" "$archive" "$mnt" || return
	is "$(grep -c 'index not used: ' "${mount_log[$mnt]}")" 1 \
		"an index for the cache: why the other is not used is said once" ||
		diag "$(cat "${mount_log[$mnt]}")"
	umount_ok "$mnt"
	mount_ok "the index in the cache: mounted" "$archive" "$mnt" || return
	is "$(grep -c 'index not used: ' "${mount_log[$mnt]}")" 1 \
		"the index in the cache: why the other is not used is said once"
	umount_ok "$mnt"
	rm -r "$index" "$XDG_CACHE_HOME/granaryfs"
}

rejected_by_options() {
	mount_ok "other options: mounted" -o subdir=directory "$archive" "$mnt" || return
	is "$(find "$mnt" -type f | wc -l)" 11 "other options: the tree is that of the options"
	umount_ok "$mnt"
	served "the first options again"
}

bind_read_only() {
	mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"
}

# Read-only for root too: a read-only bind mount.
read_only_directory() {
	at_exit umount "$archives"
	check "a read-only directory" bind_read_only "$archives" || return
	served "read-only directory"
	is "$(find "$XDG_CACHE_HOME/granaryfs" -type f | wc -l)" 1 \
		"read-only directory: the index is in \$XDG_CACHE_HOME/granaryfs"
	served "read-only directory again"
	rm -r "$XDG_CACHE_HOME"
	touch "$work/a-file"
	XDG_CACHE_HOME=$work/a-file/none HOME=$work/a-file served "nothing is writable"
	umount "$archives"
	mkdir -p "$XDG_CACHE_HOME"
}

# An index that a stranger put beside the archive may name any bytes of it.
strangers() {
	local before
	served "own index"
	chown 65534:65534 "$index"
	before=$(stamp "$index")
	mount_ok "a stranger's index: mounted" "$archive" "$mnt" || return
	check "a stranger's index: the log says so" log_says 'own'
	check "a stranger's index: the tree is right" \
		compare --no-directory-attributes "$work/tree" "$mnt"
	umount_ok "$mnt"
	[ "$(stamp "$index")" != "$before" ]
	ok $? "a stranger's index: made again"
	is "$(stat -c %u "$index")" 0 "a stranger's index: is a stranger's no longer"
	rm -f "$index"
	granary_mount -o index=off "$archive" "$mnt" >/dev/null
	umount_ok "$mnt"
	# The archive's owner is no stranger.
	"$granary" index "$archive"
	chown 65534:65534 "$archive" "$index"
	"$granary" index "$archive"
	chown 65534:65534 "$index"
	before=$(stamp "$index")
	served "the archive's owner's index"
	is "$(stamp "$index")" "$before" "the archive's owner's index: used"
	chown 0:0 "$archive"
	rm -f "$index"
}

# The index of a set says under which permissions the bytes of all are shown.
one_of_two_owners() {
	mkdir -p "$work/two"
	echo one >"$work/two/one"
	echo two >"$work/two/two"
	tar -C "$work/two" -cf "$work/two/1.tar" one
	tar -C "$work/two" -cf "$work/two/2.tar" two
	"$granary" index "$work/two/1.tar" "$work/two/2.tar" >/dev/null
	chown 65534 "$work/two/1.tar"
	chown 65534 "$work/two/"*.gidx
	granary_mount "$work/two/1.tar" "$work/two/2.tar" "$mnt" >/dev/null
	ok $? "two owners: mounted"
	check "two owners: the index of one is not used" log_says 'owns neither every packed file'
	umount_ok "$mnt"
}

# A link of a set leads to a file that anybody may read, in a directory where nobody may look.
one_behind_a_door() {
	local made=$work/door/1.tar open_door=644
	# what is above may be private itself
	[[ $(stat -c %a "$work") == *5 ]] || open_door=600
	mkdir -p "$work/door/private"
	tar -C "$work/two" -cf "$made" one
	tar -C "$work/two" -cf "$work/door/private/2.tar" two
	chmod 644 "$made" "$work/door/private/2.tar"
	ln -s private/2.tar "$work/door/2.tar"
	chmod 755 "$work/door" "$work/door/private"
	(umask 022; "$granary" index "$made" "$work/door/2.tar" >/dev/null)
	is "$(stat -c %a "$work/door"/*.gidx)" "$open_door" "a set of open directories: its index"
	rm -f "$work/door"/*.gidx
	chmod 700 "$work/door/private"
	(umask 022; "$granary" index "$made" "$work/door/2.tar" >/dev/null)
	is "$(stat -c %a "$work/door"/*.gidx)" 600 "one file in a private directory: the set's index"
}

# A path that was given by mistake may be the dataset itself.
nothing_else_is_replaced() {
	cp "$archive" "$work/precious.tar"
	refuse "index=ARCHIVE is refused" "$granary" index -o index="$work/precious.tar" "$work/precious.tar"
	refuse "--output FILE is refused" "$granary" index --output "$work/precious.tar" "$archive"
	refuse "and by the daemon" "$granaryfs" -o index="$work/precious.tar" "$archive" "$mnt"
	cmp -s "$archive" "$work/precious.tar"
	ok $? "the archive is what it was"
	(ulimit -f 0; "$granary" index --force "$archive") >/dev/null 2>&1
	is "$(find "$work" -name '*.gidx.*')" "" "a limit of file sizes leaves nothing behind"
	rm -f "$index"
}

# Two mounts that both find no index.
at_the_same_time() {
	local i
	for i in 1 2 3 4; do
		mkdir -p "$work/mnt-$i"
		timeout 60 "$granaryfs" "$archive" "$work/mnt-$i" &
		started+=("$!")
		watch_mount "$work/mnt-$i"
	done
	for i in 1 2 3 4; do
		wait_until 30 test -e "$work/mnt-$i/symlink"
		ok $? "four at once: mount $i"
		leave_mount "$work/mnt-$i" 2>/dev/null
	done
	for i in 1 2 3 4; do
		wait_until 10 no_daemon "$work/mnt-$i"
	done
	is "$(find "$archives" -type f | wc -l)" 2 "four at once: one index, and nothing else"
	check "four at once: the index is good" "$granary" index --check "$archive"
	rm -f "$index"
}

# ---- Damage ---------------------------------------------------------------

# read_everything DIRECTORY: every name and attribute, and the bytes of each file as far
# as a sound one has any: damage may make a hole of terabytes. Errors are allowed,
# but it must come to an end.
read_everything() {
	ends find "$1" -ls &&
		ends find "$1" -type f -exec head -qc 1000000 {} + &&
		ends find "$1" -type l -exec readlink {} +
}

ends() {
	timeout 20 "$@" >/dev/null 2>&1
	[ "$?" -ne 124 ]
}

# survives KIND NUMBER: the damaged index may be refused or serve what it can;
# the daemon may not crash, hang, or end before it is told to.
survives() {
	local status
	"$python" "$abs_top_srcdir/tests/mount/damage.py" "$work/good.gidx" "$index" "$1" "$2" ||
		return 1
	"$granaryfs" -f "$archive" "$mnt" 2>"$work/damage.log" >/dev/null &
	local pid=$!
	if ! wait_until 20 damaged_is_up "$pid"; then
		kill -KILL "$pid"
		echo "neither mounted nor ended in time"
		return 1
	fi
	if is_mounted "$mnt"; then
		read_everything "$mnt" || {
			echo "a walk did not end"
			kill -KILL "$pid"
			return 1
		}
		process_gone "$pid" && echo "it ended while it was read"
		leave_mount "$mnt"
	fi
	daemon_gone "$pid" "$mnt" || {
		kill -KILL "$pid"
		echo "it did not end"
		return 1
	}
	wait "$pid"
	status=$?
	no_server_died "$work/damage.log" || return 1
	# A refusal is 2 or 3; a signal is more than 128.
	[ "$status" -le 3 ] && return 0
	echo "status $status"
	cat "$work/damage.log"
	return 1
}

damaged_is_up() {
	is_mounted "$mnt" || process_gone "$1"
}

# all_survive DESCRIPTION KIND NUMBERS: one test point for many runs.
all_survive() {
	local description=$1 kind=$2 number bad=0
	shift 2
	for number; do
		survives "$kind" "$number" >"$work/survives" 2>&1 && continue
		bad=$((bad + 1))
		diag "$kind $number: $(head -n 5 "$work/survives")"
	done
	is "$bad" 0 "damaged index: $description ($# runs)"
}

damage() {
	"$granary" index "$archive" || return
	cp -p "$index" "$work/good.gidx"
	mapfile -t heads < <(seq 0 "${HEAD_STEP:-7}" 511)
	mapfile -t cuts < <(seq 0 40 999)
	mapfile -t seeds < <(seq 1 "${RANDOM_RUNS:-40}")
	watch_mount "$mnt"
	all_survive "each of the first 512 bytes" head "${heads[@]}"
	all_survive "cut short" cut "${cuts[@]}"
	all_survive "random bytes" random "${seeds[@]}"
	all_survive "512 zeros" zero "${cuts[@]}"
	all_survive "longer than it should be" grow 1 511 4096 100000
	check_finds_damage
	rm -f "$index"
}

# The full check sees what a mount may overlook.
check_finds_damage() {
	local number missed=0
	for number in $(seq 1 40); do
		"$python" "$abs_top_srcdir/tests/mount/damage.py" \
			"$work/good.gidx" "$index" random "$number"
		"$granary" index --check "$archive" >"$work/checked" 2>&1 || continue
		missed=$((missed + 1))
		diag "random $number: $(cmp -l "$work/good.gidx" "$index")"
	done
	is "$missed" 0 "granary index --check finds every damage (40 runs)"
	cp -p "$work/good.gidx" "$index"
	check "granary index --check finds none where there is none" \
		"$granary" index --check "$archive"
}

# The file is cut while it is mapped: EIO, not SIGBUS.
cut_while_mounted() {
	local server
	"$granary" index "$archive"
	mount_ok "cut while mounted: mounted" "$archive" "$mnt" || return
	server=$(server_pid "$mnt")
	truncate -s 64 "$index"
	read_everything "$mnt"
	is "$(server_pid "$mnt")" "${server:-one}" "cut while mounted: the same server lives"
	umount_ok "$mnt" "cut while mounted: unmounted"
	rm -f "$index"
}

# The archive is cut under a mount: EIO for what is gone, a line in the log.
archive_cut_while_mounted() {
	mount_ok "archive cut: mounted" -o index=off "$archive" "$mnt" || return
	cp "$archive" "$work/kept.tar"
	truncate -s 2048 "$archive"
	refuse "archive cut: a file that is gone cannot be read" cat "$mnt/directory/9"
	check "archive cut: the log names the file" log_says 'directory/9'
	check "archive cut: the mount lives" test -e "$mnt/symlink"
	umount_ok "$mnt" "archive cut: unmounted"
	cp "$work/kept.tar" "$archive"
}

# Before Linux 6.7 what is sealed against writing cannot be mapped as MAP_SHARED.
in_memory_on_older_kernels() {
	watch_mount "$mnt"
	check "sealed memory, older kernels: mounted" timeout -k 5 30 \
		"$without" map-shared -- "$granaryfs" -o index=off \
		"$archive" "$mnt"
	check "sealed memory, older kernels: the tree is right" \
		compare --no-directory-attributes "$work/tree" "$mnt"
	check "sealed memory, older kernels: unmounted" leave_mount "$mnt"
	check "sealed memory, older kernels: no process" wait_until 20 no_daemon "$mnt"
}

make_archives
beside_the_archive
beside_a_set
named_places
require
rejected_when_changed
said_once
at_the_same_time
cut_while_mounted
archive_cut_while_mounted
damage
if is_root; then
	strangers
	nothing_else_is_replaced
	one_of_two_owners
	one_behind_a_door
	read_only_directory
	in_memory_on_older_kernels
else
	skip "only root can mount a directory read-only and change owners" "places and owners"
fi
interrupted
finish
