#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# cache=: what it takes and refuses, what the budget then is, within a control group as
# well, and what it is good for: listings of trees that are too large for it.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar
need_python
files=1000 # 1.1 MB of inodes

make_archive() {
	local i
	mkdir "$work/tree"
	for ((i = 0; i < files; i++)); do echo "$i" >"$work/tree/$i"; done
	tar -C "$work/tree" -cf "$work/t.tar" . && "$granary" index "$work/t.tar"
}

# refuses TEXT: a usage error with a sentence, before anything is mounted.
refuses() {
	timeout 20 "$granaryfs" -o "cache=$1" "$work/t.tar" "$mnt" >/dev/null 2>"$work/said"
	is "$?" 1 "cache=$1 is a usage error"
	is "$(grep -c "^granaryfs: -o cache=$1: the memory budget is " "$work/said")" 1 \
		"cache=$1: a sentence"
	is_mounted "$mnt" && force_umount "$mnt"
}

# budget_of WANTED OPTIONS DESCRIPTION
budget_of() {
	mount_ok "mounted: $3" -o "$2" "$work/t.tar" "$mnt" || return
	is "$(counter budget_bytes)" "$1" "$3"
	umount_ok "$mnt"
}

budgets() {
	local available
	available=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
	refuses 5
	refuses 0%
	refuses 96%
	refuses 8X
	refuses lots
	budget_of 67108864 cache=64M "the budget is 64 MiB"
	if mount_ok "mounted by default" "$work/t.tar" "$mnt"; then
		at_most "$(counter budget_bytes)" $((available / 2 * 1024 * 11 / 10)) \
			"by default half of what is available"
		at_least "$(counter budget_bytes)" $((1 << 20)) "but there is one"
		umount_ok "$mnt"
	fi
}

# listing_by NAME OPTIONS DESCRIPTION: which request a first listing causes.
listing_by() {
	mount_ok "mounted with $2" -o "$2" "$work/t.tar" "$mnt" || return
	is "$(find "$mnt" -type f | wc -l)" "$files" "all names are listed"
	at_least "$(counter "$1")" 1 "$3"
	is "$(counter fuse_readdir)+$(counter fuse_readdirplus)" \
		"$(if [ "$1" = fuse_readdir ]; then echo "$(counter "$1")+0"
		else echo "0+$(counter "$1")"; fi)" "$3, and nothing else"
	is "$(cat "$mnt/7")" 7 "files can be read"
	umount_ok "$mnt"
}

listings() {
	listing_by fuse_readdirplus cache=4M "with attributes, if inodes fit half the budget"
	listing_by fuse_readdir cache=2M "without them, if not"
}

# new_group BYTES: a control group with that limit: its directory in $group. Or fails.
new_group() {
	local at=/sys/fs/cgroup file=memory.max
	if [ -d $at/memory ]; then at=$at/memory file=memory.limit_in_bytes; fi
	group=$at/granaryfs-test-$$-$1
	mkdir "$group" 2>/dev/null || return 1
	at_exit rmdir "$group"
	echo "$1" >"$group/$file"
} 2>/dev/null

# in_group PROGRAM: a script that runs it in $group.
in_group() {
	printf '#!/bin/sh\necho $$ >%s/cgroup.procs && exec %s "$@"\n' "$group" "$1" \
		>"$work/in-group"
	chmod 755 "$work/in-group"
}

groups() {
	local mib=$((1 << 20)) wanted
	if ! is_root || ! new_group $((400 * mib)); then
		skip "no control group for memory can be made" "the limit of a control group"
		return
	fi
	in_group "$granaryfs"
	granaryfs=$work/in-group budget_of $((200 * mib)) cache=50% "half of the group's limit"
	granaryfs=$work/in-group budget_of $((380 * mib)) cache=1G "no more than 95 % of it"
	in_group "$granary"
	wanted=$("$work/in-group" info --json "$work/t.tar" |
		sed 's/.*"budget_bytes":\([0-9]*\).*/\1/')
	at_most "$wanted" $((200 * mib)) "granary info: at most half of it by default"
	at_least "$wanted" $((150 * mib)) "granary info: and not much less"
}

# take MIB: a process in $group that has as much memory, in $taker.
take() {
	mkfifo "$work/taken"
	in_group "$python"
	"$work/in-group" -c "import time
b = b'x' * ($1 << 20)
print(len(b), flush=True)
time.sleep(600)" >"$work/taken" &
	taker=$!
	read -r _ <"$work/taken"
}

is_cut() {
	[ "$(counter sweep_limit)" -eq 5 ]
}

# goes_on: a file is read, and more is swept than at the cut. The server hears of no file
# that is in the page cache already, so the file is any, not the first that were swept.
goes_on() {
	sed -n "$((RANDOM % 14000 + 1))p" "$work/large-list" | xargs -d '\n' cat >"$work/one"
	[ "$(counter swept_bytes)" -ge $((cut_at + (16 << 20))) ]
}

# A sweep that is cut because others need the memory goes on when they do no more.
squeezed() {
	local taker cut_at
	if ! is_root || ! new_group $((512 << 20)); then
		skip "no control group for memory can be made" "memory that is short"
		return
	fi
	"$python" "$abs_top_srcdir/tests/mount/write_shards.py" --files 14000 --size 30000 \
		"$work/large.tar" && "$granary" index "$work/large.tar" >"$work/said"
	take 400
	in_group "$granaryfs"
	granaryfs=$work/in-group mount_ok "squeezed: mounted" \
		-o prefetch=sweep,cache=480M "$work/large.tar" "$mnt" || return
	find "$mnt" -type f >"$work/large-list"
	check "squeezed: the sweep is cut" wait_until 30 is_cut
	cut_at=$(counter swept_bytes)
	kill "$taker"
	wait "$taker" 2>/dev/null
	# a sweep that is cut once more, while the process ends, pauses twice as long
	check "squeezed: it goes on when there is memory again" wait_until 50 goes_on ||
		diag "$("$granary" stats "$mnt")" "$(cat "$group"/memory.*)"
	umount_ok "$mnt"
}

check "an archive" make_archive
budgets
listings
groups
squeezed
finish
