#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes tars as other programs leave them, and lists what is right for each.

tar_oddities.py DIRECTORY writes DIRECTORY/NAME.tar and DIRECTORY/NAME.want. A line of the
latter is: kind, mode, uid, gid, mtime in ns, size, Adler-32 of the contents, then
NAME=VALUE for each xattr, name and target; all of these in hex. Each archive is also
read by the programs that its entry in CASES names, and their reading has to be the
same, as far as they go: t is GNU tar, b bsdtar, p Python's tarfile.
"""
import os
import shutil
import subprocess
import sys
import tarfile
import zlib

END = bytes(1024)
POSIX, GNU, V7 = b"ustar\0" b"00", b"ustar  \0", bytes(8)


def pad(data):
    return data + bytes(-len(data) % 512)


def octal(number, width):
    return number if isinstance(number, bytes) else b"%0*o\0" % (width - 1, number)


def header(name, size=0, kind=b"0", mode=0o644, uid=0, gid=0, mtime=1000, link=b"",
           magic=POSIX, fields=(), signed=False, checksum=b"%06o\0 "):
    """A header block; `fields` are (offset, bytes) that are written over it."""
    block = bytearray(512)

    def put(offset, data):
        block[offset:offset + len(data)] = data
    put(0, name)
    put(100, octal(mode, 8))
    put(108, octal(uid, 8))
    put(116, octal(gid, 8))
    put(124, octal(size, 12))
    put(136, octal(mtime, 12))
    put(148, b" " * 8)
    put(156, kind)
    put(157, link)
    put(257, magic)
    for offset, data in fields:
        put(offset, data)
    total = sum(block) - (256 * sum(b >> 7 for b in block) if signed else 0)
    put(148, checksum % total)
    return bytes(block)


def member(name, data=b"", **fields):
    fields.setdefault("size", len(data))
    return header(name, **fields) + pad(data)


def record(key, value):
    text = b" " + key.encode() + b"=" + value + b"\n"
    length = len(text)
    while len(b"%d" % length) + len(text) != length:
        length = len(b"%d" % length) + len(text)
    return b"%d" % length + text


def pax(records, kind=b"x"):
    body = b"".join(record(key, value if isinstance(value, bytes) else value.encode())
                    for key, value in records)
    return header(b"PaxHeaders/x", len(body), kind) + pad(body)


def long_name(name, kind=b"L"):
    return header(b"././@LongLink", len(name) + 1, kind, magic=GNU) + pad(name + b"\0")


def b256(number, width):
    return b"\x80" + number.to_bytes(width - 1, "big") if number >= 0 else \
        number.to_bytes(width, "big", signed=True)


class Want:
    def __init__(self, name, data=b"", kind="f", mode=0o644, uid=0, gid=0, mtime=1000 * 10**9,
                 xattrs=None, target=b""):
        self.name, self.data, self.kind, self.mode = name, data, kind, mode
        self.uid, self.gid, self.mtime = uid, gid, mtime
        self.xattrs, self.target = xattrs or {}, target

    def line(self):
        words = [self.kind, "%03o" % self.mode, self.uid, self.gid, self.mtime,
                 len(self.data), "%08x" % zlib.adler32(self.data) if self.kind == "f" else "0"]
        words += ["%s=%s" % (k.hex(), self.xattrs[k].hex()) for k in sorted(self.xattrs)]
        return " ".join(str(w) for w in words) + " %s %s\n" % (self.name.hex(),
                                                              self.target.hex())


CASES = []


def case(name, parts, want, readers=""):
    CASES.append((name, b"".join(parts), want, readers))


def sparse_data(pieces, size):
    data = bytearray(size)
    for offset, piece in pieces:
        data[offset:offset + len(piece)] = piece
    return bytes(data)


NS = 10**9
PIECES = [(0, b"A" * 512), (100352, b"B" * 10), (200000, b"")]
HOLES = sparse_data(PIECES, 200000)
STORED = b"".join(data for _, data in PIECES)


def global_headers():
    case("global-times-and-owners",
         [pax([("mtime", "2000.25"), ("uid", "4242"), ("gid", "17")], b"g"),
          member(b"a", b"plain", uid=7), pax([("uid", "8")]), member(b"b", b"own"),
          member(b"d/", kind=b"5", mode=0o755), member(b"l", kind=b"2", link=b"a"), END],
         [Want(b"a", b"plain", uid=4242, gid=17, mtime=2000 * NS + NS // 4),
          Want(b"b", b"own", uid=8, gid=17, mtime=2000 * NS + NS // 4),
          Want(b"d/", kind="d", mode=0o755, uid=4242, gid=17, mtime=2000 * NS + NS // 4),
          Want(b"l", kind="l", uid=4242, gid=17, mtime=2000 * NS + NS // 4, target=b"a")],
         "tp")
    case("global-changed-and-ended",
         [pax([("uid", "1"), ("mtime", "5")], b"g"), member(b"a", uid=9),
          pax([("uid", "2")], b"g"), member(b"b", uid=9),
          pax([("uid", ""), ("mtime", "")], b"g"), member(b"c", uid=9), END],
         [Want(b"a", uid=1, mtime=5 * NS), Want(b"b", uid=2, mtime=5 * NS),
          Want(b"c", uid=9)])
    case("global-uid-alone", [pax([("uid", "3000000")], b"g"), member(b"a", b"1", gid=5), END],
         [Want(b"a", b"1", uid=3000000, gid=5)], "tp")
    case("global-comment",
         [pax([("comment", "0123456789abcdef0123456789abcdef01234567")], b"g"),
          member(b"a", b"1", uid=5), member(b"b", b"2"), END],
         [Want(b"a", b"1", uid=5), Want(b"b", b"2")], "tbp")
    case("global-taken-back", [pax([("uid", "5"), ("gid", "6")], b"g"), pax([("uid", "")]),
                               member(b"a", b"1", uid=9), member(b"b", b"2", uid=9), END],
         [Want(b"a", b"1", uid=9, gid=6), Want(b"b", b"2", uid=5, gid=6)])
    case("global-xattrs",
         [pax([("SCHILY.xattr.user.all", "1"), ("SCHILY.xattr.user.k%3Dv", "e")], b"g"),
          member(b"a"), pax([("SCHILY.xattr.user.all", "2")]), member(b"b"),
          pax([("SCHILY.xattr.user.all", "")]), member(b"c"), END],
         [Want(b"a", xattrs={b"user.all": b"1", b"user.k=v": b"e"}),
          Want(b"b", xattrs={b"user.all": b"2", b"user.k=v": b"e"}),
          Want(b"c", xattrs={b"user.k=v": b"e"})])
    case("global-in-the-second-archive",
         [member(b"a", b"1"), END, pax([("mtime", "7")], b"g"), member(b"b", b"2"), END,
          member(b"c", b"3"), END],
         [Want(b"a", b"1"), Want(b"b", b"2", mtime=7 * NS), Want(b"c", b"3", mtime=7 * NS)],
         "tp")
    case("global-and-long-names",
         [pax([("gid", "3")], b"g"), long_name(b"n" * 300), member(b"n" * 99, b"1"),
          pax([("path", b"p\xc3\xa9")]), member(b"p", b"2"), END],
         [Want(b"n" * 300, b"1", gid=3), Want(b"p\xc3\xa9", b"2", gid=3)])
    case("global-sizes",
         [pax([("size", "3")], b"g"), member(b"a", b"abc", size=0), member(b"d/", kind=b"5"),
          pax([("size", "1")]), member(b"b", b"x", size=0), END],
         [Want(b"a", b"abc"), Want(b"d/", kind="d"), Want(b"b", b"x")], "t")
    case("global-names",
         [pax([("path", "all"), ("linkpath", "there")], b"g"), member(b"a", b"1"),
          pax([("path", "own"), ("linkpath", "")]),
          member(b"l", kind=b"2", link=b"here"), member(b"m", kind=b"2"), END],
         [Want(b"all", b"1"), Want(b"own", kind="l", target=b"here"),
          Want(b"all", kind="l", target=b"there")])
    case("global-before-a-sparse-file",
         [pax([("mtime", "9")], b"g"), *sparse_1_0(b"s", STORED), END],
         [Want(b"s", HOLES, mtime=9 * NS)], "p")


def xattr_names():
    case("xattr-names-of-gnu-tar",
         [pax([("SCHILY.xattr.user.a%3Db", "1"), ("SCHILY.xattr.user.50%25", "2"),
               ("SCHILY.xattr.user.%2541", "3"), ("SCHILY.xattr.user.x%41", "4"),
               ("SCHILY.xattr.user.sp ace", "5"), ("SCHILY.xattr.user.end%", "6"),
               ("SCHILY.xattr.user.empty", "")]), member(b"f"), END],
         [Want(b"f", xattrs={b"user.a=b": b"1", b"user.50%": b"2", b"user.%41": b"3",
                             b"user.x%41": b"4", b"user.sp ace": b"5", b"user.end%": b"6",
                             b"user.empty": b""})], "t")
    case("xattr-names-of-libarchive",
         [pax([("LIBARCHIVE.xattr.user.a%3Db", "AAEC"), ("SCHILY.xattr.user.a%3Db", b"\0\1\2"),
               ("LIBARCHIVE.xattr.user.sp%20ace", "eA"), ("SCHILY.xattr.user.sp%20ace", "x"),
               ("LIBARCHIVE.xattr.user.p%25q", "eQ=="), ("LIBARCHIVE.xattr.user.n%00l", "eQ"),
               ("LIBARCHIVE.xattr.user.broken", "!!"), ("SCHILY.xattr.user.broken", "ok")]),
          member(b"f"), END],
         [Want(b"f", xattrs={b"user.a=b": b"\0\1\2", b"user.sp ace": b"x", b"user.p%q": b"y",
                             b"user.broken": b"ok"})])


def strays():
    for tag, stray in (("x", pax([("mtime", "5")])), ("g", pax([("mtime", "5")], b"g")),
                       ("X", pax([("mtime", "5")], b"X")),
                       ("L", long_name(b"n" * 300)), ("K", long_name(b"n" * 300, b"K")),
                       ("LKx", long_name(b"n" * 300) + long_name(b"t", b"K") +
                        pax([("uid", "5")]))):
        first = member(b"a", b"AA")
        want = [Want(b"a", b"AA")]
        case("stray-%s-before-the-mark" % tag, [first, stray, END], want,
             "" if len(tag) > 1 or tag == "X" else "t")
        case("stray-%s-at-the-end" % tag, [first, stray], want)
        case("stray-%s-cut-in-its-padding" % tag, [first, stray.rstrip(b"\0") + b"\0"], want)
        case("stray-%s-between-archives" % tag, [first, stray, END, member(b"b", b"B"), END],
             [*want, Want(b"b", b"B", mtime=5 * NS if tag == "g" else 1000 * NS)])


def sparse_1_0(name, body, real=200000, pieces=PIECES):
    text = pad(b"%d\n" % len(pieces) + b"".join(b"%d\n%d\n" % (o, len(d)) for o, d in pieces))
    return [pax([("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"),
                 ("GNU.sparse.name", name), ("GNU.sparse.realsize", str(real))]),
            member(b"GNUSparseFile.0/" + name, text + body)]


def sparse_0_1(name, body):
    text = ",".join("%d,%d" % (o, len(d)) for o, d in PIECES)
    return [pax([("GNU.sparse.size", "200000"), ("GNU.sparse.numblocks", "3"),
                 ("GNU.sparse.name", name), ("GNU.sparse.map", text)]),
            member(b"GNUSparseFile.0/" + name, body)]


def sparse_0_0(name, body):
    pairs = [r for o, d in PIECES for r in (("GNU.sparse.offset", str(o)),
                                            ("GNU.sparse.numbytes", str(len(d))))]
    return [pax([("GNU.sparse.size", "200000"), ("GNU.sparse.numblocks", "3"), *pairs]),
            member(name, body)]


def pairs(pieces, room):
    fields = b"".join(octal(o, 12) + octal(len(d), 12) for o, d in pieces[:room])
    return fields.ljust(24 * room, b"\0")


def sparse_old(name, pieces, size, tail=b"", star=False):
    """GNU tar's S, or star's: the map begins in the header and goes on in blocks."""
    body, rest = b"".join(d for _, d in pieces) + tail, pieces[4:]
    more = bytes([1 if rest else 0])
    if star:
        fields = [(355, more), (356, pairs(pieces, 4)), (452, octal(size, 12)),
                  (508, b"tar\0")]
    else:
        fields = [(386, pairs(pieces, 4)), (482, more), (483, octal(size, 12))]
    blocks = [header(name, len(body), b"S", magic=POSIX if star else GNU, fields=fields)]
    while rest:
        blocks.append(pairs(rest, 21) + (b"\1" if len(rest) > 21 else b"\0") + bytes(7))
        rest = rest[21:]
    return blocks + [pad(body)]


def sparse_files():
    after = member(b"z", b"zz")
    want = [Want(b"s", HOLES), Want(b"z", b"zz")]
    many = [(i * 1024, b"%03d" % i * 100) for i in range(60)]
    size = 60 * 1024
    for tag, tail in (("", b""), ("-bytes-behind", b"E" * 700)):
        b = "" if tail else "b" # which reads nothing behind such a file
        case("sparse-1.0" + tag, [*sparse_1_0(b"s", STORED + tail), after, END], want,
             "tp" + b)
        case("sparse-0.1" + tag, [*sparse_0_1(b"s", STORED + tail), after, END], want,
             "tp" + b)
        case("sparse-0.0" + tag, [*sparse_0_0(b"s", STORED + tail), after, END], want,
             "tp" + b)
        case("sparse-old" + tag, [*sparse_old(b"s", PIECES, 200000, tail), after, END],
             want, "p" + b)
        case("sparse-old-long" + tag, [*sparse_old(b"s", many, size, tail), after, END],
             [Want(b"s", sparse_data(many, size)), Want(b"z", b"zz")], "p" + b)
        case("sparse-star" + tag,
             [*sparse_old(b"s", many, size, tail, star=True), after, END],
             [Want(b"s", sparse_data(many, size)), Want(b"z", b"zz")])
    case("sparse-1.0-one-byte-behind", [*sparse_1_0(b"s", STORED + b"E"), after, END], want,
         "tp")
    case("sparse-1.0-all-hole", [*sparse_1_0(b"s", b"", 5000, [(5000, b"")]), after, END],
         [Want(b"s", bytes(5000)), Want(b"z", b"zz")], "tbp")
    case("sparse-1.0-no-piece", [*sparse_1_0(b"s", b"", 5000, []), after, END],
         [Want(b"s", bytes(5000)), Want(b"z", b"zz")], "p")
    case("sparse-1.0-cut-in-its-padding", [b"".join(sparse_1_0(b"s", STORED)).rstrip(b"\0")],
         [Want(b"s", HOLES)])


def odd_fields():
    letters = [(329, b"garbage\0"), (337, b"letters ")]
    case("letters-in-the-device-fields",
         [member(b"a", b"1", fields=letters), member(b"b/", kind=b"5", mode=0o755,
                                                     fields=letters),
          member(b"c", b"3", magic=GNU, fields=letters),
          pax([("mtime", "7")]), member(b"d", b"4", fields=letters), END],
         [Want(b"a", b"1"), Want(b"b/", kind="d", mode=0o755), Want(b"c", b"3"),
          Want(b"d", b"4", mtime=7 * NS)], "t")
    case("bytes-behind-the-prefix", [member(b"a", b"1", fields=[(500, b"left over")]), END],
         [Want(b"a", b"1")], "tbp")
    case("blanks-around-numbers",
         [member(b"a", b"12345", size=b"          5 ", mode=b"   644 \0", uid=b"    12 \0",
                 gid=b"    13  ", mtime=b"       1750 "), END],
         [Want(b"a", b"12345", uid=0o12, gid=0o13)], "tb")
    case("numbers-that-fill-their-fields",
         [member(b"a", b"12345", size=b"000000000005", mode=b"00000644", uid=b"00000012",
                 gid=b"00000013", mtime=b"000000001750"), END],
         [Want(b"a", b"12345", uid=0o12, gid=0o13)], "tbp")
    case("empty-numbers",
         [member(b"a", b"1", uid=bytes(8), gid=b" " * 8, mtime=bytes(12)), END],
         [Want(b"a", b"1", mtime=0)], "b")
    case("a-nul-before-a-number",
         [member(b"a", b"12345", size=b"\0" b"0000000005", uid=b"\0" b"000012"), END],
         [Want(b"a", b"12345", uid=0o12)])
    case("base-256",
         [member(b"a", b"12345", size=b256(5, 12), uid=b256(3000000, 8), gid=b256(70000, 8),
                 mtime=b256(1 << 33, 12), magic=GNU),
          member(b"b", b"1", mtime=b256(-86400, 12), magic=GNU), END],
         [Want(b"a", b"12345", uid=3000000, gid=70000, mtime=(1 << 33) * NS),
          Want(b"b", b"1", mtime=-86400 * NS)], "tbp")
    case("owners-that-do-not-fit",
         [member(b"a", uid=b256(-2, 8), gid=b256(1 << 40, 8), magic=GNU),
          pax([("uid", "99999999999999999999"), ("gid", "-1")]), member(b"b"), END],
         [Want(b"a", uid=65534, gid=65534), Want(b"b", uid=65534, gid=65534)])
    case("negative-times",
         [pax([("mtime", "-0.5")]), member(b"a"), pax([("mtime", "-12.25")]), member(b"b"),
          pax([("mtime", "-3")]), member(b"c"), pax([("mtime", "0.000000001")]), member(b"d"),
          pax([("mtime", ".5")]), member(b"e"), END],
         [Want(b"a", mtime=-NS // 2), Want(b"b", mtime=-12 * NS - NS // 4),
          Want(b"c", mtime=-3 * NS), Want(b"d", mtime=1), Want(b"e", mtime=NS // 2)])


def names():
    long = b"p" * 155
    case("prefix-without-a-nul",
         [member(b"n" * 100, b"1", fields=[(345, long)]),
          member(b"m", b"2", fields=[(345, b"front/\0left over")]), END],
         [Want(long + b"/" + b"n" * 100, b"1"), Want(b"front/m", b"2")], "b")
    case("star-prefix",
         [member(b"m", b"1", fields=[(345, b"q" * 130 + b"\0" b"00000001750 00000001750 "),
                                     (508, b"tar\0")]), END],
         [Want(b"q" * 130 + b"/m", b"1")], "tb")
    case("times-in-the-prefix-of-gnu-tar",
         [member(b"m", b"1", magic=GNU, fields=[(345, b"00000001750\0" b"00000001750\0")]),
          END], [Want(b"m", b"1")], "tb")
    case("signed-checksums",
         [member(b"caf\xe9\xff", b"1", magic=V7, signed=True),
          member(b"\xe9t\xe9", b"2", signed=True), END],
         [Want(b"caf\xe9\xff", b"1"), Want(b"\xe9t\xe9", b"2")], "tbp")
    case("checksum-fields",
         [member(b"%d" % i, b"1", checksum=form) for i, form in enumerate(
             (b"%07o\0", b"%6o\0 ", b"%6o  ", b"%07o ", b" %05o\0 "))] + [END],
         [Want(b"%d" % i, b"1") for i in range(5)], "tb")
    case("v7-directories", [member(b"d/", magic=V7, kind=b"\0", mode=0o755),
                        member(b"d/f", b"1", magic=V7, kind=b"\0"), END],
         [Want(b"d/", kind="d", mode=0o755), Want(b"d/f", b"1")], "tbp")
    case("solaris-headers",
         [pax([("path", b"long"), ("mtime", "7")], b"X"), member(b"short", b"1"),
          header(b"acl", 8, b"A") + pad(b"user::rw"), member(b"b", b"2"), END],
         [Want(b"long", b"1", mtime=7 * NS), Want(b"b", b"2")])
    case("a-label", [header(b"the label", kind=b"V", magic=GNU), member(b"a", b"1"), END],
         [Want(b"a", b"1")], "t")
    case("names-said-in-vain",
         [long_name(b"n" * 200), long_name(b"never seen"), member(b"n", b"1"),
          pax([("path", "")]), member(b"own", b"2"), END],
         [Want(b"n" * 200, b"1"), Want(b"own", b"2")])
    case("a-record-without-sense",
         [header(b"pax", 30, b"x") + pad(b"11 mtime=7\n99 uid=5\n12 gid=123\n"),
          member(b"a", b"1"), END], [Want(b"a", b"1", mtime=7 * NS)])


def padding():
    for tag, data in (("one-byte", b"1"), ("a-block-and-a-byte", b"2" * 513),
                      ("a-block", b"3" * 512)):
        for cut in (0, 1, 100):
            whole = header(b"last", len(data)) + data + bytes(-len(data) % 512)
            end = min(512 + len(data) + cut, len(whole))
            case("cut-%d-behind-%s" % (cut, tag), [member(b"a", b"A"), whole[:end]],
                 [Want(b"a", b"A"), Want(b"last", data)], "b")
    case("no-mark", [member(b"a", b"A"), member(b"b")], [Want(b"a", b"A"), Want(b"b")], "tbp")
    case("half-a-mark", [member(b"a", b"A"), bytes(700)], [Want(b"a", b"A")], "tbp")
    case("cut-behind-a-pax-member", [pax([("mtime", "7")]), header(b"a", 3) + b"abc"],
         [Want(b"a", b"abc", mtime=7 * NS)])


# Other programs' readings

def adler(data):
    return "%08x" % zlib.adler32(data)


def summary(kind, name, data, mtime, uid, gid, target):
    return (kind, name.rstrip(b"/"), adler(data), mtime, uid, gid, target)


def read_by_tarfile(path):
    with tarfile.open(path, ignore_zeros=True, encoding="utf-8",
                      errors="surrogateescape") as tar:
        for info in tar:
            data = tar.extractfile(info).read() if info.isfile() else b""
            mtime = round(float(info.mtime) * 4) * NS // 4
            yield summary("d" if info.isdir() else "l" if info.issym() else "f",
                          os.fsencode(info.name), data, mtime, info.uid, info.gid,
                          os.fsencode(info.linkname))


def read_directory(directory):
    for top, directories, files in os.walk(os.fsencode(directory)):
        for name in directories + files:
            path = os.path.join(top, name)
            st, link, data = os.lstat(path), b"", b""
            kind = "d" if os.path.isdir(path) else "f"
            if os.path.islink(path):
                kind, link = "l", os.readlink(path)
            elif kind == "f":
                with open(path, "rb") as f:
                    data = f.read()
            uid, gid = (st.st_uid, st.st_gid) if os.geteuid() == 0 else (None, None)
            yield summary(kind, os.path.relpath(path, os.fsencode(directory)), data,
                          st.st_mtime_ns, uid, gid, link)


def read_by(program, path):
    shutil.rmtree("extracted", ignore_errors=True)
    os.mkdir("extracted")
    own = ["--ignore-zeros"] if program == "tar" else []
    subprocess.run([program, *own, "--numeric-owner", "-xpf", path, "-C", "extracted"],
                   stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False,
                   env={**os.environ, "LC_ALL": "C.UTF-8"})
    return read_directory("extracted")


READERS = {"t": lambda path: read_by("tar", path), "b": lambda path: read_by("bsdtar", path),
           "p": read_by_tarfile}


def is_missing(letter):
    """bsdtar may be; but not where every test has to run."""
    if letter != "b" or shutil.which("bsdtar"):
        return False
    if os.environ.get("CI") == "true" or os.environ.get("GRANARY_REQUIRE_ALL"):
        sys.exit("bsdtar is not there: install libarchive-tools")
    return True


def judge(name, want, letter):
    named = [w.name.rstrip(b"/") for w in want] # and not directories on the way to members
    got = sorted(g for g in READERS[letter](name + ".tar") if g[0] != "d" or g[1] in named)
    root = os.geteuid() == 0 or letter == "p"
    right = sorted(summary(w.kind, w.name, w.data, w.mtime, w.uid if root else None,
                           w.gid if root else None, w.target) for w in want)
    if got != right:
        sys.exit("%s: reader %s has %r, not %r" % (name, letter, got, right))


def volumes():
    with open("big", "wb") as f:
        f.write(b"v" * 30000)
    for form in ("gnu", "posix"):
        for tag, label in (("", []), ("-label", ["-V", "a label"])):
            files = ["volume-%s%s-%d.tar" % (form, tag, i) for i in range(1, 5)]
            subprocess.run(["tar", "--format=" + form, *label, "-cM", "-L", "20",
                            *("-f" + f for f in files), "big"], stdin=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False)
        with open("small", "wb") as f:
            f.write(b"s")
        subprocess.run(["tar", "--format=" + form, "-V", "a label", "-cf",
                        "label-%s.tar" % form, "small"], check=True)
    with open("late-volume.tar", "wb") as f:
        f.write(member(b"a", b"1") + header(b"rest", 5, b"M", magic=GNU) + pad(b"12345") + END)


def main():
    os.chdir(sys.argv[1])
    for make in (global_headers, xattr_names, strays, sparse_files, odd_fields, names,
                 padding):
        make()
    for name, data, want, readers in CASES:
        with open(name + ".tar", "wb") as f:
            f.write(data)
        with open(name + ".want", "w") as f:
            f.writelines(w.line() for w in want)
        for letter in filter(lambda r: not is_missing(r), readers):
            judge(name, want, letter)
    volumes()


if __name__ == "__main__":
    main()
