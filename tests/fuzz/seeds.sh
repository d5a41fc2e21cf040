#!/bin/bash
# Each harness takes its seeds, and of what we parse ourselves some variants of each.
# With a fuzzing engine: make fuzz.
set -u

seeds=$(mktemp -d)
trap 'rm -rf "$seeds"' EXIT
failed=0

# The programs: FUZZ_PROGRAMS, from the makefile.
# shellcheck disable=SC2086
set -- ${FUZZ_PROGRAMS:?is set by the makefile}
echo "1..$#"

if ! "${PYTHON:-/usr/bin/python3}" "${top_srcdir:-.}/tests/fuzz/make-seeds" "$seeds"; then
	echo "Bail out! the seeds cannot be made"
	exit 99
fi
mkdir "$seeds/index"

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
	# shellcheck disable=SC2086
	if [ "$name" != index ] && ! FUZZ_INDEXES=$seeds/index "./$program" "$seeds/$format"/*; then
		echo "not ok $number - $name: its seeds"
		failed=1
	elif ! "./$program" "--mutate=$variants" "$seeds/$format"/* >"$seeds/log" 2>&1; then
		sed 's/^/# /' "$seeds/log"
		echo "not ok $number - $name: variants of its seeds"
		failed=1
	else
		echo "ok $number - $name: $(find "$seeds/$format" -type f | wc -l) seeds"
	fi
done
exit "$failed"
