#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes zips with what programs of today do not write: zip_fixtures.py DIRECTORY [--large].

Each archive is made of members, whose local header and record of the central directory can
be told other things. Layouts: https://pkware.com/appnote
"""
import binascii
import os
import struct
import sys
import zlib

STORED, DEFLATE, UNIX = 0, 8, 3
END = b"PK\5\6"


class Member:
    def __init__(self, name, data=b"", method=STORED, flags=0, system=UNIX,
                 mode=0o100644, local=None, record=None, extra=b"", local_extra=b"",
                 stored=None, gap=b"", date=0x5a21, time=0x6000):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.gap, self.extra, self.local_extra = gap, extra, local_extra
        self.stored = stored
        if stored is None:
            self.stored = data if method == STORED else deflate(data)
        self.both = dict(flags=flags, method=method, crc=binascii.crc32(data),
                         stored=len(self.stored), size=len(data), name=self.name)
        self.local, self.record = dict(self.both, **(local or {})), dict(self.both)
        self.record.update(offset=None, disk=0, system=system, attributes=mode << 16)
        self.record.update(record or {})
        self.date, self.time = date, time

    def local_bytes(self):
        h = self.local
        return struct.pack("<4s5H3L2H", b"PK\3\4", 20, h["flags"], h["method"], self.time,
                           self.date, h["crc"], h["stored"], h["size"], len(h["name"]),
                           len(self.local_extra)) + h["name"] + self.local_extra + self.stored

    def record_bytes(self, offset):
        h = self.record
        offset = offset if h["offset"] is None else h["offset"]
        return struct.pack("<4s2B5H3L5H2L", b"PK\1\2", 20, h["system"], 20, h["flags"],
                           h["method"], self.time, self.date, h["crc"], h["stored"], h["size"],
                           len(h["name"]), len(self.extra), 0, h["disk"], 0, h["attributes"],
                           offset) + h["name"] + self.extra


def deflate(data):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def end(count, size, offset, comment=b"", disk=0, here=None):
    return struct.pack("<4s4H2LH", END, disk, disk, count if here is None else here, count,
                       size, offset, len(comment)) + comment


def archive(members, prefix=b"", adjusted=True, comment=b"", disk=0, count=None, order=None,
            behind=b"", between=b""):
    out, offsets = prefix, {}
    base = 0 if adjusted else len(prefix)
    for member in members:
        out += member.gap
        offsets[id(member)] = len(out) - base
        out += member.local_bytes()
    start = len(out) - base
    records = b"".join(m.record_bytes(offsets.get(id(m))) for m in order or members)
    n = len(order or members) if count is None else count
    return out + records + between + end(n, len(records), start, comment, disk) + behind


def field(number, data):
    return struct.pack("<2H", number, len(data)) + data


def unicode_path(name, text):
    return field(0x7075, b"\1" + struct.pack("<L", binascii.crc32(name)) + text.encode())


def zip64(numbers):
    return field(1, b"".join(struct.pack("<Q", n) for n in numbers))


def sound():
    a, b = Member("a", b"first"), Member("d/b", b"second " * 50, DEFLATE)
    yield "plain", archive([a, b])
    yield "prefix", archive([a, b], prefix=b"#!/bin/sh\nexit\n" * 9, adjusted=False)
    yield "prefix-adjusted", archive([a, b], prefix=b"#!/bin/sh\nexit\n" * 9)
    yield "behind", archive([a, b], behind=b"\n" * 100)
    yield "comment", archive([a, b], comment=b"said so")
    yield "false-end", archive([a, b], comment=b"see " + END + b"\7" * 14 + b"\4\0fine")
    yield "false-empty", archive([a, b], comment=b"see " + end(0, 0, 0))
    yield "disordered", archive([a, b], order=[b, a])
    yield "gaps", archive([a, Member("d/b", b"second " * 50, DEFLATE, gap=b"PK\3\4junk")])
    yield "signature", archive([a, b], between=b"PK\5\5\4\0sign")
    streamed = dict(crc=0, stored=0, size=0)
    yield "streamed", archive([
        Member("a", b"first", flags=8, local=streamed),
        Member("d/b", b"second " * 50, DEFLATE, flags=8, local=streamed, gap=b"PK\7\10" + b"x" * 12)])
    yield "zip64-local", archive([
        Member("a", b"first", local=dict(stored=0xffffffff, size=0xffffffff),
               local_extra=zip64([5, 5])), b])
    yield "zip64-record", archive([
        Member("a", b"first", record=dict(stored=0xffffffff, size=0xffffffff),
               extra=zip64([5, 5])), b])
    yield "zip64-end", zip64_end([a, b])


def zip64_end(members):
    whole = archive(members)
    count, size, offset = struct.unpack("<HLL", whole[-12:-2])
    record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, offset)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(whole) - 22, 1)
    return whole[:-22] + record + locator + end(0xffff, 0xffffffff, 0xffffffff)


def damaged():
    a, b = Member("a", b"first"), Member("b", b"second " * 50, DEFLATE)
    whole = archive([a, b])
    yield "cut", whole[:100]
    yield "cut-end", whole[:-5]
    yield "empty", end(0, 0, 0)
    yield "last-part", archive([a, b], disk=1)
    yield "first-part", b"PK\7\10" + whole[:100]
    yield "wrong-count", archive([a, b], count=3)
    yield "two-ends", archive([a, b], comment=archive([Member("other", b"x")]))
    yield "no-record", whole.replace(b"PK\1\2", b"PK\1\3").replace(b"PK\1\3", b"PK\1\2", 1)
    for what, value in (("name", b"x"), ("method", 12), ("size", 4), ("crc", 4), ("flags", 1)):
        yield "other-" + what, archive([Member("a", b"first", local={what: value}), b])
    yield "no-header", archive([a, Member("b", b"x", record=dict(offset=2))])
    yield "far-header", archive([a, Member("b", b"x", record=dict(offset=1 << 30))])
    yield "into-directory", archive([a, Member("b", b"x", flags=8, record=dict(
        stored=60, size=60), local=dict(stored=60, size=60))])
    yield "shared", archive([b], order=[b, b])
    inner = Member("i", b"inner")
    outer = Member("o", stored=inner.local_bytes(), data=inner.local_bytes())
    yield "quoted", archive([outer], order=[outer, Member("i", b"inner", record=dict(
        offset=31))])
    yield "two-sizes", archive([Member("a", b"first", record=dict(size=6), local=dict(size=6))])
    yield "bomb", archive([Member("a", b"x" * 9, DEFLATE, record=dict(size=1 << 30),
                                  local=dict(size=1 << 30))])
    yield "short-zip64", archive([Member("a", b"first", record=dict(size=0xffffffff),
                                         extra=field(1, b"12"))])
    streamed = dict(stored=0, size=0)
    yield "beyond", archive([Member("a", b"first", method=98, record=dict(size=0xffffffff),
                                    flags=8, local=streamed, stored=b"first",
                                    extra=zip64([1 << 50]))])
    yield "false-link", archive([Member("l", b"target", mode=0o120777,
                                        record=dict(crc=1), local=dict(crc=1))])
    yield "nul-link", archive([Member("l", b"tar\0et", mode=0o120777)])
    yield "part-number", archive([Member("a", b"first", record=dict(disk=1))])
    yield "many-bytes", archive([
        Member("a%d" % i, b"first", method=98, record=dict(size=0xffffffff), flags=8,
               stored=b"12345", local=streamed, extra=zip64([1 << 47])) for i in range(40)])


def odd():
    yield "names", archive([
        Member("../up", b"1"), Member("/root", b"2"), Member("./x//y", b"3"),
        Member("back\\slash", b"4"), Member(b"nul\0name", b"5"), Member(b"", b"6"),
        Member("twice", b"old"), Member("twice", b"new"), Member("x" * 300, b"7")])
    yield "kinds", archive([
        Member("file", b"f", mode=0o100600), Member("link", b"file", mode=0o120777),
        Member("packed-link", b"a/" * 60, DEFLATE, mode=0o120777),
        Member("directory/", mode=0o040750), Member("pipe", mode=0o010644),
        Member("device", mode=0o060644), Member("long-link", b"a" * 5000, mode=0o120777),
        Member("python", b"p", mode=0o600), Member("dos", b"d", system=0, mode=0),
        Member("dos-directory", system=0, mode=0, record=dict(attributes=0x10)),
        Member("seven", b"s", system=0, record=dict(attributes=0o100640 << 16 | 0x8000)),
        Member("fat/", system=0, mode=0)])
    ticks = (1234567890 + 11644473600) * 10000000 + 1234567
    ntfs = bytes(4) + struct.pack("<2H3Q", 1, 24, ticks, ticks, ticks)
    yield "times", archive([
        Member("dos", date=(2024 - 1980) << 9 | 2 << 5 | 29, time=23 << 11 | 59 << 5 | 29),
        Member("unix", extra=field(0x5455, b"\1" + struct.pack("<l", -5))),
        Member("ntfs", extra=field(10, ntfs)), Member("none", date=0, time=0),
        Member("cut", extra=field(0x5455, b"\1\1\1"), date=0x21, time=0),
        Member("owner", extra=field(0x7875, b"\1\4" + struct.pack("<LBL", 77, 4, 88)))])
    yield "unicode", archive([
        Member("ä.txt", b"1", flags=2048), Member("ö.txt", b"2"),
        Member(b"\x84.dos", b"3", system=0),
        Member(b"\x8f.path", b"4", extra=unicode_path(b"\x8f.path", "é.path")),
        Member(b"\x8f.stale", b"5", extra=unicode_path(b"other", "é.stale"))])
    yield "gbk", archive([Member("数据/图像.jpg".encode("gbk"), b"1", system=0),
                          Member("plain", b"2"), Member("ü", b"3", flags=2048)])
    yield "sjis", archive([Member("データ/画像.jpg".encode("shift-jis"), b"1", system=0)])
    yield "unreadable", archive([
        Member("encrypted", b"x" * 9, flags=1), Member("deflate64", b"x" * 9, 9),
        Member("ppmd", b"x" * 9, 98, stored=b"123"), Member("aes", b"x" * 9, 99, flags=1),
        Member("large", b"first", DEFLATE, stored=bytes(2 << 20),
               record=dict(size=(1 << 30) + 1), local=dict(size=(1 << 30) + 1)),
        Member("readable", b"yes")])


def large(path, size=5 << 30):
    """A member of 5 GiB, most of it a hole, and one behind it."""
    wide = dict(stored=0xffffffff, size=0xffffffff)
    big = Member("big", b"begin", local=wide, record=wide, local_extra=zip64([size, size]),
                 extra=zip64([size, size]))
    after = Member("after", b"behind 5 GiB")
    with open(path, "wb") as out:
        out.write(big.local_bytes())
        end_of_big = len(big.local_bytes()) - len(big.stored) + size
        out.seek(end_of_big - 3)
        out.write(b"end" + after.local_bytes())
        start = out.tell()
        after.extra = zip64([end_of_big])
        records = big.record_bytes(0) + after.record_bytes(0xffffffff)
        out.write(records + struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2, 2,
                                        len(records), start))
        out.write(struct.pack("<4sLQL", b"PK\6\7", 0, start + len(records), 1))
        out.write(end(0xffff, 0xffffffff, 0xffffffff))


def main():
    if sys.argv[2:] == ["--large"]:
        return large(os.path.join(sys.argv[1], "large.zip"))
    for name, data in [*sound(), *damaged(), *odd()]:
        with open(os.path.join(sys.argv[1], name + ".zip"), "wb") as out:
            out.write(data)


if __name__ == "__main__":
    main()
