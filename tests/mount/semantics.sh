#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Promises of a mount beside bytes: read-only, safe, countable, and as quiet
# as the kernel allows.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need tar getfattr setfattr df stat find

flat=2000 # files in the directory whose listing is tested

make_archive() {
	local i
	mkdir -p "$work/tree/flat" "$work/tree/a/b/c" "$work/tree/private"
	for ((i = 0; i < flat; i++)); do
		printf '%d' "$i" >"$work/tree/flat/file-$i"
	done
	echo data >"$work/tree/a/file"
	echo data >"$work/tree/a/b/c/deep"
	ln "$work/tree/a/file" "$work/tree/a/b/link"
	ln -s ../file "$work/tree/a/b/symlink"
	head -c 3000000 /dev/zero | tr '\0' x >"$work/tree/a/large"
	echo s >"$work/tree/setuid"
	echo s >"$work/tree/private/secret"
	chmod 6755 "$work/tree/setuid"
	chmod 644 "$work/tree/a/file"
	chmod 600 "$work/tree/private/secret"
	chmod 700 "$work/tree/private"
	chmod 711 "$work/tree/a/b/c"
	mkfifo "$work/tree/fifo"
	if is_root; then mknod "$work/tree/device" c 1 3; fi
	tar --numeric-owner -C "$work/tree" -cf "$work/t.tar" .
}

# erofs COMMAND...: fails, and says that the filesystem is read-only.
erofs() {
	local said
	said=$(LC_ALL=C "$@" 2>&1) && return 1
	case $said in
	*'Read-only file system'*) return 0 ;;
	esac
	echo "$said"
	return 1
}

writes_refused() {
	check "touch a new file: EROFS" erofs touch "$mnt/new"
	check "mkdir: EROFS" erofs mkdir "$mnt/new"
	check "rm: EROFS" erofs rm -f "$mnt/a/file"
	check "rmdir: EROFS" erofs rmdir "$mnt/a/b/c"
	check "mv: EROFS" erofs mv "$mnt/a/file" "$mnt/a/other"
	check "chmod: EROFS" erofs chmod 777 "$mnt/a/file"
	check "chown: EROFS" erofs chown "$(id -u)" "$mnt/a/file"
	check "ln: EROFS" erofs ln "$mnt/a/file" "$mnt/a/other"
	check "ln -s: EROFS" erofs ln -s x "$mnt/a/other"
	check "truncate: EROFS" erofs truncate -s 0 "$mnt/a/file"
	check "mkfifo: EROFS" erofs mkfifo "$mnt/new"
	check "setfattr: EROFS" erofs setfattr -n user.x -v 1 "$mnt/a/file"
	check "touch an old file: EROFS" erofs touch "$mnt/a/file"
	# shellcheck disable=SC2016  # the inner shell expands it
	check "append: EROFS" erofs sh -c 'echo x >>"$1"' sh "$mnt/a/file"
	# shellcheck disable=SC2016
	check "overwrite: EROFS" erofs sh -c 'echo x >"$1"' sh "$mnt/a/file"
}

mount_options() {
	awk -v where="$mnt" '$2 == where { print $4 }' /proc/mounts | tr , '\n'
}

has_mount_options() {
	local name found
	found=$(mount_options)
	for name; do
		printf '%s\n' "$found" | grep -q -x "$name" || {
			echo "no $name in $found"
			return 1
		}
	done
}

safe_whatever_is_asked() {
	check "mounted ro,nosuid,nodev" has_mount_options ro nosuid nodev
	umount_ok "$mnt"
	mount_ok "mounted with -o suid,dev,exec" -o suid,dev,exec "$work/t.tar" "$mnt" || return
	check "still ro,nosuid,nodev" has_mount_options ro nosuid nodev
	umount_ok "$mnt"
	# Asking for rw may be refused; it may never be granted.
	if "$granaryfs" -o rw "$work/t.tar" "$mnt" 2>"$work/said"; then
		watch_mount "$mnt"
		check "mounted with -o rw, and ro all the same" has_mount_options ro
		leave_mount "$mnt"
		wait_until 10 no_daemon "$mnt"
	else
		is "$(wc -l <"$work/said")" 1 "-o rw is refused with a sentence"
	fi
}

attributes() {
	is "$(stat -c %a "$mnt/setuid")" 755 "set-id bits are masked"
	refuse "FIFOs are hidden" test -e "$mnt/fifo"
	refuse "devices are hidden" test -e "$mnt/device"
	is "$(find "$mnt" -type p -o -type c -o -type b | wc -l)" 0 "none is listed"
	is "$(stat -c %h "$mnt/a/file" "$mnt/a/b/link" | tr '\n' ' ')" "2 2 " \
		"a hard link counts two"
	is "$(stat -c %i "$mnt/a/file")" "$(stat -c %i "$mnt/a/b/link")" \
		"both names have one inode number"
	is "$(stat -c %h "$mnt/a")" 3 "a directory counts its directories"
	is "$(stat -c %h "$mnt")" 5 "the root does too"
	is "$(readlink "$mnt/a/b/symlink")" ../file "symbolic link"
	is "$(cat "$mnt/a/b/symlink")" data "read through a symbolic link"
	is "$(stat -c %s "$mnt/a/b/symlink")" 7 "size of a symbolic link"
	is "$(stat -c %s,%b "$mnt/a/large")" "3000000,$(((3000000 + 511) / 512))" \
		"size and blocks of a file"
}

# Inodes are the entries; the size is that of the data.
statfs() {
	local entries used size
	entries=$(find "$mnt" | wc -l)
	used=$(df --output=iused "$mnt" | tail -n 1)
	size=$(df -B1 --output=size "$mnt" | tail -n 1)
	# A hard link is an entry without an inode of its own.
	[ "$used" -ge $((entries - 1)) ] && [ "$used" -le "$entries" ]
	ok $? "df -i: $entries entries, $used inodes"
	[ "$size" -ge 3000000 ] && [ "$size" -lt 20000000 ]
	ok $? "df: the size is that of the data ($size)"
	is "$(($(df --output=avail "$mnt" | tail -n 1)))" 0 "df: nothing is available"
}

listings() {
	check "a directory of $flat: sorted, with offsets that stay" \
		"$python" "$abs_top_srcdir/tests/mount/readdir.py" "$mnt/flat"
	check "the root: sorted, with offsets that stay" \
		"$python" "$abs_top_srcdir/tests/mount/readdir.py" "$mnt"
}

# On a fresh mount: listings bring the attributes.
find_is_quiet() {
	local before after
	before=$(requests "$mnt")
	find "$mnt" -printf '%s %m %T@\n' >/dev/null
	after=$(requests "$mnt")
	is "$(request_change fuse_lookup "$before" "$after")" 0 "find: no lookups"
	at_most "$(request_change fuse_getattr "$before" "$after")" 1 \
		"find: at most one getattr, for the root"
	# find itself asks for the type of the filesystem once.
	find "$mnt" -printf '%s %m %T@\n' >/dev/null
	is "$(request_changes "$after" "$(requests "$mnt")" |
		grep -v -E 'readdir|opendir|releasedir|statfs')" "" \
		"a second find: nothing but listings, if anything"
}

negative_lookups() {
	local before
	[ -e "$mnt/a/missing" ]
	before=$(requests "$mnt")
	[ -e "$mnt/a/missing" ]
	[ -e "$mnt/a/missing" ]
	is "$(request_changes "$before" "$(requests "$mnt")")" "" \
		"a name that was missing once is not asked for again"
}

# `ls -l` asks for attributes of every file; once must be enough when there are none.
no_xattrs() {
	local before after
	before=$(requests "$mnt")
	find "$mnt/flat" -name 'file-1*' -exec getfattr {} + >/dev/null 2>&1
	find "$mnt/flat" -name 'file-1*' -exec getfattr -n user.x {} + >/dev/null 2>&1
	after=$(requests "$mnt")
	at_most "$(request_change fuse_listxattr "$before" "$after")" 1 \
		"no xattrs: listxattr is asked at most once"
	at_most "$(request_change fuse_getxattr "$before" "$after")" 1 \
		"no xattrs: getxattr is asked at most once"
	is "$(getfattr --absolute-names -d "$mnt/a/file" 2>/dev/null)" "" "no xattrs: none are shown"
}

# opened OPTIONS: open requests for 200 opens.
opened() {
	local before i
	before=$(requests "$mnt")
	for ((i = 0; i < 200; i++)); do
		read -r _ <"$mnt/flat/file-$i"
	done
	request_change fuse_open "$before" "$(requests "$mnt")"
}

opens() {
	at_most "$(opened)" 1 "opens=hidden: at most one open request"
	umount_ok "$mnt"
	mount_ok "mounted with opens=visible" -o opens=visible "$work/t.tar" "$mnt" || return
	is "$(opened)" 200 "opens=visible: one request an open"
	umount_ok "$mnt"
}

xattrs() {
	local tree=$work/attributed
	mkdir "$tree"
	echo 1 >"$tree/with"
	echo 2 >"$tree/without"
	setfattr -n user.note -v "a value" "$tree/with" 2>/dev/null || {
		skip "this filesystem has no user xattrs" "xattrs"
		return
	}
	setfattr -n user.other -v 0x00ff00 "$tree/with"
	tar --format=pax --xattrs -C "$tree" -cf "$work/x.tar" .
	mount_ok "xattrs: mounted" "$work/x.tar" "$mnt" || return
	is "$(getfattr --absolute-names --only-values -n user.note "$mnt/with")" "a value" \
		"xattrs: a value"
	is "$(getfattr --absolute-names -e hex -d "$mnt/with" | tail -n +2)" \
		"$(getfattr --absolute-names -e hex -d "$tree/with" | tail -n +2)" "xattrs: all of a file"
	is "$(getfattr --absolute-names -d "$mnt/without")" "" "xattrs: a file without any"
	refuse "xattrs: a name that is not there" getfattr -n user.none "$mnt/with"
	umount_ok "$mnt"
}

# shown OPTION FORMAT PATH
shown() {
	stat -c "$2" "$mnt/$3"
}

owner_options() {
	mount_ok "mounted with uid, gid, umask" -o uid=1234,gid=4321,umask=027 \
		"$work/t.tar" "$mnt" || return
	is "$(shown '' %u,%g a/file)" 1234,4321 "uid= and gid="
	is "$(shown '' %a a/file)" 640 "umask= on a file"
	is "$(shown '' %a a/b/c)" 710 "umask= on a directory"
	umount_ok "$mnt"
}

part_options() {
	mount_ok "mounted with subdir" -o subdir=a/b "$work/t.tar" "$mnt" || return
	is "$(cd "$mnt" && find . | LC_ALL=C sort | tr '\n' ' ')" \
		". ./c ./c/deep ./link ./symlink " "subdir= shows that directory as the root"
	is "$(cat "$mnt/link")" data "subdir=: a hard link to a file outside"
	umount_ok "$mnt"
	refuse "subdir= of nothing: refused" "$granaryfs" -o subdir=nothing "$work/t.tar" "$mnt"
	refuse "subdir= of a file: refused" "$granaryfs" -o subdir=a/file "$work/t.tar" "$mnt"
	{ head -c 4096 /dev/urandom && cat "$work/t.tar"; } >"$work/junk.bin"
	junk_in_front base
	junk_in_front offset
	refuse "base= into nowhere: refused" \
		"$granaryfs" -o base=99999999999 "$work/junk.bin" "$mnt"
}

junk_in_front() {
	mount_ok "mounted with $1=4096" -o "$1=4096,index=off" "$work/junk.bin" "$mnt" || return
	check "$1=: the tree is right" compare --ignore-special --mode-mask 777 --seconds \
		"$work/tree" "$mnt"
	umount_ok "$mnt"
}

other_users() {
	mount_ok "mounted without allow_other" "$work/t.tar" "$mnt" || return
	refuse "without allow_other another user sees nothing" as_nobody ls "$mnt"
	umount_ok "$mnt"
	mount_ok "mounted with allow_other, bare" -o allow_other,shield=off "$work/t.tar" "$mnt" ||
		return
	check "allow_other comes with default_permissions" has_mount_options allow_other \
		default_permissions
	others_as_permitted
	mount_ok "mounted with allow_other" -o allow_other "$work/t.tar" "$mnt" || return
	others_as_permitted
}

others_as_permitted() {
	is "$(as_nobody cat "$mnt/a/file" 2>&1)" data "allow_other: a file for everyone"
	refuse "allow_other: modes are respected" as_nobody cat "$mnt/private/secret"
	refuse "allow_other: modes of directories too" as_nobody ls "$mnt/private"
	refuse "allow_other: a directory with x alone is not listed" as_nobody ls "$mnt/a/b/c"
	is "$(as_nobody cat "$mnt/a/b/c/deep" 2>&1)" data "allow_other: but can be walked"
	umount_ok "$mnt"
}

make_archive
mount_ok "mounted" "$work/t.tar" "$mnt" || finish
find_is_quiet
negative_lookups
no_xattrs
writes_refused
attributes
statfs
listings
opens
mount_ok "mounted again" "$work/t.tar" "$mnt" && safe_whatever_is_asked
xattrs
owner_options
part_options
if is_root; then
	need setpriv
	other_users
else
	skip "only root can become another user" "allow_other"
fi
finish
