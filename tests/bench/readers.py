# SPDX-License-Identifier: GPL-3.0-or-later
"""The readers: programs that are told what to read, and print what they found."""
import json
import os
import re
import sys

from granaryfs import READ_ALL
from work import Failed

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 900
C_LINE = re.compile(r"files (\d+) bytes (\d+) checksum ([0-9a-f]+) seconds ([\d.]+)")


class Readers:
    def __init__(self, work):
        self.work = work

    def c(self, paths, seed, processes, check=False, groups=(), timeout=TIMEOUT):
        """{files, bytes, checksum, seconds} of open, fstat, read to the end, close."""
        words = [READ_ALL] + ["-c"] * check + [paths, seed, processes]
        found = C_LINE.search(self.work.run(words, timeout, groups))
        if not found:
            raise Failed("read-all printed nothing")
        return {"files": int(found.group(1)), "bytes": int(found.group(2)),
                "checksum": found.group(3), "seconds": float(found.group(4))}

    def python(self, *words, groups=(), timeout=TIMEOUT):
        """What read_python.py prints as its last line."""
        program = os.path.join(HERE, "read_python.py")
        text = self.work.run([sys.executable, program, *words], timeout, groups)
        try:
            return json.loads(text.strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise Failed("read_python.py: %s" % text.strip()[-300:]) from None


def agree(found, files, size, checksum=None):
    """A reader that did not get all of it has measured nothing."""
    if (found["files"], found["bytes"]) != (files, size):
        raise Wrong("%d files of %d bytes were read, not %d of %d"
                    % (found["files"], found["bytes"], files, size))
    if checksum is not None and found["checksum"] != checksum:
        raise Wrong("wrong bytes: the checksum is not that of what was packed")


class Wrong(Failed):
    """A contender gave wrong bytes: the run fails."""
