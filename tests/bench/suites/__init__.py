# SPDX-License-Identifier: GPL-3.0-or-later
"""The suites by their names, in the order in which they run."""
from suites.cold import cold
from suites.compressed import compressed
from suites.daemon import idle, memory
from suites.databases import lmdb, parquet, tfrecord
from suites.decode import decode
from suites.hdf5 import hdf5
from suites.large import large
from suites.larger import larger
from suites.limits import limits
from suites.loaders import loaders
from suites.packing import packing
from suites.push import push
from suites.rivals import rivals_suite
from suites.scale import scale
from suites.shield import shield
from suites.sums import sums
from suites.tokens import tokens
from suites.walk import walk
from suites.warm import warm
from suites.zips import zips

SUITES = {"warm": warm, "shield": shield, "loaders": loaders, "cold": cold, "large": large,
          "decode": decode, "larger": larger, "limits": limits, "push": push, "hdf5": hdf5,
          "memory": memory, "idle": idle, "scale": scale, "walk": walk, "pack": packing,
          "sums": sums, "tokens": tokens, "zip": zips, "compressed": compressed}
# Those that run when they are named.
NAMED = {"rivals": rivals_suite, "lmdb": lmdb, "tfrecord": tfrecord, "parquet": parquet}
