#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# trace=: what is read is in the trace, a server that is killed leaves no gap, whatever ends
# the mount leaves a file that can be read, and no file of another is written over.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar timeout gzip
need_python json
need_built zlib
servers_may_die=1
trace=$work/t.pfw.gz

make_archive() {
	local i
	mkdir -p "$work/tree/a" "$work/tree/b"
	for i in 1 2 3 4 5 6 7 8; do
		head -c $((i * 9000)) /dev/urandom >"$work/tree/a/$i"
		head -c $((i * 5000)) /dev/urandom >"$work/tree/b/$i \"quoted\""
	done
	tar -C "$work/tree" -cf "$work/t.tar" .
	"$granary" index -q "$work/t.tar" || bail "no index"
}

start() {
	watch_mount "$mnt"
	timeout -k 5 60 "$granaryfs" "$@"
}

# The process that writes the trace of what is mounted at $mnt.
writer_of() {
	local pid
	for pid in $(mount_processes "$mnt"); do
		is_named "$pid" granaryfs-trace && echo "$pid"
	done
}

# lines DESCRIPTION CONDITION: Python's, over `lines`, `reads` (name to bytes) and `end`.
lines() {
	check "$1" "$python" - "$trace" "$2" <<-'END'
		import gzip, json, sys, zlib
		data, text = open(sys.argv[1], "rb").read(), b""
		while data:
		    one = zlib.decompressobj(31)
		    text += one.decompress(data)
		    assert one.eof, "a member that is cut off"
		    data = one.unused_data
		lines = [json.loads(line) for line in text.splitlines()]
		names = {d["args"]["value"]: d["args"]["name"] for d in lines if d["name"] == "FH"}
		reads = {}
		for d in lines:
		    if d["name"] == "read":
		        name = names[d["args"]["fhash"]]
		        reads[name] = reads.get(name, 0) + d["args"]["ret"]
		storage = sum(d["args"]["ret"] for d in lines if d["name"] == "storage_read")
		ends = [d for d in lines if d["name"] == "end"]
		pids = {d["pid"] for d in lines if d["name"] == "read"}
		ids = [d["id"] for d in lines if "id" in d]
		assert eval("(%s)" % sys.argv[2]), (len(lines), reads, storage, ends, pids)
	END
}

read_tree() {
	(cd "$1" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 cat | cksum)
}

ends() {
	local writer
	writer=$(writer_of)
	check "$1: unmounted" leave_mount "$mnt"
	wait_until 20 process_gone "$writer"
	ok $? "$1: the writer ends"
}

killed() {
	local writer
	writer=$(writer_of)
	check "$1: the supervisor is killed" kill -KILL "$(daemon_pids "$mnt")"
	wait_until 20 process_gone "$writer"
	ok $? "$1: the writer ends"
	umount_lazily
}

another_server() {
	local server=$1
	set -- $(server_pid "$mnt")
	[ $# -eq 1 ] && [ "$1" != "$server" ]
}

whole() {
	start -o "trace=$trace,prefetch=off,cache=64M" "$work/t.tar" "$mnt"
	is $? 0 "mounted"
	is "$(stat -c %a "$trace")" 600 "the trace is its user's alone"
	is "$(read_tree "$mnt")" "$(read_tree "$work/tree")" "all is read"
	says 2 "a mount that is there" "a second mount cannot write to it" \
		timeout -k 5 60 "$granaryfs" -o "trace=$trace" "$work/t.tar" "$work/other"
	ends whole
	check "gzip is content" gzip -t "$trace"
	lines "each file with its bytes" "reads['$mnt/a/8'] == 72000 and
		reads['$mnt/b/8 \"quoted\"'] == 40000 and sum(reads.values()) == 504000"
	lines "storage, and an end" "storage >= 504000 and len(ends) == 1 and
		ends[0]['args']['dropped'] == 0 and ids == list(range(len(ids)))"
}

# is_page FILE: whole, and with nothing that a browser would fetch or run.
is_page() {
	tail -n 1 "$1" | grep -q '</html>$' && ! grep -q -i -E 'https?:|<script|src=|url\(' "$1"
}

report() {
	check "report" granary report "$trace" -o "$work/page.html" --chrome="$work/events.json"
	check "a page" is_page "$work/page.html"
	check "with the dataset and its shard" grep -q "<td class=\"path\">$work/t.tar</td>" \
		"$work/page.html"
	is "$("$python" -c 'import json, sys
print(sum(d["cat"] == "read" for d in json.load(open(sys.argv[1]))["traceEvents"]))' "$work/events.json")" \
		"$(gzip -dc "$trace" | grep -c '"name":"read"')" "all reads are events for Perfetto"
	check "to standard output" cmp <(granary report "$trace") "$work/page.html"
	echo before >"$work/old.html"
	says 3 "no event" "a file that is no trace" granary report "$work/t.tar" -o "$work/old.html"
	is "$(cat "$work/old.html")" before "leaves the page that was there"
	says 2 "nowhere" "a directory that is not there" \
		granary report "$trace" -o "$work/nowhere/page.html"
	says 1 "one trace" "two traces" granary report "$trace" "$trace"
	is "$(find "$work" -maxdepth 1 -name '*.html.*' -o -maxdepth 1 -name '*.json.*')" "" \
		"nothing temporary is left"
}

server_dies() {
	local server
	start -o "trace=$trace,prefetch=off" "$work/t.tar" "$mnt"
	is $? 0 "again: the mount's own earlier trace is replaced"
	cat "$mnt/a/1" >"$work/out"
	server=$(server_pid "$mnt")
	kill -KILL "$server"
	wait_until 20 another_server "$server"
	ok $? "another server"
	cat "$mnt/a/2" >>"$work/out"
	ends "after a server"
	lines "both servers' reads" "reads == {'$mnt/a/1': 9000, '$mnt/a/2': 18000} and
		len(pids) == 2"
}

daemon_dies() {
	start -o "trace=$trace,prefetch=off" "$work/t.tar" "$mnt"
	is $? 0 "and again"
	cat "$mnt/a/3" >"$work/out"
	killed "the daemon"
	lines "the last reads are there" "reads == {'$mnt/a/3': 27000} and len(ends) == 1"
	start -o "trace=$trace,prefetch=off" "$work/t.tar" "$mnt"
	is $? 0 "once more"
	cat "$mnt/a/4" >"$work/out"
	flushed() { gzip -dc "$trace" 2>/dev/null | grep -q '"name":"read"'; }
	wait_until 20 flushed
	ok $? "a second later it is in the file"
	kill -KILL "$(writer_of)"
	is "$(read_tree "$mnt")" "$(read_tree "$work/tree")" \
		"the mount lives on when its writer is killed"
	check "unmounted" leave_mount "$mnt"
	check "gzip is content" gzip -t "$trace"
	lines "and the file can be read" "reads == {'$mnt/a/4': 36000} and not ends"
}

refused() {
	echo precious >"$work/precious"
	ln -s precious "$work/link"
	ln "$work/precious" "$work/twin"
	says 2 "no file of one name" "a file with two names" start -o "trace=$work/precious" "$work/t.tar" "$mnt"
	rm "$work/twin"
	says 2 "is no earlier trace" "a file" start -o "trace=$work/precious" "$work/t.tar" "$mnt"
	says 2 "symbolic link" "a link" start -o "trace=$work/link" "$work/t.tar" "$mnt"
	says 2 "trace=" "a device" start -o "trace=/dev/null" "$work/t.tar" "$mnt"
	mkdir "$work/elsewhere"
	says 2 "is no earlier trace" "another mount point's" \
		start -o "trace=$trace" "$work/t.tar" "$work/elsewhere"
	is "$(cat "$work/precious")" precious "nothing was written to it"
	is "$(mount_lines "$mnt")" "" "nothing is mounted"
}

# The file lies in the directory that becomes the mount point, and is as a user's.
odd_places() {
	start -o "trace=$mnt/inside.pfw.gz" "$work/t.tar" "$mnt"
	is $? 0 "a trace below the mount"
	cat "$mnt/a/1" >"$work/out"
	trace=$mnt/inside.pfw.gz ends below
	trace=$mnt/inside.pfw.gz lines "is written all the same" "reads == {'$mnt/a/1': 9000}"
	is_root || return 0
	mkdir -m 777 "$work/theirs"
	trace=$work/theirs/t.pfw.gz
	chmod 755 "$mnt"
	start -o "user=65534,allow_other,trace=$trace" "$work/t.tar" "$mnt"
	is $? 0 "for a user"
	is "$(stat -c %u "$trace")" 65534 "it is that user's"
	is "$(ps -o uid= -p "$(writer_of)" | tr -d ' ')" 65534 "and so is its writer"
	cat "$mnt/a/5" >"$work/out"
	ends "a user's"
	lines "with the reads" "reads == {'$mnt/a/5': 45000}"
}

mkdir "$work/other"
make_archive
whole
report
server_dies
daemon_dies
refused
odd_places
finish
