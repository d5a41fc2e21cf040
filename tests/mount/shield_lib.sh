# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# shield_lib.sh: archives and mounts for the tests of the shield. Sourced by them.

# A mount namespace of its own, with everything private: no other process, and nobody
# else's test, can hold a copy of what is mounted here.
# shellcheck source=tests/own_namespace.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/own_namespace.sh"

# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar timeout setpriv setfattr setarch unshare
helpers=$abs_top_srcdir/tests/mount

make_archives() {
	local tree=$work/tree
	mkdir -p "$tree/directory/deep" "$tree/private"
	echo first >"$tree/a-file"
	printf '#!/bin/sh\necho ran\n' >"$tree/program"
	chmod 755 "$tree/program"
	ln "$tree/a-file" "$tree/directory/same"
	ln "$tree/a-file" "$tree/directory/deep/same"
	ln -s ../a-file "$tree/directory/link"
	truncate -s 3M "$tree/holes"
	printf data | dd of="$tree/holes" bs=1 seek=1M conv=notrunc status=none
	head -c 5000000 /dev/urandom >"$tree/large"
	echo secret >"$tree/private/file"
	echo closed >"$tree/closed"
	chown -R 1234:4321 "$tree/closed" "$tree/private"
	chmod 700 "$tree/private"
	chmod 600 "$tree/closed"
	for ((i = 0; i < 200; i++)); do
		head -c $((i * 50)) /dev/urandom >"$tree/directory/deep/$i"
	done
	tar --format=pax --sparse -C "$tree" -cf "$work/t.tar" .
	"$granary" index "$work/t.tar" >/dev/null || bail "no index"
	marked_archive
	"$granary" index "$work/marked.tar" >/dev/null || bail "no index"
	chmod a+r "$work"/*.tar*
}

# With all that means something to overlayfs: whiteouts, opaque directories, redirects.
marked_archive() {
	"$python" - "$work/marked.tar" <<-'END'
	import io, sys, tarfile
	MARKS = {"opaque": "y", "whiteout": "y", "redirect": "/other", "metacopy": "",
	         "origin": "x", "impure": "y", "nlink": "U+1"}
	def add(tar, name, type=tarfile.REGTYPE, data=b"", shown="user.shown", **more):
	    info = tarfile.TarInfo(name)
	    info.type, info.size, info.mode = type, len(data), 0o755
	    for key, value in more.items():
	        setattr(info, key, value)
	    info.pax_headers = {"SCHILY.xattr." + shown: "yes"}
	    for mark, value in MARKS.items():
	        for space in "user", "trusted":
	            info.pax_headers["SCHILY.xattr.%s.overlay.%s" % (space, mark)] = value
	    tar.addfile(info, io.BytesIO(data))
	with tarfile.open(sys.argv[1], "w", format=tarfile.PAX_FORMAT) as tar:
	    for directory in "one", "two":
	        add(tar, directory, tarfile.DIRTYPE)
	        add(tar, directory + "/file", data=directory.encode())
	        add(tar, directory + "/empty")
	        add(tar, directory + "/.wh.file", data=b"not a whiteout")
	        add(tar, directory + "/.wh..wh..opq")
	        add(tar, directory + "/gone", tarfile.CHRTYPE, devmajor=0, devminor=0)
	        add(tar, directory + "/link", tarfile.SYMTYPE, linkname="file")
	    add(tar, "other", tarfile.DIRTYPE)
	END
}

make_faulty() {
	mkdir "$work/faulty"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	ln -s "$granary" "$work/faulty/granary"
}

# ---- Small things -------------------------------------------------------------

# start OPTIONS [SOURCE]: in the background, at $mnt, with its log in $log; shielded early
# where OPTIONS do not say otherwise.
log=$work/log
start() {
	: >"$log"
	watch_mount "$mnt"
	timeout 30 "${kernel[@]}" "$granaryfs" -o "log=$log,shield=early,$1" "${2:-$work/t.tar}" "$mnt" \
		2>"$work/said"
}
kernel=()   # before granaryfs: what the kernel lacks

shielded_ok() {
	local description=$1
	shift
	start "$@"
	is $? 0 "$description: mounted" || diag "$(cat "$work/said")"
	check "$description: shielded" is_shielded "$mnt"
	is "$(mount_lines "$mnt" | wc -l)" 1 "$description: one mount is seen"
	check "$description: and said" grep -q ': shielded by an overlay' "$log"
}

bare_ok() {
	local description=$1
	shift
	start "$@"
	is $? 0 "$description: mounted" || diag "$(cat "$work/said")"
	is "$(mount_lines "$mnt" | awk '{ print $3 }')" fuse.granaryfs "$description: bare"
	check "$description: and said" grep -q ': without the shield: ' "$log"
}

# left DESCRIPTION [COMMAND...]: one umount, and nothing remains.
left() {
	local description=$1
	shift
	[ $# -gt 0 ] || set -- umount "$mnt"
	check "$description: unmounted" timeout 20 "$@"
	check "$description: no mount" not_mounted "$mnt"
	check "$description: no process" wait_until 20 no_daemon "$mnt"
}

supervisor() {
	daemon_pids "$mnt" | head -n 1
}

options_of() {
	mount_lines "$mnt" | awk '{ print $4 }' | tr ',' '\n'
}

litter() {
	local place
	for place in /run /tmp /dev/shm; do
		find "$place" -maxdepth 1 -name 'granaryfs.*'
	done
}

# shared_mount: $mnt below a place that is shared with $work/peer, as where systemd
# makes all mounts shared: what is mounted appears in each peer. The caller has `local mnt`.
shared_mount() {
	mnt=$work/shared/mnt
	mkdir -p "$work/shared"
	mount -t tmpfs none "$work/shared"
	at_exit umount "$work/shared"
	mount --make-shared "$work/shared"
	mkdir "$mnt" "$work/peer"
	mount --bind "$work/shared" "$work/peer"
	at_exit umount "$work/peer"
}

# peer_shielded, peer_left: what $work/peer has of it.
peer_shielded() {
	is "$(mount_lines "$work/peer/mnt" | awk '{ print $3 }')" overlay "shared: so is the peer"
}

peer_left() {
	left "shared"
	check "shared: the peer's is gone" not_mounted "$work/peer/mnt"
}

same_bytes() {
	cmp -s "$work/tree/large" "$1"
}
