#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of every kind that is decoded, and what must have become of them."""
import io
import json
import os
import random
import sys
import tarfile

import numpy
from PIL import Image

SIZE = (61, 47)


def noise(shape, seed):
    return numpy.random.default_rng(seed).integers(0, 256, shape, dtype=numpy.uint8)


def smooth(channels):
    """A gradient: what chroma subsampling does to it can be seen."""
    y, x = numpy.mgrid[0:SIZE[1], 0:SIZE[0]]
    planes = [(x * 3 + y * (k + 1) * 2) % 256 for k in range(channels)]
    return numpy.stack(planes, -1).astype(numpy.uint8)


def save(path, image, **options):
    out = io.BytesIO()
    image.save(out, **options)
    with open(path, "wb") as file:
        file.write(out.getvalue())
    return out.getvalue()


def make_jpegs(root):
    rgb = Image.fromarray(smooth(3))
    for name, options in (("444", {"subsampling": 0}), ("422", {"subsampling": 1}),
                          ("420", {"subsampling": 2}), ("progressive", {"progressive": True}),
                          ("best", {"quality": 100}), ("worst", {"quality": 1})):
        save("%s/%s.jpg" % (root, name), rgb, format="JPEG", **options)
    save(root + "/grey.JPEG", rgb.convert("L"), format="JPEG")
    save(root + "/cmyk.jpe", Image.fromarray(smooth(4), "CMYK"), format="JPEG")
    save(root + "/noise.jpeg", Image.fromarray(noise((5, 3, 3), 1)), format="JPEG")
    exif = Image.Exif()
    exif[0x0112] = 6  # turned: nobody turns it back here
    save(root + "/turned.jpg", rgb, format="JPEG", exif=exif)


def make_pngs(root):
    rgb = Image.fromarray(noise((SIZE[1], SIZE[0], 3), 2))
    save(root + "/rgb.png", rgb, format="PNG")
    save(root + "/rgba.PNG", Image.fromarray(noise((9, 8, 4), 3), "RGBA"), format="PNG")
    save(root + "/la.png", Image.fromarray(noise((9, 8, 2), 4), "LA"), format="PNG")
    save(root + "/grey.png", rgb.convert("L"), format="PNG")
    save(root + "/one.png", rgb.convert("1"), format="PNG")
    palette = rgb.convert("P", palette=Image.ADAPTIVE, colors=200)
    save(root + "/palette.png", palette, format="PNG")
    save(root + "/few.png", rgb.convert("P", palette=Image.ADAPTIVE, colors=3),
         format="PNG", bits=2)
    save(root + "/transparent.png", palette, format="PNG", transparency=0)
    save(root + "/gamma.png", rgb, format="PNG", icc_profile=b"no profile")
    os.link(root + "/rgb.png", root + "/another-name.png")
    # not decoded: its 16 bits would be lost
    save(root + "/deep.png", Image.fromarray(numpy.arange(900, dtype=numpy.uint16)
                                             .reshape(30, 30) * 70), format="PNG")


def make_others(root):
    with open(root + "/text.jpg", "wb") as out:
        out.write(b"no image at all")
    with open(root + "/empty.png", "wb"):
        pass
    with open(root + "/image.gif", "wb") as out:
        out.write(b"GIF89a is not decoded")
    with open(root + "/420.ppm", "wb") as out:
        out.write(b"was here before")
    whole = save(root + "/whole.jpg", Image.fromarray(smooth(3)), format="JPEG")
    with open(root + "/cut.jpg", "wb") as out:
        out.write(whole[:len(whole) // 2])
    with open(root + "/header.jpg", "wb") as out:
        out.write(whole[:30])
    whole = save(root + "/whole.png", Image.fromarray(smooth(3)), format="PNG")
    with open(root + "/cut.png", "wb") as out:
        out.write(whole[:len(whole) // 2])
    broken = bytearray(whole)
    broken[len(broken) // 2] ^= 255
    with open(root + "/flipped.png", "wb") as out:
        out.write(broken)


DAMAGED = ["cut.jpg", "cut.png", "empty.png", "flipped.png", "header.jpg", "text.jpg"]
AS_THEY_ARE = DAMAGED + ["image.gif", "420.ppm", "deep.png"]
RENAMED = {"420.jpg": "420.jpg.ppm", "whole.jpg": "whole.jpg.ppm",
           "whole.png": "whole.png.ppm", "grey.JPEG": "grey.JPEG.ppm",
           "grey.png": "grey.png.ppm"}


def make(root):
    os.makedirs(root)
    make_jpegs(root)
    make_pngs(root)
    make_others(root)


def ppm_of(path):
    with Image.open(path) as image:
        rgb = image.convert("RGB")
    return b"P6\n%d %d\n255\n" % rgb.size + rgb.tobytes()


def compare(root, packed, said):
    with tarfile.open(packed) as archive:
        members = {m.name: archive.extractfile(m).read() for m in archive if m.isreg()}
    for name in sorted(os.listdir(root)):
        path = os.path.join(root, name)
        if name in AS_THEY_ARE:
            with open(path, "rb") as file:
                assert members.pop(name) == file.read(), name
            continue
        stored = RENAMED.get(name, os.path.splitext(name)[0] + ".ppm")
        assert members.pop(stored) == ppm_of(path), name
    assert not members, sorted(members)
    with open(said, encoding="ascii") as file:
        result = json.load(file)
    assert [p["path"] for p in result["problems"]] == DAMAGED, result["problems"]
    assert result["decoded"] == len(os.listdir(root)) - len(AS_THEY_ARE), result


def photographs(root):
    """Sizes in pixels that sizes in bytes say little about."""
    chance = random.Random(3)
    for i in range(60):
        os.makedirs("%s/c%d" % (root, i % 3), exist_ok=True)
        size = (chance.randrange(60, 400), chance.randrange(60, 400))
        image = Image.fromarray(noise((size[1], size[0], 3), i))
        save("%s/c%d/%03d.jpg" % (root, i % 3, i), image, format="JPEG",
             quality=chance.choice((5, 50, 95)))


def even(*shards):
    sizes = [os.stat(shard).st_size for shard in shards]
    mean = sum(sizes) / len(sizes)
    assert all(abs(size - mean) <= 0.03 * mean for size in sizes), sizes


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
