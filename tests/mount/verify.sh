#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary verify: what is sound, what is not, and what else it is compared with. And
# what a mount says of the same: each gets the sentence that its user needs.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/mount/flip_lib.sh
. "$abs_top_srcdir/tests/mount/flip_lib.sh"
need_built squashfs deflate zstd nettle
need_fuse
need tar mksquashfs dd sha256sum
need_python json
usage=1 system=2 dataset=3 damaged=6

make_sources() {
	local n i
	for n in 0 1 2 3; do
		mkdir -p "$work/tree/c$n"
		for i in 0 1 2; do
			seq "$n${i}000" "$n${i}4000" >"$work/tree/c$n/f$i"
		done
		tar -C "$work/tree" --sort=name -cf "$work/s-$n.tar" "c$n"
	done
	cd "$work" || bail "no directory"
	mkdir good
	cp -p s-?.tar good
}

# verifies STATUS DESCRIPTION ARGUMENT...: out and err are in $work.
verifies() {
	local wanted=$1 description=$2
	shift 2
	timeout 60 granary verify "$@" >"$work/out" 2>"$work/err" </dev/null
	is "$?" "$wanted" "$description: status" || diag "$(cat "$work/out" "$work/err")"
}

# says DESCRIPTION LINE: whole, on standard output
says() {
	grep -qxF -- "$2" "$work/out"
	ok $? "$1" || diag "$(cat "$work/out")"
}

# complains DESCRIPTION TEXT: on standard error, in one line
complains() {
	grep -qF -- "$2" "$work/err"
	ok $? "$1" || diag "$(cat "$work/err")"
}

# mount_says STATUS TEXT DESCRIPTION ARGUMENT...
mount_says() {
	local wanted=$1 text=$2 description=$3
	shift 3
	timeout 60 "$granaryfs" "$@" "$mnt" >"$work/out" 2>"$work/err" </dev/null
	is "$?" "$wanted" "$description: the mount's status"
	complains "$description: the mount's sentence" "$text"
}

restore() {
	rm -f s-?.tar
	cp -p good/s-?.tar .
}

files=12
all='s-{0..3}.tar'
# ends DESCRIPTION PATTERN: the line that says what it comes to
ends() {
	grep -qE "^4 packed files, $files files, [0-9.]+ MiB: $2\$" "$work/out"
	ok $? "$1" || diag "$(cat "$work/out")"
}

sound() {
	verifies 0 "without checksums" "$all"
	ends "without checksums: sound as far as that goes" \
		"sound, as far as can be told without checksums"
	says "without checksums: what that means" \
		"The index has no checksums: a byte that has changed is not seen where files are stored as they are, nor always where they are compressed. To store checksums: granary index --checksums"
	granary index --checksums "$all" >/dev/null || bail "no checksums"
	verifies 0 "with checksums" "$all"
	ends "with checksums: sound" sound
	is "$(cat err)" "" "with checksums: no more to say"
	granary verify --json "$all" | "$python" -c '
import json, sys
said = json.load(sys.stdin)
assert said["verdict"] == "sound" and said["findings"] == [], said
assert (said["sources"], said["files"], said["checksums"]) == (4, 12, True), said'
	ok $? "--json: sound"
}

# The very thing that nobody can see without checksums.
one_flipped_byte() {
	local at file other=0
	at=$(place s-1.tar c1/f1)
	flip s-1.tar $((at + 12345))
	verifies $damaged "a flipped byte" "$all"
	says "a flipped byte: path, shard and offset" \
		"c1/f1: damaged: its checksum is not what it was when it was indexed (s-1.tar at byte $at)"
	ends "a flipped byte: the last line" "damaged; 1 named above"
	is "$(wc -l <out)" 2 "a flipped byte: nothing else is damaged"
	granary verify --json "$all" | "$python" -c '
import json, sys
said = json.load(sys.stdin)
finding, = said["findings"]
assert said["verdict"] == "damaged", said
assert finding["path"] == "c1/f1" and finding["problem"] == "checksum", said
assert finding["source"] == "s-1.tar" and finding["offset"] == int(sys.argv[1]), said' "$at"
	ok $? "a flipped byte: --json"
	mount_ok "a flipped byte: mounted" -o index=require "$all" "$mnt"
	refuse "a flipped byte: the mount gives an error for the file" cat "$mnt/c1/f1"
	for file in c{0..3}/f{0..2}; do
		[ "$file" = c1/f1 ] || cmp -s "$mnt/$file" "tree/$file" || other=$((other + 1))
	done
	is "$other" 0 "a flipped byte: and for no other"
	umount_ok "$mnt"
	# without checksums it is not seen, and that is said
	verifies 0 "a flipped byte without checksums" -o index=off "$all"
	grep -q "as far as can be told without checksums" out
	ok $? "a flipped byte without checksums: the limit is named"
	# a copy has another time of change, and is held against the same checksums
	touch s-1.tar
	verifies $damaged "a flipped byte in a copy" "$all"
	complains "a flipped byte in a copy: what is different" "another time of change"
	restore
	touch s-1.tar
	verifies 0 "a sound copy" "$all"
	restore
}

# Bytes between the contents, which have no checksum. All are named.
damaged_headers() {
	flip s-1.tar $(($(place s-1.tar c1/f1) - 512 + 2))
	flip s-3.tar $(($(place s-3.tar c3/f2) - 512 + 130))
	verifies $damaged "damaged headers" "$all"
	says "damaged headers: one shard" \
		"s-1.tar: is damaged: there is no valid tar header at byte $(($(place good/s-1.tar c1/f1) - 512)); copy it again, or pack it again"
	says "damaged headers: and the other" \
		"s-3.tar: is damaged: there is no valid tar header at byte $(($(place good/s-3.tar c3/f2) - 512)); copy it again, or pack it again"
	ends "damaged headers: the last line" "damaged; 2 named above"
	restore
	# a name in a pax header has no checksum at all
	mkdir -p pax && seq 1 3000 >pax/a && seq 1 3000 >pax/$'n\xc3\xa4me'
	tar --format=pax -C pax --sort=name -cf pax.tar .
	granary index --checksums pax.tar >/dev/null || bail "no checksums"
	verifies 0 "a pax header" pax.tar
	flip pax.tar "$(LC_ALL=C grep -abo 'me$' pax.tar | head -n 1 | cut -d : -f 1)"
	verifies $damaged "a pax header with a flipped byte" pax.tar
	says "a pax header with a flipped byte: what was there" \
		$'n\xc3\xa4me: damaged: it was there when the packed files were indexed, and is not now'
	says "a pax header with a flipped byte: what is there" \
		$'n\xc3\xa4le: damaged: it was not there when the packed files were indexed'
}

truncated() {
	truncate -s 40000 s-2.tar
	verifies $damaged "a truncated shard" "$all"
	says "a truncated shard: which" \
		"s-2.tar: is cut off: it has 40000 bytes, and had $(stat -c %s good/s-2.tar) when it was indexed"
	mount_says $dataset "'s-2.tar' is truncated: it ends at byte 40000" "a truncated shard" \
		-o index=off "$all"
	mv "$index" kept
	verifies $damaged "a truncated shard without an index" "$all"
	complains "a truncated shard without an index: which" \
		"'s-2.tar' is truncated: it ends at byte 40000"
	mv kept "$index"
	restore
}

missing() {
	rm s-2.tar
	verifies $system "a missing shard" "$all"
	complains "a missing shard: which, and the remedy" \
		"'s-2.tar' does not exist; check the path, or show the rest without it with -o missing=skip"
	says "a missing shard: named with all else" "s-2.tar: does not exist"
	ends "a missing shard: the others were read" "unreadable; 1 named above"
	says "a missing shard: and its own files were not" \
		"3 files were not read, for their packed file has another size, or is not there"
	flip s-3.tar $(($(place s-3.tar c3/f1) + 1))
	verifies $damaged "a missing shard, and a damaged file in another" "$all"
	says "a missing shard, and a damaged file in another: which" \
		"c3/f1: damaged: its checksum is not what it was when it was indexed (s-3.tar at byte $(place s-3.tar c3/f1))"
	restore && rm s-2.tar
	mv "$index" kept
	verifies $system "a missing shard, no index" "$all"
	says "a missing shard, no index: named" "s-2.tar: does not exist"
	grep -q "^4 packed files, 9 files, .*: unreadable; 1 named above" out
	ok $? "a missing shard, no index: the others were read"
	is "$(echo ./*.tar+*.gidx)" "./*.tar+*.gidx" "a missing shard, no index: none is left"
	mv kept "$index"
	mount_says $system "'s-2.tar' does not exist" "a missing shard" "$all"
	verifies 0 "missing=skip" -o missing=skip "$all"
	complains "missing=skip: which" "'s-2.tar' does not exist and is left out"
	grep -q "^3 packed files, 9 files, " out
	ok $? "missing=skip: the rest is sound"
	mount_says 0 "'s-2.tar' does not exist and is left out" "missing=skip" \
		-o missing=skip "$all"
	is "$(echo "$mnt"/*)" "$mnt/c0 $mnt/c1 $mnt/c3" "missing=skip: the mount has the rest"
	force_umount "$mnt"
	restore
}

same_name_twice() {
	cp s-0.tar s-2.tar
	mv "$index" kept
	verifies $damaged "two shards with the same name" "$all"
	complains "two shards with the same name: which, and what to do" \
		" is in both s-0.tar and s-2.tar; say which is meant with -o duplicates=first"
	mount_says $dataset "is in both s-0.tar and s-2.tar" "two shards with the same name" "$all"
	verifies 0 "two shards with the same name: duplicates=first" -o duplicates=first "$all"
	mv kept "$index"
	restore
}

undecodable() {
	mksquashfs tree z.squashfs -comp gzip -noappend -no-progress -quiet >/dev/null ||
		bail "no squashfs image"
	granary index z.squashfs >/dev/null 2>&1
	verifies 0 "squashfs" z.squashfs
	touch -r z.squashfs stamp
	head -c 300 /dev/zero | tr '\0' '\377' |
		dd of=z.squashfs bs=1 seek=5000 conv=notrunc status=none
	touch -r stamp z.squashfs
	verifies $damaged "squashfs: a damaged block" z.squashfs
	grep -qE '^c[0-3]/f[0-2]: damaged: what is stored of it makes no sense \(z.squashfs at byte [0-9]+\)$' out
	ok $? "squashfs: a damaged block: which file" || diag "$(cat out)"
}

# The program is one for tests, whose reads of these bytes fail.
unreadable() {
	local at faulty=$abs_top_builddir/tests/bin/granary-faulty
	at=$(place s-3.tar c3/f1)
	GRANARY_FAULTS="kind=eio,path=s-3.tar,offset=$((at + 12345))-$((at + 12346))" \
		"$faulty" verify "$all" >out 2>err
	is "$?" $system "storage that fails: status" || diag "$(cat out err)"
	says "storage that fails: which" \
		"c3/f1: Input/output error (s-3.tar at byte $((at + 12345)))"
	ends "storage that fails: the last line" "unreadable; 1 named above"
}

manifests() {
	mkdir -p odd
	printf one >odd/$'new\nline'
	printf two >odd/'back\slash'
	printf three >odd/$'carriage\rreturn'
	printf four >odd/'  blanks *'
	printf five >odd/$'caf\xe9'
	: >odd/empty
	ln odd/empty odd/link
	tar -C odd -cf odd.tar .
	verifies 0 "--write-checksums" --write-checksums odd.sums odd.tar
	check "sha256sum -c accepts it" env -C odd sha256sum --strict --quiet -c ../odd.sums
	is "$(wc -l <odd.sums)" 7 "a line a name"
	verifies 0 "--checksums takes it back" --checksums odd.sums odd.tar
	mount_ok "manifests: mounted" odd.tar "$mnt"
	check "sha256sum -c accepts it in a mount" \
		env -C "$mnt" sha256sum --strict --quiet -c "$work/odd.sums"
	umount_ok "$mnt"
	(cd odd && find . -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) >theirs.sums
	verifies 0 "--checksums takes what sha256sum writes" --checksums theirs.sums odd.tar
	(cd odd && sha256sum --binary empty) >binary.sums
	verifies 0 "--checksums takes binary mode" --checksums binary.sums odd.tar
	says "--checksums: what it does not list" "5 files are not in the manifest"
	sed 's/^\(\\\?\)[0-9a-f]\{4\}/\10000/; s/empty$/nothing/' odd.sums >wrong.sums
	verifies $damaged "--checksums: others" --checksums wrong.sums odd.tar
	is "$(grep -c "its SHA-256 is not that of the manifest" out)" 6 "--checksums: all are named"
	says "--checksums: what is not there" "nothing: is in the manifest, and not in the dataset"
	echo nonsense >bad.sums
	verifies $usage "no manifest" --checksums bad.sums odd.tar
	complains "no manifest: the line" "bad.sums: line 1 is not as sha256sum(1) writes it"
	verifies $system "no such manifest" --checksums none.sums odd.tar
	complains "no such manifest: the remedy" "none.sums: there is no such manifest; --write-checksums makes one"
	verifies $system "no place for a manifest" --write-checksums none/odd.sums odd.tar
	mkfifo "$work/pipe"
	verifies $system "a pipe is no place for a manifest" --write-checksums "$work/pipe" odd.tar
	[ -p "$work/pipe" ]
	ok $? "a pipe is not replaced by a manifest"
	verifies $usage "both at once" --checksums odd.sums --write-checksums x odd.tar
	flip s-1.tar $(($(place s-1.tar c1/f1) + 1))
	verifies $damaged "a damaged dataset gets no manifest" --write-checksums no.sums "$all"
	refuse "a damaged dataset gets no manifest: there is none" test -e no.sums
	restore
}

originals() {
	verifies 0 "--against" --against tree "$all"
	verifies 0 "--against, with a slash" --against tree/ "$all"
	mkfifo odd/fifo
	verifies 0 "--against odd names" --against odd odd.tar
	says "--against: what no dataset can hold" \
		"1 devices, pipes and sockets of the original cannot be in a dataset"
	rm odd/fifo
	cp -a tree other
	ln -s target tree/c0/link && ln -s elsewhere other/c0/link
	tar -C tree -cf o.tar .
	echo more >other/c3/only-here
	mkdir other/c4 && touch other/c4/inside
	rm other/c0/f0
	echo >>other/c0/f1
	rm other/c0/f2 && mkdir other/c0/f2
	flip other/c1/f0 1000
	verifies $damaged "--against another" --against other o.tar
	says "--against: extra" "c0/f0: is not in the original"
	says "--against: size" \
		"c0/f1: has $(stat -c %s tree/c0/f1) bytes, and $(stat -c %s other/c0/f1) in the original"
	says "--against: kind" "c0/f2: is of another kind in the original"
	says "--against: a link" "c0/link: is a symbolic link that leads elsewhere in the original"
	says "--against: bytes" "c1/f0: differs from the original, first at its byte 1000"
	says "--against: missing" "c3/only-here: is in the original, and not in the dataset"
	says "--against: a missing directory" "c4: is in the original, and not in the dataset"
	is "$(wc -l <out)" 9 "--against: nothing else" || diag "$(cat out)"
	rm tree/c0/link
	# two names of a file in the archive, two files in the original
	mkdir pair && echo same >pair/a && ln pair/a pair/b && tar -C pair -cf pair.tar .
	rm pair/b && echo sane >pair/b
	verifies $damaged "--against: a link that is another file" --against pair pair.tar
	says "--against: a link that is another file: where" \
		"b: differs from the original, first at its byte 2"
	verifies $system "--against nothing" --against nothing "$all"
	verifies $usage "subdir=" -o subdir=c0 "$all"
}

# Longer than the kernel takes in one piece. Of two names of a file both are compared.
far_down() {
	local here=$PWD path
	path=$(printf 'd%.0s' {1..200})
	path=$(for _ in {1..29}; do printf '%s/' "$path"; done)${path}
	mkdir deep
	"$python" - deep "$path" <<'PYTHON'
import os, sys
os.chdir(sys.argv[1])
for name in sys.argv[2].split("/"):
    os.mkdir(name)
    os.chdir(name)
with open("bottom", "w") as out:
    out.write("".join("%d\n" % i for i in range(30000)))
os.symlink("bottom", "link")
os.link("bottom", "other")
PYTHON
	"$granary" pack -q deep deep.tar || bail "deep.tar was not packed"
	verifies 0 "--against paths of 6,000 bytes" --against deep deep.tar
	cd deep && for _ in {1..30}; do cd ./d* || bail "no way down"; done
	echo less >bottom && rm link && ln -s other link && touch only-here
	cd "$here" || bail "no way back"
	verifies $damaged "--against paths of 6,000 bytes, changed" --against deep deep.tar
	says "far down: a file" "$path/bottom: has 168890 bytes, and 5 in the original"
	says "far down: a link" \
		"$path/link: is a symbolic link that leads elsewhere in the original"
	says "far down: missing" "$path/only-here: is in the original, and not in the dataset"
}

# Not sound because nobody could read it.
nothing_to_read() {
	verifies $dataset "noise" /etc/passwd
	verifies $system "no file" none.tar
	is "$(grep -c . err)" 1 "no file: one sentence" || diag "$(cat err)"
	verifies $usage "no argument"
}

# The page says what cannot be promised.
# The index that is named is compared with, also where others may write to its directory.
copies() {
	mkdir "$work/copy" "$work/named"
	chmod 777 "$work/named"
	cp -p good/s-0.tar copy/s-0.tar
	granary index -q --checksums --output "$work/named/i.gidx" copy/s-0.tar ||
		bail "no index"
	cp copy/s-0.tar copy/other && mv copy/other copy/s-0.tar
	verifies 0 "an intact copy, its index named" -o "index=$work/named/i.gidx" copy/s-0.tar
	complains "that it is a copy" "another time of change"
	flip copy/s-0.tar 1024
	verifies $damaged "a damaged copy, its index named" -o "index=$work/named/i.gidx" \
		copy/s-0.tar
}

documented() {
	local page=$abs_top_srcdir/docs/granary-index.1
	grep -q "Without checksums nobody can see a byte that has changed in a tar" "$page"
	ok $? "granary-index.1: what cannot be seen without checksums"
	grep -q "in blocks of 128 KiB" "$page"
	ok $? "granary-index.1: what a mount does not compare"
}

make_sources
index=$work/$(granary index --json 's-{0..3}.tar' | "$python" -c '
import json, os, sys
print(os.path.basename(json.load(sys.stdin)["index"]))')
sound
one_flipped_byte
damaged_headers
truncated
missing
same_name_twice
undecodable
unreadable
manifests
originals
far_down
nothing_to_read
copies
documented
finish
