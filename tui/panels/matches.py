"""Panel with every step of the run that meets a condition, each with its jobs and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.support.formatting import count, name
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import Context, taught, window, written
from tui.replay.scene import MatchesScene

if TYPE_CHECKING:
    from sim.stops.search import Match

TITLE = "Matches"
NAMED = 3


def draw(context: Context, size: Size, first: int) -> Sheet:
    seen = context.scene.matches
    if seen is None:
        return taught(TITLE, context, size, "Every step that meets a condition appears here: / backfill, queue > 50.")
    head = line(Span(text.shorten(written(seen.stop, context), size[0]), "strong"))
    if not seen.found:
        none = taught(TITLE, context, size, "No step meets it." if seen.share == 1 else "None yet.", note=_note(seen))
        return Sheet(TITLE, (head,), none.body, 0, none.total, none.note)
    times = [written(context.exactly(match.time), context) for match in (seen.found[0], seen.found[-1])]
    wide, total = max(map(text.cells, times)), len(seen.found) + bool(seen.more)
    rows = window(total, first, size[1] - 1)
    body = [_row(seen.found[at], context, size[0], wide) for at in rows if at < len(seen.found)]
    if seen.more and rows.stop == total:
        last = context.exactly(seen.found[-1].time)
        body.append(line(Span(text.shorten(f"and {seen.more:,} more: and time > {last} lists them", size[0]), "dim")))
    step = context.scene.snapshot.step
    mark = next((at for at, match in enumerate(seen.found) if match.step >= step), len(seen.found) - 1)
    return Sheet(TITLE, (head,), tuple(body), rows.start, total, _note(seen), mark, is_followed=True)


def _note(seen: MatchesScene) -> str:
    many = count(len(seen.found) + seen.more, "step")
    if seen.share < 1:
        return f"{many} · {seen.share * 100:.0f} % read"
    return f"{many} · ] [ next" if seen.found else many


def _row(match: Match, context: Context, width: int, wide: int) -> Line:
    action = f"to_match({match.step}, {match.jobs[0].rank if match.jobs else None})"
    style = "accent" if match.step == context.scene.snapshot.step else ""
    time = text.pad(written(context.exactly(match.time), context), wide, "right")
    jobs = " ".join(name(job) for job in match.jobs[:NAMED]) + f" +{len(match.jobs) - NAMED:,}" * (
        len(match.jobs) > NAMED
    )
    told = "  ".join(filter(None, (jobs, ", ".join(match.values[:NAMED]))))
    rank = match.jobs[0].rank if len(match.jobs) == 1 else None
    return line(
        Span(time, style or "dim", action, rank),
        Span(f"  {text.shorten(written(told, context), max(width - wide - 2, 0))}", style, action, rank),
    )
