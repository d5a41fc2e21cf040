#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# squashfs images and HDF5 files that nobody should have made: one sentence, or an
# I/O error for a file; never a crash, a hang, or bytes that no other reader sees.
#
# A sample in `make check`. Everything, which takes hours:
#
#	make check TESTS=tests/mount/damage-formats.sh DAMAGE_RUNS=all DAMAGE_SAVE=DIR
#
# DAMAGE_RUNS may also be a number: places to change in each file beside the fields
# of the superblock. DAMAGE_SAVE keeps the mutants that went wrong.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need mksquashfs unsquashfs ldd
need_python h5py
runs=${DAMAGE_RUNS:-15}
options=(--runs "$runs")
[ -n "${DAMAGE_SAVE:-}" ] && options+=(--save "$DAMAGE_SAVE")
export PYTHONDONTWRITEBYTECODE=1
# A crash of libhdf5 in the indexer is to be a sentence, not a sanitizer's report.
# One of our own in the programs that read is seen by their status.
export ASAN_OPTIONS="$ASAN_OPTIONS:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0"
# libhdf5 forgets some memory where a checksum is wrong.
echo leak:libhdf5 >"$work/suppressions"
export LSAN_OPTIONS="$LSAN_OPTIONS:suppressions=$work/suppressions:print_suppressions=0"
# A sanitizer's shadow is larger than any limit.
ldd "$granary" | grep -q -E 'lib[atu]+san' || options+=(--limited)

# The same bytes in every run, and so the same mutants.
make_tree() {
	local tree=$work/tree i
	mkdir -p "$tree/directory/inside" "$tree/many"
	seq 3000 | head -c 9000 >"$tree/blocks"
	seq 5000 9000 | head -c 4096 >"$tree/one-block"
	seq 900 | head -c 700 >"$tree/directory/tail"
	printf 'a few bytes' >"$tree/directory/inside/small"
	: >"$tree/empty"
	ln "$tree/blocks" "$tree/directory/hard"
	for i in 1 2 3 4 5 6 7 8 9; do
		printf 'file number %d' "$i" >"$tree/many/$i"
	done
}

make_squashfs() {
	ln -s directory/tail "$work/tree/symlink"
	setfattr -n user.name -v value "$work/tree/blocks" 2>/dev/null
	mksquashfs "$work/tree" "$work/$1" -noappend -no-progress -quiet -nopad -b 4096 \
		-mkfs-time 0 -all-time 0 -all-root -noI -noX "${@:2}"
	local status=$?
	rm "$work/tree/symlink"
	return "$status"
}

make_hdf5() {
	"$python" "$fixtures/make-tree-h5" "$work/tree" "$work/$1" "${@:2}"
}

make_rows() {
	local size
	for size in 16 48; do
		"$python" "$fixtures/make-image-tree" --classes 3 --images 4 --size "$size" \
			"$work/images/$size" || return
	done
	"$python" "$fixtures/make-jsc-h5" --empty 1 "$@" "$work/images" "$work/rows.h5"
}

# damage KIND NAME [TREE]
damage() {
	local said status
	mkdir -p "$work/mutants"
	said=$("$python" "$abs_top_srcdir/tests/mount/damage_formats.py" "${options[@]}" \
		"$granary" "$work/mutants" "$1" "$work/$2" ${3:+"$3"} 2>&1)
	status=$?
	ok "$status" "$2: every mutant"
	diag "$said"
	return "$status"
}

# A name of two files cannot be decided. The log tells it.
name_comes_twice() {
	local image=$work/twice.squashfs said
	check "a name twice: made" \
		"$python" "$abs_top_srcdir/tests/format/squashfs_bombs.py" twice "$image" || return
	said=$("$granary" index "$image" 2>&1)
	is $? 3 "a name twice: the status"
	is "$said" "granary: '$image' has the name 'name' twice, and only one can be shown; it \
is damaged, or has to be packed again with other names" "a name twice: one sentence"
	refuse "a name twice: no index" test -e "$image.gidx"
}

# Nobody opens as many groups, one inside another, as a file of 15 MB can hold.
deep_groups() {
	local file=$work/deep.h5 said
	check "100,000 groups: made" "$python" - "$file" <<-'EOF' || return
		import sys
		import h5py
		with h5py.File(sys.argv[1], "w", libver="latest") as file:
		    group = file.id
		    for _ in range(100000):
		        group = h5py.h5g.create(group, b"g")
	EOF
	said=$(timeout 20 "$granary" index "$file" 2>&1)
	is $? 3 "100,000 groups: the status"
	is "$(wc -l <<<"$said")" 1 "100,000 groups: one sentence" || diag "$said"
	grep -q "deeper than 128 groups" <<<"$said"
	ok $? "100,000 groups: the reason"
	rm "$file"
}

make_tree
name_comes_twice
deep_groups
check "gzip.squashfs: made" make_squashfs gzip.squashfs -comp gzip &&
	damage squashfs gzip.squashfs "$work/tree"
check "zstd.squashfs: made" make_squashfs zstd.squashfs -comp zstd -no-fragments &&
	damage squashfs zstd.squashfs "$work/tree"
check "stored.squashfs: made" make_squashfs stored.squashfs -noD -noF &&
	damage squashfs stored.squashfs "$work/tree"
check "rows.h5: made" make_rows && damage rows rows.h5
check "chunks.h5: made" make_hdf5 chunks.h5 --encoding gzip-shuffle-fletcher &&
	damage hdf5 chunks.h5 "$work/tree"
check "plain.h5: made" make_hdf5 plain.h5 --encoding uint8 &&
	damage hdf5 plain.h5 "$work/tree"
check "latest.h5: made" make_hdf5 latest.h5 --encoding gzip --libver latest &&
	damage hdf5 latest.h5 "$work/tree"
finish
