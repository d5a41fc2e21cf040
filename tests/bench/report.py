# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of figures: medians, ratios within the run, targets, and the table.

A row is what one reader did to one data set, by contender; it is a dict as it
stands in the JSON, so that a report can be drawn again from the file.
"""
import statistics

OPERATIONS = {">=": lambda a, b: a >= b, "<=": lambda a, b: a <= b,
              "==": lambda a, b: a == b}
YES, NO, ABSENT = "yes", "no", "not there yet"


def row(suite, key, what, reader, unit, better="more", chart=""):
    return {"suite": suite, "key": key, "what": what, "reader": reader, "unit": unit,
            "better": better, "chart": chart, "series": {}, "targets": []}


def series_of(entry, name, shield=None, note=""):
    """The figures of one contender in a row, begun if they are not there."""
    found = entry["series"].setdefault(
        name, {"values": [], "shield": shield, "note": note, "failed": "",
               "absent": ""})
    found["shield"] = shield
    return found


def target(entry, what, of, against, op, limit, shielded=False, scale=1):
    """`of` against a contender's median, the best of several contenders', a number, or
    (None) as it stands; over scale."""
    entry["targets"].append({"what": what, "of": of, "against": against, "op": op,
                             "limit": limit, "shielded": shielded, "scale": scale})


def median(values):
    return statistics.median(values) if values else None


def evaluate(entry):
    """Adds medians, figures and verdicts to a row."""
    for found in entry["series"].values():
        found["median"] = median(found["values"])
    for wanted in entry["targets"]:
        wanted["figure"] = figure(entry, wanted)
        wanted["verdict"] = verdict(entry, wanted)


def figure(entry, wanted):
    """What is compared with the limit, or None."""
    of = entry["series"].get(wanted["of"], {}).get("median")
    against = wanted["against"]
    if isinstance(against, (str, list)):
        names = [against] if isinstance(against, str) else against
        medians = [entry["series"].get(name, {}).get("median") for name in names]
        if None in medians:
            return None
        against = min(medians) if entry["better"] == "less" else max(medians)
    if of is None or against == 0:
        return None
    return (of if against is None else of / against) / wanted["scale"]


def verdict(entry, wanted):
    found = entry["series"].get(wanted["of"])
    if wanted["figure"] is None:
        return "failed" if found and found["failed"] else ABSENT
    if not OPERATIONS[wanted["op"]](wanted["figure"], wanted["limit"]):
        return NO
    if wanted["shielded"] and found["shield"] != "on":
        return NO + ": no shield"
    return YES


def number(value):
    if value is None:
        return "-"
    if value == 0 or abs(value) >= 100:
        return "{:,.0f}".format(value)
    return "%.1f" % value if abs(value) >= 10 else "%.2f" % value


def row_lines(entry):
    yield ""
    yield "%s: %s; %s" % (entry["key"], entry["what"], entry["reader"])
    yield "    %-28s %-6s %12s  %s" % ("", "shield", entry["unit"], "rounds; how")
    for name, found in entry["series"].items():
        told = (found["failed"] or found["absent"])[:160]
        told = told or " ".join(number(v) for v in found["values"])
        if found["note"]:
            told += "; " + found["note"]
        yield "    %-28s %-6s %12s  %s" % (name, found["shield"] or "", number(found["median"]),
                                          told)


def target_lines(rows):
    yield ""
    yield "%-74s %9s %8s  %s" % ("target", "figure", "wanted", "reached")
    for entry in rows:
        for wanted in entry["targets"]:
            yield "%-74s %9s %2s %5s  %s" % (
                wanted["what"], number(wanted["figure"]), wanted["op"],
                "%.4g" % wanted["limit"], wanted["verdict"])


def table(rows):
    lines = [line for entry in rows for line in row_lines(entry)]
    return "\n".join(lines + list(target_lines(rows)))


def failures(rows):
    """Sentences: a contender that failed, or gave wrong bytes."""
    return ["%s: %s: %s" % (entry["key"], name, found["failed"])
            for entry in rows for name, found in entry["series"].items()
            if found["failed"]]
