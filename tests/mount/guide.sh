#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# A reader who copies the commands of docs/guide/first-job.md, and no other, ends with a job
# that has read the dataset. Slurm's commands are replaced by the shell.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_python PIL torch torchvision
guide=$abs_top_srcdir/docs/guide/first-job.md
export SCRATCH=$work/scratch

# section NUMBER: its commands, as a browser shows them.
section() {
	awk -v wanted="## $1." '/^## / { in_it = index($0, wanted) == 1 }
		in_it && (/^    / || /^$/) { sub(/^    /, ""); print }' "$guide"
}

# sbatch runs the script on this machine, and srun what it is given.
replace_slurm() {
	mkdir "$work/bin"
	ln -s "$granaryfs" "$granary" "$work/bin"
	ln -s "$python" "$work/bin/python3"
	printf '#!/bin/bash\nexec "$@"\n' >"$work/bin/srun"
	# shellcheck disable=SC2016  # the script expands it
	printf '#!/bin/bash\nfor last; do :; done\nexec bash "$last" >job.out 2>&1\n' \
		>"$work/bin/sbatch"
	chmod 755 "$work/bin/srun" "$work/bin/sbatch"
	PATH=$work/bin:$PATH
}

copy_commands() {
	{
		echo 'set -e'
		section 1
		for number in 3 4 5 6; do section $number; done
	} >"$work/copied"
	cd "$SCRATCH" && timeout 120 bash "$work/copied" </dev/null >"$work/shown" 2>&1
}

mkdir "$SCRATCH"
check "images made" "$python" "$fixtures/make-image-tree" --classes 4 --images 20 "$SCRATCH/images"
replace_slurm
check "the guide has commands in each section" test -n "$(section 1)" -a -n "$(section 3)" -a \
	-n "$(section 4)" -a -n "$(section 5)" -a -n "$(section 6)"
copy_commands
ok $? "they are copied, one after the other" || diag "$(tail -n 20 "$work/shown")"
check "the job has read all images" grep -qx '80 images in 4 classes' "$SCRATCH/job.out"
check "and its rates were looked at" test -s "$SCRATCH/stats.out"
is "$(granary list 2>&1 | grep -c "$SCRATCH")" 0 "nothing stays mounted"
finish
