#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# Everything at once: readers compare every byte while the sweep pushes, files beyond the
# budget are dropped, memory is squeezed, pages go, servers are killed and the mount is
# taken away. No wrong byte, no error, no hang, no process that waits for good.
#
#	make check TESTS=tests/mount/stress.sh STRESS_SECONDS=600	so long
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need_fuse
need tar mksquashfs
need_python h5py PIL
total=${STRESS_SECONDS:-32}
files=${FILES:-600}
ROUNDS=${ROUNDS:-$((total / 60 + 1))} # of unmounts, each in every way
PATIENCE=$(patience 30)               # seconds: for longer nothing may wait
MOST=400                              # milliseconds between kills, at most
least=32 # MiB that a squeeze leaves
grep -q -a __tsan_init "$granaryfs" && MOST=2000 least=200
grep -q -a __asan_init "$granaryfs" && least=200
# shellcheck disable=SC2034  # for lib.sh
servers_may_die=yes

memory_directory

# ---- What is mounted ------------------------------------------------------

# Small files and large ones: whole blocks, pieces of one file, ends that are no page.
make_tree() {
	"$python" "$abs_top_srcdir/tests/mount/write_shards.py" --files "$files" \
		--size 30001 --directory some "$work/some.tar" &&
		"$python" "$abs_top_srcdir/tests/mount/write_shards.py" --files "$files" \
			--size 2999 --seed 2 --directory small "$work/small.tar" &&
		"$python" "$abs_top_srcdir/tests/mount/write_shards.py" --files 3 \
			--size 13000001 --seed 3 --directory vast "$work/vast.tar" || return
	mkdir "$memory/tree" || return
	for part in small some vast; do
		tar -C "$memory/tree" -xf "$work/$part.tar" && rm "$work/$part.tar" || return
	done
	seq 400000 >"$memory/tree/numbers"
	touch -d @1600000000 "$memory/tree/numbers" "$memory/tree"/* "$memory/tree"
}

make_tar() {
	tar --numeric-owner --format=pax --sort=name -C "$memory/tree" -cf "$work/tar.packed" .
}

make_squashfs() {
	mksquashfs "$memory/tree" "$work/squashfs.packed" -noappend -no-progress -quiet \
		-processors 2 -comp zstd -b 64K >/dev/null
}

# Rows of bytes, each behind a header that is checked when it is read.
make_samples() {
	"$python" "$fixtures/make-image-tree" --classes 10 --images 40 --size 300 \
		"$work/images" &&
		"$python" "$fixtures/make-jsc-h5" --list "$work/rows" "$work/images" \
			"$work/samples.packed" >/dev/null &&
		"$python" "$fixtures/compare-samples" --make "$work/rows" "$memory/samples"
}

tree_of() {
	case $1 in samples) echo "$memory/samples" ;; *) echo "$memory/tree" ;; esac
}

mib_of() {
	du -sm "$(tree_of "$1")" | cut -f 1
}

# ---- Readers --------------------------------------------------------------

# hammering FORMAT OPTIONS...: in the background, until `enough`.
hammering() {
	local format=$1 options=()
	shift
	! is_root || [ -n "${without_remounts:-}" ] || options+=(-r)
	[ "$format" != samples ] || options+=(-n)
	rm -f "$work/enough" "$work/enough.reading"
	"${inside[@]}" -500 "$hammer" -p 4 -w "$PATIENCE" "${options[@]}" -u "$work/enough" "$@" \
		"$(tree_of "$format")" "$mnt" >"$work/counts" 2>"$work/said" &
	hammer_pid=$!
	echo "$hammer_pid" >"$work/hammering"
	started+=("$hammer_pid")
}

# loading FORMAT: as a loader does, pass after pass; what differs goes to $work/differs.
loading() {
	local wanted seed=1
	(cd "$(tree_of "$1")" && find . -type f | LC_ALL=C sort) >"$work/names"
	sed "s|^[.]|$(tree_of "$1")|" "$work/names" >"$work/plain.list"
	sed "s|^[.]|$mnt|" "$work/names" >"$work/list"
	wanted=$("$read_all" -c "$work/plain.list" 1 2 | sed 's/ seconds.*//')
	: >"$work/differs"
	: >"$work/passes"
	while [ ! -e "$work/enough" ]; do
		killed=$(starved)
		got=$("${inside[@]}" 500 "$read_all" -c "$work/list" "$seed" 2 2>&1 |
			sed 's/ seconds.*//')
		if [ "$got" = "$wanted" ]; then
			echo "$seed" >>"$work/passes"
		elif [ "$(starved)" = "$killed" ]; then
			echo "$got, not $wanted" >>"$work/differs"
		else
			echo "$seed: killed for want of memory" >>"$work/passes"
		fi
		seed=$((seed + 1))
	done &
	loader_pid=$!
	started+=("$loader_pid")
}

# enough WHAT: the readers end, and all was right.
enough() {
	touch "$work/enough"
	wait "$hammer_pid"
	is "$(counted wrong) wrong, $(counted errors) errors, $(counted hung) hung" \
		"0 wrong, 0 errors, 0 hung" "$1: nothing wrong, no error, no hang" ||
		diag "$(cat "$work/said")"
	at_least "$(counted reads)" 1 "$1: and bytes were compared"
}

# ---- Memory ---------------------------------------------------------------

# A control group around daemon and readers, if one can be made: the file with its limit.
inside=(adjusted)
limit_file=

adjusted() {
	shift
	"$@"
}

# How many processes were killed for want of memory: it may be who reads.
starved() {
	[ -z "$limit_file" ] || cat "$group/memory.events" "$group/memory.oom_control" |
		awk '$1 == "oom_kill" { print $2 }'
} 2>/dev/null

new_group() {
	local at=/sys/fs/cgroup name=memory.max
	if [ -d $at/memory ]; then at=$at/memory name=memory.limit_in_bytes; fi
	is_root && mkdir "$at/granaryfs-stress-$$" || return 1
	group=$at/granaryfs-stress-$$
	at_exit rmdir "$group"
	[ -w "$group/$name" ] || return 1
	limit_file=$group/$name
	# of those who ask for too much a loader goes first, then a server
	# shellcheck disable=SC2016 # for the shell that it is
	printf '#!/bin/sh\necho $$ >%s/cgroup.procs && echo "$1" >/proc/$$/oom_score_adj\nshift\nexec "$@"\n' \
		"$group" >"$work/inside"
	printf '#!/bin/sh\necho $$ >%s/cgroup.procs && exec %s "$@"\n' "$group" "$granaryfs" \
		>"$work/granaryfs-inside"
	chmod 755 "$work/inside" "$work/granaryfs-inside"
	inside=("$work/inside")
} 2>/dev/null

squeezed() {
	[ -z "$limit_file" ] || echo "$1" >"$limit_file"
} 2>/dev/null

# squeeze MIB: room for all, and for less than all, in turn. In the background.
squeeze() {
	local room i=0
	while :; do
		for room in 24 3 1 2; do
			squeezed $(((least + $1 * room / 6) << 20))
			i=$((i + 1))
			! is_root || [ $((i % 3)) -ne 0 ] || drop_page_cache
			sleep 0.7 # at each size
		done
	done
}

# ---- Who waits ------------------------------------------------------------

# Threads of ours that are in an uninterruptible sleep: PID and how often they slept so far.
waiting() {
	local pid pids
	pids=$(mount_processes "$mnt")
	for pid in $pids $(cat "$work/hammering" 2>/dev/null); do
		# a server that is killed and not yet gone has no program any more
		pids+=" $(cat "/proc/$pid/task/"*/children 2>/dev/null)"
	done
	for pid in $pids; do
		awk '$1 == "State:" { waits = $2 == "D" } $1 == "Pid:" { pid = $2 }
			$1 == "voluntary_ctxt_switches:" && waits { print pid, $2 }' \
			"/proc/$pid/task/"*/status
	done 2>/dev/null | sort -u
}

watch_waiting() {
	: >"$work/waiting"
	while sleep 1; do
		waiting >>"$work/waiting"
	done &
	watcher=$!
	started+=("$watcher")
}

nobody_waits() {
	[ -z "$(waiting)" ]
}

# nothing_left WHAT: neither processes nor mounts, nor was anybody stuck meanwhile.
nothing_left() {
	check "$1: somebody watched" kill -0 "$watcher"
	check "$1: no process is left" wait_until "$PATIENCE" no_daemon "$mnt"
	check "$1: no mount is left" not_mounted "$mnt"
	is "$(sort "$work/waiting" | uniq -c | awk -v most="$(patience 10)" '$1 >= most')" "" \
		"$1: nobody was stuck"
	: >"$work/waiting"
}

# ---- Under load -----------------------------------------------------------

mounted() {
	local given=$granaryfs status
	squeezed -1 || squeezed max
	[ -z "$limit_file" ] || granaryfs=$work/granaryfs-inside
	mount_ok "$1: mounted" -o "$3" "$work/$2.packed" "$mnt"
	status=$?
	granaryfs=$given
	return "$status"
}

counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$work/counters"
}

# survives NAME FORMAT OPTIONS SECONDS: the proof.
survives() {
	local name=$1 format=$2 seconds=$4 killer squeezer
	mounted "$name" "$format" "$3" || return
	hammering "$format"
	loading "$format"
	squeeze "$(mib_of "$format")" &
	squeezer=$!
	"$kill_servers" -n 1000000 -i "$MOST" -w "$PATIENCE" "${mount_pid[$mnt]}" \
		>"$work/kills" 2>&1 &
	killer=$!
	started+=("$squeezer" "$killer")
	sleep "$seconds" # the length of the proof
	kill "$killer" "$squeezer"
	ok $? "$name: servers had successors to the end" || diag "$(cat "$work/kills")"
	wait "$killer" "$squeezer" 2>/dev/null
	squeezed -1 || squeezed max
	enough "$name"
	wait "$loader_pid"
	is "$(cat "$work/differs")" "" "$name: a loader got the right bytes"
	at_least "$(wc -l <"$work/passes")" 1 "$name: in all of its passes"
	check "$name: nobody waits" wait_until "$PATIENCE" nobody_waits
	figures "$name" "$3"
	kill -TERM "${mount_pid[$mnt]}"
	daemon_status "${mount_pid[$mnt]}" "$mnt" >"$work/status"
	ok $? "$name: TERM ends it, with 0" || diag "$(grep -v stats: "$work/status")"
	nothing_left "$name"
	force_umount "$mnt"
}

# That it was what it is meant to be.
figures() {
	requests "$mnt" >"$work/counters"
	at_least "$(counter servers_started)" 3 "$1: servers were killed"
	at_least "$(counter pushed_bytes)" 1000000 "$1: bytes were pushed"
	is "$(counter requests_condemned)" 0 "$1: no request was given up"
	case $2 in
	*cache="$half"M*) at_least "$(counter dropped_files)" 1 "$1: files were dropped" ;;
	esac
	diag "$1: $(counter servers_started) servers, $(counted reads) reads," \
		"$(counted bytes) bytes compared, $(wc -l <"$work/passes") passes;" \
		"$(counter pushed_files) files pushed, $(counter dropped_files) dropped," \
		"$(counter evicted_files) evicted; limit reached" \
		"$(cat "$group/memory.failcnt" 2>/dev/null || echo ?) times"
}

# ---- Taken away in the middle ---------------------------------------------

terminate() {
	kill -TERM "${mount_pid[$mnt]}"
}

kill_supervisor() {
	kill -KILL "${mount_pid[$mnt]}"
	wait "${mount_pid[$mnt]}" 2>/dev/null
	wait_until "$PATIENCE" no_daemon "$mnt"
}

# taken_away HOW OPTIONS COMMAND...: under readers, which have it until they end, or get
# an error; then nothing is left of it.
taken_away() {
	local how=$1 given=$2 without_remounts=yes killer
	shift 2
	mounted "$how" tar "$given" || return
	# who meets no dead mount reads on for so long
	hammering tar -w 30 -e ENOTCONN,ECONNABORTED
	"$kill_servers" -n 1000000 -i "$MOST" -w 3 "${mount_pid[$mnt]}" >"$work/kills" 2>&1 &
	killer=$!
	started+=("$killer")
	wait_until "$PATIENCE" test -e "$work/enough.reading" # each of them has read
	sleep "0.$((RANDOM % 9 + 1))" # at any moment
	check "$how: done" "$@"
	sleep 0.5 # they go on
	enough "$how"
	wait "$killer"
	timeout "$PATIENCE" "$granary" umount "$mnt" >"$work/said" 2>&1
	nothing_left "$how"
	force_umount "$mnt"
}

# Those who are in a mount that is taken out of the tree have it on; not one that is dead.
in_the_middle() {
	local i with
	for ((i = 0; i < ROUNDS; i++)); do
		for with in "prefetch=sweep,cache=512M" "prefetch=sweep,cache=${half}M$shield"; do
			taken_away "$with: umount -l" "$with" umount_lazily
			taken_away "$with: TERM" "$with" terminate
			taken_away "$with: supervisor killed" "$with" kill_supervisor
		done
	done
}

# Nobody reads, so umount itself must do, while it is walked and pushed.
left_while_pushed() {
	local i wrong=0
	for ((i = 1; i <= 5 * ROUNDS; i++)); do
		mounted "left while pushed, $i" tar "prefetch=sweep,cache=512M$shield" || return
		sleep "0.0$((RANDOM % 10))" # at any moment
		timeout "$PATIENCE" "$granary" umount "$mnt" >"$work/said" 2>&1 || {
			wrong=$((wrong + 1))
			diag "$(cat "$work/said")"
			force_umount "$mnt"
		}
		wait_until "$PATIENCE" no_daemon "$mnt" || wrong=$((wrong + 1))
	done
	is "$wrong" 0 "granary umount while it is walked and pushed: left, each time"
}

# ---- The kernel -----------------------------------------------------------

kernel_complaints() {
	dmesg 2>/dev/null | grep -c -E 'blocked for more than|BUG:|WARNING: |Oops|refcount'
}

make_tree || bail "no tree"
for format in tar squashfs samples; do
	check "$format: packed" make_$format
	"$granary" index "$work/$format.packed" >"$work/said" 2>&1 || bail "no index"
done
new_group || diag "no control group for memory can be made: it is not squeezed"
shield=
is_root && shield=,allow_other,shield=on
half=$(($(mib_of tar) / 2))
each=$((total / 8 + 1))
complaints=$(kernel_complaints)
watch_waiting
survives "fits, bare" tar "prefetch=sweep,cache=512M" "$each"
survives "larger than memory, bare" tar "prefetch=sweep,cache=${half}M" "$each"
survives "larger than memory, shielded" tar "prefetch=sweep,cache=${half}M$shield" "$each"
survives "squashfs, larger" squashfs "prefetch=sweep,cache=${half}M" "$each"
survives "HDF5 rows" samples "prefetch=sweep,cache=512M$shield" "$each"
left_while_pushed
in_the_middle
# old lines may have been pushed out meanwhile
at_most "$(kernel_complaints)" "$complaints" "the kernel has nothing to say"
finish
