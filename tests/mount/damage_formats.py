#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Damages a packed file in many ways, and looks at what granary makes of each.

Every field of the superblock, and a sample of all 2-, 4- and 8-byte numbers in
the rest that is not file data, become 0, -1, the number beside them and one past
the end of the file; bytes of file data are flipped; the file is cut. Of each
mutant granary must give the tree with every byte as it was, or as another reader
(unsquashfs, h5py) sees the mutant; or status 6 for a file; or one sentence
with status 2 or 3. Never a signal, a hang, or a tree in which files are missing
without a word.
"""
import argparse
import collections
import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile

import reference

SECONDS = 20
ADDRESS_SPACE = 4 << 30
PIECE = 1 << 20         # what is read of a file that claims to be huge
HUGE = 64 << 20
SHOWN = 20
UNDAMAGED = "nothing changed"

Mutant = collections.namedtuple("Mutant", "what data")
Found = collections.namedtuple("Found", "kind text")  # of one mutant; kind "" is fine


# ---- Mutants ---------------------------------------------------------------

def field_values(data, offset, width):
    """What a number becomes."""
    top = (1 << 8 * width) - 1
    beside = int.from_bytes(data[offset + width:offset + 2 * width], "little")
    yield from (0, top, beside, min(len(data) + 4096, top - 1))


def change_field(original, offset, width):
    old = int.from_bytes(original[offset:offset + width], "little")
    for value in sorted(set(field_values(original, offset, width)) - {old}):
        data = bytearray(original)
        data[offset:offset + width] = value.to_bytes(width, "little")
        yield Mutant("%d bytes at %d = %#x" % (width, offset, value), bytes(data))


def is_data(offset, width, regions):
    return any(start < offset + width and offset < end for start, end in regions)


def places(packed):
    """(offset, width) of whatever may be a number outside file data."""
    for offset in range(len(packed.data)):
        for width in (2, 4, 8):
            if offset + width <= len(packed.data) and \
                    not is_data(offset, width, packed.regions):
                yield offset, width


def sampled(rng, things, count):
    things = list(things)
    return things if count is None else rng.sample(things, min(count, len(things)))


def mutants(packed, runs):
    """`runs` places, a third as many flips and cuts, three times as many fields of
    the superblock, if there are so many; None: all of them."""
    rng = random.Random(1)
    data = packed.data
    fewer = None if runs is None else max(1, runs // 3)
    yield Mutant(UNDAMAGED, data)
    fields = [mutant for offset, width in packed.superblock
              for mutant in change_field(data, offset, width)]
    yield from sampled(rng, fields, None if runs is None else 3 * runs)
    for offset, width in sampled(rng, places(packed), runs):
        changes = list(change_field(data, offset, width))
        yield from changes if runs is None else changes[offset % 4:][:1]
    inside = [i for start, end in packed.regions for i in range(start, end)]
    for i in sampled(rng, inside[::1 if runs else 7], fewer):
        flipped = bytearray(data)
        flipped[i] ^= 1 << i % 8
        yield Mutant("flipped a bit at %d" % i, bytes(flipped))
    for size in sampled(rng, range(0, len(data), 1 if runs else 5), fewer):
        yield Mutant("cut to %d bytes" % size, data[:size])


# ---- What granary says of one ----------------------------------------------

class Granary:
    def __init__(self, program, directory, limited):
        self.program = program
        self.directory = directory
        self.limited = limited
        self.path = os.path.join(directory, "mutant")
        self.index = os.path.join(directory, "index")

    def limits(self):
        if self.limited:
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def run(self, command, *arguments, most=None):
        """(status, standard output, lines on standard error); `most` bytes of it."""
        with tempfile.TemporaryFile(dir=self.directory) as errors:
            process = subprocess.Popen(
                [self.program, *command, "-o", "index=" + self.index, self.path,
                 *arguments], stdout=subprocess.PIPE, stderr=errors,
                preexec_fn=self.limits)
            signal.alarm(SECONDS)
            try:
                out = process.stdout.read() if most is None else process.stdout.read(most)
                process.stdout.close()
                status = process.wait()
            except TimeoutError:
                process.kill()
                process.wait()
                raise
            finally:
                signal.alarm(0)
            errors.seek(0)
            return status, out, errors.read().decode(errors="replace").splitlines()

    def tree(self):
        """(status, {path: entry}, lines)"""
        if os.path.exists(self.index):
            os.unlink(self.index)
        status, out, lines = self.run(["ls", "-R", "--json"])
        entries = [json.loads(line) for line in out.splitlines()] if status == 0 else []
        return status, {e["path"].encode("utf-8", "surrogateescape"): e
                        for e in entries}, lines

    def contents(self, files):
        """{path: bytes, or None where reading fails}"""
        huge = {p for p, e in files.items() if e["size"] > HUGE}
        plain = [p for p in files if p not in huge]
        found = self.together(plain, files) if plain else {}
        for path in huge:
            found[path] = self.one(path, PIECE)
        return found

    def together(self, paths, files):
        status, out, _ = self.run(["cat"], *paths)
        check_status(status, DAMAGED)
        if status == 0 and len(out) == sum(files[p]["size"] for p in paths):
            found = {}
            for path in paths:
                found[path], out = out[:files[path]["size"]], out[files[path]["size"]:]
            return found
        return {path: self.one(path, None) for path in paths}

    def one(self, path, most):
        status, out, _ = self.run(["cat"], path, most=most)
        if most is None or status != -signal.SIGPIPE:
            check_status(status, DAMAGED)
        return out if status in (0, -signal.SIGPIPE) else None


class Wrong(Exception):
    pass


DAMAGED = 6   # what `granary cat` says of a file


def check_status(status, *more):
    if status not in (0, 2, 3) + more:
        raise Wrong("status %d" % status)


def refused(granary, status, lines):
    if len(lines) != 1:
        raise Wrong("%d lines with status %d: %s" % (len(lines), status, lines[:3]))
    if "crash" not in lines[0] and "signal" not in lines[0]:
        return Found("refused", lines[0])
    # The library died of it. Whoever makes only the index has to hear that, too.
    status, _, lines = granary.run(["index"])
    check_status(status)
    if status == 0 or len(lines) != 1:
        raise Wrong("granary index: status %d, %s" % (status, lines[:3]))
    return Found("refused: the library crashed", lines[0])


def judge(granary, packed):
    """Looks at the mutant that lies at granary.path."""
    status, tree, lines = granary.tree()
    check_status(status)
    if status:
        return refused(granary, status, lines)
    files = {p: e for p, e in tree.items() if e["kind"] == "file"}
    if not files and not lines:
        raise Wrong("a tree without files, without a word")
    contents = granary.contents(files)
    return compare(contents, packed, granary.path, lines)


def compare(contents, packed, path, lines):
    failed = sum(data is None for data in contents.values())
    if all(data is None or packed.files.get(p) == data for p, data in contents.items()) \
            and contents.keys() == packed.files.keys():
        return Found("%s" % ("I/O errors" if failed else "as it was"), "")
    other = packed.read(path)
    if other is None:
        # The other reader saw less: nothing to compare with.
        if len(contents) < len(packed.files) and not lines:
            raise Wrong("%d files of %d without a word, and %s reads nothing" % (
                len(contents), len(packed.files), packed.reader))
        return Found("shown, where %s reads nothing" % packed.reader, "")
    for p in sorted(contents.keys() & other.keys()):
        if contents[p] is not None and other[p] is not None and \
                contents[p] != other[p][:len(contents[p])]:
            raise Wrong("%r has other bytes than %s reads" % (p, packed.reader))
    if len(contents) < len(other) and not lines:
        raise Wrong("%d files, and %s sees %d" % (len(contents), packed.reader, len(other)))
    return Found("as %s reads it" % packed.reader, "")


# ---- All of them -----------------------------------------------------------

def on_alarm(*_):
    raise TimeoutError


def begin(options, packed):
    global state
    signal.signal(signal.SIGALRM, on_alarm)
    directory = tempfile.mkdtemp(dir=options.work)
    state = Granary(options.granary, directory, options.limited), packed


def try_one(mutant):
    granary, packed = state
    with open(granary.path, "wb") as out:
        out.write(mutant.data)
    try:
        return mutant, judge(granary, packed), None
    except Wrong as e:
        return mutant, None, str(e)
    except TimeoutError:
        return mutant, None, "no answer in %d seconds" % SECONDS
    except Exception as e:  # a bug here must not look like a success
        return mutant, None, "%s: %s" % (type(e).__name__, e)


def save(options, packed, number, mutant):
    if options.save:
        os.makedirs(options.save, exist_ok=True)
        name = "%s-%03d" % (packed.name, number)
        with open(os.path.join(options.save, name), "wb") as out:
            out.write(mutant.data)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("granary", help="the program")
    parser.add_argument("work", help="a directory for mutants")
    parser.add_argument("kind", choices=sorted(reference.KINDS))
    parser.add_argument("packed", help="the file that is damaged")
    parser.add_argument("tree", nargs="?", help="the directory that was packed")
    parser.add_argument("--runs", default="60", help="places to change, or all")
    parser.add_argument("--limited", action="store_true",
                        help="limit the address space (not with sanitizers)")
    parser.add_argument("--save", help="where to keep what went wrong")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main():
    options = arguments()
    packed = reference.KINDS[options.kind](options.packed, options.tree)
    runs = None if options.runs == "all" else int(options.runs)
    kinds = collections.Counter()
    wrong = []
    with multiprocessing.Pool(options.jobs, begin, (options, packed)) as pool:
        for mutant, found, problem in pool.imap(try_one, mutants(packed, runs), 8):
            if mutant.what == UNDAMAGED and (not found or found.kind != "as it was"):
                found, problem = None, "%s, %s" % (found, problem)
            if found:
                kinds[found.kind] += 1
                continue
            save(options, packed, len(wrong), mutant)
            wrong.append("%s: %s" % (mutant.what, problem))
    print("%s: %d mutants" % (packed.name, sum(kinds.values()) + len(wrong)))
    for kind, count in kinds.most_common():
        print("%6d  %s" % (count, kind))
    for line in wrong[:None if options.save else SHOWN]:
        print(line)
    if wrong or not kinds["refused"]:  # whatever was tried, some are hopeless
        sys.exit("damage_formats.py: %d mutants went wrong" % len(wrong))


if __name__ == "__main__":
    main()
