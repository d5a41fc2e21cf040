#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the archives that test_tar reads, and lists what is in them.

tar_fixtures.py DIRECTORY writes DIRECTORY/NAME.tar and, where tarfile is a judge of
the contents, DIRECTORY/NAME.list. A line of a list is: kind, mode, mtime, size,
Adler-32 of the contents, name and target (both in hex).
"""
import io
import os
import random
import shutil
import subprocess
import sys
import tarfile
import unicodedata
import zlib

NFD = unicodedata.normalize("NFD", "café")
GNU_TAR = ["tar", "--sort=name", "--owner=7", "--group=8"]


def sparse(name, size, pieces):
    with open(name, "wb") as f:
        for offset, data in pieces:
            f.seek(offset)
            f.write(data)
        f.truncate(size)


def make_plain(directory):
    os.makedirs(directory + "/sub/empty-directory")
    for i, size in enumerate([0, 1, 511, 512, 513, 5000, 70000, 300000]):
        name = f"{directory}/sub/{size}.bin"
        with open(name, "wb") as f:
            f.write(bytes([65 + i]) * size)
        os.chmod(name, [0o644, 0o600, 0o755, 0o444][i % 4])
        os.utime(name, (0, 1600000000 + i))
    os.symlink("sub/5000.bin", directory + "/link")
    os.link(directory + "/sub/513.bin", directory + "/sub/zz-hard")


def make_rich(directory):
    make_plain(directory)
    deep = directory + "/" + "/".join(["d" * 60] * 4)
    os.makedirs(deep)
    for name in ["n" * 150, "short"]:
        with open(f"{deep}/{name}", "w") as f:
            f.write(name)
    os.symlink("t" * 180, directory + "/long-link")
    os.link(f"{deep}/short", directory + "/hard-to-deep")
    for raw in ["café".encode(), NFD.encode(), b"latin-\xe9\xff", b"new\nline"]:
        with open(os.fsencode(directory) + b"/" + raw, "wb") as f:
            f.write(raw)
    os.symlink(b"to-\xff\xe9", os.fsencode(directory) + b"/raw-link")
    os.mkfifo(directory + "/pipe")
    for i, ns in enumerate([-1500000000, -500000000, -3000000000, 1,
                            2**33 * 10**9 + 5, 1234567890123456789]):
        with open(f"{directory}/time-{i}", "w") as f:
            f.write("t")
        os.utime(f"{directory}/time-{i}", ns=(0, ns))


def make_sparse(directory):
    os.makedirs(directory)
    m = 1 << 20
    sparse(f"{directory}/a-all-hole", m, [])
    sparse(f"{directory}/b-starts-with-hole", m, [(m - 4096, b"E" * 4096)])
    sparse(f"{directory}/c-ends-with-hole", m, [(0, b"B" * 4096)])
    sparse(f"{directory}/d-middle", 300001, [(65536, b"M" * 5000), (200000, b"N" * 99)])
    sparse(f"{directory}/e-many", 8192 * 200,
           [(i * 8192, b"%04d" % i * 1024) for i in range(200)])
    sparse(f"{directory}/f-odd-end", 100001, [(98304, b"Z" * 1697)])
    with open(f"{directory}/g-not-sparse", "wb") as f:
        f.write(b"p" * 5000)


def add(tar, name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    info.mtime = 1000
    for key, value in fields.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data))


def with_tarfile(name, form, names=()):
    with tarfile.open(name, "w", format=form, encoding="utf-8",
                      errors="surrogateescape") as tar:
        add(tar, "././dot/file", b"dots")
        add(tar, "/absolute", b"root")
        add(tar, "../up", b"up")
        add(tar, "twice", b"first")
        add(tar, "twice", b"second!")
        add(tar, "contiguous", b"c" * 600, type=tarfile.CONTTYPE)
        add(tar, "unknown-type", b"u" * 600, type=b"Q")
        add(tar, "device", type=tarfile.CHRTYPE)
        for i, more in enumerate(names):
            add(tar, more, b"%d" % i)


def old_directories(name):
    """Before POSIX a slash at the end was the only sign of a directory."""
    blocks = b""
    for path in [b"old/", b"old/file"]:
        header = bytearray(512)
        data = b"" if path.endswith(b"/") else b"data"
        header[0:len(path)] = path
        header[100:108] = b"0000755\0"
        header[124:136] = b"%011o\0" % len(data)
        header[136:148] = b"%011o\0" % 1000
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        blocks += bytes(header) + data + bytes(-len(data) % 512)
    with open(name, "wb") as f:
        f.write(blocks + bytes(1024))


def adler(data):
    return zlib.adler32(data)


def exact_mtime(info):
    text = info.pax_headers.get("mtime")
    if text is None:
        return info.mtime * 10**9
    whole, _, fraction = text.partition(".")
    ns = abs(int(whole)) * 10**9 + int((fraction + "0" * 9)[:9])
    return -ns if text.startswith("-") else ns


def lines_of(path):
    with tarfile.open(path, ignore_zeros=True, encoding="utf-8",
                      errors="surrogateescape") as tar:
        for info in tar:
            kind, size, check, target = "?", 0, 0, ""
            if info.isdir():
                kind = "d"
            elif info.issym():
                kind, target = "l", info.linkname
            elif info.islnk():
                kind, target = "h", info.linkname
            elif info.isfile() or info.type not in tarfile.SUPPORTED_TYPES:
                kind, size = "f", info.size
                check = adler(tar.extractfile(info).read())
            else:
                continue
            yield "%s %03o %d %d %08x %s %s" % (
                kind, info.mode & 0o777, exact_mtime(info), size, check,
                info.name.encode("utf-8", "surrogateescape").hex(),
                target.encode("utf-8", "surrogateescape").hex())


def header_bytes(name, size=0, kind=b"0", form=tarfile.GNU_FORMAT, **fields):
    info = tarfile.TarInfo(name)
    info.size = size
    info.type = kind
    for key, value in fields.items():
        setattr(info, key, value)
    return info.tobuf(form, "utf-8", "surrogateescape")


def make_huge(name, form):
    """A member of 9 GiB in a file that holds little more than its headers."""
    size = 9 << 30
    with open(name, "wb") as f:
        f.write(header_bytes("big", size, form=form))
        f.seek(size, 1)
        f.write(header_bytes("after", 5, form=form) + b"after".ljust(512, b"\0"))
        f.write(bytes(1024))


def fix_checksum(header):
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def make_hostile():
    def size_field(field):
        header = bytearray(header_bytes("hostile", 0))
        header[124:136] = field
        return fix_checksum(header) + bytes(2048)

    yield "size-max-octal", size_field(b"777777777777")
    yield "size-max-256", size_field(b"\x80" + bytes(3) + b"\x7f" + b"\xff" * 7)
    yield "size-too-big", size_field(b"\x80" + b"\x7f" * 11)
    yield "size-negative", size_field(b"\xff" * 12)
    yield "size-nonsense", size_field(b"elephants!!!")
    header = bytearray(header_bytes("x", 0))
    header[0:100] = bytes(100)
    yield "no-name", fix_checksum(header) + bytes(1024)
    for record in [b"13 path=a\0b\n", b"99999999 path=x\n", b"0 x=y\n",
                   b"9 mtime=\n", b"20 GNU.sparse.map=5\n", b"25 size=-5\n",
                   b"30 GNU.sparse.realsize=" + b"9" * 6 + b"\n",
                   b"37 GNU.sparse.map=0,512,100,900,50,60\n",
                   b"28 size=9223372036854775807\n"]:
        body = record.ljust(512, b"\0")
        yield ("pax-%d" % zlib.crc32(record),
               header_bytes("h", len(record), b"x", tarfile.USTAR_FORMAT) + body +
               header_bytes("victim", 1024, form=tarfile.USTAR_FORMAT) +
               bytes(1024) + bytes(1024))
    yield ("many-headers", header_bytes("l", 512, b"L") * 1 +
           (bytes([97]) * 512 + header_bytes("l", 512, b"L")) * 200)
    yield ("long-name", header_bytes("l", 2 << 20, b"L") + b"a" * (2 << 20) +
           header_bytes("short", 0) + bytes(1024))
    yield ("sparse-beyond", sparse_header(1 << 20, [(0, 512), (1 << 32, 512)]))
    yield ("sparse-overlap", sparse_header(4096, [(0, 1024), (512, 1024)]))
    yield ("sparse-too-much", sparse_header(1 << 20, [(0, 1 << 19)]))
    yield ("sparse-backwards", sparse_header(1 << 20, [(4096, 512), (0, 512)]))


def sparse_header(real, pieces):
    header = bytearray(header_bytes("sparse", 1024, b"S"))
    header[257:265] = b"ustar  \0"
    for i, (offset, length) in enumerate(pieces):
        header[386 + 24 * i:410 + 24 * i] = b"%011o\0%011o\0" % (offset, length)
    header[483:495] = b"%011o\0" % real
    return fix_checksum(header) + b"s" * 1024 + bytes(1024)


def run(*arguments, cwd="."):
    subprocess.run(GNU_TAR + list(arguments), check=True, cwd=cwd,
                   env={**os.environ, "LC_ALL": "C"})


def make_listed():
    make_plain("plain")
    make_rich("rich")
    make_sparse("sparse")
    for form in ["v7", "ustar", "gnu", "posix"]:
        run(f"--format={form}", "-cf", f"plain-{form}.tar", "plain")
    for form in ["gnu", "posix"]:
        run(f"--format={form}", "-cf", f"rich-{form}.tar", "-C", "rich", ".")
        run(f"--format={form}", "-S", "-cf", f"rich-sparse-{form}.tar", "rich")
    run("--format=gnu", "-S", "-cf", "sparse-gnu.tar", "sparse")
    for version in ["0.0", "0.1", "1.0"]:
        run("--format=posix", "-S", f"--sparse-version={version}", "-cf",
            f"sparse-{version}.tar", "sparse")
    with_tarfile("python-ustar.tar", tarfile.USTAR_FORMAT,
                 ["p" * 90 + "/" + "n" * 90, "caf\udce9"])
    with_tarfile("python-gnu.tar", tarfile.GNU_FORMAT, ["n" * 400, "caf\udce9", NFD])
    with_tarfile("python-pax.tar", tarfile.PAX_FORMAT,
                 ["n" * 400, "caf\udce9", NFD, "café"])
    old_directories("old-directories.tar")
    with open("concatenated.tar", "wb") as out:
        for part in ["plain-v7", "sparse-1.0", "python-pax", "rich-gnu"]:
            with open(part + ".tar", "rb") as f:
                out.write(f.read())
    for program, forms in [("bsdtar", ["pax", "gnutar", "ustar", "v7"]),
                           ("busybox", [None])]:
        if is_there(program):
            for form in forms:
                by_others(program, form)
    for seed in range(4):
        make_mixed("mixed-%d.tar" % seed, seed)
    with open("no-end-marker.tar", "wb") as out:
        out.write(header_bytes("only", 512) + b"x" * 512)


def is_there(program):
    """Another tar may be missing; but not where every test has to run."""
    if shutil.which(program):
        return True
    if os.environ.get("CI") == "true" or os.environ.get("GRANARY_REQUIRE_ALL"):
        sys.exit(program + " is not there: see tools/lib/setup.sh")
    return False


def by_others(program, form):
    """What cannot be said in a format, such as a long name, the program leaves out."""
    command = [program, "tar"] if program == "busybox" else [program, "--format=" + form]
    subprocess.run([*command, "-cf", "%s-%s.tar" % (program, form), "rich", "plain"],
                   stderr=subprocess.DEVNULL, check=False,
                   env={**os.environ, "LC_ALL": "C.UTF-8"})


def make_mixed(name, seed):
    """Runs of members with plain headers, of all lengths, between others."""
    rng = random.Random(seed)
    forms = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
    number = 0
    with open(name, "wb") as f:
        for _ in range(40):
            form, long = rng.choice(forms), rng.random() < 0.3
            for _ in range(rng.choice([1, 1, 2, 5, 40])):
                path = "%s/%d" % ("d" * (120 if long else 9), number)
                number += 1
                data = rng.randbytes(rng.choice([0, 1, 511, 512, 3000, 40000]))
                mtime = number + (0.5 if rng.random() < 0.02 else 0)
                f.write(header_bytes(path, len(data), form=form, mtime=mtime,
                                     uid=rng.choice([0, 1000, 3000000])
                                     if form != tarfile.USTAR_FORMAT else 7))
                f.write(data + bytes(-len(data) % 512))
            f.write(header_bytes("link-%d" % number, 0, tarfile.SYMTYPE, linkname="x"))
        f.write(bytes(1024))


def make_small():
    """What the tests cut and flip; and members that tarfile does not judge."""
    for form, name in [(tarfile.USTAR_FORMAT, "ustar"), (tarfile.GNU_FORMAT, "gnu"),
                       (tarfile.PAX_FORMAT, "pax")]:
        with tarfile.open(f"small-{name}.tar", "w", format=form) as tar:
            add(tar, "one", b"1" * 700)
            add(tar, "two" * 40 if name != "ustar" else "two", b"2" * 3)
            add(tar, "three", type=tarfile.SYMTYPE, linkname="one")
            add(tar, "four", b"4" * 40000)
    run("--format=posix", "-S", "-cf", "small-sparse.tar", "sparse/d-middle",
        "sparse/c-ends-with-hole", "plain/link")
    run("--format=gnu", "-S", "-cf", "small-sparse-gnu.tar", "sparse/d-middle",
        "sparse/e-many", "plain/link")


def make_special():
    with open("special.tar", "wb") as f:
        f.write(header_bytes("a label", 0, b"V"))
        f.write(header_bytes("dumpdir/", 9, b"D") + b"Yfile\0\0\0\0".ljust(512, b"\0"))
        f.write(header_bytes("fifo", 0, b"6") + header_bytes("block", 0, b"4"))
        f.write(header_bytes("last", 4) + b"last".ljust(512, b"\0") + bytes(1024))
    with tarfile.open("xattrs.tar", "w", format=tarfile.PAX_FORMAT) as tar:
        add(tar, "few", b"x", pax_headers={
            "SCHILY.xattr.user.binary": "a\0b\nc=d", "SCHILY.xattr.user.text": "t",
            "SCHILY.xattr.security.selinux": "no", "SCHILY.xattr.user.": "no",
            "LIBARCHIVE.xattr.user.base64": "AAEC",
            "SCHILY.xattr.trusted.overlay.opaque": "no", "path": "few" + "w" * 200})
        add(tar, "bomb", b"x", pax_headers={
            f"SCHILY.xattr.user.{i:05}": "v" * 30 for i in range(5000)})
        add(tar, "big", b"x", pax_headers={
            "SCHILY.xattr.user.big": "v" * 65537, "SCHILY.xattr.user.fits": "v" * 65536})
    with tarfile.open("nested.tar", "w") as tar:
        for name, data in [("a/train.tar", b"t" * 1000), ("b/UPPER.TAR", b"u" * 10),
                           ("plain.txt", b"p"), (".tar", b"x"), ("d/.tar", b"x"),
                           ("empty.tar", b""), ("refused.tar", b"r" * 5)]:
            add(tar, name, data)
        add(tar, "directory.tar", type=tarfile.DIRTYPE)
        add(tar, "link.tar", type=tarfile.SYMTYPE, linkname="x.tar")
    sparse("holes.tar", 1 << 20, [(4096, b"x" * 4096)])
    run("--format=posix", "-S", "-cf", "nested-sparse.tar", "holes.tar")
    os.unlink("holes.tar")
    make_huge("huge-gnu.tar", tarfile.GNU_FORMAT)
    make_huge("huge-pax.tar", tarfile.PAX_FORMAT)
    for name, data in make_hostile():
        with open(f"hostile-{name}.tar", "wb") as f:
            f.write(data)


def main():
    os.chdir(sys.argv[1])
    make_listed()
    for name in sorted(os.listdir(".")):
        if name.endswith(".tar"):
            with open(name[:-4] + ".list", "w") as f:
                f.writelines(line + "\n" for line in lines_of(name))
    make_small()
    make_special()


if __name__ == "__main__":
    main()
