#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program and prints {seconds, memory}: how long it took, and the most memory
(bytes) that it, or a process that it waited for, had at once."""
import json
import resource
import subprocess
import sys
import time

start = time.monotonic()
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False).returncode
took = time.monotonic() - start
if status:
    sys.exit("%s: status %d" % (sys.argv[1], status))
print(json.dumps({"seconds": took, "memory":
                  resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024}))
