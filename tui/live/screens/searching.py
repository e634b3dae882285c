"""Base of the screen for an observed cluster: its dialogs, and its searches for jobs, nodes and earlier starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.screen import ModalScreen, Screen
from textual.worker import get_current_worker

from sim.live.cluster.values import ClusterJob
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import quoted
from tui.live.chart import rack_of
from tui.live.node_lines import node_lines
from tui.live.queue import jobs_of
from tui.live.scene import LiveContext, job_name
from tui.live.screens.state import LiveState
from tui.live.watch import Watch
from tui.replay.requests import find_job
from tui.screens import dialogs
from tui.thread_results import hand_over
from tui.widgets.gantt import Gantt

if TYPE_CHECKING:
    from tui.screens.dialogs.prompt import Answers

T = TypeVar("T")
HINT = "a job's number (17, 6_4), a user for the next job of theirs, a node (n3), or a rack (r08 of r08n12)"


class SearchingScreen(Screen[None]):
    """Screen of an observed cluster, with a watch that observes it and the choices of the user."""

    watch_: Watch
    state: LiveState

    @property
    def context(self) -> LiveContext | None:
        """Return the input of the panels; None before the first poll."""
        raise NotImplementedError

    def change(self, **changed: Any) -> None:
        """Change fields of the screen's state, and draw the screen."""
        raise NotImplementedError

    def wish(self) -> None:
        """Ask the threads for a scene with what the user has chosen to see."""
        raise NotImplementedError

    def choose(self, rank: int) -> None:
        """Select the job with this rank."""
        raise NotImplementedError

    @cached_property
    def answers(self) -> Answers:
        from tui.screens.dialogs.prompt import Answers

        return Answers()

    def open(self, dialog: ModalScreen[T | None], then: Callable[[T], object]) -> None:
        """Open a dialog, and call `then` with its answer unless it is closed without one."""

        def answered(answer: T | None) -> None:
            if answer is not None:
                try:
                    then(answer)
                except SchedscopeError as error:
                    self.notify(str(error), severity="error", timeout=12)

        self.app.push_screen(dialog, answered)

    # A job, a user, a node or a rack

    def action_find(self) -> None:
        self.open(dialogs.Prompt("Find", HINT, self._find_typed, answers=self.answers), lambda go: go())

    def _find_typed(self, told: str) -> Callable[[], None]:
        name = told.strip()
        if self.context is not None:
            nodes = [row.node for row in self.watch_.observed.layout.rows]
            if name in nodes:
                return partial(self._show_node, name)
            if rack := [node for node in nodes if rack_of(node) == name]:
                return partial(self._zoom_to, rack)
        after = -1 if self.state.selected is None else self.state.selected
        try:
            return partial(self.choose, find_job(told, self.watch_.observed.workload, after))
        except SchedscopeError:
            raise ParameterError(f"there is no job, user, node or rack {quoted(name)} here") from None

    def _show_node(self, name: str) -> None:
        """Show the node and its jobs, with the chart around it if it was too small to see."""
        chart = self.query_one("#chart", Gantt)
        rows = self.watch_.observed.layout.rows
        place = next(at for at, row in enumerate(rows) if row.node == name)
        if chart.camera is not None and 2 * len(rows) > chart.camera.rows:
            around = max(chart.camera.rows // 8, 1)
            self._zoom_to([row.node for row in rows[max(place - around, 0) : place + around + 1]])
        if (context := self.context) is not None:
            told = tuple(node_lines(context.scene.cluster, name))
            self.app.push_screen(dialogs.SentencesDialog(f"Node {name}", told))

    def _zoom_to(self, nodes: list[str]) -> None:
        chart = self.query_one("#chart", Gantt)
        rows = [row for row in self.watch_.observed.layout.rows if row.node in set(nodes)]
        if chart.camera is not None and rows:
            low, high = min(row.low for row in rows), max(row.high for row in rows)
            chart.camera = replace(chart.camera, low=low, high=high, by_rows=False)
            self.wish()

    # An earlier start

    def action_what_if(self) -> None:
        """Search in a thread for the start of the selected or first waiting job, and changes that move it."""
        if (context := self.context) is None:
            return
        job = context.scene.job(self.state.selected) or next(iter(jobs_of(context)), None)
        if job is None or not job.is_waiting:
            self.change(said="no waiting job is selected: w selects one")
            return
        self.change(said=f"looking ahead for {job_name(job)} ... (esc stops it)")
        look = partial(self._look_ahead, context.scene.picture, job)
        self.run_worker(look, thread=True, exclusive=True, group="search")

    def _look_ahead(self, picture: int, job: ClusterJob) -> None:
        from tui.live.outlook import outlook

        worker = get_current_worker()
        told = outlook(self.watch_, picture, job, lambda: worker.is_cancelled)
        hand_over(self.app, self._show_outlook, job, told)

    def _show_outlook(self, job: ClusterJob, told: tuple[str, ...]) -> None:
        self.change(said="" if told else "that picture is not kept any more")
        if told and self.is_current:
            self.app.push_screen(dialogs.SentencesDialog(f"When, and what if: {job_name(job)}", told))
