# SPDX-License-Identifier: GPL-3.0-or-later
"""Packed files that rot under a mount, block by block.

    rot.py tree TREE                 makes files of many sizes
    rot.py hdf5 TREE OUT.h5          the same as datasets in chunks, with lzf
    rot.py flip GRANARY ARCHIVE TREE DIRECTORY SHARE
                                     one byte of each file, so far into it (0 to 1), where it
                                     is stored; size and times stay. A second time it is as
                                     before. The tree lies in that directory of the archive
    rot.py read TREE MOUNT MOST [small]
                                     from storage, and compares with the tree: prints the
                                     files that have errors. It fails where a byte is another
                                     one, or a file has more than MOST such blocks; small: in
                                     pieces of 4 KiB with O_DIRECT, from the last to the first
    rot.py verified GRANARY ARCHIVE DIRECTORY
                                     prints the files of that directory that are damaged
"""
import errno
import json
import mmap
import os
import random
import subprocess
import sys

BLOCK = 128 << 10
SIZES = (1, 3000, 40000, BLOCK - 1, BLOCK, BLOCK + 1, 300000, 3900001, 6 << 20, 20000001)


def files(tree: str) -> list[str]:
    found = [os.path.relpath(os.path.join(directory, name), tree)
             for directory, _, names in os.walk(tree) for name in names]
    return sorted(found)


def make_tree(tree: str) -> None:
    os.makedirs(os.path.join(tree, "d"))
    for number, size in enumerate(SIZES):
        # what compresses, but not to nothing
        text = random.Random(number).randbytes(size // 2 + 1).hex()
        with open(os.path.join(tree, "d", f"{number}-{size}"), "w") as file:
            file.write(text[:size])


def make_hdf5(tree: str, out: str) -> None:
    import h5py
    import numpy

    with h5py.File(out, "w") as file:
        for path in files(tree):
            data = numpy.fromfile(os.path.join(tree, path), dtype="uint8")
            file.create_dataset(path, data=data, chunks=(min(len(data), 100000),),
                                compression="lzf")


def place(granary: str, archive: str, path: str, share: float) -> int:
    """Where a byte is stored, or the middle of the chunk that holds it."""
    said = json.loads(subprocess.run([granary, "stat", "--json", archive, path], check=True,
                                     capture_output=True).stdout)
    at = int((said["size"] - 1) * share)
    for piece in said["places"]:
        begin = piece["file_offset"]
        if begin <= at < begin + piece["length"]:
            if piece.get("codecs"):
                return piece["offset"] + piece["stored"] // 2
            return piece["offset"] + piece.get("chunk_offset", 0) + at - begin
    sys.exit(f"{path}: byte {at} is stored nowhere")


def places(granary: str, archive: str, tree: str, directory: str, share: float) -> list[int]:
    """Those of before where there are any: commands may refuse what is damaged by now."""
    kept = archive + ".places"
    if os.path.exists(kept):
        with open(kept) as file:
            found = json.load(file)
        os.unlink(kept)
        return found
    # several files may be in one chunk
    found = sorted({place(granary, archive, os.path.join(directory, path), share)
                    for path in files(tree)})
    with open(kept, "w") as file:
        json.dump(found, file)
    return found


def flip(granary: str, archive: str, tree: str, directory: str, share: float) -> None:
    before = os.stat(archive)
    found = places(granary, archive, tree, directory, share)
    with open(archive, "r+b", buffering=0) as file:
        for at in found:
            byte = os.pread(file.fileno(), 1, at)[0]
            os.pwrite(file.fileno(), bytes([byte ^ 1]), at)
    os.utime(archive, ns=(before.st_atime_ns, before.st_mtime_ns))


def read_piece(fd: int, at: int, length: int) -> bytes | None:
    """None: EIO."""
    out = b""
    buffer = mmap.mmap(-1, length)
    while len(out) < length:
        try:
            n = os.preadv(fd, [memoryview(buffer)[len(out):length]], at + len(out))
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return None
        if n == 0:
            break
        out += buffer[len(out):len(out) + n]
    return out


def bad_blocks(path: str, right: bytes, small: bool) -> set[int]:
    step = 4096 if small else BLOCK
    fd = os.open(path, os.O_RDONLY | (os.O_DIRECT if small else 0))
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    bad = set()
    for at in sorted(range(0, len(right), step), reverse=small):
        got = read_piece(fd, at, step)
        if got is None:
            bad.add(at // BLOCK)
        elif got != right[at:at + step]:
            sys.exit(f"{path}: wrong bytes at {at}")
    os.close(fd)
    return bad


def read(tree: str, mount: str, most: int, small: bool) -> None:
    for path in files(tree):
        with open(os.path.join(tree, path), "rb") as file:
            right = file.read()
        bad = bad_blocks(os.path.join(mount, path), right, small)
        if bad and max(bad) - min(bad) >= most:
            sys.exit(f"{path}: more is refused than was damaged: blocks {sorted(bad)}")
        if bad:
            print(path)


def verified(granary: str, archive: str, directory: str) -> None:
    done = subprocess.run([granary, "verify", "-q", "--json", archive], check=False,
                          capture_output=True)
    for path in sorted({finding["path"] for finding in json.loads(done.stdout)["findings"]}):
        if path.startswith(os.path.join(directory, "d", "")):
            print(os.path.relpath(path, directory or "."))


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "tree":
        make_tree(*rest)
    elif what == "hdf5":
        make_hdf5(*rest)
    elif what == "flip":
        flip(*rest[:4], float(rest[4]))
    elif what == "read":
        read(rest[0], rest[1], int(rest[2]), rest[3:] == ["small"])
    else:
        verified(*rest)


if __name__ == "__main__":
    main()
