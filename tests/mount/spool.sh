#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# spool=: streams without entry points are unpacked once, into a file that goes with the
# mount or stays for the next one. Nothing is left behind where that fails.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/flip_lib.sh
. "$abs_top_srcdir/tests/mount/flip_lib.sh"
need_built zlib zstd lzma lz4
need_fuse
need tar gzip zstd xz lz4 split cmp flock

args=(--ignore-special --mode-mask 777)
is_root || args+=(--no-owner)
spool=$work/spool

make_files() {
	mkdir "$work/tree" "$spool"
	head -c 70000000 /dev/zero >"$work/tree/zeros"
	seq 1000 >"$work/tree/numbers"
	head -c 3000000 /dev/urandom >"$work/tree/noise"
	cd "$work" || bail "no directory"
	tar --sort=name --format=posix -C tree -cf plain.tar .
	zstd -q plain.tar -o one.tar.zst
	xz -0 -T1 -c plain.tar >one.tar.xz
	lz4 -q -BD plain.tar linked.tar.lz4
	xz -0 -T1 --format=lzma -c plain.tar >one.tar.lzma
	gzip -1 -k plain.tar
	tar --sort=name -C tree -cf - numbers | zstd -q >small.tar.zst
}

left_in() {
	find "$1" -mindepth 1 ! -name '*.gidx' | wc -l
}

# shows FILE OPTIONS...
shows() {
	local file=$1
	shift
	mount_ok "$file: mounted, $*" -o "$@" "$work/$file" "$mnt" || return
	check "$file: the tree" compare "${args[@]}" "$work/tree" "$mnt"
	umount_ok "$mnt"
}

refuses() {
	says "$1" "$2" "$3" "$granaryfs" "${@:4}" "$mnt"
	is "$(left_in "$spool")" 0 "$3: nothing is left"
}

try_kinds() {
	local file
	for file in one.tar.zst one.tar.xz linked.tar.lz4 one.tar.lzma; do
		shows "$file" "index=off,spool=$spool"
		is "$(left_in "$spool")" 0 "$file: nothing is left"
	done
	# what can be entered is not unpacked
	shows plain.tar.gz "index=off,spool=keep:$spool"
	is "$(left_in "$spool")" 0 "plain.tar.gz: nothing is left"
}

# The remedy names no file that is only in another.
nested() {
	tar -cf outer.tar one.tar.zst
	mount_ok "nested: mounted" -o "index=off,spool=$spool" outer.tar "$mnt" || return
	check "nested: what to do" grep -q "copy it out of the mount, and mount the copy with -o spool=DIR" \
		"${mount_log[$mnt]}"
	check "nested: it is a file" cmp one.tar.zst "$mnt/one.tar.zst"
	umount_ok "$mnt"
}

# The same file, size, time and ends; between these other bytes.
keep_of_another_middle() {
	local i
	mkdir middle
	head -c 100000 /dev/urandom >middle/a
	head -c 100000 /dev/urandom >middle/z
	for i in 1 2; do
		head -c 20000000 /dev/urandom >middle/m
		cp middle/m "middle-$i"
		tar --sort=name --mtime=@1 -C middle -cf middle.tar .
		zstd -q -f --no-check middle.tar -o "middle-$i.zst"
	done
	is "$(stat -c %s middle-1.zst)" "$(stat -c %s middle-2.zst)" "middle: of equal sizes"
	for i in 1 2; do
		cat "middle-$i.zst" >middle.tar.zst
		touch -d @1000000000 middle.tar.zst
		mount_ok "middle: mounted" -o "index=off,spool=keep:$spool" middle.tar.zst "$mnt" ||
			return
		check "middle: its own bytes" cmp "middle-$i" "$mnt/m"
		umount_ok "$mnt"
	done
	rm -f "$spool"/*
}

try_keeping() {
	local kept
	shows one.tar.zst "spool=keep:$spool"
	kept=$(find "$spool" -name 'one.tar.zst-*' ! -name '*.gidx')
	check "keep: one file" test -f "$kept"
	is "$(stat -c %a "$kept")" 600 "keep: private"
	check "keep: it is the tar" cmp "$kept" plain.tar
	shows one.tar.zst "spool=keep:$spool,index=require"
	is "$(grep -c "is unpacked now" "${mount_log[$mnt]}")" 0 "keep: used again"
	says 0 "is sound" "keep: granary index" "$granary" index --check "$kept"
	says 0 "sound, as far as" "keep: granary verify" "$granary" verify "$kept"
	flip "$kept" 30000000
	touch -d '2001-01-01' "$kept"
	flip "$kept" 100
	shows one.tar.zst "spool=keep:$spool"
	check "keep: one that is another is said" grep -q "is not what it was when it was unpacked" \
		"${mount_log[$mnt]}"
	rm -f "$spool"/*
	shows one.tar.zst "spool=keep:$spool,index=off"
	flip "$(find "$spool" -name 'one.tar.zst-*')" 40000123
	touch "$(find "$spool" -name 'one.tar.zst-*')"
	shows one.tar.zst "spool=keep:$spool,index=off"
	rm -f "$spool"/*
	shows one.tar.zst "spool=keep:$spool,index=off"
	touch one.tar.zst
	shows one.tar.zst "spool=keep:$spool,index=off"
	is "$(left_in "$spool")" 2 "keep: another source, another file"
	rm -f "$spool"/*
}

# A process that was killed leaves a part, which the next one writes over.
try_kill() {
	local file
	"$granary" ls -o "spool=keep:$spool,index=off" one.tar.xz >"$work/said" 2>&1 &
	local pid=$!
	check "kill: it writes" wait_until 20 grown "$spool/one.tar.xz-*.unpacking"
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
	file=$(find "$spool" -name '*.unpacking')
	check "kill: a part is left" test -f "$file"
	check "kill: nobody writes any more" wait_until 20 flock -n "$file" true
	shows one.tar.xz "spool=keep:$spool,index=off"
	is "$(find "$spool" -name '*.unpacking' | wc -l)" 0 "kill: the part is gone"
	is "$(left_in "$spool")" 1 "kill: the whole is there"
	rm -f "$spool"/*
}

grown() {
	local file
	for file in $1; do
		[ -s "$file" ] && return
	done
	return 1
}

# Two at once: one unpacks, the other waits for that.
try_two() {
	local i pids=()
	for i in 1 2 3; do
		"$granary" ls -o "spool=keep:$spool,index=off" one.tar.xz >"$work/said-$i" 2>"$work/log-$i" &
		pids+=($!)
	done
	for i in 1 2 3; do
		wait "${pids[i - 1]}"
		is "$?" 0 "two at once: $i ends" || diag "$(cat "$work/log-$i")"
		is "$(tr '\n' ' ' <"$work/said-$i")" "noise numbers zeros " "two at once: $i sees all"
	done
	is "$(cat "$work"/log-? | grep -c "it is unpacked now")" 1 "two at once: unpacked once"
	is "$(left_in "$spool")" 1 "two at once: one file"
	rm -f "$spool"/*
}

try_failures() {
	local size
	size=$(stat -c %s one.tar.xz)
	head -c $((size / 2)) one.tar.xz >cut.tar.xz
	# damage behind what a reader looks at first
	cp one.tar.zst broken.tar.zst
	flip broken.tar.zst $(($(stat -c %s broken.tar.zst) - 3))
	refuses 3 "cut.tar.xz' is truncated" "truncated" -o "spool=$spool" cut.tar.xz
	refuses 3 "cut.tar.xz' is truncated" "truncated, keep" -o "spool=keep:$spool" cut.tar.xz
	refuses 3 "broken.tar.zst' is damaged" "damaged" -o "spool=keep:$spool" broken.tar.zst
	refuses 2 "nowhere" "no directory" -o "spool=$work/nowhere" one.tar.zst
	refuses 1 "name a directory" "no name" -o "spool=keep:" one.tar.zst
	TMPDIR='' SLURM_TMPDIR='' refuses 1 "name one: -o spool=DIR" "auto: no directory" \
		-o spool=auto one.tar.zst
	TMPDIR=/dev/shm refuses 1 "name one: -o spool=DIR" "auto: only a tmpfs" \
		-o spool=auto one.tar.zst
	TMPDIR=/nowhere SLURM_TMPDIR=$spool shows one.tar.zst index=off,spool=auto
	{ printf '%4096s' ' '; cat one.tar.zst; } >behind.zst
	refuses 1 "cut 'behind.zst' with tail -c +4097" "behind a header" \
		-o "spool=$spool,base=4096" behind.zst
	says 3 "have it unpacked once, with -o spool=DIR" "without: refused" \
		"$granaryfs" one.tar.zst "$mnt"
	(
		tap_failed=0
		ulimit -f 20000
		refuses 2 "cannot be unpacked into the directory of -o spool=" "a limit of size" \
			-o "index=off,spool=keep:$spool" one.tar.zst
		exit "$tap_failed"
	) >"$work/limited"
	is "$?" 0 "a limit of size: one sentence, nothing left" || diag "$(cat "$work/limited")"
	says 1 "spool= is for what reads files" "granary index" \
		"$granary" index -o "spool=$spool" one.tar.zst
	says 1 "spool= is for what reads files" "granary verify" \
		"$granary" verify -o "spool=$spool" one.tar.zst
}

try_full() {
	is_root || return
	mkdir "$work/full"
	mount -t tmpfs -o size=76M none "$work/full" || return
	at_exit umount "$work/full"
	says 2 "a tenth of it stays free" "full: refused" \
		"$granaryfs" -o "spool=keep:$work/full" one.tar.zst "$mnt"
	is "$(left_in "$work/full")" 0 "full: nothing is left"
	mount -o remount,size=200M "$work/full"
	shows one.tar.zst "index=off,spool=$work/full"
}

# With the rights of the user, who owns the file; and no link leads root elsewhere.
try_user() {
	is_root || return
	public_programs # nobody may have no way into the build directory
	local granaryfs=$work/programs/granaryfs
	mkdir -m 700 "$work/user"
	chown nobody "$work/user"
	chmod 755 "$work"
	cp one.tar.zst "$work/user/"
	chown nobody "$work/user/one.tar.zst"
	mount_ok "user=: mounted" -o "index=off,allow_other,user=nobody,spool=keep:$work/user" \
		"$work/user/one.tar.zst" "$mnt" || return
	check "user=: the tree" compare "${args[@]}" "$work/tree" "$mnt"
	umount_ok "$mnt"
	is "$(stat -c %U "$work/user"/one.tar.zst-*)" nobody "user=: the user's file"
	mount_ok "user=: again" -o "index=off,allow_other,user=nobody,spool=keep:$work/user" \
		"$work/user/one.tar.zst" "$mnt" &&
		umount_ok "$mnt"
	is "$(grep -c "is unpacked now" "${mount_log[$mnt]}")" 0 "user=: used again"
	mount_ok "user=: without a name" -o "index=off,allow_other,user=nobody,spool=$work/user" \
		"$work/user/one.tar.zst" "$mnt" &&
		umount_ok "$mnt"
	says 2 "Permission denied" "user=: not in root's directory" "$granaryfs" \
		-o "user=nobody,spool=$spool" "$work/user/one.tar.zst" "$mnt"
	chmod 755 "$work/user"
	rm "$work/user"/one.tar.zst-*
	says 2 "cannot be made or locked" "another user's file of that name" \
		bash -c "chown nobody '$spool'; name=\$(cd '$spool'; '$granary' ls -o index=off,spool=keep:. '$work/one.tar.zst' >/dev/null 2>&1; ls | grep -v gidx)
		rm -f '$spool'/*; su -s /bin/sh nobody -c \"touch '$spool/\${name%-*-*}.unpacking'\"
		'$granaryfs' -o 'spool=keep:$spool' '$work/one.tar.zst' '$mnt'"
	chown root "$spool"
	rm -f "$spool"/*
}

# A set of which some can be entered; and a stream in parts.
try_sets() {
	zstd -q -c plain.tar | split -b 1000000 - one.tar.zst.part
	shows one.tar.zst.partaa "index=off,spool=$spool"
	mkdir two
	seq 2000 >two/more
	tar -C two -cf - more | zstd -q >more.tar.zst
	mount_ok "set: mounted" -o "index=off,spool=$spool" more.tar.zst one.tar.zst "$mnt" || return
	check "set: of a stream that was unpacked" cmp tree/noise "$mnt/noise"
	check "set: goes by the name of its file" grep -q -F "$work/more.tar.zst" /proc/self/mounts
	check "set: of one that is entered" cmp two/more "$mnt/more"
	umount_ok "$mnt"
}

# A format that is read by pointers, in a stream.
try_formats() {
	grep -q '^#define WITH_HDF5 1' "$abs_top_builddir/config.h" || return
	mkdir h5
	cp tree/noise tree/numbers h5
	check "HDF5: packed" "$granary" pack --quiet --no-index h5 packed.h5 || return
	gzip packed.h5
	mount_ok "HDF5: mounted" -o "index=off,spool=$spool" packed.h5.gz "$mnt" || return
	check "HDF5: the files" diff -r h5 "$mnt"
	umount_ok "$mnt"
}

make_files
try_kinds
nested
try_keeping
keep_of_another_middle
try_kill
try_two
try_failures
try_full
try_user
try_sets
try_formats
finish
