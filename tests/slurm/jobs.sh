#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs of a real Slurm with two nodes: datasets of several formats by the prologue, and by
# granary run; arrays, steps, requeue, scancel, a time limit, what goes wrong. Afterwards
# there is no mount, no process and no drained node. Part of `make check-long`.
# shellcheck source=tests/slurm/namespaces.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/slurm/namespaces.sh"
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/slurm/cluster.sh
. "$abs_top_srcdir/tests/slurm/cluster.sh"

# ---- Jobs ----------------------------------------------------------------------------

# The same bytes by every way, on both nodes at once.
submit_formats() {
	submit formats -N 2 --comment="$all_formats" <<<"$formats_job"
	submit run -N 2 <<-'EOS'
		srun sh -c 'mkdir "$2-$(hostname)" && cd "$2-$(hostname)" && mkdir a b &&
			granary run "$1/squashed.sqfs:a" "$1/plain.tar:b" -- sh -c \
			"diff -r $3 a && diff -r $3 b && exit 9"' sh "$data" "$work/out/run" "$tree"
	EOS
	submit nothing --comment="a job like any other" <<-'EOS'
		[ ! -e "/run/granaryfs/$SLURM_JOB_ID" ]
	EOS
}

submit_many() {
	local i
	submit array -a 0-3 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		cmp "\$tree/large" "\$mounted/plain/large"
	EOS
	for i in 0 1 2 3; do
		job_id[array-$i]=${job_id[array]}_$i
	done
	submit steps -n 4 --comment="granaryfs=$data/squashed.sqfs" <<-EOS
		$job_kit
		task='cmp "\$1/large" "\$2/squashed/large" && echo "\$GRANARYFS_DATASETS"'
		srun sh -c "\$task" sh "\$tree" "\$mounted" || exit
		srun -n 2 --exact sh -c "\$task" sh "\$tree" "\$mounted" &
		srun -n 2 --exact sh -c "\$task" sh "\$tree" "\$mounted" || exit
		wait \$!
	EOS
	submit first -w n1 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		await second
		cmp "\$tree/large" "\$mounted/plain/large"
	EOS
	submitter=${users[1]}
	submit second -w n1 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		diff -r "\$tree/train" "\$mounted/plain/train" && tell second &&
			await first-ended && cmp "\$tree/large" "\$mounted/plain/large"
	EOS
	submitter=${users[0]}
}

# Jobs that somebody or something ends.
submit_ended() {
	submit limit --time=1 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		cd "\$mounted/plain" && exec sleep 1000
	EOS
	submit requeue --requeue --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		cmp "\$tree/large" "\$mounted/plain/large" || exit
		[ "\${SLURM_RESTART_COUNT:-0}" = 1 ] && exit
		tell requeue
		exec sleep 1000
	EOS
	submit cancel --comment="granaryfs=$data/plain.tar granaryfs=$data/tree.h5" <<-EOS
		$job_kit
		tell cancel
		while cat "\$mounted/plain/large" "\$mounted/tree/large" >/dev/null; do :; done
	EOS
	submit escaped -w n1 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		cd "\$mounted/plain" && exec 8<large
		(setsid sleep 1000 >/dev/null 2>&1 & echo \$! >"\$work/told/escaped")
	EOS
}

# Jobs for which something does not work.
submit_failures() {
	submit missing --comment="granaryfs=$data/none.tar granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		cmp "\$tree/large" "\$mounted/plain/large" && cat "\$mounted/none/large" || exit 4
	EOS
	submit secret --comment="granaryfs=$data/secret.tar" <<-EOS
		$job_kit
		cat "\$mounted/secret/large" || exit 5
	EOS
	submit killed -w n2 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		ls "\$mounted/plain" && tell killed && await killed-now
		cat "\$mounted/plain/large" >/dev/null || exit 3
	EOS
	submit restart -w n2 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		tell restart && await restarted && cmp "\$tree/large" "\$mounted/plain/large"
	EOS
	submit hung -w n1 --comment="granaryfs=hung:$storage/plain.tar granaryfs=$data/plain.tar" \
		<<-EOS
		$job_kit
		cmp "\$tree/large" "\$mounted/plain/large" && [ ! -e "\$mounted/hung" ]
	EOS
}

# ---- What happens to them --------------------------------------------------------------

# make_hang: storage of the first node that answers nobody.
make_hang() {
	local at=(nsenter -t "${node_pid[n1]}" -m -p)
	mkdir "$work/storage/programs" && cp "$granaryfs" "$granary" "$work/storage/programs" &&
		mkdir "$storage" && tar -C "$data" -cf "$work/storage/data.tar" plain.tar &&
		"${at[@]}" "$work/storage/programs/granaryfs" -o allow_other,shield=off \
			"$work/storage/data.tar" "$storage" || return
	mapfile -t stopped < <(running "$work/storage/programs/granaryfs")
	kill -STOP "${stopped[@]}"
}

end_hang() {
	kill -KILL "${stopped[@]}"
	nsenter -t "${node_pid[n1]}" -m -p umount -l "$storage"
}

kill_daemons() {
	local pids
	wait_until 60 has_told killed
	mapfile -t pids < <(daemons_of killed)
	at_least "${#pids[@]}" 2 "a job's daemon is killed"
	kill -KILL "${pids[@]}"
	tell killed-now
}

restart_slurmd() {
	local before
	wait_until 60 has_told restart
	before=$(slurmd_of n2)
	kill -KILL "$before"
	check "slurmd is killed, and another one begins" wait_until 30 another_slurmd "$before"
	tell restarted
}

slurmd_of() {
	cat "/proc/${node_pid[$1]}/task/${node_pid[$1]}/children" | xargs -n 1 |
		while read -r pid; do is_named "$pid" slurmd && echo "$pid"; done
}

another_slurmd() {
	local now
	now=$(slurmd_of n2)
	[ -n "$now" ] && [ "$now" != "$1" ]
}

requeue() {
	wait_until 60 has_told requeue
	check "a job is requeued" scontrol requeue "${job_id[requeue]}"
}

cancel() {
	wait_until 60 has_told cancel
	check "a job that reads is cancelled" scancel "${job_id[cancel]}"
}

# A process that has left the job's session lives on where Slurm only knows of parents.
end_escaped() {
	local pids
	mapfile -t pids < <(running "$(realpath "$(command -v sleep)")")
	[ "${#pids[@]}" -eq 0 ] || kill -KILL "${pids[@]}"
}

# ---- What comes of them ----------------------------------------------------------------

jobs_end() {
	local i
	ends formats COMPLETED 0:0
	ends run FAILED 9:0
	ends nothing COMPLETED 0:0
	for i in 0 1 2 3; do
		ends "array-$i" COMPLETED 0:0
	done
	ends steps COMPLETED 0:0
	is "$(grep -v '^srun: ' "$work/out/steps" | sort -u)" "/run/granaryfs/${job_id[steps]}" \
		"each task has the variable, and no line of trouble"
	ends first COMPLETED 0:0
	tell first-ended
	ends second COMPLETED 0:0
	ends cancel CANCELLED
	ends killed FAILED 3:0
	ends restart COMPLETED 0:0
	ends missing FAILED 4:0
	is "$(grep -c 'granaryfs: none: not mounted: ' "$work/out/missing")" 1 \
		"its output says that a dataset is not mounted"
	ends secret FAILED 5:0
	ends hung COMPLETED 0:0
	ends escaped COMPLETED 0:0
	ends requeue COMPLETED 0:0
	is "$(job_field "${job_id[requeue]}" Restarts)" 1 "it ran twice"
	ends limit TIMEOUT
}

storage=$work/storage/mnt
make_users && make_data >"$work/data.log" 2>&1 || bail "no data: $(tail "$work/data.log")"
install_here && make_task_prolog || bail "not installed"
start_cluster proctrack/linuxproc task/none
ok $? "a controller and two nodes" || { show_logs && finish; }
make_hang
ok $? "storage that hangs"
submit_ended
submit_failures
submit_formats
submit_many
kill_daemons
restart_slurmd
requeue
cancel
jobs_end
end_escaped
end_hang
after "all jobs"
[ "$tap_failed" -eq 0 ] || show_logs
finish
