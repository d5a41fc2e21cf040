#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# Findings about the choice of labels in an HDF5 file: the log and info say the same,
# and every option that is named works on the file that it is said of.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_python h5py PIL
scripts=$abs_top_srcdir/tests/mount

# info OPTIONS SOURCE...: what it prints in $work/info, what it logs in $work/said
info() {
	timeout 60 "$granary" info -o index=off "$@" >"$work/info" 2>"$work/said"
}

# The options that were named, a line for each; NAME and FILE stand for the user's own.
options() {
	cat "$work/info" "$work/said" | grep -oE -- "-o (labels|view)=[a-z_]+" |
		sed 's/^-o //' | sort -u
}

# follow NAME SOURCE...: each option that was named is taken
follow() {
	local name=$1 option
	shift
	for option in $(options); do
		info -o "$option" "$@"
		is "$?" 0 "$name: -o $option, which is named, works" || diag "$(cat "$work/said")"
	done
}

said() {
	local file name
	for file in "$work"/files/said/*.h5; do
		name=$(basename "$file" .h5)
		info "$file"
		is "$?" 0 "$name: shown" || diag "$(cat "$work/said")"
		grep -qF -- "$(cat "${file%.h5}.words")" "$work/said"
		ok $? "$name: the log says why" || diag "$(cat "$work/said")"
		is "$(wc -l <"$work/said" | awk '{ print ($1 <= 11) }')" 1 "$name: at most ten warnings"
		"$granary" info --json -o index=off "$file" 2>"$work/said" >"$work/info"
		"$python" -c '
import json, sys
notes = json.load(open(sys.argv[1]))["notes"]
said = [line.rstrip("\n").removeprefix("granary: ") for line in open(sys.argv[2])]
assert said == notes, (said, notes)
' "$work/info" "$work/said"
		ok $? "$name: info says the same" || diag "$(cat "$work/said" "$work/info")"
		info "$file"
		follow "$name" "$file"
	done
}

refused() {
	local file name
	for file in "$work"/files/refused/*.h5; do
		name=$(basename "$file" .h5)
		info "$file"
		is "$?" 3 "$name: refused"
		is "$(options)" view=tree "$name: with an option"
		follow "$name" "$file"
	done
}

pairs() {
	local files=$work/files/pairs
	mount_ok "labels in a second file: mounted" -o index=off "$files"/pcam_train_{x,y}.h5 "$mnt" || return
	is "$(cd "$mnt" && echo */*)" "0/0.ppm 0/2.ppm 1/1.ppm 1/3.ppm" "they label the rows of the first"
	umount_ok "$mnt"
	is "$("$granary" ls -R -o index=off "$files/images.h5" "$files/labels.h5" 2>/dev/null | grep jpg | xargs)" \
		"a/0.jpg a/2.jpg b/1.jpg b/3.jpg b/4.jpg" "texts in a second file, whatever its array is called"
	info "$files"/short_train_{x,y}.h5
	is "$?" 3 "labels that are too few, in a second file: refused" || diag "$(cat "$work/said")"
	follow "too few" "$files"/short_train_{x,y}.h5
	info "$files"/pcam_train_x.h5
	is "$?" 0 "images alone: shown"
}

layout() {
	info "$abs_top_srcdir/tests/fixtures/hdf5/layout-5.h5"
	if [ $? -eq 0 ]; then
		is "$(grep -c "^files *20" "$work/info")" 1 "a layout of HDF5 2.0 is read"
		return
	fi
	grep -q 'libver=("earliest", "v114")' "$work/said" && grep -q "HDF5 2.0" "$work/said" &&
		! grep -q damaged "$work/said"
	ok $? "a layout of HDF5 2.0 is named, with what helps" || diag "$(cat "$work/said")"
}

# Findings are told where indexing then fails.
told_of_failure() {
	local rivals="could have them from 'label2'"
	"$python" -c '
import h5py, numpy, sys
with h5py.File(sys.argv[1], "w") as f:
    f["images"], f["labels"] = numpy.zeros((3, 8, 8, 3), "u1"), [0, 1, 2]
    f["label2"] = [0, 0, 1]' "$work/two.h5"
	printf 'a\nb\n' >"$work/list"
	info -o "classes=$work/list" "$work/two.h5"
	is "$?" 3 "a list that is too short: refused"
	is "$(grep -c "$rivals" "$work/said")" 1 "a list that is too short: findings are told" ||
		diag "$(cat "$work/said")"
}

check "files are written" "$python" "$scripts/h5_labels.py" "$work/files"
said
refused
pairs
layout
told_of_failure
finish
