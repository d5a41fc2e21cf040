#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# granary ls -R from an index takes no longer than ls -R takes on tmpfs.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need tar

files=100000

# microseconds COMMAND...
microseconds() {
	local begin=${EPOCHREALTIME/./}
	"$@" >/dev/null || return 1
	echo $((${EPOCHREALTIME/./} - begin))
}

least() {
	printf '%s\n' "$@" | sort -n | head -n 1
}

memory_directory
"$fixtures/make-many-tar" "$work/many.tar" "$files" --size 0 --tree "$memory/many" ||
	bail "no tar"
check "index" granary index "$work/many.tar"
is "$(granary ls -R "$work/many.tar" | grep -c JPEG)" "$files" "ls -R: every name"
granary ls -R "$work/many.tar" | LC_ALL=C sort >"$work/got"
(cd "$memory/many" && find . -mindepth 1 -printf '%P\n') | LC_ALL=C sort >"$work/wanted"
check "ls -R: as find has them" cmp "$work/got" "$work/wanted"
ours=() theirs=()
for _ in 1 2 3 4 5; do
	ours+=("$(microseconds granary ls -R "$work/many.tar")")
	theirs+=("$(microseconds env LC_ALL=C ls -R "$memory/many")")
done
at_most "$(least "${ours[@]}")" "$(least "${theirs[@]}")" "ls -R: no slower than on tmpfs"
diag "microseconds for $files names: granary ${ours[*]}; ls ${theirs[*]}"
finish
