#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# The four laws of labels in each format: never silently mixed, never silently shifted, an
# option that is named works, rows and arrays can the same. laws.py has the cases, a table of
# formats and laws.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built hdf5
need_python h5py
scripts=$abs_top_srcdir/tests/mount

# granary_of OPTIONS COMMAND...: a command with these options, and no index
granary_of() {
	local options=index=off command=$2
	[ "$1" = - ] || options=$options,$1
	shift 2
	# the sources of a case are patterns
	# shellcheck disable=SC2086
	timeout 60 "$granary" $command -o "$options" $* 2>"$work/said"
}

# directories OPTIONS SOURCES: "train/0:2", a word for each directory with files
directories() {
	granary_of "$1" "ls -R --json" "$2" | "$python" -c '
import collections, json, os, sys
counts = collections.Counter()
for line in sys.stdin:
    entry = json.loads(line)
    if entry["kind"] == "file":
        counts[os.path.dirname(entry["path"]) or "."] += 1
print(" ".join(f"{name}:{n}" for name, n in sorted(counts.items())))'
}

# named: the options in what was told
named() {
	grep -ohE -- "(-o |[^a-z-])(labels|view|nested|sidecars|duplicates)=[a-zA-Z0-9_./]+" \
		"$work/said" "$work/info" | grep -oE "[a-z]+=[a-zA-Z0-9_./]+" | grep -v NAME |
		sed 's/\.$//' | sort -u
}

# follow NAME OPTIONS SOURCES: each option that was named works there
follow() {
	local option
	# one of the case's files, where that is the option's condition
	if grep -q "view=tree of one file" "$work/info"; then
		for option in $3; do
			granary_of view=tree info "$option" >/dev/null
			is $? 0 "$1: view=tree of $option works" || diag "$(cat "$work/said")"
		done
		granary_of "$2" info "$3" | sed 's/view=tree of one file//' >"$work/info"
	fi
	for option in $(named); do
		if [ "$2" = - ]; then
			granary_of "$option" info "$3" >/dev/null
		else
			granary_of "$2,$option" info "$3" >/dev/null
		fi
		is $? 0 "$1: $option, which is named, works" || diag "$(cat "$work/said")"
	done
}

try_case() {
	local name=$1 status=$2 options=$3 sources=$4 shows=$5 tells=$6 is
	cd "$work/cases/$name" || return
	granary_of "$options" info "$sources" >"$work/info"
	is $? "$status" "$name: status $status" || diag "$(cat "$work/said")"
	if [ "$tells" != - ]; then
		grep -qF -- "$tells" "$work/said" "$work/info"
		ok $? "$name: told" || diag "$(cat "$work/said" "$work/info")"
	fi
	grep -E "^(note|granary)" "$work/info" "$work/said" >"$work/told"
	follow "$name" "$options" "$sources"
	[ "$shows" != - ] || return
	is=$(directories "$options" "$sources")
	is "$is" "$shows" "$name: shown"
}

check "cases are written" "$python" "$scripts/laws.py" write "$work/cases"
"$python" "$scripts/laws.py" table >"$work/table"
is "$(grep -cP "\t0(\t|$)" "$work/table")" 0 "each law has a case in each format"
diag "$(cat "$work/table")"
while IFS=$'\t' read -r name status options sources shows tells; do
	try_case "$name" "$status" "$options" "$sources" "$shows" "$tells" </dev/null
done <"$work/cases/cases"
finish
