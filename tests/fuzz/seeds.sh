#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Each harness takes its seeds, and of what we parse ourselves some variants of each. What
# becomes of each seed is listed in tests/fuzz/outcomes, so that none misses its purpose.
# With a fuzzing engine: make fuzz.
set -u

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
failed=0

# The programs: FUZZ_PROGRAMS, from the makefile. The index's comes last, for its seeds are
# what the others make.
# shellcheck disable=SC2046,SC2086
set -- $(printf '%s\n' ${FUZZ_PROGRAMS:?is set by the makefile} | sed '/-index$/d') \
	tests/bin/fuzz-index
echo "1..$#"

if ! "${PYTHON:-/usr/bin/python3}" "${top_srcdir:-.}/tests/fuzz/make-seeds" "$seeds"; then
	echo "Bail out! the seeds cannot be made"
	exit 99
fi
mkdir "$seeds/index"

# expected HARNESS SEED: the line of the list, without its patterns
expected() {
	local harness seed regex

	while read -r harness seed regex; do
		# shellcheck disable=SC2053 # patterns
		if [[ $1 == $harness && $2 == $seed ]]; then
			echo "$regex"
			return
		fi
	done < <(cat "${top_srcdir:-.}"/tests/fuzz/outcomes* | grep -v '^#')
	return 1
}

# outcomes PROGRAM HARNESS: a harness of options need not list all of its format's seeds,
# and what the build leaves out is refused with its sentence.
outcomes() {
	local seed regex said wrong=0
	local left_out='this granaryfs was built without'

	for seed in "$seeds/${2%%-*}"/*; do
		if ! regex=$(expected "$2" "${seed##*/}"); then
			[[ $2 == *-* ]] && continue
			regex="listed in tests/fuzz/outcomes"
		fi
		said=$("./$1" --say "$seed" 2>&1)
		[[ $said =~ $regex || $said == *"$left_out"* ]] && continue
		[[ $2 == hdf5* && $said =~ $assertion ]] && continue
		echo "# ${seed##*/}: expected is '$regex', and it says: $said"
		wrong=1
	done
	return "$wrong"
}

# Debian's libhdf5 2.2 is built with its assertions: one of them ends an indexer, and
# granary then says that the library broke.
assertion='src/H5[A-Za-z]*\.c:[0-9]+: .*Assertion'

# taken PROGRAM FORMAT: each seed, in a process of its own.
taken() {
	local seed said wrong=0

	for seed in "$seeds/$2"/*; do
		said=$(FUZZ_INDEXES=$seeds/index "./$1" "$seed" 2>&1) && continue
		[[ $2 == hdf5 && $said =~ $assertion ]] && continue
		echo "# ${seed##*/}: ${said: -2000}"
		wrong=1
	done
	return "$wrong"
}

# varied PROGRAM FORMAT NUMBER
varied() {
	[ "$3" -eq 0 ] || "./$1" "--mutate=$3" "$seeds/$2"/* >"$seeds/log" 2>&1
}

asan_options=${ASAN_OPTIONS:-}
number=0
for program; do
	number=$((number + 1))
	name=${program##*/fuzz-}
	format=${name%%-*}
	export ASAN_OPTIONS="$asan_options"
	# a library that crashes on damage takes an indexer with it, and not a mount
	case $format in
	# ... and leaks where it gives up on it
	hdf5) variants=0 ASAN_OPTIONS=$asan_options:detect_leaks=0 ;;
	index) variants=40 ;;
	*) variants=30 ;;
	esac
	if [ -z "$(ls "$seeds/$format" 2>/dev/null)" ]; then
		echo "ok $number - $name # SKIP no seeds could be made here"
		continue
	fi
	if [ "$name" != index ] && ! taken "$program" "$format"; then
		echo "not ok $number - $name: its seeds"
		failed=1
	elif [ "$name" != index ] && ! outcomes "$program" "$name"; then
		echo "not ok $number - $name: what becomes of its seeds"
		failed=1
	elif ! varied "$program" "$format" "$variants"; then
		sed 's/^/# /' "$seeds/log"
		echo "not ok $number - $name: variants of its seeds"
		failed=1
	else
		echo "ok $number - $name: $(find "$seeds/$format" -type f | wc -l) seeds"
	fi
done
exit "$failed"
