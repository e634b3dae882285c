"""Texts that a user sees on the replay screen, and positions for the mouse pointer."""

from textual.events import Paste
from textual.geometry import NULL_OFFSET, Offset

from tests.tui.replays import Replay, rows_of
from tui.chart.cells.edges import margin


def seen(run: Replay, selector: str) -> str:
    """Return the text of the widget that `selector` finds on the screen; "" if it is hidden."""
    widget = run.app.screen.query_one(selector)
    if not widget.display:
        return ""
    region = widget.region
    rows = rows_of(run.app.screen, range(region.y, region.bottom))
    return "\n".join(row[region.x : region.right].rstrip() for row in rows)


def noted(run: Replay) -> str:
    return "\n".join([seen(run, "#sentence"), *(each.message for each in run.app._notifications)])


def find(run: Replay, selector: str, text: str) -> Offset:
    """Return the position at which a text begins in the widget that `selector` finds."""
    for row, line in enumerate(seen(run, selector).splitlines()):
        if text in line:
            return Offset(line.index(text), row)
    raise AssertionError(f"no {text!r} in {selector}:\n{seen(run, selector)}")


async def enter(run: Replay, text: str) -> None:
    await run.pilot.press("ctrl+u")
    run.app.screen.post_message(Paste(text))
    await run.press("enter")


async def click(run: Replay, selector: str, text: str) -> None:
    await run.pilot.click(selector, offset=find(run, selector, text))
    await run.settle()


async def hover(run: Replay, selector: str, spot: Offset = NULL_OFFSET) -> None:
    await run.pilot.hover(selector, offset=spot)
    await run.settle()


def cell(run: Replay, time: float, processor: int) -> Offset:
    chart = run.scene.chart
    assert chart is not None
    rows = chart.view.rows_of(processor)
    return Offset(margin(chart.workload.procs) + chart.view.column_of(time), (rows.start + rows.stop) // 4)
