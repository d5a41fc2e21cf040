#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary list, top and stats: every mount of the node, whoever made it and however, with
# its figures for root and its own user only; and granary umount --all.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar setpriv timeout
need_python json
forge=$abs_top_srcdir/tests/mount/forge_record.py

make_archive() {
	mkdir -p "$work/tree/a"
	echo content >"$work/tree/a/file"
	tar -C "$work/tree" -cf "$work/t.tar" .
	"$granary" index "$work/t.tar" >/dev/null
	chmod -R a+rX "$work/t.tar"*
	mkdir "$work/"{shielded,bare,users,own,private,other}
	chown 65534:65534 "$work/own" "$work/private" "$work/other"
	chmod 755 "$work"
	public_programs
	cp "$forge" "$work/forge.py"
	forge=$work/forge.py
	mknod "$work/fuse" c 10 229 && chmod 666 "$work/fuse" &&
		mount --bind "$work/fuse" /dev/fuse || bail "no /dev/fuse for all"
	at_exit umount /dev/fuse
}

# mount_at NAME COMMAND...: in the background.
mount_at() {
	watch_mount "$work/$1"
	shift
	timeout 60 "$@" >"$work/said" 2>&1
	ok $? "mounted: ${!#}" || diag "$(cat "$work/said")"
}

# as UID: the beginning of a command of that user, with the programs of everybody.
as() {
	user=(setpriv --reuid="$1" --regid="$1" --clear-groups env HOME=/nonexistent
		PATH="$work/programs:$PATH")
}

# list: this test's mounts, as JSON.
list() {
	: >"$work/list"
	timeout 20 "${lister[@]}" granary list --json >"$work/list.all" 2>"$work/said" || {
		ok 1 "granary list: $?"
		diag "$(cat "$work/said")"
		return 1
	}
	grep -F "\"mountpoint\":\"$work/" "$work/list.all" >"$work/list"
	return 0
}
lister=()

# listed DESCRIPTION NAME EXPRESSION: is this true of the line `m` of the mount there?
listed() {
	"$python" - "$work/list" "$work/$2" "$3" <<-'EOS'
		import json, sys
		name, mountpoint, expression = sys.argv[1:]
		all = [json.loads(line) for line in open(name)]
		found = [m for m in all if m["mountpoint"] == mountpoint]
		if len(found) != 1 or not eval(expression, {"m": found[0]}):
		    sys.exit("%d lines: %s" % (len(found), found))
	EOS
	ok $? "$1" || diag "$(cat "$work/list" "$work/said")"
}

mount_six() {
	mount_at shielded granaryfs -o allow_other,shield=on "$work/t.tar" "$work/shielded"
	mount_at bare env SLURM_JOB_ID=4711 granaryfs -o shield=off "$work/t.tar" "$work/bare"
	mount_at users granaryfs -o user=nobody "$work/t.tar" "$work/users"
	as 65534
	mount_at own "${user[@]}" granaryfs "$work/t.tar" "$work/own"
	"${user[@]}" granary run "$work/t.tar:$work/private" -- sleep 600 >/dev/null 2>&1 &
	started+=("$!")
	private=$!
	wait_until 20 is_listed private
	ok $? "granary run is listed"
}

is_listed() {
	list && grep -q -F "\"mountpoint\":\"$work/$1\"" "$work/list"
}

# The list as root sees it.
as_root() {
	list
	is "$(wc -l <"$work/list")" 5 "root: all of them, and each once"
	listed "shielded" shielded \
		'm["shielded"] and not m["private"] and m["user"] == "root" and m["pid"] > 1'
	listed "bare, of a job" bare \
		'not m["shielded"] and m["jobid"] == "4711" and m["age_seconds"] < 600'
	listed "of a user, by root" users 'm["user"] == "nobody" and "memory_bytes" in m'
	listed "a user's own" own 'm["user"] == "nobody" and m["jobid"] == "" and "pid" in m'
	listed "of granary run" private 'm["private"] and m["user"] == "nobody" and "pid" in m'
	listed "what is packed" own "m['source'] == '$work/t.tar'"
	granary list >"$work/table"
	for name in shielded bare users own; do
		check "the table has $name" grep -q " $work/$name  $work/t.tar\$" "$work/table"
	done
	check "the table says what is private" grep -q "$work/private (private)" "$work/table"
	says 1 "no argument" "an argument is too much" granary list x
}

# The list as others see it: the mount table, and their own mounts.
as_users() {
	as 65534
	lister=("${user[@]}")
	list
	listed "its user: own figures" own '"memory_bytes" in m and "pid" in m'
	listed "its user: a private mount of its own" private 'm["private"]'
	listed "its user: root's, as the table has it" bare '"pid" not in m and m["user"] == "root"'
	as 65533
	lister=("${user[@]}")
	list
	listed "another user: no figures" own '"pid" not in m and m["user"] == "nobody"'
	refuse "another user: no private mount" grep -q -F "$work/private" "$work/list"
	is "$("${user[@]}" granary list --metrics | grep -c -F "$work/own")" 0 \
		"another user: no metrics"
	lister=()
}

# Root may read what FUSE refuses.
stats_of_a_user() {
	refuse "FUSE refuses root" cat "$work/own/.granaryfs/stats"
	check "root: stats of a user's mount" \
		timeout 20 granary stats --json "$work/own"
	check "root: stats of a mount by root for a user" \
		timeout 20 granary stats --json "$work/users"
	says 2 "permission denied" "another user: none" "${user[@]}" granary stats "$work/own"
	timeout 20 granary top --count=1 --json >"$work/top"
	is "$(grep -c -F "\"mountpoint\":\"$work/" "$work/top")" 5 "top: all of them"
	check "top: a table" grep -q "$work/private (private)" \
		<(timeout 20 granary top --count=1)
	says 1 "1 at least" "top: a number is wanted" granary top --count=x
}

# Counters of a reader are there at once.
counts() {
	local before after
	before=$(value_of own)
	as 65534
	"${user[@]}" cat "$work/own/a/file" >/dev/null
	after=$(value_of own)
	at_least "$((after - before))" 1 "what is read is counted"
}

value_of() {
	granary list --metrics | awk -v mount="mount=\"$work/$1\"" \
		'/^granaryfs_requests_total/ && index($0, mount) { n += $NF } END { print n }'
}

# Names and records that a user makes up.
lies() {
	local pid
	list
	"$python" -c 'import json, sys
for line in open(sys.argv[1]):
    m = json.loads(line)
    print(m["mountpoint"].rsplit("/", 1)[1], m["id"])' "$work/list" >"$work/ids"
	"${user[@]}" "$python" "$forge" "$(awk '$1 == "bare" { print $2 }' "$work/ids")" \
		"$work/forged" 1 >"$work/forger" 2>&1 &
	pid=$!
	started+=("$pid")
	wait_until 20 grep -q -x ready "$work/forger"
	ok $? "a record is forged" || diag "$(cat "$work/forger")"
	list
	listed "a forged record is its maker's" forged 'm["private"] and m["user"] == "nobody"'
	listed "and does not stand for root's mount" bare 'm["user"] == "root" and m["jobid"] == "4711"'
	is "$(wc -l <"$work/list")" 6 "each mount is listed once"
	check "metrics are what Prometheus takes" "$python" \
		"$abs_top_srcdir/tests/mount/metrics.py" < <(granary list --metrics)
	kill "$pid"
	wait "$pid" 2>/dev/null
	wait_until 10 not_listed forged
	ok $? "and ends with its maker"
}

none_listed() {
	list && [ ! -s "$work/list" ]
}

# A user who announces more mounts than anybody has.
flood() {
	local pid uid
	uid=$(id -u games)
	as "$uid"
	mkdir "$work/floods"
	chown "$uid" "$work/floods"
	mount_at floods "${user[@]}" granaryfs "$work/t.tar" "$work/floods"
	rm "$work/forger" # which says that the one before was ready
	"${user[@]}" "$python" "$forge" 1 "$work/flood" 100 >"$work/forger" 2>&1 &
	pid=$!
	started+=("$pid")
	wait_until 60 grep -q -x ready "$work/forger"
	ok $? "a hundred records are forged" || diag "$(cat "$work/forger")"
	list
	is "$("$python" -c 'import json, sys
print(sum(m["user"] == "games" and "pid" in m for m in map(json.loads, open(sys.argv[1]))))' \
		"$work/list")" 64 "64 of that user are listed"
	listed "and other users' mounts" own 'm["pid"] > 1'
	listed "and root's" bare 'm["pid"] > 1'
	kill "$pid"
	wait "$pid" 2>/dev/null
	wait_until 10 not_listed flood
	timeout 20 "${user[@]}" granary umount "$work/floods"
	wait_until 10 not_listed floods
	ok $? "and gone with their maker"
}

not_listed() {
	! is_listed "$1"
}

# A daemon that does not answer, and one that is dead.
hung_and_dead() {
	local pid begin=$SECONDS
	list
	pid=$(id_of own)
	kill -STOP "$pid"
	list
	listed "a stopped daemon is listed" own '"memory_bytes" in m'
	check "and so are its metrics" grep -q -F "$work/own" <(granary list --metrics)
	at_most $((SECONDS - begin)) "$(patience 15)" "at once"
	kill -CONT "$pid"
	pid=$(id_of users)
	kill -KILL "$pid"
	wait_until 10 process_gone "$pid"
	list
	listed "a dead one has no process" users '"pid" not in m'
}

# id_of NAME: the supervisor.
id_of() {
	"$python" -c 'import json, sys
for line in open(sys.argv[1]):
    m = json.loads(line)
    if m["mountpoint"] == sys.argv[2]:
        print(m["pid"])' "$work/list" "$work/$1"
}

# Its namespace has copies of all mounts, which would be served on.
run_ends() {
	kill "$private"
	wait_until 20 not_listed private
	ok $? "the mount of granary run ends with its command"
}

ends() {
	says 1 "either" "--all, or mount points" granary umount --all "$work/bare"
	says 0 "" "a user's own: --all" timeout 60 "${nobody[@]}" granary umount --all
	wait_until 20 not_listed own
	ok $? "they are unmounted, and their daemons end"
	listed "root's are not" bare 'm["pid"] > 1'
	timeout 60 granary umount --all >"$work/said" 2>&1
	is $? 0 "root's --all" || diag "$(cat "$work/said")"
	for name in shielded bare users own; do
		check "$name is unmounted" not_mounted "$work/$name"
	done
	wait_until 20 none_listed
	ok $? "nothing is listed" || diag "$(cat "$work/list")"
	timeout 20 granary umount --all >"$work/said" 2>&1
	is $? 0 "--all of nothing is no error"
}

make_archive
mount_six
as_root
as_users
stats_of_a_user
counts
lies
flood
hung_and_dead
run_ends
ends
finish
