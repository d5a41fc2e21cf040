#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# docs/slurm/prolog.sh and epilog.sh, run as slurmd runs them: what a job asks for
# is mounted for its user, whatever it writes never drains the node, and nothing is
# left when it has ended.
#
# SLURM_RUNS is how often the three jobs of the last part come and go:
#	make check TESTS=tests/mount/slurm.sh SLURM_RUNS=100
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd hdf5
need_fuse
need_root
need setpriv timeout unshare
# shellcheck source=tests/mount/slurm_lib.sh
. "$abs_top_srcdir/tests/mount/slurm_lib.sh"

# shellcheck source=tests/mount/slurm_users.sh
. "$abs_top_srcdir/tests/mount/slurm_users.sh"

# ---- The request ------------------------------------------------------------------

# asks COMMENT NAME PATH: what is mounted for a comment.
asks() {
	stub :
	prolog "$job" "$1"
	is "$status $(tail -n 2 "$work/calls" 2>/dev/null | tr '\n' ' ')" \
		"0 $3 $base/$job/$2 " "request: $1"
	epilog "$job"
}

requests_understood() {
	local long
	printf -v long '%0200d' 0
	asks granaryfs=/p/data/imagenet.tar imagenet /p/data/imagenet.tar
	asks "a comment granaryfs=/p/x.h5 that goes on" x /p/x.h5
	asks "granaryfs=train:/p/x.tar" train /p/x.tar
	asks "granaryfs=/p/v1.2/x.v3.sqfs" x.v3 /p/v1.2/x.v3.sqfs
	asks "granaryfs=/p/plain" plain /p/plain
	asks "granaryfs=/p/train-{000000..000127}.tar" train "/p/train-{000000..000127}.tar"
	asks "granaryfs=all:/p/{train,val}/{0..9}.tar" all "/p/{train,val}/{0..9}.tar"
	asks "granaryfs=n:/p/year=2024/a@b+c,d:e~%s.tar" n "/p/year=2024/a@b+c,d:e~%s.tar"
	asks "granaryfs=/p/$long/x.tar" x "/p/$long/x.tar"
	asks "   granaryfs=/p/x.tar   " x /p/x.tar
}

# options REQUEST WANTED: what granaryfs gets for -o.
options() {
	stub :
	[ -z "${3:-}" ] || printf '%s\n' "$3" >>"$work/slurm.conf"
	prolog "$job" "$1"
	is "$status $(sed -n 2p "$work/calls" 2>/dev/null)" "0 $2" "options: $1" ||
		diag "$(job_log "$job")"
	epilog "$job"
}

requests_with_options() {
	local classes=$data/words.txt
	options 'granaryfs[prefetch=off]=/p/x.tar' "user=$uid,prefetch=off"
	options 'granaryfs[view=class;subdir=a/b;nested=off]=n:/p/x.tar' \
		"user=$uid,view=class,subdir=a/b,nested=off"
	options 'granaryfs[]=/p/x.tar' "user=$uid"
	options 'granaryfs[names=/p/a.txt:/p/b.txt]=/p/x.tar' "user=$uid,names=/p/a.txt:/p/b.txt"
	options 'granaryfs[cache=1G]=/p/x.tar' "user=$uid,timeout=9,cache=1G" \
		$'allow=cache\noptions=timeout=9'
	options 'granaryfs[shield=yes]=/p/x.tar' \
		"user=$uid,allow_other,uid=$uid,gid=$gid,umask=077,shield=early" allow=shield
	options 'granaryfs[shield=no]=/p/x.tar' "user=$uid" $'shield=yes\nallow=shield'
	stub :
	prolog "$job" 'granaryfs[prefetch=off]=/p/a.tar granaryfs=/p/b.tar'
	is "$(grep -c prefetch "$work/calls")" 1 "options: of one request, and not of the next"
	epilog "$job"
	real
	printf 'zero\none\n' >"$classes"
	chmod 600 "$classes"
	prolog "$job" "granaryfs[classes=$classes]=$data/one.tar"
	check "options: a file that root may read and the user may not" \
		log_has "$job" "one: not mounted"
	epilog "$job"
	chown "$uid" "$classes"
	chmod 644 "$data/one.tar"
	prolog "$job" "granaryfs[classes=$classes]=$data/one.tar"
	check "options: a file of the user's" log_has "$job" "one: mounted"
	job_ends "$job" "a job with options"
}

several_requests() {
	local names
	stub :
	prolog "$job" "granaryfs=/a.tar text granaryfs=b:/c.tar" \
		SLURM_JOB_EXTRA="granaryfs=/d.h5"
	names=$(sed -n 's/^[^ ]* \([^:]*\): mounted: .*/\1/p' "$base/$job/log" | sort | xargs)
	is "$names" "a b d" "several requests, in --comment and --extra"
	epilog "$job"
	stub :
	prolog "$job" "$(printf 'granaryfs=/%d.tar ' 1 2 3 4 5 6 7 8 9 10 11)"
	is "$(grep -c . "$work/calls")" 40 "more than eight requests: eight are mounted"
	check "and one line says so" log_has "$job" "refused: 3 more"
	epilog "$job"
}

arguments_given() {
	stub :
	prolog "$job" granaryfs=/p/x.tar
	is "$(xargs <"$work/calls")" "-o user=$uid -- /p/x.tar $base/$job/x" \
		"granaryfs's arguments"
	stub 'env >>'"$work/calls"
	printf 'options=cache=1G,timeout=600\n' >>"$work/slurm.conf"
	prolog "$job" granaryfs=/p/x.tar
	is "$(sed -n 2p "$work/calls")" "user=$uid,cache=1G,timeout=600" \
		"with the site's options"
	is "$(sed -n 's/^\(SLURM[^=]*\)=.*/\1/p' "$work/calls" | sort | xargs)" \
		"SLURM_JOB_ID SLURM_JOB_UID" "and nothing of what the user wrote in its environment"
	epilog "$job"
}

# ---- What is no request -----------------------------------------------------------

# escaped FILE: only printable ASCII, and lines.
escaped() {
	! tr -d '\n' <"$1" | tr -d ' -~' | grep -q .
}

hostile_refused() {
	local word wrong=() log
	stub :
	for word in "${hostile[@]}"; do
		prolog "$job" "$word"
		log=$base/$job/log
		[ "$status $bytes $(grep -c ' refused: ' "$log") $(wc -l <"$log")" = "0 0 1 1" ] &&
			escaped "$log" && [ ! -e "$canary" ] && [ ! -e "$work/calls" ] &&
			[ "$(find "$base" -mindepth 1 | wc -l)" -eq 3 ] ||
			wrong+=("$(printf %q "${word:0:80}"): $status $bytes $(head -c 200 "$log")")
		rm -f "$log"
	done
	is "${#wrong[@]}" 0 "each is refused with one line, and runs and mounts nothing" ||
		diag "$(printf '%s\n' "${wrong[@]}")"
	job_ends "$job" "the hostile requests"
	refuse "and nothing is mounted" grep -q -F -- " $work/" /proc/self/mountinfo
}

# hostile_beside: seven at once, before and after a good one.
hostile_beside() {
	local i all refused
	real
	for ((i = 0; i < ${#hostile[@]}; i += 7)); do
		all=("${hostile[@]:i:7}")
		refused=$(printf '%s\n' "${#all[@]}")
		prolog "$job" "${all[*]:0:3} granaryfs=good:$data/one.tar" \
			SLURM_JOB_EXTRA="${all[*]:3}"
		[ "$status $bytes" = "0 0" ] &&
			[ "$(job_log "$job" | grep -c ' refused: ')" -eq "$refused" ] &&
			[ "$(as_user cat "$base/$job/good/file")" = "content one" ]
		ok $? "hostile requests $i to $((i + ${#all[@]} - 1)): the good one is mounted" ||
			diag "$status $bytes: $(job_log "$job")"
		epilog "$job"
	done
	[ ! -e "$canary" ]
	ok $? "and none of them ran anything"
}

silent() {
	local comment
	stub :
	for comment in "" "my job" "granaryfs" "granary=/p/x.tar" $'\xff\n$(id)'; do
		prolog "$job" "$comment"
		is "$status $bytes $(find "$base" -mindepth 1 2>/dev/null)" "0 0 " \
			"not ours: $(printf %q "$comment")"
	done
	slurmd prolog
	drains_nothing "no variable at all"
}

# wrong_numbers ID UID GID
wrong_numbers() {
	stub :
	slurmd prolog SLURM_JOB_ID="$1" SLURM_JOB_UID="$2" SLURM_JOB_GID="$3" \
		SLURM_JOB_COMMENT="granaryfs=/p/x.tar"
	is "$status $bytes $(cat "$work/calls" 2>/dev/null)" "0 0 " \
		"prologue: id $(printf %q "$1"), uid $(printf %q "$2"), gid $(printf %q "$3")"
	real
	slurmd epilog SLURM_JOB_ID="$1" SLURM_JOB_UID="$2" SLURM_JOB_COMMENT="\$(id)"
	drains_nothing "epilogue: the same"
}

numbers_checked() {
	wrong_numbers "" "$uid" "$gid"
	wrong_numbers ../.. "$uid" "$gid"
	wrong_numbers "1 2" "$uid" "$gid"
	wrong_numbers "a[\$(touch $canary)]" "$uid" "$gid"
	wrong_numbers 99999999999999999999 "$uid" "$gid"
	wrong_numbers -1 "$uid" "$gid"
	wrong_numbers "$job" 0 "$gid"
	wrong_numbers "$job" 00 "$gid"
	wrong_numbers "$job" "root" "$gid"
	wrong_numbers "$job" "$uid,allow_other" "$gid"
	wrong_numbers "$job" "$uid" ""
	wrong_numbers "$job" "$uid" 0
	[ ! -e "$canary" ]
	ok $? "and nothing was run"
}

settings_checked() {
	printf '%s\n' "base=/tmp/../etc" "seconds=1;touch $canary" "\$(touch $canary)" \
		"PATH=/nowhere" "options=a b" "most=" "shield=maybe" "allow=user" "allow=view,log" >"$work/wrong"
	stub :
	cat "$work/wrong" >>"$work/slurm.conf"
	prolog "$job" granaryfs=/p/x.tar
	check "settings that make no sense are left out" log_has "$job" "x: mounted"
	[ ! -e "$canary" ]
	ok $? "and not run"
	epilog "$job"
	chown "$uid" "$work/slurm.conf"
	prolog "$job" granaryfs=/p/x.tar
	drains_nothing "settings that are not root's"
	is "$(grep -c . "$work/calls")" 5 "are not used"
	rm -f "$work/slurm.conf"
	mkdir -m 1777 "$work/anybodys"
	stub :
	printf 'base=%s\n' "$work/anybodys" >>"$work/slurm.conf"
	prolog "$job" granaryfs=/p/x.tar
	is "$status $bytes $(ls "$work/anybodys")" "0 0 " "no directory where anybody may write"
}

# ---- Mounts -----------------------------------------------------------------------

good_dataset() {
	real
	prolog "$job" "granaryfs=$data/one.tar granaryfs=set:$data/set-{0..1}.tar"
	drains_nothing "two datasets"
	is "$(as_user cat "$base/$job/one/file")" "content one" "the user reads it"
	as_user cmp "$base/$job/set/large" "$work/tree/large"
	ok $? "and a set of shards"
	check "the user can read the log" as_user grep -q 'one: mounted' "$base/$job/log"
	# shellcheck disable=SC2016  # the inner shell expands it
	refuse "and not write it" as_user sh -c 'echo x >>"$1"' sh "$base/$job/log"
	refuse "nor anything beside it" as_user touch "$base/$job/x"
	refuse "nor move a mount point" as_user mv "$base/$job/one" "$base/$job/two"
	refuse "another user cannot look into the directory" setpriv --reuid=12345 --regid=12345 \
		--clear-groups ls "$base/$job"
	is "$(stat -c %u:%a "$base")" 0:755 "the directory of all jobs is root's"
	process_environment
	job_ends "$job" "two datasets"
}

process_environment() {
	local pid
	pid=$(processes "$job" | head -n 1)
	tr '\0' '\n' <"/proc/$pid/environ" | grep -q -x "SLURM_JOB_ID=$job"
	ok $? "the daemon's environment has SLURM_JOB_ID"
	is "$(readlink "/proc/$pid/fd/0" "/proc/$pid/fd/1" "/proc/$pid/fd/2" | sort -u)" \
		/dev/null "and its standard streams are /dev/null"
	refuse "and it does not hold the prologue's lock" grep -q '\.lock' <(
		readlink "/proc/$pid/fd/"*)
}

# newgrp, sbatch --gid: the job's group is not the user's first one.
other_group() {
	local gid=100
	real
	prolog "$job" "granaryfs=$data/one.tar"
	is "$(as_user cat "$base/$job/one/file")" "content one" "a job of another group reads"
	chmod 755 "$base/$job"
	refuse "another user with that group does not" setpriv --reuid=12345 --regid="$gid" \
		--clear-groups cat "$base/$job/one/file"
	job_ends "$job" "another group"
}

# Root's programs may look into such a mount, and nobody else but the job's user.
shielded() {
	real
	echo shield=yes >>"$work/slurm.conf"
	prolog "$job" "granaryfs=$data/one.tar"
	drains_nothing "with the shield"
	is "$(findmnt -n -o FSTYPE "$base/$job/one")" overlay "shield=yes: there is one"
	is "$(as_user cat "$base/$job/one/file")" "content one" "shield=yes: the user reads"
	is "$(stat -c %u:%g:%a "$base/$job/one/file")" "$uid:$gid:600" \
		"shield=yes: and it is the user's alone"
	chmod 755 "$base/$job"
	refuse "shield=yes: another user does not read" setpriv --reuid=12345 --regid=12345 \
		--clear-groups cat "$base/$job/one/file"
	job_ends "$job" "shield=yes"
}

# not_there WHAT REQUEST: not mounted, said in the log, and no empty directory.
not_there() {
	real
	prolog "$job" "$2 granaryfs=good:$data/one.tar"
	drains_nothing "$1"
	is "$(job_log "$job" | grep -c 'not mounted: ')" 1 "$1: one line says why"
	is "$(cd "$base/$job" && echo *)" "good log" "$1: there is no empty directory for it"
	is "$(as_user cat "$base/$job/good/file")" "content one" "$1: the other one is mounted"
	at_most "$milliseconds" 30000 "$1: soon ($milliseconds ms)"
	job_ends "$job" "$1"
}

two_jobs() {
	local other=$((job + 1)) pid
	real
	{
		prolog "$other" "granaryfs=$data/one.tar"
		[ "$status $bytes" = "0 0" ]
	} &
	pid=$!	# prolog starts others
	prolog "$job" "granaryfs=$data/one.tar"
	drains_nothing "one of two jobs at once"
	wait "$pid"
	ok $? "the other of two jobs at once"
	is "$(as_user cat "$base/$job/one/file" "$base/$other/one/file" 2>&1 | xargs)" \
		"content one content one" "two jobs at once: both read" ||
		diag "$(job_log "$job"; job_log "$other")"
	job_ends "$job" "the first of two jobs"
	is "$(as_user cat "$base/$other/one/file")" "content one" "the second reads on"
	job_ends "$other" "the second of two jobs"
}

twice() {
	local pids
	real
	prolog "$job" "granaryfs=$data/one.tar"
	pids=$(processes "$job")
	prolog "$job" "granaryfs=$data/one.tar"
	drains_nothing "the prologue again"
	is "$(processes "$job")" "$pids" "the same processes serve"
	is "$(mounts_below "$base/$job" | wc -l)" 1 "and there is one mount"
	prolog "$job" "granaryfs=one:$data/two.tar"
	is "$(as_user cat "$base/$job/one/file")" "content two" "another dataset: it is replaced"
	is "$(mounts_below "$base/$job" | wc -l)" 1 "and there is still one mount"
	job_ends "$job" "after three prologues"
	epilog "$job"
	drains_nothing "the epilogue again"
}

# All processes of a job at once, so that none can start another.
kill_all() {
	local pids
	mapfile -t pids < <(processes "$1")
	kill "-$2" "${pids[@]}"
}

stale() {
	real
	prolog "$job" "granaryfs=$data/one.tar"
	kill_all "$job" KILL
	check "kill -9: no process" wait_until 10 no_processes "$job"
	prolog "$job" "granaryfs=$data/one.tar"
	drains_nothing "over a stale mount"
	is "$(as_user cat "$base/$job/one/file")" "content one" "a stale mount is replaced"
	is "$(mounts_below "$base/$job" | wc -l)" 1 "and there is one mount"
	kill_all "$job" KILL
	job_ends "$job" "kill -9"
}

no_processes() {
	[ -z "$(processes "$1")" ]
}

file_open() {
	local reader
	real
	prolog "$job" "granaryfs=$data/one.tar"
	# shellcheck disable=SC2016  # the inner shell expands it
	as_user sh -c 'exec 8<"$1"; echo; exec sleep 30' sh "$base/$job/one/large" \
		>"$work/open" &
	reader=$!
	started+=("$reader")
	wait_until 10 test -s "$work/open"
	job_ends "$job" "a file is open"
	kill "$reader"
}

# STOPped processes answer nothing: who looks into the mount waits.
stopped() {
	local pid
	real
	prolog "$job" "granaryfs=$data/one.tar"
	kill_all "$job" STOP
	as_user cat "$base/$job/one/large" >/dev/null 2>&1 &
	pid=$!
	job_ends "$job" "the daemon is stopped"
	at_most "$milliseconds" 20000 "the daemon is stopped: within 20 s ($milliseconds ms)"
	wait "$pid"
}

# job_container/tmpfs: the job's mount namespace has a copy, which umount does not reach.
other_namespace() {
	local holder
	real
	prolog "$job" "granaryfs=$data/one.tar"
	unshare --mount --propagation private sh -c 'echo; exec sleep 30' >"$work/held" &
	holder=$!
	started+=("$holder")
	wait_until 10 test -s "$work/held"
	grep -q -F -- "$base/$job/one" "/proc/$holder/mountinfo"
	ok $? "another mount namespace has a copy"
	job_ends "$job" "a copy in another namespace"
	kill "$holder"
}

# A granaryfs that does not come back, not even for TERM.
hangs() {
	stub "case \$4 in */slow.tar) trap '' TERM; sleep 1000 & wait; wait; sleep 1000 ;; esac"
	prolog "$job" "granaryfs=/p/slow.tar granaryfs=/p/quick.tar"
	drains_nothing "a granaryfs that hangs"
	at_most "$milliseconds" 15000 "it is given up after a bounded time ($milliseconds ms)"
	check "the log says so" log_has "$job" "slow: not mounted: /p/slow.tar: no mount within"
	check "the other one is there" log_has "$job" "quick: mounted"
	refuse "and nothing runs any more" grep -q -s -a -F -- "$base/$job/slow" \
		/proc/[0-9]*/cmdline
	epilog "$job"
}

# One that leaves a process behind which holds what it was given.
holds_pipe() {
	stub "setsid sleep 20 & exit 1"
	prolog "$job" "granaryfs=/p/x.tar"
	drains_nothing "a process is left behind"
	at_most "$milliseconds" 10000 "and nobody waits for it ($milliseconds ms)"
	epilog "$job"
}

# The kernel may let the scripts themselves wait: here for a daemon that is stopped.
scripts_hang() {
	local below=$work/below
	mkdir "$below"
	"$work/programs/granaryfs" "$data/one.tar" "$below" || bail "not mounted"
	watch_mount "$below"
	mapfile -t pids < <(processes_at "$below")
	kill -STOP "${pids[@]}"
	stub :
	printf 'base=%s\n' "$below/run" >>"$work/slurm.conf"
	prolog "$job" granaryfs=/p/x.tar
	drains_nothing "the prologue's directory is on storage that hangs"
	at_most "$milliseconds" 25000 "it is given up after a bounded time ($milliseconds ms)"
	kill -KILL "${pids[@]}"
}

# Nor must they wait for another job's daemon: a pipe that nobody writes to is read as
# the arguments of a process that hangs.
daemon_hangs() {
	local proc=$work/proc
	mkdir -p "$proc/4242"
	printf 'Name:\tgranaryfs\nUid:\t0\t0\t0\t0\n' >"$proc/4242/status"
	ln -s "$work/programs/granaryfs" "$proc/4242/exe"
	mkfifo "$proc/4242/cmdline"
	cp -a "$work/epilog.sh" "$work/epilog.real"
	sed -i -e "s|/proc/\[|$proc/[|" -e "s|\"/proc/\\$|\"$proc/\$|" "$work/epilog.sh"
	real
	mkdir -p "$base/$job"
	epilog "$job"
	drains_nothing "a daemon whose arguments cannot be read"
	at_least "$milliseconds" 2000 "is asked for them"
	at_most "$milliseconds" 10000 "is not waited for ($milliseconds ms)"
	[ ! -e "$base/$job" ]
	ok $? "and the directory is gone"
	mv "$work/epilog.real" "$work/epilog.sh"
}

# ---- Again and again --------------------------------------------------------------

# run NUMBER: a job whose dataset is missing, one with hostile strings, and two on
# one dataset, at once.
run() {
	local i=$(($1 * 7 % (${#hostile[@]} - 7))) id bad=""
	prolog "$job" "granaryfs=$data/none.tar granaryfs=good:$data/one.tar" || bad+=" start"
	[ "$status $bytes" = "0 0" ] || bad+=" missing:$status"
	slurmd prolog SLURM_JOB_ID=$((job + 1)) SLURM_JOB_UID="$uid" SLURM_JOB_GID="$gid" \
		SLURM_JOB_COMMENT="${hostile[*]:i:7} granaryfs=good:$data/one.tar"
	[ "$status $bytes" = "0 0" ] || bad+=" hostile:$status"
	run_pair || bad+=" pair"
	[ ! -e "$base/$job/none" ] || bad+=" directory"
	[ "$(grep -c ' refused: ' "$base/$((job + 1))/log")" -eq 7 ] || bad+=" refused"
	for id in "$job" $((job + 1)); do
		[ "$(as_user cat "$base/$id/good/file")" = "content one" ] ||
			bad+=" read:$(job_log "$id")"
	done
	for id in "$job" $((job + 1)) $((job + 2)) $((job + 3)); do
		epilog "$id"
		[ "$status $bytes" = "0 0" ] && nothing_left "$id" >"$work/left" ||
			bad+=" epilogue:$id:$status:$(cat "$work/left")"
	done
	[ -z "$bad" ] || echo "run $1:$bad"
}

run_pair() {
	local id pid failed=0 pids=()
	for id in $((job + 2)) $((job + 3)); do
		(
			prolog "$id" "granaryfs=$data/two.tar"
			[ "$status $bytes" = "0 0" ] &&
				as_user cmp "$base/$id/two/large" "$work/two.large" && exit
			job_log "$id"
			exit 1
		) &
		pids+=("$!")
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	return $failed
}

again() {
	local n runs=${SLURM_RUNS:-3} before=$EPOCHSECONDS
	real
	tar -C "$work" -xf "$data/two.tar" --transform 's/^/two./' large
	before=$EPOCHSECONDS
	for ((n = 1; n <= runs; n++)); do
		run "$n"
	done >"$work/runs" 2>&1
	is "$(grep -c . "$work/runs")" 0 "$runs runs of three jobs and their epilogues" ||
		diag "$(head -n 40 "$work/runs")"
	diag "$runs runs took $((EPOCHSECONDS - before)) s"
	[ ! -e "$canary" ]
	ok $? "and nothing was run"
}

same_middle() {
	local name
	for name in prolog epilog; do
		sed -n '/^# ---- From here/,/^# ---- The end of what/p' "$slurm/$name.sh" \
			>"$work/$name.middle"
	done
	[ -s "$work/prolog.middle" ] && cmp "$work/prolog.middle" "$work/epilog.middle"
	ok $? "what both scripts have is the same"
}

# The script of README.md, as slurmd runs it for tasks. as_task [LOCALID]
as_task() {
	SLURM_JOB_ID=$job SLURM_LOCALID=${1:-} bash "$work/task.sh"
}

task_prolog() {
	mkdir "$work/tmp"
	# the block that is indented, from its first line on
	sed -n '/^    #!.bin.bash$/,/^[^ ]/{ s/^    //p }' "$slurm/README.md" |
		sed -e '/^done /q' -e "s|/run/granaryfs|$base|" \
			-e "s|/tmp/[.]g|$work/tmp/.g|" >"$work/task.sh"
	mkdir -p "$base/$job"
	printf '%s\n' "2026 job 1: a: mounted: /p/a" "2026 b: not mounted: /p/b: none" \
		"2026 refused: c" >"$base/$job/log"
	is "$(as_task 1)" "export GRANARYFS_DATASETS=$base/$job" "TaskProlog: the second task"
	is "$(as_task 0)" "export GRANARYFS_DATASETS=$base/$job
print granaryfs: b: not mounted: /p/b: none
print granaryfs: refused: c" "TaskProlog: the first task"
	is "$(as_task 0)" "export GRANARYFS_DATASETS=$base/$job" "TaskProlog: the next step's first"
	rm -rf "${base:?}/$job"
	is "$(as_task 0)" "" "TaskProlog: a job without datasets"
}

make_data
make_scripts
at_exit end_all_jobs
hostile
same_middle
requests_understood
requests_with_options
several_requests
arguments_given
hostile_refused
silent
numbers_checked
settings_checked
good_dataset
other_group
shielded
hostile_beside
not_there "a dataset that is not there" "granaryfs=$data/none.tar"
not_there "one that the user may not read" "granaryfs=$data/secret.tar"
not_there "one that is no dataset" "granaryfs=$data/text.tar"
not_there "a fifo" "granaryfs=$data/fifo.tar"
not_there "a device" "granaryfs=/dev/zero"
not_there "root's own files" "granaryfs=/etc/shadow"
not_there "a million shards" "granaryfs=m:$data/x-{1..1000000}.tar"
not_there "too many shards" "granaryfs=m:$data/x-{1..1000000}{1..1000000}.tar"
two_jobs
twice
stale
file_open
stopped
other_namespace
hangs
holds_pipe
scripts_hang
daemon_hangs
messages
others_base
numeric_names
much_said
both_at_once
indexer_stopped
users_processes
task_prolog
again
finish
