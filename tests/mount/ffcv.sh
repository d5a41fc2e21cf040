#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: address
# FFCV files that its own writer wrote, in each of its modes, are ImageFolders with the JPEGs and
# pixels that its own reader finds.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built zlib
need_fuse
need_python zlib
# shellcheck source=tests/mount/rows_lib.sh
. "$abs_top_srcdir/tests/mount/rows_lib.sh"
begin_rows ffcv
gzip -d ./*.gz

classes() {
	mount_ok "smart: mounted" smart.beton "$mnt" || return
	check "smart: ImageFolder reads JPEGs and pixels, by label" "$python" -c '
import sys
from torchvision.datasets import ImageFolder
data = ImageFolder(sys.argv[1])
assert data.classes == ["0", "1", "2"], data.classes
assert len(data) == 7, len(data)
for path, index in data.samples:
    number = int(path.split("/")[-1].split(".")[0])
    assert number % 3 == index, path
    assert data.loader(path).size == (9, 4 + number % 5), path' "$mnt"
	umount_ok "$mnt" "smart: unmounted"
}

listing() {
	"$granary" ls -R -o "index=off${2:+,$2}" "$1" 2>said | xargs
}

shown pets_train.beton pets_val.beton
for file in raw proportion fields several; do
	shown "$file.beton"
done
image_folder classes
is "$(listing rival.beton labels=target)" "0 0/2.jpg 1 1/1.jpg 2 2/0.jpg" \
	"labels= takes another field"
is "$(listing jpg.beton view=tree | cut -d' ' -f1-3)" "image image/0.jpg image/1.jpg" \
	"view=tree shows no classes"
gzip -k fields.beton
is "$(listing fields.beton.gz)" "$(listing fields.beton)" "a file that is compressed as a whole: the same"
refused_as "has no field of images" numbers.beton
head -c -30 jpg.beton >cut.beton
refused_as "is damaged: its table of pieces" cut.beton
head -c 2000000 jpg.beton >short.beton
refused_as "is truncated" short.beton
mkdir -p directory && cp pets_* directory
refused_as "the FFCV files in it: granaryfs 'directory'/*.beton" directory
finish
