#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: thread
# The shield where the kernel will not have it, or shows something else through it; several
# shields, and mount namespaces.
# shellcheck source=tests/mount/shield_lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/mount/shield_lib.sh"

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
	check "several: another place" timeout 30 "$granaryfs" -o allow_other,shield=early "$work/t.tar" "$other"
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

shared() {
	local mnt
	shared_mount
	shielded_ok "shared" allow_other
	peer_shielded
	peer_left
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
	faulty "a directory without a name" "the listing of 'directory' lacks 'deep'"
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
	timeout 30 "$1" -o "log=$4,shield=early,$5" "$2" "$3" || exit
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
