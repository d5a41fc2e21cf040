# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# pack_lib.sh: for the tests of `granary pack`. Sourced by them after tests/lib.sh.

# refused STATUS WORDS DESCRIPTION COMMAND...: it fails so, and its one sentence says this.
refused() {
	local wanted=$1 words=$2 description=$3
	shift 3
	"$@" >"$work/out" 2>"$work/said"
	is "$?" "$wanted" "$description"
	is "$(grep -c . "$work/said")" 1 "$description: one sentence"
	check "$description: it says so" grep -qF -- "$words" "$work/said"
}

# names_in DIRECTORY: all, the hidden ones too.
names_in() {
	find "$1" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' '
}

pack() {
	"$granary" pack --quiet "$@"
}
