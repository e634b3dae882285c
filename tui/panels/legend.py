"""Line below the chart that explains its colours."""

from __future__ import annotations

from sim.support.formatting import printable
from tui.chart.cells.paint import sign_of
from tui.chart.colours import MODES, TITLES
from tui.chart.scene import ChartScene
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line


def legend_line(chart: ChartScene, look: Look, width: int) -> Line:
    """Return the name of the colour mode and as many meanings as fit; empty if each job has its own colour."""
    if not chart.legend:
        return line("")
    title = TITLES.get(chart.mode, chart.mode) if chart.mode in MODES else "start"
    spans = [Span(f" {title}: ", "dim", "colour")]
    room = width - text.cells(spans[0].text)
    for hue, label in chart.legend:
        told = f" {printable(label)}  "
        if room < text.cells(told) + 2:
            break
        spans += [Span(2 * sign_of(hue, look) if look.patterned else "▇▇", f"hue:{hue}"), Span(told)]
        room -= text.cells(told) + 2
    return line(*spans)
