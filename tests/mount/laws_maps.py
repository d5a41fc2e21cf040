# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of laws.py for files that have names, by maps."""
import pickle

import numpy as np

from laws_kit import case, jpeg, tar


def flat(n):
    tar("a.tar", [(f"{i}.jpg", jpeg(i)) for i in range(n)])


def map_of(name, text):
    with open(name, "wb") as out:
        out.write(text)


@case("maps", "mixed", "splits", "x/0:2", "files of 'train' and of 'test'",
      "names=map.csv", sources="train.tar test.tar")
def maps_splits():
    tar("train.tar", [("x/0.jpg", jpeg(0))])
    tar("test.tar", [("x/1.jpg", jpeg(1))])
    map_of("map.csv", b"file,label\n0.jpg,0\n1.jpg,0\n")


@case("maps", "mixed", "split-column", "0:2 1:1", "says the split of each file", "names=m.csv")
def maps_split_column():
    flat(3)
    map_of("m.csv", b"file,label,Split\n0.jpg,0,train\n1.jpg,1,train\n2.jpg,0,test\n")


@case("maps", "mixed", "split-flag", "0:2 1:1", "says the split of each file", "names=m.csv")
def maps_split_flag():
    flat(3)
    map_of("m.csv", b"file,label,is_test\n0.jpg,0,0\n1.jpg,1,0\n2.jpg,0,1\n")


for NAME in ("Usage", "data set", "fold", "train", "train_or_test"):
    @case("maps", "mixed", f"split-{NAME.replace(' ', '-')}", "0:1 1:1",
          "says the split of each file", "names=m.csv")
    def maps_vague_split(name=NAME):
        flat(2)
        map_of("m.csv", f"file,label,{name}\n0.jpg,0,a\n1.jpg,1,b\n".encode())


@case("maps", "mixed", "one-split", ".:1 0:1 1:1", "1 files have no name in it", "names=m.csv")
def maps_one_split():
    flat(3)
    map_of("m.csv", b"file,label\n0.jpg,0\n1.jpg,1\n")


@case("maps", "shifted", "classes-from-1", "0:1 a:1", "has no name for label 0",
      "names=map.csv,classes=list")
def maps_from_1():
    flat(2)
    map_of("map.csv", b"file,label\n0.jpg,0\n1.jpg,1\n")
    map_of("list", b"1: a\n2: b\n")


def maps_list(labels, text):
    def write():
        flat(len(labels))
        map_of("map.csv", b"file,label\n" + b"".join(b"%d.jpg,%d\n" % x for x in enumerate(labels)))
        map_of("list", text)
    return write


for KIND, LABELS_HERE, TEXT, SHOWN, TOLD, STATUS in (
        ("lines", (1, 2, 3), b"a\nb\nc\n", "-", "may begin with the name of label 1", 3),
        ("json", (1, 2), b'["a", "b"]', "-", "may begin with the name of label 1", 3),
        ("longer", (1, 2), b"a\nb\nc\n", "b:1 c:1", "no file has the label 0 by names=", 0),
        ("numbers", (1, 2, 3), b"1: a\n2: b\n3: c\n", "a:1 b:1 c:1", "-", 0)):
    case("maps", "shifted", f"list-from-1-{KIND}", SHOWN, TOLD, "names=map.csv,classes=list",
         STATUS)(maps_list(LABELS_HERE, TEXT))


@case("maps", "shifted", "two-maps", "-", "say two labels of", "names=m1.csv:m2.csv", status=3)
def maps_two():
    flat(2)
    map_of("m1.csv", b"file,label\n0.jpg,0\n1.jpg,1\n")
    map_of("m2.csv", b"file,label\n0.jpg,1\n1.jpg,0\n")


@case("maps", "remedy", "unused", ".:2", "no file here has one of its 1 names", "names=map.csv")
def maps_unused():
    flat(2)
    map_of("map.csv", b"file,label\nz.jpg,0\n")


for NAME in ("label2", "coarse_label", "class_name"):
    @case("maps", "remedy", f"rival-{NAME}", "0:1 1:1", f"labels={NAME} takes it", "names=m.csv")
    def maps_rival(name=NAME):
        flat(2)
        map_of("m.csv", f"file,label,{name}\n0.jpg,0,7\n1.jpg,1,7\n".encode())


case("maps", "remedy", "captions", "-", "say which holds the label with -o labels=NAME",
     "names=m.jsonl", 3)(
    lambda: (flat(1), map_of("m.jsonl", b'{"file_name": "0.jpg", "text": "cat"}\n' * 2)))
case("maps", "remedy", "captions-named", "cat:1", "-", "names=m.jsonl,labels=text")(
    lambda: (flat(1), map_of("m.jsonl", b'{"file_name": "0.jpg", "text": "cat"}\n' * 2)))


for KIND, TITLES, OPTION in (("label", "file,fine,coarse", "labels=fine"),
                             ("name", "photo,label,x", "labels=label"),
                             ("both", "photo,species,x", "labels=species")):
    case("maps", "remedy", f"titles-{KIND}", "-", "('" + TITLES.replace(",", "', '") + "')",
         "names=m.csv", 3)(
        lambda titles=TITLES: (flat(2), map_of("m.csv", f"{titles}\n0.jpg,0,7\n1.jpg,1,7\n".encode())))
    case("maps", "remedy", f"titles-{KIND}-named", "0:1 1:1", "-", f"names=m.csv,{OPTION}")(
        lambda titles=TITLES: (flat(2), map_of("m.csv", f"{titles}\n0.jpg,0,7\n1.jpg,1,7\n".encode())))


for KIND, TEXT in {"halves": b"0.5 1.5 1 2", "all": b"0.1 0.2 0.3 1e-3", "comma": b"0,5 1,5 1 2",
                   "inf": b"1 inf 2 3"}.items():
    @case("maps", "shifted", f"fraction-{KIND}", "-", "the label is a fraction", "names=m.csv", 3)
    def maps_fraction(text=TEXT):
        flat(4)
        map_of("m.csv", b"file;label\n" + b"".join(b"%d.jpg;%s\n" % x
                                                  for x in enumerate(text.split())))


for KIND, LABEL_TEXTS in {"empty": ("0", "1", "", ""), "nan": ("0", "1", "nan", "NaN"),
                          "below-0": ("0", "1", "-1", "-1"), "names": ("0x", "1x", "", "nan")}.items():
    @case("maps", "same", f"none-{KIND}", f".:2 {LABEL_TEXTS[0]}:1 {LABEL_TEXTS[1]}:1",
          "2 of its 4 names have no label", "names=m.csv")
    def maps_none(texts=LABEL_TEXTS):
        flat(4)
        map_of("m.csv", ("file,label\n" + "".join(f"{i}.jpg,{t}\n" for i, t in enumerate(texts))).encode())


@case("maps", "same", "spelled-decimal", "1:2 cat:1", "'1.0' is the number 1", "names=m.csv")
def maps_spelled():
    flat(3)
    map_of("m.csv", b"file,label\n0.jpg,1\n1.jpg,1.0\n2.jpg,cat\n")


@case("maps", "same", "none-null", ".:1 0:1 1:1", "1 of its 3 names have no label", "names=m.json")
def maps_null():
    flat(3)
    map_of("m.json", b'{"0.jpg": 0, "1.jpg": 1, "2.jpg": null}')


@case("maps", "same", "none-pickled", ".:2 0:1 1:1", "2 of its 4 names have no label", "names=m.pkl")
def maps_none_pickled():
    flat(4)
    map_of("m.pkl", pickle.dumps({"0.jpg": 0, "1.jpg": 1, "2.jpg": None, "3.jpg": float("nan")}))


@case("maps", "same", "hot-columns", ".:1 cat:1 dog:1", "1 of its 3 names have no label", "names=m.csv")
def maps_hot_columns():
    flat(3)
    map_of("m.csv", b"image,cat,dog\n0,1.0,0.0\n1,0.0,1.0\n2,0.0,0.0\n")


@case("maps", "remedy", "hot-columns", "a:1 b:1", "labels=b takes one of them", "names=m.csv")
def maps_hot_told():
    flat(2)
    map_of("m.csv", b"image,a,b\n0,1,0\n1,0,1\n")


@case("maps", "same", "hot-columns-of-two", "-", "this one has other values", "names=m.csv", status=3)
def maps_hot_of_two():
    flat(3)
    map_of("m.csv", b"image,cat,dog\n0,1,0\n1,1,1\n2,0,1\n")


def listed(text):
    def write():
        flat(3)
        map_of("m.csv", b"file,label\n0.jpg,0\n1.jpg,1\n2.jpg,2\n")
        map_of("list", text)
    return write


# The remedy of each is the last one: a JSON list of the same names.
for KIND, TEXT in {"gap": b"0: a\n1: b\nc\n", "title": b"name\na\nb\n",
                   "count": b"3\na\nb\n", "columns": b"1,2,a\n3,4,b\n5,6,c\n"}.items():
    case("maps", "remedy", f"list-{KIND}", "-", "or write the names as a JSON list",
         "names=m.csv,classes=list", status=3)(listed(TEXT))
case("maps", "remedy", "list-json", "a:1 b:1 c:1", "-",
     "names=m.csv,classes=list")(listed(b'["a", "b", "c"]'))


for KIND, (NAME, TEXT) in {
        "csv": ("m.csv", b"file,label\n0.jpg,0\n1.jpg,1\n2.jpg,1\n"),
        "csv-titles": ("m.csv", b"id,Image Name,Class_Id\n7,0.jpg,0\n8,1.jpg,1\n9,2.jpg,1\n"),
        "csv-utf16": ("m.csv", "file,label\n0.jpg,0\n1.jpg,1\n2.jpg,1\n".encode("utf-16")),
        "text": ("m.txt", b"0.jpg 0\n1.jpg 1\n2.jpg 1\n"),
        "csv-hot": ("m.csv", b"file;label\n0.jpg;[1, 0, 0]\n1.jpg;0 1 0\n2.jpg;0 1 0\n"),
        "json-lines": ("m.jsonl", b'{"file_name": "0.jpg", "label": 0}\n'
                                  b'{"file_name": "1.jpg", "label": true}\n\n'
                                  b'{"label": 1.0, "file_name": "a/2.jpg", "x": [{}]}\n'),
        "json-records": ("m.json", b'[{"file_name": "0", "label": [1, 0]},\n'
                                   b' {"file_name": "1", "label": [0, 1]},\n'
                                   b' {"file_name": "2", "label": [0, 1]}]'),
        "json": ("m.json", b'{"0.jpg": 0, "1.jpg": 1, "2.jpg": 1}'),
        "json-hot": ("m.json", b'{"0.jpg": [1, 0], "1.jpg": [0, 1], "2.jpg": [0, 1]}'),
        "json-hot-lines": ("m.json", b'{"0.jpg": [\n1,\n0], "1.jpg": [0,\t1.0], "2.jpg": [0,\n1]}'),
        "json-words": ("m.json", b'{"0.jpg": "0", "1.jpg": "1", "2.jpg": "1"}'),
        "pickle": ("m.pkl", pickle.dumps({"0.jpg": 0, "1.jpg": 1, "2.jpg": 1})),
        "pickle-0": ("m.pkl", pickle.dumps({"0.jpg": 0, "1.jpg": 1, "2.jpg": 1}, 0)),
        "pickle-numpy": ("m.pkl", pickle.dumps({f"{i}.jpg": np.int64(n)
                                               for i, n in enumerate((0, 1, 1))}))}.items():
    case("maps", "same", KIND, "0:1 1:2", "-", f"names={NAME}")(
        lambda name=NAME, text=TEXT: (flat(3), map_of(name, text)))
