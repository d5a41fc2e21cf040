#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Servers are killed, again and again, under eight readers that compare every byte:
# no wrong byte, no error, no hang. And what becomes of a mount whose supervisor is
# killed, which is unmounted, or told to end, while its servers die.
#
#	make check TESTS=tests/mount/kills.sh KILLS=1000	so many for each format
#	make check TESTS=tests/mount/kills.sh KILLS=1000 FORMATS='tar h5'
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need_fuse
need tar mksquashfs setfattr
need_python h5py PIL
KILLS=${KILLS:-12}
FEW=$((KILLS < 20 ? KILLS : 20))
FORMATS=${FORMATS:-tar squashfs h5 samples}
# Milliseconds between kills, at most; ten times as many where starting 64 threads
# takes as long as that: servers that die before they run end the mount.
MOST=100
grep -q -a __tsan_init "$granaryfs" && MOST=1000
# shellcheck disable=SC2034  # for lib.sh
servers_may_die=yes
answered_again=0
dead=(-e "ENOTCONN,ECONNABORTED")
drop=()
is_root && drop=(-r)

memory_directory

# ---- What is mounted ------------------------------------------------------

make_odd() {
	local xattrs=()
	touch "$memory/probe"
	setfattr -n user.probe -v 1 "$memory/probe" 2>/dev/null && xattrs=(--xattrs)
	"$python" "$fixtures/make-odd-tree" "${xattrs[@]}" "$1" || bail "no odd tree"
	seq 50000 >"$1/numbers"
	head -c 200000 /dev/urandom | cat "$1/numbers" - "$1/numbers" >"$1/mixed"
}

make_tar() {
	make_odd "$memory/tar"
	tar --numeric-owner --format=pax --xattrs --sparse -C "$memory/tar" \
		-cf "$work/tar.packed" .
}

# An image has whole seconds, of 32 bits.
make_squashfs() {
	make_odd "$memory/squashfs"
	touch -d @4294967295 "$memory/squashfs/times/2106-after"
	touch -d @0 "$memory/squashfs/times/1969"
	"$python" -c '
import os, sys
for directory, below, names in os.walk(sys.argv[1], topdown=False):
    for path in [os.path.join(directory, name) for name in below + names] + [directory]:
        when = int(os.lstat(path).st_mtime_ns // 10**9)
        os.utime(path, (when, when), follow_symlinks=False)' "$memory/squashfs"
	mksquashfs "$memory/squashfs" "$work/squashfs.packed" -noappend -no-progress \
		-quiet -processors 2 -comp zstd -b 64K >/dev/null
}

# Regular files and hard links, in four encodings.
make_h5() {
	local tree=$work/h5-tree encoding encodings=()
	make_odd "$tree"
	find "$tree" ! -type d ! -type f -delete
	find "$tree/sparse" -type f -size +1000k -delete
	mkdir "$memory/h5"
	for encoding in uint8 compact chunked gzip-shuffle-fletcher; do
		cp -a "$tree" "$memory/h5/$encoding"
		encodings+=(--encoding "$encoding")
	done
	"$python" "$fixtures/make-tree-h5" "${encodings[@]}" "$tree" "$work/h5.packed"
}

# Rows of bytes, as ImageNet.h5 has them.
make_samples() {
	"$python" "$fixtures/make-image-tree" --classes 12 --images 20 --size 200 \
		"$work/images" &&
		"$python" "$fixtures/make-jsc-h5" --empty 3 --list "$work/list" \
			"$work/images" "$work/samples.packed" &&
		"$python" "$fixtures/compare-samples" --make "$work/list" "$memory/samples"
}

# ---- Readers --------------------------------------------------------------

# readers FORMAT OPTIONS...: eight of them, in the background, until `enough`.
readers() {
	local format=$1 options=("${drop[@]}")
	shift
	case $format in h5 | samples) options+=(-n) ;; esac
	rm -f "$work/enough" "$work/enough.reading" "$work/counts"
	"$hammer" "${options[@]}" -u "$work/enough" "$@" "$memory/$format" "$mnt" \
		>"$work/counts" 2>"$work/said" &
	readers_pid=$!
	started+=("$readers_pid")
	wait_until 60 read_or_ended
}

# Each of the eight has read something.
read_or_ended() {
	[ -e "$work/enough.reading" ] || process_gone "$readers_pid"
}

# enough: ends them; their status.
enough() {
	touch "$work/enough"
	wait "$readers_pid"
}

# all_was_right DESCRIPTION: of the readers, once they have ended.
all_was_right() {
	is "$(counted wrong) wrong, $(counted errors) errors, $(counted hung) hung" \
		"0 wrong, 0 errors, 0 hung" "$1: nothing wrong, no error, no hang" ||
		diag "$(cat "$work/said")"
	at_least "$(counted reads)" 1 "$1: and bytes were compared"
}

# ---- Kills ----------------------------------------------------------------

# kill_servers TIMES OPTIONS...: of $mnt; what came of it in $work/kills.
kill_servers() {
	local times=$1
	shift
	"$kill_servers" -n "$times" -i "$MOST" "$@" "${mount_pid[$mnt]}" >"$work/kills" 2>&1
}

# mounted FORMAT OPTIONS...
mounted() {
	local format=$1
	shift
	mount_ok "$format: mounted" -o index=off "$@" "$work/$format.packed" "$mnt"
}

same_supervisor() {
	is "$(daemon_pids "$mnt")" "${mount_pid[$mnt]}" "$1: it is the same supervisor"
}

# TERM ends it all, and leaves nothing.
told_to_end() {
	kill -TERM "${mount_pid[$mnt]}"
	daemon_status "${mount_pid[$mnt]}" "$mnt" >"$work/status"
	ok $? "$1: TERM ends it, with 0" || diag "$(cat "$work/status")"
	nothing_left "$1"
	force_umount "$mnt" # or all that follows would fail with it
}

nothing_left() {
	check "$1: no process is left" wait_until 10 no_daemon "$mnt"
	check "$1: no mount is left" not_mounted "$mnt"
}

# survives NAME FORMAT TIMES MOUNT-OPTIONS -- KILL-OPTIONS: the proof.
survives() {
	local name=$1 format=$2 times=$3 options=() stats open
	shift 3
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	mounted "$format" "${options[@]}" || return
	open=$(descriptors)
	readers "$format"
	kill_servers "$times" "$@"
	ok $? "$name: $times servers were killed, and had successors" || {
		diag "$(cat "$work/kills")"
		diag "$(grep -v stats: "${mount_log[$mnt]}" | tail -n 5)"
	}
	is "$(counted killed "$work/kills") $(counted missed "$work/kills")" "$times 0" \
		"$name: each lived when it was killed"
	enough
	ok $? "$name: the readers noticed nothing"
	all_was_right "$name"
	stats=$(requests "$mnt")
	is "$(awk '$1 == "servers_started" { print $2 }' <<<"$stats")" $((times + 1)) \
		"$name: so many servers were started"
	is "$(awk '$1 == "requests_condemned" { print $2 }' <<<"$stats")" 0 \
		"$name: no request was given up"
	same_supervisor "$name"
	is "$(descriptors)" "$open" "$name: it holds no more descriptors than before"
	same_rights "$name"
	figures "$name" "$stats"
	told_to_end "$name"
}

descriptors() {
	find "/proc/${mount_pid[$mnt]}/fd" -mindepth 1 | wc -l
}

# The tenth server may no more than the first one.
same_rights() {
	local status
	status=/proc/$(server_pid "$mnt")/status
	is "$(awk '/^Cap(Eff|Prm|Inh|Amb):/ && $2 ~ /[^0]/' "$status")" "" \
		"$1: the last server has no capability"
	is "$(awk '$1 == "NoNewPrivs:" { print $2 }' "$status")" 1 "$1: and no_new_privs"
}

# For docs/TESTING.md, and to see that requests did get lost.
figures() {
	local replayed parked
	replayed=$(awk '$1 == "requests_replayed" { print $2 }' <<<"$2")
	parked=$(awk '$1 == "requests_parked" { print $2 }' <<<"$2")
	answered_again=$((answered_again + replayed))
	diag "$1: $(counted killed "$work/kills") killed," \
		"longest $(counted longest_ms "$work/kills") ms to the next;" \
		"$(counted reads) reads, $(counted bytes) bytes, $(counted files) files," \
		"$(counted listings) listings compared; $replayed requests answered again," \
		"$parked parked; seeds $(counted seed) $(counted seed "$work/kills")"
}

# busy COMMAND...: with more to do on this machine than it has processors.
busy() {
	local i hogs=()
	for ((i = 0; i < 2 * $(nproc); i++)); do
		yes >/dev/null &
		hogs+=("$!")
		started+=("$!")
	done
	"$@"
	kill "${hogs[@]}"
}

every_format() {
	local format
	for format in $FORMATS; do
		check "$format: packed" make_"$format" || continue
		answered_again=0
		survives "$format" "$format" "$KILLS" --
		at_least "$answered_again" 1 "$format: requests were answered again"
	done
}

every_way() {
	survives "one thread" tar "$FEW" -s --
	survives "many threads" tar "$FEW" -o threads=64 --
	survives "visible opens" tar "$FEW" -o opens=visible --
	survives "in quick succession" tar "$FEW" -- -i "$((MOST / 5))"
	# which its supervisor takes for a death
	survives "stopped" tar "$FEW" -- -s STOP
	# a signal that another process sends is a kill, whatever its number
	crashing survives "SEGV, ABRT and BUS" tar "$FEW" -- -s SEGV,ABRT,BUS
	# ThreadSanitizer has so much to do when a thread ends that it takes minutes at
	# that priority
	[ "$MOST" -gt 100 ] || busy survives "threads that die late" tar "$KILLS" -- -l
	survives "TERM, which is for the supervisor, and KILL" tar "$FEW" -- -t -s KILL
}

# ---- Without readers ------------------------------------------------------

without_requests() {
	local i wrong=0
	mounted tar || return
	for i in 1 2 3 4 5; do
		kill_servers 1 -i -1 || wrong=$((wrong + 1))
		cmp -s "$memory/tar/mixed" "$mnt/mixed" || wrong=$((wrong + 1))
	done
	is "$wrong" 0 "killed while nothing is asked: the next one answers"
	told_to_end "killed while nothing is asked"
}

# Files and directories that were open, half read and half listed, when the server was killed.
open_files() {
	mounted tar || return
	exec 8<"$mnt/mixed"
	head -c 1000 <&8 >"$work/half"
	kill_servers 3
	cat <&8 >>"$work/half"
	exec 8<&-
	check "a file opened before is read on after" cmp "$memory/tar/mixed" "$work/half"
	told_to_end "open files"
}

# The archive and the index are gone from the storage; the server has them open.
files_removed() {
	cp "$work/tar.packed" "$work/gone.tar"
	check "index made" "$granary" index "$work/gone.tar"
	mount_ok "removed files: mounted" "$work/gone.tar" "$mnt" || return
	rm "$work/gone.tar" "$work/gone.tar.gidx"
	readers tar
	check "archive and index removed: servers were killed" kill_servers 5
	enough
	all_was_right "archive and index removed"
	told_to_end "archive and index removed"
}

# ---- The end of a mount under kills ---------------------------------------

# another_server THAN
another_server() {
	local server
	server=$(server_pid "$mnt")
	[ -n "$server" ] && [ "$server" != "$1" ]
}

# until_gone: kills servers for as long as there is a supervisor. In the background, from
# a moment on when one was killed.
until_gone() {
	local server
	server=$(server_pid "$mnt")
	"$kill_servers" -n 100000 -i "$((MOST / 2))" -w 2 "${mount_pid[$mnt]}" >"$work/kills" 2>&1 &
	killer=$!
	started+=("$killer")
	wait_until 10 another_server "$server"
}

umount_under_kills() {
	local i wrong=0
	for i in 1 2 3 4 5; do
		granary_mount -o index=off "$work/tar.packed" "$mnt" >/dev/null || break
		until_gone
		cmp -s "$memory/tar/mixed" "$mnt/mixed" || wrong=$((wrong + 1))
		sleep "0.0$i" # at another moment each time
		granary_umount "$mnt" >"$work/said" || {
			wrong=$((wrong + 1))
			diag "$(cat "$work/said")"
		}
		wait "$killer"
	done
	is "$wrong" 0 "umount while servers are killed: the supervisor ends with 0, five times"
	nothing_left "umount while servers are killed"
}

# Taken out of the tree, it serves those who are in it.
detached_under_kills() {
	local server how=$1 drop=() # a remount would find nothing there
	shift
	mounted tar || return
	readers tar
	until_gone
	"$@"
	check "$how: unmounted" wait_until 10 not_mounted "$mnt"
	server=$(server_pid "$mnt")
	check "$how: servers follow each other" wait_until 10 another_server "$server"
	check "$how: it serves those who are in it" kill -0 "${mount_pid[$mnt]}"
	enough
	all_was_right "$how"
	daemon_status "${mount_pid[$mnt]}" "$mnt" >"$work/status"
	ok $? "$how: then the supervisor ends with 0" || diag "$(cat "$work/status")"
	wait "$killer"
	diag "$how: $(counted killed "$work/kills") killed, $(counted reads) reads compared"
	nothing_left "$how"
}

terminate() {
	kill -TERM "${mount_pid[$mnt]}"
}

second_term() {
	local drop=()
	mounted tar || return
	readers tar "${dead[@]}"
	until_gone
	kill -TERM "${mount_pid[$mnt]}"
	wait_until 10 not_mounted "$mnt"
	kill -TERM "${mount_pid[$mnt]}"
	check "a second TERM: the supervisor ends at once" \
		wait_until 10 process_gone "${mount_pid[$mnt]}"
	wait "$killer"
	nothing_left "a second TERM"
	enough
	all_was_right "a second TERM"
	at_least "$(counted allowed)" 1 "a second TERM: the readers get an error"
}

# Readers that are killed while the server is killed must not hang either.
readers_killed() {
	local i left=0
	mounted tar || return
	until_gone
	for i in 1 2 3 4 5; do
		setsid "$hammer" "${drop[@]}" -s 60 "$memory/tar" "$mnt" >/dev/null 2>&1 &
		readers_pid=$!
		sleep "0.$((i * 2))" # at another moment each time
		kill -KILL -- "-$readers_pid"
		wait_until 10 no_group "$readers_pid" || left=$((left + 1))
	done
	is "$left" 0 "readers that are killed are gone, five times"
	check "and the mount answers" cmp "$memory/tar/mixed" "$mnt/mixed"
	kill "$killer"
	wait "$killer"
	told_to_end "readers killed"
}

no_group() {
	! kill -0 -- "-$1" 2>/dev/null
}

# ---- The supervisor is killed ---------------------------------------------

# Once a mount is dead: every reader is told, nobody hangs, the next mount just works.
dead_mount() {
	local how=$1
	check "$how: the server is gone too" wait_until 10 no_daemon "$mnt"
	check "$how: the mount point answers ENOTCONN" wait_until 10 says_dead "$mnt/mixed"
	enough
	ok $? "$how: the readers ended"
	all_was_right "$how"
	at_least "$(counted allowed)" 8 "$how: the readers get ENOTCONN"
	watch_mount "$mnt"
	timeout 30 "$granaryfs" -o index=off "$work/tar.packed" "$mnt" >"$work/said" 2>&1 </dev/null
	is $? 0 "$how: the next mount works at once" || diag "$(cat "$work/said")"
	is "$(grep -c -F -- " $mnt " /proc/mounts)" 1 "$how: and is the only one there"
	readers tar
	enough
	all_was_right "$how, mounted again"
	check "$how: granary umount" "$granary" umount "$mnt"
	nothing_left "$how"
}

# started: as a user does, in the background.
started() {
	watch_mount "$mnt"
	check "$1: mounted" timeout 30 "$granaryfs" -o index=off "$work/tar.packed" "$mnt" ||
		return
	supervisor=$(daemon_pids "$mnt")
	wait_until 10 has_server
	server=$(server_pid "$mnt")
	[ -n "$supervisor" ] && [ -n "$server" ]
	ok $? "$1: it has a supervisor and a server"
}

supervisor_killed() {
	local how
	for how in "supervisor killed" "both killed at once" "a stopped server's supervisor killed"; do
		started "$how" || continue
		readers tar "${dead[@]}"
		exec 8<"$mnt/numbers"
		case $how in
		both*) kill -KILL "$supervisor" "$server" ;;
		a*)
			kill -STOP "$supervisor" "$server"
			wait_until 10 in_state T "$supervisor"
			wait_until 10 in_state T "$server"
			kill -KILL "$supervisor"
			;;
		*) kill -KILL "$supervisor" ;;
		esac
		dead_mount "$how"
		exec 8<&-
	done
}

every_format
[ -e "$work/tar.packed" ] || make_tar || bail "no tar"
every_way
without_requests
open_files
files_removed
umount_under_kills
detached_under_kills "umount -l while servers are killed" umount_lazily
detached_under_kills "TERM while servers are killed" terminate
second_term
readers_killed
supervisor_killed
finish
