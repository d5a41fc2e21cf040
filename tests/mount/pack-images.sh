#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# granary pack --decode: pixels as Pillow has them, whatever the image is.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built images
need tar
need_python PIL numpy

# images COMMAND...: what the script of that name makes or compares.
images() {
	"$python" "$here/tests/mount/pack_images.py" "$@"
}

trees() {
	images make "$work/in" || bail "no images"
	"$granary" pack --quiet --decode --no-index --json --keep-going "$work/in" \
		"$work/x.tar" >"$work/out.json" 2>"$work/said"
	is "$?" 7 "damaged images are a problem"
	check "each pixel is Pillow's; what is no image or is damaged stays as it is" \
		images compare "$work/in" "$work/x.tar" "$work/out.json"
	"$granary" pack --quiet --decode --no-index "$work/in" "$work/no.tar" 2>"$work/said"
	is "$?" 2 "without --keep-going a damaged image ends it"
	check "and is named" grep -q "is a damaged JPEG" "$work/said"
	check "nothing was made" test ! -e "$work/no.tar"
	mkdir "$work/magic"
	printf '\377\330\376\340 and so on' >"$work/magic/a.jpg"
	"$granary" pack --quiet --decode --no-index "$work/magic" "$work/no.tar" 2>"$work/said"
	is "$?" 2 "nor does one whose first bytes are damaged go unseen"
	check "it is named, too" grep -q "a.jpg: is no image" "$work/said"
}

samples() {
	images photographs "$work/photos" || bail "no images"
	check "decoded samples" "$granary" pack --quiet --decode --layout webdataset \
		--shuffle 1 --threads 3 --shards 3 "$work/photos" "$work/w-%06d.tar"
	is "$(cat "$work"/w-*.tar | tar -itf - | grep -c '\.ppm$')" 60 "each sample has a PPM"
	is "$(cat "$work"/w-*.tar | tar -itf - | grep -c '\.jpg$')" 0 "and no JPEG"
	check "even shards, by the sizes that the images have then" \
		images even "$work"/w-*.tar
}

trees
samples
finish
