#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# Many that want the same new index at the same moment: one makes it, whatever dies
# meanwhile, and nothing is left beside the archive.
#
# The maker of an index is found from outside: to make it all of the archive has to be
# read. `granary` is run by a script that notes how many bytes it and its children
# read. (It stands between granaryfs and granary, so signals are sent to granary.)
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need timeout unshare pgrep
[ -r /proc/self/io ] || lacking "the kernel does not count what processes read"
archives=$work/archives
archive=$archives/long.tar
index=$archive.gidx
claim=$index.claim
nodes=12

# A long scan, a small tree: 500 files, 400 times each.
make_archive() {
	mkdir "$archives"
	"$python" - "$archive" <<-'EOS'
		import sys
		def header(name):
		    out = bytearray(512)
		    out[0:len(name)] = name
		    out[100:108] = b"0000644\0"
		    out[108:124] = b"0000000\0" * 2
		    out[124:148] = b"00000000000\0" + b"14000000000\0"
		    out[148:157] = b"        0"
		    out[257:265] = b"ustar\x0000"
		    out[148:156] = b"%06o\0 " % sum(out)
		    return bytes(out)
		names = b"".join(header(b"dir%d/file-%d" % (i % 7, i)) for i in range(500))
		with open(sys.argv[1], "wb") as out:
		    for _ in range(500):
		        out.write(names)
		    out.write(bytes(1024))
	EOS
}

make_programs() {
	mkdir "$work/programs"
	cp "$granaryfs" "$work/programs/"
	cat >"$work/programs/granary" <<-EOS
		#!/bin/sh
		"$granary" "\$@"
		status=\$?
		awk '/^rchar/ { print \$2 }' "/proc/\$\$/io" >>"$work/read"
		# what ended it ends this, too
		[ "\$status" -le 128 ] || kill -s "\$((status - 128))" \$\$
		exit \$status
	EOS
	chmod 755 "$work/programs/granary"
}

# makers: how many have read all of it since the last `fresh`.
makers() {
	awk -v all="$(stat -c %s "$archive")" '$1 >= all { n++ } END { print n + 0 }' "$work/read"
}

fresh() {
	rm -rf "$index" "$XDG_CACHE_HOME" "$work"/{cache,said,warned}-*
	: >"$work/read"
	pids=()
}

# nothing_left DESCRIPTION: neither a claim nor a temporary file.
nothing_left() {
	is "$(find "$work"/[!l]* -name '*.claim*' -o -name '*.gidx.*')" "" "$1: nothing is left"
}

# in_background COMMAND...: its process in `pid`.
in_background() {
	"$@" &
	pid=$!
	started+=("$pid")
}

# mount_all NUMBER [OPTIONS]: so many more, each at a mount point of its own.
mount_all() {
	local i end=$((${#pids[@]} + $1))
	shift
	for ((i = ${#pids[@]} + 1; i <= end; i++)); do
		mkdir -p "$work/mnt-$i"
		watch_mount "$work/mnt-$i"
		in_background timeout 60 "$work/programs/granaryfs" "$@" "$archive" \
			"$work/mnt-$i" 2>"$work/said-$i"
		pids+=("$pid")
	done
}

# all_mounted DESCRIPTION [FAILURES]: they end, all but so many with 0; all that are
# mounted show the same.
all_mounted() {
	local i failed=0 wrong=0
	for ((i = 1; i <= ${#pids[@]}; i++)); do
		wait "${pids[i - 1]}" || {
			failed=$((failed + 1))
			continue
		}
		is_right "$work/mnt-$i" || wrong=$((wrong + 1))
		leave_mount "$work/mnt-$i"
	done
	is "$failed" "${2:-0}" "$1: ${2:-none} of them fails"
	is "$wrong" 0 "$1: the others show the tree"
	check "$1: and every daemon ends" wait_until 20 no_daemons
}

no_daemons() {
	! program_runs "$work/programs/granaryfs"
}

# The numbers of the files: in order, each once, in its directory.
is_right() {
	[ "$(find "$1" -type f -printf '%P\n' | sort -t- -k2n | cksum)" = "$right" ]
}

right=$(for ((i = 0; i < 500; i++)); do echo "dir$((i % 7))/file-$i"; done | cksum)

mounts_at_once() {
	fresh
	mount_all "$nodes"
	all_mounted "$nodes mounts at once"
	is "$(makers)" 1 "$nodes mounts at once: one has read the archive"
	nothing_left "$nodes mounts at once"
	check "$nodes mounts at once: the index is sound" "$granary" index --check "$archive"
}

# index_all NUMBER [OPTIONS]: `granary index`, at once; their words in said-N.
index_all() {
	local i count=$1
	shift
	for ((i = 1; i <= count; i++)); do
		in_background "$work/programs/granary" index --json "$@" "$archive" \
			>"$work/said-$i" 2>"$work/warned-$i"
		pids+=("$pid")
	done
	for i in "${pids[@]}"; do
		wait "$i" || ok 1 "granary index: status $?"
	done
}

built() {
	cat "$work"/said-* | grep -c -- "$1"
}

indexers_at_once() {
	fresh
	index_all "$nodes"
	is "$(makers)" 1 "granary index at once: one has read the archive"
	is "$(built '"built":true') $(built '"built":false')" "1 $((nodes - 1))" \
		"granary index at once: one says that it made it"
	nothing_left "granary index at once"
	fresh
	index_all 3 --force
	is "$(makers)" 3 "granary index --force at once: each makes it"
	nothing_left "granary index --force at once"
	"$granary" index --check "$archive" >"$work/checked" 2>&1
	ok $? "granary index --force at once: it is sound"
}

# read_owner: the process that the claim names, in `owner`.
read_owner() {
	local key value
	owner=
	while read -r key value; do
		[ "$key" = process ] && owner=$value
	done <"$claim"
	[ -n "$owner" ]
} 2>/dev/null

read_worker() {
	read -r worker _ <"/proc/$owner/task/$owner/children"
	[ -n "$worker" ]
} 2>/dev/null

# catch_maker: stops the one that reads the archive as soon as there is one: so that
# it is at it still when the others have come. Builtins only, since it is quick.
catch_maker() {
	local end=$((SECONDS + 20))
	until read_owner && read_worker; do
		[ "$SECONDS" -lt "$end" ] || return 1
	done
	kill -STOP "$worker"
}

# One that is killed while it builds costs one mount: its own.
killed() {
	local who=$1
	fresh
	mount_all 1
	catch_maker
	ok $? "$who killed: somebody claims"
	mount_all $((nodes - 1))
	wait_until 20 grep -q waiting "$work/said-$nodes"
	ok $? "$who killed: and the others wait"
	kill -KILL "${!who}"
	# the kernel tells it to end when its parent has, which a stopped one does not hear
	kill -CONT "$worker" 2>/dev/null
	all_mounted "$who killed" 1
	is "$(grep -l 'signal 9' "$work"/said-* | wc -l)" 1 "$who killed: its mount says so"
	is "$(makers)" 1 "$who killed: one of the others has read the archive"
	nothing_left "$who killed"
}

# Machines, as far as one machine can have some: hosts and process numbers of their
# own, so that none can see whether another's process lives, and caches of their own.
as_node() {
	local name=$1
	shift
	# shellcheck disable=SC2016  # the inner shell expands it
	XDG_CACHE_HOME=$work/cache-$name unshare --pid --fork --mount-proc --uts \
		sh -c 'echo "$0" >/proc/sys/kernel/hostname && exec "$@"' "$name" "$@"
}

nodes_at_once() {
	local i
	fresh
	for ((i = 1; i <= nodes; i++)); do
		in_background as_node "node$i" "$work/programs/granary" index --json "$archive" \
			>"$work/said-$i" 2>"$work/warned-$i"
		pids+=("$pid")
	done
	for i in "${pids[@]}"; do
		wait "$i" || ok 1 "nodes at once: status $?"
	done
	is "$(makers)" 1 "nodes at once: one has read the archive"
	is "$(built '"built":true') $(built '"built":false')" "1 $((nodes - 1))" \
		"nodes at once: the others have waited for it"
	nothing_left "nodes at once"
}

# ---- Claims of nobody -------------------------------------------------------

# A claim of another machine, as a power cut leaves it, for a small archive. It takes
# 20 seconds until it is broken: begun first, looked at last.
left_over() {
	mkdir "$work/left"
	head -c 51200 "$archive" >"$work/left/small.tar"
	head -c 1024 /dev/zero >>"$work/left/small.tar"
	write_claim >"$work/left/small.tar.gidx.claim"
	in_background "$granary" index --json "$work/left/small.tar" \
		>"$work/left-said" 2>"$work/left-warned"
	left_pid=$pid
}

write_claim() {
	printf 'granary claim\nhost node17\nboot b\npids p\nprocess 4711\nstarted 1\n'
}

left_over_is_broken() {
	wait "$left_pid"
	ok $? "a claim that was left over: broken in the end"
	check "and the index made" grep -q '"built":true' "$work/left-said"
	check "and it was said who was waited for" \
		grep -q "node17 (process 4711) is indexing '$work/left/small.tar'" "$work/left-warned"
	is "$(grep -c waiting "$work/left-warned")" 1 "and once only"
	is "$(find "$work/left" -type f | wc -l)" 2 "and nothing is left but the index"
}

# keep_touching FILE: as an owner does.
keep_touching() {
	while sleep 0.5; do touch -c "$1"; done
}

# A claim of somebody who lives, and never comes to an end.
ends_at_once() {
	local signal before
	fresh
	write_claim >"$claim"
	in_background keep_touching "$claim"
	toucher=$pid
	for signal in INT TERM HUP; do
		rm -f "$work/waits"
		# a background process of a script ignores INT otherwise
		in_background "$python" -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$granary" index "$archive" 2>"$work/waits"
		wait_until 10 grep -q waiting "$work/waits"
		ok $? "$signal while waiting: it waits"
		kill "-$signal" "$pid"
		before=${EPOCHREALTIME/./}
		wait "$pid"
		is $? $((128 + $(kill -l "$signal"))) "$signal while waiting: it ends by it"
		at_most $(((${EPOCHREALTIME/./} - before) / 1000)) 900 "$signal while waiting: at once"
	done
	is "$(write_claim | cksum)" "$(cksum <"$claim")" "the other's claim is what it was"
	check "--force does not wait" timeout 20 "$granary" index --force "$archive"
	is "$(write_claim | cksum)" "$(cksum <"$claim")" "nor does it take the claim away"
	kill "$toucher"
	rm -f "$claim"
	nothing_left "ended while waiting"
}

# A claim of somebody whose index would not be used stops nobody.
stranger() {
	local before
	fresh
	write_claim >"$claim"
	chown 65534 "$claim"
	in_background keep_touching "$claim"
	toucher=$pid
	check "a stranger's claim: it is not waited for" timeout 30 "$granary" index -q "$archive"
	check "a stranger's claim: the index is there" test -s "$index"
	is "$(write_claim | cksum)" "$(cksum <"$claim")" "a stranger's claim: it is what it was"
	kill "$toucher"
	rm -f "$claim"
	nothing_left "a stranger's claim"
}

# A file that is no claim is neither waited for nor removed.
something_in_the_way() {
	local kind
	for kind in "ln -s /etc/hostname" "mkfifo" "mkdir"; do
		fresh
		$kind "$claim"
		check "$kind in the way: the index is made" timeout 20 "$granary" index "$archive"
		[ -L "$claim" ] || [ -p "$claim" ] || [ -d "$claim" ]
		ok $? "$kind in the way: left alone"
		rm -r "$claim"
	done
	nothing_left "something in the way"
}

# ---- Places that cannot be written ------------------------------------------

bind_read_only() {
	mkdir -p "$2" && mount --bind "$1" "$2" && mount -o remount,bind,ro "$2"
}

read_only_directory() {
	local archive=$work/read-only/long.tar
	at_exit umount "$work/read-only"
	bind_read_only "$archives" "$work/read-only" || bail "no bind mount"
	fresh
	mount_all 6
	all_mounted "a read-only directory"
	is "$(makers)" 1 "a read-only directory: one makes it, in the cache of all"
	nothing_left "a read-only directory"
	fresh
	touch "$work/a-file"
	XDG_CACHE_HOME=$work/a-file/none HOME=$work/a-file mount_all 3
	all_mounted "no place at all"
	is "$(makers)" 3 "no place at all: each makes its own, in memory"
	nothing_left "no place at all"
}

# A machine that may only read there waits for one that may write.
read_only_for_some() {
	fresh
	in_background "$granary" index "$archive" >"$work/said-1"
	pids=("$pid")
	catch_maker
	ok $? "read-only for some: one that may write is at it"
	in_background "$work/programs/granary" index "$work/read-only/long.tar" \
		>"$work/said-2" 2>"$work/warned-2"
	wait_until 20 grep -q waiting "$work/warned-2"
	ok $? "read-only for some: one that may not waits"
	kill -CONT "$worker" 2>/dev/null
	wait "${pids[0]}" && wait "$pid"
	ok $? "read-only for some: both have an index"
	is "$(makers)" 0 "read-only for some: it is the same"
	is "$(find "$XDG_CACHE_HOME" -type f 2>/dev/null)" "" "read-only for some: and has none of its own"
}

make_archive
make_programs
left_over
mounts_at_once
indexers_at_once
killed owner
killed worker
ends_at_once
something_in_the_way
if is_root; then
	stranger
	nodes_at_once
	read_only_directory
	read_only_for_some
else
	skip "only root can mount a directory read-only, make namespaces and give files away" "machines and places"
fi
left_over_is_broken
finish
