# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# slurm_users.sh: what the processes of users, and a job's own prologue and epilogue,
# may do to each other; sourced by slurm.sh after slurm_lib.sh.
# shellcheck disable=SC2154

# ---- Processes that look like granaryfs -------------------------------------------

# decoy ARGUMENTS...: one of them, as the job's user.
decoy() {
	rm -f "$work/decoy"
	setpriv --reuid="$uid" --regid="$gid" --clear-groups "$work/decoys/granaryfs" "$@" \
		>"$work/decoy" &
	decoys+=("$!")
	started+=("$!")
	wait_until 60 test -s "$work/decoy"
	[ "$(cat "$work/decoy")" = "$1" ]
}

start_decoys() {
	local where=$base/$job/one
	mkdir "$work/decoys"
	cp "$abs_top_builddir/tests/bin/decoy" "$work/decoys/granaryfs"
	chmod 755 "$work/decoys" "$work/decoys/granaryfs"
	decoy huge "$where"
	ok $? "a process of the user's named granaryfs says that it has 64 GiB of arguments"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		decoy many 200000 "$where" || break
	done
	is $? 0 "ten have 200,000"
	decoy crowd 1000 "$where"
	ok $? "and there are 1000 more"
}

alive() {
	kill -0 "$@"
}

# A job's prologue and epilogue do as they do without them, within slurmd.py's limit.
# One that looked at them closer would not end; and would take them for the job's own.
users_processes() {
	local decoys=()
	start_decoys
	real
	prolog "$job" "granaryfs=$data/one.tar"
	drains_nothing "processes that look like granaryfs"
	is "$(as_user cat "$base/$job/one/file")" "content one" "the job's dataset is mounted"
	job_ends "$job" "processes that look like granaryfs"
	diag "the epilogue took $milliseconds ms"
	epilog "$job"
	drains_nothing "a job without mounts"
	check "and nobody touched them" alive "${decoys[@]}"
	kill -KILL "${decoys[@]}"
	wait "${decoys[@]}" 2>/dev/null
}

# ---- An indexer that its user stops -----------------------------------------------

# stop_indexers: every process of granary, as soon as it is there.
stop_indexers() {
	exec "$python" - "$work/programs/granary" <<-'EOS'
		import glob, os, signal, sys, time
		print("ready", file=sys.stderr, flush=True)
		end = time.monotonic() + 60
		while time.monotonic() < end:
		    for directory in glob.glob("/proc/[0-9]*"):
		        try:
		            if os.readlink(directory + "/exe") == sys.argv[1]:
		                os.kill(int(directory[6:]), signal.SIGSTOP)
		                print(directory[6:], flush=True)
		        except OSError:
		            pass
		    time.sleep(0.002)
	EOS
}

indexers() {
	local exe
	for exe in /proc/[0-9]*/exe; do
		[ "$(readlink "$exe")" != "$work/programs/granary" ] || echo "$exe"
	done
}

no_indexers() {
	[ -z "$(indexers 2>/dev/null)" ]
}

# So many that its indexer is there for a while.
many_members() {
	"$python" - "$1" <<-'EOS'
		import sys, tarfile
		with tarfile.open(sys.argv[1], "w") as tar:
		    for i in range(30000):
		        tar.addfile(tarfile.TarInfo("d/%d" % i))
	EOS
}

indexer_stopped() {
	local pid
	settings "granaryfs=$work/programs/granaryfs" seconds=3
	many_members "$data/fresh.tar"
	stop_indexers >"$work/stopped" 2>"$work/stopper" &
	pid=$!
	started+=("$pid")
	wait_until 30 grep -q ready "$work/stopper"
	prolog "$job" "granaryfs=$data/fresh.tar"
	kill "$pid"
	wait "$pid" 2>/dev/null
	drains_nothing "the user stops the indexer"
	[ -s "$work/stopped" ]
	ok $? "there was one"
	check "it is given up" log_has "$job" "fresh: not mounted: "
	check "and has ended when the prologue has" no_indexers
	job_ends "$job" "the user stops the indexer"
	check "and there is still none" no_indexers
}

# ---- What runs as the user writes without an end -----------------------------------

much_said() {
	stub "yes said | head -c 500000; du -sk $base/$job >$work/used; exit 1"
	prolog "$job" "granaryfs=/p/x.tar"
	drains_nothing "a granaryfs that says 500 kB"
	at_most "$(cut -f 1 "$work/used")" 100 "its words do not fill the disk (KiB)"
	check "the first of them are in the log" log_has "$job" "/p/x.tar: said; said; "
	at_most "$(wc -c <"$base/$job/log")" 4000 "and the others are not"
	job_ends "$job" "a granaryfs that says 500 kB"
	# which writes before its parent ends
	stub "setsid timeout 60 yes & sleep 0.2; exit 1"
	prolog "$job" "granaryfs=/p/x.tar"
	drains_nothing "a process is left behind that writes without an end"
	epilog "$job"
}

# ---- Users whose name is a number ---------------------------------------------------

# The user of another uid is named like the job's, and has another group.
numeric_names() {
	local inside
	sed "/^[^:]*:[^:]*:$uid:/d" /etc/passwd >"$work/passwd"
	printf '%s\n' "$uid:x:12345:12345::/:/bin/sh" "job:x:$uid:$gid::/:/bin/sh" \
		>>"$work/passwd"
	# shellcheck disable=SC2016  # the inner shell expands it
	inside=(unshare --mount --propagation private
		sh -c 'mount --bind "$0" /etc/passwd && exec "$@"' "$work/passwd")
	stub :
	slurmd_inside=("${inside[@]}")
	prolog "$job" granaryfs=/p/x.tar
	# shellcheck disable=SC2034  # for slurm_lib.sh
	slurmd_inside=()
	drains_nothing "somebody else is named like the job's uid"
	is "$(xargs <"$work/calls")" "-o user=$uid -- /p/x.tar $base/$job/x" \
		"that user's group is not asked for"
	epilog "$job"
}

# ---- A prologue and an epilogue of one job at once ----------------------------------

# beside_prologue WHAT: an epilogue while granaryfs, which is slow, is about to mount.
# The file `over` is there when the prologue has ended.
beside_prologue() {
	local prologue
	rm -f "$work/over" "$work/calls"
	{
		prolog "$job" "granaryfs=$data/one.tar"
		echo "$status $bytes" >"$work/over"
	} &
	prologue=$!
	wait_until 20 test -s "$work/calls"
	ok $? "$1: granaryfs is run"
	epilog "$job"
	drains_nothing "$1: the epilogue"
	"$2" test -e "$work/over"
	ok $? "$1: the epilogue $3"
	wait "$prologue"
	is "$(cat "$work/over")" "0 0" "$1: the prologue: status 0 and no output"
	check "$1: no mount, process or directory is left" nothing_left "$job"
}

yes_that() {
	"$@"
}

no_such() {
	! "$@"
}

both_at_once() {
	stub "sleep 2; exec $work/programs/granaryfs \"\$@\""
	echo seconds=20 >>"$work/slurm.conf"
	beside_prologue "both at once" yes_that "waits for the prologue"
	sed -i 's/take_lock 20/take_lock 1/' "$work/epilog.sh"
	# between the epilogue's last look and its end, as it were
	stub "sleep 4; mkdir -p \"\${@: -1}\"; exec $work/programs/granaryfs \"\$@\""
	echo seconds=20 >>"$work/slurm.conf"
	beside_prologue "a slow prologue" no_such "does not wait for long"
	sed -i 's/take_lock 1/take_lock 20/' "$work/epilog.sh"
}

# Neither does anything in a place where others may.
others_base() {
	local anybody=$work/anybody
	mkdir -m 1777 "$anybody"
	mkdir "$anybody/$job"
	touch "$anybody/$job/file"
	printf 'base=%s\n' "$anybody" >"$work/slurm.conf"
	epilog "$job"
	drains_nothing "the directory of all jobs is anybody's"
	check "the epilogue removes nothing there" test -e "$anybody/$job/file"
	check "and says so" grep -q "job $job: $anybody: not root's alone" "$work/syslog"
}

# ---- What a user and a site are told ------------------------------------------------

# told REQUEST TEXT
told() {
	stub :
	prolog "$job" "$1"
	check "$1: $2" log_has "$job" "$2"
	epilog "$job"
}

messages() {
	local rule="NAME begins with a letter, digit or _, also holds"
	told granaryfs=log:/p/x.tar "the name log is taken"
	told granaryfs=/p/log.tar "the name log is taken"
	told granaryfs=a/b:/p/x.tar "$rule"
	told granaryfs=-o:/p/x.tar "$rule"
	told "granaryfs=/p/-x.tar" "$rule"
	stub :
	prolog "$job" "$(printf 'granaryfs=%d ' {1..20}) $(printf 'granaryfs=/%d ' {1..8})"
	is "$(grep -c ' mounted: ' "$base/$job/log")" 8 "words that are refused do not count"
	is "$(grep -c ' refused: granaryfs=' "$base/$job/log")" 8 "eight of them are listed"
	check "and the others counted" log_has "$job" "refused: 12 more that make no sense"
	epilog "$job"
	chmod 666 "$work/slurm.conf"
	: >"$work/syslog"
	prolog "$job" granaryfs=/p/x.tar
	check "settings that anybody may write are not used, which syslog says" \
		grep -q "slurm.conf: no file that only root can write" "$work/syslog"
	rm -f "$work/slurm.conf"
	epilog "$job"
	rm -rf "${work:?}/default"
}
