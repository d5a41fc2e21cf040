#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# granary-test: once
# The courses' own programs, unchanged, on a mount: JSC's two loaders give the same
# batches, ALCF's lists of files and missing annotations, DLIO's UNet3D.
# shellcheck source=tests/lib.sh
. "${abs_top_srcdir:-$(dirname "$0")/../..}/tests/lib.sh"
need_built hdf5 deflate
need_fuse
need tar
need_python h5py numpy PIL torch torchvision
courses=$abs_top_srcdir/tests/mount/courses.py

course() {
	"$python" "$courses" "$@"
}

# The map's keys are paths below the root of the data: the packed file takes the place
# of the directory that they begin with.
jsc() {
	local root=$work/jsc files=$work/jsc/ILSVRC/Data/CLS-LOC said
	mkdir -p "$files"
	"$python" "$fixtures/make-image-tree" --classes 6 --images 30 "$work/images" ||
		bail "no images"
	check "JSC: saved as ImageNet.h5, with label maps" course jsc-save "$work/images" "$root"
	mount_ok "JSC: mounted in place of the directory" \
		-o "names=$root/imagenet_train.pkl:$root/imagenet_val.pkl" \
		"$root/ImageNet.h5" "$files" || return
	said=$(course jsc-loaders "$root" "$root" 2>&1)
	ok $? "JSC: the loader of files and that of HDF5 give the same batches" || diag "$said"
	diag "$said"
	check "JSC: an ImageFolder of train and val has the same six classes" \
		"$python" -c '
import sys
from torchvision.datasets import ImageFolder
train, val = (ImageFolder(sys.argv[1] + split) for split in ("/train", "/val"))
assert train.classes == val.classes == ["class-%02d" % i for i in range(6)], val.classes
assert len(train) == 144 and len(val) == 36, (len(train), len(val))' "$files"
	umount_ok "$files" "JSC: unmounted"
}

# Six of ten images have no annotation: that is asked once, and then known.
alcf() {
	local tree=$work/ILSVRC list=$work/list class i before after
	mkdir -p "$tree/Data/CLS-LOC" "$tree/Annotations/CLS-LOC/train"
	cp -r "$work/images" "$tree/Data/CLS-LOC/train"
	for class in "$tree/Data/CLS-LOC/train"/*; do
		class=${class##*/}
		mkdir "$tree/Annotations/CLS-LOC/train/$class"
		for i in 0 1 2 3; do
			echo "<box/>" >"$tree/Annotations/CLS-LOC/train/$class/00000$i.xml"
		done
	done
	tar --sort=name -C "$work" -cf "$work/ilsvrc.tar" ILSVRC || bail "tar"
	course alcf-list "$tree" "$work/there" >/dev/null
	is "$(course alcf-read "$work/there" 6 | cut -d' ' -f2)" 24 "ALCF: 24 have annotations"
	mount_ok "ALCF: mounted" "$work/ilsvrc.tar" "$mnt" || return
	is "$(course alcf-list "$mnt/ILSVRC" "$list")" 180 "ALCF: the list of files"
	is "$(course alcf-read "$list" 6)" "$(course alcf-read "$work/there" 6)" \
		"ALCF: every image and annotation, as in the directory"
	before=$(requests "$mnt")
	course alcf-read "$list" 6 >/dev/null
	after=$(requests "$mnt")
	is "$(request_change fuse_lookup "$before" "$after")" 0 \
		"ALCF: what is not there is not asked for again"
	umount_ok "$mnt" "ALCF: unmounted"
}

dlio() {
	local said
	check "DLIO: written as NPZ and HDF5, one of 146 MB each" \
		course dlio-make "$work/unet3d.tar" "$work/digests"
	mount_ok "DLIO: mounted" "$work/unet3d.tar" "$mnt" || return
	said=$(course dlio-read "$mnt" "$work/digests" 2>&1)
	ok $? "DLIO: every sample through a DataLoader of np.load and of h5py" || diag "$said"
	diag "$said"
	umount_ok "$mnt" "DLIO: unmounted"
	rm "$work/unet3d.tar"
}

jsc
alcf
dlio
finish
