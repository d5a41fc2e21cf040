#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# cpus= and threads=: how many threads a server has and where they run, also when it was
# started on one processor of many, and so has a server in the place of one that died.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar taskset nproc
request_least=8 ahead_least=4 # of each kind of thread

first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
all=$(nproc)

make_archive() {
	mkdir "$work/tree" && echo hello >"$work/tree/file" &&
		tar -C "$work/tree" -cf "$work/t.tar" . && "$granary" index "$work/t.tar"
}

threads() {
	find "/proc/$(server_pid "$mnt")/task" -mindepth 1 -maxdepth 1 | wc -l
}

# The number of threads for so many processors.
wanted_for() {
	local requests=$((2 * $1)) ahead=$((2 * $1))
	((requests >= request_least)) || requests=$request_least
	((requests <= 64)) || requests=64
	((ahead >= ahead_least)) || ahead=$ahead_least
	((ahead <= 16)) || ahead=16
	echo $((requests + ahead))
}

allowed() {
	awk '$1 == "Cpus_allowed_list:" { print $2 }' "/proc/$(server_pid "$mnt")/status"
}

has_threads() {
	[ "$(threads)" -ge "$1" ]
}

# looks_so WHAT PROCESSORS LIST
looks_so() {
	local wanted
	wanted=$(wanted_for "$2")
	check "$1: it answers" grep -q hello "$mnt/file"
	wait_until 20 has_threads "$wanted"
	# the one that starts the others may serve requests itself
	at_least "$(threads)" "$wanted" "$1: two threads of each kind a processor"
	at_most "$(threads)" $((wanted + 1)) "$1: and no more"
	[ -z "$3" ] || is "$(allowed)" "$3" "$1: where they run"
}

# on WHAT OPTIONS PROCESSORS LIST: mounted from one processor, and then its server dies.
on() {
	local server
	printf '#!/bin/sh\nexec taskset -c %s "%s" "$@"\n' "$first" "$granaryfs" >"$work/on-one"
	chmod 755 "$work/on-one"
	granaryfs=$work/on-one mount_ok "$1: mounted" -o "$2" "$work/t.tar" "$mnt" || return
	looks_so "$1" "$3" "$4"
	server=$(server_pid "$mnt")
	servers_may_die=yes
	kill -KILL "$server"
	wait_until 20 process_gone "$server"
	looks_so "$1, the next server" "$3" "$4"
	umount_ok "$mnt"
}

check "an archive" make_archive
on "cpus=inherit" cpus=inherit 1 "$first"
on "a list" "cpus=$first" 1 "$first"
on "cpus=auto" cpus=auto "$all" ""
finish
