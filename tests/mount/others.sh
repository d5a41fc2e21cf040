#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Archives that we did not make: Debian's source tarballs and npm's packages,
# against what GNU tar makes of them. They come from the package managers'
# configured sources; where there is no network this is a skip outside CI.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar gzip bzip2 xz
mkdir "$work/got"

# patiently COMMAND...: a busy mirror answers the second or the third time.
patiently() {
	local round
	for round in 1 2 3; do
		"$@" && return 0
		[ "$round" = 3 ] || sleep 15
	done
	return 1
}

# A private copy of apt's configuration, which has the sources of packages too.
apt_source() {
	local lists=$work/apt
	rm -rf "$lists"
	mkdir -p "$lists/sources" "$lists/lists/partial"
	add_source_entries "$lists/sources"
	options=(-o Dir::Etc::SourceList=/dev/null
		-o Dir::Etc::SourceParts="$lists/sources"
		-o Dir::State::Lists="$lists/lists"
		-o APT::Sandbox::User=root -o Acquire::Retries=3 -q)
	apt-get "${options[@]}" update >"$work/apt.log" 2>&1 &&
		(cd "$work/got" && apt-get "${options[@]}" source --tar-only "$@") \
			>>"$work/apt.log" 2>&1
}

# Of one-line and deb822 files: the distribution's own archive is enough.
add_source_entries() {
	local file
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -f "$file" ] && grep -E '^deb .*debian' "$file" |
			sed 's/^deb /deb-src /' >>"$1/one-line.list"
	done
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] && grep -q -i 'debian-archive' "$file" &&
			sed 's/^Types:.*/Types: deb-src/' "$file" >"$1/${file##*/}"
	done
	return 0
}

npm_packages() {
	(cd "$work/got" && HOME=$caller_home npm_config_cache=$work/npm npm pack --silent "$@") >"$work/npm.log" 2>&1
}

# plain FILE: the archive without its compression, as FILE.tar.
plain() {
	case $1 in
	*.gz | *.tgz) gzip -dc "$1" ;;
	*.xz) xz -dc "$1" ;;
	*.bz2) bzip2 -dc "$1" ;;
	*) cat "$1" ;;
	esac >"$work/plain.tar"
}

try() {
	local name=${1##*/} to=$work/unpacked
	mkdir "$to"
	check "$name: unpacked" plain "$1" || return
	check "$name: GNU tar reads it" tar --numeric-owner -C "$to" -xpf "$work/plain.tar"
	if mount_ok "$name: mounted" -o index=off "$work/plain.tar" "$mnt"; then
		# A directory that no member names has the time of the unpacking.
		check "$name: the same tree" compare --seconds --no-directory-attributes \
			--mode-mask 777 "${owner[@]}" "$to" "$mnt"
		umount_ok "$mnt" "$name: unmounted"
	fi
	chmod -R u+w "$to"
	rm -r "$to"
}

owner=()
is_root || owner=(--no-owner)
if command -v apt-get >/dev/null; then
	patiently apt_source hello zlib || {
		skip "the package registry did not answer: $(tail -n 1 "$work/apt.log")" \
			"Debian's source tarballs"
	}
else
	skip "there is no apt-get" "Debian's source tarballs"
fi
if command -v npm >/dev/null; then
	patiently npm_packages is-number lodash ||
		skip "the package registry did not answer: $(tail -n 1 "$work/npm.log")" \
			"npm packages"
else
	# npm is no part of what the tests install: Debian's tarballs are enough.
	diag "npm is not installed: its packages are left out"
fi
for file in "$work"/got/*.tar.* "$work"/got/*.tgz; do
	case $file in
	*'*'* | *.asc | *.debian.tar.*) continue ;;
	esac
	try "$file"
done
[ "$tap_count" -gt 0 ] || ok 1 "at least one archive"
finish
