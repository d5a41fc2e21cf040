# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# results.sh: what tools/check counts, how long each of its parts takes, and what it
# says at the end. Sourced after setup.sh.

passed=0
failed=0
skipped=0
strict=no
unanswered=no
times=
part_name=
part_began=

# ---- Counts -----------------------------------------------------------------

# result STATUS WHAT: one thing beside automake's tests.
result() {
	if [ "$1" -eq 0 ]; then
		passed=$((passed + 1))
		say "passed: $2"
	else
		failed=$((failed + 1))
		say "FAILED: $2"
	fi
}

# verify WHAT COMMAND...
verify() {
	what=$1
	shift
	"$@"
	result $? "$what"
}

# results BUILD TYPE...: how many test points ended so.
results() {
	build=$1
	shift
	types=$(echo "$*" | tr ' ' '|')
	find "$build/tests" -name '*.trs' -exec cat {} + | grep -c -E "^:test-result: ($types)"
}

# unanswered_points BUILD: how many failed because a registry stayed away.
unanswered_points() {
	cat "$1"/tests/mount/*.log 2>/dev/null |
		grep -c '^# the package registry did not answer'
}

add_results() {
	p=$(results "$1" PASS XFAIL)
	f=$(results "$1" FAIL XPASS ERROR)
	s=$(results "$1" SKIP)
	away=$(unanswered_points "$1")
	if [ "$away" -ne 0 ]; then
		unanswered=yes
		f=$((f - away))
	fi
	say "in ${1##*/}: $p passed, $f failed, $s skipped"
	add_counts "$p" "$f" "$s"
}

# ---- Parts, and their seconds -----------------------------------------------

# took SECONDS NAME: a line of the table.
took() {
	times="$times$*
"
}

end_part() {
	[ -z "$part_name" ] || took $(($(date +%s) - part_began)) "$part_name"
	part_name=
}

# part NAME: a step, and how long everything before it took.
part() {
	end_part
	part_name=$*
	part_began=$(date +%s)
	step "$* (after $(((part_began - CHECK_BEGAN) / 60)) min)"
}

# machine: in words, for the table's reader.
machine() {
	memory=$(awk '/^MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
	system=$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)
	say "$(processors) processors, $memory GiB, Linux $(uname -r), $system"
}

table() {
	machine
	say ""
	say "| part | seconds |"
	say "|---|---|"
	printf '%s' "$times" | sed 's/^\([0-9]*\) \(.*\)/| \2 | \1 |/'
	say "| together | $(($(date +%s) - CHECK_BEGAN)) |"
}

# ---- Runs in a run: another process's counts and seconds --------------------

# With CHECK_REPORT set this is such a run: a file takes what another one adds up.
write_report() {
	{
		say "counts $passed $failed $skipped"
		say "unanswered $unanswered"
		printf '%s' "$times" | sed 's/^/took /'
	} >"$CHECK_REPORT"
}

# add_report FILE [NAME]: its parts are lines of the table, below NAME, and no longer
# in the time of the part that is under way.
add_report() {
	if [ ! -s "$1" ]; then
		result 1 "${2:-the part before}: it ended early"
		return
	fi
	while read -r word first rest; do
		case $word in
		counts)
			# shellcheck disable=SC2086  # three numbers
			add_counts $first $rest
			;;
		unanswered) [ "$first" = no ] || unanswered=$first ;;
		took)
			took "$first" "${2:+$2: }$rest"
			part_began=$((${part_began:-0} + first))
			;;
		esac
	done <"$1"
	rm -f "$1"
}

add_counts() {
	passed=$((passed + $1))
	failed=$((failed + $2))
	skipped=$((skipped + $3))
}

# ---- The end ----------------------------------------------------------------

# summary: the exit status is 0, 1, or that of a registry that stayed away, if
# nothing else failed.
summary() {
	end_part
	status=0
	last="granaryfs: $passed passed, $failed failed, $skipped skipped"
	[ "$unanswered" = no ] || {
		status=$registry_away
		last="$last; the package registry did not answer"
	}
	[ "$failed" -eq 0 ] || status=1
	if [ "$strict" = yes ] && [ "$skipped" -ne 0 ]; then
		say "Nothing may be skipped here, and $skipped tests were."
		status=1
	fi
	if [ -n "${CHECK_REPORT:-}" ]; then
		write_report
	else
		say ""
		table
		say ""
		say "$last"
	fi
	exit $status
}
