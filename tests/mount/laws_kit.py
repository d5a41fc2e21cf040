# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cases of laws.py are made with."""
import io
import os
import shutil
import tarfile

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
CASES = []

# Three labels each, the directories that they become, and what is told.
SPELLED = {"decimal": (b"1", b"1.0", b"cat", "1:2 cat:1", "the label '1.0' is the number 1"),
           "power": (b"1", b"1e0", b"2", "1:2 2:1", "the label '1e0' is the number 1"),
           "decimals": (b"2.0", b"2.00", b"0.0", "0.0:1 2:2", "the label '2.0' is the number 2"),
           "zeros": (b"7", b"007", b"cat", "007:1 7:1 cat:1", "the labels '7' and '007' are one number"),
           "minus": (b"-1.00", b"-1.0", b"cat", "-1:2 cat:1", "the label '-1.0' is the number -1")}


def case(form, law, name, shows, tells="-", options="-", status=0, sources=None):
    def add(write):
        CASES.append((form, law, name, shows, tells, options, status, sources, write))
        return write
    return add


def jpeg(i):
    return b"\xff\xd8\xff" + bytes([i + 1]) * 20 + b"\xff\xd9"


def tar(path, members):
    with tarfile.open(path, "w") as out:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            out.addfile(info, io.BytesIO(content))


def fixture(*names, form="arrow"):
    for name in names:
        shutil.copy(os.path.join(FIXTURES, form, name), name)
