#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# docs/pbs/granaryfs_hook.py with a stub of PBS's module `pbs`: what a job asks for is mounted for
# its user, its programs learn where, every event is accepted, and nothing is left afterwards.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_root
need setpriv timeout
need_python json
# shellcheck source=tests/mount/slurm_lib.sh
. "$abs_top_srcdir/tests/mount/slurm_lib.sh"

make_stub() {
	mkdir "$work/module"
	cat >"$work/module/pbs.py" <<-'EOS'
		"""What hooks see of PBS: an event with a job, from the environment."""
		import os, sys
		EXECJOB_PROLOGUE, EXECJOB_LAUNCH, EXECJOB_EPILOGUE, EXECJOB_END, EVENT_ERROR = range(5)
		hook_config_filename = os.environ["STUB_CONFIG"]
		class Job:
		    id, euser, egroup = os.environ["STUB_ID"], os.environ["STUB_USER"], None
		    Variable_List = {"PBS_O_HOME": "/"}
		class Event:
		    type, job, env = globals()["EXECJOB_" + os.environ["STUB_EVENT"]], Job, {}
		    def accept(self):
		        print("accepted", self.env.get("GRANARYFS_DATASETS", "-"))
		        sys.exit()
		if "STUB_REQUEST" in os.environ:
		    Job.Variable_List["GRANARYFS"] = os.environ["STUB_REQUEST"]
		def event():
		    return Event()
		def logmsg(level, text):
		    print("log:", text)
	EOS
	printf '{"scripts": "%s", "config": "%s"}\n' "$work" "$work/slurm.conf" >"$work/hook.json"
}

# event KIND ID [REQUEST]: in `answer`, all lines as one.
event() {
	local request=()
	[ -z "${3:-}" ] || request=(STUB_REQUEST="$3")
	answer=$(env -i PATH=/usr/bin:/bin PYTHONPATH="$work/module" STUB_CONFIG="$work/hook.json" \
		STUB_EVENT="$1" STUB_ID="$2" STUB_USER="${user:-nobody}" "${request[@]}" \
		timeout -k 5 90 "$python" "$abs_top_srcdir/docs/pbs/granaryfs_hook.py" 2>&1)
	answer=${answer//$'\n'/; }
}

accepted() {
	event "$1" "$2" "${3:-}"
	is "$answer" "accepted ${4:--}" "$1 of $2"
}

# a_job ID NUMBER: comes, reads, and goes.
a_job() {
	local request="$data/one.tar [prefetch=off]=other:$data/two.tar"
	accepted PROLOGUE "$1" "$request"
	is "$(as_user cat "$base/$2/one/file" "$base/$2/other/file" 2>&1)" \
		$'content one\ncontent two' "$1: both are there" || diag "$(job_log "$2")"
	accepted LAUNCH "$1" "$request" "$base/$2"
	accepted EPILOGUE "$1" "$request"
	check "$1: nothing is left" nothing_left "$2"
	accepted END "$1" "$request"
}

without_request() {
	: >"$work/syslog"
	accepted PROLOGUE 77.server
	accepted LAUNCH 77.server
	accepted EPILOGUE 77.server
	is "$(cat "$work/syslog")" "" "a job that asks for nothing: no script has run"
}

mistakes() {
	accepted PROLOGUE 78.server "$data/secret.tar /none.tar ../x \$(touch${IFS}$canary)"
	refuse "mistakes: nothing is mounted" mounts_below "$base/78"
	check "mistakes: the log of the job has them" log_has 78 "secret: not mounted"
	accepted EPILOGUE 78.server
	check "mistakes: nothing is left" nothing_left 78
	check "mistakes: nothing is run" test ! -e "$canary"
	event PROLOGUE 'x/../1.server' "$data/one.tar"
	is "$answer" "log: granaryfs: x/../1.server: 'x/../1.server' is no id of a job; accepted -" \
		"an id that is none"
	user=no-such-user event PROLOGUE 79.server "$data/one.tar"
	is "${answer#*; }" "accepted -" "a user that is none"
	user=root accepted PROLOGUE 80.server "$data/one.tar"
	check "root's job: nothing is mounted" nothing_left 80
	echo "no JSON" >"$work/hook.json"
	event PROLOGUE 81.server "$data/one.tar"
	is "${answer#*; }" "accepted -" "a configuration that cannot be read"
}

make_data
make_scripts
make_stub
real
a_job 4711.server 4711
a_job '123[45].server.site' 900000000012300045
without_request
mistakes
finish
