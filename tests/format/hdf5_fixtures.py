#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the HDF5 files that test_hdf5 reads, and lists what h5py reads in them.

hdf5_fixtures.py DIRECTORY writes DIRECTORY/NAME.h5 and DIRECTORY/NAME.list, whose lines
are sorted:

    d PATH                          a directory
    f PATH SIZE ADLER32             a file
    h PATH TARGET                   another name of the file TARGET
    l PATH TARGET                   a symbolic link
    g SPLIT ARRAY LABELS EXT ROWS   an array of samples
    s SPLIT ARRAY ROW SIZE ADLER32 LABEL

Files that are to be refused have a DIRECTORY/NAME.refuse instead, with a word of
the sentence in each line.
"""
import itertools
import os
import struct
import sys
import zlib

import h5py
import numpy as np
from h5py import h5d, h5f, h5p, h5s, h5t

sys.dont_write_bytecode = True
from hdf5_write import (  # noqa: E402
    MAGICS, ROWS, adler, create, opaque_of, plist_of, simple, string_of)

LABELS = ("targets", "labels", "label")
BYTES = np.random.default_rng(7).integers(0, 256, 100000, dtype="u1") // 16


# Contents as h5py reads them

def raw(dataset):
    """All bytes of a dataset, as they are in memory of the same type."""
    file_type = dataset.id.get_type()
    if dataset.shape is None:
        return b""
    count = int(np.prod(dataset.shape, dtype="u8"))
    out = np.zeros(count * file_type.get_size(), "u1")
    if out.size:
        dataset.id.read(h5s.ALL, h5s.ALL, out, mtype=file_type)
    return out.tobytes()


def is_file(dataset):
    kind = dataset.id.get_type()
    one = dataset.shape in (None, (), (1,))
    if isinstance(kind, h5t.TypeIntegerID):
        return kind.get_size() == 1 and (one or len(dataset.shape) == 1)
    if isinstance(kind, h5t.TypeStringID):
        return one and not kind.is_variable_str()
    return one and isinstance(kind, h5t.TypeOpaqueID)


def is_rows(dataset):
    kind = h5py.check_vlen_dtype(dataset.dtype)
    return kind is not None and len(dataset.shape) == 1 and kind.itemsize == 1


def list_rows(parent, name, lines):
    rows = parent[name]
    labels = next((x for x in LABELS if x in parent and
                   parent[x].shape == rows.shape and parent[x].dtype.kind in "iu"), None)
    values = parent[labels][()] if labels else [0] * len(rows)
    bodies = [bytes(row.astype(row.dtype).tobytes()) for row in rows]
    full = [body for body in bodies if body][:16]
    kinds = [next((e for e, m in MAGICS.items() if b.startswith(m)), "bin") for b in full]
    kind = next((k for k in kinds if 2 * kinds.count(k) > len(kinds)), "bin")
    split = parent.name.strip("/") or "-"
    while bodies and not bodies[-1]:  # never written
        bodies.pop()
    lines.append(f"g {split} {name} {labels or '-'} {kind} {len(bodies)}")
    for i, body in enumerate(bodies):
        lines.append(f"s {split} {name} {i} {len(body)} {adler(body)} {int(values[i])}")
    return labels


def list_group(group, lines, seen, path=""):
    used = set()
    names = sorted(group, key=lambda name: name.encode())
    for name in [n for n in names if n not in LABELS] + [n for n in LABELS if n in names]:
        link = group.get(name, getlink=True)
        full = (path + "/" + name).lstrip("/")
        if isinstance(link, h5py.SoftLink):
            target = link.path
            if ".." in target.split("/"):
                continue
            if target.startswith("/"):
                target = "../" * path.count("/") + target.lstrip("/") or "."
            lines.append(f"l {full} {target}")
            continue
        item = group[name]
        key = h5py.h5o.get_info(item.id).addr
        if isinstance(item, h5py.Group):
            if key not in seen and len(full) <= 1 << 20:
                seen[key] = full
                lines.append(f"d {full}")
                list_group(item, lines, seen, path + "/" + name)
        elif isinstance(item, h5py.Dataset) and name not in used:
            if is_rows(item):
                if key not in seen:
                    used.add(list_rows(group, name, lines))
                seen[key] = full
            elif is_file(item) and key in seen:
                lines.append(f"h {full} {seen[key]}")
            elif is_file(item):
                seen[key] = full
                data = raw(item)
                lines.append(f"f {full} {len(data)} {adler(data)}")


def write_list(path):
    lines = []
    with h5py.File(path, "r") as file:
        root = h5py.h5o.get_info(file["/"].id).addr
        list_group(file["/"], lines, {root: ""})
    with open(path[:-3] + ".list", "w", encoding="utf-8") as out:
        out.write("".join(line + "\n" for line in sorted(lines, key=str.encode)))


# Contents of the files

def write_encodings(file):
    """Each encoding of a file, and sizes around the limits of each."""
    compact = plist_of(layout=h5d.COMPACT)
    scalar = h5s.create(h5s.SCALAR)
    for n in (0, 1, 100, 4096, 70000):
        data = BYTES[:n].tobytes()
        file.create_dataset(f"contiguous/u{n}", data=np.frombuffer(data, "u1"))
        file.create_dataset(f"contiguous/i{n}", data=np.frombuffer(data, "i1"))
        if 0 < n < 60000:
            create(file, f"compact/u{n}", h5t.STD_U8LE, simple(n), compact, data)
            create(file, f"compact/s{n}", string_of(n, h5t.STR_NULLPAD), scalar, compact, data)
        if n:
            tail = data[:-1] + b"\0"
            for pad in (h5t.STR_NULLTERM, h5t.STR_NULLPAD, h5t.STR_SPACEPAD):
                create(file, f"string/s{n}-{pad}", string_of(n, pad), scalar, None, tail)
            create(file, f"opaque/o{n}", opaque_of(n), scalar, None, tail)
            create(file, f"opaque/one{n}", opaque_of(n), simple(1), None, tail)
    create(file, "null/u", h5t.STD_U8LE, h5s.create(h5s.NULL))
    create(file, "null/o", opaque_of(10), h5s.create(h5s.NULL))
    create(file, "null/s", string_of(10, h5t.STR_NULLPAD), h5s.create(h5s.NULL))
    create(file, "one/u", h5t.STD_I8BE, scalar, None, b"\xfe")
    create(file, "zz-bytes-that-are-no-labels/label", h5t.STD_U8LE, simple(3), None, b"abc")
    file.require_group("empty/directory")
    file["committed"] = np.dtype("f8")


def write_chunks(file):
    """All combinations of filters, whole chunks and partial ones, and growth."""
    combinations = itertools.product((False, True), (False, True), (False, True))
    for gzip, shuffle, fletcher in combinations:
        name = f"z{gzip:d}s{shuffle:d}f{fletcher:d}"
        for n, chunk in ((0, 10), (1, 1), (1000, 100), (1001, 100), (99, 100), (50000, 4096)):
            file.create_dataset(f"{name}/{n}-{chunk}", data=BYTES[:n], chunks=(chunk,),
                                maxshape=(None,) if n % 2 or n < chunk else None,
                                compression="gzip" if gzip else None,
                                shuffle=shuffle, fletcher32=fletcher)
    string = plist_of(chunk=(1,), deflate=6)
    create(file, "string", string_of(500, h5t.STR_NULLPAD), simple(1), string,
           BYTES[:500].tobytes())
    grown = file.create_dataset("grown", (10,), "u1", chunks=(64,), maxshape=(None,))
    for n in (100, 1000, 5000):
        grown.resize((n,))
        grown[n // 2:] = BYTES[n // 2:n]
    wild = file.create_dataset("wild", (64 * 200,), "u1", chunks=(64,), compression="gzip")
    for i in np.random.default_rng(3).permutation(200):
        wild[i * 64:i * 64 + 64] = BYTES[i * 64:i * 64 + 64]
    edges = plist_of(chunk=(100,), deflate=6)
    if hasattr(edges, "set_chunk_opts"):
        edges.set_chunk_opts(1)
    create(file, "edges", h5t.STD_U8LE, simple(950), edges, BYTES[:950].tobytes())


def write_masks(file):
    """Chunks that skipped filters: the first, the last, all."""
    steps = (lambda b: zlib.compress(b), )
    for name, mask in (("none", 0), ("all", 1)):
        dataset = file.create_dataset(f"deflate-{name}", (1000,), "u1", chunks=(100,),
                                      compression="gzip")
        for i in range(10):
            body = BYTES[i * 100:i * 100 + 100].tobytes()
            skip = mask and i % 2
            dataset.id.write_direct_chunk((i * 100,), body if skip else steps[0](body),
                                          mask if skip else 0)
    both = file.create_dataset("shuffle-deflate", (250,), "u1", chunks=(100,),
                               compression="gzip", shuffle=True)
    body = BYTES[:100].tobytes()
    both.id.write_direct_chunk((0,), zlib.compress(body), 0)
    both.id.write_direct_chunk((100,), body, 2)
    both.id.write_direct_chunk((200,), body, 3)


def write_fills(file):
    """What was never written, wholly and in part."""
    for fill in (None, 0, 7, 255):
        name = f"fill-{fill}"
        file.create_dataset(f"{name}/contiguous", (70001,), "u1", fillvalue=fill)
        file.create_dataset(f"{name}/chunked", (70001,), "u1", chunks=(1000,), fillvalue=fill)
        part = file.create_dataset(f"{name}/part", (70001,), "u1", chunks=(1000,),
                                   fillvalue=fill, compression="gzip")
        part[5000:9500] = BYTES[5000:9500]
        part[70000:] = [1]
        file.create_dataset(f"{name}/gap", (9000,), "i1", chunks=(100,), fillvalue=fill and 5)[
            8000:8100] = BYTES[:100].view("i1")
    create(file, "opaque", opaque_of(300), h5s.create(h5s.SCALAR))


def write_links(file):
    file["a/file"] = BYTES[:1000]
    file["a/hard"] = file["a/file"]
    file["b/hard"] = file["a/file"]
    file["a/loop"] = file["a"]
    file["b/to-root"] = file["/"]
    file["b/soft"] = h5py.SoftLink("/a/file")
    file["b/c/soft"] = h5py.SoftLink("/a/file")
    file["b/c/root"] = h5py.SoftLink("/")
    file["root"] = h5py.SoftLink("/")
    file["b/relative"] = h5py.SoftLink("c/soft")
    file["dangling"] = h5py.SoftLink("/nothing/here")
    file["a/\u00e9\u4e2d"] = BYTES[:10]
    for i in range(300):
        file[f"many/{i:03d}"] = BYTES[i:i + i]
    file["label"] = BYTES[:3]


def encoded(n, seed, kind="jpg"):
    body = np.random.default_rng(seed).integers(0, 256, n, dtype="u1").tobytes()
    return np.frombuffer((MAGICS[kind] + body)[:n], "u1")


def write_course(file):
    """As the course's script does: row by row, of each size."""
    sizes = {"small": [30, 50, 0, 700, 3000], "large": [5000, 9000, 4065, 4064],
             "mixed": [10, 5000, 0, 4050, 4064, 4080, 100, 20000, 0, 1]}
    for split, pattern in sizes.items():
        group = file.create_group(split)
        n = 101
        images = group.create_dataset("images", (n,), dtype=ROWS)
        targets = group.create_dataset("targets", (n,), dtype="int16")
        for i in range(n):
            if i != 5:
                images[i] = encoded(pattern[i % len(pattern)], i)
            targets[i] = i * 7 % 10 - 2


def rewrite(file):
    """Rows of write_course, written again and appended elsewhere."""
    for split in ("small", "mixed"):
        images = file[split]["images"]
        for i, n in ((3, 40), (4, 3000), (50, 1), (51, 6000), (52, 0)):
            images[i] = encoded(n, 1000 + i)
    late = file.create_dataset("late/images", (40,), dtype=ROWS, maxshape=(None,),
                               chunks=(8,))
    for i in range(40):
        late[i] = encoded(20 + i, i, "png")
    late.resize((45,))
    late[44] = encoded(99, 44, "png")


def write_tables(file):
    """Tables of descriptors in chunks, filtered or not, and all kinds of labels."""
    kinds = {"plain": {}, "gzip": {"compression": "gzip"},
             "all": {"compression": "gzip", "shuffle": True},
             "shuffle": {"shuffle": True}}
    labels = {"plain": ("targets", ">i2"), "gzip": ("labels", "i8"), "all": ("label", "u1"),
              "shuffle": ("targets", "f4")}
    for chunk in (1, 7, 100):
        for kind, filters in kinds.items():
            group = file.create_group(f"{kind}/{chunk}")
            images = group.create_dataset("data", (50,), dtype=ROWS, chunks=(chunk,), maxshape=(None,),
                                          **filters)
            name, dtype = labels[kind]
            group.create_dataset(name, data=(np.arange(50) + (dtype == "f4") / 2).astype(dtype),
                                 chunks=(9,) if chunk == 7 else None)
            for i in range(50):
                if i % 10 != 3:
                    images[i] = encoded(30 * i, i, "bin" if kind == "shuffle" else "jpg")
    file.create_dataset("signed", (3,), dtype=h5py.vlen_dtype(np.int8))[1] = np.int8([-1, 5])
    file.create_dataset("labels", data=np.arange(9.) + .5)
    file.create_dataset("none", (0,), dtype=ROWS)
    file.create_dataset("unwritten", (12,), dtype=ROWS)
    file.create_dataset("unwritten-chunks", (12,), dtype=ROWS, chunks=(5,))
    file["again"] = file["unwritten"]


def write_wild(file):
    """Small rows in no order at all, over many collections."""
    images = file.create_dataset("images", (6000,), dtype=ROWS)
    for i in np.random.default_rng(5).permutation(6000):
        images[int(i)] = BYTES[i:i + 8 + i % 5]


def write_left(file):
    """What is left out, beside a file."""
    file["a/file"] = BYTES[:10]
    for name, target in (("up", "../x"), ("root", "/../x"), ("in", "/a/../../x"),
                         ("last", "b/.."), ("only", "..")):
        file[f"a/soft-{name}"] = h5py.SoftLink(target)
    file["a/dots"] = h5py.SoftLink("..b/.../b..")
    group = file
    for i in range(18):
        group = group.create_group("n" * 60000)
    file["committed"] = np.dtype("u1")


def write_busy(file):
    """Collections whose objects come and go, and move when others go."""
    images = file.create_dataset("images", (30,), dtype=ROWS)
    for i in range(30):
        images[i] = encoded(20 + i, i)
    for i in range(600):
        images[i * 7 % 30] = encoded(20 + i % 60, i)


CONTENTS = {"wild": write_wild, "left": write_left, "encodings": write_encodings, "chunks": write_chunks, "masks": write_masks,
            "fills": write_fills, "links": write_links, "course": write_course,
            "tables": write_tables, "busy": write_busy}
VERSIONS = {"earliest": ("earliest", "latest"), "v110": ("v110", "v110"),
            "latest": ("latest", "latest")}
BLOCKS = {"earliest": (0, 512), "v110": (0,), "latest": (1024,)}


# Files that are refused

def refuse_external_link(file):
    file["here/there"] = h5py.ExternalLink("other.h5", "/x")
    return "'/here/there'", "another file", "h5copy"


def with_filter(file, name, file_type, space, number, chunk):
    """A dataset with a filter that no library here has."""
    plist = plist_of(chunk=(chunk,))
    plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL, ())
    dataset = create(file, name, file_type, space, plist)
    dataset.write_direct_chunk((0,), b"packed", 0)


def refuse_bitshuffle(file):
    with_filter(file, "a/b", h5t.STD_U8LE, simple(100), 32008, 50)
    return "'/a/b'", "32008", "h5repack"


def refuse_bitshuffle_rows(file):
    with_filter(file, "a/rows", h5t.vlen_create(h5t.STD_U8LE), simple(10), 32008, 5)
    return "'/a/rows'", "32008", "h5repack"


def refuse_external_data(file):
    file.create_dataset("raw", (100,), "u1", external=[("raw.bin", 0, 100)])
    return "'/raw'", "another file", "h5repack"


def refuse_virtual(file):
    layout = h5py.VirtualLayout((100,), "u1")
    layout[:] = h5py.VirtualSource("other.h5", "x", (100,))
    file.create_virtual_dataset("made", layout)
    return "'/made'", "virtual", "h5repack"


def refuse_floats(file):
    file.create_dataset("x/pressure", data=np.zeros((10, 784), "f4"))
    file.create_dataset("y", data="text")
    return "'/x/pressure' (32-bit float, 10 x 784)", "'/y'", "one-dimensional"


def refuse_empty(file):
    file.create_group("nothing")
    return "no dataset",


def refuse_many_missing(file):
    big = file.create_dataset("big", (1 << 40,), "u1", chunks=(1,))
    big[5] = 1
    return "'/big'", "never written", "h5repack"


def refuse_unwritten_rows(file):
    file.create_dataset("rows", (1 << 40,), dtype=ROWS, chunks=(5,))
    return "'/rows'", "never written"


def refuse_unwritten_in_all(file):
    for name in "abc":
        file.create_dataset(name, (500000,), dtype=ROWS)
    return "'/c'", "never written", "smaller"


def refuse_empty_rows(file):
    rows = file.create_dataset("rows", (1 << 21,), dtype=ROWS, chunks=(1 << 21,),
                               compression="gzip")
    rows[0] = encoded(10, 0)
    return "'/rows'", "never written", "smaller"


def refuse_fill_in_all(file):
    for name in "abc":
        file.create_dataset(name, (400 << 20,), "u1", fillvalue=7)
    return "'/c'", "fill value", "h5repack"


def refuse_fill_in_chunks(file):
    big = file.create_dataset("big", (1 << 34,), "u1", chunks=(1 << 20,), fillvalue=7,
                              compression="gzip")
    big[5] = 1
    return "'/big'", "fill value", "h5repack"


def refuse_paths(file):
    group = file
    for _ in range(10):
        group = group.create_group("n" * 60000)
    group["file"] = BYTES[:5]
    for i in range(300):
        group[f"link{i}"] = group["file"]
    return "paths", "in all"


def labelled(file, name="targets"):
    """A group whose rows want labels."""
    rows = file.create_dataset("g/images", (4,), dtype=ROWS)
    rows[0] = encoded(10, 0)
    return "g/" + name


def refuse_labels_elsewhere(file):
    file.create_dataset(labelled(file), (4,), "i8", external=[("raw.bin", 0, 32)])
    return "'/g/targets'", "another file", "h5repack"


def refuse_labels_virtual(file):
    layout = h5py.VirtualLayout((4,), "i8")
    layout[:] = h5py.VirtualSource("other.h5", "x", (4,))
    file.create_virtual_dataset(labelled(file, "label"), layout)
    return "'/g/label'", "virtual", "h5repack"


def refuse_labels_large(file):
    file[labelled(file)] = np.array([2**63, 2**63 - 1, 1, 2**64 - 1], "u8")
    return "'/g/images'", "'targets'", "9223372036854775807"


def refuse_labels_chunk(file):
    file.create_dataset(labelled(file, "labels"), (4,), "i4", maxshape=(None,),
                        chunks=((16 << 20) + 1,), compression="gzip")
    return "'/g/images'", "'labels'", "64 MiB", "h5repack"


def refuse_deep(file):
    file.create_dataset("d/" * 140 + "f", data=BYTES[:5])
    return "deeper",


REFUSED = {name[7:]: f for name, f in list(globals().items()) if name.startswith("refuse_")}


def write_small_addresses(path):
    plist = h5p.create(h5p.FILE_CREATE)
    plist.set_sizes(4, 4)
    with h5py.File(h5f.create(path.encode(), h5f.ACC_TRUNC, plist)) as file:
        file.create_dataset("tree/f", data=BYTES[:99])
        file.create_dataset("tree/g", data=BYTES[:99], chunks=(10,), compression="gzip")
    write_list(path)
    with h5py.File(h5f.create(b"addresses.h5", h5f.ACC_TRUNC, plist)) as file:
        file.create_dataset("rows", (3,), dtype=ROWS)[0] = [1, 2]
    with open("addresses.refuse", "w", encoding="utf-8") as out:
        out.write("'/rows'\n4\nh5repack\n")


def write_wrong_counts(path):
    """Links that their object's header does not count."""
    with h5py.File(path, "w", libver="earliest") as file:
        file["a/first"] = BYTES[:100]
        for i in range(5):
            file[f"a/link{i}"] = file["a/first"]
        address = h5py.h5o.get_info(file["a/first"].id).addr
    write_list(path)
    with open(path, "r+b") as file:
        file.seek(address + 4)
        assert file.read(4) == b"\6\0\0\0"
        file.seek(address + 4)
        file.write(b"\1\0\0\0")


def write_wrong_names(path):
    """Names that no file can have."""
    with h5py.File(path, "w", libver="earliest") as file:
        file["file"] = BYTES[:10]
    write_list(path)
    with h5py.File(path, "r+", libver="earliest") as file:
        file["../up"] = BYTES[:10]
        file["aa-bb/soft"] = h5py.SoftLink("/file")
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data.replace(b"aa-bb\0", b"aa/bb\0"))


def tree_node(level, keys, child):
    """A node of a group's B-tree (version 1) that has one child 32 times."""
    node = b"TREE" + struct.pack("<BBHQQ", 0, level, 32, 2**64 - 1, 2**64 - 1)
    node += keys[0] + struct.pack("<Q", child)
    return node + 31 * (keys[1] + struct.pack("<Q", child)) + keys[1]


def write_circles(path):
    """A group of eight names, whose index leads to them 32^4 times."""
    with h5py.File(path, "w", libver="earliest") as file:
        for i in range(8):
            file[f"f{i}"] = BYTES[:5]
    with open(path, "rb") as file:
        data = file.read()
    leaf = data.index(b"TREE\0")
    keys, child = (data[leaf + 24:leaf + 32], data[leaf + 40:leaf + 48]), leaf
    nodes = b""
    for level in range(1, 5):
        top = len(data) + len(nodes)
        nodes += tree_node(level, keys, child).ljust(544, b"\0")
        child = top
    address = struct.pack("<Q", leaf)
    data = data[:leaf].replace(address, struct.pack("<Q", child)) + data[leaf:] + nodes
    data = data[:40] + struct.pack("<Q", len(data)) + data[48:]
    with open(path, "wb") as file:
        file.write(data)
    with open("circles.refuse", "w", encoding="utf-8") as out:
        out.write("more links\n")


def write_shared_chunks(path):
    """Datasets that all point to the chunks of one of them."""
    layout = b"\3\2\2"  # of chunks in a B-tree: its address follows
    with h5py.File(path, "w", libver="earliest") as file:
        for name in "abcde":
            create(file, name, h5t.STD_U8LE, simple(50000), plist_of(chunk=(500,)))
        file["c"][:] = 255
    with open(path, "rb") as file:
        parts = file.read().split(layout)
    assert len(parts) == 6
    tree, = {part[:8] for part in parts[1:]} - {b"\xff" * 8}
    with open(path, "wb") as file:
        file.write(parts[0] + b"".join(layout + tree + part[8:] for part in parts[1:]))
    with open(path[:-3] + ".refuse", "w", encoding="utf-8") as out:
        out.write("same bytes\ncopy\n")


def main():
    os.chdir(sys.argv[1])
    for name, write in CONTENTS.items():
        for version, bounds in VERSIONS.items():
            for block in BLOCKS[version]:
                path = f"{name}-{version}-{block}.h5"
                with h5py.File(path, "w", libver=bounds, userblock_size=block) as file:
                    write(file)
                if name == "course":
                    with h5py.File(path, "r+", libver=bounds) as file:
                        rewrite(file)
                write_list(path)
    write_small_addresses("small.h5")
    write_wrong_counts("counts.h5")
    write_circles("circles.h5")
    write_shared_chunks("shared.h5")
    write_wrong_names("names.h5")
    for name, write in REFUSED.items():
        with h5py.File(f"{name}.h5", "w") as file:
            words = write(file)
        with open(f"{name}.refuse", "w", encoding="utf-8") as out:
            out.write("".join(word + "\n" for word in words))


if __name__ == "__main__":
    main()
