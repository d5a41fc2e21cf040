#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Information of a mount about itself: .granaryfs is in no listing, its files parse, and
# are fresh each time, whatever storage does; granary stats and granary wait read them.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd
need_fuse
need tar timeout find script mksquashfs
files=(config log metrics progress stats stats.json)
metrics=$abs_top_srcdir/tests/mount/metrics.py

make_sources() {
	local i
	mkdir -p "$work/tree/a" "$work/own/sub/.granaryfs" "$work/own/.granaryfs" "$work/odd"
	for ((i = 0; i < 50; i++)); do
		head -c 20000 /dev/urandom >"$work/tree/a/$i"
	done
	tar -C "$work/tree" -cf "$work/tree.tar" a
	echo theirs >"$work/own/sub/.granaryfs/stats"
	echo theirs >"$work/own/.granaryfs/stats"
	echo file >"$work/own/sub/file"
	tar -C "$work/own" -cf "$work/own.tar" .granaryfs sub
	truncate -s 1M "$work/odd/holes"
	tar -C "$work/odd" --sparse -cf "$work/odd.tar" holes
	"$python" - "$work/odd.tar" <<-'END'
		import io, sys, tarfile
		with tarfile.open(sys.argv[1], "a", format=tarfile.PAX_FORMAT) as tar:
		    info = tarfile.TarInfo("labelled")
		    info.pax_headers = {"SCHILY.xattr.user.label": "7"}
		    tar.addfile(info, io.BytesIO())
	END
}

# value NAME [MOUNT]
value() {
	timeout 20 cat "${2:-$mnt}/.granaryfs/stats" | awk -v name="$1" '$1 == name { print $2 }'
}

# Requests of readers, by what the mount says itself.
reader_requests() {
	awk '/^fuse_/ && !/^fuse_control/ { print $1, $2 }' "$mnt/.granaryfs/stats"
}

# ---- The files --------------------------------------------------------------

hidden() {
	is "$(ls -A "$mnt")" a "ls -A does not show it"
	is "$(find "$mnt" -name '.granary*')" "" "nor does find"
	is "$("$python" -c 'import os, sys; print(os.listdir(sys.argv[1]))' "$mnt")" "['a']" \
		"nor Python"
	is "$(stat -c %h "$mnt")" 3 "and the root's links do not count it"
	is "$(cd "$mnt/.granaryfs" && echo *)" "${files[*]}" "but it lists its own files"
	refuse "nothing else is there" stat "$mnt/.granaryfs/nothing"
	refuse "and it is only at the root" stat "$mnt/a/.granaryfs"
}

modes_and_numbers() {
	local name
	is "$(stat -c '%A %h' "$mnt/.granaryfs")" "dr-xr-xr-x 2" "the directory can only be read"
	for name in "${files[@]}"; do
		is "$(stat -c '%A %h' "$mnt/.granaryfs/$name")" "-r--r--r-- 1" "so can $name"
		is "$(wc -c <"$mnt/.granaryfs/$name")" "$(stat -c %s "$mnt/.granaryfs/$name")" \
			"$name is as large as it says"
	done
	numbers=$(stat -c %i "$mnt/.granaryfs" "$mnt/.granaryfs/"*)
	is "$(printf '%s\n' "$numbers" | sort -u | wc -l)" 7 "each has a number of its own"
	refuse "no writing" sh -c "echo >$mnt/.granaryfs/stats"
	refuse "no new files" touch "$mnt/.granaryfs/new"
	refuse "no removing" rm -f "$mnt/.granaryfs/stats"
	refuse "a directory is not read as a file" cat "$mnt/.granaryfs"
	refuse "nor is a file a directory" ls "$mnt/.granaryfs/stats/"
}

parses() {
	local progress
	check "stats.json is JSON" "$python" -m json.tool "$mnt/.granaryfs/stats.json"
	check "metrics are what Prometheus takes" "$python" "$metrics" <"$mnt/.granaryfs/metrics"
	metrics_have 'granaryfs_requests_total{op=read}' granaryfs_source_read_bytes_total{} \
		granaryfs_source_reads_total{} granaryfs_pushed_bytes_total{} granaryfs_cache_bytes{} \
		granaryfs_cache_hits_total{} granaryfs_cache_misses_total{} \
		'granaryfs_request_seconds_count{op=read}' granaryfs_source_read_seconds_sum{} \
		granaryfs_decode_seconds_count{}
	is "$(grep -c -v -E '^[a-z_]+ +[0-9]+ [a-z]+ +[^ ]' "$mnt/.granaryfs/stats")" 0 \
		"stats are lines of name, value, unit and sentence"
	progress=$(cat "$mnt/.granaryfs/progress")
	[[ $progress =~ ^\ +0\.0\ %\ warm:\ +0\ of\ +0\ bytes,\ idle\ *$ ]]
	ok $? "progress is one line" || diag "$progress"
	is "$(grep -E '^(source|sources|umask|opens)=' "$mnt/.granaryfs/config")" \
		"$(printf 'sources=1\nsource=%s\numask=000\nopens=hidden' "$work/tree.tar")" \
		"config has the source and the options"
}

metrics_have() {
	local name dump
	dump=$("$python" "$metrics" --dump <"$mnt/.granaryfs/metrics")
	for name; do
		check "there is $name" grep -q -F -- "$name " <<<"$dump"
	done
}

# Each look says something new, be the file opened anew or not.
fresh() {
	local i last=0 now old=0
	for ((i = 0; i < 100; i++)); do
		now=$(value fuse_control)
		[ "$now" -gt "$last" ] || old=$((old + 1))
		last=$now
	done
	is "$old" 0 "cat is fresh a hundred times"
	is "$("$python" - "$mnt/.granaryfs/stats.json" <<-'END'
		import json, os, sys
		seen = []
		fd = os.open(sys.argv[1], os.O_RDONLY)
		for _ in range(20):
		    seen.append(json.loads(os.pread(fd, 1 << 20, 0))["clock_ns"])
		print(len(set(seen)), seen == sorted(seen))
	END
	)" "20 True" "so is a file that stays open"
	is "$("$python" - "$mnt/.granaryfs/stats.json" <<-'END'
		import json, sys
		with open(sys.argv[1], "rb", buffering=0) as file:
		    pieces = iter(lambda: file.read(100), b"")
		    print(json.loads(b"".join(pieces))["granaryfs"])
	END
	)" 1 "read in small pieces, between which numbers change, it parses"
}

counts() {
	local before after
	cat "$mnt/a/0" >/dev/null
	before=$(reader_requests)
	is "$(reader_requests)" "$before" "looking at it is no request of a reader's"
	check "all of it" cat "$mnt"/.granaryfs/*
	ls -la "$mnt/.granaryfs" >/dev/null
	is "$(reader_requests | grep -v getxattr)" "$(grep -v getxattr <<<"$before")" \
		"listing it neither"
	before=$(value fuse_read) after=$(value read_bytes)
	cat "$mnt"/a/1 "$mnt"/a/2 "$mnt"/a/3 >/dev/null
	is $(($(value fuse_read) - before)) 3 "three files are three reads"
	is $(($(value read_bytes) - after)) 60000 "of their bytes"
	is "$(value request_read_count)" "$(value fuse_read)" "each of which has been timed"
	at_least "$(value source_read_demand_ns)" 1 "and so has what it waited for"
	is "$(requests "$mnt" | awk '$1 == "fuse_read" { print $2 }')" "$(value fuse_read)" \
		"SIGUSR1 tells the same"
}

survives() {
	local before server
	before=$(value fuse_read)
	server=$(server_pid "$mnt")
	servers_may_die=yes
	kill -KILL "$server"
	check "a server dies: the next one answers" timeout 20 cat "$mnt/.granaryfs/stats"
	is "$(value fuse_read)" "$before" "the numbers go on where they were"
	is "$(value servers_started)" 2 "and say so"
	is "$(stat -c %i "$mnt/.granaryfs" "$mnt/.granaryfs/"*)" "$numbers" "the inodes are the same"
}

shows() {
	mount_ok "mounted" "$work/tree.tar" "$mnt" || finish
	hidden
	modes_and_numbers
	parses
	fresh
	counts
	survives
	tool_on_a_mount
	umount_ok "$mnt"
}

# ---- Other ways to mount ------------------------------------------------------

visible_opens() {
	mount_ok "opens=visible: mounted" -o opens=visible "$work/tree.tar" "$mnt" || return
	hidden
	parses_visibly
	fresh
	is "$(stat -c %i "$mnt/.granaryfs" "$mnt/.granaryfs/"*)" "$numbers" \
		"another mount has the same inodes"
	umount_ok "$mnt"
}

parses_visibly() {
	local before
	check "stats.json is JSON" "$python" -m json.tool "$mnt/.granaryfs/stats.json"
	check "config says opens=visible" grep -x opens=visible "$mnt/.granaryfs/config"
	check "and that the kernel does" grep -x kernel.opens=visible "$mnt/.granaryfs/config"
	before=$(reader_requests)
	is "$(reader_requests)" "$before" "opening it is no request of a reader's"
}

two_mounts() {
	local other=$work/other
	mount_ok "one" "$work/tree.tar" "$mnt" && mount_ok "two" "$work/tree.tar" "$other" ||
		return
	cat "$mnt"/a/* >/dev/null
	is "$(value fuse_read) $(value fuse_read "$other")" "50 0" "two mounts count apart"
	umount_ok "$mnt"
	umount_ok "$other"
}

other_users() {
	is_root || return
	mount_ok "for others: mounted" -o allow_other "$work/tree.tar" "$mnt" || return
	check "another user reads it" as_nobody cat "$mnt/.granaryfs/metrics"
	check "granary stats of another user" as_nobody granary stats "$mnt"
	refuse "and cannot write" as_nobody sh -c "echo >$mnt/.granaryfs/stats"
	umount_ok "$mnt"
	mount_ok "umask=077: mounted" -o allow_other,umask=077 "$work/tree.tar" "$mnt" || return
	refuse "umask counts here too" as_nobody cat "$mnt/.granaryfs/metrics"
	umount_ok "$mnt"
	mount_ok "not for others: mounted" "$work/tree.tar" "$mnt" || return
	says 2 "without -o allow_other" "granary stats says why" as_nobody granary stats "$mnt"
	umount_ok "$mnt"
}

# A dataset that has such a name itself.
own_name() {
	mount_ok "a dataset with its own .granaryfs: mounted" -o index=off "$work/own.tar" "$mnt" ||
		return
	is "$(ls -A "$mnt")" sub "at the root it is left out"
	check "ours is there" grep -q fuse_control "$mnt/.granaryfs/stats"
	is "$(cat "$mnt/sub/.granaryfs/stats")" theirs "further down it is theirs"
	umount_ok "$mnt"
	mount_ok "subdir= makes it the root: mounted" -o subdir=sub "$work/own.tar" "$mnt" || return
	is "$(ls -A "$mnt")" file "then it is hidden"
	check "ours is there instead" grep -q fuse_control "$mnt/.granaryfs/stats"
	check "and the log says so" grep -q "own .granaryfs cannot be seen" "${mount_log[$mnt]}"
	umount_ok "$mnt"
}

odd_trees() {
	mount_ok "holes and attributes: mounted" "$work/odd.tar" "$mnt" || return
	is "$(ls -la "$mnt/.granaryfs" 2>&1 >/dev/null)" "" "ls -l has nothing to complain of"
	check "cp asks for holes, and copies it" cp "$mnt/.granaryfs/stats" "$work/copy"
	check "all of it" grep -q fuse_control "$work/copy"
	is "$("$python" -c 'import os, sys; print(os.listxattr(sys.argv[1]))' \
		"$mnt/.granaryfs/stats")" "[]" "it has no attributes"
	umount_ok "$mnt"
}

# Decoding is timed, and so is the waiting for it.
coded() {
	mkdir -p "$work/plain/a"
	yes granary | head -c 1000000 >"$work/plain/a/file"
	mksquashfs "$work/plain" "$work/tree.squashfs" -comp gzip -quiet -no-progress >/dev/null
	mount_ok "a squashfs image: mounted" "$work/tree.squashfs" "$mnt" || return
	cat "$mnt"/a/* >/dev/null
	at_least "$(value chunks_decoded)" 1 "chunks are decoded"
	is "$(value decode_count)" "$(value chunks_decoded)" "each of them is timed"
	at_least "$(value decode_demand_ns)" 1000 "and a reader waited for that"
	umount_ok "$mnt"
}

# ---- What bounds the reader -----------------------------------------------------

bound() {
	"$granary" stats --json "$mnt" | "$python" -c 'import json, sys; print(json.load(sys.stdin)["bound"])'
}

# Each read of the storage takes 30 ms, and each file is read once.
slow_storage() {
	local i
	make_faulty
	mkdir -p "$work/many/a"
	for ((i = 0; i < 600; i++)); do
		head -c 5000 /dev/urandom >"$work/many/a/$i"
	done
	tar -C "$work/many" -cf "$work/many.tar" a
	"$granary" index "$work/many.tar" >/dev/null || bail "no index"
	GRANARY_FAULTS="kind=late,path=many.tar,from=$(($(identified "$work/many.tar") + 1)),ms=30" granaryfs=$work/faulty/granaryfs \
		mount_ok "slow storage: mounted" -o index=require,prefetch=off,push=off \
		"$work/many.tar" "$mnt" || return
	is "$(bound)" loader "nobody reads: the loader"
	(cat "$mnt"/a/* >/dev/null) &
	started+=("$!")
	wait_until 10 read_some
	is "$(bound)" storage "somebody does: the storage"
	at_least "$(value fuse_read)" 20 "(requests came to an end meanwhile)"
	kill "$!"
	wait "$!" 2>/dev/null
	umount_ok "$mnt"
}

read_some() {
	[ "$(value fuse_read)" -ge 10 ]
}

# ---- Storage that does not answer -----------------------------------------------

hung_storage() {
	local i readers=40
	make_faulty
	GRANARY_FAULTS="kind=late,path=tree.tar,from=$(($(identified "$work/tree.tar") + 1)),ms=60000" granaryfs=$work/faulty/granaryfs \
		mount_ok "storage that hangs: mounted" -o threads=4,index=require \
		"$work/tree.tar" "$mnt" || return
	for ((i = 0; i < readers; i++)); do
		cat "$mnt/a/$i" >/dev/null 2>&1 &
		started+=("$!")
	done
	wait_until 20 parked 36
	ok $? "all threads hang, and reads are parked: the mount says so itself"
	for i in 1 2 3 4 5; do
		check "all of it is read, $i" timeout 20 sh -c "cat $mnt/.granaryfs/* >/dev/null"
	done
	check "granary stats says what it is" sh -c \
		"timeout 20 $granary stats $mnt | grep 'storage: it does not answer; [0-9]* requests'"
	kill -TERM "${mount_pid[$mnt]}"
	check "unmounted" wait_until 20 not_mounted "$mnt"
	kill -TERM "${mount_pid[$mnt]}" 2>/dev/null
	check "the daemon ends" wait_until 30 process_gone "${mount_pid[$mnt]}"
}

make_faulty() {
	[ -d "$work/faulty" ] && return
	mkdir -p "$work/faulty"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
	"$granary" index "$work/tree.tar" >/dev/null || bail "no index"
}

parked() {
	[ "$(value requests_parked)" -ge "$1" ]
}

# ---- granary stats ----------------------------------------------------------------

tool_on_a_mount() {
	says 0 "Bound by the loader itself" "granary stats ends with a sentence" "$granary" stats "$mnt"
	says 0 "requests " "any path in the mount will do" "$granary" stats "$mnt/a/0"
	is "$("$granary" stats --json "$mnt" | "$python" -c '
import json, sys
j = json.load(sys.stdin)
print(j["bound"], j["state"], j["counters"]["servers_started"], sorted(j))')" \
		"loader idle 2 ['bound', 'counters', 'gauges', 'milliseconds', 'mountpoint', 'per_second', 'sentence', 'state', 'warm_percent']" \
		"--json"
	is "$(timeout 10 "$granary" stats --watch "$mnt" | head -n 2 | grep -c 'bound by loader$')" 2 \
		"--watch: lines, if it is no terminal"
	is "$(timeout -s INT 3 script -qec "$granary stats --watch $mnt" /dev/null | tr -d '\r' |
		grep -c '^Bound by')" 2 "--watch on a terminal: all of it, again and again"
	check "granary wait: it answers" "$granary" wait "$mnt"
	says 5 "nothing is being warmed" "granary wait --warm: nothing is" \
		"$granary" wait --warm 100 --timeout 2 "$mnt"
}

tool_elsewhere() {
	mkdir "$work/empty"
	says 32 "no granaryfs is mounted there" "granary stats of any directory" \
		"$granary" stats "$work/empty"
	says 2 "No such file" "of one that is not there" "$granary" stats "$work/none"
	says 2 "No such file" "granary wait: the same" "$granary" wait "$work/none"
	says 4 "nothing was mounted there in time" "granary wait: not in time" \
		"$granary" wait --timeout 1 "$work/empty"
	says 1 "one mount" "granary stats of two" "$granary" stats "$work" "$work"
	says 1 "--watch takes seconds" "--watch=0" "$granary" stats --watch=0 "$work"
	says 1 "--warm takes percent" "--warm 101" "$granary" wait --warm 101 "$work"
	says 1 "--warm takes percent" "--warm x" "$granary" wait --warm x "$work"
	says 1 "--timeout takes seconds" "--timeout 0" "$granary" wait --timeout 0 "$work"
}

# One whose daemon has died, and one whose daemon does not run.
tool_on_dead_and_hanging() {
	local server supervisor begin
	mount_ok "mounted" "$work/tree.tar" "$mnt" || return
	server=$(server_pid "$mnt")
	supervisor=$(daemon_pids "$mnt")
	kill -STOP "$supervisor" "$server"
	begin=$SECONDS
	says 32 "does not answer within 5 seconds" "granary stats: it hangs" \
		timeout 30 "$granary" stats "$mnt"
	at_most $((SECONDS - begin)) 8 "and is said to in time"
	kill -KILL "$supervisor" "$server"
	wait_until 10 process_gone "$supervisor"
	says 32 "the daemon of this mount has died" "granary stats: it is dead" \
		timeout 30 "$granary" stats "$mnt"
	says 32 "has died" "granary wait: the same" timeout 30 "$granary" wait "$mnt"
	check "granary umount clears it away" "$granary" umount "$mnt"
}

# ---- granary wait -------------------------------------------------------------------

# A mount that has got so far, and no further for that reason: pretend SWEPT TARGET [LIMIT]
pretend() {
	mkdir -p "$work/fake/.granaryfs"
	printf '{"granaryfs": 1, "clock_ns": %d, "counters": {}, "gauges": {%s, %s}}' \
		$((SECONDS * 10**9)) "\"swept_bytes\": $1, \"sweep_target\": $2" \
		"\"dataset_bytes\": 5000000, \"sweep_limit\": ${3:-0}" >"$work/fake/.granaryfs/new"
	mv "$work/fake/.granaryfs/new" "$work/fake/.granaryfs/stats.json"
}

warm_slowly() {
	local i
	for i in 10 20 30 40 50 60 70 80 90 100; do
		pretend $((i * 10000000)) 1000000000
		sleep 0.25 # the pace of a sweep
	done
}

bar='^\[#+ +\] +[0-9.]+ %, [0-9]+ MiB of 954 MiB, [0-9]+ MiB/s, [0-9]+ s left'

waits() {
	pretend 500 1000
	check "half is warm" "$granary" wait --warm 50 "$work/fake"
	says 4 "50.0 % were warm in time, not 51 %" "but not more" \
		"$granary" wait --warm 51 --timeout 1 "$work/fake"
	says 4 '"done":false,"warm_percent":50,"swept_bytes":500,"sweep_target":1000' "--json" \
		"$granary" wait --json --warm 51 --timeout 1 "$work/fake"
	pretend 0 1000000000
	warm_slowly &
	says 0 "100.0 % warm" "it waits until all is" "$granary" wait --warm 100% --timeout 30 "$work/fake"
	wait "$!"
	is "$("$granary" wait -q --warm 100 "$work/fake" 2>&1)" "" "--quiet: no line"
	pretend 0 1000000000
	warm_slowly &
	script -qec "$granary wait --warm 100 --timeout 30 $work/fake" /dev/null | tr '\r' '\n' \
		>"$work/bars"
	at_least "$(grep -c -E "$bar" "$work/bars")" 2 "on a terminal a bar, with rate and time" ||
		diag "$(cat "$work/bars")"
	wait "$!"
}

# Why it ends before all is warm: with a reason, a remedy, and no wait that has no end.
waits_in_vain() {
	pretend 0 0 5
	says 5 "others need the memory; end what takes it" "nothing, for memory is short" \
		timeout 20 "$granary" wait --warm 100 "$work/fake"
	pretend 1000000 1000000 5
	says 0 "977 KiB of 4.8 MiB are to be held" "memory became short: it says how much is held" \
		timeout 20 "$granary" wait --warm 100 "$work/fake"
	pretend 1000 1000000 6
	says 5 "reading ahead has failed" "what has failed does not go on" \
		timeout 20 "$granary" wait --warm 100 "$work/fake"
	pretend 1000000 1000000 6
	check "but what was wanted is there" "$granary" wait -q --warm 100 "$work/fake"
	pretend 0 0 7
	says 5 "has a single byte" "nothing at all" timeout 20 "$granary" wait --warm 1 "$work/fake"
}

# wait_of STATUS WORDS DESCRIPTION OPTIONS: at once after the mount.
wait_of() {
	mount_ok "$3: mounted" -o "$4" "$work/many.tar" "$mnt" || return
	says "$1" "$2" "$3: granary wait" timeout 60 "$granary" wait --warm 100 "$mnt"
	umount_ok "$mnt"
}

waits_at_a_mount() {
	wait_of 5 "-o prefetch=off and window never" "off" prefetch=off
	wait_of 5 "mount with -o prefetch=sweep" "window" prefetch=window
	wait_of 5 "begins when a loader does, and none has" "no loader" prefetch=auto
	wait_of 0 "warm" "a sweep" prefetch=sweep
	wait_of 0 "warm" "a sweep into the cache" prefetch=sweep,push=off
	wait_of 5 "larger -o cache=SIZE" "no budget" prefetch=sweep,cache=1M
	wait_of 0 "the rest is read from storage each time" "half a budget" \
		prefetch=sweep,cache=4M
}

# The target is there before the sweep is, however long that takes to begin.
announced() {
	mount_ok "announced: mounted" -o prefetch=sweep "$work/many.tar" "$mnt" || return
	at_least "$(value sweep_target)" 3000000 "what is to be swept is told from the first moment"
	is "$(value dataset_bytes)" 3000000 "and so is what there is"
	refuse "it is not called idle" grep -q idle "$mnt/.granaryfs/progress"
	umount_ok "$mnt"
}

comes_later() {
	# the mount comes when the tool has looked for it
	(sleep 1 && pretend_later) &
	says 0 "waiting for that" "it waits for a mount that is not there yet" \
		"$granary" wait --timeout 20 "$work/later"
	wait "$!"
}

pretend_later() {
	mkdir "$work/later/.granaryfs"
	cp "$work/fake/.granaryfs/stats.json" "$work/later/.granaryfs/new"
	mv "$work/later/.granaryfs/new" "$work/later/.granaryfs/stats.json"
}

others() {
	mkdir "$work/later"
	comes_later
	printf '{"granaryfs": 2}' >"$work/fake/.granaryfs/stats.json"
	says 32 "another version" "a mount of another version" "$granary" stats "$work/fake"
	printf 'hello' >"$work/fake/.granaryfs/stats.json"
	says 32 "not what granaryfs writes" "something else" "$granary" stats "$work/fake"
}

logged_is() {
	timeout 20 grep -q -E -- "$1" "$mnt/.granaryfs/log"
}

# A daemon's log is in the mount, whether there is a syslog or not.
own_log() {
	local first
	watch_mount "$mnt"
	timeout 60 "$granaryfs" "$work/tree.tar" "$mnt"
	is $? 0 "a daemon"
	check "log: it was mounted" logged_is "^20[-0-9T:.]+Z granaryfs\\[[0-9]+\\]: $mnt: mounted\$"
	first=$(server_pid "$mnt")
	kill -KILL "$first"
	check "log: what became of the first server" wait_until 10 logged_is "the server .process $first. .*another one takes over"
	check "log: and still that it was mounted" logged_is ": mounted\$"
	kill -USR1 "$(daemon_pids "$mnt")"
	check "log: the counters" wait_until 10 logged_is "fuse_lookup"
	leave_mount "$mnt"
	check "a daemon: it ended" wait_until 20 no_daemon "$mnt"
}

make_sources
shows
visible_opens
two_mounts
other_users
own_name
odd_trees
coded
slow_storage
hung_storage
tool_elsewhere
tool_on_dead_and_hanging
waits
waits_in_vain
waits_at_a_mount
announced
own_log
others
finish
