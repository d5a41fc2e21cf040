#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# Each command has a page that is installed, is sound, and names the options that there
# are; its JSON has the members that granary(1) says; and all documents name the formats
# that are read.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need tar mandoc
need_python json
docs=$abs_top_srcdir/docs

commands() {
	granary --help | awk '/^    [a-z]/ { print $1 }'
}

# The long options of --help, and those that a page describes.
helped() {
	granary "$1" --help | sed -n 's/^    \(-.*\)/\1/p' | sed 's/  .*//' |
		grep -o -- '--[a-z][a-z0-9-]*' | LC_ALL=C sort -u
}

described() {
	grep '^[.]It Fl' "$1" | grep -o 'Fl -[a-z][a-z0-9-]*' | sed 's/Fl /-/' | LC_ALL=C sort -u
}

sound() {
	mandoc -Tlint -W warning "$1" >"$work/lint" 2>&1
	is "$(grep -v 'outdated mandoc.db' "$work/lint")" "" "${1##*/}: nothing to be said of it"
}

# The options of the dataset, of --help and of the pages that list them.
dataset_options() {
	local name page wanted
	wanted=$(granary ls --help | sed -n 's/^    -o \([a-z_]*\)=.*/\1/p' | LC_ALL=C sort)
	for name in $(commands); do
		page=$docs/granary-$name.1
		grep -q '^Options of the dataset:$' "$page" || continue
		is "$(sed -n '/^Options of the dataset:$/,/^as in$/p' "$page" | sed -n 's|^[.]Cm ||p' |
			grep -o '[a-z_]*' | grep . | LC_ALL=C sort)" "$wanted" \
			"$name: the options of the dataset"
	done
}

pages() {
	local name page installed
	# shellcheck disable=SC2016  # make expands it
	printf 'include Makefile\nwhere:\n\t@echo $(dist_man_MANS)\n' >"$work/where.mk"
	installed=" $(env -u MAKEFLAGS make -s --no-print-directory -C "$abs_top_builddir" -f "$work/where.mk" where) "
	sound "$docs/granaryfs.1"
	sound "$docs/granary.1"
	for name in $(commands); do
		page=$docs/granary-$name.1
		[ -f "$page" ]
		ok $? "$name has a page" || continue
		sound "$page"
		is "$(sed -n 's/^[.]Nm //p' "$page" | head -n 1)" "granary-$name" "$name: its name"
		is "$(described "$page")" "$(helped "$name")" "$name: its options"
		check "$name: in granary.1" grep -qxF ".It Xr granary-$name 1" "$docs/granary.1"
		[[ $installed == *" docs/granary-$name.1 "* ]]
		ok $? "$name: its page is installed"
		check "$name: its help" grep -q "^usage: granary $name " <(granary "$name" --help)
	done
	for page in "$docs"/granary-*.1; do
		name=${page##*/granary-}
		check "${page##*/} is about a command" grep -qx "${name%.1}" <(commands)
	done
}

# README.md has the formats of formats.def, and --help those that the build has. The other
# documents name none of them in full.
formats() {
	local words word needs
	words=$(sed -n 's/^FORMAT([a-z0-9_]*, "\([^"]*\)".*/\1/p' "$abs_top_srcdir/src/format/formats.def")
	at_least "$(wc -w <<<"$words")" 4 "formats.def has words"
	for word in $words; do
		needs=$(awk -v word="\"$word\"" '$2 == word "," { found = 1 }
			found && /[A-Z0-9]+[)]$/ { sub(/[)]$/, ""); print $NF; exit }' \
			"$abs_top_srcdir/src/format/formats.def")
		grep -q "^#define WITH_$needs 0" "$abs_top_builddir/config.h" ||
			check "$word: granaryfs --help" grep -qw "$word" \
				<(granaryfs --help | grep '^    [^-]')
		check "$word: README.md" grep -q "^| .*\b$word\b.*|" \
			<(sed -n '/^## Formats/,/^## /p' "$abs_top_srcdir/README.md")
	done
}

# The same of the compressions of streams.def.
compressions() {
	local word library
	while read -r word library; do
		grep -q "^#define WITH_$library 0" "$abs_top_builddir/config.h" && continue
		check "$word: granaryfs --help" grep -q "^    tar compressed by.*\b$word\b" \
			<(granaryfs --help)
	done < <(sed -n 's/^STREAM_KIND([a-z0-9_]*, "\([^"]*\)".*, \([A-Z0-9]*\))$/\1 \2/p' \
		"$abs_top_srcdir/src/stream/streams.def")
}

# Installed documents link to each other.
installed_links() {
	local name installed bindir
	bindir=$(sed -n 's/^bindir = //p' "$abs_top_builddir/Makefile")
	bindir=${bindir/'${exec_prefix}'/$(sed -n 's/^prefix = //p' "$abs_top_builddir/Makefile")}
	make -s --no-print-directory -C "$abs_top_builddir" install-data DESTDIR="$work/root" \
		>"$work/install" 2>&1
	ok $? "the documents are installed" || diag "$(tail -3 "$work/install")"
	is "$(grep -c 'WARNING' "$work/install")" 0 "each of them once"
	is "$("$python" - "$work/root" <<-'EOS'
		import os, re, sys
		seen = 0
		for directory, _, names in os.walk(sys.argv[1]):
		    for name in names:
		        if not name.endswith(".md"):
		            continue
		        text = open(os.path.join(directory, name), encoding="utf-8").read()
		        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
		            seen += 1
		            if not os.path.exists(os.path.join(directory, link)):
		                print(name, "links to", link)
		if seen < 20:
		    print("only", seen, "links")
	EOS
	)" "" "their links lead somewhere"
	installed=$(find "$work/root" -path '*/libexec/granaryfs/slurm/prolog.sh')
	check "and a site's scripts are there" test -x "$installed"
	check "with the path of the programs" grep -q -x "granary=$bindir/granary" "$installed"
	mkdir "$work/slurm"
	check "they are made" "$docs/slurm/make-scripts" "$work/slurm"
	for name in prolog epilog; do
		check "docs/slurm/$name.sh is made from its parts" \
			cmp "$work/slurm/$name.sh" "$docs/slurm/$name.sh"
	done
}

# members NAME JSON: what it has is what the page says; [those] may be missing.
members() {
	check "$1 --json: as the page says" "$python" - "$docs/granary.1" "$@" <<-'END'
		import json, re, sys
		page, name, text = sys.argv[1:]
		part = open(page).read().split(".Sh JSON")[1].split(".Sh ")[0]
		part = part.split(".It Cm %s\n" % name)[1].split(".It Cm ")[0]
		words = re.findall(r"[\[\]\w]+", " ".join(re.findall(r"^\.Va (.*)$", part, re.M)))
		may = {word.strip("[]") for word in words}
		must = {word for word in words if "[" not in word}
		lines = text.splitlines()
		assert lines, "nothing was printed"
		for line in lines:
		    got = set(json.loads(line))
		    assert must <= got <= may, (sorted(got ^ may), line)
	END
	told+=" $1 "
}

json() {
	local name
	told=" cat run " # which have none
	members info "$(granary info --json t.tar)"
	members ls "$(granary ls -R --json t.tar)"
	members stat "$(granary stat --json t.tar a a/one link)"
	members extract "$(granary extract --json t.tar out)"
	members index "$(granary index --json --force t.tar)"
	members index "$(granary index --json --check t.tar)"
	members index "$(granary index --json --renew .)"
	members verify "$(granary verify --json t.tar)"
	granary pack -q "$work/tree" p.tar
	members pack "$(granary pack --json --force "$work/tree" p.tar)"
	members convert "$(granary convert --json --force t.tar p.tar)"
	members umount "$(granary umount --json "$mnt")"
	members doctor "$(granary doctor --json)"
	mkdir -p "$work/fake/.granaryfs"
	printf '{"granaryfs": 1, "clock_ns": 5000, "counters": {}, "gauges": {%s}}' \
		'"swept_bytes": 5, "sweep_target": 10' >"$work/fake/.granaryfs/stats.json"
	members wait "$(granary wait --json --warm 50 "$work/fake" 2>/dev/null)"
	members wait "$(granary wait --json --warm 60 --timeout 1 "$work/fake" 2>/dev/null)"
	printf '{"name":"read","cat":"POSIX","ts":1,"dur":1,"ph":1,"args":{"ret":5}}\n' >t.pfw
	members report "$(granary report --json t.pfw)"
	members stats "$(granary stats --json "$work/fake")"
	if watch_mount "$mnt" && granaryfs t.tar "$mnt"; then
		granary list --json | grep -F "\"mountpoint\":\"$mnt\"" >"$work/list"
		members list "$(cat "$work/list")"
		members top "$(granary top --count=1 --json | grep -F "\"mountpoint\":\"$mnt\"")"
	else
		skip "nothing can be mounted here" "the JSON of list and top"
		told+=" list top "
	fi
	for name in $(commands); do
		[[ $told == *" $name "* ]]
		ok $? "$name: its JSON is looked at"
	done
}

# rows_for FILE NAME...: each has a row in the table of kernels, which is older otherwise.
rows_for() {
	local file=$1 name
	shift
	for name; do
		check "KERNELS.md: $name, of ${file##*/}" grep -q -F "| $name |" "$docs/KERNELS.md"
	done
}

# Each thing that the guests report is in the table that they make; each that a test can
# take away is in the other one, and a test takes it.
kernels() {
	local names file
	mapfile -t names < <(grep -o 'kernel[.][a-z_]*=' "$abs_top_srcdir/src/fuse/control.c" |
		sed 's/kernel[.]//; s/=//')
	rows_for control.c "${names[@]}"
	mapfile -t names < <(sed -n -E "s/^try(_run)? '([^']*)'.*/\2/p" \
		"$abs_top_srcdir/tests/kernels/mounts.sh")
	rows_for mounts.sh "${names[@]}"
	for file in tests/mount/without.c tests/faults/init.c; do
		mapfile -t names < <(grep -o -E '^	[{] "[a-z0-9._-]+"|, +[{] "[a-z_]+"' \
			"$abs_top_srcdir/$file" | cut -d '"' -f 2 | grep -v -x -E 'E[A-Z]+')
		at_least "${#names[@]}" 10 "$file: what it takes away"
		for name in "${names[@]}"; do
			check "KERNELS.md: $name can be taken away" \
				grep -q -F "\`$name\`" "$docs/KERNELS.md"
			check "and is: $name" grep -q -w -r -e "$name" --include '*.sh' \
				"$abs_top_srcdir/tests/mount"
		done
	done
}

mkdir -p "$work/tree/a" "$work/here"
echo one >"$work/tree/a/one"
ln -s a "$work/tree/link"
cd "$work/here" || bail "no directory"
tar -C "$work/tree" -cf t.tar .
pages
dataset_options
formats
compressions
installed_links
json
kernels
finish
