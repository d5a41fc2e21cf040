"""Everything is in memory: what a file costs then, and whether the daemon is asked."""
import report
from bench_run import ARCHIVEMOUNT, SHM
from granaryfs import BARE, SHIELDED, Granaryfs, requests
from readers import agree

OPENS = "C: open, fstat, read to the end, close; "
PYTHON = "Python: open(path, 'rb').read(); "


class Epoch:
    """One data set, and epochs through it in random order; their requests counted."""

    def __init__(self, bench, files, counted):
        self.bench, self.files, self.counted = bench, files, counted
        slow = bench.settings.slow_files
        self.few = files.names[::max(1, len(files) // slow)][:slow]
        self.size_of = dict(zip(files.names, files.sizes))
        self.truth = {}

    def names(self, contender):
        """All, or what the slowest can do."""
        return self.few if contender.name == ARCHIVEMOUNT else self.files.names

    def list(self, contender):
        return self.files.list(contender.root, self.names(contender))

    def expected(self, contender):
        names = self.names(contender)
        return len(names), sum(self.size_of[name] for name in names)

    def prepare(self, contender, how):
        """Mounted, every byte compared, and in memory."""
        contender.mount()
        found = self.bench.readers.python("files", self.list(contender), 0, 2, "check")
        agree(found, *self.expected(contender), self.files.checksum(self.names(contender)))
        for _ in range(2):
            how(contender, 0)
        return True

    def rate(self, found, contender):
        agree(found, *self.expected(contender))
        return found["files"] / found["seconds"]

    def c(self, processes):
        def read(contender, number):
            found = self.bench.readers.c(self.list(contender), number, processes)
            return self.rate(found, contender)
        return read

    def python(self, processes):
        def read(contender, number):
            found = self.bench.readers.python("files", self.list(contender), number,
                                              processes)
            return self.rate(found, contender)
        return read

    def counting(self, row, read):
        """read, and the requests that it caused as a value of `row`."""
        def counted(contender, number):
            if not isinstance(contender, Granaryfs):
                return read(contender, number)
            before = requests(contender.counters())
            value = read(contender, number)
            report.series_of(row, contender.name, contender.shield, contender.note)[
                "values"].append(requests(contender.counters()) - before)
            return value
        return counted


def mounted(bench, row, contenders, epoch):
    """Those that could be mounted and gave the right bytes."""
    return [contender for contender in contenders
            if bench.attempt(row, contender, epoch.prepare, epoch.c(2))]


def unmount(bench, row, contenders):
    for contender in contenders:
        bench.attempt(row, contender, lambda c: c.unmount() or True)


def granaries(bench, files):
    made = [bench.granaryfs(name, files.tar, "prefetch=auto") for name in (BARE, SHIELDED)]
    made[0].index()
    return made


def photos(bench):
    files = bench.data.get("photos")
    epoch = Epoch(bench, files, True)
    what = "warm, random, %d files of 110 kB" % len(files)
    rows = [bench.row("warm", "warm-c2", what, OPENS + "2 processes", "files/s",
                      chart="Warm, random order, 110 kB, 2 processes in C: files/s"),
            bench.row("warm", "warm-c1", what, OPENS + "1 process", "files/s"),
            bench.row("warm", "warm-python2", what, PYTHON + "2 processes", "files/s",
                      chart="The same, 2 processes in Python: files/s"),
            bench.row("warm", "warm-python1", what, PYTHON + "1 process", "files/s")]
    asked = [bench.row("warm", "requests-c", "requests that reach the daemon in " + what,
                       OPENS + "1 and 2 processes", "an epoch", better="less"),
             bench.row("warm", "requests-python", "requests that reach the daemon in " + what,
                       PYTHON + "1 and 2 processes", "an epoch", better="less")]
    contenders = [bench.shm(files)] + granaries(bench, files) + bench.others(
        files, "tree", "squashfs", "erofs", "squashfuse", "archivemount")
    there = mounted(bench, rows[0], contenders, epoch)
    readers = [epoch.c(2), epoch.c(1), epoch.python(2), epoch.python(1)]
    for i, row in enumerate(rows):
        bench.turns(row, there, bench.settings.rounds, epoch.counting(asked[i // 2],
                                                                      readers[i]))
        if ARCHIVEMOUNT in row["series"]:
            row["series"][ARCHIVEMOUNT]["note"] = "%d of the files" % len(epoch.few)
    unmount(bench, rows[0], there)
    photo_targets(rows, asked)


def photo_targets(rows, asked):
    c2, _, python2, python1 = rows
    report.target(asked[0], "requests in a warm epoch, C readers, bare", BARE, None, "==", 0)
    report.target(asked[0], "requests in a warm epoch, C readers, shielded", SHIELDED, None,
                  "==", 0, True)
    report.target(asked[1], "requests in a warm epoch, Python readers, shielded", SHIELDED,
                  None, "==", 0, True)
    report.target(c2, "warm, 2 C processes, 110 kB, bare, of /dev/shm", BARE, SHM, ">=", 0.9)
    report.target(c2, "warm, 2 C processes, 110 kB, shielded, of /dev/shm", SHIELDED, SHM,
                  ">=", 0.82, True)
    report.target(python2, "warm, Python, 2 processes, shielded, of /dev/shm", SHIELDED, SHM,
                  ">=", 0.8, True)
    report.target(python1, "warm, Python, 1 process, bare, a core to spare, of /dev/shm", BARE,
                  SHM, ">=", 0.4)


def small(bench):
    files = bench.data.get("small")
    epoch = Epoch(bench, files, False)
    row = bench.row("warm", "warm-small", "warm, random, %d files of 3 kB" % len(files),
                    OPENS + "2 processes", "files/s",
                    chart="Warm, random order, 3 kB, 2 processes in C: files/s")
    contenders = [bench.shm(files)] + granaries(bench, files) + bench.others(
        files, "tree", "squashfs", "erofs", "squashfuse")
    there = mounted(bench, row, contenders, epoch)
    bench.turns(row, there, bench.settings.rounds, epoch.c(2))
    unmount(bench, row, there)
    report.target(row, "warm, 2 C processes, 3 kB, bare, of /dev/shm", BARE, SHM, ">=", 0.65)
    report.target(row, "warm, 2 C processes, 3 kB, shielded, of /dev/shm", SHIELDED, SHM,
                  ">=", 0.42, True)


def warm(bench):
    photos(bench)
    small(bench)
