#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Shards of WebDataset are ImageFolders: a class for each label, every byte as it was
# packed, and what has no labels as it is stored.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built squashfs deflate zstd
need_fuse
need_python PIL torchvision
wds=$abs_top_srcdir/tests/mount/webdataset.py
shards=$work/shards

# shown CASE OPTIONS SHARD... [-- SUFFIX...]: the mount is what the case says, but for
# members with these suffixes. Without OPTIONS all members are shown.
shown() {
	local name=$1 options=${2:-sidecars=show} sources=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		sources+=("$shards/$1")
		shift
	done
	[ $# -gt 0 ] && shift
	mount_ok "$name: mounted with $options" -o "$options" "${sources[@]}" "$mnt" || return
	check "$name ${options}: the same names and bytes" \
		"$python" "$wds" compare "$shards/shown/$name" "$mnt" "$@"
}

directory() {
	check "$1: ImageFolder's numbers are the labels" "$python" "$wds" directory "$2" "$3"
}

done_with() {
	umount_ok "$mnt" "$1: unmounted"
}

info_says() {
	local name=$1 word
	shift
	"$granary" info "$shards/$name.tar" >"$work/info" 2>&1
	ok $? "$name: info"
	for word; do
		grep -q -i -- "$word" "$work/info"
		ok $? "$name: info says $word" || diag "$(cat "$work/info")"
	done
}

mkdir "$shards"
check "shards: written" "$python" "$wds" write "$shards"

shown shards "" 'imagenet-train-{000000..000002}.tar' && {
	directory shards "$mnt" 12
	done_with shards
}
shown shards sidecars=auto 'imagenet-train-{000000..000002}.tar' -- .cls && done_with shards
shown shards sidecars=hide 'imagenet-train-{000000..000002}.tar' -- .cls && done_with shards
shown names sidecars=hide names.tar -- .json .seg.png && done_with names
shown splits "" splits-{train,val}-000000.tar && {
	directory "splits: train" "$mnt/train" 12
	directory "splits: val" "$mnt/val" 12
	done_with splits
}
shown blind "" blind-{train,test}-000000.tar && {
	directory "blind: train" "$mnt/train" 12
	done_with blind
}
shown described "" described-{train,val}-000000.tar && done_with described
for name in large names loads audio captions broken parts apart; do
	shown "$name" "" "$name.tar" && done_with "$name"
done
shown tree "" 'tree-{0..2}.tar' && {
	directory tree "$mnt" 3
	done_with tree
}
shown nameless "" nameless.tar && {
	directory nameless "$mnt" 3
	done_with nameless
}
shown wnids view=class,sidecars=show wnids.tar && {
	directory wnids "$mnt" 4
	done_with wnids
}
shown idris "" 'imagenet_train-{000000..000001}.tar' && {
	directory idris "$mnt" 10
	done_with idris
}
mount_ok "twice: mounted" -o sidecars=show "$shards"/twice-{0,1}.tar "$mnt" && {
	check "twice: no sample is lost" \
		"$python" "$wds" contents "$shards/shown/twice" "$mnt"
	directory twice "$mnt" 2
	done_with twice
}
# Shards without a member: empty among others, an error alone.
shown blanks "" 'blanks-{0..4}.tar' && {
	directory blanks "$mnt" 12
	done_with blanks
}
check "blanks: verified" "$granary" verify "$shards"/blanks-{0..4}.tar
"$granary" info -o index=off "$shards"/blanks-{0..4}.tar >"$work/info" 2>"$work/said"
grep -q "note .*'blanks-0.tar' is a tar archive without a member.*4 of 5" "$work/info"
ok $? "blanks: info says so" || diag "$(cat "$work/info")"
grep -q "format .*labels from .cls" "$work/info"
ok $? "blanks: info says what the others are" || diag "$(cat "$work/info")"
: >"$shards/void.tar"
truncate -s 66048 "$shards/zeros.tar"
cp "$shards/blanks-0.tar" "$shards/blank.tar"
mkdir "$work/image" && echo x >"$work/image/x"
mksquashfs "$work/image" "$shards/image.sqfs" -quiet -no-progress >/dev/null

# refused WORDS SHARD...
refused() {
	local words=$1
	shift
	(cd "$shards" && "$granary" info -o index=off "$@") >"$work/info" 2>"$work/said"
	is $? 3 "$*: refused"
	grep -q "$words" "$work/said"
	ok $? "$*: why" || diag "$(cat "$work/said")"
}
refused "holds only zero bytes (all of its 10240 bytes): it is an empty tar" blanks-0.tar
refused "'blanks-4.tar' is a tar archive without a member" blanks-4.tar
refused "none of the 3 tar archives has a member" blanks-0.tar blanks-4.tar blanks-1.tar
refused "'void.tar' is empty (0 bytes)" blanks-3.tar void.tar
refused "'zeros.tar' holds only zero bytes (all of its 66048 bytes)" blanks-3.tar zeros.tar
refused "'blank.tar' has no member, and 'image.sqfs' is no tar" image.sqfs blank.tar
"$granary" info -o index=off "$shards/blanks-{3..5}.tar" >"$work/info" 2>"$work/said"
is $? 2 "a shard that is not there: refused, though others are empty"

# Keys that begin anew in each shard, where no label tells them apart.
shown restart "" 'restart-{0..2}.tar' && done_with restart
shown restart-images "" a/0.tar b/0.tar && done_with restart-images
shown restart-dots "" 'dots-{0..1}.tar' && done_with restart-dots
shown restart-long "" 'longlonglonglonglonglonglonglonglong-'{0..1}.tar && done_with restart-long
shown restart-letters "" 'letters-{0..1}.tar' && done_with restart-letters
shown restart-broken "" 'broken-{0..1}.tar' && {
	directory restart-broken "$mnt" 2
	done_with restart-broken
}
"$granary" info -o index=off "$shards"/restart-{0..2}.tar >"$work/info" 2>"$work/said"
grep -q "note .*000000.jpg' is in 'restart-0.tar' and in 'restart-1.tar'" "$work/info"
ok $? "keys that begin anew: info says so" || diag "$(cat "$work/info")"
for policy in first last; do
	"$granary" ls -o "index=off,duplicates=$policy" "$shards"/restart-{0..2}.tar \
		>"$work/names" 2>"$work/said"
	is "$(grep -c '^00000[0-9].jpg$' "$work/names")" 3 \
		"keys that begin anew, duplicates=$policy: one of each"
done
mkdir "$work/old" "$work/new"
touch "$work/old/same.txt" "$work/new/same.txt"
tar -C "$work/old" -cf "$shards/old.tar" same.txt
tar -C "$work/new" -cf "$shards/new.tar" same.txt
"$granary" ls -o index=off "$shards"/{old,new}.tar >"$work/names" 2>"$work/said"
is $? 3 "tars that are no shards: duplicates= has to say which file is meant"

one=$shards/imagenet-train-000000
info_says names webdataset json "note .*several images (.JPG, .seg.png).*30 such"
info_says captions tree
grep -q "labels=" "$work/info"
is $? 1 "captions: info hints at no labels"
mkdir "$work/flat" && echo >"$work/flat/x.md"
tar -C "$work/flat" -cf "$shards/flat.tar" .
tar -C "$work" -cf "$shards/directory.tar" flat
info_says flat "labels  *none: there are no directories"
info_says directory "labels  *the directories"
info_says wnids "labels  *none: there are no directories" "note .*20 of 20 samples have names that begin with a wnid; view=class"
# Captions of two splits with the same keys, and a map of one of them.
mkdir "$work/keys"
for i in 1 2 3; do
	printf '\377\330\377' >"$work/keys/000$i.jpg"
	echo "a caption" >"$work/keys/000$i.txt"
	echo "000$i,$([ $i = 2 ] && echo b || echo a)" >>"$work/keys.csv"
done
for split in train test; do
	tar --sort=name -C "$work/keys" -cf "$shards/keys-$split.tar" .
done
"$granary" ls -R -o index=off,names="$work/keys.csv" "$shards"/keys-{train,test}.tar \
	>"$work/names" 2>"$work/said"
is $? 3 "a map of one split labels no other"
grep -q "keys.csv.*0001" "$work/said"
ok $? "and the name is said" || diag "$(cat "$work/said")"

# Directories, and labels beside the images that are others.
mkdir -p "$work/directories/train/a" "$work/directories/train/b"
for i in 1 2 3 4; do
	for class in a b; do
		printf '\377\330\377' >"$work/directories/train/$class/$class$i.jpg"
		echo "{\"label\": \"$([ $i -gt 2 ] && echo yes || echo no)\"}" \
			>"$work/directories/train/$class/$class$i.json"
	done
done
tar --sort=name -C "$work/directories" -cf "$shards/directories.tar" train
"$granary" ls -o index=off "$shards/directories.tar" train >"$work/names" 2>"$work/said"
is "$(xargs <"$work/names")" "train/no train/yes" "labels make the directories"
grep -q "several directories, which are not their labels.*view=tree" "$work/said"
ok $? "and that is said" || diag "$(cat "$work/said")"
info_says apart "note .*'p00' do not lie side by side.*--sort=name"
info_says broken "note .*'__meta__/b50.cls' is not shown by class.*view=tree"
"$granary" info -o index=off "$one.tar" "$shards/captions.tar" >"$work/info" 2>"$work/said"
grep -q "note .*'captions.tar' has no labels" "$work/info"
ok $? "a shard without labels: info says so" || diag "$(cat "$work/info")"
grep -q "captions.tar' has no labels, but .*000000.tar' has" "$work/said"
ok $? "a shard without labels: a warning says so" || diag "$(cat "$work/said")"

"$granary" info -o index=off "$one.tar" "$shards/names.tar" >"$work/info" 2>"$work/said"
grep -q "labels  *.cls, .json: 3 classes, and 0 to 11" "$work/info"
ok $? "labels of two kinds: info names both" || diag "$(cat "$work/info")"
grep -q "some labels are numbers, and others names" "$work/said"
ok $? "labels of two kinds: a warning says so" || diag "$(cat "$work/said")"

# extra.tar says no split among others that do.
for name in extra validation; do
	cp "$one.tar" "$shards/splits-$name-000000.tar"
	"$granary" info -o index=off "$shards"/splits-{train,val,$name}-000000.tar \
		>"$work/info" 2>"$work/$name"
	grep -q "note .*the name of 'splits-extra-000000.tar' says no split" "$work/info"
	is $? "$([ "$name" = extra ]; echo $?)" "splits and $name: info" ||
		diag "$(cat "$work/info")"
done
grep -q "extra-000000.tar' says no split, .*says 'train'.*mount it apart" "$work/extra"
ok $? "a shard of no split among others: a warning says so" || diag "$(cat "$work/extra")"
is "$(cat "$work/validation")" "" "three splits: no warning"

# Hints for shards whose labels are elsewhere: each is followed.
mkdir "$work/hints"
"$python" "$abs_top_srcdir/tests/mount/wds_hints.py" "$granary" "$work/hints" \
	>"$work/followed" 2>"$work/said"
ok $? "hints: followed" || diag "$(cat "$work/said")"
while read -r verdict line; do
	[ "$verdict" = ok ]
	ok $? "hint: $line"
done <"$work/followed"

"$granary" ls -o wds2idx=use "$shards/imagenet-train-000000.tar" >"$work/seen" 2>"$work/said"
is "$?" 1 "an option that is gone: a usage error"
grep -q "wds2idx is no option any more: .*index keeps them" "$work/said"
ok $? "an option that is gone: why it is not needed" || diag "$(cat "$work/said")"
finish
