"""Actions that change what is seen: selection, colours, panels."""

from __future__ import annotations

from textual import on
from textual.binding import Binding

from tui.chart.colours import MODES
from tui.replay.places import parse_job
from tui.screens.dialogs.choice import Choice
from tui.screens.dialogs.lazily import fidelity_report, help_screen, prompt
from tui.screens.replay.keys import GROUPS, sign
from tui.screens.replay.screen import SIDE, ReplayBase
from tui.widgets.gantt import Gantt
from tui.widgets.panel import Panel


class Looking(ReplayBase):
    """Selecting, finding, colouring; which panels are shown."""

    # Selection is shared by all

    def action_select_rank(self, rank: int) -> None:
        self.select(rank)

    @on(Gantt.Picked)
    @on(Panel.Picked)
    def _picked(self, message: Gantt.Picked | Panel.Picked) -> None:
        self.select(None if message.rank == self.selected else message.rank)

    @on(Gantt.Hovered)
    def _pointed(self, message: Gantt.Hovered) -> None:
        if message.spot is not None:
            self.spot = message.spot

    @on(Panel.Hovered)
    def _hovered(self, message: Panel.Hovered) -> None:
        if message.rank != self.hovered:
            self.hovered = message.rank
            self.draw()

    @on(Gantt.CameraChanged)
    def _camera_changed(self, message: Gantt.CameraChanged) -> None:
        """Both charts look where one does; that one may already look elsewhere."""
        for gantt in self.query(Gantt):
            if gantt is not message.control:
                gantt.camera = message.camera
        self.wish()

    def action_find(self) -> None:
        hint = "a job's number or name"
        self.app.push_screen(prompt("Find a job", hint, self._job, answers=self.answers), self._find)

    def _job(self, text: str) -> int:
        return parse_job(text, self.about.workload)

    def _find(self, rank: int | None) -> None:
        if rank is not None:
            self.select(rank)

    def action_why(self) -> None:
        """The job that waits first; pressed again the next, and so on. Its details say why."""
        if self.scene is None:
            return
        queue = self.scene.snapshot.queue
        waiting = [queued.job.rank for queued in queue[:200]]
        if not waiting:
            self.tell("nobody waits now: → steps on, ] goes to the next start")
            return
        at = waiting.index(self.selected) + 1 if self.selected in waiting else 0
        self.select(waiting[at % len(waiting)])
        self.show_panel("details")

    # Colours

    def action_colour(self) -> None:
        options = [(f"{index}", mode, meaning) for index, (mode, meaning) in enumerate(MODES.items(), 1)]
        self.app.push_screen(Choice("Colour jobs by", options, self.colour), self._coloured)

    def _coloured(self, mode: str | None) -> None:
        if mode is not None:
            self.action_colour_by(mode)

    def action_colour_by(self, mode: str) -> None:
        self.colour = mode
        self.schedscope.remember(colour_by=mode)
        self.wish()

    # Panels

    def action_toggle_panel(self, name: str) -> None:
        """Show or hide a panel; on a small screen it comes over the chart."""
        if self._layout and self._layout.small and name in SIDE:
            self.over = None if self.over == name else name
        elif name in self.hidden:
            self.hidden.discard(name)
        else:
            self.hidden.add(name)
        self.rearrange()

    def show_panel(self, name: str) -> None:
        """The panel is to be seen."""
        if self._layout and self._layout.small:
            self.over = name
        self.hidden.discard(name)
        self.rearrange()

    def action_next_panel(self) -> None:
        self._walk_panels(1)

    def action_previous_panel(self) -> None:
        self._walk_panels(-1)

    def _walk_panels(self, by: int) -> None:
        """On a small screen the next panel comes over the chart, after the last none; else the focus goes on."""
        if self._layout and self._layout.small:
            names: list[str | None] = [None, *(name for name in SIDE if name in self._available)]
            self.over = names[(names.index(self.over) + by) % len(names)]
            self.rearrange()
        elif by > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_maximise(self) -> None:
        """The focused panel alone, and back."""
        focused = self.focused
        if self.alone or not isinstance(focused, Panel | Gantt):
            self.close_panel()
        else:
            self.show_alone(focused.id)

    @on(Panel.Maximise)
    def _maximise(self, message: Panel.Maximise) -> None:
        self.show_alone(None if self.alone == message.panel.id else message.panel.id)

    def action_select_phase(self, phase: int) -> None:
        """Walk the phases of the last rebuild of the matrix."""
        self.phase = None if self.phase == phase else phase
        self.draw()

    # Reading

    def action_report(self) -> None:
        self.app.push_screen(fidelity_report(self.about.read, self.about.workload))

    def action_help(self) -> None:
        chart = [(sign(b.key), b.description) for b in Gantt.BINDINGS if isinstance(b, Binding)]
        groups = [(title, [(sign(key.keys), key.meaning) for key in keys]) for title, keys in GROUPS]
        self.app.push_screen(help_screen([*groups, ("The chart", chart)]))
