#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# An index belongs to its packed file: one of another file that looks the same is not taken
# where others could have put it there; a copy, a new name and an old index are.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar cp dd touch
need_python tarfile

own=$work/own
shared=$work/shared
forge=$abs_top_builddir/tests/bin/forge-index

# v.tar and e.tar have the same size, and the same bytes but for the names of two files,
# between the pages that are sampled.
make_archives() {
	mkdir "$work/made"
	"$python" - "$work/made" <<-'EOS'
		import io, sys, tarfile
		def add(tar, name, data):
		    info = tarfile.TarInfo(name)
		    info.size = len(data)
		    tar.addfile(info, io.BytesIO(data))
		for archive, first, second in ("v", "cat", "dog"), ("e", "dog", "cat"):
		    with tarfile.open(f"{sys.argv[1]}/{archive}.tar", "w") as tar:
		        add(tar, "readme", b"r" * 12288)
		        add(tar, first + "/1", b"bytes of a cat\n" * 64)
		        add(tar, second + "/1", b"bytes of a dog\n" * 64)
		        add(tar, "large", b"l" * (4 << 20))
	EOS
	touch -d '2024-05-06 07:08:09.123' "$work/made"/*.tar
	chmod 644 "$work/made"/*.tar
	is "$(stat -c %s "$work/made/v.tar")" "$(stat -c %s "$work/made/e.tar")" \
		"two archives of the same size"
}

# Two directories, of which others may write to one, with both archives and no index.
fresh() {
	rm -rf "$own" "$shared"
	mkdir -m 700 "$own"
	mkdir -m 770 "$shared"
	cp -p "$work/made"/*.tar "$own"
	cp -p "$work/made"/*.tar "$shared"
}

# index ARGUMENTS...: what it says is in $work/said
index() {
	"$granary" index "$@" >"$work/said" 2>&1
}

# fits SOURCE DESCRIPTION / unfit SOURCE DESCRIPTION [WORDS]
fits() {
	index --check "$1"
	ok $? "$2" || diag "$(cat "$work/said")"
}

unfit() {
	index --check "$1"
	is $? 3 "$2: it does not fit"
	grep -q "${3:-it was made of another file than .*: granary index --adopt '$1'}" "$work/said"
	ok $? "$2: why" || diag "$(cat "$work/said")"
}

# cat_is_cat DESCRIPTION OPTIONS SOURCE: what a mount shows
cat_is_cat() {
	mount_ok "$1: mounted" -o "$2" "$3" "$mnt" || return
	is "$(sort -u "$mnt/cat/1")" "bytes of a cat" "$1: the bytes are the file's own"
	umount_ok "$mnt"
}

# An index of e.tar that a person made who is trusted, under the name that v.tar's has.
exchanged() {
	local how
	for how in "" --checksums; do
		fresh
		# shellcheck disable=SC2086
		index $how "$shared/e.tar"
		mv "$shared/e.tar.gidx" "$shared/v.tar.gidx"
		unfit "$shared/v.tar" "another's index, ${how:-plain}"
		refuse "another's index, ${how:-plain}: index=require does not take it" \
			"$granaryfs" -o index=require "$shared/v.tar" "$mnt"
		check "another's index, ${how:-plain}: verify does not blame the archive" \
			"$granary" verify "$shared/v.tar"
		cat_is_cat "another's index, ${how:-plain}" index=auto "$shared/v.tar"
		rm -rf "${XDG_CACHE_HOME:?}/granaryfs" "$shared"/*.gidx
		# shellcheck disable=SC2086
		index $how "$shared/e.tar"
		mv "$shared/e.tar.gidx" "$shared/v.tar.gidx"
		check "another's index, ${how:-plain}: --adopt" index --adopt "$shared/v.tar"
		grep -q "v.tar.gidx is not adopted, and made anew: " "$work/said"
		ok $? "another's index, ${how:-plain}: it is not adopted" || diag "$(cat "$work/said")"
		cat_is_cat "made anew, ${how:-plain}" index=require "$shared/v.tar"
	done
}

# The index of a copy that index= names: the sentence of a mount names what works.
named_copy() {
	local named=$shared/named.gidx

	index --checksums --output "$named" "$own/v.tar"
	refuse "a named index of another file: no mount" "$granaryfs" -o "index=$named" \
		"$shared/v.tar" "$mnt"
	"$granary" ls -o "index=$named" "$shared/v.tar" >"$work/said" 2>&1
	grep -q -F "not replaced; if they are copies: granary index --adopt --output '$named' \
'$shared/v.tar';" "$work/said"
	ok $? "a named index of another file: the remedy" || diag "$(cat "$work/said")"
	check "a named index of another file: --adopt" \
		index --adopt --output "$named" "$shared/v.tar"
	cat_is_cat "a named index that was adopted" "index=$named" "$shared/v.tar"
	rm "$named"
}

copied() {
	fresh
	index "$own/v.tar"
	cp -p "$own/v.tar.gidx" "$shared"
	unfit "$shared/v.tar" "a copy, where others may write"
	check "a copy, where others may write: --adopt" index --adopt "$shared/v.tar"
	grep -q "adopted: the packed files hold what it says" "$work/said"
	ok $? "a copy, where others may write: it is adopted" || diag "$(cat "$work/said")"
	cat_is_cat "an adopted copy" index=require "$shared/v.tar"
	named_copy
	cp -p "$own/v.tar.gidx" "$shared"
	chmod 1777 "$shared"
	unfit "$shared/v.tar" "a copy, in a directory with the sticky bit"
	chmod 755 "$shared"
	fits "$shared/v.tar" "a copy, where nobody else may write"
	mv "$shared/v.tar" "$shared/n.tar"
	mv "$shared/v.tar.gidx" "$shared/n.tar.gidx"
	fits "$shared/n.tar" "a copy of another name, where nobody else may write"
	chmod 775 "$shared"
	unfit "$shared/n.tar" "a copy of another name, where others may write"
	chmod 700 "$shared"
	index_elsewhere
}

# let_write UID DIRECTORY: as setfacl -m u:UID:rwx does
let_write() {
	"$python" -c '
import os, struct, sys
entries = (1, 7, 2**32 - 1), (2, 7, int(sys.argv[1])), (4, 0, 2**32 - 1), \
    (16, 7, 2**32 - 1), (32, 0, 2**32 - 1)
os.setxattr(sys.argv[2], "system.posix_acl_access", struct.pack("<I", 2) +
            b"".join(struct.pack("<HHI", *entry) for entry in entries))' "$1" "$2"
}

# The directory that counts is the index's.
index_elsewhere() {
	mv "$shared/n.tar.gidx" "$own/n.gidx"
	ln -s "$own/n.gidx" "$shared/n.tar.gidx"
	fits "$shared/n.tar" "a copy, and a link to its index"
	chmod 770 "$shared"
	unfit "$shared/n.tar" "a link that others may have made"
	chmod 700 "$shared"
	chmod 770 "$own"
	unfit "$shared/n.tar" "a link to where others may write"
	chmod 700 "$own"
	if let_write 65534 "$own" 2>"$work/said"; then
		unfit "$shared/n.tar" "an ACL lets another write"
		rm -rf "$work/moved"
		mv "$own" "$work/moved"
		mkdir -m 700 "$own"
		mv "$work/moved"/* "$own"
	else
		skip "there are no ACLs here: $(tail -n 1 "$work/said")" "an ACL"
	fi
	if is_root; then
		chown 65534 "$own"
		unfit "$shared/n.tar" "the directory is somebody else's"
		chown 0 "$own"
	else
		skip "only root gives a directory away" "the directory is somebody else's"
	fi
}

# The same file: it does not matter where.
renamed() {
	fresh
	index "$shared/v.tar"
	ln "$shared/v.tar" "$shared/linked.tar"
	cp -p "$shared/v.tar.gidx" "$shared/linked.tar.gidx"
	fits "$shared/linked.tar" "a hard link"
	mv "$shared/v.tar" "$shared/n.tar"
	mv "$shared/v.tar.gidx" "$shared/n.tar.gidx"
	fits "$shared/n.tar" "archive and index renamed"
	cat_is_cat "renamed" index=require "$shared/n.tar"
	ln -s "$shared/n.tar" "$own/link.tar"
	fits "$own/link.tar" "a symbolic link"
	rm "$shared/n.tar.gidx"
	index "$own/link.tar"
	fits "$shared/n.tar" "made by a symbolic link"
}

# Without inode numbers the name decides; or the directory.
of_0_1() {
	fresh
	index "$shared/v.tar"
	"$forge" --as-0.1 "$shared/v.tar.gidx"
	fits "$shared/v.tar" "an index of 0.1"
	cat_is_cat "an index of 0.1" index=require "$shared/v.tar"
	cp -p "$shared/v.tar" "$own"
	cp -p "$shared/v.tar.gidx" "$own"
	fits "$own/v.tar" "an index of 0.1, copied"
	mv "$shared/v.tar.gidx" "$shared/e.tar.gidx"
	unfit "$shared/e.tar" "an index of 0.1 under another's name"
	mv "$own/v.tar" "$own/n.tar"
	mv "$own/v.tar.gidx" "$own/n.tar.gidx"
	fits "$own/n.tar" "an index of 0.1, renamed where nobody else may write"
	index --checksums "$own/n.tar"
	fits "$own/n.tar" "an index of 0.1 gets checksums"
	"$forge" --as-0.1 "$own/n.tar.gidx"
	check "an index of 0.1 with checksums" has_checksums "$own/n.tar"
}

# has_checksums SOURCE: of files; --checksums asks for those of blocks, too.
has_checksums() {
	"$granary" index --check "$1" | grep -q "is sound, with checksums"
}

# poke FILE OFFSET: a byte changes, and nobody has written
poke() {
	local time
	time=$(stat -c %y "$1")
	printf X | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
	touch -d "$time" "$1"
}

# 64 pages are looked at: each 1/64 of the file has one in its middle.
middle() {
	local page=$(($(stat -c %s "$work/made/v.tar") / 4096 * 21 / 128))
	fresh
	index "$own/v.tar"
	poke "$own/v.tar" $(((page + 1) * 4096))
	fits "$own/v.tar" "a byte between the samples"
	poke "$own/v.tar" $((page * 4096))
	unfit "$own/v.tar" "a byte in a sample" "another middle than when it was indexed"
	index --checksums --force "$own/e.tar"
	poke "$own/e.tar" $((page * 4096))
	fits "$own/e.tar" "with checksums, a byte in a sample"
	grep -q "'$own/e.tar' is damaged: bytes in its middle" "$work/said"
	ok $? "with checksums, a byte in a sample: it is said" || diag "$(cat "$work/said")"
	mount_ok "with checksums: mounted" -o index=require "$own/e.tar" "$mnt" || return
	is "$(sort -u "$mnt/cat/1")" "bytes of a dog" "with checksums: sound files are read"
	umount_ok "$mnt"
}

# In a set each packed file is looked at; and other pages of it than of one alone.
sets() {
	fresh
	index "$shared/v.tar" "$shared/e.tar" -o duplicates=first
	check "a set" "$granary" index --check -o duplicates=first "$shared/v.tar" "$shared/e.tar"
	cp -p "$shared/e.tar" "$shared/other"
	mv "$shared/other" "$shared/e.tar"
	refuse "a set with one copy, where others may write" \
		"$granary" index --check -o duplicates=first "$shared/v.tar" "$shared/e.tar"
	chmod 700 "$shared"
	check "a set with one copy, where nobody else may write" \
		"$granary" index --check -o duplicates=first "$shared/v.tar" "$shared/e.tar"
}

# All indexes of a tree, of 0.1 and of this version.
renewed() {
	fresh
	mkdir "$own/below"
	cp -p "$work/made"/*.tar "$own/below"
	index "$own/v.tar"
	index --checksums "$own/below/v.tar"
	index "$own/below/v.tar" "$own/below/e.tar" -o duplicates=first
	index "$shared/v.tar"
	index "$own/e.tar"
	chmod 604 "$own/v.tar.gidx"
	find "$own" "$shared" -name '*.gidx' ! -name 'e.tar.gidx' -exec "$forge" --as-0.1 {} \;
	mv "$own/v.tar" "$own/n.tar"
	mv "$own/v.tar.gidx" "$own/n.tar.gidx"
	(umask 077; "$granary" index --renew --json "$own" "$shared") >"$work/said" 2>&1
	is $? 0 "renew: status"
	is "$(cat "$work/said")" '{"renewed":4,"current":1,"left":0}' "renew: all of them"
	is "$(stat -c %a "$own/n.tar.gidx")" 604 "renew: permissions stay"
	fits "$own/n.tar" "a renewed index of another name"
	check "a renewed index has its checksums" has_checksums "$own/below/v.tar"
	check "a renewed index of a set" "$granary" index --check -o duplicates=first \
		"$own/below/v.tar" "$own/below/e.tar"
	cat_is_cat "renewed" index=require "$shared/v.tar"
	mv "$shared/v.tar" "$shared/x.tar"
	mv "$shared/v.tar.gidx" "$shared/x.tar.gidx"
	fits "$shared/x.tar" "a renewed index knows its file by its number"
	"$granary" index --renew "$own" "$shared" >"$work/said" 2>&1
	is "$(cat "$work/said")" "0 renewed, 5 were of this version, 0 are as they were" \
		"renew: a second time there is nothing to do"
}

# Archives that were renamed with their indexes of 0.1, where others may write: one command
# for all, on the day of an update. An index that is another archive's is made anew.
renamed_together() {
	local how
	for how in "" --checksums; do
		fresh
		# shellcheck disable=SC2086
		index $how "$shared/v.tar" && index $how "$shared/e.tar"
		"$forge" --as-0.1 "$shared/v.tar.gidx"
		"$forge" --as-0.1 "$shared/e.tar.gidx"
		mv "$shared/v.tar" "$shared/n.tar"
		mv "$shared/v.tar.gidx" "$shared/n.tar.gidx"
		cp -p "$work/made/v.tar" "$shared/x.tar"
		cp -p "$shared/e.tar.gidx" "$shared/x.tar.gidx"
		refuse "renamed ${how:-plain}: not taken" "$granaryfs" -o index=require \
			"$shared/n.tar" "$mnt"
		index --renew "$shared"
		is $? 3 "renamed ${how:-plain}: --renew alone leaves them"
		grep -q "or --renew --adopt for all" "$work/said"
		ok $? "renamed ${how:-plain}: it says how" || diag "$(cat "$work/said")"
		"$granary" index --renew --adopt --json "$shared" >"$work/json" 2>"$work/said"
		is "$(cat "$work/json")" '{"renewed":2,"current":1,"left":0}' \
			"renamed ${how:-plain}: --renew --adopt" || diag "$(cat "$work/said")"
		grep -q "x.tar.gidx is not adopted, and made anew" "$work/said"
		ok $? "renamed ${how:-plain}: another archive's index is made anew"
		cat_is_cat "renamed ${how:-plain}" index=require "$shared/n.tar"
		cat_is_cat "renamed ${how:-plain}, another's" index=require "$shared/x.tar"
		[ -z "$how" ] || check "renamed: it has its checksums" has_checksums "$shared/n.tar"
	done
}

# A stranger's link leads to a file that root alone may read.
link_not_followed() {
	is_root || return 0
	rm -rf "${shared:?}"/*
	cp -p "$work/made/v.tar" "$shared/v.tar"
	index "$shared/v.tar"
	"$forge" --as-0.1 "$shared/v.tar.gidx"
	mv "$shared/v.tar" "$own/secret"
	ln -s "$own/secret" "$shared/v.tar"
	chown -h 65534:65534 "$shared" "$shared"/*
	"$granary" index --renew "$shared" >"$work/said" 2>&1
	is $? 3 "renew: a link beside an index: status"
	grep -q "not renewed: .*v.tar' is a symbolic link, which root does not follow" "$work/said"
	ok $? "renew: a link beside an index is not followed" || diag "$(cat "$work/said")"
	chown 0:0 "$shared"
}

# Renamed with their archives where others may write: the way of CHANGELOG.md.
renamed_of_0_1() {
	rm -rf "${shared:?}"/*
	cp -p "$work/made/v.tar" "$shared/v.tar"
	index "$shared/v.tar"
	"$forge" --as-0.1 "$shared/v.tar.gidx"
	mv "$shared/v.tar" "$shared/r.tar"
	mv "$shared/v.tar.gidx" "$shared/r.tar.gidx"
	unfit "$shared/r.tar" "an index of 0.1, renamed with its archive"
	chmod go-w "$shared" && "$granary" index --renew "$shared" >"$work/said" 2>&1 &&
		chmod g+w "$shared"
	is $? 0 "an index of 0.1, renamed: all of a directory at once" || diag "$(cat "$work/said")"
	fits "$shared/r.tar" "an index of 0.1, renamed and then renewed"
}

# The bytes of e.tar, and its time, come into v.tar while that is read: the inode's time says so.
written_meanwhile() {
	local indexing
	fresh
	: >"$work/hold"
	GRANARY_FAULTS="kind=late,path=v.tar,from=4,while=$work/hold" GRANARY_FAULTS_COUNTS=$work/counts \
		timeout -k 5 60 "$abs_top_builddir/tests/bin/granary-faulty" index "$own/v.tar" \
		>"$work/said" 2>&1 &
	indexing=$!
	started+=("$indexing")
	check "written meanwhile: the indexer has begun to read" wait_until 30 is_held
	dd if="$own/e.tar" of="$own/v.tar" conv=notrunc status=none
	touch -r "$own/e.tar" "$own/v.tar"
	rm "$work/hold"
	wait "$indexing"
	is $? 2 "written meanwhile: no index is made"
	check "written meanwhile: why" grep -q "v.tar' was written, .* while it was indexed; index it again" \
		"$work/said" || diag "$(cat "$work/said")"
	is "$(find "$own" -name '*v.tar?*')" "" "written meanwhile: nothing is left"
	index "$own/v.tar"
	mount_ok "indexed again: mounted" -o index=require "$own/v.tar" "$mnt" || return
	is "$(sort -u "$mnt/dog/1")" "bytes of a cat" "indexed again: what is there now is shown"
	umount_ok "$mnt"
}

is_held() {
	[ -s "$work/counts" ] && [ "$(od -A n -v -t u8 -j 8 -N 8 "$work/counts")" -gt 0 ]
}

# An index that fits no longer, another's, and a file that is none, stay as they are.
not_renewed() {
	fresh
	index "$shared/v.tar"
	index "$shared/e.tar"
	"$forge" --as-0.1 "$shared/v.tar.gidx"
	"$forge" --as-0.1 "$shared/e.tar.gidx"
	mv "$shared/v.tar.gidx" "$work/v"
	mv "$shared/e.tar.gidx" "$shared/v.tar.gidx"
	echo noise >"$shared/noise.tar.gidx"
	"$granary" index --renew "$shared" >"$work/said" 2>&1
	is $? 3 "renew: status where some are left"
	grep -q "not renewed: $shared/v.tar.gidx: it was made of another file" "$work/said"
	ok $? "renew: another's index" || diag "$(cat "$work/said")"
	grep -q "v.tar.gidx: .*if both were renamed: granary index --adopt '$shared/v.tar'" "$work/said"
	ok $? "renew: another name: the remedy" || diag "$(cat "$work/said")"
	grep -q "not renewed: $shared/noise.tar.gidx: it is no index" "$work/said"
	ok $? "renew: no index" || diag "$(cat "$work/said")"
	rm "$shared"/*.gidx
	mv "$work/v" "$shared/v.tar.gidx"
	touch "$shared/v.tar"
	"$granary" index --renew "$shared" >"$work/said" 2>&1
	is $? 3 "renew: the packed file has been changed"
	grep -q "v.tar.gidx: .*another time of change" "$work/said"
	ok $? "renew: that is said" || diag "$(cat "$work/said")"
	"$granary" index --renew --check "$shared" >"$work/said" 2>&1
	is $? 1 "renew: with options that make no sense"
	link_not_followed
	rm -rf "${shared:?}"/*
	mkdir "$shared/d"
	cp -p "$work/made/v.tar" "$shared/d/v.tar"
	index "$shared/d/v.tar"
	mv "$shared/d/v.tar" "$shared/r"
	"$forge" --as-0.1 "$shared/d/v.tar.gidx"
	"$forge" "$shared/d/v.tar.gidx" v.tar ..//r
	"$granary" index --renew "$shared" >"$work/said" 2>&1
	is $? 3 "renew: a name that leads to another directory"
	grep -q "d/v.tar.gidx: its list of sources makes no sense" "$work/said"
	ok $? "renew: what it leads to is not opened" || diag "$(cat "$work/said")"
	"$granary" index --renew "$work/none" >"$work/said" 2>&1
	is $? 2 "renew: no directory"
}

make_archives
exchanged
copied
renamed
of_0_1
middle
sets
renewed
renamed_together
renamed_of_0_1
not_renewed
written_meanwhile
finish
