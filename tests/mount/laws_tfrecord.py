# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for TFRecord files."""
import struct

from laws_kit import case, fixture, jpeg


def copy(*names):
    fixture(*names, form="tfrecord")


SHARDS = [f"pets-{split}.tfrecord-00000-of-00001" for split in ("train", "test")]

case("tfrecord", "mixed", "files", "test/0:1 test/1:1 test/2:2 train/0:2 train/1:1 train/2:1",
     sources=" ".join(SHARDS))(lambda: copy(*SHARDS))
case("tfrecord", "mixed", "split-column", "0:2 1:1",
     "labels=split has a directory for each of its values",
     sources="split-column.tfrecord")(lambda: copy("split-column.tfrecord"))
case("tfrecord", "mixed", "split-as-labels", "train:2 val:1", options="labels=split",
     sources="split-column.tfrecord")(lambda: copy("split-column.tfrecord"))
case("tfrecord", "shifted", "wnids", "train/n01440764:2 train/n01443537:1 train/n02855925:1",
     "labels=image/class/label takes the numbers",
     sources="train-00000-of-00002")(lambda: copy("train-00000-of-00002"))
case("tfrecord", "shifted", "texts", "validation/1:2 validation/2:1 validation/3:1",
     "labels=image/class/text takes the texts",
     sources="validation-00000-of-00001")(lambda: copy("validation-00000-of-00001"))
case("tfrecord", "shifted", "classes", "train/cat:2 train/dog:1 train/owl:1",
     options="classes=label.labels.txt",
     sources=SHARDS[0])(lambda: copy(SHARDS[0], "label.labels.txt"))
case("tfrecord", "shifted", "fraction", "image:3", "a label that is no whole number",
     sources="label-fraction.tfrecord")(lambda: copy("label-fraction.tfrecord"))
case("tfrecord", "remedy", "fraction", "-", "-o view=tree, which shows no classes",
     options="labels=label", status=3,
     sources="label-fraction.tfrecord")(lambda: copy("label-fraction.tfrecord"))
case("tfrecord", "remedy", "rival", "0:1 1:1 2:1", "labels=target takes it",
     sources="rival.tfrecord")(lambda: copy("rival.tfrecord"))
for NAME in ("numbers", "bytes", "sequence"):
    case("tfrecord", "remedy", NAME, "-", "-o view=tree shows each record as a file", status=3,
         sources=f"{NAME}.tfrecord")(lambda name=NAME: copy(f"{name}.tfrecord"))
for NAME, SHOWN in {"float": ".:1 0:1 1:1", "hot": ".:1 0:1 1:1", "hot-float": "0:2 1:1",
                    "words": ".:1 cat:1 dog:1", "below": ".:1 0:1 1:1",
                    "none": ".:1 2:1 4:1"}.items():
    case("tfrecord", "same", NAME, SHOWN, sources=f"label-{NAME}.tfrecord")(
        lambda name=NAME: copy(f"label-{name}.tfrecord"))


# ---- Records that no fixture has ----

def crc(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ 0x82f63b78 * (value & 1)
    value ^= 0xffffffff
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xa282ead8) & 0xffffffff)


def field(number, data):
    size, n = b"", len(data)
    while n >= 128:
        size += bytes([n & 127 | 128])
        n >>= 7
    return bytes([number << 3 | 2]) + size + bytes([n]) + data


def write(name, examples):
    """Each example: its features, of bytes, or whole numbers below 128."""
    with open(name, "wb") as out:
        for example in examples:
            features = b""
            for key, value in example.items():
                item = field(1, field(1, value)) if isinstance(value, bytes) else \
                    field(3, field(1, bytes([value])))
                features += field(1, field(1, key.encode()) + field(2, item))
            data = field(1, features)
            head = struct.pack("<Q", len(data))
            out.write(head + crc(head) + data + crc(data))


for NAME, KEY in (("path", "class/id"), ("words", "class_text"), ("joined", "classnumber")):
    case("tfrecord", "remedy", "possible-" + NAME, "image:3", f"labels={KEY} takes it",
         sources="possible.tfrecord")(
        lambda key=KEY: write("possible.tfrecord", [
            {"image": jpeg(i), key: i if key != "class_text" else b"cat"} for i in range(3)]))
