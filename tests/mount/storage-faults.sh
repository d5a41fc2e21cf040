#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Storage that fails while it is read: for a moment, for good, in part, late, or
# with other bytes. What can be read is read, and right; what cannot is EIO for
# that file and one line in the log; other files go on.
#
# The faults are in tests/faults, in programs that are made for tests.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need_fuse
need tar mksquashfs timeout cmp dd od strace
need_python h5py

packed=(tree.tar gzip.squashfs zstd.squashfs tree.h5)
threads=8
bad=d/07
shipped=("$granaryfs" "$granary")
counts=$work/counts

# The daemon looks for `granary` beside itself.
make_programs() {
	mkdir "$work/faulty"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
	granaryfs=$work/faulty/granaryfs
}

# Text, so that there is something to compress.
make_sources() {
	local i
	mkdir -p "$work/tree/d"
	for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
		seq "${i}0000" "${i}7000" >"$work/tree/d/$i"
	done
	seq 100000 300000 | head -c 1048576 >"$work/tree/large"
	tar -C "$work/tree" -cf "$work/tree.tar" d large
	for i in gzip zstd; do
		mksquashfs "$work/tree" "$work/$i.squashfs" -comp "$i" -b 16384 -no-fragments \
			-noappend -no-progress -quiet || bail "no squashfs image"
	done
	"$python" "$fixtures/make-tree-h5" --encoding gzip-shuffle-fletcher "$work/tree" \
		"$work/tree.h5" || bail "no HDF5 file"
	for i in "${packed[@]}"; do
		"$granary" index "$work/$i" >/dev/null 2>&1 || bail "no index of $i"
	done
	list_files . >"$work/all"
	list_files . | grep -v "/$bad\$" >"$work/others"
}

# list_files DIRECTORY-OF-TREE: paths below the mount point
list_files() {
	(cd "$work/tree" && find "$1" -type f | LC_ALL=C sort)
}

# with_faults FAULTS COMMAND...
with_faults() {
	rm -f "$counts"
	GRANARY_FAULTS=$1 GRANARY_FAULTS_COUNTS=$counts "${@:2}"
}

# struck NUMBER: how often a fault has struck
struck() {
	od -A n -v -t u8 -w16 "$counts" | awk -v n="$1" 'NR == n { print $2 }'
}

# mount_faulty DESCRIPTION FAULTS SOURCE...
mount_faulty() {
	with_faults "$2" mount_ok "$1: mounted" -o "threads=$threads" "${@:3}" "$mnt"
}

# same DESCRIPTION LIST [ROOT]: the files of the mount have the bytes of the tree;
# read by four processes at once, within a minute.
same() {
	local root files wanted got
	for root in "${3:-$work/tree}" "$mnt"; do
		sed "s|^\.|$root|" "$2" >"$work/list"
		files=$(timeout 60 "$read_all" -c "$work/list" 1 4 2>"$work/read-errors")
		wanted=${got:-}
		got=${files% seconds*}
	done
	is "$got" "$wanted" "$1" || diag "$(head -n 5 "$work/read-errors")"
}

# find_bytes PACKED FILE: sets `at` and `length` to the first stored bytes of a file
find_bytes() {
	local log before
	GRANARY_FAULTS=kind=note mount_ok "$1: to see where $2 is" "$work/$1" "$mnt" || return
	log=${mount_log[$mnt]}
	before=$(grep -c '^note:' "$log")
	cat "$mnt/$2" >/dev/null
	read -r length at < <(grep '^note:' "$log" | tail -n +$((before + 1)) |
		sed -n '1s/^note: \([0-9]*\) bytes at \([0-9]*\) .*/\1 \2/p')
	umount_ok "$mnt"
	[ "${length:-0}" -gt 0 ]
	ok $? "$1: $2 is at byte $at"
}

log_lines() {
	grep -c "$1" "${mount_log[$mnt]}"
}

# The installed programs have no faults.
only_for_tests() {
	refuse "the programs that are shipped have no faults" \
		grep -q GRANARY_FAULTS "${shipped[@]}"
	check "the program for tests has them" grep -q GRANARY_FAULTS "$granaryfs"
	GRANARY_FAULTS=kind=never "$granaryfs" -V >/dev/null 2>&1
	is $? 99 "a fault that is not understood ends the program"
}

# Reads are counted: none may be made ahead.
for_a_moment() {
	mount_faulty "$1: now and then" \
		"kind=eio,from=5,every=3,count=8;kind=etimedout,from=6,every=4,count=3;kind=eintr,every=6;kind=zero,from=9,every=8,count=2" \
		-o prefetch=off "$work/$1" || return
	same "$1: reads that fail once are right" "$work/all"
	is "$(struck 1) $(struck 2) $(struck 4)" "8 3 2" "$1: they did fail"
	is "$(counter read_retries)" 13 "$1: each was tried again once"
	is "$(counter read_errors) $(log_lines 'cannot be read')" "0 0" "$1: and nobody saw it"
	umount_ok "$mnt"
}

in_small_pieces() {
	mount_faulty "$1: short reads" "kind=short,from=5,bytes=1000" "$work/$1" || return
	same "$1: short reads are put together" "$work/all"
	[ "$(struck 1)" -gt 100 ]
	ok $? "$1: there were many"
	is "$(counter read_retries)" 0 "$1: and that is not failing"
	umount_ok "$mnt"
}

# read_bad_all_the_time: until $work/go-on is gone; how often bytes came, and errors
read_bad_all_the_time() {
	local came=0 errors=0
	while [ -e "$work/go-on" ]; do
		if cat "$mnt/$bad" >/dev/null 2>&1; then
			came=$((came + 1))
		else
			errors=$((errors + 1))
		fi
	done
	echo "$came $errors"
}

# A sector that cannot be read any more.
for_good() {
	local at length place reader
	find_bytes "$1" "$bad" || return
	place=$((at + length / 2))
	mount_faulty "$1: a bad place" "kind=eio,offset=$place-$((place + 10))" "$work/$1" || return
	refuse "$1: it cannot be read" cat "$mnt/$bad"
	is "$(log_lines .)" 1 "$1: one line"
	is "$(sed 's/byte [0-9]* /byte N /' "${mount_log[$mnt]}")" \
		"granaryfs: $bad: byte N cannot be read ($work/$1 at byte $place): Input/output error" \
		"$1: which names file, shard, place and error"
	touch "$work/go-on"
	read_bad_all_the_time >"$work/reader" &
	reader=$!
	started+=("$reader")
	same "$1: all other files meanwhile" "$work/others"
	rm "$work/go-on"
	wait "$reader"
	grep -q '^0 [1-9]' "$work/reader"
	ok $? "$1: and it never could be read" || diag "$(cat "$work/reader")"
	[ "$(counter read_retries)" -ge 4 ]
	ok $? "$1: although it was tried again"
	umount_ok "$mnt"
}

# A read that does not come back before all others have.
late() {
	local at length reader
	find_bytes "$1" "$bad" || return
	mount_faulty "$1: late" "kind=late,offset=$at-$((at + length)),while=$work/late" \
		"$work/$1" || return
	touch "$work/late"
	cat "$mnt/$bad" >"$work/late-bytes" &
	reader=$!
	started+=("$reader")
	check "$1: one read waits" wait_until 20 is_struck 1
	same "$1: all other files meanwhile" "$work/others"
	check "$1: that one still waits" kill -0 "$reader"
	rm "$work/late"
	wait "$reader"
	is $? 0 "$1: then it is there"
	check "$1: with the right bytes" cmp "$work/tree/$bad" "$work/late-bytes"
	umount_ok "$mnt"
}

is_struck() {
	[ "$(struck "$1")" -gt 0 ]
}

# Chunks are compressed, or have a checksum: other bytes do not come through.
garbage() {
	local at length
	find_bytes "$1" "$bad" || return
	mount_faulty "$1: garbage" "kind=garbage,offset=$at-$((at + length)),while=$work/garbage" \
		"$work/$1" || return
	touch "$work/garbage"
	refuse "$1: a chunk of garbage cannot be read" cat "$mnt/$bad"
	is "$(sed 's/byte [0-9]* cannot/byte N cannot/' "${mount_log[$mnt]}")" \
		"granaryfs: $bad: byte N cannot be read ($work/$1 at byte $at): Bad message" \
		"$1: one line that says where"
	same "$1: all other files" "$work/others"
	rm "$work/garbage"
	same "$1: nothing of it was kept" "$work/all"
	umount_ok "$mnt"
}

stale() {
	local times
	rm -f "$work/stale"
	mount_faulty "$1: stale" "kind=stale,while=$work/stale" "$work/$1" || return
	touch "$work/stale"
	same "$1: a stale descriptor is replaced" "$work/all"
	is_struck 1
	ok $? "$1: it was stale"
	times=$(counter sources_reopened)
	[ "$times" -ge 1 ] && [ "$times" -le "$threads" ]
	ok $? "$1: the source was opened again" || diag "$times times"
	is "$(counter read_errors)" 0 "$1: and nobody saw it"
	umount_ok "$mnt"
}

# The daemon has left the directory that the path was given in.
stale_in_the_background() {
	local fault="kind=stale,while=$work/stale"
	rm -f "$work/stale"
	check "stale, a relative path: mounted" background_mount "$fault" tree.tar || return
	watch_mount "$mnt"
	touch "$work/stale"
	same "stale, a relative path: the file is found again" "$work/all"
	check "stale, a relative path: unmounted" leave_mount "$mnt"
	check "stale, a relative path: the daemon ends" wait_until 20 no_daemon "$mnt"
}

background_mount() (
	cd "$work" && with_faults "$1" "$granaryfs" "$2" "$mnt"
)

# Another file has the name by now, and the old one cannot be read.
stale_and_replaced() {
	cp "$work/tree.tar" "$work/moving.tar"
	rm -f "$work/stale"
	mount_faulty "stale and replaced" "kind=stale,while=$work/stale" -o index=off \
		"$work/moving.tar" || return
	cp "$work/moving.tar" "$work/new.tar"
	mv "$work/new.tar" "$work/moving.tar"
	touch "$work/stale"
	refuse "stale and replaced: no bytes of another file" cat "$mnt/$bad"
	is "$(grep -c 'moving.tar at byte .*: Stale file handle$' "${mount_log[$mnt]}")" 1 \
		"stale and replaced: the line says Stale file handle"
	is "$(counter sources_reopened)" 0 "stale and replaced: it was not taken"
	umount_ok "$mnt"
}

make_shards() {
	local name
	for name in one two; do
		mkdir -p "$work/shards/$name"
		cp -r "$work/tree/d" "$work/shards/$name/"
		tar -C "$work/shards" -cf "$work/$name.tar" "$name"
		list_files ./d | sed "s|^\./d|./$name/d|" >"$work/$name"
	done
}

# read_all_the_time LIST: until $work/go-on is gone, by as many as there are threads
read_all_the_time() {
	sed "s|^\.|$mnt|" "$1" >"$work/dead-list"
	while [ -e "$work/go-on" ]; do
		"$read_all" "$work/dead-list" 1 "$threads" >/dev/null 2>&1
	done
}

# One shard of two is gone for good, and more readers want it than there are threads.
dead_shard() {
	local reader tries
	make_shards
	rm -f "$work/dead"
	mount_faulty "a dead shard" "kind=eio,path=/two.tar,while=$work/dead" -o index=off \
		"$work/one.tar" "$work/two.tar" || return
	touch "$work/dead" "$work/go-on"
	read_all_the_time "$work/two" &
	reader=$!
	started+=("$reader")
	check "a dead shard: it is read" wait_until 20 is_struck 1
	same "a dead shard: every file of the other, within a minute" "$work/one" "$work/shards"
	rm "$work/go-on"
	wait "$reader"
	tries=$(counter read_retries)
	[ "$tries" -ge 4 ] && [ "$tries" -le $((threads * 4)) ]
	ok $? "a dead shard: each thread waits for it once at most" || diag "$tries retries"
	[ "$(counter read_errors)" -gt "$threads" ]
	ok $? "a dead shard: the errors come at once then"
	rm "$work/dead"
	same "a dead shard: it comes back" "$work/two" "$work/shards"
	umount_ok "$mnt"
}

# A large file: what is far from the bad bytes can be read, up to them and behind.
across_a_bad_place() {
	local at length place=500000 got
	find_bytes tree.tar large || return
	mount_faulty "a bad place in a large file" \
		"kind=eio,offset=$((at + place))-$((at + place + 10))" "$work/tree.tar" || return
	refuse "dd stops at it" dd if="$mnt/large" of="$work/dd" bs=64k status=none
	got=$(stat -c %s "$work/dd")
	[ "$got" -le "$place" ] && [ "$got" -ge $((place - 131072)) ]
	ok $? "having read what lies before" || diag "$got bytes"
	check "which is right" cmp -n "$got" "$work/tree/large" "$work/dd"
	check "each page is right or an error, and the pages far away are right" \
		"$python" - "$work/tree/large" "$mnt/large" "$place" <<-'END'
		import errno, os, sys
		right = open(sys.argv[1], "rb").read()
		fd = os.open(sys.argv[2], os.O_RDONLY)
		place = int(sys.argv[3])
		failed = []
		for at in range(0, len(right), 4096):
		    try:
		        assert os.pread(fd, 4096, at) == right[at:at + 4096], at
		    except OSError as error:
		        assert error.errno == errno.EIO, error
		        failed.append(at)
		assert place // 4096 * 4096 in failed, failed
		assert all(abs(at - place) < 131072 for at in failed), failed
		END
	umount_ok "$mnt"
}

# A row's length is checked by what lies before it in the file.
garbage_before_a_row() {
	local row at length
	"$python" -c 'import PIL' 2>/dev/null ||
		{ skip "Python's PIL is not installed" "rows of an HDF5 file"; return; }
	"$python" "$fixtures/make-image-tree" --classes 2 --images 6 "$work/images" ||
		bail "no images"
	"$python" "$fixtures/make-jsc-h5" --list "$work/rows" "$work/images" "$work/rows.h5" ||
		bail "no rows"
	"$granary" index "$work/rows.h5" >/dev/null 2>&1 || bail "no index of rows.h5"
	row=$("$granary" ls -R "$work/rows.h5" | grep '\.jpg$' | head -n 1)
	find_bytes rows.h5 "$row" || return
	mount_faulty "rows" "kind=eio,from=5,every=3,count=3;kind=garbage,offset=$((at - 16))-$at,while=$work/garbage" \
		"$work/rows.h5" || return
	touch "$work/garbage"
	refuse "rows: with garbage before it, it cannot be read" cat "$mnt/$row"
	rm "$work/garbage"
	check "rows: then all are right" "$python" "$fixtures/compare-samples" "$work/rows" "$mnt"
	is "$(struck 1)" 3 "rows: some reads failed once"
	umount_ok "$mnt"
}

# faulty_index FAULTS PACKED: makes $work/made.gidx; what it says is in $work/said
faulty_index() {
	rm -f "$work/made.gidx"
	with_faults "$1" timeout 60 "$abs_top_builddir/tests/bin/granary-faulty" index \
		-o "index=$work/made.gidx" "$work/$2" >/dev/null 2>"$work/said"
}

indexing() {
	check "$1: indexed without faults" \
		"$granary" index -o "index=$work/clean.gidx" "$work/$1"
	faulty_index "kind=eio,from=2,every=4,count=5;kind=zero,from=3,every=5,count=2;kind=short,every=2" "$1"
	is "$?$(cat "$work/said")" 0 "$1: an index is made through faults"
	is_struck 1 && is_struck 3
	ok $? "$1: there were some"
	check "$1: it is the same index" cmp "$work/clean.gidx" "$work/made.gidx"
	rm -f "$work/clean.gidx"
	faulty_index "kind=eio,from=3" "$1"
	is $? 2 "$1: storage that fails for good: the status"
	is "$(wc -l <"$work/said")" 1 "$1: one sentence" || diag "$(cat "$work/said")"
	grep -F "$work/$1" "$work/said" | grep -q -F "Input/output error"
	ok $? "$1: which names file and error" || diag "$(cat "$work/said")"
	is "$(find "$work" -name 'made.gidx*')" "" "$1: and no index"
}

# libsquashfuse reads by itself, where only strace can make it fail.
library_reads() {
	local n wrong=0 failed=0
	"$granary" index -o "index=$work/clean.gidx" "$work/gzip.squashfs" >/dev/null
	for n in 2 3 4 5 6 7 8; do
		rm -f "$work/made.gidx"
		if ! ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 strace -f -q -o "$work/trace" \
			-e inject=pread64:error=EIO:when="$n" -P "$work/gzip.squashfs" \
			"$granary" index -o "index=$work/made.gidx" "$work/gzip.squashfs" \
			>/dev/null 2>"$work/said" ||
			! cmp -s "$work/clean.gidx" "$work/made.gidx"; then
			wrong=$((wrong + 1))
			diag "read $n fails: $(cat "$work/said")"
		fi
		failed=$((failed + $(grep -c INJECTED "$work/trace")))
	done
	is "$wrong" 0 "squashfs: one read of the image fails while indexing, whichever it is"
	[ "$failed" -ge 7 ]
	ok $? "squashfs: each time one did" || diag "$failed"
}

# The sweep reads what nobody asks for: that says nothing, so that there is a line for
# whoever does ask.
damage_ahead() {
	mount_faulty "swept" "kind=eio,path=tree.tar,offset=100000-600000" \
		-o prefetch=sweep,cache=256M "$work/tree.tar" || return
	check "swept: what lies behind the damage is pushed" wait_until 20 all_but_damaged
	is "$(grep -c 'cannot be read' "${mount_log[$mnt]}")" 0 "swept: and says nothing"
	damaged=$(cd "$mnt/d" && for i in *; do cat "$i" >/dev/null 2>&1 || echo "$i"; done | head -n 1)
	is "$(grep -c "d/${damaged:-none}: .*cannot be read" "${mount_log[$mnt]}")" 1 \
		"swept: who reads what is damaged is told"
	check "swept: what is sound can" cmp "$work/tree/large" "$mnt/large"
	umount_ok "$mnt"
}

all_but_damaged() {
	[ "$(counter pushed_files)" -ge 7 ]
}

make_programs
make_sources
library_reads
only_for_tests
for name in "${packed[@]}"; do
	for_a_moment "$name"
	in_small_pieces "$name"
	for_good "$name"
	late "$name"
	[ "$name" = tree.tar ] || garbage "$name" # a tar has no checksums of contents
	stale "$name"
	indexing "$name"
done
stale_in_the_background
stale_and_replaced
dead_shard
across_a_bad_place
garbage_before_a_row
damage_ahead
finish
