#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Checksums in the index: how they get there, and what a mount does with them.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/flip_lib.sh
. "$abs_top_srcdir/tests/mount/flip_lib.sh"
need_built squashfs deflate zstd
need_fuse
need tar mksquashfs cmp dd
need_python json

make_sources() {
	mkdir -p "$work/tree/d"
	for n in 01 02 03 04 05 06 07 08 09 10; do
		seq "${n}00000" "${n}09999" >"$work/tree/d/$n"
	done
	seq 1000000 1400000 >"$work/tree/mid"   # 3.2 MB: of several blocks
	seq 1000000 1700000 >"$work/tree/large" # 5.6 MB: more than was compared before blocks were
	: >"$work/tree/empty"
	ln "$work/tree/d/01" "$work/tree/d/again"
	cp -al "$work/tree" "$work/small" && rm "$work/small/large"
	tar -C "$work/tree" --sort=name -cf "$work/t.tar" .
	tar -C "$work/tree" --sort=name -cf "$work/sparse.tar" -S .
	mksquashfs "$work/small" "$work/z.squashfs" -comp gzip -noappend -no-progress \
		-quiet || bail "no squashfs image"
	cd "$work" || bail "no directory"
}

# said DESCRIPTION TEXT: what was written to $work/said
said() {
	grep -qF -- "$2" "$work/said"
	ok $? "$1" || diag "$(cat "$work/said")"
}

an_index_gets_them() {
	granary index t.tar >"$work/said" 2>&1
	refuse "an index without: --check --checksums says no" granary index --check --checksums t.tar
	granary index --check t.tar >"$work/said"
	said "--check says that there are none" "is sound, without checksums"
	cp t.tar.gidx without.gidx
	granary index --checksums t.tar >"$work/said" 2>&1
	said "--checksums adds them" ", with checksums"
	granary index --check t.tar >"$work/said"
	said "--check says that they are there" "is sound, with checksums"
	is "$(granary index --check --json t.tar | "$python" -c '
import json, sys
print(json.load(sys.stdin)["checksums"])')" True "--check --json, too"
	granary info t.tar >"$work/said"
	said "info says it as well" "B, with checksums)"
	cp -p t.tar.gidx with.gidx
	granary index --checksums t.tar >"$work/said" 2>&1
	said "a second time there is nothing to do" "is up to date"
	granary index t.tar >"$work/said" 2>&1
	said "nor without --checksums: they stay" "is up to date: 13 files"
	# extended or made at once, it is the same
	granary index --force --checksums t.tar >"$work/said" 2>&1
	check "made anew it is the same, byte for byte" cmp t.tar.gidx with.gidx
	granary index --force t.tar >"$work/said" 2>&1
	check "without them it is what it was before" cmp t.tar.gidx without.gidx
	cp -p with.gidx t.tar.gidx
	# 8 bytes a name, 8 for up to 64 of them, 8 a block of the two large ones
	mid=$(blocks mid) large=$(blocks large)
	is "$(($(stat -c %s with.gidx) - $(stat -c %s without.gidx)))" \
		$(((16 + 1 + mid + large) * 8)) "8 bytes a name and a block"
}

# blocks FILE: of 128 KiB
blocks() {
	echo $((($(stat -c %s "$work/tree/$1") - 1) / 131072 + 1))
}

# As version 0.1 made them: of files, and none of blocks.
an_older_index_gets_those_of_blocks() {
	cp -p t.tar.gidx with.gidx
	check "older: made" "$abs_top_builddir/tests/bin/forge-index" --as-0.1 t.tar.gidx
	granary index --check t.tar >"$work/said" 2>&1
	said "older: it is read" "is sound, with checksums"
	refuse "older: --check --checksums says no" granary index --check --checksums t.tar
	granary info t.tar >"$work/said"
	said "older: info says what it lacks" \
		"files of more than 4 MiB are not compared with their checksums when they are read"
	mount_ok "older: mounted" -o "index=require,log=$work/older.log" t.tar "$mnt"
	same_but "older" ""
	is "$(sed -n 's/^checksums=//p' "$mnt/.granaryfs/config")" files "older: the mount knows it"
	umount_ok "$mnt"
	cp "$work/older.log" "$work/said"
	said "older: its log says so, and the remedy" "granary index --checksums adds them"
	# what has rotted since is not made right by that
	flip t.tar $(($(place t.tar ./mid) + 5))
	granary index --checksums t.tar >"$work/said" 2>&1
	is "$?" 6 "older: a file that has rotted gets no new checksums"
	said "older: which" "mid: checksum mismatch (t.tar at byte"
	flip t.tar $(($(place t.tar ./mid) + 5))
	granary index --checksums t.tar >"$work/said" 2>&1
	said "older: --checksums adds those of blocks" ", with checksums"
	check "older: it is what it is when it is made anew" cmp t.tar.gidx with.gidx
}

# Where the directory cannot be written, the user's own has them; the other is passed over.
the_better_one_is_taken() {
	mkdir -p beside/t.tar.gidx
	cp -p t.tar beside/t.tar
	granary index --checksums beside/t.tar >"$work/said" 2>&1
	said "an index in the user's own place" "$XDG_CACHE_HOME/granaryfs/"
	said "an index in the user's own place: why" "in this user's cache, for beside the packed file it cannot be: "
	rmdir beside/t.tar.gidx
	cp -p without.gidx beside/t.tar.gidx
	granary index --check beside/t.tar >"$work/said" 2>&1
	said "is taken, for it has checksums" "$XDG_CACHE_HOME/granaryfs/"
	cp -p with.gidx beside/t.tar.gidx
	"$abs_top_builddir/tests/bin/forge-index" --as-0.1 beside/t.tar.gidx
	granary index --check beside/t.tar >"$work/said" 2>&1
	said "and for it has those of blocks" "$XDG_CACHE_HOME/granaryfs/"
	cp -p without.gidx beside/t.tar.gidx
	rm -r "$XDG_CACHE_HOME/granaryfs"
	granary index --check beside/t.tar >"$work/said" 2>&1
	said "and without it the other" "beside/t.tar.gidx is sound, without"
}

same_but() {
	(cd "$work/tree" && find . -type f | LC_ALL=C sort) | while read -r file; do
		case " $2 " in
		*" ${file#./} "*) continue ;;
		esac
		cmp -s "$work/tree/$file" "$mnt/$file" || echo "$file"
	done >"$work/differ"
	is "$(cat "$work/differ")" "" "$1: all other files are right"
}

# counter NAME
counter() {
	awk -v name="$1" '$1 == name { print $2 }' "$mnt/.granaryfs/stats"
}

# Damage in three files: one that is read at once, one in parts, one that is too large.
a_mount_gives_none_of_it() {
	local small mid large at log=$work/mount.log
	small=$(place t.tar ./d/05) mid=$(place t.tar ./mid) large=$(place t.tar ./large)
	mount_ok "sound: mounted" -o "index=require,log=$log" t.tar "$mnt"
	same_but "sound" ""
	is "$(counter checksum_errors)" 0 "sound: no mismatch"
	at_least "$(counter files_checked)" 11 "sound: all are compared"
	umount_ok "$mnt"
	flip t.tar $((small + 60000))
	flip t.tar $((mid + 3000000))
	flip t.tar $((large + 3))
	mount_ok "flipped: mounted, with the same index" -o "index=require,log=$log" t.tar "$mnt"
	refuse "flipped: a small file is an error" cat "$mnt/d/05"
	refuse "flipped: so is its beginning" head -c 10 "$mnt/d/05"
	refuse "flipped: so is a part of a larger one" cat "$mnt/mid"
	refuse "flipped: and the beginning of a large one" head -c 10 "$mnt/large"
	at=$((3000000 / 131072 * 131072))
	check "flipped: up to the block that is damaged it is right" \
		cmp -n "$at" "$mnt/mid" "$work/tree/mid"
	check "flipped: and behind it" cmp -i 131072 "$mnt/large" "$work/tree/large"
	same_but "flipped" "d/05 mid large"
	at_least "$(counter checksum_errors)" 3 "flipped: they are counted"
	cp "$log" "$work/said"
	said "flipped: the log names path, file and byte" \
		"d/05: damaged: its checksum is not what it was when it was indexed (t.tar at byte $small)"
	said "flipped: and the block" \
		"mid: damaged: its checksum is not what it was when it was indexed (t.tar at byte $((mid + at)))"
	granary verify t.tar >"$work/said" 2>&1
	said "flipped: so does verify" "mid: damaged: its checksum is not what it was when it was indexed (t.tar at byte $((mid + at)))"
	is "$(grep -c "d/05: damaged" "$log")" 1 "flipped: in one line"
	umount_ok "$mnt"
}

# For whom the checksums are wrong, and not the files.
it_can_be_turned_off() {
	mount_ok "off: mounted" -o "index=require,checksums=off,log=$work/off.log" t.tar "$mnt"
	is "$(sed -n 's/^checksums=//p' "$mnt/.granaryfs/config")" off "off: the mount says so"
	check "off: what is stored is shown" test "$(wc -c <"$mnt/mid")" = "$(wc -c <tree/mid)"
	refuse "off: as it is" cmp -s "$mnt/mid" tree/mid
	is "$(counter blocks_checked)" 0 "off: nothing is compared"
	umount_ok "$mnt"
	cp "$work/off.log" "$work/said"
	said "off: so does its log" "what is read is not compared with the checksums of the index"
	refuse "off: cat: is right without it" granary cat t.tar mid
	check "off: cat" granary cat -o checksums=off t.tar mid
	refuse "off: a wrong word" "$granaryfs" -o checksums=no t.tar "$mnt"
}

# Bytes that are read ahead and pushed are compared as well.
a_push_gives_none_of_it() {
	mount_ok "pushed: mounted" -o "index=require,prefetch=sweep" t.tar "$mnt"
	check "pushed: all is swept" timeout 60 granary wait --warm 100 "$mnt"
	refuse "pushed: the small file is an error" cat "$mnt/d/05"
	refuse "pushed: so is the middle one" cat "$mnt/mid"
	refuse "pushed: so is the large one" cat "$mnt/large"
	same_but "pushed" "d/05 mid large"
	at_least "$(counter pushed_files)" 8 "pushed: the others were"
	umount_ok "$mnt"
	flip t.tar $(($(place t.tar ./d/05) + 60000))
	flip t.tar $(($(place t.tar ./mid) + 3000000))
	flip t.tar $(($(place t.tar ./large) + 3))
}

# Decoded contents are compared, too; here there is nothing to find.
compressed() {
	check "squashfs: indexed with checksums" granary index --checksums z.squashfs
	mount_ok "squashfs: mounted" -o "index=require,prefetch=sweep" z.squashfs "$mnt"
	check "squashfs: all is swept" timeout 60 granary wait --warm 100 "$mnt"
	same_but "squashfs" large
	is "$(counter checksum_errors)" 0 "squashfs: no mismatch"
	at_least "$(counter files_checked)" 11 "squashfs: all are compared"
	umount_ok "$mnt"
}

# head_of NAME: a tar whose first file is in what an index knows its packed file by
head_of() {
	mkdir -p head/a && seq 1 300 >head/a/00 && cp tree/d/* head/a
	tar -C head --sort=name -cf "$1" a
	granary index --checksums "$1" >/dev/null 2>&1
	cp -p "$1.gidx" head.gidx
}

# kept DESCRIPTION TAR: the index with checksums is the one that was made
kept() {
	check "$1: the checksums are still there" cmp "$2.gidx" head.gidx
}

# Size and time are what they were: nobody has changed it on purpose.
a_flipped_head_is_damage() {
	local at command status words
	head_of h.tar
	at=$(place h.tar a/00)
	flip h.tar "$((at + 20))"
	for command in "granary ls" "granary info" "granary index" "granary index --checksums"; do
		read -ra words <<<"$command"
		timeout 60 "${words[@]}" h.tar >"$work/said" 2>&1
		status=$?
		is "$status" 6 "a flipped head: $command: status"
		said "a flipped head: $command: the sentence" "'h.tar' is damaged: its first or last bytes"
		kept "a flipped head: $command" h.tar
	done
	timeout 60 "$granaryfs" h.tar "$mnt" >"$work/said" 2>&1
	status=$?
	is "$status" 6 "a flipped head: no mount" || force_umount "$mnt"
	said "a flipped head: the remedy" "granary index --force --checksums"
	kept "a flipped head: the mount" h.tar
	granary verify h.tar >"$work/said" 2>&1
	is "$?" 6 "a flipped head: verify"
	said "a flipped head: verify names the file" "a/00: damaged: its checksum is not"
	said "a flipped head: and the packed file" "h.tar: its first or last bytes are not what they were"
	check "a flipped head: index=off shows what is there" granary ls -o index=off h.tar
	# another index that fits, and knows nothing of it, is no excuse
	mkdir -p "$XDG_CACHE_HOME/granaryfs"
	granary index --force --checksums h.tar >"$work/said" 2>&1
	is "$?" 0 "a flipped head: on purpose"
	check "a flipped head: on purpose: it fits" granary index --check --checksums h.tar
	granary index --force h.tar >"$work/said" 2>&1
	said "--force alone: that they go is said" "h.tar.gidx: its checksums of the files are gone"
	granary index --force h.tar >"$work/said" 2>&1
	refuse "--force once more: nothing is lost, nothing said" grep -q gone "$work/said"
}

# Only its last bytes: the zeros at the end of a tar, of which no file tells.
a_flipped_end_is_damage() {
	head_of e.tar
	flip e.tar $(($(stat -c %s e.tar) - 5))
	granary verify e.tar >"$work/said" 2>&1
	is "$?" 6 "a flipped end: verify"
	granary cat e.tar a/00 >"$work/said" 2>&1
	is "$?" 6 "a flipped end: cat"
	kept "a flipped end" e.tar
}

# Somebody has written, or copied without times: checksums still tell which of both.
what_is_lost_is_said() {
	local cache=$XDG_CACHE_HOME/granaryfs
	head_of c.tar
	flip c.tar $(($(place c.tar a/03) + 12))
	touch -d 2001-01-01 c.tar
	rm -rf "$cache"
	granary ls c.tar 2>"$work/said" >/dev/null
	said "a changed file: its checksums do not fit" "granary index --checksums 'c.tar' makes them anew"
	kept "a changed file" c.tar
	is "$(find "$cache" -name 'c.tar*.gidx' | wc -l)" 1 "a changed file: its index is elsewhere"
	mount_ok "a changed file: mounted" -o index=require c.tar "$mnt"
	umount_ok "$mnt"
	kept "a changed file: mounted" c.tar
	granary verify c.tar >"$work/said" 2>&1
	is "$?" 6 "a changed file: verify still knows what it was"
	said "a changed file: verify: which" "a/03: damaged: its checksum is not"
	granary ls -o index=c.tar.gidx c.tar >"$work/said" 2>&1
	is "$?" 3 "a changed file, a named index: refused"
	said "a changed file, a named index: why" "c.tar.gidx: it has checksums, does not fit the packed files as they are"
	kept "a changed file, a named index" c.tar
	rm -rf "$cache"
	granary index c.tar >"$work/said" 2>&1
	is "$?" 0 "a changed file: indexed anew"
	said "a changed file: indexed anew, with checksums" ", with checksums"
	said "a changed file: and that is said" "they are made anew, of what is there now"
	check "a changed file: they are there" granary index --check --checksums c.tar
}

# A part of a set has an index of its own, which has none.
a_part_of_a_set() {
	mkdir -p set/x set/y && echo x >set/x/x && echo y >set/y/y
	tar -C set -cf set/s-0.tar x && tar -C set -cf set/s-1.tar y
	granary index --checksums 'set/s-{0..1}.tar' >/dev/null
	granary ls set/s-0.tar >/dev/null 2>"$work/said"
	said "a shard of a set: that there are no checksums" "the index that is made of 'set/s-0.tar' has no checksums"
	said "a shard of a set: where there are" "set/s-0.tar+1-"
	granary ls set/s-0.tar >/dev/null 2>"$work/said"
	is "$(cat "$work/said")" "" "a shard of a set: it is said once"
	mv set/s-0.tar set/gone
	timeout 60 "$granaryfs" -o missing=skip 'set/s-{0..1}.tar' "$mnt" 2>"$work/said"
	said "missing=skip: that there are no checksums" "the index that is made of 'set/s-1.tar' has no checksums"
	umount_ok "$mnt"
}

# There can be no checksums of what cannot be read.
not_of_what_is_damaged() {
	local status
	cp z.squashfs bad.squashfs
	granary index bad.squashfs >/dev/null 2>&1
	for n in 500 501 502 503; do flip bad.squashfs "$n"; done
	granary index --checksums bad.squashfs >"$work/said" 2>&1
	status=$?
	is "$status" 6 "a damaged file: status" || diag "$(cat "$work/said")"
	said "a damaged file: where" "(bad.squashfs at byte "
	refuse "a damaged file: no checksums are left behind" \
		granary index --check --checksums bad.squashfs
	is "$(find . -name 'bad.squashfs.*' | LC_ALL=C sort)" ./bad.squashfs.gidx \
		"a damaged file: nothing else is left behind"
}

make_sources
an_index_gets_them
an_older_index_gets_those_of_blocks
the_better_one_is_taken
a_mount_gives_none_of_it
it_can_be_turned_off
a_push_gives_none_of_it
compressed
a_flipped_head_is_damage
a_flipped_end_is_damage
what_is_lost_is_said
a_part_of_a_set
not_of_what_is_damaged
finish
