#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What json.loads() makes of texts that are right, odd, or damaged.

Usage: pyjson_oracle.py INPUTS WANTED [COUNT [SEED]]

INPUTS gets texts, a length (32 bits, little-endian) before each; WANTED a line for each:
"refused", or the value: n, f, t, i<digits>, r<bits of a double>, s<hex of the UTF-8>,
[item,item,] and {s<key>:item,}.
"""
import json
import random
import struct
import sys

GIVEN = [
    b"", b" ", b"\n\t\r 1 \n", b"\x0b1", b"\x0c1", b"1\0", b"null", b"nul", b"nulll", b"True",
    b"NaN", b"nan", b"-NaN", b"+NaN", b"NaN1", b"Infinity", b"-Infinity", b"+Infinity", b"-Inf",
    b"[NaN,Infinity,-Infinity]", b"[NaN Infinity]", b"inf", b"-", b"+1", b"-0", b"-0.0", b"0", b"00",
    b"01", b"-01", b"1.", b".5", b"1.5", b"1.e5", b"1e5", b"1E+5", b"1e-5", b"1e", b"1e+", b"1e400",
    b"-1e400", b"1e-400", b"0e99999999999", b"1e99999999999999999999", b"1_000", b"0x10", b"1,",
    b"9223372036854775807", b"9223372036854775808", b"-9223372036854775808", b"-9223372036854775809",
    b"18446744073709551615", b"1" * 4301, b"-" + b"7" * 20000, b"0." + b"3" * 5000, b"1" * 400 + b".0",
    b'""', b'"', b"'a'", b'"a\nb"', b'"a\tb"', b'"\x7f"', b'"\0"', b'"\\u0000"', b'"\\u000"', b'"\\u00g0"',
    b'"\\U00000041"', b'"\\x41"', b'"\\\'"', b'"\\', b'"\\"', b'"\\\\"', b'"\\/\\b\\f\\n\\r\\t\\""', b'"\\ud83d"',
    b'"\\ude00"', b'"\\ud83d\\ude00"', b'"\\uD83D\\uDE00"', b'"\\ud83d\\ud83d\\ude00"', b'"\\ude00\\ud83d"',
    b'"\\ud83d\\n"', b'"\\ud83d\\u0041"', b'"\\ud83d\\u00"', b'"\\ud83dx\\ude00"', b'"\\ud83d\xed\xb8\x80"',
    b'"\xed\xa0\xbd\\ude00"', b'"\xed\xa0\xbd\xed\xb8\x80"', b'"\xed\xa0\xbd"', b'"\xff"', b'"\xc3"', b'"\xc3\xa9"',
    b'"\xc0\x80"', b'"\xf4\x8f\xbf\xbf"', b'"\xf4\x90\x80\x80"', b'"\xf0\x9f\x98\x80"', b'"\xe2\x80\xa8"',
    b'\xef\xbb\xbf{"a": 1}', b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef\xbb\xbf1", b" \xef\xbb\xbf1", b"\xef\xbb1", b"\xc2\xa01",
    b"[]", b"[ ]", b"{}", b"{ }", b"[,]", b"[1,]", b"[1 2]", b"[,1]", b"[1,,2]", b"{1:2}", b"{,}",
    b'{"a":1,}', b'{"a" 1}', b'{"a":}', b'{"a"}', b'{"a":1 "b":2}', b'{"a":1}}', b"[1]]", b"[1", b"[[1]",
    b"{", b"[", b'{"a"', b'{"a":', b'{"a":1', b"]", b"}", b"[}", b"{]", b'[1}', b'{"a":1]', b"[1]x", b"1 2",
    b'{"a":1,"b":2,"a":3}', b'{"a":{"a":1},"\\u0061":[2]}', b'{"":0,"":1}', b'{"\\ud83d":1,"\\ude00":2}',
    b'{"\\ud83d\\ude00":1,"\xf0\x9f\x98\x80":2}', b"// a\n1", b"/* */1", b"[1]//", b"[" * 300 + b"]" * 300,
    b'{"a":' * 300 + b"1" + b"}" * 300, b"[" * 300, b"[" * 300 + b"]" * 299, b"[" * 300 + b"]" * 301,
    b"[{}," * 200 + b"1" + b"]" * 200, b"[[],{}]", b'[{"a":[]},[[]],{"b":{}}]',
    b"\xff\xfe1\0", b"\xfe\xff\x001", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\0\0\xfe\xff",
    b"\xff\xfe\0\x001\0\0\0", b"\0\0\xfe\xff\0\0\x001", b"1\0", b"\x001", b"1\x002\0", b"1\0\0\0", b"\0\0\x001",
    b"\x001\x002", b"1\x002", b"\0", b"\0\0", b"\0\0\0", b"\0\0\0\0", b'"\0a\0"\0', b'"\0\0\xd8"\0', b'"\0\0\xdc"\0',
    b'"\0=\xd8\0\xde"\0', b'"\0=\xd8', b'"\0\0\0\0\xd8\0\0"\0\0\0', b'"\0\0\0\0\0\x11\0"\0\0\0', b"1\0\0\0\0",
    b'"\0\0\0=\xd8\0\0\0\xde\0\0"\0\0\0', b"\xef\xbb\xbf1\0", b"\xff\xff1\0",
]

ATOMS = [
    "null", "true", "false", "NaN", "Infinity", "-Infinity", "0", "-0", "1", "-1", "3.0", "1e0", "1e400",
    "-1e-400", "18446744073709551615", "123456789012345678901234567890", "-9223372036854775808", "2.5e-3",
    '""', '"a"', '"label"', '"\\u0000"', '"\\ud83d"', '"\\ud83d\\ude00"', '"\\udc80"', '"é"', '"日本"', '"😀"',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\ud83d"', '"\ude00"', '"a\\u00e9\\uD83Dz"',
]
BLANKS = ["", "", "", " ", "\n", "\t", "\r\n", "  "]
KEYS = ['"a"', '"b"', '"label"', '"\\u0061"', '""', '"é"', '"\\ud83d"', '"a b"']
PIECES = [b",", b":", b"[", b"]", b"{", b"}", b'"', b"\\", b"\\u", b"\\ud83d", b"e", b".", b"-", b"0", b"9", b"N", b"NaN",
          b"Infinity", b"\xff", b"\xed\xa0\xbd", b"\xef\xbb\xbf", b"\0", b" ", b"\n", b"\x1f", b"\x7f", b"\xc2\xa0"]
ENCODINGS = ["utf-8"] * 8 + ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"]


def text_of(rng, depth):
    kind = rng.random()
    blank = lambda: rng.choice(BLANKS)
    if depth == 0 or kind < 0.4:
        return blank() + rng.choice(ATOMS) + blank()
    items = [text_of(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind < 0.65:
        return blank() + "[" + (",".join(items) or blank()) + "]" + blank()
    items = [blank() + rng.choice(KEYS) + blank() + ":" + item for item in items]
    return blank() + "{" + (",".join(items) or blank()) + "}" + blank()


def damaged(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        way = rng.randrange(5)
        if way == 0:
            data[at:at] = rng.choice(PIECES)
        elif way == 1:
            del data[at:at + rng.randrange(1, 4)]
        elif way == 2 and at < len(data):
            data[at] = rng.randrange(256)
        elif way == 3:
            data[at:at + 1] = rng.choice(PIECES)
        elif rng.random() < 0.3:
            del data[at:]
    return bytes(data)


def said(value):
    if value is None:
        return "n"
    if value is True or value is False:
        return "ft"[value]
    if isinstance(value, int):
        return "i%d" % value
    if isinstance(value, float):
        return "r%016x" % struct.unpack("<Q", struct.pack("<d", value))
    if isinstance(value, str):
        return "s" + value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, list):
        return "[" + "".join(said(item) + "," for item in value) + "]"
    return "{" + "".join("%s:%s," % (said(key), said(item)) for key, item in value.items()) + "}"


def answer(data):
    try:
        return said(json.loads(data))
    except ValueError:
        return "refused"


def main():
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    rng = random.Random(int((sys.argv[4:] or [1])[0]))
    texts = list(GIVEN)
    for _ in range(int((sys.argv[3:] or [20000])[0])):
        text = text_of(rng, rng.randrange(5)).encode(rng.choice(ENCODINGS), "surrogatepass")
        texts.append(damaged(rng, text))
    with open(sys.argv[1], "wb") as inputs, open(sys.argv[2], "w") as wanted:
        for text in texts:
            inputs.write(struct.pack("<I", len(text)) + text)
            wanted.write(answer(text) + "\n")


if __name__ == "__main__":
    main()
