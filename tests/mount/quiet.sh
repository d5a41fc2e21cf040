#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Once read, a dataset is served by the kernel alone: a second pass of two
# reader processes in random order sends no request, and one of Python's
# ImageFolder nothing but one ioctl a file (Python before 3.14).
# FILES and SIZE may be set for a quick try.
#
# A kernel may take single pages back at any time (some machines reclaim all the
# while), and has to read those again. So there are a few second passes: one of
# them must be quiet, and none may send anything but such reads.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar find flock
keep_page_cache
need_python PIL torch torchvision
files=${FILES:-8000}
size=${SIZE:-110000}

# The memory that the pages need beside those of the archive and the plain copy.
enough_memory() {
	local free
	free=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
	[ $((free * 1024)) -gt $((files * size + files * 4096 + (512 << 20))) ]
}

c_readers() {
	local wanted
	"$python" "$abs_top_srcdir/tests/mount/write_shards.py" \
		--files "$files" --size "$size" "$work/c.tar"
	mkdir "$work/plain"
	tar -C "$work/plain" -xf "$work/c.tar"
	list_of "$work/plain" >"$work/plain.list"
	wanted=$(read_pass "$work/plain.list" 1)
	# Its pages are in the way of those that are looked at.
	rm -r "$work/plain"
	mount_ok "mounted" "$work/c.tar" "$mnt" || return
	list_of "$mnt" >"$work/list"
	is "$(read_pass "$work/list" 1)" "$wanted" "first pass: $files files, the right bytes"
	second_passes "$wanted"
	umount_ok "$mnt"
	rm -f "$work/c.tar"
}

second_passes() {
	local seed before changes others=''
	for seed in 2 3 4 5 6; do
		before=$(requests "$mnt")
		is "$(read_pass "$work/list" "$seed")" "$1" "pass $seed: the right bytes"
		changes=$(request_changes "$before" "$(requests "$mnt")")
		others=$others$(without_reads "$changes")
		[ -z "$changes" ] && break
		diag "pass $seed: $(printf '%s' "$changes" | tr '\n' ',')"
	done
	is "$changes" "" "pass $seed: no request of any kind"
	is "$others" "" "passes 2 to $seed: nothing but reads of pages that were taken back"
}

# Of changes as request_changes prints them.
without_reads() {
	printf '%s' "$1" | grep -v '^fuse_read '
}

# snapshot_after EPOCH: waits until the reader has said `paused` that often.
paused_times() {
	[ "$(grep -c '^paused' "$work/epochs")" -ge "$1" ]
}

image_directory() {
	local images=600 epoch pid before changes
	"$python" "$fixtures/make-image-tree" --classes 6 --images $((images / 6)) "$work/images"
	tar -C "$work/images" -cf "$work/images.tar" .
	mount_ok "images: mounted" "$work/images.tar" "$mnt" || return
	"$python" "$abs_top_srcdir/tests/mount/imagefolder.py" --epochs 4 \
		--pause "$work/go" "$mnt" >"$work/epochs" 2>&1 &
	pid=$!
	started+=("$pid")
	wait_until 120 paused_times 1
	quiet_epochs=0
	for epoch in 2 3 4; do
		before=$(requests "$mnt")
		touch "$work/go"
		wait_until 120 paused_times "$epoch"
		changes=$(request_changes "$before" "$(requests "$mnt")")
		judge_epoch "$epoch" "$changes" "$images"
	done
	touch "$work/go"
	wait "$pid"
	ok $? "images: four epochs" || diag "$(cat "$work/epochs")"
	[ "$quiet_epochs" -gt 0 ]
	ok $? "images: an epoch with ioctls and nothing else"
	umount_ok "$mnt"
}

# judge_epoch NUMBER CHANGES IMAGES. Pages of files and of listings may have been
# taken back; an epoch in which none was sends ioctls and nothing else.
judge_epoch() {
	local ioctls rest
	ioctls=$(printf '%s\n' "$2" | awk '$1 == "fuse_ioctl" { n = $2 } END { print n + 0 }')
	rest=$(printf '%s\n' "$2" | grep -v -E '^fuse_ioctl |^$')
	# PIL opens through Python once an image; the walk opens none.
	at_most "$ioctls" "$3" "epoch $1: at most one ioctl an image"
	is "$(printf '%s' "$rest" | grep -v -E '^fuse_(read|readdir|readdirplus) ')" "" \
		"epoch $1: nothing else but what was taken back"
	[ -n "$rest" ] || quiet_epochs=$((quiet_epochs + 1))
	diag "epoch $1: $(printf '%s' "$2" | tr '\n' ',')"
}

if enough_memory; then
	c_readers
else
	skip "not enough memory for $files files of $size bytes" "second pass is quiet"
fi
image_directory
finish
