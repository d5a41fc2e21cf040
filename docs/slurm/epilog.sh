#!/bin/bash -p
# SPDX-License-Identifier: GPL-3.0-or-later
# epilog.sh: Slurm's Epilog; takes away what prolog.sh mounted for a job.
#
# When it returns there is no mount below the job's directory, no process that served
# one, and no directory. It waits for nothing without an end, and never looks into a
# mount: one whose daemon hangs would make it hang. The status is always 0, because
# any other drains the node. It may be called twice, and without a prologue.
# shellcheck disable=SC2034  # some settings are for prolog.sh alone
set -u -f
trap 'exit 0' EXIT

# ---- The site's settings; lines NAME=VALUE in `config` override them -------------

config=/etc/granaryfs/slurm.conf
granaryfs=/usr/bin/granaryfs
granary=/usr/bin/granary
base=/run/granaryfs    # never below /tmp or /dev/shm: job_container/tmpfs hides those
seconds=60             # how long all mounts of a job may take
options=               # more of granaryfs's -o options
most=8                 # mounts a job
allow=prefetch,view,classes,names,labels,nested,subdir    # options that a job may give
shield=no              # yes: twice as fast for Python, and root may look into the mounts

log='' job='' directory='' lock=''
daemons=()    # granaryfs's programs, as the kernel shows them
older=()
indexer=''    # and the one that it starts to make an index
children=()   # processes that they started
declare -A deaf    # processes whose arguments cannot be read

# ---- From here to the next such line prolog.sh and epilog.sh are the same -------

PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH LC_ALL=C
umask 022
cd / || exit

# say LEVEL TEXT: a line to syslog, and to the job's log where there is one.
say() {
	[ -z "$log" ] || printf '%(%FT%T%z)T %s\n' -1 "$2" >>"$log"
	timeout -k 1 2 logger -t granaryfs-slurm -p "daemon.$1" -- "job ${job:-?}: $2"
}

# is_number TEXT [DIGITS]: no sign, no leading zero, and so no 0.
is_number() {
	[[ $1 == [1-9]* && $1 != *[!0-9]* && ${#1} -le ${2:-10} ]]
}

# is_directory TEXT: a plain absolute path?
is_directory() {
	[[ $1 == /?* && $1/ != *//* && $1/ != */./* && $1/ != */../* &&
		$1 != *[!A-Za-z0-9._/+-]* ]]
}

# is_roots PATH: can nobody but root write there?
is_roots() {
	local owner mode
	read -r owner mode < <(stat -L -c '%u %a' -- "$1")
	[[ $owner == 0 && $mode == *[0145][0145] ]]
}

# is_allow TEXT: words with commas between, of options that a job may give, or none.
is_allow() {
	local word all
	IFS=, read -r -a all <<<"$1"
	for word in "${all[@]}"; do
		case $word in
		cache | prefetch | view | classes | names | labels | nested | subdir | shield) ;;
		*) return 1 ;;
		esac
	done
}

# Settings are parsed, not run: a mistake in them costs a line in the log.
read_config() {
	local line value
	[ -e "$config" ] || return
	if [ ! -f "$config" ] || ! is_roots "$config"; then
		say warning "$config: no file that only root can write; left out"
		return
	fi
	while IFS= read -r line || [ -n "$line" ]; do
		value=${line#*=}
		case $line in
		'' | '#'*) continue ;;
		granaryfs=/* | granary=/*) ;;
		base=*) is_directory "$value" || line= ;;
		seconds=* | most=*) is_number "$value" 4 || line= ;;
		allow=*) is_allow "$value" || line= ;;
		shield=*) [[ $value == yes || $value == no ]] || line= ;;
		options=*) [[ $value != *[![:graph:]]* ]] || line= ;;
		*) line= ;;
		esac
		if [ -n "$line" ]; then
			printf -v "${line%%=*}" %s "$value"
		else
			say warning "$config: a line is not understood and left out"
		fi
	done <"$config"
}

# mounts_of PATH: what is mounted there and below, the topmost first, in `mounted`, and
# what of it is granaryfs's in `ours`. From the mount table: no mount is looked at.
mounts_of() {
	local where rest
	mounted=() ours=()
	while read -r _ _ _ _ where rest; do
		printf -v where %b "${where//\\/\\0}"    # \040 is a space there
		[[ $where/ == "$1"/* ]] || continue
		mounted=("$where" "${mounted[@]}")
		[[ $rest != *' - fuse.granaryfs '* && $rest != *' - overlay '*/granaryfs@* ]] ||
			ours=("$where" "${ours[@]}")
	done </proc/self/mountinfo
}

# arguments_of PID: into the array `arguments`; none if it has ended. Through a pipe: to
# read the arguments of a process whose memory waits for storage that hangs is to hang.
arguments_of() {
	local argument fd status
	arguments=()
	[ -z "${deaf[$1]:-}" ] || return
	exec {fd}< <(exec head -c 65536 "/proc/$1/cmdline")
	while IFS= read -r -t 2 -d '' -u "$fd" argument || { status=$? && false; }; do
		arguments+=("$argument")
	done
	[ "$status" -le 128 ] || deaf[$1]=1
	exec {fd}<&-
}

# serves PID PATH: was it started for this mount point, or for one below it?
serves() {
	local argument
	arguments_of "$1"
	for argument in "${arguments[@]}"; do
		[[ $argument/ != "$2"/* ]] || return 0
	done
	return 1
}

# A user may have any number of processes, and lets them say of themselves what he
# likes, at any length. So what is read of a user's process is what the kernel says of
# it, and by one program for all of them, whatever their number.

# matching EXPRESSION: the /proc/PID with such a line in their status, in `found`.
matching() {
	local i all
	set +f
	all=(/proc/[0-9]*/status)
	set -f
	found=()
	for ((i = 0; i < ${#all[@]}; i += 4000)); do
		mapfile -t -O "${#found[@]}" found < <(
			exec grep -l -s -m 1 -E -e "$1" "${all[@]:i:4000}")
	done
	found=("${found[@]%/status}")
}

# running PROGRAM... : those of `found` that run one of these, in `found`. A process
# cannot choose what the kernel says of that. One that has ended runs nothing.
running() {
	local link program one still=()
	while IFS= read -r -d '' link && IFS= read -r -d '' program; do
		program=${program%' (deleted)'}
		for one; do
			[ "$program" != "$one" ] || still+=("${link%/exe}")
		done
	done < <([ "${#found[@]}" -eq 0 ] ||
		exec find "${found[@]/%//exe}" -maxdepth 0 -printf '%p\0%l\0')
	found=("${still[@]}")
}

# What granaryfs's processes run. The setting may name a script that starts it; granary
# is always beside it. An epilogue knows from its prologue what was run then.
find_daemons() {
	indexer=$(realpath -m -- "$granary")
	daemons=("$(realpath -m -- "$granaryfs")" "${indexer%/*}/granaryfs" "${older[@]}")
}

# processes_of PATH: of the mounts at and below it, in `pids`: what is root's, launchers
# and supervisors, which are in `masters` too, and what those started, indexers and
# servers. These end with their parents, unless they hang.
processes_of() {
	local directory found pattern
	pids=()
	matching $'^Uid:\t0\t'
	running "${daemons[@]}"
	for directory in "${found[@]}"; do
		! serves "${directory##*/}" "$1" || pids+=("${directory##*/}")
	done
	found=()
	masters=("${pids[@]}")
	if [ "${#pids[@]}" -gt 0 ]; then
		printf -v pattern '|%s' "${pids[@]}"
		matching $'^PPid:\t('"${pattern:1}"$')$'
	fi
	found+=("${children[@]}")
	running "${daemons[@]}" "$indexer"
	children=("${found[@]}")
	for directory in "${found[@]}"; do
		[[ " ${pids[*]} " == *" ${directory##*/} "* ]] || pids+=("${directory##*/}")
	done
}

# end_within SECONDS PATH: is there no such process any more?
end_within() {
	local end=$((SECONDS + $1))
	processes_of "$2"
	while [ "${#pids[@]}" -gt 0 ]; do
		[ "$SECONDS" -le "$end" ] || return
		sleep 0.1
		processes_of "$2"
	done
}

# stop_processes PATH: with a file open the first TERM lets them serve on, and the
# second does not; one that is stopped hears of neither before CONT.
stop_processes() {
	end_within 0 "$1" && return
	kill -TERM "${pids[@]}"
	kill -CONT "${pids[@]}"
	end_within 0 "$1" && return
	kill -TERM "${pids[@]}"
	end_within 1 "$1" && return
	say warning "${1##*/}: the daemon does not end; killed"
	kill -KILL "${pids[@]}"
	end_within 3 "$1"
}

# find_base: `base` must be root's, so that nobody else puts anything in the place of a
# mount point.
find_base() {
	base=$(realpath -m -- "$base") && is_directory "$base" && is_roots "$base"
}

# take_lock SECONDS: of the job's directory: its prologue and its epilogue exclude each
# other. The file says where the programs were that the prologue started.
take_lock() {
	umask 077
	exec {lock}>>"$directory/.lock"
	umask 022
	flock -w "$1" "$lock"
}

# take_away PATH: no mount at PATH nor below it, and no process that serves one.
take_away() {
	local i
	mounts_of "$1"
	processes_of "$1"
	[ $((${#mounted[@]} + ${#pids[@]})) -gt 0 ] || return 0
	# By force: the job has ended, or not begun, and copies of the mount end too.
	[ "${#ours[@]}" -eq 0 ] ||
		timeout -k 1 10 "$granary" umount --force -- "${ours[@]}"
	stop_processes "$1"
	mounts_of "$1"
	for i in "${mounted[@]}"; do
		timeout -k 1 5 umount --lazy --no-canonicalize --internal-only -- "$i"
	done
	mounts_of "$1"
	[ $((${#mounted[@]} + ${#pids[@]})) -eq 0 ] && return
	say err "${1##*/}: ${#mounted[@]} mounts and ${#pids[@]} processes are left"
	return 1
}

# within SECONDS: main, but not for longer, whatever the kernel lets it wait for.
# Nothing that is started holds the pipe that slurmd reads to its end; this shell does,
# until it ends, since slurmd reacts to that at once.
within() {
	local worker timer
	(main) </dev/null >/dev/null 2>&1 &
	worker=$!
	sleep "$1" >/dev/null 2>&1 &
	timer=$!
	wait -n "$worker" "$timer" # bash 5.3: of others, too, that have ended
	kill "$timer" 2>/dev/null && return
	disown "$worker" 2>/dev/null # or bash may say that it was killed
	kill -KILL "$worker"
	say err "given up after $1 s" </dev/null >/dev/null 2>&1
}

# ---- The end of what is the same -------------------------------------------------

# remove_directory PATH: what prolog.sh made, unless a mount is left there.
remove_directory() {
	local entry all
	mounts_of "$1"
	[ "${#mounted[@]}" -eq 0 ] && [ -d "$1" ] && [ ! -h "$1" ] || return 0
	set +f
	shopt -s dotglob nullglob
	all=("$1"/*)
	set -f
	for entry in "${all[@]}"; do
		rmdir -- "$entry" || rm -f -- "$entry"
	done
	rmdir -- "$1"
}

main() {
	is_number "${SLURM_JOB_ID:-}" 18 || return
	job=$SLURM_JOB_ID
	[ -e "$base" ] || return
	find_base || {
		say err "$base: not root's alone; nothing is taken away"
		return
	}
	directory=$base/$job
	if [ -d "$directory" ]; then
		take_lock 20 || say warning "a prologue has the lock; not waited for"
		mapfile -t older <"$directory/.lock"
		rm -f -- "$directory/.lock"    # which tells that prologue
	fi
	find_daemons
	take_away "$directory"
	remove_directory "$directory"
}

read_config </dev/null >/dev/null 2>&1
within 60
