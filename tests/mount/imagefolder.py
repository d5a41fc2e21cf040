#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""An epoch of torchvision's ImageFolder, and what came out of it.

Usage: imagefolder.py [--epochs N] [--size PIXELS] [--any-names] [--pause FILE]
ROOT [OTHER]

Prints classes, the number of images and a digest of all tensors and labels in
their order. With OTHER, both trees must give the same batches; with --any-names
the same tensors with the same labels, whatever files and classes are called.
--pause waits after each epoch until FILE is there, removes it and goes on: a
caller can look at counters between epochs.
"""
import argparse
import hashlib
import os
import sys
import time

import torch
from torchvision import datasets, transforms


def loader(root, size, seed):
    transform = transforms.Compose([transforms.Resize((size, size)),
                                    transforms.ToTensor()])
    images = datasets.ImageFolder(root, transform)
    order = torch.Generator()
    order.manual_seed(seed)
    return images, torch.utils.data.DataLoader(
        images, batch_size=16, shuffle=True, num_workers=2, generator=order)


def samples_of(batches):
    """A digest of each picture with its label, in their order."""
    for pictures, labels in batches:
        for picture, label in zip(pictures, labels):
            yield hashlib.sha256(picture.numpy().tobytes() + b"%d" % label).digest()


def epoch(root, size, seed, any_names=False):
    """(classes, images, digest of all samples)"""
    images, batches = loader(root, size, seed)
    samples = samples_of(batches)
    digest = hashlib.sha256(b"".join(sorted(samples) if any_names else samples))
    classes = list(images.class_to_idx.values()) if any_names else images.classes
    return classes, len(images), digest.hexdigest()


def pause(path):
    print("paused", flush=True)
    end = time.monotonic() + 60
    while not os.path.exists(path):
        if time.monotonic() > end:
            sys.exit("imagefolder.py: nobody made %s" % path)
        time.sleep(0.02)
    os.unlink(path)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root")
    parser.add_argument("other", nargs="?")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--any-names", action="store_true")
    parser.add_argument("--pause", metavar="FILE")
    return parser.parse_args()


def main():
    options = arguments()
    torch.set_num_threads(1)
    for seed in range(options.epochs):
        rule = (options.size, seed, options.any_names)
        result = epoch(options.root, *rule)
        if options.other and epoch(options.other, *rule) != result:
            sys.exit("imagefolder.py: epoch %d differs" % seed)
        print("classes", *result[0])
        print("images", result[1])
        print("digest", result[2])
        if options.pause:
            pause(options.pause)


if __name__ == "__main__":
    main()
