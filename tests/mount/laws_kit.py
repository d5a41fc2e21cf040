# SPDX-License-Identifier: GPL-3.0-or-later
"""What the cases of laws.py are made with."""
import io
import os
import shutil
import tarfile

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
CASES = []


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
