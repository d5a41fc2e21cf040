# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for shards of WebDataset."""
import json

from laws_kit import SPELLED, case, jpeg, tar


@case("webdataset", "mixed", "files", "test/0:1 test/1:1 train/0:1 train/1:1",
      sources="x-train-0.tar x-test-0.tar", options="sidecars=hide")
def wds_files():
    for split in ("train", "test"):
        tar(f"x-{split}-0.tar", [(f"{i}.{end}", body) for i in range(2)
                                for end, body in (("cls", b"%d" % i), ("jpg", jpeg(i)))])


@case("webdataset", "mixed", "one-file-of-no-split", ".:1 0:1 train/0:1",
      "says no split, as that of 'x-train-0.tar' says 'train'",
      sources="x-train-0.tar y-0.tar z-test-0.tar", options="sidecars=hide")
def wds_stray():
    for i, name in enumerate(("x-train-0.tar", "y-0.tar", "z-test-0.tar")):
        members = [(f"{i}.cls", b"0"), (f"{i}.jpg", jpeg(i))]
        tar(name, members if i < 2 else [("LICENSE", b"")])


for KIND, ITEM, NAMES in (("one-shard", "split", ("a.tar", "a.tar")),
                          ("shards", "subset", ("a.tar", "b.tar"))):
    @case("webdataset", "mixed", f"split-item-{KIND}", "test/0:1 train/0:1",
          sources=" ".join(sorted(set(NAMES))), options="sidecars=hide")
    def wds_split_item(item=ITEM, names=NAMES):
        said = [[(f"{i}.jpg", jpeg(i)), (f"{i}.json", json.dumps({"label": 0, item: s}).encode())]
                for i, s in enumerate(("train", "test"))]
        for name in set(names):
            tar(name, sum((x for x, n in zip(said, names) if n == name), []))


for KIND, VALUES in {"is_train": (True, False), "usage": ("a", "b"), "split": (0, 1)}.items():
    @case("webdataset", "mixed", f"split-item-{KIND}", "0:2",
          f"the .json of a sample says the split '{KIND}: ", options="sidecars=hide")
    def wds_split_flag(item=KIND, values=VALUES):
        tar("a.tar", [(f"{i}.{end}", body) for i in range(2) for end, body in
                      (("jpg", jpeg(i)),
                       ("json", json.dumps({"label": 0, item: values[i]}).encode()))])


for KIND, FIRST, ITEMS in (("cls", {"cls": b"0"}, {}), ("nested", {}, {"label": 0})):
    @case("webdataset", "mixed", f"split-item-beside-{KIND}", "test/0:2 train/0:2")
    def wds_split_beside(first=FIRST, items=ITEMS):
        tar("a.tar", [(f"{i}.{end}", body) for i, split in enumerate(("train", "test"))
                      for end, body in [("jpg", jpeg(i)), *first.items(), ("json", json.dumps(
                          {**items, "meta": {"split": split}}).encode())]])


@case("webdataset", "mixed", "split-item-of-one", "0:2", options="sidecars=hide")
def wds_split_of_one():
    tar("a.tar", [(f"{i}.{end}", body) for i in range(2) for end, body in
                  (("jpg", jpeg(i)), ("json", b'{"label": 0, "split": "train"}'))])


def wds_pairs(path, keys, members=lambda i: [("cls", b"0")]):
    tar(path, [(f"{key}.{end}", body) for i, key in enumerate(keys)
               for end, body in [("jpg", jpeg(i)), *members(i)]])


@case("webdataset", "mixed", "split-item-behind-many", "test/0:1 train/0:20", options="sidecars=hide")
def wds_split_behind_many():
    wds_pairs("a.tar", range(21), lambda i: [("cls", b"0"), (
        "json", json.dumps({"split": "test" if i == 20 else "train"}).encode())])


@case("webdataset", "mixed", "split-item-beside-named", "test/a:1 train/a:1",
      options="sidecars=hide,labels=species.txt")
def wds_split_beside_named():
    wds_pairs("a.tar", range(2), lambda i: [("species.txt", b"a"), (
        "json", json.dumps({"split": ("train", "test")[i]}).encode())])


@case("webdataset", "mixed", "split-item-of-some", "0:3", "the .json of a sample says the split 'test'",
      options="sidecars=hide")
def wds_split_of_some():
    wds_pairs("a.tar", range(3), lambda i: [("json", json.dumps(
        {"label": 0, **({"split": ("train", "test")[i]} if i < 2 else {})}).encode())])


for KIND, KEYS in (("front", ("train_0", "train_1", "test_0")),
                   ("middle", ("C_train2014_1", "C_train2014_2", "C_test2014_1")),
                   ("below", ("i/train-0", "i/train-1", "i/test-0")),
                   ("end", ("0_train", "1_TRAIN", "2_test")),
                   ("directory", ("d/train/0", "d/train/x/1", "d/test/0"))):
    @case("webdataset", "mixed", f"split-key-{KIND}", {
        "below": "test/i:1 train/i:2",
        "directory": "test/d/test:1 train/0/d/train:1 train/0/d/train/x:1"}.get(
            KIND, "test/0:1 train/0:2"), "the keys of the samples say their splits ('train' and 'test')",
          options="sidecars=hide")
    def wds_split_key(keys=KEYS):
        wds_pairs("a.tar", keys)


@case("webdataset", "mixed", "split-key-shards", "train/0:2 val/0:1",
      "the keys of the samples say their splits", sources="a.tar b.tar", options="sidecars=hide")
def wds_split_key_shards():
    wds_pairs("a.tar", ("train_0", "train_1"))
    wds_pairs("b.tar", ("val_0",))


@case("webdataset", "mixed", "split-key-of-some", "0:4",
      "the key of a sample says the split 'test', and that of another one 'train'",
      options="sidecars=hide")
def wds_split_key_of_some():
    wds_pairs("a.tar", ("train_0", "train_1", "test_0", "x_0"))


@case("webdataset", "mixed", "split-key-of-one", "0:2", options="sidecars=hide")
def wds_split_key_of_one():
    wds_pairs("a.tar", ("train_0", "train_1"))


for NAME in ("split.txt", "split", "subset.txt", "partition"):
    @case("webdataset", "mixed", f"split-member-{NAME}", "extra/0:1 train/0:2", options="sidecars=hide")
    def wds_split_member(name=NAME):
        wds_pairs("a.tar", range(3), lambda i: [("cls", b"0"), (
            name, (b"train\n", b"Train", b"extra")[i])])


for KIND, VALUES in {"number": (b"0", b"1"), "long": (b"a" * 20, b"b" * 20), "empty": (b"train", b"")}.items():
    @case("webdataset", "mixed", f"split-member-{KIND}", "0:2", "-" if KIND == "empty" else
          "a member of a sample says the split '" + VALUES[1].decode(), options="sidecars=hide")
    def wds_split_member_odd(values=VALUES):
        wds_pairs("a.tar", range(2), lambda i: [("cls", b"0"), ("split.txt", values[i])])


@case("webdataset", "shifted", "numbers-and-names", "0:1 cat:1",
      "one class may be two directories", sources="a.tar b.tar", options="sidecars=hide")
def wds_numbers_and_names():
    tar("a.tar", [("0.cls", b"0"), ("0.jpg", jpeg(0))])
    tar("b.tar", [("1.jpg", jpeg(1)), ("1.json", b'{"label": "cat"}')])


@case("webdataset", "shifted", "from-1", "1:1 2:1", "the 2 labels are not 0 to 1",
      options="sidecars=hide")
def wds_from_1():
    tar("a.tar", [(f"{i}.{end}", body) for i in (1, 2)
                  for end, body in (("cls", b"%d" % i), ("jpg", jpeg(i)))])


for KIND, ITEMS, TOLD in (
        ("label2", ({"label2": 5}, {"label2": 5}), "'label2' of the .json could be the label, too"),
        ("class_name", ({"class_name": "a"}, {"class_name": "b"}), "labels=class_name takes it"),
        ("contradiction", ({"class_name": "a"}, {"class_name": "a"}), "one of the two is wrong")):
    @case("webdataset", "remedy", f"rival-{KIND}", "0:1 1:1", TOLD, options="sidecars=hide")
    def wds_rival(items=ITEMS):
        tar("a.tar", [(f"{i}.{end}", body) for i in range(2) for end, body in
                      (("jpg", jpeg(i)), ("json", json.dumps({"label": i, **items[i]}).encode()))])


@case("webdataset", "remedy", "cls-and-json", "0:1 1:1",
      "the label in the .json of sample '0' is another one", options="sidecars=hide")
def wds_cls_and_json():
    tar("a.tar", [(f"{i}.{end}", body) for i in range(2) for end, body in
                  (("cls", b"%d" % i), ("jpg", jpeg(i)), ("json", b'{"label": %d}' % (1 - i)))])


@case("webdataset", "remedy", "hint", ".:4", "labels=species_id.cls")
def wds_hint():
    tar("a.tar", [(f"{i}.{end}", body) for i in range(2)
                  for end, body in (("jpg", jpeg(i)), ("species_id.cls", b"%d" % i))])


@case("webdataset", "shifted", "fractions-in-words", ".:2", "holds fractions", options="sidecars=hide")
def wds_fractions():
    tar("a.tar", [(f"{i}.{end}", body) for i in range(2) for end, body in
                  (("jpg", jpeg(i)), ("json", b'{"label": "%d.5"}' % i))])


for KIND, BODY in {"below-0": b"-1", "empty": b"", "nan": b"nan"}.items():
    @case("webdataset", "same", f"none-{KIND}", ".:1 0:1 1:1" if KIND == "below-0" else
          ".:2 0:1 1:1", "1 of 3 files have no label" if KIND == "below-0" else "1 such labels",
          options="sidecars=hide")
    def wds_none(body=BODY):
        tar("a.tar", [(f"{i}.{end}", content) for i, label in enumerate((b"0", b"1", body))
                      for end, content in (("jpg", jpeg(i)), ("cls", label))])


def wds_same(members):
    def write():
        tar("a.tar", [member for i, n in enumerate((0, 1, 1)) for member in
                      ((f"{i}.jpg", jpeg(i)), (f"{i}.{members[0]}", members[1](n)))])
    return write


for KIND, MEMBERS in {
        "cls": ("cls", lambda n: b"%d" % n), "cls-float": ("cls", lambda n: b"%d.0" % n),
        "json-hot-lines": ("json", lambda n: b'{"label": [\n  %d,\n  %d\n]}' % (n == 0, n)),
        "json-hot": ("json", lambda n: b'{"label": [%d, %d]}' % (n == 0, n)), "cls-line": ("cls", lambda n: b"%d\n" % n),
        "json": ("json", lambda n: json.dumps({"label": n}).encode()),
        "json-float": ("json", lambda n: json.dumps({"label": float(n)}).encode()),
        "json-bool": ("json", lambda n: json.dumps({"label": bool(n)}).encode()),
        "json-text": ("json", lambda n: json.dumps({"label": str(n)}).encode()),
        "json-alone": ("json", lambda n: b"%d" % n)}.items():
    case("webdataset", "same", KIND, "0:1 1:2", options="sidecars=hide")(wds_same(MEMBERS))


for KIND, (*TEXTS, SHOWN, TOLD) in SPELLED.items():
    @case("webdataset", "same", f"spelled-{KIND}", SHOWN, TOLD,
          options="sidecars=hide")
    def wds_spelled(texts=tuple(TEXTS)):
        wds_pairs("a.tar", range(3), lambda i: [("json", json.dumps(
            {"label": texts[i].decode()}).encode())])
