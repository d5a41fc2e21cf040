#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address thread
# granary convert: each format becomes another with the same tree; LMDB goes to squashfs and
# back; what is cut, damaged or in the way is refused, and nothing half-made is left.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need tar gzip xz zstd setfattr pgrep
need_python zipfile
cd "$work" || exit 99

# convert ARGUMENT...: without an index on either side.
convert() {
	"$granary" convert -q --no-index -o index=off "$@"
}

extracted() {
	rm -rf "$1"
	"$granary" extract -q -o index=off "${@:3}" "$2" "$1"
}

# got PACKED: a tar is read by tar(1).
got() {
	rm -rf got
	case $1 in
	*.tar | *.tar.*) mkdir got && tar xf "$1" -C got ;;
	*) extracted got "$1" ;;
	esac
}

# same NAME OUT SOURCE [OPTION...]: what it becomes has the names and bytes of the source.
same() {
	local name=$1 out=$2 source=$3
	shift 3
	check "$name: converted" convert "$@" "$source" "$out" || return
	extracted want "$source" "$@" && got "$out"
	ok $? "$name: both are extracted"
	at_least "$(find want -type f | wc -l)" 2 "$name: there are files"
	check "$name: names and bytes are the source's" diff -r --no-dereference want got
}

make_sources() {
	local i format
	mkdir -p tree/n01/deep tree/n02
	for i in {1..20}; do
		head -c $((i * 397)) /dev/urandom >"tree/n0$((i % 2 + 1))/$i.jpg"
	done
	head -c 1200000 /dev/urandom >tree/n01/deep/large.png
	ln -s ../n01/1.jpg tree/n02/link
	ln tree/n01/2.jpg tree/n02/hard
	setfattr -n user.note -v text tree/n01/2.jpg 2>/dev/null
	touch tree/n02/empty
	for format in tar tar.gz tar.zst tar.xz sqfs h5; do
		"$granary" pack -q --no-index tree "s.$format" || bail "s.$format was not packed"
	done
	"$granary" pack -q --no-index --layout webdataset tree wds.tar 2>/dev/null
	(cd tree && "$python" -m zipfile -c ../s.zip n01 n02)
	cp "$fixtures"/lmdb/{course,raw}.lmdb "$fixtures"/parquet/train-00000-of-00001.parquet \
		"$fixtures"/tfrecord/pets-train.tfrecord-00000-of-00001 \
		"$fixtures"/arrow/pets-train-00000-of-00002.arrow .
}

each_format() {
	local source
	for source in s.tar s.tar.gz s.tar.zst s.tar.xz s.sqfs s.h5 s.zip wds.tar course.lmdb \
		train-00000-of-00001.parquet pets-train.tfrecord-00000-of-00001 \
		pets-train-00000-of-00002.arrow; do
		same "$source" "of-$source.tar" "$source"
	done
	check "a tar of a tar has the bytes that pack wrote" cmp s.tar of-s.tar.tar
	check "and so has a squashfs image" convert s.tar.zst again.sqfs
	check "the same bytes" cmp s.sqfs again.sqfs
	check "a set of a set" convert --shards 2 s.tar 'set-%d.tar'
	same "a set" joined.tar 'set-{0..1}.tar'
}

there_and_back() {
	same "LMDB to squashfs" course.sqfs course.lmdb
	same "squashfs to tar" course.tar.zst course.sqfs
	extracted want course.lmdb && got course.tar.zst
	check "LMDB to squashfs to a tar: equal bytes" diff -r want got
	same "to HDF5" course.h5 course.tar.zst
}

options() {
	same "view=tree" plain.tar course.lmdb -o view=tree
	mv got plain && extracted got course.lmdb
	refuse "view=tree: other names" diff -rq plain got
	same "subdir" part.tar s.zip -o subdir=n01
	printf 'class_%d\n' {0..9} >names.txt
	same "classes=" named.tar course.lmdb -o classes=names.txt
	is "$(find got -mindepth 1 -maxdepth 1 -name 'class_*' | wc -l)" 10 \
		"classes=: the directories are named"
	mkdir samples
	check "samples of classes" convert --layout webdataset course.lmdb samples/w.tar
	is "$(tar tf samples/w.tar | grep -c '[.]cls$')" 60 "each has its label"
}

# left NAME: neither it nor its beginning.
left() {
	is "$(find . -name "*$1*")" "" "$1: nothing is left"
}

refusals() {
	head -c 700000 s.tar >cut.tar
	says 3 "is truncated" "a tar that is cut" convert cut.tar x1.tar
	head -c 700000 s.tar.gz >cut.tar.gz
	says 3 "is truncated" "a tar.gz that is cut" convert cut.tar.gz x1.tar
	head -c 8192 course.lmdb >cut.lmdb
	refuse "an LMDB database that is cut" convert cut.lmdb x1.tar
	left x1.tar
	cp s.tar own.tar
	says 1 "is not replaced" "the source itself, with --force" convert --force own.tar own.tar
	check "it is as it was" cmp s.tar own.tar
	says 2 "--force replaces it" "a file that is there" convert s.zip own.tar
	check "with --force it is replaced" convert --force s.zip own.tar
	says 1 "usage" "no output" convert s.tar
	if is_root && mkdir small && mount -t tmpfs -o size=1m none small; then
		at_exit umount "$work/small"
		says 2 "there is no space left" "a full filesystem" convert s.tar small/x2.sqfs
		is "$(ls -A small)" "" "a full filesystem: nothing is left"
	else
		skip "only root may mount" "a full filesystem"
	fi
	(ulimit -f 500 && convert s.tar x3.tar >said 2>&1)
	is $? 2 "a limit of sizes" && left x3.tar
}

damage() {
	cp s.tar d.tar
	"$granary" index -q --checksums d.tar
	touch -r d.tar before
	printf XXXX | dd of=d.tar bs=1 seek=700000 conv=notrunc status=none
	touch -r before d.tar
	says 6 "its bytes are damaged" "damage" "$granary" convert -q --no-index d.tar x4.sqfs
	left x4.sqfs
	says 7 "cannot be read" "damage, with --keep-going" \
		"$granary" convert -q --no-index --keep-going d.tar x5.sqfs
}

# ends SIGNAL: while it packs.
ends() {
	local pid
	env --default-signal="$1" "$granary" convert -q --no-index -o index=off long.tar x6.tar.xz \
		2>said &
	pid=$!
	started+=("$pid")
	check "$1: it packs" wait_until 30 test -s .x6.tar.xz.part
	kill "-$1" "$pid"
	wait "$pid" 2>/dev/null
	is $? $((128 + $(kill -l "$1"))) "$1: it ends by that"
	left x6.tar.xz
}

signals() {
	local pid child
	mkdir long && truncate -s 4G long/zeros
	tar cf long.tar --format=pax -S long
	ends INT
	ends TERM
	crashing exec "$granary" convert -q --no-index -o index=off long.tar x7.tar.xz 2>said &
	pid=$!
	started+=("$pid")
	check "a crash: it packs" wait_until 30 test -s .x7.tar.xz.part
	child=$(pgrep -P "$pid" | head -n 1)
	check "what parses has no rights" grep -q '^Seccomp:.2$' "/proc/$child/status"
	kill -SEGV "$child"
	wait "$pid"
	is $? 3 "a crash of what parses: its status"
	check "and it is named" grep -q "long.tar' made granary convert crash" said
	left x7.tar.xz
}

# Two parts of a tree that differ in their bytes only.
resumed() {
	local part
	for part in a b; do
		mkdir -p "parts/$part"
		yes "$part" | head -c 5000 | tee "parts/$part/1" >"parts/$part/2"
	done
	find parts -exec touch -d @1000000000 {} +
	"$granary" pack -q --no-index parts parts.tar || bail "parts.tar was not packed"
	mkdir .r-1.tar.part
	refuse "a set that stays incomplete" convert --shards 2 -o subdir=a parts.tar 'r-%d.tar'
	rmdir .r-1.tar.part
	says 2 "other options" "--resume with another subdir" \
		convert --resume --shards 2 -o subdir=b parts.tar 'r-%d.tar'
	check "--resume with the same" convert --resume --shards 2 -o subdir=a parts.tar 'r-%d.tar'
	is "$(cat r-0.tar r-1.tar | tar xiO | sort -u)" a "it has the bytes of that part"
}

# As many as a tar may have, in another order than that of their names.
large_attributes() {
	"$python" -c "
import io, tarfile
with tarfile.open('x.tar', 'w', format=tarfile.PAX_FORMAT) as out:
    for name in 'ab':
        member = tarfile.TarInfo(name)
        member.size = 3
        member.pax_headers = {'SCHILY.xattr.user.%02d' % i: name * 65500
                              for i in range(15, -1, -1)}
        out.addfile(member, io.BytesIO(b'abc'))"
	check "attributes of 1 MiB: converted" convert x.tar x.sqfs
	check "and back" convert x.sqfs y.tar
	is "$(grep -ao 'user[.][0-9]*=' y.tar | sort | uniq -c | grep -c '^ *2 ')" 16 \
		"both files have theirs"
}

written_meanwhile() {
	local pid
	mkdir wide && truncate -s 300M wide/zeros
	tar cf wide.tar wide
	"$granary" convert -q --no-index -o index=off wide.tar x8.tar.xz 2>said &
	pid=$!
	started+=("$pid")
	check "written meanwhile: it packs" wait_until 30 test -s .x8.tar.xz.part
	kill -STOP "$pid"
	printf X | dd of=wide.tar bs=1 seek=200000000 conv=notrunc status=none
	kill -CONT "$pid"
	wait "$pid"
	is $? 2 "written meanwhile: it is refused"
	check "written meanwhile: why" grep -q "wide.tar' was written, .* while it was converted; convert" \
		said || diag "$(cat said)"
	left x8.tar.xz
}

with_index() {
	check "with an index" "$granary" convert -q -o index=off --multiple-of 2 s.zip 'm-%d.tar'
	at_least "$(find . -name 'm-*.gidx' | wc -l)" 1 "it is there"
	check "and fits: the bytes are verified" "$granary" verify -q 'm-{0..1}.tar'
}

make_sources
each_format
there_and_back
options
refusals
damage
signals
large_attributes
resumed
written_meanwhile
with_index
finish
