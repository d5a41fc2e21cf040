#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A new format is a directory, a line, a page and tests: tests/stub-format/ is added to a copy
# of the source, built and read, and no file changes but those that docs/HACKING.md names.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need autoreconf make python3
stub=$abs_top_srcdir/tests/stub-format

# Without what is made: of that bootstrap makes anew what it needs.
copy() {
	mkdir copy
	(cd "$abs_top_srcdir" && tar --exclude='./build*' --exclude=./.git --exclude='*.o' \
		--exclude=./autom4te.cache -cf - .) | tar -xf - -C copy
	chmod -R u+w copy
	cd copy || bail "no copy of the source"
	find . -type f | LC_ALL=C sort >../before
}

# The edits that docs/HACKING.md lists.
edit() {
	cat >>src/format/formats.def <<-'EOS'
		FORMAT(format_stub, "stub", "stub (one file)", ALWAYS)
	EOS
	cat >>src/place/format_options.def <<-'EOS'
		FORMAT_OPTION(CHOICE, stub_case, WORDS("keep", "upper"), "keep|upper",
			      "letters of the name (keep)", " stub ")
	EOS
	sed -i '/^| tar | v7/i | stub | one file | it |' README.md
}

# Files that were there and differ now, but for what bootstrap makes.
changed() {
	local file

	while read -r file; do
		[ -e "$abs_top_srcdir/$file" ] && cmp -s "$file" "$abs_top_srcdir/$file" && continue
		case $file in
		./aclocal.m4 | ./configure | ./config.h.in | ./Makefile.in | ./build-aux/* | \
			./src/format/formats.am | ./tests/fuzz/formats.am | ./tests/found.am) ;;
		*) echo "${file#./}" ;;
		esac
	done <../before
}

# Nothing but tar and this, so that it is built soon.
build() {
	local without

	without=$(sed -n 's/^GRANARY_OPTIONAL(\[\([a-z0-9]*\)\].*/--without-\1/p' \
		m4/granary_library.m4)
	# shellcheck disable=SC2086  # options are words
	./bootstrap && mkdir build && cd build && ../configure --enable-developer $without &&
		make -j2 granaryfs granary tests/bin/format-stub tests/bin/fuzz-stub
}

cd "$work" || exit 99
copy
cp -R "$stub/." .
check "edits" edit
count=$(changed | wc -l)
check "at most 8 files that are there change: $count" [ "$count" -le 8 ]
for file in $(changed); do
	check "docs/HACKING.md names $file" grep -qF "$file" \
		<(sed -n '/^## Add a format/,/^## Add a format to write/p' docs/HACKING.md)
done
check "check-layers" tools/dev/check-layers
(build) >../build.log 2>&1
ok $? "it is built" || diag "$(grep -iE 'error|\*\*\*' ../build.log | head -20)"
check "its test passes" build/tests/bin/format-stub
mkdir seeds
check "its seeds are made" tests/fuzz/seeds-stub seeds
check "a seed is served" grep -q "served: 1 files" <(build/tests/bin/fuzz-stub --say seeds/one)
printf 'granstuba.txt\ntext' >x.stub
is "$(build/granary ls -o index=off x.stub)" a.txt "a file is listed"
is "$(build/granary ls -o index=off,stub_case=upper x.stub)" A.TXT "its option is followed"
check "--help has its words" grep -q 'stub (one file)' <(build/granaryfs --help)
granaryfs=$work/copy/build/granaryfs
mkdir mnt
at_exit sh -c "umount -l '$work/copy/mnt' 2>/dev/null"
check "it is mounted" timeout 60 "$granaryfs" -o stub_case=upper,index=off x.stub mnt
is "$(timeout 10 cat mnt/A.TXT)" text "a mounted file has its bytes"
check "it is unmounted" timeout 60 build/granary umount mnt
finish
