#!/bin/bash
# Shards of WebDataset are ImageFolders: a class for each label, every byte as it was
# packed, and what has no labels as it is stored.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_fuse
need_python PIL torchvision
wds=$abs_top_srcdir/tests/mount/webdataset.py
shards=$work/shards

# shown CASE OPTIONS SHARD... [-- SUFFIX...]: the mount is what the case says, but for
# members with these suffixes.
shown() {
	local name=$1 options=$2 sources=()
	shift 2
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		sources+=("$shards/$1")
		shift
	done
	[ $# -gt 0 ] && shift
	mount_ok "$name: mounted ${options:+with $options}" ${options:+-o "$options"} \
		"${sources[@]}" "$mnt" || return
	check "$name ${options}: the same names and bytes" \
		"$python" "$wds" compare "$shards/shown/$name" "$mnt" "$@"
}

folder() {
	check "$1: ImageFolder's numbers are the labels" "$python" "$wds" folder "$2" "$3"
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
	folder shards "$mnt" 12
	done_with shards
}
shown shards sidecars=hide 'imagenet-train-{000000..000002}.tar' -- .cls && done_with shards
shown splits "" splits-{train,val}-000000.tar && {
	folder "splits: train" "$mnt/train" 12
	folder "splits: val" "$mnt/val" 12
	done_with splits
}
for name in large names audio captions broken parts; do
	shown "$name" "" "$name.tar" && done_with "$name"
done
shown tree "" 'tree-{0..2}.tar' && {
	folder tree "$mnt" 3
	done_with tree
}
shown wnids view=class wnids.tar && {
	folder wnids "$mnt" 4
	done_with wnids
}
shown idris "" 'imagenet_train-{000000..000001}.tar' && {
	folder idris "$mnt" 10
	done_with idris
}
mount_ok "twice: mounted" "$shards"/twice-{0,1}.tar "$mnt" && {
	check "twice: no sample is lost" \
		"$python" "$wds" contents "$shards/shown/twice" "$mnt"
	folder twice "$mnt" 2
	done_with twice
}
info_says names webdataset json
info_says captions tree
finish
