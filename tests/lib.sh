# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# lib.sh: what every mount test uses. Sourced by bash scripts.
#
# A test prints TAP: `check`, `refuse`, `is` and `skip` count, `finish` prints
# the plan. Everything that a test starts, mounts or writes is undone when it
# ends, however it ends. What is missing is a failure where everything has to
# be there (CI=true or GRANARY_REQUIRE_ALL=1), and a skip that says so elsewhere.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
abs_top_srcdir=${abs_top_srcdir:-$here}
abs_top_builddir=${abs_top_builddir:-$PWD}
fixtures=$abs_top_srcdir/tests/fixtures
granaryfs=$abs_top_builddir/granaryfs
granary=$abs_top_builddir/granary
# shellcheck disable=SC2034  # for the scripts that source this
read_all=$abs_top_builddir/tests/bin/read-all
# shellcheck disable=SC2034
hammer=$abs_top_builddir/tests/bin/hammer
# shellcheck disable=SC2034
kill_servers=$abs_top_builddir/tests/bin/kill-servers
# shellcheck disable=SC2034
without=$abs_top_builddir/tests/bin/without
# Debian's own: PyTorch is installed for it, and for no other python3 in PATH.
python=${PYTHON:-/usr/bin/python3}
PATH=$abs_top_builddir:$PATH

tap_count=0
tap_failed=0
started=()    # process ids
mounts=()     # mount points
cleanups=()   # commands, run last to first
declare -A mount_pid mount_log

# ---- TAP ------------------------------------------------------------------

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# ok STATUS DESCRIPTION: one test point.
ok() {
	local status=$1
	shift
	tap_count=$((tap_count + 1))
	if [ "$status" -eq 0 ]; then
		printf 'ok %d - %s\n' "$tap_count" "$*"
		return 0
	fi
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_count" "$*"
	return 1
}

# check DESCRIPTION COMMAND...: the command must succeed; else its output is shown.
check() {
	local description=$1 output status
	shift
	output=$("$@" 2>&1)
	status=$?
	ok "$status" "$description" && return 0
	diag "status $status of: $*"
	diag "$(printf '%s' "$output" | head -n 40)"
	return 1
}

# refuse DESCRIPTION COMMAND...: the command must fail.
refuse() {
	local description=$1
	shift
	if "$@" >/dev/null 2>&1; then
		ok 1 "$description"
		diag "this succeeded: $*"
		return 1
	fi
	ok 0 "$description"
}

# is GOT WANTED DESCRIPTION
is() {
	[ "$1" = "$2" ]
	ok $? "$3" && return 0
	diag "got:    $1"
	diag "wanted: $2"
	return 1
}

# at_most GOT LIMIT DESCRIPTION
at_most() {
	[ -n "$1" ] && [ "$1" -le "$2" ]
	ok $? "$3" && return 0
	diag "got $1, wanted at most $2"
	return 1
}

# at_least GOT LEAST DESCRIPTION
at_least() {
	[ -n "$1" ] && [ "$1" -ge "$2" ]
	ok $? "$3" && return 0
	diag "got $1, wanted at least $2"
	return 1
}

# says WANTED WORDS DESCRIPTION COMMAND...: the status, and what is said on either stream.
says() {
	local wanted=$1 words=$2 description=$3 output status
	shift 3
	output=$("$@" 2>&1)
	status=$?
	[ "$status" -eq "$wanted" ] && grep -q -F -- "$words" <<<"$output"
	ok $? "$description" && return 0
	diag "status $status, wanted $wanted and '$words': $*"
	diag "$output"
	return 1
}

# skip WHY DESCRIPTION: only where something may be missing.
skip() {
	if everything_required; then
		ok 1 "$2"
		diag "$1"
		return 1
	fi
	tap_count=$((tap_count + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$2" "$1"
}

finish() {
	check_sanitizers
	diag "took $SECONDS seconds"
	printf '1..%d\n' "$tap_count"
	[ "$tap_failed" -eq 0 ]
	exit $?
}

bail() {
	printf 'Bail out! %s\n' "$*"
	exit 99
}

# ---- What a test needs ----------------------------------------------------

everything_required() {
	[ "${CI:-}" = true ] || [ "${GRANARY_REQUIRE_ALL:-}" = 1 ]
}

# lacking WHY: ends the whole script.
lacking() {
	if everything_required; then
		printf '1..1\nnot ok 1 - %s\n' "$1"
		exit 1
	fi
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

need_fuse() {
	[ -x "$granaryfs" ] || bail "$granaryfs is not built"
	[ -c /dev/fuse ] || lacking "there is no /dev/fuse"
	# shellcheck disable=SC2217  # only the open is wanted
	{ true <>/dev/fuse; } 2>/dev/null || lacking "/dev/fuse cannot be opened"
	is_root || command -v fusermount3 >/dev/null ||
		lacking "there is no fusermount3"
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}

need_root() {
	is_root || lacking "only root can run this"
}

# need COMMAND...
need() {
	local name
	for name; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$name" >/dev/null ||
			lacking "$name is not installed"
	done
}

# need_python MODULE...
need_python() {
	local name
	for name; do
		"$python" -c "import $name" 2>/dev/null ||
			lacking "Python's $name is not installed"
	done
}

# need_built NAME...: libraries of m4/granary_library.m4. A build that leaves one out has
# said so in its config.h, and skips the test.
need_built() {
	local name

	for name; do
		grep -q "^#define WITH_${name^^} 1" "$abs_top_builddir/config.h" && continue
		printf '1..0 # SKIP this build leaves out %s\n' "$name"
		exit 0
	done
}

# ---- A place to work, and what is undone at the end -----------------------

work=$(mktemp -d "${TMPDIR:-/tmp}/granaryfs-test.XXXXXX") || exit 99
# Tests run parts of themselves as nobody.
chmod 755 "$work"
mkdir -m 1777 "$work/sanitizer"
mkdir "$work/home" "$work/cache" "$work/mnt"
# shellcheck disable=SC2034  # likewise
mnt=$work/mnt
# No test may touch the caller's own cache of indexes.
# shellcheck disable=SC2034  # for package managers' configuration
caller_home=$HOME
export HOME="$work/home" XDG_CACHE_HOME="$work/cache"

# Reports go to files: a test may close, or count lines of, standard error.
for name in ASAN TSAN UBSAN LSAN; do
	options=${name}_OPTIONS
	export "$options=${!options:+${!options}:}log_path=$work/sanitizer/report"
done

# at_exit COMMAND...: to be run when the test ends; the last one first.
at_exit() {
	cleanups+=("$(printf '%q ' "$@")")
}

# undo runs in the EXIT trap.
undo() {
	local i
	trap '' INT TERM HUP
	cd / || true
	for i in "${mounts[@]}"; do
		force_umount "$i"
	done
	stop_started
	for ((i = ${#cleanups[@]} - 1; i >= 0; i--)); do
		eval "${cleanups[i]}" >/dev/null 2>&1
	done
	chmod -R u+rwX "$work" 2>/dev/null
	rm -rf --one-file-system "$work"
}

# Numbers come again: a process that we did not start may have one of ours.
stop_started() {
	local pid
	for pid in "${started[@]}"; do
		[ "$(parent_of "$pid")" = "$$" ] || continue
		kill "$pid" 2>/dev/null && {
			wait_until 5 process_gone "$pid" ||
				kill -KILL "$pid" 2>/dev/null
		}
	done
}

trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# A limit of time is for an idle machine. Where more wants to run than there are processors,
# it is so many times as long, as /proc/loadavg has it: in $busy, without a process.
processors=$(nproc)
how_busy() {
	local load
	read -r load _ </proc/loadavg
	busy=$((1 + ${load%.*} / processors))
	[ "$busy" -le 10 ] || busy=10
}

# patience SECONDS: the limit for a program that is to end by itself.
patience() {
	how_busy
	echo $(($1 * busy))
}

# wait_until SECONDS COMMAND...: polls; fails when the time is over.
wait_until() {
	local begin=${EPOCHREALTIME/./} seconds=$1 busy
	shift
	until "$@" >/dev/null 2>&1; do
		how_busy
		[ $((${EPOCHREALTIME/./} - begin)) -lt $((seconds * busy * 1000000)) ] ||
			return 1
		sleep 0.02
	done
}

process_gone() {
	! kill -0 "$1" 2>/dev/null
}

# in_state LETTER PID: one of its threads is: D, in an uninterruptible sleep; T, stopped.
in_state() {
	grep -q "^State:[[:space:]]*$1" "/proc/$2/task/"*/status
} 2>/dev/null

# in_request PID: it waits for the answer of a FUSE server.
in_request() {
	grep -q -E 'request_wait|fuse' "/proc/$1/wchan"
} 2>/dev/null

# has_open PID PATTERN: it has a file whose path matches.
has_open() {
	find "/proc/$1/fd" -lname "$2" 2>/dev/null | grep -q .
}

# crashing COMMAND...: where processes crash because they are meant to, which is
# nothing that a sanitizer should report.
crashing() {
	local signals=handle_segv=0:handle_abort=0:handle_sigbus=0
	local -x ASAN_OPTIONS=$ASAN_OPTIONS:$signals TSAN_OPTIONS=$TSAN_OPTIONS:$signals \
		UBSAN_OPTIONS=$UBSAN_OPTIONS:$signals
	"$@"
}

# Sanitizers write a file a process; there must be none. That the search for leaks found a
# thread gone which it wanted to stop is no finding: what it finds follows.
unstopped='was not suspended. False leaks are possible|Unable to get registers from thread'
check_sanitizers() {
	local report
	for report in "$work"/sanitizer/*; do
		grep -q -s -v -E "$unstopped" "$report" || continue
		ok 1 "sanitizer report ${report##*/}"
		diag "$(head -n 60 "$report")"
	done
}

# shellcheck source=tests/mounts.sh
. "$abs_top_srcdir/tests/mounts.sh"

# ---- Counters -------------------------------------------------------------

# requests MOUNTPOINT: the daemon's counters now, as lines NAME VALUE.
requests() {
	local log=${mount_log[$1]} before
	before=$(stats_ends "$log")
	kill -USR1 "${mount_pid[$1]}" || return 1
	wait_until 10 stats_newer "$log" "$before" || {
		echo "no counters in the log after SIGUSR1" >&2
		return 1
	}
	awk '$1 != "granaryfs:" || $2 != "stats:" { next }
		$3 == "end" { last = block; block = ""; next }
		{ block = block $3 " " $4 "\n" }
		END { printf "%s", last }' "$log"
}

stats_ends() {
	grep -c '^granaryfs: stats: end' "$1"
}

stats_newer() {
	[ "$(stats_ends "$1")" -gt "$2" ]
}

# counter NAME: of what is mounted at $mnt.
counter() {
	requests "$mnt" | awk -v name="$1" '$1 == name { print $2 }'
}

# request_changes BEFORE AFTER: "NAME DIFFERENCE" for each fuse_ counter that
# differs between two outputs of `requests`.
request_changes() {
	printf '%s\n--\n%s\n' "$1" "$2" | awk '
		$1 == "--" { after = 1; next }
		$1 !~ /^fuse_/ { next }
		!after { old[$1] = $2; next }
		$2 != old[$1] { print $1, $2 - old[$1] }'
}

# request_change NAME BEFORE AFTER: one difference, 0 if there is none.
request_change() {
	request_changes "$2" "$3" |
		awk -v name="$1" '$1 == name { n = $2 } END { print n + 0 }'
}

# counted NAME [FILE]: what a hammer, or another program of tests, has printed of it.
counted() {
	awk -v name="$1" '$1 == name { print $2 }' "${2:-$work/counts}"
}

# ---- Small things ---------------------------------------------------------

# identified FILE: by how many reads it is told from others: its ends, and its samples,
# when there is an index. Without one the samples are read last, when it has been indexed: the
# next read after so many comes before the index is complete.
identified() {
	local pages=$(($(stat -c %s "$1") / 4096))
	echo $((2 + (pages < 64 ? pages : 64)))
}

# sampled FILE FROM TO: how many of its samples (of 64) hold one of these bytes
sampled() {
	local pages=$(($(stat -c %s "$1") / 4096)) i at n=0
	for ((i = 0; i < 64; i++)); do
		at=$((pages * (2 * i + 1) / 128 * 4096))
		n=$((n + (at < $3 && at + 4096 > $2)))
	done
	echo "$n"
}

# The page cache is the machine's. keep_page_cache: until this script ends, no other script
# of the same user drops it.
page_cache_lock=${TMPDIR:-/tmp}/granaryfs-page-cache-$UID.lock
drop_page_cache() {
	flock -n "$page_cache_lock" sh -c 'echo 1 >/proc/sys/vm/drop_caches' || true
}

keep_page_cache() {
	exec 8>"$page_cache_lock"
	flock 8
}

compare() {
	"$python" "$fixtures/compare-trees" "$@"
}

list_of() {
	(cd "$1" && find . -type f | LC_ALL=C sort) | sed "s|^\.|$1|"
}

# read_pass LIST SEED: files, bytes and checksum; without the seconds.
read_pass() {
	"$read_all" -c "$1" "$2" 2 | sed 's/ seconds.*//'
}

# as_nobody COMMAND...: without any privilege. The programs are copied, because
# nobody may have no way into the build directory.
as_nobody() {
	public_programs
	"${nobody[@]}" "$@"
}

nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups
	env HOME=/nonexistent PATH="$work/programs:$PATH")

# user_namespaces DESCRIPTION [COMMAND...]: can they be made, by COMMAND's user? In a chroot,
# say, or where a sysctl forbids them, they cannot, and what is described is skipped.
user_namespaces() {
	local description=$1
	shift
	"$@" unshare -U -r true 2>/dev/null && return
	skip "there are no user namespaces here" "$description"
	return 1
}

public_programs() {
	[ -d "$work/programs" ] && return
	mkdir "$work/programs"
	cp "$granaryfs" "$granary" "$work/programs/"
}

# loop_ext4 IMAGE MOUNTPOINT SIZE MKFS-OPTIONS...: a small filesystem of its own.
# Not to be called through `check`.
loop_ext4() {
	local image=$1 where=$2 size=$3
	shift 3
	truncate -s "$size" "$image" &&
		PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F "$@" "$image" &&
		mkdir -p "$where" && mount -o loop "$image" "$where" &&
		at_exit umount "$where"
}
