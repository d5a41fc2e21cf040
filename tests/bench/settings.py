# SPDX-License-Identifier: GPL-3.0-or-later
"""How much is measured: all of it, or what a few minutes allow."""
import dataclasses


@dataclasses.dataclass
class Settings:
    quick: bool = False
    rounds: int = 7           # of what is warm
    cold_rounds: int = 3
    loader_rounds: int = 5
    files: int = 8000         # of 110,000 bytes
    small_files: int = 40000  # of 3,000 bytes
    slow_files: int = 40      # of those, what is read through the slowest
    jpegs: int = 2000
    pictures: int = 4000      # PPM
    texts: int = 4000         # of 150 kB
    rows: int = 6000          # HDF5, of 110 kB
    array_rows: int = 1500    # of 150 kB, in each layout
    large: int = 150_000_000  # bytes of one file
    larger_files: int = 16000
    many_files: int = 1_280_000
    scale_files: int = 14_200_000   # their headers: 7 GB of the disk
    scale_rate: int = 640_000       # and 2.6 GB of memory
    scale_throttled: int = 100_000
    scale_walked: int = 1_281_167
    pack_files: int = 20000   # of 110,000 bytes
    documents: int = 200_000  # of tokens, 2 kB each
    idle_seconds: int = 60
    rank_workers: int = 8
    samples: int = 3000       # JPEGs, of the rivals
    rival_rounds: int = 3
    rival_cold_rounds: int = 2
    rival_seconds: float = 1  # of a warm reader
    rival_cold_seconds: int = 15    # at most, of a first epoch
    mib: int = 200            # a second, throttled
    reads: int = 1000


def quick_settings():
    return Settings(quick=True, rounds=3, cold_rounds=1, loader_rounds=2, files=2000,
                    small_files=10000, slow_files=10, jpegs=400, pictures=1200,
                    texts=1200, rows=2000,
                    array_rows=500,
                    larger_files=4000, many_files=128_000, idle_seconds=10,
                    scale_files=1_420_000, scale_rate=160_000, scale_throttled=5000,
                    scale_walked=128_000, pack_files=4000, documents=40_000, samples=1000,
                    rival_rounds=2,
                    rival_cold_rounds=2, rival_seconds=0.5, rival_cold_seconds=5)
