# SPDX-License-Identifier: GPL-3.0-or-later
"""A place to work, programs with an end, and everything undone afterwards.

Whatever is mounted, made or started registers how it is undone at once, so that
Ctrl-C, a failure and a normal end leave the same: nothing.
"""
import os
import shutil
import signal
import subprocess
import tempfile
import time


class Failed(Exception):
    """Something did not work, as a sentence."""


class Absent(Failed):
    """What would be measured does not exist yet; the table says so."""


def read_through(path):
    """What brings a file into the page cache: its bytes are nobody's output."""
    return ["sh", "-c", 'cat "$1" >/dev/null', "cat", path]


class Work:
    def __init__(self):
        self.cleanups = []
        self.dir = self.directory(os.environ.get("TMPDIR", "/tmp"))
        self.shm = self.directory("/dev/shm")
        self.output = os.path.join(self.dir, "output")

    def directory(self, parent):
        path = tempfile.mkdtemp(prefix="granaryfs-bench.", dir=parent)
        os.chmod(path, 0o755)
        self.at_exit(shutil.rmtree, path, True)
        return path

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def at_exit(self, function, *arguments):
        self.cleanups.append((function, arguments))

    def close(self):
        """Undoes all of it, the last first, and is not interrupted."""
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(name, signal.SIG_IGN)
        while self.cleanups:
            function, arguments = self.cleanups.pop()
            try:
                function(*arguments)
            except (OSError, Failed) as error:
                print("bench: at the end: %s" % error)

    def run(self, argv, timeout=600, groups=(), expect=0, cwd=None):
        """What a program printed. It begins in the cgroups, and ends in time."""
        argv = [str(word) for word in argv]
        with open(self.output, "w+b") as output:
            process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                start_new_session=True, preexec_fn=entering(groups), cwd=cwd)
            try:
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                raise Failed("%s: not done after %g s" % (short(argv), timeout)) from None
            finally:
                if process.poll() is None:
                    end_group(process)
            output.seek(0)
            text = output.read().decode(errors="replace")
        if status != expect:
            raise Failed("%s: status %d: %s"
                         % (short(argv), status, text.strip()[-400:]))
        return text


def short(argv):
    return " ".join([os.path.basename(argv[0])] + argv[1:])[:160]


def entering(groups):
    """For the child between fork and exec."""
    files = [path for group in groups for path in group.entrances()]

    def enter():
        for path in files:
            with open(path, "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
    return enter if files else None


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        print("bench: process %d does not die" % process.pid)


def wait_until(seconds, condition, step=0.02):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(step)
    return True


def processes_with(argument):
    """Who was started with this argument: a path of ours, so that they are ours."""
    wanted = os.fsencode(argument)
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if wanted in file.read().split(b"\0"):
                    found.append(int(pid))
        except OSError:
            pass
    return found


def kill_with(argument):
    for pid in processes_with(argument):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
