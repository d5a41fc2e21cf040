# SPDX-License-Identifier: GPL-3.0-or-later
"""Several ranks of one training, each with a DataLoader over a DistributedSampler.

Two epochs: in the first every byte is compared, in the second time is taken. In both
every sample has to come exactly once.
"""
import os
import tempfile
import time
import zlib

import torch
import torch.distributed
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from read_python import next_of

COMPARED, TIMED = 0, 1


class Files(Dataset):
    """(index, size, CRC) of files; without CRC while time is taken."""

    def __init__(self, paths, mode):
        self.paths, self.mode = paths, mode

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        with open(self.paths[index], "rb") as file:
            content = file.read()
        crc = zlib.crc32(content) if self.mode.value == COMPARED else 0
        return index, len(content), crc


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def rank(number, count, workers, paths, mode, meeting, results):
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method="file://" + meeting,
                                         rank=number, world_size=count)
    sampler = DistributedSampler(range(len(paths)), count, number)
    loader = DataLoader(Files(paths, mode), batch_size=32, sampler=sampler,
                        num_workers=workers, persistent_workers=True)
    for epoch in (COMPARED, TIMED):
        sampler.set_epoch(epoch)
        torch.distributed.barrier()
        if number == 0:
            mode.value = epoch
        torch.distributed.barrier()
        start = time.monotonic()
        found = [sample for batch in loader for sample in zip(*(t.tolist() for t in batch))]
        torch.distributed.barrier()
        results.put((epoch, found, time.monotonic() - start))
    torch.distributed.barrier()


def check(found, truth, compared):
    """Every sample once, and what was packed."""
    if sorted(sample[0] for sample in found) != list(range(len(truth))):
        raise SystemExit("not every sample came exactly once")
    for index, size, crc in found:
        if size != truth[index][0] or (compared and crc != truth[index][1]):
            raise SystemExit("wrong bytes in sample %d" % index)


def gathered(children, results):
    """What all of them say, of both epochs."""
    for process in children:
        process.start()
    try:
        return [next_of(results, children) for _ in range(2 * len(children))]
    except BaseException:
        for process in children:
            process.kill()
        raise
    finally:
        for process in children:
            process.join()


def run(paths, truth, count, workers):
    paths = lines_of(paths)
    truth = [tuple(map(int, line.split())) for line in lines_of(truth)]
    context = torch.multiprocessing.get_context("fork")
    mode, results = context.Value("b", COMPARED), context.Queue()
    directory = tempfile.mkdtemp(prefix="granaryfs-ranks.")
    meeting = os.path.join(directory, "meeting")
    # not daemonic: a daemon may have no workers
    children = [context.Process(target=rank, args=(i, int(count), int(workers), paths, mode,
                                                   meeting, results))
                for i in range(int(count))]
    said = gathered(children, results)
    if os.path.exists(meeting):
        os.unlink(meeting)
    os.rmdir(directory)
    samples = {epoch: [s for e, found, _ in said if e == epoch for s in found]
               for epoch in (COMPARED, TIMED)}
    check(samples[COMPARED], truth, True)
    check(samples[TIMED], truth, False)
    return {"files": len(samples[TIMED]), "bytes": sum(s[1] for s in samples[TIMED]),
            "seconds": max(seconds for epoch, _, seconds in said if epoch == TIMED)}
