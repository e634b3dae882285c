"""Drawing of a run, from a first to a last time, as a chart in a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from sim.engine.engine import Engine
from sim.machine.ousterhout_matrix import Cell, MatrixPicture
from sim.machine.processors import ranges
from sim.support.errors import NotThereError, ParameterError, SchedscopeError, near
from sim.support.files import write_whole
from sim.support.formatting import clock, name, processors
from sim.support.formatting import clock as told
from tui.chart.axis import CLOCK
from tui.chart.chart_maker import ChartMaker
from tui.chart.colours import MODES
from tui.chart.lanes import turn_at
from tui.chart.scene import Drawing, Mark
from tui.chart.svg.elements import Rect, element, number, outline, text, write_in
from tui.chart.svg.frame import inner_height
from tui.chart.svg.legend import textures
from tui.chart.svg.picture import FONTS, draw_svg
from tui.look.calendar import Calendar
from tui.look.fonts import FAMILY, FILES
from tui.look.palette import LOOKS, Look, Tone, ink

Form = Literal["svg", "png"]
MOST_PIXELS = 50_000_000

_AHEAD = 0.3
"""Width of the plan, as a share of the width of the past."""
_COLUMN = 4
"""Width in pixels of a column; matrix rows with shorter turns are drawn as lanes."""

ROW = 7
"""Half the height in pixels of the bar above a partition."""


@dataclass(frozen=True)
class Options:
    """Options of the picture; making wrong ones raises an error."""

    begin: float | None = None
    """First time to draw, in seconds; None for the first submission."""
    until: float | None = None
    """Last time to draw, in seconds; None for the end of the run."""
    width: int = 1440
    height: int = 810
    theme: str = "dark"
    colour: str = "job"
    by_event: bool = False
    """True if each event of the run takes the same width, False if each second does."""
    scale: float = 1.0
    """Factor for the size of letters and lines, above 1 for slides."""
    matrix: bool = False
    """True to draw the Ousterhout matrix at the time `until` instead of the chart."""
    dates: bool = False
    """True to label times by dates and weekdays, if the trace has a start date."""
    by_number: bool = False
    """False to give each partition a lane, if the picture is high enough."""

    def __post_init__(self) -> None:
        if self.begin is not None and self.until is not None and self.begin >= self.until:
            raise ParameterError(f"--from must be before --to, got {told(self.begin)} and {told(self.until)}")
        _require_known("theme", self.theme, LOOKS)
        _require_known("colour", self.colour, MODES)


def save_drawing(engine: Engine, spec: str, options: Options, out: str | Path) -> None:
    """Write the picture of a run, simulated to the last time to draw, to the file `out`."""
    form_of(str(out))
    _write(drawn_alone(engine, spec, options), options, out)


def save_pair(runs: Sequence[tuple[Engine, str]], options: Options, out: str | Path) -> None:
    """Write pictures of runs of one workload, one below the other with the same times."""
    _write(drawn_below(runs, options), options, out)


def drawn_below(runs: Sequence[tuple[Engine, str]], options: Options) -> str:
    """Return pictures of several runs of one workload as SVG, one below the other with the same times."""
    made = [drawing_of(engine, spec, options) for engine, spec in runs]
    clock = max(drawing.until for drawing in made), max(drawing.clock for drawing in made)
    each = replace(options, height=options.height // len(runs))
    drawn = [_drawn(engine, drawing_of(engine, spec, each, *clock), each) for engine, spec in runs]
    inside = [_moved_group(svg, place, round(each.height / each.scale)) for place, svg in enumerate(drawn)]
    size = _size(options)
    return element("svg", *inside, xmlns="http://www.w3.org/2000/svg", width=size[0], height=size[1],
                   viewBox=f"0 0 {size[0]} {size[1]}") + "\n"  # fmt: skip


def drawn_alone(engine: Engine, spec: str, options: Options) -> str:
    return _drawn(engine, drawing_of(engine, spec, options), options)


def _moved_group(svg: str, place: int, height: int) -> str:
    named = re.sub(r'\bid="(\w+)"|url\(#(\w+)\)', lambda found: found[0].replace(
        found[1] or found[2], f"{found[1] or found[2]}-{place}"), svg.rstrip())  # fmt: skip
    named = re.sub(r'aria-labelledby="[^"]*"', f'aria-labelledby="title-{place}"', named, count=1)
    return element("g", named, transform=f"translate(0 {place * height})")


def _size(options: Options) -> tuple[int, int]:
    return round(options.width / options.scale), round(options.height / options.scale)


def _drawn(engine: Engine, drawing: Drawing, options: Options) -> str:
    look = LOOKS[options.theme]
    if options.dates:
        look = look.with_calendar(Calendar.of(drawing.workload.header))
    if not options.matrix:
        return draw_svg(drawing, look, *_size(options))
    snapshot = engine.snapshot()
    if snapshot.matrix is None:
        raise NotThereError(f"there is no matrix under {snapshot.policy}: gang scheduling has one")
    on_turn = turn_at(snapshot, drawing.clock).row
    return draw_matrix(snapshot.matrix, on_turn, drawing, look, *_size(options), FONTS)


def _write(svg: str, options: Options, out: str | Path) -> None:
    if options.scale != 1:
        was, now = _size(options), (options.width, options.height)
        svg = svg.replace(f'width="{was[0]}" height="{was[1]}"', f'width="{now[0]}" height="{now[1]}"', 1)
    with write_whole(out) as file:
        if form_of(str(out)) == "svg":
            file.write(svg)
        else:
            file.buffer.write(as_png(svg))


def drawing_of(
    engine: Engine, spec: str, options: Options, until: float | None = None, clock: float | None = None
) -> Drawing:
    """Return the data of a run's chart; `until` is the right edge, `clock` where the plan begins, or None."""
    workload, goes_on = engine.workload, engine.next_time() is not None
    now = options.until if goes_on and options.until is not None else engine.now
    begin = options.begin
    if begin is None:
        begin = workload.jobs[0].submit if len(workload) else 0
    if begin >= now and len(workload):
        raise NotThereError(f"there is nothing to draw from {told(begin)} on: the run is over at {told(now)}")
    now = now if clock is None else clock
    maker, snapshot = ChartMaker(workload), engine.snapshot()
    axis = maker.axis_by_event(engine.history, snapshot, now) if options.by_event else CLOCK
    first, last = map(axis.place, (begin, now))
    end = axis.time(min(last + _AHEAD * (last - first), axis.last)) if goes_on else now
    end = end if until is None else until
    column = max(axis.place(end) - first, 1) / options.width * _COLUMN
    switches = engine.history.switches
    marks = [Mark(change.time, "switch", change.spec) for change in switches]
    title = ", then ".join([spec, *(change.spec for change in switches)])
    rows = None if options.by_number else max(inner_height(_size(options)[1]) // ROW, 1)
    return maker.draw(engine.history, snapshot, now, (begin, end), column, options.colour, marks, title, axis, rows)


# Files


def refuse_large(options: Options, out: str | Path) -> None:
    """Raise an error if a PNG picture of this size would need gigabytes of memory."""
    if form_of(str(out)) == "png" and options.width * options.height > MOST_PIXELS:
        size = f"{options.width} x {options.height} pixels are more than the {MOST_PIXELS:,} of a PNG"
        raise ParameterError(f"{out}: {size}; write a .svg, or make it smaller")


def form_of(out: str) -> Form:
    """Return the format of a picture by its name's extension; raise an error if that cannot be written."""
    suffix = Path(out).suffix.lower()
    if suffix == ".png":
        if find_spec("resvg_py") is None:
            raise SchedscopeError(f"{out}: a PNG needs resvg_py: pip install 'schedscope[png]', or write a .svg")
        return "png"
    if suffix not in (".svg", ""):
        raise ParameterError(f"{out}: a picture is written as .svg or .png")
    return "svg"


def as_png(svg: str) -> bytes:
    """Return the SVG picture as PNG, with the font of this program if the system lacks it."""
    fonts = {"font_files": list(FILES), "monospace_family": FAMILY, "sans_serif_family": FAMILY}
    return bytes(import_module("resvg_py").svg_to_bytes(svg_string=svg, **fonts))


def _require_known(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise ParameterError(f"no {what} {name!r}{near(name, known)}")


# The matrix.

_TOP, _LEFT, _RIGHT, _BOTTOM = 62, 52, 40, 40
_GAP = 4


def draw_matrix(
    matrix: MatrixPicture, on_turn: int | None, chart: Drawing, look: Look, width: int, height: int, fonts: str
) -> str:
    """Return the matrix as SVG: jobs are filled at home and hatched as replicas; row `on_turn` is marked."""
    inner = Rect(_LEFT, _TOP, width - _LEFT - _RIGHT, height - _TOP - _BOTTOM)
    high = min(inner.height / max(len(matrix.rows), 1), inner.height / 4)
    title = f"{chart.workload.name} · {chart.title} · {processors(matrix.procs)}"
    told = f"{clock(chart.clock)} · rows of the matrix take turns; columns are processors; replicas are hatched"
    inside = [
        element("title", text(title), id="title"),
        textures(sorted(set(chart.hues.tolist())), look),
        element("rect", width=width, height=height, fill=look.background),
        element("text", text(title), x=16, y=24, font_size=15, font_weight="bold", fill=look.text),
        element("text", text(told), x=16, y=42, fill=look.dim),
        *(
            part
            for place, (row, cells) in enumerate(matrix.rows)
            for part in _row(
                row, cells, inner._replace(y=inner.y + place * high, height=high), chart, look, row == on_turn
            )
        ),
        *_axis(inner, inner.y + high * len(matrix.rows), matrix.procs, look),
    ]
    if not matrix.rows:
        inside.append(element("text", "The matrix is empty.", x=_LEFT, y=_TOP + 20, fill=look.dim))
    return (
        element(
            "svg", *inside, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
            viewBox=f"0 0 {width} {height}", role="img", aria_labelledby="title", font_family=fonts, font_size=11,
        )
        + "\n"
    )  # fmt: skip


def _row(row: int, cells: tuple[Cell, ...], at: Rect, chart: Drawing, look: Look, is_on: bool) -> Iterator[str]:
    colour, middle = look.accent if is_on else look.dim, at.y + at.height / 2 + 4
    yield element("text", f"{row}", x=at.x - 10, y=middle, text_anchor="end", fill=colour)
    ground = at._replace(height=at.height - _GAP)
    yield element("path", d=outline([ground]), fill=look.surface, stroke=look.accent if is_on else None)
    if is_on:
        yield element("text", "◂", x=at.x + at.width + 8, y=middle, fill=look.accent)
    for cell in cells:
        hue, each = int(chart.hues[cell.rank]), at.width / chart.workload.procs
        spans = [(low, high + 1 - low) for low, high in ranges(cell.columns)]
        rects = [Rect(at.x + low * each, ground.y, many * each, ground.height) for low, many in spans]
        path, tone = outline(rects), Tone.FULL if cell.is_home else Tone.HALF
        yield element("path", d=path, fill=look.inks[ink(hue, tone)], stroke=look.background)
        if not cell.is_home:
            yield element("path", d=path, fill="url(#plan)")
        word = name(chart.workload.jobs[cell.rank])
        yield write_in(max(rects, key=lambda rect: rect.area), word, look.inks[ink(hue, Tone.TEXT)])


def _axis(inner: Rect, bottom: float, procs: int, look: Look) -> Iterator[str]:
    for column, anchor in ((0, "start"), (procs - 1, "end")):
        x = inner.x + (inner.width if column else 0)
        yield element("path", d=f"M{number(x)} {number(bottom)}v4", stroke=look.dim)
        yield element("text", f"{column:,}", x=x, y=bottom + 16, text_anchor=anchor, fill=look.dim)
