# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# slurm_lib.sh: what slurm.sh works with; sourced by it after tests/lib.sh: jobs, the
# scripts with a test's settings, what slurmd does, and what hostile users write.
# shellcheck disable=SC2016,SC2034,SC2154

slurm=$abs_top_srcdir/docs/slurm
base=$work/run
data=$work/data
canary=$work/canary
uid=65534
gid=$(id -g "$uid")
# Well above what a job of the node that this runs on has.
job=$((4000000000 + $$))

# ---- Things to mount, and the scripts with a site's settings ----------------------

make_data() {
	local name
	mkdir "$data" "$work/tree"
	for name in one two; do
		echo "content $name" >"$work/tree/file"
		head -c 300000 /dev/urandom >"$work/tree/large"
		tar -C "$work/tree" -cf "$data/$name.tar" file large
	done
	echo shard >"$work/tree/file"
	tar -C "$work/tree" -cf "$data/set-0.tar" file
	tar -C "$work/tree" -cf "$data/set-1.tar" large
	cp "$data/one.tar" "$data/secret.tar"
	chmod 600 "$data/secret.tar"
	echo "no tar at all" >"$data/text.tar"
	mkfifo "$data/fifo.tar"
}

# settings NAME=VALUE...: the scripts find these in their file of settings.
settings() {
	printf '%s\n' "base=$base" "granary=$work/programs/granary" "$@" >"$work/slurm.conf"
}

real() {
	settings "granaryfs=$work/programs/granaryfs"
}

# A granaryfs that notes what it was called with, and then does what is asked of it.
stub() {
	settings "granaryfs=$work/stub/granaryfs" seconds=2
	cat >"$work/stub/granaryfs" <<-EOS
		#!/bin/bash
		printf '%s\n' "\$@" >>"$work/calls"
		$1
	EOS
	rm -f "$work/calls"
}

make_scripts() {
	local name
	for name in prolog epilog; do
		sed -e "s|^config=.*|config=$work/slurm.conf|" \
			-e "s|^base=[^ ]*|base=$work/default|" \
			-e "s|^PATH=|PATH=$work/bin:|" "$slurm/$name.sh" \
			>"$work/$name.sh"
		chmod 755 "$work/$name.sh"
	done
	mkdir "$work/stub" "$work/bin"
	# syslog of a test's own
	printf '%s\n' '#!/bin/sh' 'while [ "$1" != -- ]; do shift; done' \
		"echo \"\$2\" >>$work/syslog" >"$work/bin/logger"
	chmod 755 "$work/bin/logger"
	: >"$work/stub/granaryfs"
	chmod 755 "$work/stub/granaryfs"
	public_programs
}

# ---- What slurmd does -------------------------------------------------------------

# slurmd SCRIPT NAME=VALUE...: the result goes to the variables `status`,
# `milliseconds` and `bytes`.
slurmd_inside=()    # a command to run it with
slurmd() {
	local script=$1
	shift
	read -r status milliseconds bytes < <(
		"${slurmd_inside[@]}" "$python" "$abs_top_srcdir/tests/mount/slurmd.py" --limit 40 \
			"$work/$script.sh" "$@")
}

# prolog JOB COMMENT [NAME=VALUE...]
prolog() {
	local id=$1 comment=$2
	shift 2
	slurmd prolog SLURM_JOB_ID="$id" SLURM_JOB_UID="$uid" SLURM_JOB_GID="$gid" \
		SLURM_JOB_USER=nobody SLURM_JOB_COMMENT="$comment" \
		SLURM_SCRIPT_CONTEXT=prolog_slurmd "$@"
}

epilog() {
	slurmd epilog SLURM_JOB_ID="$1" SLURM_JOB_UID="$uid" SLURM_JOB_GID="$gid" \
		SLURM_SCRIPT_CONTEXT=epilog_slurmd
}

drains_nothing() {
	is "$status $bytes" "0 0" "$1: status 0 and no output"
}

as_user() {
	setpriv --reuid="$uid" --regid="$gid" --clear-groups timeout 20 "$@"
}

job_log() {
	cat "$base/$1/log"
}

log_has() {
	job_log "$1" | grep -q -F -- "$2"
}

# processes JOB: those that serve one of its mounts.
processes() {
	processes_at "$base/$1/"
}

# processes_at TEXT: those of granaryfs with TEXT in their arguments.
processes_at() {
	local directory program
	for directory in /proc/[0-9]*; do
		program=$(readlink "$directory/exe" 2>/dev/null) || continue
		[ "$program" = "$work/programs/granaryfs" ] || continue
		tr '\0' '\n' <"$directory/cmdline" 2>/dev/null |
			grep -q -F -- "$1" && echo "${directory#/proc/}"
	done
	return 0
}

# The mount table, of which nothing may be added or missing at the end.
mounts_below() {
	grep -F -- " $1/" /proc/self/mountinfo
}

nothing_left() {
	mounts_below "$base/$1" && return 1
	[ -z "$(processes "$1")" ] || { processes "$1" && return 1; }
	[ ! -e "$base/$1" ] || { ls -la "$base/$1" && return 1; }
}

# job_ends JOB WHAT: the epilogue, and that nothing is left.
job_ends() {
	epilog "$1"
	drains_nothing "$2: the epilogue"
	check "$2: no mount, process or directory is left" nothing_left "$1"
}

end_all_jobs() {
	local directory
	real
	for directory in "$base"/*; do
		env -i SLURM_JOB_ID="${directory##*/}" "$work/epilog.sh"
	done
}

# ---- What is no request -----------------------------------------------------------

# Each is refused with one line, runs nothing and mounts nothing.
hostile() {
	local c="touch\${IFS}$canary" n long brackets
	printf -v long '%065536d' 0
	printf -v brackets '%04000d' 0
	hostile=(
		'granaryfs=' 'granaryfs=:' 'granaryfs=x' 'granaryfs=x:' 'granaryfs=x:y'
		'granaryfs=/' 'granaryfs=/.' 'granaryfs=/..' 'granaryfs=/.tar' 'granaryfs=/p/'
		'granaryfs=/p//x.tar' 'granaryfs=/p/./x.tar' 'granaryfs=/p/../etc/x.tar'
		'granaryfs=..:/p/x.tar' 'granaryfs=.:/p/x.tar' 'granaryfs=.x:/p/x.tar'
		'granaryfs=-x:/p/x.tar' 'granaryfs=-o:/p/x.tar' 'granaryfs=--:/p/x.tar'
		'granaryfs=../../x:/p/x.tar' 'granaryfs=a/b:/p/x.tar' 'granaryfs=log:/p/x.tar'
		'granaryfs=/p/log.tar' 'granaryfs=/p/-x.tar' 'granaryfs=/p/{a,b}.tar'
		'granaryfs=/p/{a/b,c}.tar' 'granaryfs=-o' 'granaryfs=-oallow_other,user=0:/p/x'
		"granaryfs=/p/\$($c).tar" "granaryfs=/p/\`$c\`.tar" "granaryfs=\$($c):/p/x.tar"
		"granaryfs=/p/x.tar;$c" "granaryfs=/p/x.tar|$c" "granaryfs=/p/x.tar&$c&"
		"granaryfs=/p/x.tar>$canary" "granaryfs=/p/<($c).tar" "granaryfs=/p/'x'.tar"
		'granaryfs=/p/"x".tar' 'granaryfs=/p/\x.tar' 'granaryfs=/p/*.tar'
		'granaryfs=/p/?.tar' 'granaryfs=/p/[a].tar' 'granaryfs=/p/$HOME.tar'
		"granaryfs=/p/x[\$($c)].tar" "granaryfs=a[\$($c)]:/p/x.tar"
		'granaryfs=/p/x!y.tar' 'granaryfs=/p/#x.tar' 'granaryfs=/p/^x.tar'
		$'granaryfs=/p/x\n.tar' $'granaryfs=/p/x.tar\ngranaryfs=/p/y.tar'
		$'granaryfs=/p/x\t.tar' $'granaryfs=/p/\e[31mx.tar' $'granaryfs=/p/\r.tar'
		$'granaryfs=/p/\x7f.tar' $'granaryfs=/p/\xff\xfe.tar' $'granaryfs=/p/\xc3\xa9.tar'
		$'granaryfs=/p/\xe2\x80\xae.tar' $'x\ngranaryfs=/p/x.tar' $'\tgranaryfs=/p/x.tar'
		'xgranaryfs=/p/x.tar' 'granaryfs=granaryfs=/p/x.tar' '--granaryfs=/p/x.tar'
		'granaryfs[allow_other=1]=/p/x.tar' 'granaryfs[user=0]=/p/x.tar'
		'granaryfs[cache=1G]=/p/x.tar' 'granaryfs[=x]=/p/x.tar' 'granaryfs[view]=/p/x.tar'
		'granaryfs[view=]=/p/x.tar' 'granaryfs[view=class,user=0]=/p/x.tar'
		'granaryfs[classes=words]=/p/x.tar' 'granaryfs[classes=/../x]=/p/x.tar'
		'granaryfs[view,classes=/x]=/p/x.tar' 'granaryfs[prefetch,view=off]=/p/x.tar'
		'granaryfs[names=/a:b]=/p/x.tar' 'granaryfs[view=a;;view=b]=/p/x.tar'
		'granaryfs[view=class=/p/x.tar' 'granaryfs[view=class]/p/x.tar'
		'granaryfs[*=x]=/p/x.tar' 'granaryfs[view=class]=/p/../x.tar'
		"granaryfs[view=\$($c)]=/p/x.tar" "granaryfs[\$($c)=x]=/p/x.tar"
		"granaryfs=%s%n%n:/p/x.tar" "granaryfs=x\${IFS}y:/p/x.tar"
		"granaryfs=/p/$long.tar" "granaryfs=/p/${brackets//0/{\{}.tar"
		"granaryfs=${brackets:0:65}:/p/x.tar" "granaryfs=/p/${brackets:0:65}"
	)
	n=${#hostile[@]}
	[ "$n" -ge 40 ]
	ok $? "$n hostile requests"
}
