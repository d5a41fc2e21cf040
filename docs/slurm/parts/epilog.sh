#!/bin/bash -p
# SPDX-License-Identifier: GPL-3.0-or-later
# epilog.sh: Slurm's Epilog; takes away what prolog.sh mounted for a job.
#
# When it returns there is no mount below the job's directory, no process that served
# one, and no directory. It waits for nothing without an end, and never looks into a
# mount: one whose daemon hangs would make it hang. The status is always 0, because
# any other drains the node. It may be called twice, and without a prologue.
# shellcheck disable=SC2034  # some settings are for prolog.sh alone
@common@
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
