#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# With whose rights packed files are opened and served: -o user=, what the server
# and the indexer may do, and who gets into the mount. Real users of every system
# are used; groups and homes of theirs come from private copies of /etc/passwd and
# /etc/group, in a mount namespace.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need tar setpriv unshare nsenter getent timeout

one=games
two=daemon
id "$one" >"$work/id" 2>&1 || lacking "there is no user $one"
id "$two" >"$work/id" 2>&1 || lacking "there is no user $two"
one_uid=$(id -u "$one")
one_gid=$(id -g "$one")
two_uid=$(id -u "$two")
two_gid=$(id -g "$two")
extra_gid=4242

public_programs
daemon=$work/programs/granaryfs
boxed=$work/box/mnt # a mount point within the namespace

# as UID:GID COMMAND...: with these ids only.
as() {
	local ids=$1
	shift
	setpriv --reuid="${ids%:*}" --regid="${ids#*:}" --clear-groups "$@"
}

# archive PATH OWNER:GROUP MODE: a tar of one's files, and of two's.
archive() {
	tar -C "$work/tree" -cf "$1" public of-one of-two
	chown "$2" "$1"
	chmod "$3" "$1"
}

make_archives() {
	local name
	mkdir "$work/tree" "$work/ones" "$work/roots"
	for name in public of-one of-two; do
		echo "$name" >"$work/tree/$name"
	done
	chown "$one_uid:$one_gid" "$work/tree/of-one"
	chown "$two_uid:$two_gid" "$work/tree/of-two"
	chmod 600 "$work/tree/of-one" "$work/tree/of-two"
	archive "$work/ones/ones.tar" "$one_uid:$one_gid" 400
	archive "$work/ones/twos.tar" "$two_uid:$two_gid" 400
	archive "$work/roots/roots.tar" 0:0 400
	archive "$work/roots/ones.tar" "$one_uid:$one_gid" 400
	archive "$work/roots/group.tar" "0:$extra_gid" 040
	chown "$one_uid:$one_gid" "$work/ones"
}

start() {
	watch_mount "$mnt"
	timeout 60 "$daemon" "$@"
}

ends() {
	wait_until 20 no_daemon "$mnt" && not_mounted "$mnt"
}

left() {
	leave_mount "$mnt"
	check "$1: unmounted, and the process ended" ends
}

# refused STATUS DESCRIPTION WORD... -- COMMAND...: it must fail with this status,
# and one line that has all the words.
refused() {
	local status=$1 what=$2 words=() got word
	shift 2
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	"$@" >"$work/refused" 2>&1
	got=$?
	is "$got" "$status" "$what: status"
	is "$(wc -l <"$work/refused")" 1 "$what: one line" || diag "$(cat "$work/refused")"
	for word in "${words[@]}"; do
		grep -q -F -- "$word" "$work/refused"
		ok $? "$what: names $word" || diag "$(cat "$work/refused")"
	done
}

# ---- Processes --------------------------------------------------------------

# Right after the start it is still becoming what it will be.
serves_without_rights() {
	server=$(server_pid "$1")
	[ -n "$server" ] && grep -q '^NoNewPrivs:.1$' "/proc/$server/status"
}

# status FILE FIELD: its numbers, with a blank between them.
status() {
	awk -v field="$2:" '$1 == field { $1 = ""; sub(/^ /, ""); sub(/ $/, ""); print }' "$1"
}

# powerless FILE WHO UID GID GROUPS: of a copy of /proc/PID/status. Who is started
# without a capability cannot empty the bounding set, nor gain anything through it:
# for that $bounds is empty.
bounds=CapBnd
powerless() {
	local file=$1 who=$2 uid=$3 gid=$4 name
	for name in CapInh CapPrm CapEff CapAmb $bounds; do
		is "$(status "$file" "$name")" 0000000000000000 "$who: $name"
	done
	is "$(status "$file" NoNewPrivs)" 1 "$who: no new privileges"
	is "$(status "$file" Uid)" "$uid $uid $uid $uid" "$who: the user"
	is "$(status "$file" Gid)" "$gid $gid $gid $gid" "$who: the group"
	is "$(status "$file" Groups)" "$5" "$who: the supplementary groups"
}

# server_is WHO MOUNTPOINT UID GID GROUPS: sets $server.
server_is() {
	wait_until 20 serves_without_rights "$2"
	ok $? "$1: there is one" || return
	serves_without_rights "$2"
	cp "/proc/$server/status" "$work/status"
	powerless "$work/status" "$1" "$3" "$4" "$5"
}

own_groups() {
	status /proc/$$/status Groups
}

# ---- The user's archives, and those of others -------------------------------

opens_as_the_user() {
	local user
	for user in "$one" "$one_uid"; do
		start -o "user=$user" "$work/ones/ones.tar" "$mnt"
		is $? 0 "user=$user: an archive that only this user may read"
		is "$(as "$one_uid:$one_gid" cat "$mnt/public")" public "user=$user: it is served"
		server_is "user=$user: the server" "$mnt" "$one_uid" "$one_gid" \
			"$(id -G "$one")"
		left "user=$user"
		is "$(stat -c %u:%g:%a "$work/ones/ones.tar.gidx")" "$one_uid:$one_gid:400" \
			"user=$user: the index beside it is the user's"
		rm -f "$work/ones/ones.tar.gidx"
	done
}

refuses_others_archives() {
	local path
	for path in "$work/ones/twos.tar" "$work/roots/roots.tar"; do
		refused 2 "user=$one, and ${path##*/}" "user id $one_uid " "$path" -- \
			start -o "user=$one" "$path" "$mnt"
		check "user=$one, and ${path##*/}: not mounted" not_mounted "$mnt"
		check "user=$one, and ${path##*/}: no process" no_daemon "$mnt"
	done
	start "$work/ones/twos.tar" "$mnt"
	is $? 0 "root without user= may"
	is "$(cat "$mnt/public")" public "root without user=: it is served"
	server_is "root's server" "$mnt" 0 0 "$(own_groups)"
	left "root without user="
	is "$(find "$work/ones" -name 'twos.tar.gidx*')" "" \
		"root's indexer writes into no directory of another user's"
	is "$(find "$XDG_CACHE_HOME" -name 'twos.tar-*.gidx' -user 0 | wc -l)" 1 \
		"but into its own cache"
}

# An index that may be another user's is as good as who wrote it.
uses_roots_index() {
	"$granary" index "$work/roots/ones.tar" >/dev/null
	is "$(stat -c %u "$work/roots/ones.tar.gidx")" "$one_uid" "an index by root is the owner's"
	start -o "index=require,user=$one" "$work/roots/ones.tar" "$mnt"
	is $? 0 "index=require, user=$one: it is used"
	left "index=require"
	chown 0:0 "$work/roots/ones.tar.gidx"
	chmod 644 "$work/roots/ones.tar.gidx"
	start -o "index=require,user=$one" "$work/roots/ones.tar" "$mnt"
	is $? 0 "index=require, user=$one: root's is used"
	left "index=require, root's index"
	chown "$two_uid" "$work/roots/ones.tar.gidx"
	start -o "index=require,user=$one" "$work/roots/ones.tar" "$mnt" 2>/dev/null
	is $? 3 "index=require, user=$one: a third user's is not"
	rm "$work/roots/ones.tar.gidx"
}

unknown_users() {
	refused 1 "an unknown name" "no-such-user" -- \
		start -o user=no-such-user "$work/ones/ones.tar" "$mnt"
	refused 1 "an unknown number" 3999999999 -- \
		start -o user=3999999999 "$work/ones/ones.tar" "$mnt"
	refused 1 "no name" "user" -- start -o user= "$work/ones/ones.tar" "$mnt"
}

# ---- Who gets in ------------------------------------------------------------

gets_in() {
	[ "$(as "$1" cat "$mnt/$2" 2>/dev/null)" = "$2" ]
}

private_mount() {
	start -o "user=$one" "$work/ones/ones.tar" "$mnt"
	check "private: the user gets in" gets_in "$one_uid:$one_gid" public
	check "private: and has the file of a mode 0600" gets_in "$one_uid:$one_gid" of-one
	refuse "private: not with another group" gets_in "$one_uid:$two_gid" public
	refuse "private: not another user" gets_in "$two_uid:$two_gid" public
	refuse "private: not one of the same group" gets_in "$two_uid:$one_gid" public
	is "$(LC_ALL=C cat "$mnt/public" 2>&1)" "cat: $mnt/public: Permission denied" \
		"private: not even root"
	refuse "private: root sees no list" ls "$mnt/"
	left "private"
}

shared_mount() {
	start -o "user=$one,allow_other" "$work/ones/ones.tar" "$mnt"
	check "allow_other: the user" gets_in "$one_uid:$one_gid" public
	check "allow_other: another user" gets_in "$two_uid:$two_gid" public
	check "allow_other: who has the file of that owner" gets_in "$two_uid:$two_gid" of-two
	refuse "allow_other: and not of another" gets_in "$two_uid:$two_gid" of-one
	refuse "allow_other: nor has the user" gets_in "$one_uid:$one_gid" of-two
	check "allow_other: root" gets_in 0:0 of-one
	left "allow_other"
}

# ---- Servers and indexers ---------------------------------------------------

# The next server has no more rights than the one that died.
next_server() {
	local first
	start -o "user=$one" "$work/ones/ones.tar" "$mnt"
	wait_until 20 serves_without_rights "$mnt"
	first=$server
	[ -n "$first" ] && kill -KILL "$first"
	wait_until 20 process_gone "$first"
	check "a server was killed: the user reads on" gets_in "$one_uid:$one_gid" of-one
	server_is "the next server" "$mnt" "$one_uid" "$one_gid" "$(id -G "$one")"
	[ "$server" != "$first" ]
	ok $? "it is another process"
	refuse "the user cannot trace it" as "$one_uid:$one_gid" \
		readlink "/proc/$server/fd/0"
	refuse "the user cannot see its environment" as "$one_uid:$one_gid" \
		cat "/proc/$server/environ"
	left "a server was killed"
}

# The same member many times: a long scan, a small tree.
make_long_archive() {
	"$python" - "$work/ones/ones.tar" "$work/roots/long.tar" <<-'EOS'
		import sys
		member = open(sys.argv[1], "rb").read(1024)
		with open(sys.argv[2], "wb") as out:
		    for _ in range(400):
		        out.write(member * 1000)
		    out.write(bytes(1024))
	EOS
	chown "$one_uid:$one_gid" "$work/roots/long.tar"
	chmod 400 "$work/roots/long.tar"
}

# The process of granary that reads long.tar, with many threads, is stopped as soon as
# it is there. A shell that looks through /proc is too slow for that. Sets $indexer.
stop_indexer() {
	indexer=$(timeout 60 "$python" - "$work/programs/granary" "$work/roots/long.tar" <<-'EOS'
		import glob, os, signal, sys, time
		tool, source = sys.argv[1:]
		while True:
		    for directory in glob.glob("/proc/[0-9]*"):
		        try:
		            if (os.readlink(directory + "/exe") == tool and
		                    len(os.listdir(directory + "/task")) > 3 and source.encode() in
		                    open(directory + "/cmdline", "rb").read().split(b"\0")):
		                os.kill(int(directory[6:]), signal.SIGSTOP)
		                print(directory[6:])
		                sys.exit()
		        except OSError:
		            pass
		    time.sleep(0.001)
	EOS
	) && cp "/proc/$indexer/status" "$work/status"
}

# indexer_is WHO UID GID GROUPS, with the options of the mount behind them.
indexer_is() {
	local who=$1 uid=$2 gid=$3 groups=$4 launcher
	shift 4
	watch_mount "$mnt"
	"$daemon" -o "index=off$*" "$work/roots/long.tar" "$mnt" &
	launcher=$!
	started+=("$launcher")
	stop_indexer
	ok $? "$who: there is one" || return
	powerless "$work/status" "$who" "$uid" "$gid" "$groups"
	if [ "$uid" -ne 0 ]; then
		refuse "$who: the user cannot trace it" \
			as "$uid:$gid" readlink "/proc/$indexer/fd/0"
		refuse "$who: the user cannot see its environment" \
			as "$uid:$gid" cat "/proc/$indexer/environ"
	fi
	kill -CONT "$indexer"
	wait "$launcher"
	is $? 0 "$who: mounted"
	left "$who"
}

indexers() {
	make_long_archive
	indexer_is "the user's indexer" "$one_uid" "$one_gid" "$(id -G "$one")" ",user=$one"
	# who parses for root is nobody
	indexer_is "root's indexer of another's file" 65534 65534 ""
	rm "$work/roots/long.tar"
	before_the_indexer_begins
	without_new_privileges
	indexer_by_hand
}

# In place of granary: what it is before its first instruction, and that it stays so
# for a while, since the user tries to trace it then.
make_witness() {
	mkdir "$work/witness"
	cp "$granaryfs" "$work/witness/"
	cat >"$work/witness/granary" <<-EOS
		#!$python -IS
		import ctypes, os, sys, time
		directory = "$work/ones/"
		getauxval = ctypes.CDLL(None).getauxval
		getauxval.restype = ctypes.c_ulong
		with open(directory + "seen.new", "w") as out:
		    ids = os.getresuid() + os.getresgid()
		    print("ids", *ids, file=out)
		    print("secure", getauxval(23), file=out)
		    for n in 0, 1:
		        print("fd", n, os.readlink("/proc/self/fd/%d" % n), file=out)
		    print("pid", os.getpid(), file=out)
		    for name in sorted(os.environ):
		        print("variable", name, os.environ[name], file=out)
		os.rename(directory + "seen.new", directory + "seen")
		while not os.path.exists(directory + "go"):
		    time.sleep(0.01)
		sys.exit(3)
	EOS
	chmod 755 "$work/witness/granary"
}

seen() {
	sed -n "s|^$1 ||p" "$work/ones/seen"
}

# Between exec and the indexer's first instructions: nothing for the user to trace.
before_the_indexer_begins() {
	local launcher pid
	make_witness
	SECRET=of-root LD_LIBRARY_PATH=$work/ones HDF5_PLUGIN_PATH=$work/ones LOCPATH=$work/ones \
		LC_TIME=C XDG_CACHE_HOME=$work/cache "$work/witness/granaryfs" \
		-o "index=off,user=$one" "$work/ones/ones.tar" "$mnt" &
	launcher=$!
	started+=("$launcher")
	wait_until 20 test -e "$work/ones/seen"
	ok $? "before the indexer begins: it is seen"
	pid=$(seen pid)
	is "$(seen ids)" "0 $one_uid $one_uid 0 $one_gid $one_gid" \
		"before the indexer begins: the real id is root's"
	is "$(seen secure)" 1 "before the indexer begins: the loader trusts no variable"
	refuse "before the indexer begins: the user cannot trace it" \
		as "$one_uid:$one_gid" readlink "/proc/$pid/fd/2"
	refuse "before the indexer begins: the user cannot see its environment" \
		as "$one_uid:$one_gid" cat "/proc/$pid/environ"
	is "$(seen 'fd 0') $(seen 'fd 1')" "/dev/null /dev/null" \
		"before the indexer begins: standard input and output are nobody's"
	is "$(seen variable | grep -v -E '^(PATH|LANG|TERM|NO_COLOR|SLURM_JOB_ID|LC_[A-Z]*|[A-Z]*SAN_OPTIONS) ')" \
		"HOME $(getent passwd "$one" | cut -d : -f 6)" \
		"before the indexer begins: few variables"
	is "$(seen 'variable LC_TIME')" C "before the indexer begins: but the language"
	touch "$work/ones/go"
	wait "$launcher"
	is $? 3 "before the indexer begins: its status is the launcher's"
	rm "$work/ones/go" "$work/ones/seen"
}

# Older kernels run a program with one user id then: it must not be root's.
without_new_privileges() {
	local where=$work/ones/ones.tar
	watch_mount "$mnt"
	timeout 60 setpriv --no-new-privs "$daemon" -o "user=$one" "$where" "$mnt"
	is $? 0 "no_new_privs: mounted"
	is "$(stat -c %u:%g "$where.gidx")" "$one_uid:$one_gid" \
		"no_new_privs: the index is the user's"
	left "no_new_privs"
	rm -f "$where.gidx"
}

# A user who starts it by hand gets nothing from it.
indexer_by_hand() {
	local tool=$work/programs/granary where=$work/ones/ones.tar
	refused 1 "--for-mount by hand" "--for-mount is for granaryfs" -- \
		"$tool" index --for-mount 1 "$where"
	refused 2 "--for-mount by hand, as root" "has ended" -- \
		"$tool" index --for-mount 1 --caller "999999999:0:0" "$where"
	refused 2 "--for-mount by hand, as another user" "may not" -- \
		as "$one_uid:$one_gid" "$tool" index --for-mount 1 --caller "$$:0:0" "$where"
}

# The user's log is the user's; what only root may write stays as it is.
logs() {
	start -o "user=$one,log=$work/ones/log" "$work/ones/ones.tar" "$mnt"
	is $? 0 "log=: mounted"
	left "log="
	is "$(stat -c %u:%g "$work/ones/log")" "$one_uid:$one_gid" "log=: the log is the user's"
	start -o "user=$one,log=$work/roots/log" "$work/ones/ones.tar" "$mnt" 2>"$work/said"
	is $? 2 "log= where the user may not write: refused"
	wait_until 20 no_daemon "$mnt"
	[ ! -e "$work/roots/log" ] && not_mounted "$mnt"
	ok $? "log= where the user may not write: neither a log nor a mount"
}

# ---- In a namespace: groups, a home, /dev/fuse for everybody ------------------

make_box() {
	mkdir -p "$boxed" "$work/box/home"
	chown "$one_uid:$one_gid" "$work/box/home" "$boxed"
	cp /etc/group "$work/box/group"
	echo "granary-test:x:$extra_gid:$one" >>"$work/box/group"
	awk -F: -v OFS=: -v user="$one" -v home="$work/box/home" \
		'$1 == user { $6 = home } { print }' /etc/passwd >"$work/box/passwd"
	printf '%s:x:%s:%s::/:/bin/sh\n' "$two_uid" "$one_uid" "$one_gid" \
		3999999999 "$one_uid" "$one_gid" >>"$work/box/passwd"
	mknod -m 666 "$work/box/fuse" c 10 229
	# shellcheck disable=SC2016  # the inner shell expands it
	unshare -m --propagation slave sh -c '
		awk "\$3 == \"fuse.granaryfs\" || /[/]granaryfs@/ { print \$2 }" /proc/mounts |
			xargs -r -n 1 umount -l
		mount --bind "$1/group" /etc/group && mount --bind "$1/passwd" /etc/passwd &&
		mount --bind "$1/fuse" /dev/fuse && touch "$1/ready" && exec sleep 1000' \
		sh "$work/box" &
	box=$!
	started+=("$box")
	wait_until 10 test -e "$work/box/ready"
}

inside() {
	nsenter -t "$box" -m -r -- "$@"
}

# start_inside OPTIONS SOURCE
start_inside() {
	at_exit inside umount -l "$boxed"
	inside timeout 60 "$daemon" -o "$1" "$2" "$boxed"
}

left_inside() {
	inside umount "$boxed"
	check "$1: unmounted, and the process ended" wait_until 20 no_daemon "$boxed"
}

supplementary_groups() {
	refused 2 "without the group" "user id $one_uid" group.tar -- \
		start -o "user=$one" "$work/roots/group.tar" "$mnt"
	start_inside "user=$one" "$work/roots/group.tar"
	is $? 0 "an archive of a supplementary group"
	is "$(inside setpriv --reuid="$one_uid" --regid="$one_gid" --clear-groups \
		cat "$boxed/public")" public "a supplementary group: it is served"
	server_is "with the group: the server" "$boxed" "$one_uid" "$one_gid" \
		"$(id -G "$one") $extra_gid"
	left_inside "a supplementary group"
	is "$(find "$work/box/home/.cache/granaryfs" -name 'group.tar-*.gidx' \
		-uid "$one_uid" | wc -l)" 1 "the index is in the user's own cache"
	is "$(find "$XDG_CACHE_HOME" -name 'group.tar-*')" "" "and not in root's"
}

# One user has a name that is another user's number, and one a name of digits.
names_of_digits() {
	is "$(inside id -u -- "$two_uid")" "$one_uid" "a name of digits: id(1) takes it for a name"
	start_inside "user=$two_uid,index=off" "$work/ones/twos.tar"
	is $? 0 "user=$two_uid: the user with that number, not the one of that name"
	server_is "user=$two_uid: the server" "$boxed" "$two_uid" "$two_gid" "$(id -G "$two")"
	left_inside "user=$two_uid"
	refused 2 "user=$two_uid" "user id $two_uid " ones.tar -- \
		start_inside "user=$two_uid,index=off" "$work/ones/ones.tar"
	start_inside "user=3999999999,index=off" "$work/ones/ones.tar"
	is $? 0 "user=3999999999: a name, where nobody has that number"
	left_inside "user=3999999999"
}

# Users may name themselves, and nobody else.
callers_that_are_not_root() {
	local user
	for user in root 0 "$two" "$two_uid"; do
		refused 2 "$one asks for user=$user" "only root" "this process $one_uid" -- \
			as "$one_uid:$one_gid" "$daemon" -o "user=$user,index=off" \
			"$work/ones/ones.tar" "$mnt"
		not_mounted "$mnt" || leave_mount "$mnt"
	done
	[ -u "$(command -v fusermount3)" ] || {
		skip "fusermount3 is not set-uid root" "a user mounts with user= for oneself"
		return
	}
	for user in "$one" "$one_uid"; do
		at_exit inside umount -l "$boxed"
		inside setpriv --reuid="$one_uid" --regid="$one_gid" --clear-groups \
			timeout 60 "$daemon" -o "user=$user" "$work/ones/ones.tar" "$boxed"
		is $? 0 "$one mounts with user=$user"
		bounds='' server_is "$one's server" "$boxed" "$one_uid" "$one_gid" ""
		left_inside "$one mounts with user=$user"
	done
}

make_archives
opens_as_the_user
refuses_others_archives
uses_roots_index
unknown_users
private_mount
shared_mount
next_server
indexers
logs
if make_box; then
	supplementary_groups
	names_of_digits
	callers_that_are_not_root
else
	skip "no mount namespace can be made here" "supplementary groups, names of digits, and other callers"
fi
finish
