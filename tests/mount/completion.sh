#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# The completion of bash and zsh: every command and option that there is, and what else a
# command takes.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need tar zsh
completion=$abs_top_srcdir/tools/completion
# shellcheck source=tools/completion/granaryfs
. "$completion/granaryfs"

# offers LINE: what bash would offer at its end, a line each.
offers() {
	COMP_LINE=$1
	COMP_POINT=${#COMP_LINE}
	case $COMP_LINE in
	granaryfs*) _granaryfs ;;
	*) _granary ;;
	esac
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort
}

# The list of --help: commands, and the long options of one.
commands() {
	granary --help | awk '/^    [a-z]/ { print $1 }' | LC_ALL=C sort
}

longs_of() {
	granary "$1" --help | sed -n 's/^    \(-.*\)/\1/p' | sed 's/  .*//' |
		grep -o -- '--[a-z][a-z0-9-]*' | LC_ALL=C sort -u
}

bash_commands() {
	local name
	is "$(offers 'granary ' | grep -v '^-')" "$(commands)" "bash: every command"
	is "$(offers 'granary ex')" extract "bash: the one that begins so"
	for name in $(commands); do
		is "$(offers "granary $name --" | grep -vx -e --help)" \
			"$(longs_of "$name")" "bash: every long option of $name"
	done
	is "$(offers 'granary index --o')" --output "bash: an option that takes something"
}

bash_values() {
	is "$(offers 'granary ls -o mis')" missing= "bash: an option of the dataset"
	is "$(offers 'granary ls -o missing=')" $'error\nskip' "bash: its values"
	is "$(offers 'granary ls -o missing=skip,dup')" skip,duplicates= "bash: the next one"
	is "$(offers 'granary ls -o missing=skip,duplicates=l')" last "bash: and its values"
	is "$(offers 'granaryfs -o allow')" allow_other "bash: granaryfs -o"
	is "$(offers 'granaryfs -o index=')" $'auto\noff\nrequire' "bash: granaryfs: values"
	is "$(offers 'granaryfs t.t')" t.tar "bash: granaryfs: a file"
}

bash_arguments() {
	is "$(offers 'granary info t')" t.tar "bash: a packed file"
	is "$(offers 'granary ls t.tar tr')" "" "bash: a path, but there is no index"
	granary index t.tar >/dev/null
	is "$(offers 'granary ls t.tar tr')" train/ "bash: a path in the dataset"
	is "$(offers 'granary cat t.tar train/a/')" $'train/a/link\ntrain/a/one' \
		"bash: what is in a directory of it"
	is "$(offers 'granary ls -o nested=off t.tar train/')" train/a/ "bash: a path behind another option"
	is "$(offers 'granary cat -o index=auto t.tar train/a/o')" train/a/one \
		"bash: a path behind an option"
	is "$(offers 'granary run t.tar:dir')" directory "bash: a directory behind the colon"
	is "$(offers 'granary doctor ')" "" "bash: doctor takes nothing"
}

# zsh's own functions are replaced by ones that print what they are given.
zsh_offers() {
	zsh -f -c '
		_describe() { print -rl -- "${(@P)4}" }
		compset() { }
		_files() { print -r -- "files $*" }
		words=("${(@)argv[2,-1]}")
		CURRENT=$#words
		. $1' - "$completion/_granary" "$@"
}

in_zsh() {
	local name
	is "$(zsh_offers granary '' | sed 's/:.*//' | LC_ALL=C sort)" "$(commands)" \
		"zsh: every command"
	for name in $(commands); do
		is "$(zsh_offers granary "$name" - | sed 's/:.*//' | grep -- -- |
			grep -vx -e --help | LC_ALL=C sort)" \
			"$(longs_of "$name")" "zsh: every long option of $name"
	done
	zsh_offers granaryfs -o '' | grep -q '^allow_other:let other'
	ok $? "zsh: granaryfs -o"
	zsh_offers granary ls -o '' | grep -q '^missing=:shards'
	ok $? "zsh: options of the dataset"
	is "$(zsh_offers granary run x:)" "files -/" "zsh: a directory behind the colon"
	is "$(zsh_offers granary doctor '')" "" "zsh: doctor takes nothing"
}

installed() {
	# shellcheck disable=SC2016  # make expands it
	printf 'include Makefile\nwhere:\n\t@echo $(bashcompletiondir) $(zshcompletiondir)\n' \
		>"$work/where.mk"
	is "$(env -u MAKEFLAGS make -s --no-print-directory -C "$abs_top_builddir" -f "$work/where.mk" where datadir=D)" \
		"D/bash-completion/completions D/zsh/site-functions" "installed where shells look"
}

mkdir -p "$work/tree/train/a" "$work/here/directory"
echo one >"$work/tree/train/a/one"
ln -s one "$work/tree/train/a/link"
tar -C "$work/tree" -cf "$work/here/t.tar" train
cd "$work/here" || bail "no directory"
bash_commands
bash_values
bash_arguments
in_zsh
installed
finish
