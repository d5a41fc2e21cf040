#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# granary run: the command sees the mount, with its own number, ids, signals and status;
# nobody else sees it; and whatever ends, everything has ended.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need tar unshare setpriv timeout
need_fuse
need_root

# For somebody without rights: /dev/fuse is open to all in a mount namespace of our own.
if [ "${1:-}" != inside ]; then
	rm -rf "$work"
	trap - EXIT
	exec unshare -m bash "$0" inside
fi
mount --make-rprivate /
leave_others
fuse_for_all() {
	mknod "$work/fuse" c 10 229 && chmod 666 "$work/fuse" &&
		mount --bind "$work/fuse" /dev/fuse
}
fuse_for_all || bail "no /dev/fuse for all"
at_exit umount /dev/fuse

make_archives() {
	mkdir -p "$work/tree/sub" "$work/m1" "$work/m2"
	echo one >"$work/tree/one"
	echo two >"$work/tree/sub/two"
	tar -C "$work/tree" -cf "$work/a.tar" .
	tar -C "$work/tree/sub" -cf "$work/b:1.tar" .
	"$fixtures/make-many-tar" "$work/many.tar" 150000 --size 0
	chmod 1777 "$work"
	chmod 777 "$work/m1" "$work/m2"
	public_programs
	programs=$work/programs
}

# daemons: the programs of this test that run.
daemons() {
	local directory program
	for directory in /proc/[0-9]*; do
		program=$(readlink "$directory/exe" 2>/dev/null) || continue
		case $program in "$programs"/*) echo "${directory#/proc/}" ;; esac
	done
}

none_runs() {
	[ -z "$(daemons)" ]
}

# nothing_left DESCRIPTION
nothing_left() {
	wait_until 10 none_runs
	is "$(daemons)" "" "$1: no process is left"
	is "$(grep -F "$work/m" /proc/self/mounts)" "" "$1: no mount is left"
}

# says WANTED WORDS DESCRIPTION COMMAND...
says() {
	local wanted=$1 words=$2 description=$3 output status
	shift 3
	output=$("${as[@]}" timeout 30 "$@" 2>&1)
	status=$?
	[ "$status" -eq "$wanted" ] && grep -q -F -- "$words" <<<"$output"
	ok $? "$who: $description" && return 0
	diag "status $status, wanted $wanted and '$words': $*"
	diag "$output"
	return 1
}

commands() {
	local run=$programs/granary
	says 0 one "the command reads" "$run" run "$work/a.tar:$work/m1" -- cat "$work/m1/one"
	says 7 two "two datasets, its status, and a colon in a name" "$run" run \
		"$work/a.tar:$work/m1" "$work/b:1.tar:$work/m2" -- \
		sh -c "cat '$work/m1/one' '$work/m2/two'; exit 7"
	says 0 two "-o" "$run" run -o "subdir=sub,index=off" "$work/a.tar:$work/m1" -- \
		cat "$work/m1/two"
	# shellcheck disable=SC2016  # likewise
	says 0 "$("${as[@]}" id -u):$("${as[@]}" id -g)" "ids are the caller's" "$run" run \
		"$work/a.tar:$work/m1" -- sh -c 'echo $(id -u):$(id -g)'
	says 0 "" "files of the caller are the caller's" "$run" run "$work/a.tar:$work/m1" -- \
		sh -c "touch '$work/m2/mine' && [ -O '$work/m2/mine' ] && rm '$work/m2/mine'"
	says 143 "" "a signal that ends it" "$run" run "$work/a.tar:$work/m1" -- \
		sh -c 'kill -TERM $$'
	# shellcheck disable=SC2016  # that is for the shell that it runs
	says 5 "" "options of the command are its own" "$run" run "$work/a.tar:$work/m1" -- \
		sh -c 'exit "$1"' -o 5
	says 127 "No such file" "a command that is not there" "$run" run \
		"$work/a.tar:$work/m1" -- "$work/none"
	says 126 "Permission denied" "a command that cannot be run" "$run" run \
		"$work/a.tar:$work/m1" -- "$work/a.tar"
	nothing_left "$who: commands"
}

wrong() {
	local run=$programs/granary
	says 1 "behind --" "no command" "$run" run "$work/a.tar:$work/m1"
	says 1 "nothing to mount" "no dataset" "$run" run -- true
	says 1 "is not SOURCE:DIR" "no directory" "$run" run "$work/a.tar" -- true
	says 2 "make the directory first" "a directory that is not there" "$run" run \
		"$work/a.tar:$work/none" -- true
	says 2 "is no directory" "a file in its place" "$run" run "$work/a.tar:$work/a.tar" -- true
	says 2 "does not exist" "a packed file that is not there" "$run" run \
		"$work/none.tar:$work/m1" -- echo ran
	says 3 "" "the second is no dataset" "$run" run "$work/a.tar:$work/m1" \
		"$work/tree/one:$work/m2" -- echo ran
	says 1 "nonsense" "an option that is none" "$run" run -o nonsense "$work/a.tar:$work/m1" -- \
		echo ran
	nothing_left "$who: errors"
}

# start NAME ARGUMENT...: in the background; sets $pid, which the command then has.
start() {
	: >"$work/said" # or an earlier one's words are taken for this one's
	"${as[@]}" "$programs/granary" run "$@" >"$work/said" 2>&1 &
	pid=$!
	started+=("$pid")
}

says_ready() {
	grep -q ready "$work/said"
}

# Each in the place of the other, and both at once.
at_once() {
	local first
	start "$work/a.tar:$work/m1" -- sh -c "cat '$work/m1/one'; echo ready; exec sleep 30"
	first=$pid
	wait_until 10 says_ready
	ok $? "$who: one runs" || diag "$(cat "$work/said")"
	is "$(ls "$work/m1")" "" "$who: nobody else sees what it sees"
	says 0 two "another at the same place at the same time" "$programs/granary" run \
		"$work/b:1.tar:$work/m1" -- cat "$work/m1/two"
	is "$(cat "/proc/$first/comm")" sleep "$who: the process is the command's"
	kill -KILL "$first"
	wait "$first" 2>/dev/null
	nothing_left "$who: killed by KILL"
}

# Processes that the command leaves behind may still read; the mount ends with them.
survivors() {
	# the command has ended by then
	start "$work/a.tar:$work/m1" -- sh -c \
		"(sleep 0.5; cat '$work/m1/one' >'$work/late.$who'; echo ready) & exit 0"
	wait "$pid"
	wait_until 10 says_ready
	is "$(cat "$work/late.$who")" one "$who: who outlives the command reads on"
	nothing_left "$who: and then it ends"
}

# At any moment of it, by KILL and by what a terminal sends.
killed() {
	local i signal
	for i in 1 2 3 5 8; do
		for signal in KILL INT; do
			start -o index=off "$work/many.tar:$work/m1" "$work/a.tar:$work/m2" -- sleep 30
			sleep "0.$((i * 6 / 10))$((i * 6 % 10))"
			kill "-$signal" "$pid" 2>/dev/null
			[ "$signal" = KILL ] || { sleep 0.05; kill -KILL "$pid" 2>/dev/null; }
			wait "$pid" 2>/dev/null
		done
	done
	nothing_left "$who: killed at any moment"
}

# The kernel lets nobody make another: in a namespace of ours, so nobody else notices.
refused() {
	user_namespaces "namespaces that are refused" || return
	as=(unshare -U -r bash -c "echo 0 >/proc/sys/user/max_user_namespaces
		exec setpriv --bounding-set=-all --inh-caps=-all \"\$@\"" -)
	who=refused
	says 2 "sysctl user.max_user_namespaces" "the remedy is named" "$programs/granary" run \
		"$work/a.tar:$work/m1" -- echo ran
}

# The directory of a chroot holds the machine's own directories: it is no part of $work, and
# nothing in it is removed by its path alone.
leave_root() {
	umount -R -l "$1"
	umount -l "$1"/*/
	rm -d "$1"/* "$1"
}

# new_root DIRECTORY: what programs need, from the machine's own root; the test's directory is /w.
new_root() {
	local name
	at_exit leave_root "$1"
	mkdir "$1"/{w,tmp}
	for name in /bin /sbin /lib /lib64; do
		[ ! -L "$name" ] || cp -a "$name" "$1/"
	done
	for name in /usr /etc /dev /proc /bin /sbin /lib /lib64; do
		[ -d "$name" ] && [ ! -L "$name" ] || continue
		mkdir "$1$name" && mount --bind -r "$name" "$1$name" || return
	done
	mount --bind /dev/fuse "$1/dev/fuse" && mount --bind "$work" "$1/w"
}

# chroot_runs DIRECTORY DESCRIPTION: the command sees the mount, and nobody outside does.
chroot_runs() {
	timeout 30 chroot "$1" /w/programs/granary run /w/a.tar:/w/m1 -- sh -c \
		"cat /w/m1/one; grep -c ' /.*/w/m1 ' /proc/$$/mounts; cd /w; pwd" >"$work/seen" 2>&1
	is "$(cat "$work/seen")" $'one\n0\n/w' "$2"
	nothing_left "$2"
}

# In a chroot no mount may begin at the root, and in another namespace the kernel names
# programs by their paths outside of it.
chroots() {
	local root
	root=$(mktemp -d) || bail "no directory for a chroot can be made"
	mount --make-rshared /
	new_root "$root" || bail "no chroot can be made"
	chroot_runs "$root" "root in a chroot into a directory"
	mount --rbind "$root" "$root"
	chroot_runs "$root" "root in a chroot into a mount"
	leave_root "$root"
	mount --make-rprivate /
}

# Files that granary opens must not become standard error.
closed_streams() {
	"$granary" run "$work/a.tar:$work/m1" -- \
		stat -L -c %t:%T /proc/self/fd/0 /proc/self/fd/2 <&- 2>&- >"$work/streams"
	is "$(cat "$work/streams")" $'1:3\n1:3' "closed streams are /dev/null"
}

make_archives
for who in root nobody; do
	as=()
	if [ "$who" = nobody ]; then
		user_namespaces "somebody without rights" "${nobody[@]}" || continue
		as=("${nobody[@]}")
	fi
	commands
	wrong
	at_once
	survivors
done
killed
refused
chroots
closed_streams
finish
