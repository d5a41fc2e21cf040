#!/bin/bash -p
# SPDX-License-Identifier: GPL-3.0-or-later
# prolog.sh: Slurm's Prolog; mounts the datasets that a job asks for.
#
#	sbatch --comment='granaryfs=/p/data/imagenet.tar' job.sh
#
# and the job finds it in /run/granaryfs/$SLURM_JOB_ID/imagenet. More words, names and
# options, as granaryfs[OPTION=VALUE;...]=NAME:/PATH; granaryfs's docs/slurm/README.md has all
# of it.
#
# What a user writes is data here and nothing else: it is never evaluated, expanded
# or matched as a pattern; what is not on a list of characters is refused with a
# line in the log. The status is always 0, because any other drains the node.
@common@
# quote TEXT: into `quoted`, in one line of printable ASCII.
quote() {
	printf -v quoted %q "${1:0:200}"
	[ "${#1}" -le 200 ] || quoted+="... (${#1} bytes)"
}

refuse() {
	quote "$2"
	say warning "refused: $quoted: $1"
}

# default_name PATH: into `name`: the file's without its suffix; of a shard pattern
# what is before the first brace.
default_name() {
	name=${1##*/}
	case $name in
	*'{'*)
		name=${name%%'{'*}
		while [[ $name == *[-_.] ]]; do
			name=${name%?}
		done
		;;
	?*.*) name=${name%.*} ;;
	esac
}

# parse WORD: into `name`, `path`, `wish` (options for granaryfs, each behind a comma) and
# `front` (yes or no); or `reason`, why it is refused.
parse() {
	local value=${1#granaryfs=} given=''
	name='' reason='' wish='' front=$shield
	[[ $1 != granaryfs\[*\]=* ]] || {
		given=${1#granaryfs\[}
		given=${given%%\]=*}
		value=${1#*\]=}
	}
	path=$value
	if [ "${#1}" -gt 4096 ]; then
		reason="it is too long"
	elif [[ $1 != granaryfs=* && $1 != granaryfs\[*\]=* ]]; then
		reason="a request is a word of its own, between spaces"
	elif [[ $value == *[!A-Za-z0-9._/+=@%:,{}~-]* ]]; then
		reason="only A-Z a-z 0-9 . _ / + = @ % : , { } ~ - may be in a path"
	else
		[[ $value == /* || $value != *:* ]] || {
			name=${value%%:*}
			path=${value#*:}
		}
		check_request
		[ -n "$reason" ] || parse_options "$given"
	fi
	[ -z "$reason" ]
}

# parse_options TEXT: what is between the brackets, OPTION=VALUE;OPTION=VALUE.
parse_options() {
	local all one
	IFS=';' read -r -a all <<<"$1"
	for one in "${all[@]}"; do
		if [[ $one != [a-z]*=* || ${one%%=*} == *,* || ",$allow," != *",${one%%=*},"* ]]; then
			reason="of options, only OPTION=VALUE is taken here, with OPTION one of: $allow"
		elif [[ ${one#*=} == *[!A-Za-z0-9._/+=@%:{}~-]* || -z ${one#*=} ]]; then
			reason="only A-Z a-z 0-9 . _ / + = @ % : { } ~ - may be in an option"
		elif [[ $one == *//* || $one/ == */./* || $one/ == */../* ]]; then
			reason="an option may not hold //, /./ or /../"
		elif [[ $one == @(classes|names)=[!/]* || $one == names=*:[!/]* ]]; then
			reason="the file of an option is named by its whole path, from / on"
		elif [[ $one == shield=* && $one != shield=yes && $one != shield=no ]]; then
			reason="shield=yes or shield=no is wanted"
		elif [[ $one == shield=* ]]; then
			front=${one#*=}
		else
			wish+=,$one
		fi
		[ -z "$reason" ] || return
	done
}

check_request() {
	[ -n "$name" ] || default_name "$path"
	if [[ $path != /* ]]; then
		reason="granaryfs=/PATH or granaryfs=NAME:/PATH is wanted"
	elif [[ $path == *//* || $path/ == */./* || $path/ == */../* ]]; then
		reason="a path may not hold //, /./ or /../"
	elif [[ $name == log ]]; then
		reason="the name log is taken; granaryfs=NAME:/PATH gives it another"
	elif [[ $name != [A-Za-z0-9_]* || $name == *[!A-Za-z0-9._+-]* ||
		${#name} -gt 64 ]]; then
		reason="no good name; in granaryfs=NAME:/PATH, NAME begins with a letter, digit"
		reason+=" or _, also holds . + - and has at most 64 characters"
	elif [[ " ${names[*]} " == *" $name "* ]]; then
		reason="the name $name is taken; granaryfs=NAME:/PATH gives it another"
	fi
}

# read_requests TEXT: adds to `names`, `paths`, `wishes` and `fronts`. What is in it without
# granaryfs= or granaryfs[ is not ours.
read_requests() {
	local words word
	[[ $1 == *granaryfs[=\[]* ]] || return
	IFS=' ' read -r -d '' -a words < <(printf '%s \0' "$1")
	for word in "${words[@]}"; do
		[[ $word == *granaryfs[=\[]* ]] || continue
		if ! parse "$word"; then
			refused=$((refused + 1))
			[ "$refused" -gt "$most" ] || refuse "$reason" "$word"
		elif [ "${#names[@]}" -lt "$most" ]; then
			names+=("$name")
			paths+=("$path")
			wishes+=("$wish")
			fronts+=("$front")
		else
			extra=$((extra + 1))
		fi
	done
}

# open_directory: root's, so that the user cannot put anything in a mount point's place;
# the job's group may look into it. An epilogue may have taken it away meanwhile.
open_directory() {
	mkdir -p -- "$base" && find_base || return
	directory=$base/$job
	until is_open; do
		[ -d "$directory" ] || mkdir -m 700 -- "$directory" || return
		take_lock "$seconds" || return
	done
	umask 077
	printf '%s\n' "${daemons[@]}" >"$directory/.lock" && : >>"$directory/log" || return
	umask 022
	chgrp -- "$gid" "$directory" "$directory/log" && chmod 750 -- "$directory" &&
		chmod 640 -- "$directory/log"
}

# is_open: has no epilogue taken the directory away since it was locked?
is_open() {
	[ -n "$lock" ] && [ "$directory/.lock" -ef "/proc/self/fd/$lock" ]
}

# The kernel shows a mount to processes of its user with that user's first group, as
# the user database has it, and to nobody else. A job of another group (newgrp, sbatch
# --gid) is let in by allow_other, and everybody else is kept out by permissions. So it
# is with the shield, which asks no FUSE mount who may look into it.
rights() {
	local primary
	primary=$(timeout -k 1 5 id -g -- "+$uid")    # never a name of digits
	[[ $primary == "$gid" ]] || other_group=yes
}

# options_of WISH FRONT: what granaryfs is given, in `with`.
options_of() {
	with=user=$uid${options:+,$options}$1
	[[ $other_group == no && $2 == no ]] || with+=,allow_other,uid=$uid,gid=$gid,umask=077
	[[ $2 == no ]] || with+=,shield=early    # a job may have a copy of the mount
}

# is_served WHERE WANTED...: is there a daemon with these arguments, or these last?
is_served() {
	local where=$1 pid
	shift
	mounts_of "$where"
	[ "${#mounted[@]}" -eq 1 ] || return
	processes_of "$where"
	for pid in "${masters[@]}"; do
		arguments_of "$pid"
		# None of them holds a space.
		[[ " ${arguments[*]}" == *" $*" ]] && return
	done
	return 1
}

# run SECONDS COMMAND...: its status, and the first of what it said, escaped, in `quoted`.
# All else that it says is lost: what runs as the user must not fill a disk. Nor is a
# process waited for that it leaves behind with the pipe, whatever that writes.
run() {
	local alive=1 fd pid piece status=0 text=''
	exec {fd}< <(exec timeout -k 5 "$@" 2>&1 {lock}>&-)
	pid=$!
	# until the end of the pipe, and after the command's only once more
	while [ "$alive" -eq 1 ] && { [ "$status" -eq 0 ] || [ "$status" -gt 128 ]; }; do
		kill -0 "$pid" || alive=0
		IFS= read -r -t 0.2 -N 4096 -u "$fd" piece
		status=$?
		[ "${#text}" -ge 800 ] || text+=$piece
	done
	wait "$pid"
	status=$?
	exec {fd}<&-
	text=${text:0:800}
	text=${text%$'\n'}
	text=${text//$'\n'/; }
	quoted=${text//[![:print:]]/?}
	return "$status"
}

# mount_one NAME PATH WISH FRONT
mount_one() {
	local where=$directory/$1 left status quoted with command
	options_of "$3" "$4"
	command=(-o "$with" -- "$2" "$where")
	if is_served "$where" "${command[@]}"; then
		say notice "$1: is mounted already"
		return
	fi
	take_away "$where"
	if ! is_open || { [ ! -d "$where" ] && ! mkdir -- "$where"; }; then
		say err "$1: not mounted: its directory cannot be made"
		return
	fi
	left=$((seconds - SECONDS))
	run "$((left > 0 ? left : 1))" env -i PATH="$PATH" LC_ALL=C SLURM_JOB_ID="$job" \
		SLURM_JOB_UID="$uid" "$granaryfs" "${command[@]}"
	status=$?
	if [ "$status" -eq 0 ] && is_open; then
		say notice "$1: mounted: $2${quoted:+ ($quoted)}"
		return
	fi
	# The empty directory goes too: a program must not take it for the dataset.
	take_away "$where"
	rmdir -- "$where"
	[ "$status" -ne 0 ] || quoted="the job has ended"
	[ "$status" -ne 124 ] && [ "$status" -ne 137 ] ||
		quoted="no mount within $seconds s: its storage hangs, or it has no index yet (granary index $2)"
	say warning "$1: not mounted: $2: ${quoted:-status $status}"
}

main() {
	local extra=0 i names=() paths=() wishes=() fronts=() refused=0 other_group=no
	local uid=${SLURM_JOB_UID:-} gid=${SLURM_JOB_GID:-}
	if ! is_number "${SLURM_JOB_ID:-}" 18 || ! is_number "$uid" ||
		! is_number "$gid"; then
		say err "SLURM_JOB_ID, UID or GID is no number, or root's: no mount"
		return
	fi
	job=$SLURM_JOB_ID
	find_daemons
	open_directory || {
		say err "$base/$job: not root's alone, or locked; nothing mounted"
		return
	}
	log=$directory/log
	rights
	read_requests "${SLURM_JOB_COMMENT:-}"
	read_requests "${SLURM_JOB_EXTRA:-}"
	[ "$refused" -le "$most" ] ||
		say warning "refused: $((refused - most)) more that make no sense"
	[ "$extra" -eq 0 ] ||
		say warning "refused: $extra more: a job may ask for $most"
	for i in "${!names[@]}"; do
		mount_one "${names[i]}" "${paths[i]}" "${wishes[i]}" "${fronts[i]}" &
	done
	wait
	is_open && return
	rm -f -- "$directory/log"
	rmdir -- "$directory"
}

[[ ${SLURM_JOB_COMMENT:-}${SLURM_JOB_EXTRA:-} == *granaryfs[=\[]* ]] || exit
read_config </dev/null >/dev/null 2>&1
within $((seconds + 15))
