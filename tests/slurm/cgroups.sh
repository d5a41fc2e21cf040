#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs of a real Slurm that bounds their memory and ends their processes by cgroups (v1):
# datasets larger than a job's --mem are read by it, a process that leaves its session ends
# with it. The log has what memory is whose. Part of `make check-long`.
# shellcheck source=tests/slurm/namespaces.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/slurm/namespaces.sh"
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
# shellcheck source=tests/slurm/cluster.sh
. "$abs_top_srcdir/tests/slurm/cluster.sh"

# make_cgroups: one for each controller and node, below this process's own.
make_cgroups() {
	local controller path cgroup
	for controller in freezer memory; do
		path=$(sed -n "s/^[0-9]*:$controller://p" /proc/self/cgroup)
		cgroup=/sys/fs/cgroup/$controller${path%/}/${work##*/}
		[ -n "$path" ] && mkdir -p "$cgroup"/n{1,2} || no_cgroups "$controller"
		cgroups+=("$cgroup")
		at_exit wait_until 20 remove_cgroup "$cgroup"
	done
}

# No package brings them: never a failure.
no_cgroups() {
	printf '1..0 # SKIP cgroup v1 has no %s that can be used\n' "$1"
	exit 0
}

remove_cgroup() {
	find "$1" -depth -type d -exec rmdir {} +
}

submit_jobs() {
	submit formats -N 2 --mem=300 --comment="$all_formats" <<<"$formats_job"
	submit memory -w n1 --mem=60 --comment="granaryfs=$data/big.tar" <<-EOS
		$job_kit
		cmp "\$work/big" "\$mounted/big/big" && cmp "\$work/big" "\$mounted/big/big" &&
			tell memory && await memory-seen
	EOS
	submit own -w n2 --mem=60 <<-'EOS'
		mkdir "$work/out/own.d" && cd "$work/out/own.d" && mkdir a &&
			granary run "$data/big.tar:a" -- sh -c 'cmp "$1/big" a/big &&
			: >"$1/told/own" && until [ -e "$1/told/own-seen" ]; do sleep 0.1; done' \
			sh "$work"
	EOS
	submit escaped -w n1 --mem=60 --comment="granaryfs=$data/plain.tar" <<-EOS
		$job_kit
		cd "\$mounted/plain" && exec 8<large
		(setsid sleep 1000 >/dev/null 2>&1 & echo \$! >"\$work/told/escaped")
	EOS
}

# whose_memory NAME NODE: of a job's cgroup, and of the other processes of its node.
whose_memory() {
	local node=${cgroups[1]}/$2 job
	wait_until 60 has_told "$1"
	job=$(find "$node" -type d -name "job_${job_id[$1]}")
	[ -n "$job" ] || return
	diag "job $1, in MiB: its cgroup: $(figures "$job"); the node: $(figures "$node")"
	tell "$1-seen"
}

# figures CGROUP
figures() {
	awk '$1 ~ /^total_(cache|rss)$/ { printf "%s %d ", $1, $2 / 1048576 }' "$1/memory.stat"
}

# serves_within NAME: do processes that run granaryfs count as the job's?
serves_within() {
	local pid
	for pid in $(daemons); do
		grep -q "memory:.*/job_${job_id[$1]}/" "/proc/$pid/cgroup" && return
	done
	return 1
} 2>/dev/null

make_users && make_data >"$work/data.log" 2>&1 || bail "no data: $(tail "$work/data.log")"
head -c 100000000 /dev/urandom >"$work/big"
tar -C "$work" -cf "$data/big.tar" big && "$granary" index "$data/big.tar" || bail "no data"
install_here && make_task_prolog || bail "not installed"
make_cgroups
start_cluster proctrack/cgroup task/cgroup
ok $? "a controller and two nodes with cgroups" || { show_logs && finish; }
submit_jobs
whose_memory memory n1
ok $? "a job has read more than its --mem from its prologue's mount, twice"
wait_until 60 has_told own
check "what granary run starts counts as the job's" serves_within own
whose_memory own n2
ok $? "a job has read more than its --mem from a mount of its own"
ends formats COMPLETED 0:0
ends memory COMPLETED 0:0
ends own COMPLETED 0:0
ends escaped COMPLETED 0:0
is "$(running "$(realpath "$(command -v sleep)")")" "" "and the process that it left has ended"
after "all jobs"
[ "$tap_failed" -eq 0 ] || show_logs
finish
