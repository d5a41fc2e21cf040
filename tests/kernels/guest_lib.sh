# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# guest_lib.sh: what a guest's scripts use: TAP, and what a mount is compared with.
# Sourced by them; the dataset is in /data.

kernel=$(uname -r)
booted=$(cut -d . -f 1 /proc/uptime)
points=0
failed=0

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# ok STATUS DESCRIPTION
ok() {
	local status=$1 word='ok'
	shift
	points=$((points + 1))
	[ "$status" -eq 0 ] || {
		word='not ok'
		failed=$((failed + 1))
	}
	echo "$word $points - $kernel: $*"
	return "$status"
}

# check DESCRIPTION COMMAND...
check() {
	local description=$1 status
	shift
	"$@" >/tmp/output 2>&1
	status=$?
	ok "$status" "$description" && return
	diag "status $status of: $*"
	diag "$(head -n 15 /tmp/output)"
	return 1
}

# report KEY VALUE: of a line of the table in docs/KERNELS.md.
report() {
	echo "# report $1=$2"
}

finish() {
	diag "took $SECONDS seconds, after $booted to boot"
	echo "1..$points"
	[ "$failed" -eq 0 ]
}

# wait_until SECONDS COMMAND...
wait_until() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# as USER COMMAND...: with all that a user's own processes have, and no more.
as() {
	local user=$1
	shift
	[ "$user" != root ] || {
		"$@"
		return
	}
	setpriv --reuid "$user" --regid "$user" --init-groups \
		env HOME="/home/$user" USER="$user" "$@"
}

# ---- What a mount shows ---------------------------------------------------

tree=/data/tree

# same_root MOUNT: the names of the root directory, as readdir(3) has them.
same_root() {
	diff <(ls -A "$tree" | sort) <(ls -A "$1" | sort)
}

# same_names MOUNT: all names, with their kinds and the files' sizes.
same_names() {
	diff <(names_of "$tree") <(names_of "$1")
}

names_of() {
	(cd "$1" && {
		find . ! -type f -printf '%p %y %l\n'
		find . -type f -printf '%p %y %s\n'
	} | sort)
}

same_bytes() {
	diff -r --no-dereference "$tree" "$1"
}

# same_epoch MOUNT: every file once in a random order, by two processes; the sum tells
# which file holds which bytes.
same_epoch() {
	local seed=$RANDOM one two
	find "$tree" -type f -printf '%P\n' >/tmp/list.$$
	one=$(cd "$tree" && read-all -c /tmp/list.$$ $seed 2 | sum_of)
	two=$(cd "$1" && read-all -c /tmp/list.$$ $seed 2 | sum_of)
	rm -f /tmp/list.$$
	echo "seed $seed: $one, but $two"
	[ -n "$one" ] && [ "$one" = "$two" ]
}

# Without the seconds, which come last.
sum_of() {
	cut -d ' ' -f 1-6
}

# looks MOUNT FUNCTION...: each of them, within a minute; what it says, and how it ended.
# For whoever sees the mount, which may be another user, or a namespace of its own.
looks() {
	local mount=$1 name
	shift
	for name; do
		timeout -k 5 60 bash -c '. /data/guest_lib.sh; "$@"' - "$name" "$mount" 2>&1 |
			head -n 15
		echo "looked ${PIPESTATUS[0]} $name"
	done
}

# tell KIND: makes test points of the output of `looks`.
tell() {
	local line said=
	while IFS= read -r line; do
		case $line in
		'looked '*)
			line=${line#looked }
			ok "${line%% *}" "$1: $(tr _ ' ' <<<"${line#* }")" ||
				diag "status ${line%% *}:$said"
			said=
			;;
		*) said+=$'\n'$line ;;
		esac
	done
	[ -z "$said" ] || ok 1 "$1: ended early: $said"
}

# ---- The daemon -----------------------------------------------------------

server() {
	pgrep -x granaryfs-serve
}

another_server() {
	local now
	now=$(server) && [ "$now" != "$1" ]
}

# next_server MOUNT: ends the server by SIGKILL, with no page left that the kernel could
# answer from; then all is right, and from another one.
next_server() {
	local before
	before=$(server | head -n 1)
	[ -n "$before" ] || {
		echo "there is no granaryfs-serve"
		return 1
	}
	kill -KILL "$before"
	echo 3 2>/dev/null >/proc/sys/vm/drop_caches
	same_root "$1" && same_epoch "$1" && another_server "$before"
}

# nothing_left: no process, no mount, no file.
nothing_left() {
	wait_until 10 no_processes || pgrep -l granaryfs
	! grep -E 'granaryfs' /proc/mounts && no_processes &&
		[ -z "$(find /run /tmp /dev/shm -name 'granaryfs*')" ]
}

no_processes() {
	! pgrep granaryfs
}

# kernel_is_silent: no line of an error of FUSE, overlayfs, or of worse. Warnings may be.
kernel_is_silent() {
	! dmesg --level emerg,alert,crit,err | grep -v -F -f /tmp/said-before
}
