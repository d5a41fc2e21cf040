# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# rows_lib.sh: mounts of files of rows, whose fixtures are in a directory of the format's name.
# Sourced behind tests/lib.sh.

# begin_rows FORMAT: the fixtures, in $work, which is the working directory from now on.
begin_rows() {
	rows_format=$1
	cp "$fixtures/$rows_format"/* "$work"
	cd "$work" || exit 99
	check "the fixtures are those that were written" sha256sum --quiet -c SHA256SUMS
}

# shown FILE...: one mount of them.
shown() {
	mount_ok "$*: mounted" "$@" "$mnt" || return
	check "$*: every row is a file, in its class, with its bytes" \
		"$python" "$abs_top_srcdir/tests/mount/file_rows.py" "$rows_format" "$mnt" "$@"
	umount_ok "$mnt" "$*: unmounted"
}

# refused_as WORDS SOURCE...: it is refused, in a sentence.
refused_as() {
	local words=$1
	shift
	says 3 "$words" "$*: refused, and says $words" "$granary" info -o index=off "$@"
}

# image_folder FUNCTION: as ImageFolder sees it, where torchvision is installed.
image_folder() {
	if "$python" -c 'import torchvision' 2>/dev/null; then
		"$1"
	else
		skip "Python's torchvision is not installed" "train: ImageFolder's classes"
	fi
}
