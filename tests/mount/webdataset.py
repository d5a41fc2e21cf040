#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shards as WebDataset's ShardWriter writes them, and what a mount must make of them.

Usage: webdataset.py write DIRECTORY [CASE...]        shards, and DIRECTORY/shown/CASE
       webdataset.py compare SHOWN ROOT [SUFFIX..]  all but these, the same bytes, no others
       webdataset.py contents SHOWN ROOT            the same bytes under any names
       webdataset.py directory ROOT CLASSES            ImageFolder numbers them as the labels

ShardWriter adds a sample's members in the order of their suffixes, read-only, owned by
"bigdata", with a time that is not whole: so each has a pax header of its own.
"""
import io
import json
import os
import pickle
import random
import sys
import tarfile

from PIL import Image

CASES = {}


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


class Case:
    """Writes shards; self.shown is what their mount must show, by its path."""

    def __init__(self, directory, name):
        self.directory = directory
        self.name = name
        self.random = random.Random(name)
        self.shown = {}
        self.clock = 1795223784.192071

    def shard(self, name):
        self.tar = tarfile.open(os.path.join(self.directory, name), "w")

    def member(self, name, data, **fields):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        info.mtime = self.clock
        info.mode = 0o444
        info.uname = info.gname = "bigdata"
        for key, value in fields.items():
            setattr(info, key, value)
        self.clock += 0.001234
        self.tar.addfile(info, io.BytesIO(data))

    def sample(self, key, parts, where, names=None):
        """`where` is the directory that its members must be in; None: as stored."""
        for suffix in sorted(parts):
            name = "%s.%s" % (key, suffix)
            self.member(name, parts[suffix])
            if where is None:
                self.show(name, parts[suffix])
            elif not names:
                self.show("%s/%s" % (where, name), parts[suffix])
        for shown, data in (names or {}).items():
            self.show("%s/%s" % (where, shown), data)

    def show(self, path, data):
        assert path not in self.shown, path
        self.shown[path] = data

    def jpeg(self):
        size = self.random.randrange(8, 40), self.random.randrange(8, 40)
        image = Image.frombytes("RGB", size, self.random.randbytes(size[0] * size[1] * 3))
        out = io.BytesIO()
        image.save(out, "JPEG", quality=self.random.randrange(30, 90))
        return out.getvalue()

    def done(self):
        for path, data in self.shown.items():
            path = os.path.join(self.directory, "shown", self.name, path)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)


def shuffled(out, count, classes):
    labels = [i % classes for i in range(count)]
    out.random.shuffle(labels)
    return enumerate(labels)


def cls(out, names, each, where=""):
    """imagenet-%s-%06d.tar of tmbdev's makeshards: KEY.cls and KEY.jpg."""
    for name in names:
        out.shard(name)
        for i, label in shuffled(out, each, 12):
            out.sample("%07d" % (i + each * names.index(name)),
                       {"jpg": out.jpeg(), "cls": b"%d" % label}, "%s%02d" % (where, label))
        out.tar.close()


@case
def shards(out):
    cls(out, ["imagenet-train-%06d.tar" % i for i in range(3)], 50)


@case
def splits(out):
    for split in "train", "val":
        cls(out, ["splits-%s-000000.tar" % split], 24, split + "/")


@case
def blind(out):
    """A test split without labels, with the keys of the other."""
    cls(out, ["blind-train-000000.tar"], 24, "train/")
    out.shard("blind-test-000000.tar")
    for i in range(12):
        name, data = "%07d.jpg" % i, out.jpeg()
        out.member(("./", "./test/")[i % 2] + name, data)
        out.show("test/" + name, data)
    out.tar.close()


@case
def described(out):
    """Two splits of captions, with the same keys."""
    for split in "train", "val":
        out.shard("described-%s-000000.tar" % split)
        for i in range(12):
            for suffix in "jpg", "txt":
                name, data = "%07d.%s" % (i, suffix), out.jpeg() if suffix == "jpg" else b"x"
                out.member(name, data)
                out.show("%s/%s" % (split, name), data)
        out.tar.close()


@case
def large(out):
    """So large that it is walked from several places at once."""
    out.shard("large.tar")
    for i, label in shuffled(out, 300, 3):
        out.sample("%06d" % i, {"bin": out.random.randbytes(260000), "cls": b"%d" % label},
                   "%d" % label)
    out.tar.close()


@case
def names(out):
    """Classes with names, in JSON; suffixes of several parts, in upper case."""
    out.shard("names.tar")
    for i, label in shuffled(out, 30, 3):
        name = ("cat", "dog", "white wolf")[label]
        text = json.dumps({"i": i, "label": name, "boxes": [[1, 2], [3]] * 900})
        out.sample("k%d" % i, {"JPG": out.jpeg(), "json": text.encode(), "seg.png": b"s"},
                   name)
    out.tar.close()


def class_of(data):
    """What Python reads in a .json; None: it reads no class."""
    try:
        label = json.loads(data)["label"]
    except ValueError:
        return None
    if isinstance(label, str):
        return label
    return "%d" % label if isinstance(label, int) or label == label // 1 else None


@case
def loads(out):
    """What json.dumps() writes beyond RFC 8259, and others with it; some are damaged."""
    extras = ['"p": NaN', '"p": [Infinity, -Infinity]', '"h": 18446744073709551615', '"x": 1e400',
              '"e": "a\\u0000b"', '"c": "\\ud83d"', '"c": "\\ude00\\ud83d"', '"n": null', '"label": 1',
              '"\\u006cabel": 3.0', '"label": true', '"label": "\\u00e9t\\u00e9"', '"label": 0.5',
              '"label": 20E-1', '"label": 123456789012345678901234567890', '"d": %s1%s' % ("[" * 400, "]" * 400),
              '"exif": %s' % json.dumps(json.dumps({"UserComment": "\0" * 8, "dpi": float("nan")})),
              '"x": +1', '"x": .5', '"x": 01', "'x': 1", '"x": nan', '"x": "\t"', '"x": "\\x41"', '"x": 1,']
    encodings = ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "utf-8"]
    out.shard("loads.tar")
    for i in range(4 * len(extras)):
        text = '\r\n{"label": %d, "caption": "\u00e9", %s}\n' % (i % 3, extras[i % len(extras)])
        data = text.encode(encodings[i % len(encodings)])
        out.sample("%04d" % i, {"jpg": out.jpeg(), "json": data}, class_of(data))
    out.tar.close()


@case
def audio(out):
    out.shard("audio.tar")
    for i, label in shuffled(out, 40, 2):
        suffix = ("flac", "wav", "mp4", "nii.gz", "txt")[i % 5]
        out.sample("a%02d" % i, {suffix: out.random.randbytes(i * 300), "cls": b"%d\n" % label},
                   "%d" % label)
    out.tar.close()


@case
def captions(out):
    out.shard("captions.tar")
    for i in range(20):
        out.sample("%09d" % i, {"jpg": out.jpeg(), "txt": b"a caption",
                                "json": b'{"caption": "%d", "width": 7}' % i}, None)
    out.tar.close()


@case
def apart(out):
    """All images, then all labels, as `tar cf apart.tar *.jpg *.cls` packs them."""
    out.shard("apart.tar")
    for suffix in "jpg", "cls":
        for i in range(12):
            name = "p%02d.%s" % (i, suffix)
            data = out.jpeg() if suffix == "jpg" else b"%d" % (i % 3)
            out.member(name, data)
            out.show(name, data)
    out.tar.close()


@case
def nameless(out):
    """Images in .img, as WebDataset's own encoders call them."""
    out.shard("nameless.tar")
    for i in range(12):
        image, label = out.jpeg(), b"%d" % (i % 3)
        out.sample("%04d" % i, {"cls": label, "img": image}, str(i % 3),
                   {"%04d.cls" % i: label, "%04d.jpg" % i: image})
    out.tar.close()


@case
def wnids(out):
    out.shard("wnids.tar")
    for i in range(20):
        key = "n%08d_%d" % (1440764 + i % 4, i)
        out.sample(key, {"JPEG": out.jpeg()}, key.split("_")[0])
    out.tar.close()


@case
def broken(out):
    """Some labels are no numbers, or missing; and what belongs to no sample."""
    out.shard("broken.tar")
    for i in range(30):
        label = {3: b"", 7: b"seven", 9: b"1" * 5000}.get(i, b"%d" % (i % 2))
        parts = {"jpg": out.jpeg(), "cls": label}
        if i == 11:
            del parts["cls"]
        out.sample("b%02d" % i, parts, None if i in (3, 7, 9, 11) else "%d" % (i % 2))
    for name in "README", "__meta__/b50.cls", ".hidden.cls", "d/x.y":
        out.member(name, b"text")
        if not name.startswith("__"):
            out.show(name, b"text")
    out.member("empty", b"", type=tarfile.DIRTYPE, mode=0o755)
    out.tar.close()


def picture(out, mode):
    size = out.random.randrange(1, 300), out.random.randrange(1, 200)
    image = Image.frombytes("RGB", size, out.random.randbytes(size[0] * size[1] * 3))
    image = image.convert(mode)
    image.info = {"jfif": 257, "dpi": (72, 72.5), "exif": out.random.randbytes(
        out.random.choice((10, 300, 9000, 70000))), "comment": "RGB", "photoshop": {
            1000 + i: b"x" * i for i in range(out.random.randrange(40))}}
    return image


@case
def idris(out):
    """imagenet_train-%06d.tar of DLO-JZ's createwebdataset.py, in all protocols."""
    for shard in range(2):
        out.shard("imagenet_train-%06d.tar" % shard)
        for i, label in shuffled(out, 40, 10):
            key = "sample%06d" % (i + 40 * shard)
            mode = ("RGB", "RGB", "L", "RGBA")[i % 4]
            protocol = (3, 4, 5, 2)[i // 4 % 4]
            image = picture(out, mode)
            parts = {"input.pyd": pickle.dumps(image, protocol),
                     "output.pyd": pickle.dumps(label * 50, protocol)}
            names = {key + ".output.pyd": parts["output.pyd"]}
            if mode == "RGBA" or protocol == 2:
                names[key + ".input.pyd"] = parts["input.pyd"]
            else:
                kind = {"RGB": "ppm", "L": "pgm"}[mode]
                data = io.BytesIO()
                image.save(data, "PPM")
                names["%s.%s" % (key, kind)] = data.getvalue()
            out.sample(key, parts, "%03d" % (label * 50), names)
        out.tar.close()


@case
def tree(out):
    """Directories that are classes, one in each shard: an ImageFolder already."""
    for shard in range(3):
        out.shard("tree-%d.tar" % shard)
        for i in range(8):
            out.sample("n%d/%d" % (shard, i), {"jpg": out.jpeg(), "cls": b"%d" % shard}, None)
        out.tar.close()


@case
def parts(out):
    """Directories that are none."""
    out.shard("parts.tar")
    for i, label in shuffled(out, 30, 3):
        out.sample("part/%d/%d" % (i // 10, i), {"jpg": out.jpeg(), "cls": b"%d" % label},
                   "%d" % label)
    out.tar.close()


@case
def twice(out):
    """One key in two shards, in one class; none may be lost."""
    for shard in range(2):
        out.shard("twice-%d.tar" % shard)
        for i in range(6):
            out.sample("%d" % i, {"jpg": out.jpeg(), "cls": b"%d" % (i % 2)},
                       "shard%d/%d" % (shard, i % 2))
        out.tar.close()


@case
def blanks(out):
    """Shards without a member, as downloaders, tar -b 128, and others leave them."""
    cls(out, ["blanks-3.tar"], 24)
    for i, size in enumerate((10240, 65536, 512)):
        with open(os.path.join(out.directory, "blanks-%d.tar" % i), "wb") as file:
            file.write(bytes(size))
    with tarfile.open(os.path.join(out.directory, "blanks-4.tar"), "w", format=tarfile.PAX_FORMAT,
                      pax_headers={"comment": "nothing"}):
        pass  # a global header


def stored(out, shard, name, data):
    """Shown under its shard's name and its own."""
    out.member(name, data)
    directory, base = os.path.split(name)
    out.show(os.path.join(directory, "%s-%s" % (shard, base)), data)


@case
def restart(out):
    """Captions, of which the keys begin anew in each shard, in a directory, too."""
    for shard in range(3):
        out.shard("restart-%d.tar" % shard)
        for i in range(6):
            for suffix in "jpg", "txt":
                stored(out, "restart-%d" % shard, "%s%06d.%s" % ("part/" * (i % 2), i, suffix),
                       out.jpeg() if suffix == "jpg" else b"%d" % shard)
        stored(out, "restart-%d" % shard, "LICENSE", b"of shard %d" % shard)
        out.tar.close()


@case
def restart_images(out):
    """Images alone; shards of one name in two directories."""
    for directory in "a", "b":
        os.makedirs(os.path.join(out.directory, directory), exist_ok=True)
        out.shard("%s/0.tar" % directory)
        for i in range(6):
            stored(out, "%s-0" % directory, "img_%d.jpg" % i, out.jpeg())
        out.tar.close()


@case
def restart_dots(out):
    """Images alone, of which a number behind a dot begins anew, and WebDataset's own files."""
    for shard in range(2):
        out.shard("dots-%d.tar" % shard)
        stored(out, "dots-%d" % shard, "__shard__/info.json", b"{}")
        for i in range(6):
            stored(out, "dots-%d" % shard, "img.%d.jpg" % i, out.jpeg())
        out.tar.close()


@case
def restart_long(out):
    """Names that leave no room for those of their shards."""
    for shard in range(2):
        out.shard("%s-%d.tar" % ("long" * 9, shard))
        for i in range(6):
            stored(out, "%d" % shard, "n" * 239 + "%d.jpg" % i, out.jpeg())
        out.tar.close()


@case
def restart_letters(out):
    """Captions, of which the keys have no numbers."""
    for shard in range(2):
        out.shard("letters-%d.tar" % shard)
        for key in "abc":
            stored(out, "letters-%d" % shard, key + ".jpg", out.jpeg())
            stored(out, "letters-%d" % shard, key + ".txt", b"of shard %d" % shard)
        out.tar.close()


@case
def restart_broken(out):
    """Classes, and what is in none under one name in both shards."""
    for shard in range(2):
        out.shard("broken-%d.tar" % shard)
        for i in range(6):
            out.sample("%d-%d" % (shard, i), {"jpg": out.jpeg(), "cls": b"%d" % (i % 2)},
                       "%d" % (i % 2))
        for name, data in (("x.jpg", out.jpeg()), ("x.cls", b"no number"), ("README", b"x")):
            stored(out, "broken-%d" % shard, name, data)
        out.tar.close()


def files_of(root):
    return {os.path.relpath(os.path.join(directory, name), root)
            for directory, _, names in os.walk(root) for name in names}


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def compare(wanted, root, hidden=()):
    """`hidden`: suffixes that the mount leaves out."""
    paths = {path for path in files_of(wanted) if not path.endswith(tuple(hidden) or "\0")}
    found = files_of(root)
    for path in sorted(paths ^ found)[:20]:
        print("only in the %s: %s" % ("mount" if path in found else "shards", path))
    for path in sorted(paths & found):
        if contents(os.path.join(root, path)) != contents(os.path.join(wanted, path)):
            sys.exit("other bytes: %s" % path)
    directories = {os.path.relpath(os.path.join(directory, name), root)
               for directory, names, _ in os.walk(root) for name in names}
    kept = {os.path.dirname(path)[:i] for path in paths
            for i, c in enumerate(os.path.dirname(path) + "/") if c == "/"} - {""}
    if directories != kept:
        sys.exit("other directories: %s" % sorted(directories ^ kept))
    if paths != found:
        sys.exit(1)


def same_contents(wanted, root):
    """The same files, whatever they are called."""
    texts = [sorted(contents(os.path.join(tree, path)) for path in files_of(tree))
             for tree in (wanted, root)]
    if texts[0] != texts[1]:
        sys.exit("%d files in the shards, %d in the mount, or other bytes" %
                 tuple(map(len, texts)))


def directory(root, classes):
    """Classes are numbered as the labels are; every image can be decoded."""
    from torchvision.datasets import ImageFolder
    images = ImageFolder(root)
    if len(images.classes) != int(classes):
        sys.exit("classes: %s" % images.classes)
    labels = sorted(images.classes, key=lambda name: (int(name) if name.isdigit() else 0, name))
    if labels != images.classes:
        sys.exit("not in the order of labels: %s" % images.classes)
    for image, index in images:
        assert image.size[0] > 0 and 0 <= index < len(images.classes)


def main():
    command, arguments = sys.argv[1], sys.argv[2:]
    if command == "write":
        for name in arguments[1:] or sorted(CASES):
            out = Case(arguments[0], name)
            CASES[name](out)
            out.done()
    elif command == "compare":
        compare(arguments[0], arguments[1], arguments[2:])
    elif command == "contents":
        same_contents(*arguments)
    elif command == "directory":
        directory(*arguments)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
