# SPDX-License-Identifier: GPL-3.0-or-later
"""Somebody swaps names between two calls of a program: races.py PROGRAM AT_CALL.SO GRANARYFS GRANARY

In a directory that belongs to ATTACKER lie a packed file, its index, a source tree, a destination
and a mount point. PROGRAM works on them, mostly as root. At one of its calls that follow a path
(AT_CALL.SO, which is preloaded, counts them) it waits, and a process of the attacker's puts
something else in the place of one of these names: a link to a directory or a file of root's or of
another user's, another packed file, a pipe, a directory, nothing. Then it goes on.

"mount-rival": at each of its calls in turn, root mounts something else at the same place.

Afterwards nothing outside of the attacker's directory may have been made, changed or removed, no
bytes of root's secret may be in what came out, contents are right or there is an error, and it
has not hung.

Environment: RACES, how many times (20); RACES_SEED, to have the same again.
"""
import fcntl
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

from arena import (
    ATTACKER, Arena, LIMIT, OTHER, OWN, SECRET, contents, differences,
    files_below, holds_secret, mounts_below, snapshot, unmount_below)


class Attack:
    """Chosen by the round's random numbers, done when the program is at its call."""

    def __init__(self, arena, rng, names):
        self.arena = arena
        self.rng = rng
        self.name = rng.choice([rng.choice(names), rng.choice(names), "d", "d", "*"])
        self.what = rng.choice([rng.choice(["outside", "others"]),
                                rng.choice(["twin", "secret", "loop", "pipe", "directory", "file",
                                            "nothing"])])

    def leads(self):
        """May the program have opened another packed file, and rightly so?"""
        return self.what in ("outside", "others", "secret") and \
            self.name in ("*", "d", "d/x.tar", "d/n.tar", "d/out.tar")

    def __str__(self):
        return "%s becomes %s" % (self.name, self.what)

    def target(self):
        """A name that is there at that moment, for "*": temporary names, too."""
        if self.name != "*":
            return self.name
        try:
            return "d/" + self.rng.choice(sorted(os.listdir(os.path.join(self.arena.base, "d"))))
        except (OSError, IndexError):
            return "d"

    def strike(self):
        name = self.target()
        path = os.path.join(self.arena.base, name)
        below = name[2:] if name.startswith("d/") else ""
        try:
            if os.path.lexists(path):
                os.rename(path, path + ".old")
            if self.what in ("outside", "others"):
                own = os.path.join(getattr(self.arena, self.what), below)
                os.symlink(own if os.path.exists(own) else os.path.dirname(own), path)
            elif self.what == "twin":
                os.symlink(os.path.join(self.arena.base, "twin", below), path)
            elif self.what == "secret":
                os.symlink(os.path.join(self.arena.outside, "secret"), path)
            elif self.what == "loop":
                os.symlink(os.path.basename(path), path)
            elif self.what == "pipe":
                os.mkfifo(path, 0o666)
            elif self.what == "directory":
                os.mkdir(path)
            elif self.what == "file":
                with open(path, "wb") as file:
                    file.write(OWN)
        except OSError:
            pass

    def run(self, listener):
        """In a process of the attacker's: strikes once, and answers whoever asks."""
        os.setgroups([])
        os.setresgid(ATTACKER, ATTACKER, ATTACKER)
        os.setresuid(ATTACKER, ATTACKER, ATTACKER)
        while True:
            asker, _ = listener.accept()
            self.strike()
            asker.send(b"x")
            asker.close()

    def start(self):
        """The process, and the name that it listens at."""
        name = "granary-races-%d-%d" % (os.getpid(), self.rng.getrandbits(32))
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\0" + name)
        listener.listen()
        pid = os.fork()
        if pid == 0:
            try:
                self.run(listener)
            finally:
                os._exit(0)
        listener.close()
        return pid, name


class Rival(Attack):
    """Another mount of root's at the same place, from its beginning to its end."""

    def __init__(self, arena, rng, names):
        super().__init__(arena, rng, names)
        self.d = os.path.join(arena.base, "d")

    def __str__(self):
        return "another mounts there"

    def has_to_wait(self):
        """For the program's lock on the directory, which ends when the program goes on."""
        try:
            fd = os.open(self.d + "/mnt", os.O_RDONLY)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False

    def mount(self):
        status = subprocess.run([self.arena.granaryfs, self.d + "/x.tar", self.d + "/mnt"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, check=False).returncode
        with open(os.path.join(self.arena.top, "rival"), "w") as file:
            file.write(str(status))

    def run(self, listener):
        asker, _ = listener.accept()
        if not self.has_to_wait():
            self.mount()
        asker.send(b"x")
        asker.close()
        signal.pause()


# ---- The programs ----------------------------------------------------------


def right(path, data):
    """Is it the whole of this file, of one of the attacker's archives?"""
    name = re.fullmatch(r"file-(\d+)", os.path.basename(path))
    if not name:
        return True
    i = int(name.group(1))
    return data in (contents("right", i), contents("twins", i), OWN)


def check_tree(top):
    wrong = []
    for path in files_below(top):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        if not right(path, data):
            wrong.append("%s has bytes that are nobody's: %r" % (path, data[:40]))
    return wrong


class Program:
    """What is run, what is done before, and what is looked at afterwards."""

    user = 0
    attack = Attack
    names = ["d/x.tar", "d/x.tar.gidx", "d/x.tar.gidx.claim"]

    def __init__(self, arena):
        self.arena = arena
        self.d = os.path.join(arena.base, "d")

    def path(self, name):
        return os.path.join(self.d, name)

    def own(self):
        """The directory that is the user's who runs it."""
        return self.arena.others + "/" if self.user else self.d

    def before(self):
        pass

    def after(self, status, said):
        return []

    def run(self, extra, limit=LIMIT):
        environment = dict(os.environ, XDG_CACHE_HOME=self.arena.cache, **extra)
        if self.user:
            environment["HOME"] = "/nonexistent"
            environment.pop("XDG_CACHE_HOME")
        with tempfile.TemporaryFile() as out:
            process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd="/",
                env=environment, user=self.user or None, group=self.user or None,
                extra_groups=[] if self.user else None, start_new_session=True)
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                status = None
            out.seek(0)
            return status, out.read()


class Index(Program):
    def command(self):
        return [self.arena.granary, "index", "-q", self.path("x.tar")]


class Checksums(Program):
    def command(self):
        return [self.arena.granary, "index", "-q", "--checksums", "--output",
                self.path("x.tar.gidx"), self.path("x.tar")]


class Renew(Program):
    """Of an index of 0.1 that was renamed with its packed file."""

    names = ["d/n.tar", "d/n.tar.gidx", "d/n.tar.gidx.claim"]
    forge = os.path.join(os.path.dirname(sys.argv[2]), "forge-index")

    def before(self):
        subprocess.run([self.arena.granary, "index", "-q", self.path("x.tar")], check=True)
        subprocess.run([self.forge, "--as-0.1", self.path("x.tar.gidx")], check=True)
        os.rename(self.path("x.tar"), self.path("n.tar"))
        os.rename(self.path("x.tar.gidx"), self.path("n.tar.gidx"))
        os.chown(self.path("n.tar.gidx"), ATTACKER, ATTACKER)
        os.chmod(self.d, 0o777)

    def command(self):
        return [self.arena.granary, "index", "-q", "--renew", "--adopt", self.d]


class Cat(Program):
    def command(self):
        return [self.arena.granary, "cat", self.path("x.tar"), "b/file-3"]

    def after(self, status, said):
        if status == 0 and not any(contents(kind, 3) in said for kind in ("right", "twins")):
            return ["cat: bytes that are nobody's"]
        return []


class Ls(Program):
    def command(self):
        return [self.arena.granary, "ls", "-R", self.path("x.tar")]


class Verify(Program):
    names = Program.names + ["d/sums"]

    def command(self):
        return [self.arena.granary, "verify", "-q", "--write-checksums", self.path("sums"),
                self.path("x.tar")]


class Extract(Program):
    names = Program.names + ["d/dest", "d/dest/a", "d/dest/b"] * 2

    def command(self):
        return [self.arena.granary, "extract", "-q", self.path("x.tar"), self.path("dest")]

    def after(self, status, said):
        return check_tree(self.arena.base)


class ExtractNew(Extract):
    def before(self):
        os.rmdir(self.path("dest"))


class Pack(Program):
    names = ["d/src", "d/src/a", "d/src/a/file-0", "d/out.tar", "d/.out.tar.part"]

    def command(self):
        return [self.arena.granary, "pack", "-q", self.path("src"), self.path("out.tar")]

    def after(self, status, said):
        wrong = []
        for path in files_below(self.arena.base):
            if os.path.basename(path) == "out.tar" and os.path.getsize(path) != len(OWN):
                with tarfile.open(path) as tar:
                    wrong += ["%s in %s" % (m.name, path) for m in tar.getmembers() if m.isfile()
                              and not right(m.name, tar.extractfile(m).read())]
        return wrong


class Mount(Program):
    names = Program.names + ["d/mnt", "d/mnt", "d/log"]

    def command(self):
        return [self.arena.granaryfs, "-o", "allow_other,log=" + self.path("log"),
                self.path("x.tar"), self.path("mnt")]

    def after(self, status, said):
        wrong = []
        for place in mounts_below(self.arena.top):
            if not place.startswith((self.arena.base + "/", self.own())):
                wrong.append("mounted at " + place)
            wrong += check_tree(place)
        unmount_below(self.arena.top)
        return wrong


class MountFor(Mount):
    def command(self):
        return [self.arena.granaryfs, "-o", "user=%d" % OTHER, self.path("x.tar"),
                self.path("mnt")]


class MountAsUser(Mount):
    """By fusermount3. Where a path leads a user into a directory of their own is their word."""

    user = OTHER

    def command(self):
        return [self.arena.granaryfs, self.path("x.tar"), self.path("mnt")]

    def before(self):
        os.chown(self.path("mnt"), OTHER, OTHER)


class MountOverDead(Mount):
    """A dead mount has to be taken away first."""

    def before(self):
        status, _ = Program.run(self, {})
        if status == 0:
            kill_daemons(self.path("mnt"))


class MountRival(MountOverDead):
    """Of two that mount over a dead mount one succeeds, and its mount stays."""

    attack = Rival

    def command(self):
        return [self.arena.granaryfs, self.path("x.tar"), self.path("mnt")]

    def before(self):
        super().before()
        self.rival = os.path.join(self.arena.top, "rival")
        if os.path.exists(self.rival):
            os.unlink(self.rival)

    def after(self, status, said):
        wrong = []
        if os.path.exists(self.rival):
            with open(self.rival) as file:
                good = [status, int(file.read())].count(0)
            mounted = mounts_below(self.arena.top).count(self.path("mnt"))
            if good != 1 or mounted != 1:
                wrong = ["%d succeeded, %d are mounted" % (good, mounted)]
        return wrong + super().after(status, said)


class Umount(Program):
    names = ["d/mnt"]

    def before(self):
        subprocess.run([self.arena.granaryfs, self.path("x.tar"), self.path("mnt")],
                       stderr=subprocess.DEVNULL, check=True)

    def command(self):
        return [self.arena.granary, "umount", self.path("mnt")]

    def after(self, status, said):
        unmount_below(self.arena.top)
        return []


def kill_daemons(mountpoint):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if mountpoint.encode() in file.read().split(b"\0")[-2:]:
                    os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass
    time.sleep(0.02)


PROGRAMS = {
    "index": Index, "checksums": Checksums, "renew": Renew, "cat": Cat, "ls": Ls, "verify": Verify,
    "extract": Extract, "extract-new": ExtractNew, "pack": Pack, "mount": Mount,
    "mount-user": MountFor, "mount-as-user": MountAsUser, "mount-dead": MountOverDead,
    "mount-rival": MountRival, "umount": Umount,
}


# ---- Rounds ----------------------------------------------------------------


def reset(arena):
    with open(arena.count, "r+b") as file:
        file.write(bytes(8))


def counted(arena):
    with open(arena.count, "rb") as file:
        return int.from_bytes(file.read(8), sys.byteorder)


def environment(arena, library, call, name):
    return {"LD_PRELOAD": library, "GRANARY_AT_CALL_COUNT": arena.count,
            "GRANARY_AT_CALL": str(call), "GRANARY_AT_CALL_SOCKET": name}


def rehearse(arena, program, library):
    """How many calls it has when nobody strikes, and it must work then."""
    arena.fresh()
    program.before()
    reset(arena)
    status, said = program.run(environment(arena, library, 0, "nobody"))
    calls = counted(arena)
    program.after(status, said)
    if status != 0 or calls == 0:
        sys.exit("without an attack: status %s, %d calls: %s" % (status, calls, said.decode()))
    return calls


def play(arena, program, library, rng, calls, call=None):
    """One round: what it was, and what is wrong."""
    arena.fresh()
    program.before()
    call = call or rng.randint(1, calls)
    attack = program.attack(arena, rng, program.names)
    before = [snapshot(arena.outside), snapshot(arena.others)]
    pid, name = attack.start()
    reset(arena)
    status, said = program.run(environment(arena, library, call, name))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    wrong = ["it hangs"] if status is None else []
    if status is not None and status < 0:
        wrong.append("it ends by signal %d" % -status)
    mounted = tuple(mounts_below(arena.top))
    wrong += differences(before[0], snapshot(arena.outside), attack.leads())
    if not program.user:
        wrong += differences(before[1], snapshot(arena.others), attack.leads())
    wrong += ["the secret is in " + path for path in files_below(arena.base, mounted)
              if holds_secret(path)]
    if SECRET in said:
        wrong.append("the secret is in what it said")
    wrong += program.after(status, said)
    if wrong:
        wrong.append("status %s: %s" % (status, said.decode(errors="replace")[:2000]))
    return "call %d of %d, %s" % (call, calls, attack), wrong


def main():
    what, library = sys.argv[1:3]
    rounds = int(os.environ.get("RACES") or 20)
    seed = int(os.environ.get("RACES_SEED") or random.SystemRandom().getrandbits(32))
    arena = Arena(sys.argv[3:5])
    program = PROGRAMS[what](arena)
    failed = 0
    try:
        calls = rehearse(arena, program, library)
        each = program.attack is Rival
        rounds = calls if each else rounds
        for number in range(rounds):
            story, wrong = play(arena, program, library,
                                random.Random("%d %d" % (seed, number)), calls,
                                number + 1 if each else None)
            if wrong:
                failed += 1
                print("RACES_SEED=%d, round %d: %s:\n  %s" % (seed, number, story,
                                                             "\n  ".join(wrong)))
    finally:
        arena.remove()
    print("%s: %d rounds, %d calls, seed %d, %d failed" % (what, rounds, calls, seed, failed))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
