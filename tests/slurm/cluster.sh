# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# cluster.sh: a Slurm of two nodes on one machine, for the scripts that source this after
# namespaces.sh and tests/lib.sh: what is started here ends with that script.
#
# A node is a pid, a mount and a UTS namespace with a /run of its own, in which slurmd
# runs. The controller, munged and whoever submits are outside of the nodes, and see all
# their processes. All state is below $work.
# shellcheck disable=SC2154

PATH=$PATH:/usr/sbin:/sbin
need_fuse
need_root
need slurmctld slurmd sbatch srun munged tar zip mksquashfs ip setpriv unshare
need_python h5py
leave_others
cluster=$work/cluster
data=$work/data
cgroups=()    # whose nN is the root of what a node sees of one controller
address=192.0.2.1    # beside 127.0.0.1, which alone counts as no network
users=(20001 20002)    # user1 and user2 of a passwd of the test's own
declare -A node_pid job_id

# ---- What jobs read ------------------------------------------------------------------

make_data() {
	mkdir -p "$cluster" "$data" "$work/jobs" "$work/storage" "$work/tree/train"
	mkdir -m 1777 "$work/out" "$work/told"
	"$python" "$fixtures/make-image-tree" --classes 3 --images 20 "$work/tree/train" &&
		head -c 3000000 /dev/urandom >"$work/tree/large" &&
		tar -C "$work/tree" -cf "$data/plain.tar" . &&
		gzip -k -c "$data/plain.tar" >"$data/small.tar.gz" &&
		(cd "$work/tree" && zip -q -r "$data/zipped.zip" .) &&
		mksquashfs "$work/tree" "$data/squashed.sqfs" -noappend -no-progress -quiet &&
		"$python" "$fixtures/make-tree-h5" --encoding chunked "$work/tree" "$data/tree.h5" &&
		cp "$data/plain.tar" "$data/secret.tar" && chmod 600 "$data/secret.tar" &&
		printf '%s\0' "$data"/* | xargs -0 -n 1 "$granary" index
}

# ---- Users, programs and settings --------------------------------------------------

make_users() {
	local uid
	cp /etc/passwd "$work/passwd" && cp /etc/group "$work/group" || return
	for uid in "${users[@]}"; do
		echo "user${uid#2000}:x:$uid:$uid::/nonexistent:/bin/sh" >>"$work/passwd"
		echo "user${uid#2000}:x:$uid:" >>"$work/group"
	done
	mount --bind "$work/passwd" /etc/passwd && mount --bind "$work/group" /etc/group
}

# install_here: the programs and the scripts, as make install has them. The scripts find a
# file of settings of this test's.
install_here() {
	local name
	make -C "$abs_top_builddir" install DESTDIR="$work/root" >"$work/install.log" 2>&1 || {
		tail -n 20 "$work/install.log"
		return 1
	}
	programs=$(dirname "$(find "$work/root" -path '*/bin/granaryfs')")
	scripts=$(dirname "$(find "$work/root" -path '*/libexec/granaryfs/slurm/prolog.sh')")
	for name in prolog epilog; do
		sed "s|^config=.*|config=$work/granaryfs.conf|" "$scripts/$name.sh" \
			>"$cluster/$name.sh" && chmod 755 "$cluster/$name.sh" || return
	done
	printf '%s\n' "granaryfs=$programs/granaryfs" "granary=$programs/granary" \
		seconds=20 >"$work/granaryfs.conf"
}

# The TaskProlog of the documentation.
make_task_prolog() {
	sed -n '/^    #!.bin.bash$/,/^[^ ]/{ s/^    //p }' \
		"$abs_top_srcdir/docs/slurm/README.md" |
		sed -e '/^done /q' -e "s|/tmp/[.]g|$work/out/.g|" >"$cluster/task.sh"
	chmod 755 "$cluster/task.sh"
	grep -q '^done ' "$cluster/task.sh"
}

# write_config PROCTRACK TASK-PLUGIN
write_config() {
	cat >"$cluster/slurm.conf" <<-EOS
		ClusterName=test
		SlurmctldHost=control($address)
		SlurmctldPort=17000
		SlurmUser=root
		SlurmdUser=root
		AuthInfo=socket=$cluster/munge/socket,cred_expire=20
		StateSaveLocation=$cluster/state
		SlurmdSpoolDir=$cluster/spool-%n
		SlurmctldPidFile=$cluster/slurmctld.pid
		SlurmdPidFile=$cluster/%n.pid
		SlurmctldLogFile=$cluster/slurmctld.log
		SlurmdLogFile=$cluster/%n.log
		ProctrackType=$1
		TaskPlugin=$2
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU_Memory
		DefMemPerCPU=30
		SlurmdParameters=config_overrides
		SchedulerParameters=batch_sched_delay=0,sched_interval=2
		KillWait=2
		MinJobAge=3600
		MailProg=/bin/true
		PrologFlags=Alloc
		Prolog=$cluster/prolog.sh
		Epilog=$cluster/epilog.sh
		TaskProlog=$cluster/task.sh
		NodeName=n1 NodeAddr=$address Port=17001 CPUs=64 RealMemory=8000
		NodeName=n2 NodeAddr=$address Port=17002 CPUs=64 RealMemory=8000
		PartitionName=all Nodes=n1,n2 Default=YES
	EOS
	printf '%s\n' CgroupPlugin=cgroup/v1 CgroupMountpoint=/run/cgroup ConstrainRAMSpace=yes \
		>"$cluster/cgroup.conf"
	export SLURM_CONF=$cluster/slurm.conf
}

# ---- Daemons -------------------------------------------------------------------------

start_munged() {
	mkdir -m 755 "$cluster/munge"
	(umask 077 && head -c 1024 /dev/urandom >"$cluster/munge/key")
	munged --foreground --socket="$cluster/munge/socket" --key-file="$cluster/munge/key" \
		--pid-file="$cluster/munge/pid" --seed-file="$cluster/munge/seed" \
		--log-file="$cluster/munge/log" >"$cluster/munge/output" 2>&1 &
	started+=("$!")
	wait_until 20 munge --socket="$cluster/munge/socket" --no-input
}

# start_node NAME: its first process is bash, which waits for orphans.
start_node() {
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc --uts \
		bash "$abs_top_srcdir/tests/slurm/node" "$1" "$work" "${cgroups[@]/%//$1}" \
		>"$cluster/$1.output" 2>&1 &
	node_pid[$1]=$(first_child "$!")
	at_exit kill -KILL "${node_pid[$1]}"
}

# first_child PID
first_child() {
	wait_until 20 grep . "/proc/$1/task/$1/children"
	xargs <"/proc/$1/task/$1/children"
}

# start_cluster PROCTRACK TASK-PLUGIN
start_cluster() {
	local name
	mkdir -p "$cluster/state" && write_config "$@" && hostname control &&
		ip link set lo up && ip address add "$address/32" dev lo &&
		start_munged || return
	slurmctld -D -c >"$cluster/slurmctld.output" 2>&1 &
	started+=("$!")
	# a slurmd that finds none tries again minutes later
	wait_until 30 scontrol ping || return
	for name in n1 n2; do
		start_node "$name"
	done
	wait_until 60 nodes_are idle
}

# nodes_are STATE: both, and nothing behind it, as a * where one does not answer.
nodes_are() {
	[ "$(sinfo -h -N -o %T | sort | xargs)" = "$1 $1" ]
}

show_logs() {
	local file
	for file in "$cluster"/*.output "$cluster"/*.log "$cluster/munge/output"; do
		diag "$file: $(tail -n "${1:-15}" "$file")"
	done
	diag "$(sinfo -R -h) $(squeue -h)"
}

# ---- Jobs ----------------------------------------------------------------------------

# submit NAME SBATCH-OPTIONS... <SCRIPT: as user1, or $submitter; its id goes to job_id, its
# output to $work/out/NAME.
submitter=${users[0]}
submit() {
	local name=$1
	shift
	{ printf '#!/bin/bash\nPATH=%q:$PATH\ntree=%q data=%q work=%q\n' \
		"$programs" "$work/tree" "$data" "$work" && cat; } >"$work/jobs/$name"
	job_id[$name]=$(cd "$work/out" && setpriv --reuid="$submitter" --regid="$submitter" \
		--clear-groups env -u TMPDIR sbatch --parsable -J "$name" -o "$work/out/$name" "$@" \
		"$work/jobs/$name") || diag "not submitted: $name"
}

# job_field ID FIELD
job_field() {
	scontrol -o show job "$1" | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

job_state() {
	job_field "$1" JobState
}

job_ended() {
	local state
	state=$(job_state "$1")
	case $state in
	'' | PENDING | CONFIGURING | RUNNING | COMPLETING | REQUEUED | SUSPENDED) return 1 ;;
	esac
}

job_runs() {
	[ "$(job_state "$1")" = RUNNING ]
}

# ends NAME STATE [EXIT-CODE]: as scontrol has it. Shows what the job said otherwise.
ends() {
	local id=${job_id[$1]} code
	wait_until 100 job_ended "$id"
	code=$(job_field "$id" ExitCode)
	is "$(job_state "$id")${3:+ $code}" "$2${3:+ $3}" "job $1: $2${3:+, status $3}" ||
		diag "$(tail -n 30 "$work/out/$1"; tail -n 5 "$cluster"/n?.log)"
}

# tell NAME: lets a job go on that waits for it by `await NAME`.
tell() {
	: >"$work/told/$1"
}

has_told() {
	[ -e "$work/told/$1" ]
}

# The beginning of jobs that need more than a command.
job_kit='
await() { until [ -e "$work/told/$1" ]; do sleep 0.1; done; }
tell() { : >"$work/told/$1"; }
mounted=/run/granaryfs/$SLURM_JOB_ID'

# The same bytes by every way, on both nodes at once.
all_formats="granaryfs=$data/plain.tar granaryfs=small:$data/small.tar.gz"
all_formats+=" granaryfs=$data/zipped.zip granaryfs=$data/squashed.sqfs"
all_formats+=" granaryfs=$data/tree.h5 granaryfs[subdir=train]=train:$data/plain.tar"
formats_job="$job_kit
"'srun bash -c '"'"'
	for name in plain small zipped squashed tree; do
		diff -r "$2" "$1/$name" || exit
	done
	diff -r "$2/train" "$1/train"'"'"' sh "$mounted" "$tree"'

# ---- What is left --------------------------------------------------------------------

# daemons: the granaryfs and granary of all nodes, by pid.
daemons() {
	running "$programs/granaryfs" "$programs/granary"
}

# running PROGRAM...: the processes that run one of these.
running() {
	local link program one
	for link in /proc/[0-9]*/exe; do
		program=$(readlink "$link" 2>/dev/null) || continue
		for one; do
			[ "$program" != "$one" ] || basename "${link%/exe}"
		done
	done
}

# daemons_of NAME: those that serve this job's datasets.
daemons_of() {
	local pid
	for pid in $(daemons); do
		tr '\0' '\n' <"/proc/$pid/cmdline" |
			grep -q -F "/run/granaryfs/${job_id[$1]}/" && echo "$pid"
	done
	return 0
} 2>/dev/null

# node_mounts: what is below /run/granaryfs on any node, and mounts of `granary run`.
node_mounts() {
	local name
	for name in n1 n2; do
		grep -E ' /run/granaryfs/|fuse[.]granaryfs' "/proc/${node_pid[$name]}/mountinfo" |
			grep -v -F " $work/storage/" | sed "s/^/$name: /"
	done
}

# left: what jobs have left on any node: mounts, processes, directories.
left() {
	local name
	node_mounts
	daemons | xargs -r ps -o pid,args -p
	for name in n1 n2; do
		find "/proc/${node_pid[$name]}/root/run/granaryfs" -mindepth 1
	done
} 2>/dev/null

nothing_left() {
	[ -z "$(left)" ]
}

# after WHAT
after() {
	check "$1: no mount, process or directory is left" wait_until 60 nothing_left ||
		diag "$(left)"
	check "$1: both nodes are idle" wait_until 30 nodes_are idle
	is "$(sinfo -h -R)" "" "$1: no node was drained"
}
