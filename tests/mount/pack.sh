#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary pack: what it writes is read by others and compared with the source, and nothing
# half-made ever has the final name.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/pack_lib.sh
. "$abs_top_srcdir/tests/mount/pack_lib.sh"
need_built squashfs deflate zstd
need_fuse
need tar sha256sum script timeout
need_python tarfile

round_trip() {
	"$fixtures/make-odd-tree" --xattrs "$work/odd" || bail "no tree"
	check "the odd tree is packed" pack "$work/odd" "$work/odd.tar"
	check "with an index beside it" test -s "$work/odd.tar.gidx"
	check "which has checksums" "$granary" index --check --checksums "$work/odd.tar"
	check "granary verify --against: what was packed" \
		"$granary" verify --against "$work/odd" "$work/odd.tar"

	mkdir "$work/gnu"
	tar --xattrs -xpf "$work/odd.tar" -C "$work/gnu" 2>/dev/null
	check "GNU tar reads it: bytes, modes, times, links, xattrs" \
		compare --xattrs --ignore-special "$work/odd" "$work/gnu"
	check "Python's tarfile reads it" "$python" "$here/tests/mount/read_tar.py" \
		"$work/odd.tar" "$work/odd"
	# of a mount nothing is executed as another user, and directories are not sticky
	mount_ok "it is mounted" "$work/odd.tar" "$mnt"
	check "the mount is the source" compare --xattrs --ignore-special --mode-mask 0777 \
		"$work/odd" "$mnt"
	check "diff -r has nothing to say" diff -r --no-dereference -x special "$work/odd" "$mnt"
	umount_ok "$mnt"
}

same_bytes() {
	local threads wanted
	wanted=$(sha256sum <"$work/odd.tar")
	for threads in 1 2 13; do
		pack --no-index --threads "$threads" "$work/odd" "$work/again.tar" 2>/dev/null
		is "$(sha256sum <"$work/again.tar")" "$wanted" "the same bytes: $threads threads"
		rm "$work/again.tar"
	done
	# copied in another order, to another place, in another language
	mkdir "$work/copy"
	(cd "$work/odd" && find . -depth ! -type p -print0 | LC_ALL=C sort -zr |
		tar --format=pax --xattrs --no-recursion --null -T - -cf -) |
		tar --xattrs --warning=no-timestamp -xpf - -C "$work/copy"
	compare --xattrs --ignore-special "$work/odd" "$work/copy" >/dev/null || bail "no copy"
	LC_ALL=C pack --no-index "$work/copy" "$work/again.tar" 2>/dev/null
	is "$(sha256sum <"$work/again.tar")" "$wanted" "the same bytes of a copy"
	rm "$work/again.tar"
}

epoch() {
	local when=1200000000
	SOURCE_DATE_EPOCH=$when pack --no-index "$work/odd" "$work/epoch.tar" 2>/dev/null
	"$python" - "$work/odd.tar" "$work/epoch.tar" "$when" <<-'END'
		import sys, tarfile
		free, clamped = (tarfile.open(name).getmembers() for name in sys.argv[1:3])
		when = int(sys.argv[3])
		assert [m.name for m in free] == [m.name for m in clamped]
		assert any(m.mtime > when for m in free)
		for a, b in zip(free, clamped):
		    assert b.mtime == (a.mtime if a.mtime < when else when), (a.name, b.mtime)
	END
	ok $? "SOURCE_DATE_EPOCH: no time is later, earlier ones stay"
	refused 1 "SOURCE_DATE_EPOCH" "one that is no number" \
		env SOURCE_DATE_EPOCH=today "$granary" pack "$work/odd" "$work/no.tar"
}

# Times before 1970, with and without a fraction: as whoever else reads tars has them.
before_1970() {
	local when
	mkdir -p "$work/old" "$work/unpacked"
	for when in -100.25 -1.5 -2 -1.000000001 -0.25 -1234567890.123456789 7.5; do
		touch -d "@$when" "$work/old/$when"
	done
	touch -d "@1000" "$work/old"
	pack --no-index "$work/old" "$work/old.tar"
	tar --warning=no-timestamp -xf "$work/old.tar" -C "$work/unpacked"
	"$granary" extract -q -o index=off "$work/old.tar" "$work/extracted"
	"$python" - "$work" <<-'END'
		import os, sys, tarfile
		for member in tarfile.open(sys.argv[1] + "/old.tar"):
		    if not member.isreg():
		        continue
		    name = os.path.basename(member.name)
		    is_ = [os.stat("%s/%s/%s" % (sys.argv[1], place, name)).st_mtime_ns
		           for place in ("old", "unpacked", "extracted")]
		    # there is no "-0.25" in what libarchive writes: the whole second
		    wanted = is_[0] if name != "-0.25" else -10 ** 9
		    assert is_[1:] == [wanted, wanted], (name, is_)
		    assert abs(member.mtime - wanted / 1e9) < 1e-6, (name, member.mtime)
	END
	ok $? "times before 1970: GNU tar, Python and granary read what was packed"
	pack --no-index "$work/old" "$work/old.sqfs" 2>"$work/said"
	is "$(grep -c "no times before 1970 or after 2106.* 6 entries" "$work/said")" 1 \
		"a squashfs image: that it cannot have them is said, once"
}

# Paths longer than the kernel takes in one piece.
deep() {
	mkdir "$work/deep"
	(
		cd "$work/deep" || exit
		for _ in {1..30}; do
			mkdir "$(printf 'd%.0s' {1..200})" && cd ./d*/ || exit
		done
		echo "far down" >bottom
		ln -s bottom link
	)
	check "paths of 6,000 bytes are packed" pack "$work/deep" "$work/deep.tar"
	check "and read" "$python" -c '
import sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    bottom, link = archive.getmembers()[-2:]
    assert len(bottom.name) == 30 * 201 + 6, len(bottom.name)
    assert archive.extractfile(bottom).read() == b"far down\n"
    assert link.linkname == "bottom", link.linkname' "$work/deep.tar"
}

small_tree() {
	mkdir -p "$work/small/a/b"
	echo one >"$work/small/a/one"
	echo two >"$work/small/a/b/two"
	ln "$work/small/a/one" "$work/small/b-link"
	head -c 3000000 /dev/urandom >"$work/small/large"
}

existing() {
	mkdir "$work/place"
	echo mine >"$work/place/x.tar"
	refused 2 "--force" "a file that is there" pack "$work/small" "$work/place/x.tar"
	is "$(cat "$work/place/x.tar")" mine "it is still there"
	check "--force replaces it" pack --force "$work/small" "$work/place/x.tar"
	check "a tar is there now" tar -tf "$work/place/x.tar"
	mkdir "$work/place/directory.tar"
	refused 1 "directory" "a directory of that name" pack --force "$work/small" "$work/place/directory.tar"
	refused 1 "known" "a name that says nothing" pack "$work/small" "$work/place/x.zip"
	refused 1 "pattern" "shards of one file" pack --shards 3 "$work/small" "$work/place/y.tar"
	refused 1 "says how it is compressed" "a compressed tar that is not called so" \
		pack --compress zstd "$work/small" "$work/place/y.tar"
	refused 2 "name the directory" "a source that is not there" \
		pack "$work/nothing" "$work/place/y.tar"
	refused 2 "make it first" "a place that is not there" \
		pack "$work/small" "$work/nowhere/y.tar"
	refused 1 "--shuffle" "a seed that is none" \
		pack --shuffle=-1 "$work/small" "$work/place/y.tar"
	is "$(names_in "$work/place")" "directory.tar x.tar x.tar.gidx " "nothing else was made"
}

within_itself() {
	cp -a "$work/small" "$work/self"
	(cd "$work/self" && pack . x.tar) || bail "not packed"
	touch "$work/self/.x.tar.part"
	(cd "$work/self" && pack --force . x.tar)
	ok $? "into the directory that is packed, twice"
	is "$(tar -tf "$work/self/x.tar" | sort | tr '\n' ' ')" \
		"./ a/ a/b/ a/b/two a/one b-link large " "it does not pack itself"
}

json() {
	"$granary" pack --quiet --json "$work/small" "$work/json.tar" | "$python" -c '
import json, os, sys
said = json.load(sys.stdin)
assert said["complete"] and said["indexed"], said
assert (said["files"], said["hardlinks"], said["directories"]) == (3, 1, 3), said
assert said["content_bytes"] == 3000000 + 4 + 4, said
assert [s["path"] for s in said["packed"]] == [sys.argv[1]], said
assert said["packed"][0]["bytes"] == os.stat(sys.argv[1]).st_size, said
assert said["problems"] == [], said' "$work/json.tar"
	ok $? "--json: what was packed"
	is "$("$granary" pack "$work/small" "$work/plain.tar" 2>&1)" \
		"$work/plain.tar: 3 files packed, 2.9 MiB" "a line for people"
	script -qec "$granary pack --force $work/odd $work/plain.tar" /dev/null >"$work/out"
	is "$?" 0 "on a terminal"
}

# A file that cannot be read ends the run, or is left out.
unreadable() {
	local where=$work/unreadable
	mkdir -p "$where/out"
	chmod 777 "$where/out"
	cp -a "$work/small" "$where/in"
	chmod 755 "$where" "$where/in"
	chmod 000 "$where/in/a/one"
	mkdir -m 000 "$where/in/closed"
	refused 2 "--keep-going" "files that cannot be read" \
		as_nobody granary pack --quiet "$where/in" "$where/out/x.tar"
	is "$(names_in "$where/out")" "" "nothing is left"
	as_nobody granary pack --quiet --json --keep-going "$where/in" "$where/out/x.tar" \
		>"$work/out" 2>"$work/said"
	is "$?" 7 "--keep-going: the status says that something is missing"
	is "$("$python" -c 'import json, sys
print(" ".join(p["path"] for p in json.load(sys.stdin)["problems"]))' <"$work/out")" \
		"a/one b-link closed" "each is reported, other names of a file too"
	is "$(tar -tf "$where/out/x.tar" | tr '\n' ' ')" \
		"./ a/ a/b/ a/b/two closed/ large " "the rest is packed"
}

# has_grown FILE BYTES: it has more.
has_grown() {
	[ "$(stat -c %s "$1")" -gt "$2" ]
}

# A file that changes between the listing and its reading: a FIFO as a stop would not be
# read, so it is one that grows all the time.
changing() {
	local where=$work/changing grower
	mkdir -p "$where/in" "$where/out"
	# long enough for the other process to have its turn
	truncate -s 200000000 "$where/in/log"
	(while :; do echo line >>"$where/in/log"; done) &
	grower=$!
	started+=("$grower")
	wait_until 20 has_grown "$where/in/log" 200000000
	refused 2 "changed while it was packed" "a file that changes" \
		pack "$where/in" "$where/out/x.tar"
	is "$(names_in "$where/out")" "" "nothing is left of it"
	pack --keep-going "$where/in" "$where/out/x.tar" 2>"$work/said"
	is "$?" 7 "with --keep-going the status says so"
	check "and the file is named" grep -q "log: changed" "$work/said"
	check "what was packed is a sound tar" tar -tf "$where/out/x.tar"
	kill "$grower"
	wait "$grower" 2>/dev/null
}

# A file that comes when its directory has been listed. A FIFO in the place of a file that was
# listed would not be waited for: so it is a large one that takes its time.
added() {
	local where=$work/added pid
	mkdir -p "$where/in/sub" "$where/out"
	head -c 300000000 /dev/zero >"$where/in/large"
	"$granary" pack --quiet --no-index "$where/in" "$where/out/x.tar" 2>"$work/said" &
	pid=$!
	while kill -0 "$pid" 2>/dev/null && [ ! -s "$where/out/.x.tar.part" ]; do :; done
	echo late >"$where/in/sub/late"
	wait "$pid"
	is "$?" 2 "a file that came too late: status"
	check "a file that came too late: where" grep -q "have changed since they were listed" "$work/said"
	is "$(names_in "$where/out")" "" "a file that came too late: nothing is left"
	check "the second time it is there" pack "$where/in" "$where/out/x.tar"
	rm -r "$where"
}

# killed SIGNAL: at many moments. What has the name is complete; what was interrupted by a
# signal that can be caught leaves nothing.
killed() {
	local signal=$1 where=$memory/killed-$1 wanted i complete=0 ended=0
	local begin pace
	mkdir -p "$where"
	wanted=$(sha256sum <"$work/whole.tar")
	# up to as long as it takes, so that all moments have their turn
	begin=${EPOCHREALTIME/./}
	pack --no-index "$work/odd" "$where/x.tar" 2>/dev/null
	pace=$(((${EPOCHREALTIME/./} - begin) / 1000 + 1))
	rm "$where/x.tar"
	for ((i = 0; i < 25 || (ended < 5 && i < 150); i++)); do
		# not by kill: this shell's own traps are still those of a child that is not
		# granary yet
		{ timeout -s "$signal" "0.$(printf %03d $((RANDOM % pace + 1)))" "$granary" pack \
			--quiet --no-index "$work/odd" "$where/x.tar"; } 2>/dev/null ||
			ended=$((ended + 1))
		if [ "$signal" != KILL ] && [ -e "$where/.x.tar.part" ]; then
			ok 1 "$signal: something is left"
			return
		fi
		[ -e "$where/x.tar" ] || continue
		[ "$(sha256sum <"$where/x.tar")" = "$wanted" ] || {
			ok 1 "$signal: a file that is not complete has the name"
			return
		}
		complete=$((complete + 1))
		rm "$where/x.tar"
	done
	diag "$signal: $ended ended early, $complete were complete"
	at_least "$ended" 5 "$signal: some were ended early, and left nothing with that name"
	pack --no-index "$work/odd" "$where/x.tar" 2>/dev/null
	is "$(sha256sum <"$where/x.tar")" "$wanted" "$signal: the next one is complete"
	is "$(names_in "$where")" "x.tar " "$signal: and there is nothing else"
}

kills() {
	# in memory, where nothing waits for a disk
	memory_directory
	pack --no-index "$work/odd" "$work/whole.tar" 2>/dev/null || bail "not packed"
	killed KILL
	killed TERM
	killed HUP
}

full() {
	is_root || { skip "only root can make a small filesystem" "a full filesystem"; return; }
	mkdir "$work/full"
	mount -t tmpfs -o size=2m none "$work/full" || bail "no tmpfs"
	at_exit umount "$work/full"
	refused 2 "no space left" "a full filesystem" pack "$work/small" "$work/full/x.tar"
	check "it says what to do" grep -q "another filesystem" "$work/said"
	is "$(names_in "$work/full")" "" "nothing is left of it"
	echo old >"$work/full/x.tar"
	refused 2 "no space left" "with --force" pack --force "$work/small" "$work/full/x.tar"
	is "$(cat "$work/full/x.tar")" old "what was there is there still"
	refused 2 "larger than a file may be" "a limit on files" \
		bash -c "ulimit -f 1000; exec '$granary' pack --quiet '$work/small' '$work/limit.tar'"
	check "nothing is left of that either" test ! -e "$work/.limit.tar.part"
}

# Somebody puts a link in the place of what was packed before its index is made.
swapped() {
	local status
	command -v strace >/dev/null || { skip "no strace" "swapped"; return; }
	mkdir "$work/swap" "$work/theirs"
	pack --no-index "$work/small" "$work/theirs/x.tar" 2>/dev/null || bail "not packed"
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 timeout -k 5 60 strace -f -qq -o /dev/null \
		-e trace=renameat2 -e inject=renameat2:delay_exit=1000000:when=1 \
		"$granary" pack "$work/small" "$work/swap/out.tar" >"$work/said" 2>&1 &
	wait_until 30 test -e "$work/swap/out.tar"
	mv "$work/swap/out.tar" "$work/swap/old"
	ln -s ../theirs/x.tar "$work/swap/out.tar"
	wait "$!"
	status=$?
	is "$status" 2 "a link in the place of what was packed: status"
	grep -q "it is no longer the file that was packed" "$work/said"
	ok $? "a link in the place of what was packed: that is said" || diag "$(cat "$work/said")"
	is "$(names_in "$work/theirs")" "x.tar " "nothing is made where it leads"
}

# Two at once: one of them makes it.
together() {
	local one other
	pack --no-index "$work/odd" "$work/two.tar" 2>/dev/null &
	one=$!
	pack --no-index "$work/odd" "$work/two.tar" 2>/dev/null &
	other=$!
	wait "$one"
	one=$?
	wait "$other"
	other=$?
	check "of two at least one made it" test "$one" -eq 0 -o "$other" -eq 0
	is "$(sha256sum <"$work/two.tar")" "$(sha256sum <"$work/whole.tar")" "and it is complete"
}

round_trip
same_bytes
epoch
before_1970
deep
small_tree
existing
within_itself
json
unreadable
changing
added
kills
full
swapped
together
finish
