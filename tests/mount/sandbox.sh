#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Every command that parses or decodes does that in a process without rights: who that is,
# while it is at it; and that it gives the same answers as before, to root and to users.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd nettle
need tar diff setpriv mksquashfs mkfifo timeout pgrep strace
need_python
need_root

support=$("$granary" doctor | grep ' sandbox ')
case $support in
*"stays root"*) bail "root may not become nobody here" ;;
*"no seccomp"*) skip "no seccomp here" && finish ;;
esac

make_archives() {
	mkdir -p "$work/tree/sub"
	seq 200000 >"$work/tree/large"
	for name in {1..40}; do echo "$name" >"$work/tree/sub/$name"; done
	ln -s sub/1 "$work/tree/link"
	ln "$work/tree/sub/2" "$work/tree/hard"
	chmod 640 "$work/tree/sub/3"
	touch -d @1000000000.5 "$work/tree/sub/4"
	tar -C "$work/tree" -cf "$work/t.tar" .
	mksquashfs "$work/tree" "$work/t.sqfs" -quiet -no-progress >/dev/null
	chmod -R go+rX "$work"
	chmod 644 "$work/t.tar" "$work/t.sqfs"
	"$granary" index -q --checksums "$work/t.tar"
	"$granary" index -q --checksums "$work/t.sqfs"
}

# ---- Processes that parse ---------------------------------------------------------

none=0000000000000000
fields=Uid,Gid,Groups,CapInh,CapPrm,CapEff,CapBnd,CapAmb,NoNewPrivs,Seccomp

# wanted UID GID: without rights.
wanted() {
	printf '%s\n' "Uid=$1 $1 $1 $1" "Gid=$2 $2 $2 $2" "Groups=$3" "CapInh=$none" \
		"CapPrm=$none" "CapEff=$none" "CapBnd=$none" "CapAmb=$none" NoNewPrivs=1 Seccomp=2
}

# parses WHAT COMMAND...: it waits in its output.
parses() {
	local what=$1
	shift
	timeout -k 5 60 "$python" "$here/tests/mount/sandbox.py" "$fields" "$@" >"$work/seen" \
		2>"$work/said"
	is "$(grep -v ^status= "$work/seen")" "$(wanted 65534 65534 '')" \
		"$what: who parses has no rights" || diag "$(cat "$work/said")"
	is "$(grep ^status= "$work/seen")" status=0 "$what: and does it"
}

who_parses() {
	local packed
	for packed in "$work/t.tar" "$work/t.sqfs"; do
		parses "info ${packed##*.}" "$granary" info "$packed"
		parses "ls ${packed##*.}" "$granary" ls -lR "$packed"
		parses "ls --json ${packed##*.}" "$granary" ls -R --json "$packed"
		parses "cat ${packed##*.}" "$granary" cat "$packed" large
		parses "stat ${packed##*.}" "$granary" stat "$packed" sub/7
		parses "verify ${packed##*.}" "$granary" verify "$packed"
		parses "verify --against ${packed##*.}" "$granary" verify --against "$work/tree" \
			"$packed"
		parses "index --check ${packed##*.}" "$granary" index --check "$packed"
		parses "extract ${packed##*.}" "$granary" extract "$packed" \
			"$work/out-${packed##*.}"
	done
}

# The child of this process that has a filter.
filtered_child() {
	local child
	for child in $(pgrep -P "$1"); do
		grep -q '^Seccomp:.2$' "/proc/$child/status" && filtered=$child && return
	done
	return 1
}

# A process that parses gets none of its caller's open files.
descriptors() {
	local child
	: >"$work/hold"
	GRANARY_FAULTS="kind=late,path=t.tar,from=$(($(identified "$work/t.tar") + 1)),while=$work/hold" \
		"$abs_top_builddir/tests/bin/granary-faulty" cat "$work/t.tar" large \
		>/dev/null 9<"$work/t.sqfs" 8>>"$work/others" &
	child=$!
	started+=("$child")
	wait_until 20 filtered_child "$child"
	ok $? "cat: there is a child" || return
	readlink /proc/"$filtered"/fd/* >"$work/open"
	check "cat: it has the packed file" grep -q '/t.tar$' "$work/open"
	refuse "cat: and nothing of the caller's" grep -E '/(t.sqfs|others)$' "$work/open"
	is "$(readlink "/proc/$filtered/fd/0")" /dev/null "cat: nor the caller's input"
	rm "$work/hold"
	wait "$child"
	is $? 0 "cat: it ends well"
}

filtered_grandchild() {
	filtered_child "$(pgrep -P "$1")"
}

# The indexer prints nothing: it is held where it reads.
who_indexes() {
	local command
	: >"$work/hold"
	GRANARY_FAULTS="kind=late,path=t.tar,from=$(($(identified "$work/t.tar") + 1)),while=$work/hold" timeout -k 5 60 \
		"$abs_top_builddir/tests/bin/granary-faulty" index --force "$work/t.tar" \
		>"$work/out" 2>&1 &
	command=$!
	started+=("$command")
	# timeout(1) is its parent
	wait_until 20 filtered_grandchild "$command"
	ok $? "index: there is a child" || return
	is "$(for field in ${fields//,/ }; do
		sed -n "s/^$field:\s*//p" "/proc/$filtered/status" | tr '\t' ' ' |
			sed "s/ *$//; s/^/$field=/"
	done)" "$(wanted 65534 65534 '')" "index: who parses has no rights"
	rm "$work/hold"
	wait "$command"
	is "$?" 0 "index: and does it"
	"$granary" index -q --checksums --force "$work/t.tar"
}

# A stranger's mount, or a directory that looks like one, may hold any text.
counters() {
	mkdir -p "$work/like/.granaryfs"
	echo '{' >"$work/like/.granaryfs/stats.json"
	for command in stats wait; do
		# the leak checker does not work under strace
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 timeout -k 5 60 strace -f \
			-e trace=prctl,read -o "$work/calls" "$granary" "$command" \
			"$work/like" >"$work/said" 2>&1
		is $? 32 "$command: a text of a stranger's is refused"
		grep -q 'is not what granaryfs writes' "$work/said"
		ok $? "$command: with a sentence" || diag "$(cat "$work/said")"
		check "$command: who parses it has a filter" \
			grep -q 'prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER' "$work/calls"
	done
}

# A directory of save_to_disk() is read before there is a dataset, and may be anybody's.
saved_directories() {
	mkdir -p "$work/saved"
	echo '{' >"$work/saved/state.json"
	for program in "$granaryfs" "$granary ls" "$granary index"; do
		# shellcheck disable=SC2086 # a command and its argument
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 timeout -k 5 60 strace -f \
			-e trace=prctl,read,pread64,mmap -o "$work/calls" $program "$work/saved" \
			$([ "$program" = "$granaryfs" ] && echo "$mnt") >"$work/said" 2>&1
		is $? 3 "$program: a damaged state.json is refused"
		check "$program: with its name" grep -q "state.json' is no JSON object" "$work/said"
		check "$program: who parses it has a filter" \
			grep -q 'prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER' "$work/calls"
	done
}

# ---- What comes of it -------------------------------------------------------

# alike COMMAND...: root and a user are told the same.
alike() {
	local one two
	timeout 60 "$work/programs/granary" "$@" >"$work/root.out" 2>"$work/root.err"
	one=$?
	timeout 60 "${nobody[@]}" "$work/programs/granary" "$@" >"$work/user.out" 2>"$work/user.err"
	two=$?
	is "$two" "$one" "$1: the same status"
	check "$1: the same output" cmp "$work/root.out" "$work/user.out"
	check "$1: the same messages" cmp "$work/root.err" "$work/user.err"
}

same_answers() {
	local packed
	for packed in "$work/t.tar" "$work/t.sqfs"; do
		alike info "$packed"
		alike ls -lR "$packed"
		alike ls -R --json "$packed"
		alike cat "$packed" large sub/7 none
		alike stat "$packed" sub/7 link none
		alike verify "$packed"
		alike verify --json --against "$work/tree" "$packed"
		alike index --check --json "$packed"
		check "extract ${packed##*.}: the tree" diff -r --no-dereference "$work/tree" \
			"$work/out-${packed##*.}"
	done
	is "$(stat -c '%u %a' "$work/out-tar/sub/3")" "0 640" "extract: root's, with its mode"
	is "$(stat -c %.Y "$work/out-sqfs/sub/4" | cut -d. -f1)" 1000000000 "extract: and time"
	is "$(stat -c %h "$work/out-tar/hard")" 2 "extract: a link is one"
	alike cat "$work/t.tar"
}

# Files that root may read and write, and nobody may not.
secret_places() {
	mkdir -m 700 "$work/secret"
	cp -a "$work/tree" "$work/t.tar" "$work/secret/"
	check "secret: index" "$granary" index -q --checksums "$work/secret/t.tar"
	check "secret: the index is there" test -s "$work/secret/t.tar.gidx"
	check "secret: extract" "$granary" extract -q "$work/secret/t.tar" "$work/secret/out"
	check "secret: the tree" diff -r --no-dereference "$work/tree" "$work/secret/out"
	check "secret: verify --against" "$granary" verify -q --against "$work/secret/tree" \
		"$work/secret/t.tar"
	check "secret: verify --write-checksums" "$granary" verify -q --write-checksums \
		"$work/secret/sums" "$work/secret/t.tar"
	check "secret: sha256sum takes them" env -C "$work/secret/tree" sha256sum --quiet -c \
		../sums
	check "secret: verify --checksums" "$granary" verify -q --checksums "$work/secret/sums" \
		"$work/secret/t.tar"
	is "$(find "$work/secret" -maxdepth 1 | wc -l)" 6 "secret: nothing else is left"
	GRANARY_FAULTS="kind=stale,path=secret/t.tar,from=$(($(identified "$work/secret/t.tar") + 1))" timeout 60 \
		"$abs_top_builddir/tests/bin/granary-faulty" cat "$work/secret/t.tar" large \
		>"$work/large"
	is "$?" 0 "secret: a descriptor that has gone stale"
	check "secret: is opened again by the parent" cmp "$work/tree/large" "$work/large"
}

# held SIGNAL: a command that parses, and gets the signal; sets $got and $filtered.
held() {
	local child
	GRANARY_FAULTS="kind=late,path=t.tar,from=$(($(identified "$work/t.tar") + 1)),ms=60000" \
		"$abs_top_builddir/tests/bin/granary-faulty" cat "$work/t.tar" large >/dev/null &
	child=$!
	started+=("$child")
	wait_until 20 filtered_child "$child"
	ok $? "$1: there is a child" || return
	kill "-$1" "$child"
	wait "$child" 2>/dev/null
	got=$?
	check "$1: the child has ended" wait_until 20 process_gone "$filtered"
}

signals() {
	held TERM
	is "$got" 143 "TERM: the command ended by it"
	held KILL
	is "$got" 137 "KILL: the command ended by it"
	"$granary" ls -lR "$work/t.tar" | true
	is "$(printf '%s\n' "${PIPESTATUS[@]}" | grep -c -x -e 0 -e 141)" 2 \
		"nobody reads: it ends by SIGPIPE, or had nothing left to say"
}

make_archives
public_programs
who_parses
who_indexes
counters
saved_directories
descriptors
same_answers
secret_places
signals
finish
