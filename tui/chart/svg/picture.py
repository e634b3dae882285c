"""The whole picture: title, chart, axes, the numbers below and what the signs mean."""

from __future__ import annotations

from collections.abc import Iterator

from sim.errors import ParameterError
from sim.words import clock, count, processors
from tui.chart.svg.elements import element, number, text
from tui.chart.svg.frame import LEAST_HEIGHT, LEAST_WIDTH, LEFT, Frame
from tui.chart.svg.jobs import blocks_of, draw_blocks, draw_pixels
from tui.chart.svg.legend import draw_legend, textures
from tui.chart.svg.names import draw_names
from tui.chart.svg.pieces import Pieces, pieces_of
from tui.chart.svg.pixels import is_small
from tui.chart.svg.signs import draw_boundaries, draw_killed, draw_marks, draw_now, draw_plan
from tui.chart.svg.strips import in_use_and_waiting, strips
from tui.chart.svg.subject import Subject
from tui.chart.ticks import processors as named_processors
from tui.chart.ticks import times
from tui.chart.turns import are_seen, by_columns, by_turns
from tui.look.palette import Look

_FONTS = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def draw_svg(subject: Subject, look: Look, width: int, height: int) -> str:
    """The picture as a file of its own: nothing in it runs, nothing is fetched."""
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        raise ParameterError(f"a picture needs at least {LEAST_WIDTH} x {LEAST_HEIGHT} pixels, got {width} x {height}")
    owners = subject.history.owners_at(subject.now)
    frame = Frame.within(width, height, subject.begin, subject.end, subject.workload.procs, bool(owners))
    visible = subject.history.between(subject.begin, subject.now)
    if subject.turn is None:
        ran = visible
    elif are_seen(subject.turn, subject.column):
        ran = by_turns(subject.history, visible, subject.begin, subject.now)
    else:
        ran = by_columns(visible, subject.begin, subject.now, subject.column)
    trails = subject.chronicle.pauses(subject.begin, subject.now)
    solid, trail = (pieces_of(s, subject.begin, subject.now) for s in (ran, trails))
    textures_seen = {*solid.texture.tolist(), *trail.texture.tolist()}
    crosses = draw_killed(ran, subject, frame, look)
    inside = [
        element("title", text(_title(subject)), id="title"),
        element("desc", text(_description(subject, frame)), id="description"),
        textures(sorted(set(subject.hues.tolist())), look),
        element("rect", width=width, height=height, fill=look.background),
        _heading(subject, look),
        element("rect", x=frame.left, y=frame.top, width=frame.width, height=frame.height, fill=look.surface),
        *_layers(solid, trail, crosses, subject, frame, look),
        _axes(frame, look),
        strips(subject.history, frame, subject.now, look),
        draw_legend(subject, textures_seen, bool(crosses), frame.left, frame.right, height - 10, look),
    ]
    return (
        element(
            "svg", *inside, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
            viewBox=f"0 0 {width} {height}", role="img", aria_labelledby="title description",
            font_family=_FONTS, font_size=11, fill="none",
        )
        + "\n"
    )  # fmt: skip


def _layers(solid: Pieces, trail: Pieces, crosses: str, subject: Subject, frame: Frame, look: Look) -> Iterator[str]:
    """The chart from the ground up."""
    small = is_small(solid, frame)
    drawn = blocks_of(solid.where(~small), frame)
    sharp = [
        draw_blocks(blocks_of(trail.where(~is_small(trail, frame)), frame), subject, look),
        draw_pixels(solid.where(small), frame, subject, look),
        draw_blocks(drawn, subject, look),
        draw_plan(subject, {block.rank for block in drawn}, frame, look),
    ]
    yield element("g", *sharp, shape_rendering="crispEdges")
    yield draw_names(drawn, subject, look)
    yield crosses
    yield draw_boundaries(subject, frame, look)
    yield draw_marks(subject.marks, frame, look)
    yield draw_now(subject, frame, look)


# Words


def _title(subject: Subject) -> str:
    return f"{subject.workload.name} · {subject.policy} · {processors(subject.workload.procs)}"


def _window(subject: Subject) -> str:
    return f"{clock(subject.begin)} to {clock(subject.now)}"


def _description(subject: Subject, frame: Frame) -> str:
    """What the picture shows, for those who do not see it."""
    use, waiting = in_use_and_waiting(subject.history, frame, subject.now)
    ran = len({stretch.rank for stretch in subject.history.between(subject.begin, subject.now)})
    told = f"Processors upwards, time to the right, from {_window(subject)}: {count(ran, 'job')} on processors"
    if not len(use):
        return told + "."
    return told + f", {use.mean():.0%} of the machine in use, at most {count(round(waiting.max()), 'job')} waiting."


def _heading(subject: Subject, look: Look) -> str:
    title = element("text", text(_title(subject)), x=16, y=24, font_size=15, font_weight="bold", fill=look.text)
    is_interleaved = subject.turn is not None and not are_seen(subject.turn, subject.column)
    words = _window(subject) + (" · each column shows one row of the matrix" if is_interleaved else "")
    return title + element("text", text(words), x=16, y=42, fill=look.dim)


# Axes


def _axes(frame: Frame, look: Look) -> str:
    drawn = []
    for time, word in times(frame.begin, frame.end, lambda _: (frame.end - frame.begin) / (frame.width // 80)):
        x = frame.x(time)
        drawn.append(element("path", d=f"M{number(x)} {frame.bottom}v4", stroke=look.dim))
        if x < frame.right - 12:
            drawn.append(element("text", text(word), x=x, y=frame.bottom + 16, text_anchor="middle", fill=look.dim))
    for number_of in sorted(named_processors(0, frame.procs - 1, frame.procs / max(frame.height // 36, 2), clear=0.5)):
        y = (frame.y(number_of) + frame.y(number_of + 1)) / 2
        drawn.append(element("path", d=f"M{LEFT - 4} {number(y)}h-3", stroke=look.dim))
        drawn.append(element("text", f"{number_of:,}", x=LEFT - 10, y=y + 4, text_anchor="end", fill=look.dim))
    return "".join(drawn)
