# SPDX-License-Identifier: GPL-3.0-or-later
"""The chart of a run, as an SVG for a README: bars, and no library.

It has a ground of its own, so that it can be read on a light page and a dark one;
where the reader's system prefers dark, it is dark.
"""
from xml.sax.saxutils import escape

import machine
from report import number

WIDTH, LEFT, BAR, GAP, RIGHT = 800, 290, 16, 6, 90
STYLE = """
text { font: 13px system-ui, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #24292f }
.ground { fill: #ffffff; stroke: #d0d7de }
.title { font-weight: 600 }
.small { font-size: 11px; fill: #57606a }
.ours { fill: #1a7f37 }
.other { fill: #8c959f }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.ground { fill: #0d1117; stroke: #30363d }
.small { fill: #8b949e }
.ours { fill: #3fb950 }
.other { fill: #6e7681 }
}
"""


def text(x, y, content, kind="", anchor="start"):
    return '<text x="%g" y="%g" class="%s" text-anchor="%s">%s</text>' % (
        x, y, kind, anchor, escape(content))


def label(name, series):
    """The contender; and where there was no shield although it was asked for."""
    if "shielded" in name and series["shield"] != "on":
        return name + " (no shield)"
    return name


def bars(entry):
    """[(label, median)] of those that have a figure, the best first."""
    found = [(label(name, series), series["median"])
             for name, series in entry["series"].items() if series.get("median") is not None]
    return sorted(found, key=lambda pair: pair[1], reverse=entry["better"] == "more")


def panel(entry, top):
    """(SVG, height) of one row of the report."""
    shown = bars(entry)
    most = max(value for _, value in shown) or 1
    better = "longer is better" if entry["better"] == "more" else "shorter is better"
    parts = [text(16, top + 16, entry["chart"], "title"),
             text(WIDTH - 16, top + 16, better, "small", "end")]
    y = top + 28
    for name, value in shown:
        length = max(1, (WIDTH - LEFT - RIGHT) * value / most)
        kind = "ours" if name.startswith("granaryfs") else "other"
        parts.append(text(LEFT - 8, y + BAR - 4, name, "", "end"))
        parts.append('<rect x="%g" y="%g" width="%.1f" height="%g" rx="2" class="%s"/>'
                     % (LEFT, y, length, BAR, kind))
        parts.append(text(LEFT + length + 6, y + BAR - 4, number(value)))
        y += BAR + GAP
    return "\n".join(parts), y - top + 14


def draw(run):
    parts, y = [], 20
    for entry in run["rows"]:
        if entry["chart"] and bars(entry):
            drawn, height = panel(entry, y)
            parts.append(drawn)
            y += height
    told = machine.sentence(run["machine"]) + ("; a quick run" if run["quick"] else "")
    for sentence in (told, machine.busy(run["machine"]), run["note"]):
        if sentence:
            parts.append(text(16, y + 8, sentence, "small"))
            y += 16
    height = y + 8
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
            'viewBox="0 0 %d %d" role="img">\n<style>%s</style>\n'
            '<rect x="0.5" y="0.5" width="%d" height="%d" rx="6" class="ground"/>\n%s\n</svg>\n'
            % (WIDTH, height, WIDTH, height, STYLE, WIDTH - 1, height - 1,
               "\n".join(parts)))
