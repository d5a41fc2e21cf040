#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Each thing of the kernel that is used, and that another kernel may lack, is taken away:
# system calls and ioctls by a seccomp filter (tests/bin/without), what FUSE offers by a
# changed INIT (tests/faults/init.c). The mount is right all the same, and shows that the
# other way was taken.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar diff setpriv strace mkfifo

sound=$granaryfs
tree=$work/tree
packed=$work/t.tar
log=$work/mount.log

make_tree() {
	mkdir -p "$tree/sub/deep" "$tree/none"
	seq 400000 >"$tree/large"
	for name in {1..40}; do echo "$name" >"$tree/sub/$name"; done
	ln -s sub/1 "$tree/link"
	tar -C "$tree" -cf "$packed" . && chmod 644 "$packed" &&
		"$granary" index "$packed" >/dev/null
}

# ---- What is taken away -----------------------------------------------------

# wrapped COMMAND...: $granaryfs is a script that runs the command so.
wrapped() {
	printf '#!/bin/sh\nexec %s "$@"\n' "$(printf '%q ' "$@")" >"$work/wrapped"
	chmod +x "$work/wrapped"
	granaryfs=$work/wrapped
}

# calls LACK...
calls() {
	export -n GRANARY_FUSE_LACKS=
	wrapped "$without" "$@" -- "$sound"
}

# protocol LACK: in a program that is built for it.
protocol() {
	export GRANARY_FUSE_LACKS=$1
	granaryfs=$faulty
}

make_faulty() {
	mkdir "$work/faulty"
	faulty=$work/faulty/granaryfs
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$faulty" || bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
}

# ---- What must hold ---------------------------------------------------------

# mounted WHAT [OPTIONS]: as a user does, who waits for the mount.
mounted() {
	rm -f "$log"
	check "$1: mounted" timeout -k 5 60 "$granaryfs" -o "log=$log,${2:-shield=off}" \
		"$packed" "$mnt"
}

# same WHAT: names, attributes and bytes, twice: asked for, and as the kernel keeps them.
same() {
	check "$1: the tree" timeout 60 "$python" "$fixtures/compare-trees" --seconds "$tree" "$mnt"
	check "$1: the bytes, again" timeout 60 diff -r --no-dereference "$tree" "$mnt"
}

# term NAME: of .granaryfs/config.
term() {
	sed -n "s/^kernel[.]$1=//p" "$mnt/.granaryfs/config"
}

left() {
	check "$1: unmounted" timeout 20 umount "$mnt"
	check "$1: the daemon ended" wait_until 20 grep -q 'the filesystem has ended' "$log"
	check "$1: and no server before" no_server_died "$log"
}

# counter NAME
counter() {
	sed -n "s/^$1 *\([0-9]*\) .*/\1/p" "$mnt/.granaryfs/stats"
}

# changed NAME COMMAND...: by how much a counter grows meanwhile.
changed() {
	local name=$1 before
	shift
	before=$(counter "$name")
	timeout 60 "$@" >/dev/null 2>&1
	echo $(($(counter "$name") - before))
}

# ---- System calls -----------------------------------------------------------

# no_front LACK...: a bare mount, which says so; shield=on is refused.
no_front() {
	local what="without $*"
	calls "$@"
	mounted "$what" allow_other,shield=early || return
	refuse "$what: no front" is_shielded "$mnt"
	check "$what: the log says why" grep -q 'without the shield: .' "$log"
	same "$what"
	left "$what"
	rm -f "$work/log"
	refuse "$what: shield=on is refused" timeout 30 "$granaryfs" \
		-o "allow_other,shield=on,log=$work/log" "$packed" "$mnt"
	check "$what: and not mounted" not_mounted "$mnt"
}

mount_calls() {
	local call
	for call in fsopen fsconfig fsmount move_mount tmpfs overlay; do
		no_front "$call"
	done
	# without the one the other is needed
	no_front beneath open_tree
}

# Before Linux 6.5 the front comes there after the mount was taken away.
fronted() {
	local what="without beneath"
	calls beneath
	mounted "$what" allow_other || return
	check "$what: with its front" is_shielded "$mnt"
	same "$what"
	left "$what"
}

# used WHAT CALL LOG: was the call made, and refused, as strace shows it?
used() {
	check "$1: it was asked for" grep -E -q "$2.* = -1 E[A-Z]+" "$3"
}

small_calls=preadv2,fadvise64,getrandom,mlock,sched_setaffinity,lseek,prctl

# served LACK CALL OPTIONS [SOURCE]: nothing is seen of it.
served() {
	local what="without $1"
	rm -f "$work/calls" "$log"
	# it ends when the daemon does
	timeout -k 5 60 strace -f -qq -o "$work/calls" -e "trace=$small_calls" \
		"$without" "$1" -- "$sound" -o "log=$log,shield=off,$3" "${4:-$packed}" "$mnt" &
	started+=("$!")
	check "$what: mounted" wait_until 30 grep -q ': mounted' "$log" || return
	same "$what"
	left "$what"
	check "$what: strace ended" wait_until 20 process_gone "$!"
	used "$what" "$2" "$work/calls"
}

# Blanks of a MiB behind the archive's end are skipped as a hole, or else read.
blanks() {
	cp "$packed" "$work/blanks.tar"
	truncate -s +16M "$work/blanks.tar"
	served seek-data SEEK_DATA index=off "$work/blanks.tar"
}

small_calls() {
	served getrandom getrandom index=off
	served mlock mlock prefetch=auto
	served setaffinity sched_setaffinity prefetch=auto
	served ambient PR_CAP_AMBIENT prefetch=auto
	# of what is read past the page cache
	served preadv2 preadv2 prefetch=sweep
	served nowait preadv2 prefetch=sweep
	served fadvise fadvise64 prefetch=sweep
	blanks
}

# A child of the daemon that looks at the mount keeps no descriptor of it.
descriptors() {
	calls close_range
	mounted "without close_range" allow_other,shield=early || return
	same "without close_range"
	check "without close_range: granary umount" timeout 30 \
		"$without" close_range -- "$granary" umount "$mnt"
	check "without close_range: the daemon ended" wait_until 20 \
		grep -q 'the filesystem has ended' "$log"
}

# A FIFO is read by who waits: what the daemon has written is counted by FIONREAD.
fifo() {
	calls fionread
	mkfifo "$work/fifo"
	timeout 60 cat "$work/fifo" >"$work/told" &
	started+=("$!")
	mounted "without FIONREAD" "notify_pipe=$work/fifo" || return
	check "without FIONREAD: the report is read" wait_until 20 grep -q . "$work/told"
	same "without FIONREAD"
	left "without FIONREAD"
}

# tool LACK CALL COMMAND...: granary with its calls noted.
tool() {
	local lack=$1 call=$2
	shift 2
	# shellcheck disable=SC2086  # lacks are words
	timeout 60 strace -f -qq -o "$work/calls" -e trace=openat,openat2,renameat2,prctl \
		"$without" $lack -- "$granary" "$@" >/dev/null 2>&1
}

# packs LACK CALL: granary pack finds all, and replaces nothing.
packs() {
	local what="without $1: granary pack"
	rm -rf "$work/again.tar" "$work/again.tar.gidx" "$work/again"
	mkdir "$work/again"
	check "$what" tool "$1" "$2" pack -q "$tree" "$work/again.tar"
	[ -z "$2" ] || used "$what" "$2" "$work/calls"
	check "$what: unpacked" tar -C "$work/again" -xf "$work/again.tar"
	check "$what: the tree" diff -r --no-dereference "$tree" "$work/again"
	echo changed >"$work/again.tar"
	refuse "$what: what is there stays" tool "$1" "$2" pack -q "$tree" "$work/again.tar"
	is "$(cat "$work/again.tar")" changed "$what: with its bytes"
}

# extracts LACK CALL: granary extract writes all, and replaces nothing.
extracts() {
	local what="without $1: granary extract"
	rm -rf "$work/out"
	check "$what" tool "$1" "$2" extract -q "$packed" "$work/out"
	[ -z "$2" ] || used "$what" "$2" "$work/calls"
	check "$what: the tree" diff -r --no-dereference "$tree" "$work/out"
	echo changed >"$work/out/sub/1"
	refuse "$what: what is there stays" tool "$1" "$2" extract -q "$packed" "$work/out"
	is "$(cat "$work/out/sub/1")" changed "$what: with its bytes"
}

tools() {
	packs openat2 openat2
	packs noreplace renameat2
	packs renameat2 renameat2
	extracts tmpfile O_TMPFILE
	# what has no name yet gets it by link(2)
	extracts "noreplace tmpfile" renameat2
}

# A process that parses has no rights, as far as the kernel can take them.
parsers() {
	local lack
	for lack in landlock seccomp "landlock seccomp"; do
		extracts "$lack" "$([ "$lack" = landlock ] || echo PR_SET_SECCOMP)"
		# shellcheck disable=SC2086  # lacks are words
		is "$(timeout 60 "$without" $lack -- "$granary" cat "$packed" sub/7 2>&1)" 7 \
			"without $lack: granary cat"
		# shellcheck disable=SC2086
		check "without $lack: granary index" timeout 60 "$without" $lack -- \
			"$granary" index -q --force "$packed"
		# shellcheck disable=SC2086
		check "without $lack: granary verify" timeout 60 "$without" $lack -- \
			"$granary" verify -q --against "$tree" "$packed"
	done
}

# says LACK TEXT COMMAND...: there is no other way: an error, of one sentence.
says() {
	local lack=$1 text=$2
	shift 2
	refuse "without $lack: refused" timeout 30 "$without" "$lack" -- "$@"
	is "$(timeout 30 "$without" "$lack" -- "$@" 2>&1 | grep -c .)" 1 \
		"without $lack: in one sentence"
	check "without $lack: which says why" grep -q "$text" \
		<(timeout 30 "$without" "$lack" -- "$@" 2>&1)
}

# A user without the right to mount needs a user namespace for granary run, and an
# index that is in no file needs memory of its own.
needed() {
	public_programs
	mkdir -m 777 "$work/place"
	# no_new_privs is no harm here: granary run needs no set-uid program
	nobody=("${nobody[@]}" "$work/programs/without")
	cp "$without" "$work/programs/"
	refuse "without user namespaces: granary run" "${nobody[@]}" user-namespaces -- \
		"$work/programs/granary" run "$packed:$work/place" -- true
	check "without user namespaces: says why" grep -q 'CONFIG_USER_NS' \
		<("${nobody[@]}" user-namespaces -- "$work/programs/granary" run \
			"$packed:$work/place" -- true 2>&1)
	says memfd_create 'memfd_create' "$sound" -o index=off "$packed" "$mnt"
	check "without memfd_create: no mount" not_mounted "$mnt"
	says seals 'memfd' "$sound" -o index=off "$packed" "$mnt"
	check "without seals: no mount" not_mounted "$mnt"
}

# Whether a mount has died cannot be seen without asking past what the kernel keeps: then
# it is left alone, and the command that is named removes it.
dead() {
	granaryfs=$sound
	mounted "a dead mount" || return
	ls "$mnt" >/dev/null
	# shellcheck disable=SC2046  # numbers are words
	kill -KILL $(mount_processes "$mnt")
	check "a dead mount: no process" wait_until 20 no_daemon "$mnt"
	says statx 'granary umount' "$sound" "$packed" "$mnt"
	check "without statx: granary umount" timeout 30 "$without" statx -- \
		"$granary" umount "$mnt"
	check "without statx: it is gone" not_mounted "$mnt"
}

# ---- The protocol -----------------------------------------------------------

# lacking LACK [OPTIONS]: mounted, and the tree.
lacking() {
	protocol "$1"
	mounted "FUSE without $1" "${2:-shield=off}" || return
	same "FUSE without $1"
}

# Names that are not opened yet; only what the kernel asks of each open is counted.
opens() {
	lacking no_open || return
	is "$(term opens)" visible "FUSE without no_open: opens are seen"
	is "$(changed fuse_open cat "$mnt"/sub/{1..20})" 20 "FUSE without no_open: each of them"
	is "$(changed fuse_read cat "$mnt"/sub/{1..20})" 0 "FUSE without no_open: pages are kept"
	left "FUSE without no_open"
}

opendirs() {
	local what="FUSE without no_opendir"
	lacking no_opendir || return
	is "$(term opendirs)" visible "$what: opendirs are seen"
	is "$(changed fuse_opendir ls "$mnt/sub")" 1 "$what: each of them"
	is "$(changed fuse_readdirplus ls "$mnt/sub")" 0 "$what: listings are kept"
	left "$what"
}

links() {
	local what="FUSE without cache_symlinks"
	lacking cache_symlinks || return
	is "$(term symlinks)" "asked for" "$what: so it says"
	is "$(changed fuse_readlink cat "$mnt"/{link,link,link})" 3 "$what: each link is asked for"
	left "$what"
}

# A file of three MiB in pieces of 128 KiB, and not smaller ones.
pages() {
	local what="FUSE without max_pages"
	protocol max_pages
	mounted "$what" shield=off,prefetch=off || return
	is "$(term max_request)" 131072 "$what: so it says"
	at_most "$(changed fuse_read cat "$mnt/large")" 24 "$what: requests as large as may be"
	same "$what"
	left "$what"
}

listings() {
	local what="FUSE without readdirplus"
	protocol readdirplus
	mounted "$what" || return
	is "$(term readdirplus)" no "$what: so it says"
	is "$(changed fuse_readdirplus find "$mnt" -size +1G)" 0 "$what: none"
	is "$(changed fuse_lookup find "$mnt" -size +1G)" 0 "$what: a name is looked up once"
	same "$what"
	left "$what"
}

# Features of the kernel that show only in its requests.
others() {
	local lack
	for lack in readdirplus_auto parallel_dirops async_read auto_inval explicit_inval; do
		lacking "$lack" || continue
		is "$(changed fuse_read cat "$mnt/large")" 0 "FUSE without $lack: pages are kept"
		is "$(changed fuse_readdirplus find "$mnt" -size +1G)" 0 \
			"FUSE without $lack: and names"
		left "FUSE without $lack"
	done
}

# Root raises what a mount reads ahead, whatever the kernel begins with.
readahead() {
	local what="FUSE with little readahead" number
	lacking readahead=4096 || return
	is "$(term max_readahead)" 4096 "$what: so it says"
	number=$(stat -c %d "$mnt")
	is "$(cat "/sys/class/bdi/0:$((number % 256))/read_ahead_kb")" 512 "$what: it is raised"
	left "$what"
}

# Nothing can be stored: it is read when it is asked for. The sweep comes to its end.
stores() {
	local what="FUSE without stores"
	protocol store
	mounted "$what" shield=off,prefetch=sweep || return
	check "$what: the sweep ends" wait_until 20 grep -q -v sweeping "$mnt/.granaryfs/progress"
	same "$what"
	is "$(counter pushed_files)" 0 "$what: none was stored"
	left "$what"
	protocol async_read
	mounted "FUSE with stores" shield=off,prefetch=sweep || return
	check "FUSE with stores: files are stored" wait_until 20 pushes
	left "FUSE with stores"
}

pushes() {
	[ "$(counter pushed_files)" -ge 40 ]
}

# ---- Whole kernels ----------------------------------------------------------

# as_on KERNEL LACK MINOR: all at once, without a front and with what is then said of it.
as_on() {
	local what="as on Linux $1"
	protocol "minor=$3"
	wrapped "$without" "$2" ${4:+"$4"} -- "$faulty"
	mounted "$what" allow_other || return
	is "$(term protocol)" "7.$3" "$what: the protocol"
	same "$what"
	left "$what"
	packs "$2" ''
	extracts "$2" ''
}

watch_mount "$mnt"
make_tree >/dev/null || bail "no tree"
make_faulty
mount_calls
fronted
small_calls
descriptors
fifo
tools
parsers
needed
dead
opens
opendirs
links
pages
listings
others
readahead
stores
as_on 4.18 newer-than-4.18 27
as_on 5.14 newer-than-5.14 34 beneath
finish
