# SPDX-License-Identifier: GPL-3.0-or-later
"""The directories in which races.py plays: the attacker's own, and all that must stay as it is."""
import os
import pwd
import shutil
import stat
import subprocess
import tarfile
import tempfile

ATTACKER = pwd.getpwnam("games").pw_uid
OTHER = pwd.getpwnam("daemon").pw_uid
SECRET = b"CANARY-SECRET-d41d8cd98f00"
LIMIT = 60
FILES = 12
OWN = b"granary claim\n"  # what the attacker writes: like the beginning of a claim


def contents(kind, i):
    return ("%s %04d\n" % (kind, i)).encode() * (1 + 97 * i)


class Arena:
    def __init__(self, tools):
        self.granaryfs, self.granary = tools
        self.top = tempfile.mkdtemp(prefix="granary-races-")
        os.chmod(self.top, 0o755)
        self.base = os.path.join(self.top, "base")
        self.template = os.path.join(self.top, "template")
        self.outside = os.path.join(self.top, "outside")
        self.others = os.path.join(self.top, "others")
        self.count = os.path.join(self.top, "count")
        self.cache = os.path.join(self.top, "cache")
        self.make_outside()
        self.make_template()
        with open(self.count, "wb") as file:
            file.write(bytes(8))
        os.chmod(self.count, 0o666)

    def make_outside(self):
        """What nothing may happen to: root's, and another user's."""
        for directory in (self.outside, self.others):
            os.mkdir(directory)
            for name in ("d", "dest", "mnt", "out", "src", "directory"):
                os.mkdir(os.path.join(directory, name))
            for name in ("x.tar", "x.tar.gidx", "x.tar.gidx.claim", "secret", "directory/file",
                         "out.tar", "sums", "log"):
                with open(os.path.join(directory, name), "wb") as file:
                    file.write(SECRET * 3)
                os.chmod(os.path.join(directory, name), 0o600)
        for path, directories, files in os.walk(self.others):
            for name in directories + files + ["."]:
                os.chown(os.path.join(path, name), OTHER, OTHER)

    def make_template(self):
        for directory, kind in (("d", "right"), ("twin", "twins")):
            d = os.path.join(self.template, directory)
            for name in ("src/a", "src/b", "mnt", "dest"):
                os.makedirs(os.path.join(d, name))
            for i in range(FILES):
                with open(os.path.join(d, "src", "ab"[i % 2], "file-%d" % i), "wb") as file:
                    file.write(contents(kind, i))
            self.make_tar(os.path.join(d, "x.tar"), kind)
        subprocess.run([self.granary, "index", "-q", os.path.join(d, "x.tar")], check=True,
                       env=dict(os.environ, XDG_CACHE_HOME=self.cache))
        for path, directories, files in os.walk(self.template):
            for name in directories + files + ["."]:
                os.chown(os.path.join(path, name), ATTACKER, ATTACKER)

    def make_tar(self, path, kind):
        with tarfile.open(path, "w") as tar:
            for i in range(FILES):
                with tempfile.NamedTemporaryFile() as file:
                    file.write(contents(kind, i))
                    file.flush()
                    info = tar.gettarinfo(file.name, "ab"[i % 2] + "/file-%d" % i)
                    info.uid = info.gid = ATTACKER
                    info.mode = 0o644
                    tar.addfile(info, open(file.name, "rb"))

    def fresh(self):
        unmount_below(self.top)
        shutil.rmtree(self.base, ignore_errors=True)
        shutil.rmtree(self.cache, ignore_errors=True)
        copy_owned(self.template, self.base)

    def remove(self):
        unmount_below(self.top)
        shutil.rmtree(self.top, ignore_errors=True)


def copy_owned(source, copy):
    """Directories and files as the attacker's; much faster than cp."""
    os.mkdir(copy)
    for entry in os.scandir(source):
        if entry.is_dir():
            copy_owned(entry.path, os.path.join(copy, entry.name))
        else:
            shutil.copy2(entry.path, os.path.join(copy, entry.name))
            os.chown(os.path.join(copy, entry.name), ATTACKER, ATTACKER)
    shutil.copystat(source, copy)
    os.chown(copy, ATTACKER, ATTACKER)


# ---- What is there ---------------------------------------------------------


def mounts_below(top):
    found = []
    with open("/proc/self/mountinfo") as table:
        for line in table:
            place = line.split()[4].encode().decode("unicode_escape")
            if place.startswith(top + "/"):
                found.append(place)
    return found


def unmount_below(top):
    for _ in range(20):
        left = mounts_below(top)
        if not left:
            return
        for place in reversed(left):
            subprocess.run(["umount", "-l", place], stderr=subprocess.DEVNULL, check=False)


def snapshot(top):
    """Everything that lstat says of all below, but when it was looked at."""
    found = {}
    for path, directories, files in os.walk(top):
        for name in directories + files + ["."]:
            full = os.path.join(path, name)
            try:
                st = os.lstat(full)
            except OSError as error:  # what is mounted there now lets nobody in
                found[full] = (error.errno,)
                continue
            found[full] = (st.st_ino, st.st_mode, st.st_uid, st.st_gid, st.st_nlink, st.st_size,
                           st.st_mtime_ns, st.st_ctime_ns)
    return found


def differences(before, after, led):
    """`led`: to another packed file; beside that a claim may have been, and be gone."""
    found = []
    for path in sorted(set(before) | set(after)):
        was, now = before.get(path), after.get(path)
        if led and was and now and len(now) > 1 and stat.S_ISDIR(now[1]):
            was, now = was[:5], now[:5]
        if was != now:
            found.append("%s: %s, was %s" % (path, now or "gone", was or "not there"))
    return found


def files_below(top, skip=()):
    for path, directories, files in os.walk(top):
        directories[:] = [f for f in directories if os.path.join(path, f) not in skip]
        for name in files:
            full = os.path.join(path, name)
            if stat.S_ISREG(os.lstat(full).st_mode):
                yield full


def holds_secret(path):
    with open(path, "rb") as file:
        return SECRET in file.read()


# ---- The attacker ----------------------------------------------------------
