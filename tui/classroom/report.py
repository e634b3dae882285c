"""Marks as a table, and the report: one HTML file with sentences, and each first difference as a picture."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

from sim.classroom.grading.grade import RATIOS, Assignment, OnTrace, Row
from sim.engine.engine import Engine
from sim.support.formatting import count, printable
from tui.chart.svg.drawing import Options, drawn_below

BEFORE = 6
"""Number of instants before a first difference from which its picture begins"""
HEADS = ("submission", "marks", "of", "legal", "deterministic", "starves", "tests", "answers", "notes")
OF_TRACE = ("equal", "step", "jobs", "first difference", *(f"{name} ratio" for name in RATIOS))
STYLE = """<meta charset="utf-8"><meta http-equiv="Content-Security-Policy"
content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"><style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse } td, th { padding: .2rem .7rem; text-align: left; border-bottom: 1px solid #ddd }
img { max-width: 100%; height: auto } p { overflow-wrap: anywhere } section { margin-top: 2rem }</style>"""


def table(rows: Sequence[Row], to: Assignment) -> Iterator[Sequence[object]]:
    """Yield the heads, then the cells of each submission; columns after `HEADS` are about the traces."""
    yield (*HEADS, *(f"{name} on {trace}" for trace, _ in to.on for name in OF_TRACE))
    for row in rows:
        on = {each.trace: each for each in row.on}
        marks = round(row.marks, 2), round(row.of, 2)
        shares = (f"{share[0]} of {share[1]}" if share else "" for share in (row.tests, row.answers))
        cells = [row.name, *marks, *map(_yes, (row.legal, row.deterministic, row.starves)), *shares, row.told]
        yield [*cells, *(cell for trace, _ in to.on for cell in _on(on.get(trace)))]


def _on(each: OnTrace | None) -> Sequence[object]:
    if each is None:
        return [""] * len(OF_TRACE)
    ratios = ("" if (ratio := each.ratios[name]) is None else round(ratio, 4) for name in RATIOS)
    return [_yes(each.equal), "" if each.step is None else each.step, each.jobs, each.told, *ratios]


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def drawn(runs: Sequence[tuple[Engine, str]], time: float) -> str:
    """Return both runs as SVG, from some instants before `time` on."""
    before = [at for at in runs[0][0].history.times() if at < time][-BEFORE:]
    return drawn_below(runs, Options(min([time - 1, *before]), time, 1100, 620, theme="light"))


def page(rows: Sequence[Row], to: Assignment) -> str:
    """Return the report; all that comes from submissions is text in it, and pictures are images."""
    heads, *cells = (line[: len(HEADS)] for line in table(rows, to))
    title = f"{count(len(rows), 'submission')} next to {to.like}"
    traces = ", ".join(f"{name} ({count(len(jobs), 'job')})" for name, jobs in to.on)
    parts = [_tag("title", title), STYLE, _tag("h1", title), _tag("p", f"On {traces}."), "<table>"]
    parts += ["<tr>" + "".join(_tag("td", cell) for cell in line) for line in (heads, *cells)]
    return "\n".join(['<!doctype html><html lang="en">', *parts, "</table>", *map(_section, rows), "</html>\n"])


def _section(row: Row) -> str:
    if not row.picture:
        return ""
    lines = (f"{each.trace}, step {each.step}: {each.told}." for each in row.on if each.told)
    data = b64encode(row.picture.encode()).decode()
    picture = f'<img alt="first difference" src="data:image/svg+xml;base64,{data}">'
    return f"<section>{_tag('h2', row.name)}{''.join(_tag('p', line) for line in lines)}{picture}</section>"


def _tag(name: str, text: object) -> str:
    return f"<{name}>{escape(printable(str(text)))}</{name}>"
