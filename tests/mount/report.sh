#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# granary report: nothing but regular files is replaced, whatever ends it leaves nothing
# temporary. No mount is needed.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need truncate mkfifo
trace=$work/t.pfw
out=$work/out
event='{"name":"read","cat":"POSIX","ts":5,"dur":1,"ph":1,"args":{"ret":1}}'

names_in() {
	(cd "$1" && echo *)
}

has_temporary() {
	[ -n "$(find "$out" -name 'slow.html.*')" ]
}

replaced() {
	echo before >"$out/old"
	check "a file is replaced" granary report "$trace" -o "$out/old" --chrome="$out/events"
	is "$(tail -n 1 "$out/old")" "</main></body></html>" "by the page"
	is "$(stat -c %a "$out/old")" 644 "with the mode of new files"
}

refused() {
	local before name
	ln -s old "$out/link"
	mkfifo "$out/fifo"
	mkdir "$out/directory"
	ln "$trace" "$out/twin"
	before=$(names_in "$out")
	for name in link fifo directory; do
		says 2 "is no regular file" "a $name is not" granary report "$trace" -o "$out/$name"
		says 2 "is no regular file" "nor by the events" \
			granary report "$trace" --chrome="$out/$name"
	done
	says 1 "is the trace itself" "nor the trace" granary report "$trace" -o "$trace"
	says 1 "is the trace itself" "by another name" granary report "$trace" --chrome="$out/twin"
	says 1 "cannot be one file" "one file for both" \
		granary report "$trace" -o "$out/new" --chrome="$out/directory/../new"
	is "$(names_in "$out")" "$before" "nothing was made"
	is "$(cat "$trace")" "$event" "the trace is as it was"
}

# ended SIGNAL STATUS: of a report that has gigabytes to read.
ended() {
	local child
	"$granary" report "$work/long.pfw" -o "$out/slow.html" --chrome="$out/slow.json" \
		2>"$work/err" &
	child=$!
	wait_until 20 has_temporary
	ok $? "$1: it has begun"
	kill "-$1" "$child"
	wait "$child" 2>/dev/null
	is $? "$2" "$1 ends it"
	is "$(find "$out" -name 'slow.*')" "" "and leaves nothing"
}

umask 022
mkdir "$out"
echo "$event" >"$trace"
cp "$trace" "$work/long.pfw"
truncate -s 8G "$work/long.pfw"
replaced
refused
ended TERM 143
ended HUP 129
finish
