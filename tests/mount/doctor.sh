#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# granary doctor: what a node lacks is said with its remedy, and whether a mount will work.
# The nodes are directories, and namespaces of our own.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need setpriv unshare mknod chmod pgrep timeout
need_python json
need_root

# node NAME: a machine that has everything; sets $node.
node() {
	node=$work/nodes/$1
	mkdir -p "$node"/{dev,etc,usr/bin,proc/self,proc/sys/kernel,proc/sys/user,sys/class/bdi}
	chmod 755 "$work/nodes" "$node"
	mknod "$node/dev/fuse" c 10 229 && chmod 666 "$node/dev/fuse"
	echo user_allow_other >"$node/etc/fuse.conf"
	touch "$node/etc/mtab"
	cp /bin/true "$node/usr/bin/fusermount3" && chmod 4755 "$node/usr/bin/fusermount3"
	printf 'Name:\tx\nCapEff:\t0000000000000000\n' >"$node/proc/self/status"
	printf 'nodev\tfusectl\nnodev\toverlay\n' >"$node/proc/filesystems"
	echo "none /sys/fs/fuse/connections fusectl rw 0 0" >"$node/proc/self/mounts"
	echo 6.18.0 >"$node/proc/sys/kernel/osrelease"
	echo 1000 >"$node/proc/sys/user/max_user_namespaces"
	echo "MemTotal: 64000000 kB
MemAvailable: 60000000 kB" >"$node/proc/meminfo"
}

# doctor NODE WANTED-STATUS EXPRESSION DESCRIPTION: of what --json says, where `verdict`
# and `text` are by name.
doctor() {
	local status right
	(cd / && PATH=/usr/bin:/bin "${as[@]}" "$work/programs/granary" doctor --json --root "$1") \
		>"$work/json" 2>"$work/said"
	status=$?
	"$python" - "$work/json" "$3" <<-'END' >"$work/told" 2>&1
		import json, sys
		told = json.load(open(sys.argv[1]))
		verdict = {c["name"]: c["verdict"] for c in told["checks"]}
		text = {c["name"]: c["found"] + " | " + c["remedy"] for c in told["checks"]}
		bad = [c for c in told["checks"] if c["verdict"] != "ok" and not c["found"]]
		if not eval("(%s)" % sys.argv[2], {**told, "verdict": verdict, "text": text}) or bad:
		    sys.exit(json.dumps(told, indent=1))
	END
	right=$?
	[ "$right" -eq 0 ] && [ "$status" -eq "$2" ]
	ok $? "$4" || diag "status $status, wanted $2: $3" "$(cat "$work/told" "$work/said")"
}

ways_to_mount() {
	node good
	doctor "$node" 0 'can_mount and "through fusermount3" in conclusion and
		not {v for n, v in verdict.items() if n not in ("namespaces", "open files",
		"locked memory")} - {"ok"}' "a node that has everything"
	node none
	rm "$node/dev/fuse"
	doctor "$node" 32 'not can_mount and not can_run and verdict["/dev/fuse"] == "bad"
		and "modprobe fuse" in text["/dev/fuse"]' "no /dev/fuse"
	node file
	rm "$node/dev/fuse"
	touch "$node/dev/fuse"
	chmod 666 "$node/dev/fuse"
	doctor "$node" 32 '"mknod" in text["/dev/fuse"]' "a file in its place"
	node closed
	chmod 600 "$node/dev/fuse"
	as=("${nobody[@]}")
	doctor "$node" 32 '"chmod 666" in text["/dev/fuse"]' "one that only root may open"
	node nobody
	doctor "$node" 0 'can_mount and verdict["fusermount3"] == "ok"' "a user, with fusermount3"
	chmod 755 "$node/usr/bin/fusermount3"
	user_namespaces "without its set-uid bit" "${as[@]}" &&
		doctor "$node" 32 'not can_mount and can_run and "granary run can" in conclusion
			and "chmod u+s" in text["fusermount3"]' "without its set-uid bit"
	chmod 4755 "$node/usr/bin/fusermount3"
	rm "$node/etc/mtab"
	doctor "$node" 0 'can_mount and verdict["fusermount3"] == "warn" and
		"ln -s /proc/self/mounts" in text["fusermount3"]' "without /etc/mtab"
	as=("${nobody[@]}" setpriv --no-new-privs)
	doctor "$node" 32 '"no_new_privs" in text["fusermount3"]' "where that has no effect"
	as=("${nobody[@]}")
	rm "$node/usr/bin/fusermount3"
	doctor "$node" 32 '"fuse3" in text["fusermount3"]' "without fusermount3"
	echo 0 >"$node/proc/sys/user/max_user_namespaces"
	doctor "$node" 32 'not can_run and "nothing can be mounted" in conclusion and
		"sysctl user.max_user_namespaces" in text["namespaces"]' "nor namespaces"
	printf 'CapEff:\t000001ffffffffff\n' >"$node/proc/self/status"
	doctor "$node" 0 'can_mount and verdict["fusermount3"] == "ok"' "one that may mount needs none"
	as=()
}

settings() {
	node settings
	echo "#user_allow_other" >"$node/etc/fuse.conf"
	doctor "$node" 0 'verdict["user_allow_other"] == "warn" and
		"/etc/fuse.conf" in text["user_allow_other"]' "user_allow_other is a comment"
	echo "mount_max = 2" >"$node/etc/fuse.conf"
	printf 'a /a fuse.x rw 0 0\nb /b fuse.granaryfs rw 0 0\n' >"$node/proc/self/mounts"
	doctor "$node" 32 'verdict["mount_max"] == "bad" and not can_mount and verdict["fusectl"] == "warn" and
		"fusectl none" in text["fusectl"]' "mount_max is reached, and no fusectl"
	echo >"$node/etc/fuse.conf"
	echo 5.4.0-150-generic >"$node/proc/sys/kernel/osrelease"
	echo "nodev	proc" >"$node/proc/filesystems"
	doctor "$node" 0 'verdict["kernel"] == "warn" and "5.11" in text["kernel"] and
		"modprobe overlay" in text["overlayfs"]' "an old kernel, and no overlayfs"
	echo "MemTotal: 64000000 kB
MemAvailable: 300000 kB" >"$node/proc/meminfo"
	doctor "$node" 0 'verdict["memory"] == "warn" and "61 GiB" in text["memory"]' \
		"little memory is left"
	printf '0::/job\n' >"$node/proc/self/cgroup"
	printf '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n' >"$node/proc/self/mountinfo"
	mkdir -p "$node/sys/fs/cgroup/job"
	echo 4294967296 >"$node/sys/fs/cgroup/job/memory.max"
	echo 1048576 >"$node/sys/fs/cgroup/job/memory.current"
	doctor "$node" 0 '"4.0 GiB may be used" in text["memory"]' "a job that may use 4 GiB"
	as=(bash -c 'ulimit -n 100; exec "$@"' -)
	doctor "$node" 0 'verdict["open files"] == "warn"' "few open files"
	as=()
}

policies() {
	as=("${nobody[@]}")
	node clone
	echo 0 >"$node/proc/sys/kernel/unprivileged_userns_clone"
	doctor "$node" 0 'not can_run and verdict["namespaces"] == "warn" and
		"sysctl kernel.unprivileged_userns_clone=1" in text["namespaces"]' \
		"only root may make namespaces"
	node ubuntu
	echo 1 >"$node/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
	doctor "$node" 0 'can_run and verdict["AppArmor"] == "ok" and
		"not for this process" in text["AppArmor"]' "AppArmor's rule, and a profile"
	echo 0 >"$node/proc/sys/user/max_user_namespaces"
	doctor "$node" 0 'not can_run and verdict["AppArmor"] == "warn" and
		"kernel.apparmor_restrict_unprivileged_userns=0" in text["AppArmor"] and
		"profile for granary" in text["AppArmor"]' "AppArmor's rule"
	echo 0 >"$node/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
	doctor "$node" 0 '"does not restrict" in text["AppArmor"]' "AppArmor without that rule"
	as=()
	node redhat
	doctor "$node" 0 '"is not there" in text["SELinux"]' "no SELinux"
	mkdir -p "$node/sys/fs/selinux"
	printf 0 >"$node/sys/fs/selinux/enforce"
	doctor "$node" 0 '"permissive" in text["SELinux"]' "SELinux is permissive"
	printf 1 >"$node/sys/fs/selinux/enforce"
	doctor "$node" 0 '"enforcing" in text["SELinux"] and "context=" in text["SELinux"] and
		"virt_use_fusefs" in text["SELinux"]' "SELinux is enforcing"
	doctor "$node" 0 '".granaryfs/log" in text["syslog"]' "no syslog"
	: >"$node/dev/log"
	doctor "$node" 0 '"mounts log to it" in text["syslog"]' "a syslog"
}

# Checks that can be tried are tried.
namespaces() {
	user_namespaces "namespaces that are refused" || return
	node tried
	as=(unshare -U -r bash -c "echo 0 >/proc/sys/user/max_user_namespaces
		exec setpriv --bounding-set=-all --inh-caps=-all \"\$@\"" -)
	doctor "$node" 0 'verdict["namespaces"] == "warn" and
		"sysctl user.max_user_namespaces" in text["namespaces"]' "namespaces that are refused"
	as=()
}

words() {
	node words
	"$granary" doctor --root "$node" >"$work/got"
	is "$? $(grep -c -E '^(ok|warn|bad) ' "$work/got") $(tail -n 1 "$work/got")" \
		"0 17 granaryfs can mount here, through fusermount3" "in words: a line each"
	grep -q $'\e' "$work/got"
	is "$?" 1 "no colour in a file"
	NO_COLOR='' TERM=xterm script -qec "$granary doctor --root $node" /dev/null >"$work/got"
	check "colour on a terminal" grep -q $'\e\\[32mok' "$work/got"
	NO_COLOR=1 TERM=xterm script -qec "$granary doctor --root $node" /dev/null >"$work/got"
	grep -q $'\e' "$work/got"
	is "$?" 1 "NO_COLOR is respected"
	"$granary" doctor something 2>"$work/said"
	is "$?" 1 "an argument is too much"
	"$granary" doctor >"$work/got" 2>&1
	check "of this machine" grep -q "^ok .*/dev/fuse" "$work/got"
}

# overlay_of COMMAND...: what is said of overlayfs by a granary with such a granaryfs.
overlay_of() {
	timeout -k 5 60 "$@" "$work/faulty/granary" doctor 2>&1 | grep -A 1 '^[a-z]* *overlayfs'
}

# A dataset is mounted, and what is seen through its shield is looked at.
shields() {
	mkdir "$work/faulty"
	cp "$granary" "$work/faulty/granary"
	cp "$abs_top_builddir/tests/bin/granaryfs-faulty" "$work/faulty/granaryfs" ||
		bail "no program for tests"
	check "a shield is tried" grep -q '^ok .* all of it was seen' <(overlay_of)
	check "in a user namespace, too" grep -q '^ok .* all of it was seen' \
		<(overlay_of unshare -rm)
	check "one that lacks a name" grep -q "^warn .*the listing of the root lacks 'directory'" \
		<(overlay_of env GRANARY_SHIELD=lacks=directory)
	check "one with an empty root" grep -q "^warn .*the listing of the root lacks 'directory'" \
		<(overlay_of env GRANARY_SHIELD=removed unshare -rm)
	check "and the remedy" grep -q "mounts work without it" \
		<(overlay_of env GRANARY_SHIELD=removed unshare -rm)
	check "no overlay can be made" grep -q "^warn .* no overlay can be made" \
		<(overlay_of "$without" overlay --)
	rm "$work/faulty/granaryfs"
	check "no granaryfs" grep -q "^warn .* could not be tried: .*granaryfs" <(overlay_of)
	is "$(find /tmp -maxdepth 1 -name 'granary-doctor.*')" "" "nothing is left"
	check "no process is left" wait_until 20 no_rehearsal
}

# sandbox_of COMMAND...: what is said of who parses.
sandbox_of() {
	timeout -k 5 60 "$@" "$granary" doctor 2>&1 | grep -A 1 '^[a-z]* *sandbox'
}

sandboxes() {
	check "who parses has no calls" grep -q '^ok .*seccomp, .*opens and makes nothing$' \
		<(sandbox_of)
	check "no Landlock" grep -q '^ok .*seccomp, no Landlock' \
		<(sandbox_of "$without" landlock --)
	check "no seccomp" grep -q '^warn .*no seccomp, .*may call all' \
		<(sandbox_of "$without" seccomp --)
	check "no nobody" grep -q '^ok .*stays root here' <(sandbox_of unshare -rm)
}

no_rehearsal() {
	! program_runs "$work/faulty/granaryfs"
}

public_programs
as=()
ways_to_mount
settings
policies
namespaces
words
shields
sandboxes
finish
