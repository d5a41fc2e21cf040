# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a text what Prometheus takes? Rules of its text format 0.0.4, and its linter's.

- a metric's HELP and TYPE come once, before its samples, which stand together
- no sample (name and labels) twice; values are numbers; counters end in _total
- a histogram's buckets only grow, the last is +Inf and the same as its count

- each sample has the labels of its mount, and no `job`, which is Prometheus's own

Prints what is wrong; exit status 1 if anything is. Prints NAME{LABELS} VALUE of all
samples with --dump, without the labels of the mount.
"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(r"(%s)(?:\{(.*)\})?[ \t]+(\S+)[ \t]*$" % NAME)
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\["\\n])*)",?')
MOUNT_LABELS = {"dataset", "mount", "jobid", "user", "id"}
problems = []


def family_of(name, types):
    for suffix in ("_bucket", "_sum", "_count"):
        base = name[: -len(suffix)]
        if name.endswith(suffix) and types.get(base) == "histogram":
            return base
    return name


def parse_labels(text, line):
    labels = LABEL.findall(text or "")
    if "".join('%s="%s",' % pair for pair in labels).rstrip(",") != (text or ""):
        problems.append("labels: " + line)
    return dict(labels)


def parse(lines):
    helps, types, samples, order = {}, {}, {}, []
    for line in lines:
        if line.startswith("# "):
            kind, name, rest = line[2:].split(" ", 2)
            table = {"HELP": helps, "TYPE": types}[kind]
            if name in table or name in order:
                problems.append("twice, or behind its samples: " + line)
            table[name] = rest
            continue
        found = SAMPLE.match(line)
        if not found:
            problems.append("no sample: " + line)
            continue
        name, labels, value = found.groups()
        family = family_of(name, types)
        if family not in types or not helps.get(family):
            problems.append("without TYPE and HELP: " + line)
        if not order or order[-1] != family:
            if family in order:
                problems.append("not together: " + line)
            order.append(family)
        pairs = parse_labels(labels, line)
        if not MOUNT_LABELS <= set(pairs) or "job" in pairs:
            problems.append("labels of the mount: " + line)
        key = (name, tuple(sorted(pairs.items())))
        if key in samples:
            problems.append("twice: " + line)
        samples[key] = float(value)
    for name in types:
        if name not in order:
            problems.append("no sample of " + name)
    return types, samples


def check_histogram(name, samples):
    series = {}
    for (sample, labels), value in samples.items():
        if sample == name + "_bucket":
            rest = tuple(pair for pair in labels if pair[0] != "le")
            series.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    if not series:
        problems.append("no buckets: " + name)
    for labels, buckets in series.items():
        bounds = [bound for bound, _ in buckets]
        values = [value for _, value in buckets]
        if bounds != sorted(set(bounds)) or values != sorted(values):
            problems.append("buckets do not grow: %s %s" % (name, labels))
        if bounds[-1] != float("inf") or values[-1] != samples[(name + "_count", labels)]:
            problems.append("count: %s %s" % (name, labels))
        if samples[(name + "_sum", labels)] < 0:
            problems.append("sum: %s %s" % (name, labels))


def main():
    text = sys.stdin.read()
    if not text.endswith("\n"):
        problems.append("the last line does not end")
    types, samples = parse(text.splitlines())
    for name, kind in types.items():
        if not name.startswith("granaryfs_"):
            problems.append("not ours: " + name)
        if (kind == "counter") != name.endswith("_total"):
            problems.append("name and type: %s %s" % (name, kind))
        if kind == "histogram":
            check_histogram(name, samples)
    if "--dump" in sys.argv:
        for (name, labels), value in samples.items():
            own = ["%s=%s" % pair for pair in labels if pair[0] not in MOUNT_LABELS]
            print("%s{%s} %g" % (name, ",".join(own), value))
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
