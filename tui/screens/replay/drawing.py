"""The replay screen as it is drawn: every panel in its place, and what each is given."""

from __future__ import annotations

from time import monotonic

from tui.chart.scene import ChartScene
from tui.look.sheets import wrapped
from tui.panels.legend import legend_line
from tui.panels.parts import Context
from tui.panels.sentence import sentence_lines
from tui.panels.top import Going, top_line
from tui.screens.replay.keyline import key_lines
from tui.screens.replay.layout import arrange
from tui.screens.replay.screen import SIDE, ReplayBase
from tui.widgets.bar import Bar
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel

ROOMY = 45
"""From so many rows on a panel that only tells what it is for has a place."""
CALM = 0.12
"""Seconds between two drawings of the panels while it plays: numbers that flicker cannot be read."""


class Drawn(ReplayBase):
    """Draws what the state says."""

    def place_panels(self) -> None:
        """Give every panel its place."""
        width, height = self.size
        self._available = self._with_something_to_show()
        layout = arrange(width, height, self._available, self.hidden, self.over)
        has_strip = "strip" not in self.hidden
        if layout == self._layout and has_strip == self.query_one("#strip").display:
            return
        self._layout = layout
        self.set_class(layout.small, "small")
        rows = dict(layout.panels)
        side = self.query_one("#side")
        side.display = bool(layout.side and layout.panels)
        side.styles.width = layout.side
        for name in SIDE:
            panel = self.query_one(f"#{name}")
            panel.display = name in rows
            panel.styles.height = rows.get(name, 0)
        bottom = self.query_one("#bottom")
        bottom.display = bool(layout.bottom)
        bottom.styles.height = layout.bottom
        self.query_one("#strip").display = has_strip
        self.query_one("#metrics").display = bool(layout.metrics)
        self.query_one("#metrics").styles.width = layout.metrics if has_strip else "1fr"
        self.query_one("#sentence").styles.height = layout.sentence
        keys = self.query_one("#keys")
        keys.display = bool(layout.keys)
        keys.styles.height = layout.keys

    def _with_something_to_show(self) -> frozenset[str]:
        """The panels that mean something under this policy."""
        names = {"queue", "decisions"}
        if self.selected is not None or self.size.height >= ROOMY or self.over == "details":
            names.add("details")
        if self.scene and self.scene.snapshot.matrix is not None:
            names.add("matrix")
        if self.scene and self.scene.versus is not None:
            names.add("versus")
        if self.scene and self.scene.snapshot.owners:
            names.add("partitions")
        return frozenset(names)

    def draw(self) -> None:
        """Everything as it is now; while it plays, panels only as often as they can be read."""
        context = self.context()
        if context is None or not self.is_mounted:
            return
        if self._with_something_to_show() != self._available:
            self.place_panels()
        self.chart.selected = self.selected
        self.chart.show(context.scene, self.look)
        self._draw_beside()
        self._draw_legend(context.scene.chart)
        self.draw_top()
        now = monotonic()
        if self.playing and now - self._drawn < CALM:
            return
        self._drawn = now
        for panel in self.query(Panel):
            if panel.display:
                panel.show(context)
        self._draw_sentence(context)
        self._draw_keys()

    def draw_top(self) -> None:
        going = Going(self.playing, self.direction, self.rate.label, self.player.progress)
        beside = self.shown.beside.snapshot.policy if self.shown and self.shown.beside else ""
        told = top_line(self.about, self.scene, going, self.size.width, beside)
        self.query_one("#top", Bar).show([told], self.look)

    def _draw_sentence(self, context: Context) -> None:
        """What there is to say, over as many rows as it may have."""
        width, rows = self.size.width, self._layout.sentence if self._layout else 1
        if self._said:
            lines = wrapped(self._said, width - 1, "accent", indent=1)[:rows]
        else:
            lines = sentence_lines(context, width, rows)
        self.query_one("#sentence", Bar).show(lines, self.look)

    def _draw_keys(self) -> None:
        keys = self.query_one("#keys", Bar)
        keys.show(key_lines(self.size.width, max(keys.size.height, 1), self.playing), self.look)

    def _draw_legend(self, chart: ChartScene | None) -> None:
        """What the colours tell, where they do not just tell jobs apart."""
        legend = self.query_one("#legend", Bar)
        legend.display = chart is not None and bool(chart.legend)
        if chart is not None and legend.display:
            legend.show([legend_line(chart, self.look, self.chart.size.width)], self.look)

    def _draw_beside(self) -> None:
        """The run that is compared, on the same clock and under the same camera."""
        beside = self.shown.beside if self.shown else None
        chart = self.query_one("#beside", Gantt)
        chart.display = self.query_one("#between").display = beside is not None
        if beside is not None:
            chart.selected = self.selected
            chart.show(beside, self.look)
            from tui.panels import versus

            context = self.context()
            if context is not None:
                told = versus.between(context, self.chart.size.width)
                self.query_one("#between", Bar).show([told], self.look)
