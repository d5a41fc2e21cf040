#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# The shield: a read-only overlay on the FUSE mount. What it must not change, whom it must
# not let in, how it ends, and what becomes of it where the kernel will not have it.

# A mount namespace of its own, with everything private: no other process, and nobody
# else's test, can hold a copy of what is mounted here.
if [ "$(id -u)" -eq 0 ] && [ -z "${GRANARY_TEST_NAMESPACE:-}" ]; then
	export GRANARY_TEST_NAMESPACE=1
	exec unshare --mount --propagation private bash "$0" "$@"
fi

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar timeout setpriv setfattr setarch unshare
helpers=$abs_top_srcdir/tests/mount

make_archives() {
	local tree=$work/tree
	mkdir -p "$tree/folder/deep" "$tree/private"
	echo first >"$tree/a-file"
	printf '#!/bin/sh\necho ran\n' >"$tree/program"
	chmod 755 "$tree/program"
	ln "$tree/a-file" "$tree/folder/same"
	ln "$tree/a-file" "$tree/folder/deep/same"
	ln -s ../a-file "$tree/folder/link"
	truncate -s 3M "$tree/holes"
	printf data | dd of="$tree/holes" bs=1 seek=1M conv=notrunc status=none
	head -c 5000000 /dev/urandom >"$tree/large"
	echo secret >"$tree/private/file"
	echo closed >"$tree/closed"
	chown -R 1234:4321 "$tree/closed" "$tree/private"
	chmod 700 "$tree/private"
	chmod 600 "$tree/closed"
	for ((i = 0; i < 200; i++)); do
		head -c $((i * 50)) /dev/urandom >"$tree/folder/deep/$i"
	done
	tar --format=pax --sparse -C "$tree" -cf "$work/t.tar" .
	"$granary" index "$work/t.tar" >/dev/null || bail "no index"
	marked_archive
	"$granary" index "$work/marked.tar" >/dev/null || bail "no index"
	chmod a+r "$work"/*.tar*
}

# With all that means something to overlayfs: whiteouts, opaque folders, redirects.
marked_archive() {
	"$python" - "$work/marked.tar" <<-'END'
	import io, sys, tarfile
	MARKS = {"opaque": "y", "whiteout": "y", "redirect": "/other", "metacopy": "",
	         "origin": "x", "impure": "y", "nlink": "U+1"}
	def add(tar, name, type=tarfile.REGTYPE, data=b"", shown="user.shown", **more):
	    info = tarfile.TarInfo(name)
	    info.type, info.size, info.mode = type, len(data), 0o755
	    for key, value in more.items():
	        setattr(info, key, value)
	    info.pax_headers = {"SCHILY.xattr." + shown: "yes"}
	    for mark, value in MARKS.items():
	        for space in "user", "trusted":
	            info.pax_headers["SCHILY.xattr.%s.overlay.%s" % (space, mark)] = value
	    tar.addfile(info, io.BytesIO(data))
	with tarfile.open(sys.argv[1], "w", format=tarfile.PAX_FORMAT) as tar:
	    for folder in "one", "two":
	        add(tar, folder, tarfile.DIRTYPE)
	        add(tar, folder + "/file", data=folder.encode())
	        add(tar, folder + "/empty")
	        add(tar, folder + "/.wh.file", data=b"not a whiteout")
	        add(tar, folder + "/.wh..wh..opq")
	        add(tar, folder + "/gone", tarfile.CHRTYPE, devmajor=0, devminor=0)
	        add(tar, folder + "/link", tarfile.SYMTYPE, linkname="file")
	    add(tar, "other", tarfile.DIRTYPE)
	END
}

make_faulty() {
	mkdir "$work/faulty"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
}

# ---- Small things -------------------------------------------------------------

# start OPTIONS [SOURCE]: in the background, at $mnt, with its log in $log.
log=$work/log
start() {
	: >"$log"
	watch_mount "$mnt"
	timeout 30 "${kernel[@]}" "$granaryfs" -o "log=$log,$1" "${2:-$work/t.tar}" "$mnt" \
		2>"$work/said"
}
kernel=()   # before granaryfs: what the kernel lacks

shielded_ok() {
	local description=$1
	shift
	start "$@"
	is $? 0 "$description: mounted" || diag "$(cat "$work/said")"
	check "$description: shielded" is_shielded "$mnt"
	is "$(mount_lines "$mnt" | wc -l)" 1 "$description: one mount is seen"
	check "$description: and said" grep -q ': shielded by an overlay' "$log"
}

bare_ok() {
	local description=$1
	shift
	start "$@"
	is $? 0 "$description: mounted" || diag "$(cat "$work/said")"
	is "$(mount_lines "$mnt" | awk '{ print $3 }')" fuse.granaryfs "$description: bare"
	check "$description: and said" grep -q ': without the shield: ' "$log"
}

# left DESCRIPTION [COMMAND...]: one umount, and nothing remains.
left() {
	local description=$1
	shift
	[ $# -gt 0 ] || set -- umount "$mnt"
	check "$description: unmounted" timeout 20 "$@"
	check "$description: no mount" not_mounted "$mnt"
	check "$description: no process" wait_until 20 no_daemon "$mnt"
}

supervisor() {
	daemon_pids "$mnt" | head -n 1
}

options_of() {
	mount_lines "$mnt" | awk '{ print $4 }' | tr ',' '\n'
}

litter() {
	local place
	for place in /run /tmp /dev/shm; do
		find "$place" -maxdepth 1 -name 'granaryfs.*'
	done
}

# ---- Who gets in ----------------------------------------------------------------

owner_only() {
	bare_ok "no allow_other" umask=0
	refuse "no allow_other: nobody else gets in" as_nobody ls "$mnt"
	left "no allow_other"
	start shield=on
	is $? 1 "shield=on without allow_other: a wrong command line"
	check "shield=on without allow_other: says what to add" grep -q 'add allow_other' "$work/said"
	is "$(wc -l <"$work/said")" 1 "shield=on without allow_other: in one sentence"
	check "shield=on without allow_other: nothing is mounted" not_mounted "$mnt"
	bare_ok "shield=off" allow_other,shield=off
	check "shield=off: says so" grep -q 'without the shield: shield=off' "$log"
	left "shield=off"
}

# Nobody has looked at it before them: an overlay copies the mode of the root.
another_user() {
	shielded_ok "another user" allow_other
	is "$(as_nobody cat "$mnt/a-file" 2>&1)" first "another user reads, and is the first"
	is "$(as_nobody stat -c %a "$mnt")" "$(stat -c %a "$work/tree")" "the mode of the root"
	refuse "modes are respected" as_nobody cat "$mnt/closed"
	refuse "those of folders too" as_nobody ls "$mnt/private"
	is "$(setpriv --reuid=1234 --regid=4321 --clear-groups cat "$mnt/private/file")" secret \
		"the owner reads"
	is "$(cat "$mnt/closed")" closed "root reads"
	left "another user"
}

# ---- What must be the same --------------------------------------------------------

visible_options() {
	local name
	shielded_ok "options" allow_other,suid,dev,exec
	for name in ro nosuid nodev; do
		check "options: $name" grep -q -x "$name" <(options_of)
	done
	refuse "options: not noexec" grep -q -x noexec <(options_of)
	is "$(mount_lines "$mnt" | awk '{ print $1 }')" "$work/t.tar" \
		"options: the source is what is packed"
	is "$("$mnt/program")" ran "options: a program runs"
	refuse "options: nothing can be written" touch "$mnt/new"
	refuse "options: not even after remounting" sh -c \
		"mount -o remount,rw '$mnt' && touch '$mnt/new'"
	left "options"
	shielded_ok "noexec" allow_other,noexec
	check "noexec: to be seen" grep -q -x noexec <(options_of)
	refuse "noexec: no program runs" "$mnt/program"
	left "noexec"
}

# The bare mount is the measure: numbers, links, devices, attributes and contents.
same_tree() {
	local archive=$1
	start allow_other,shield=off "$archive"
	"$python" "$helpers/shield_tree.py" "$mnt" >"$work/bare" 2>&1
	ok $? "${archive##*/}: bare, on one device" || diag "$(tail -n 3 "$work/bare")"
	left "${archive##*/}, bare"
	shielded_ok "${archive##*/}" allow_other "$archive"
	"$python" "$helpers/shield_tree.py" "$mnt" >"$work/shielded" 2>&1
	ok $? "${archive##*/}: shielded, on one device" || diag "$(tail -n 3 "$work/shielded")"
	check "${archive##*/}: all is the same" diff "$work/bare" "$work/shielded"
}

same_trees() {
	same_tree "$work/t.tar"
	check "the tree that was packed" compare "$work/tree" "$mnt"
	is "$(stat -c '%i %h' "$mnt")" "1 $(stat -c %h "$work/tree")" \
		"the root has its number, and its links"
	is "$(stat -c '%h %i' "$mnt/folder/same")" "3 $(stat -c %i "$mnt/a-file")" \
		"hard links are one file"
	check "holes are holes" "$python" "$helpers/holes.py" "$mnt/holes"
	is "$("$python" -c 'import os, sys
print(os.lseek(os.open(sys.argv[1], os.O_RDONLY), 0, os.SEEK_DATA) > 0)' "$mnt/holes")" True \
		"SEEK_DATA finds one"
	check "mmap" "$python" -c 'import mmap, sys
a = open(sys.argv[1], "rb"); b = open(sys.argv[2], "rb").read()
assert mmap.mmap(a.fileno(), 0, prot=mmap.PROT_READ)[:] == b' "$mnt/large" "$work/tree/large"
	left "t.tar"
}

marks() {
	same_tree "$work/marked.tar"
	is "$(cat "$mnt/one/file" "$mnt/two/link")" onetwo "marks: no file is whited out"
	is "$(ls -A "$mnt/one")" "$("$granary" ls "$work/marked.tar" one | sed 's,.*/,,' | sort)" \
		"marks: each name is there"
	is "$(cd "$mnt" && getfattr -h -R -P -d -m - . 2>/dev/null | grep -c '^user.shown')" 11 \
		"marks: user.* are shown"
	refuse "marks: user.overlay.* are not" grep -q overlay "$work/shielded"
	refuse "marks: nor given" getfattr -n user.overlay.opaque "$mnt/one"
	refuse "marks: nor trusted.overlay.*" getfattr -n trusted.overlay.opaque "$mnt/one"
	refuse "marks: bare neither" grep -q overlay "$work/bare"
	left "marks"
}

# ---- What it is for ------------------------------------------------------------------

read_by_python() {
	"$python" -c 'import glob, sys
for p in glob.glob(sys.argv[1] + "/folder/deep/*"):
    open(p, "rb").read()' "$mnt"
}

quiet() {
	local before after form
	for form in on off; do
		mount_ok "shield=$form" -o "allow_other,shield=$form" "$work/t.tar" "$mnt" || return
		is "$(requests "$mnt" | awk '$1 == "shielded" { print $2 }')" \
			"$([ $form = on ] && echo 1 || echo 0)" "shield=$form: the gauge"
		# anybody may drop the pages meanwhile: then it is not warm
		for _ in 1 2 3; do
			read_by_python
			before=$(requests "$mnt")
			read_by_python
			after=$(requests "$mnt")
			[ "$(request_change fuse_read "$before" "$after")" -ne 0 ] || break
		done
		if [ $form = on ]; then
			is "$(request_changes "$before" "$after")" "" "Python, warm: no request"
		elif [ "$("$python" -c 'import sys; print(sys.version_info < (3, 14))')" = True ]; then
			at_least "$(request_change fuse_ioctl "$before" "$after")" 200 \
				"bare: a request a file"
		fi
		umount_ok "$mnt" "shield=$form: unmounted, and the daemon ended with 0"
	done
}

# ---- How it ends -----------------------------------------------------------------------

same_bytes() {
	cmp -s "$work/tree/large" "$1"
}

ends() {
	shielded_ok "lazy" allow_other
	exec 7<"$mnt/large"
	check "lazy: umount -l while a file is open" umount -l "$mnt"
	refuse "lazy: the daemon stays" wait_until 1 no_daemon "$mnt"
	same_bytes /dev/fd/7
	ok $? "lazy: and what is open is read on"
	exec 7<&-
	check "lazy: it ends with the last file" wait_until 20 no_daemon "$mnt"
	shielded_ok "busy" allow_other
	exec 7<"$mnt/large"
	refuse "busy: umount" umount "$mnt"
	exec 7<&-
	left "busy"
	shielded_ok "TERM" allow_other
	exec 7<"$mnt/large"
	kill -TERM "$(supervisor)"
	check "TERM: it disappears" wait_until 10 not_mounted "$mnt"
	same_bytes /dev/fd/7
	ok $? "TERM: and what is open is read on"
	exec 7<&-
	check "TERM: it ends with the last file" wait_until 20 no_daemon "$mnt"
	is "$(litter)" "" "no litter"
}

by_the_tool() {
	shielded_ok "granary umount" allow_other
	left "granary umount" "$granary" umount "$mnt"
	check "granary umount: again" "$granary" umount "$mnt"
	shielded_ok "granary umount --force" allow_other
	exec 7<"$mnt/large"
	left "granary umount --force" "$granary" umount --force "$mnt"
	refuse "granary umount --force: who reads gets an error" cat <&7
	exec 7<&-
	shielded_ok "granary umount, busy" allow_other
	exec 7<"$mnt/large"
	check "granary umount, busy: with a remark" "$granary" umount "$mnt"
	check "granary umount, busy: gone" not_mounted "$mnt"
	same_bytes /dev/fd/7
	ok $? "granary umount, busy: and what is open is read on"
	exec 7<&-
	check "granary umount, busy: the daemon ends" wait_until 20 no_daemon "$mnt"
	shielded_ok "without fusectl" allow_other
	umount /sys/fs/fuse/connections
	exec 7<"$mnt/large"
	left "without fusectl: --force" "$granary" umount --force "$mnt"
	refuse "without fusectl: who reads gets an error" cat <&7
	exec 7<&-
	mount -t fusectl none /sys/fs/fuse/connections
}

timeout_option() {
	shielded_ok "timeout=" allow_other,timeout=1
	exec 7<"$mnt/large"
	sleep 3 # longer than the timeout
	check "timeout=: it stays while a file is open" is_shielded "$mnt"
	exec 7<&-
	check "timeout=: unmounted" wait_until 15 not_mounted "$mnt"
	check "timeout=: no process" wait_until 20 no_daemon "$mnt"
}

# Another mount namespace has a copy, and keeps the daemon for as long.
held() {
	shielded_ok "held" allow_other
	# shellcheck disable=SC2016  # the inner shell expands it
	timeout 120 unshare -m sh -c 'touch "$1"; exec sleep 100' sh "$work/held" &
	started+=("$!")
	wait_until 10 test -e "$work/held"
	timeout 20 "$granary" umount "$mnt" 2>"$work/said"
	is $? 0 "held: granary umount"
	check "held: and says so" grep -q 'still mounted elsewhere' "$work/said"
	refuse "held: the daemon stays" no_daemon "$mnt"
	end_child "${started[-1]}"
	check "held: until the other is gone" wait_until 20 no_daemon "$mnt"
}

end_child() {
	local children
	read -r -a children <"/proc/$1/task/$1/children"
	kill "${children[@]}"
}

# ---- When something dies -------------------------------------------------------------------

# Eight readers compare everything, while all caches are dropped and servers killed.
server_killed() {
	local i reader
	shielded_ok "killed servers" allow_other
	"$hammer" -r -u "$work/enough" "$work/tree" "$mnt" >"$work/hammered" 2>&1 &
	reader=$!
	started+=("$reader")
	for ((i = 0; i < 20; i++)); do
		sleep 0.2 # the readers are in the midst of something else each time
		kill -KILL "$(server_pid "$mnt")" 2>/dev/null
	done
	touch "$work/enough"
	wait "$reader"
	ok $? "killed servers: nobody saw anything but what is right" ||
		diag "$(tail -n 20 "$work/hammered")"
	diag "$(grep -E '^(reads|wrong|errors|hung) ' "$work/hammered" | tr '\n' ' ')"
	at_least "$(grep -c 'another one takes over' "$log")" 3 "killed servers: they were"
	check "killed servers: still shielded" is_shielded "$mnt"
	left "killed servers"
}

kill_supervisor() {
	kill -KILL "$(supervisor)"
	wait_until 10 no_daemon "$mnt"
}

supervisor_killed() {
	shielded_ok "dead" allow_other
	cat "$mnt/a-file" >/dev/null
	kill_supervisor
	check "dead: it is still there" is_shielded "$mnt"
	wait_until 10 says_dead "$mnt/large"
	cat "$mnt/large" >/dev/null 2>"$work/said"
	is "$(sed 's/.*: //' "$work/said")" "Transport endpoint is not connected" \
		"dead: what is not cached is ENOTCONN"
	shielded_ok "mounted over what is dead" allow_other
	same_bytes "$mnt/large"
	ok $? "and it is read"
	kill_supervisor
	bare_ok "bare over what is dead and shielded" shield=off
	left "bare"
	shielded_ok "dead" allow_other
	exec 7<"$mnt/a-file"
	kill_supervisor
	left "dead, with a file open: granary umount" "$granary" umount "$mnt"
	exec 7<&-
}

# ---- Several ----------------------------------------------------------------------------------

several() {
	local other=$work/other
	mkdir -p "$other"
	shielded_ok "several" allow_other
	start allow_other
	is $? 32 "several: the same place is in use"
	check "several: and one is told how to free it" grep -q 'granary umount' "$work/said"
	check "several: the first is still there" is_shielded "$mnt"
	watch_mount "$other"
	check "several: another place" timeout 30 "$granaryfs" -o allow_other "$work/t.tar" "$other"
	check "several: shielded" is_shielded "$other"
	left "several"
	check "several: the other is read on" cmp "$work/tree/large" "$other/large"
	mount --bind "$other" "$mnt"
	check "several: a second place of the same" "$granary" umount "$mnt"
	check "several: the first place stays" cmp "$work/tree/a-file" "$other/a-file"
	mkdir "$work/moved"
	mount --move "$other" "$work/moved"
	watch_mount "$work/moved"
	kill -TERM "$(daemon_pids "$other")"
	check "several: one that was moved is found" wait_until 10 not_mounted "$work/moved"
	check "several: no process" wait_until 20 no_daemon "$other"
}

# As where systemd makes all mounts shared: what is mounted appears in each peer.
shared() {
	local top=$work/shared mnt=$work/shared/mnt
	mkdir -p "$top"
	mount -t tmpfs none "$top"
	at_exit umount "$top"
	mount --make-shared "$top"
	mkdir "$mnt" "$work/peer"
	mount --bind "$top" "$work/peer"
	at_exit umount "$work/peer"
	shielded_ok "shared" allow_other
	is "$(mount_lines "$work/peer/mnt" | awk '{ print $3 }')" overlay "shared: so is the peer"
	left "shared"
	check "shared: the peer's is gone" not_mounted "$work/peer/mnt"
}

# A prologue and an epilogue tell by the mount table what is theirs to unmount.
slurm_scripts() {
	local script seen
	shielded_ok "slurm" allow_other
	for script in prolog epilog; do
		# shellcheck disable=SC2016  # the inner shell expands it
		seen=$(bash -c 'eval "$(sed -n "/^mounts_of() {/,/^}/p" "$1")"
			mounts_of "$2"; echo "${ours[*]}"' bash \
			"$abs_top_srcdir/docs/slurm/$script.sh" "$work")
		is "$seen" "$mnt" "slurm: the $script finds it"
	done
	left "slurm"
}

# ---- Kernels that will not ----------------------------------------------------------------------

# lacks WHAT
lacks() {
	kernel=("$without" "$1" --)
}

refused() {
	local what
	for what in fsopen overlay tmpfs mount-namespaces; do
		lacks "$what"
		bare_ok "no $what" allow_other
		same_bytes "$mnt/large"
		ok $? "no $what: and it is read"
		left "no $what"
		start allow_other,shield=on
		is $? 32 "no $what, shield=on: refused"
		check "no $what, shield=on: says why" grep -q -E -- \
			'-o shield=on: no (overlay|mount namespace) can be' "$work/said"
		check "no $what, shield=on: no mount" not_mounted "$mnt"
		check "no $what, shield=on: no process" wait_until 20 no_daemon "$mnt"
	done
	lacks beneath
	shielded_ok "no beneath" allow_other
	same_bytes "$mnt/large"
	ok $? "no beneath: and it is read"
	left "no beneath"
	is "$(litter)" "" "no litter"
	kernel=()
	start allow_other,shield=perhaps
	is $? 1 "shield=perhaps: a wrong command line"
}

# ---- A merged root, as kernels before 6.16 have it -----------------------------------------------

# They are told by their version only; this one says that it is a 2.6.
old=(setarch --uname-2.6)

merged() {
	start allow_other,shield=off
	(cd "$mnt" && find . | sort) >"$work/bare"
	left "bare"
	kernel=("${old[@]}")
	shielded_ok "merged" allow_other
	check "merged: the root is" grep -q -x xino=on <(options_of)
	check "merged: and said" grep -q 'with a merged root' "$log"
	is "$(cd "$mnt" && find . | sort)" "$(cat "$work/bare")" "merged: each name is listed"
	# shellcheck disable=SC2012  # these names have no line breaks
	is "$(ls -a "$mnt" | head -n 2 | tr '\n' ' ')" ". .. " "merged: . and .. too"
	same_bytes "$mnt/large"
	ok $? "merged: and it is read"
	left "merged"
	kernel=()
}

# tar_of NAMES: flat.tar, with so many names in its root.
tar_of() {
	rm -rf "$work/flat" "$work"/flat.tar*
	mkdir "$work/flat"
	(cd "$work/flat" && seq -f 'name%.0f' "$1" | xargs touch)
	tar -C "$work/flat" -cf "$work/flat.tar" .
	"$granary" index "$work/flat.tar" >/dev/null || bail "no index"
}

names_of_root() {
	# shellcheck disable=SC2012  # these names have no line breaks
	ls -f "$mnt" | grep -c name
}

large_roots() {
	tar_of 10000
	kernel=("${old[@]}")
	shielded_ok "10,000 names, merged" allow_other "$work/flat.tar"
	is "$(names_of_root)" 10000 "10,000 names, merged: all are listed"
	left "10,000 names, merged"
	tar_of 10001
	bare_ok "10,001 names, to be merged" allow_other "$work/flat.tar"
	check "10,001 names: and why" grep -q 'its root has 10001 names' "$log"
	is "$(names_of_root)" 10001 "10,001 names, bare: all are listed"
	left "10,001 names, to be merged"
	start allow_other,shield=on "$work/flat.tar"
	is $? 32 "10,001 names, shield=on: refused"
	check "10,001 names, shield=on: says why" grep -q 'its root has 10001 names' "$work/said"
	kernel=()
	! merges_always || return 0
	shielded_ok "10,001 names, not merged" allow_other "$work/flat.tar"
	is "$(names_of_root)" 10001 "10,001 names, not merged: all are listed"
	left "10,001 names, not merged"
}

# Is this kernel itself older than 6.16?
merges_always() {
	[ "$(printf '%s\n' 6.16 "$(uname -r)" | sort -V | head -n 1)" != 6.16 ]
}

# ---- Overlays that do not show what is behind them --------------------------------------------------

# faulty DESCRIPTION SENTENCE [SOURCE]: the overlay is found out, and the mount is bare.
faulty() {
	bare_ok "$1" allow_other "${3:-$work/t.tar}"
	check "$1: what was found" grep -q -F "$2" "$log" || diag "$(cat "$log")"
	refuse "$1: no name is missing" grep -q . \
		<(comm -3 <(ls -A "$mnt") <(ls -A "$work/tree"))
	left "$1"
	start allow_other,shield=on "${3:-$work/t.tar}"
	is $? 32 "$1, shield=on: refused"
	check "$1, shield=on: says why" grep -q -F "$2" "$work/said"
	check "$1, shield=on: no mount" not_mounted "$mnt"
	check "$1, shield=on: no process" wait_until 20 no_daemon "$mnt"
}

found_out() {
	local sound=$granaryfs
	granaryfs=$work/faulty/granaryfs
	export GRANARY_SHIELD=removed
	kernel=("${old[@]}")
	faulty "an empty root" "the listing of the root lacks 'a-file'"
	kernel=()
	GRANARY_SHIELD=lacks=large
	faulty "a root without a name" "the listing of the root lacks 'large'"
	GRANARY_SHIELD=lacks=deep
	faulty "a folder without a name" "the listing of 'folder' lacks 'deep'"
	GRANARY_SHIELD=lacks=elsewhere
	shielded_ok "nothing is missing" allow_other
	left "nothing is missing"
	unset GRANARY_SHIELD
	granaryfs=$sound
}

# Storage that hangs when the mount is tried does not keep it from its shield for good.
hung_storage() {
	local sound=$granaryfs
	granaryfs=$work/faulty/granaryfs
	GRANARY_FAULTS="kind=late,path=t.tar,from=$(($(identified "$work/t.tar") + 1)),ms=8000" shielded_ok "hung storage" allow_other
	check "hung storage: names are answered" timeout 5 ls -l "$mnt"
	check "hung storage: unmounted" timeout 20 "$granary" umount --force "$mnt"
	check "hung storage: no process" wait_until 20 no_daemon "$mnt"
	granaryfs=$sound
}

# The owner of an index may forge its names: root tries nothing outside of the mount.
outside() {
	local path=$work/rootonly/fifo name
	name=$(printf '%s' "$path" | tr -c '' a)
	mkdir "$work/outside" "$work/rootonly"
	mkfifo "$path"
	echo text >"$work/outside/$name"
	tar -C "$work/outside" -cf "$work/outside.tar" "$name"
	"$granary" index -q "$work/outside.tar"
	check "a name with slashes: in the index" \
		"$abs_top_builddir/tests/bin/forge-index" "$work/outside.tar.gidx" "$name" "$path"
	timeout 60 bash -c 'exec 3>"$1"; : >"$2"' - "$path" "$work/opened" &
	started+=($!)
	start allow_other,index=require "$work/outside.tar"
	is $? 0 "a name with slashes: mounted" || diag "$(cat "$work/said")"
	left "a name with slashes"
	check "a name with slashes: root has not opened it" test ! -e "$work/opened"
}

# Root of a user namespace, without allow_other. Owners that it does not know are its own.
in_namespace() {
	# shellcheck disable=SC2016  # the inner shell expands it
	cat >"$work/inside" <<-'END'
	timeout 30 "$1" -o "log=$4,$5" "$2" "$3" || exit
	grep -F " $3 " /proc/mounts
	"$6" "$7" "$3" ignore-numbers >"$8" && cat "$3/closed" && umount "$3"
	END
	timeout 60 unshare -rm --propagation private bash "$work/inside" "$granaryfs" \
		"$work/t.tar" "$mnt" "$log" "$1" "$python" "$helpers/shield_tree.py" "$work/$2" \
		>"$work/seen" 2>&1
}

user_namespace() {
	user_namespaces "a user namespace" || return
	in_namespace shield=off bare
	is "$?" 0 "a user namespace, bare" || diag "$(cat "$work/seen")"
	in_namespace umask=0 shielded
	is "$?" 0 "a user namespace" || diag "$(cat "$work/seen")"
	check "a user namespace: shielded" grep -q ' overlay .*/granaryfs@' "$work/seen"
	check "a user namespace: what nobody there owns can be read" grep -q -x closed "$work/seen"
	check "a user namespace: all is the same" diff "$work/bare" "$work/shielded"
	check "a user namespace: no process" wait_until 20 no_daemon "$mnt"
}

leave_others
make_archives
make_faulty
owner_only
another_user
visible_options
same_trees
marks
quiet
ends
by_the_tool
timeout_option
held
server_killed
supervisor_killed
several
shared
slurm_scripts
refused
merged
large_roots
found_out
hung_storage
outside
user_namespace
finish
