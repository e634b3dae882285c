"""Dialog that simulates other policies, to find which shortens a job's wait; results come one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from sim.comparison.alternatives import ranked
from sim.engine.schedule import Schedule
from sim.policies import Policy, parse_policy, written_policy
from sim.support.errors import SchedscopeError
from sim.support.formatting import printable
from sim.timeline.scenario import Scenario
from sim.workload.model import Workload
from tui.look import text
from tui.look.sheets import Line, Span, line, wrapped
from tui.panels.alternative_rows import asked, in_words, rows
from tui.screens.dialogs.dialog import Dialog, Page
from tui.widgets.options import Options, is_listed

TRIED = (
    "fcfs", "firstfit", "easy", "easy:tail=sjf", "conservative", "relaxed", "easy++", "lookahead", "slack",
    "multiqueue", "selective", "gang-backfill",
)  # fmt: skip
"""Policies that are tried besides the present one; fast ones come first."""
_STEPS = 500
"""Number of steps between two checks of whether the dialog has been closed"""


class AlternativesDialog(Dialog[Policy | None]):
    """Dialog that tries other policies; it answers with the one to compare with, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,u", "dismiss", "Close")]

    class Ran(Message):
        """Message that one more policy has been tried: its schedule, or text on why it failed."""

        def __init__(self, schedule: Schedule | str) -> None:
            super().__init__()
            self.schedule = schedule

    def __init__(self, workload: Workload, rank: int, policy: Policy, tried: Sequence[str] = TRIED) -> None:
        super().__init__()
        self._workload, self._job = workload, workload.jobs[rank]
        self._policies = {written_policy(each): each for each in (policy, *map(parse_policy, tried))}
        self._first = written_policy(policy)
        self._schedules: list[Schedule] = []
        self._failed: list[str] = []
        self._listed: list[str] = []
        self._chosen = ""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "What would have helped?"
            dialog.border_subtitle = "↑ ↓ choose   enter compare with it from the beginning   esc close"
            yield Page(self._head, id="head")
            yield Options(id="policies", compact=True)
            yield Page(self._summary_lines, id="words")

    def on_mount(self) -> None:
        self._run_all()

    @work(thread=True, exclusive=True, group="helping")
    def _run_all(self) -> None:
        worker = get_current_worker()
        for spec, policy in self._policies.items():
            try:
                engine = Scenario(self._workload, policy).begun()
                while engine.advance(_STEPS):
                    if worker.is_cancelled:
                        return
                found: Schedule | str = replace(engine.schedule(), policy=spec)
            except SchedscopeError as error:
                found = f"{spec}: {error}"
            if worker.is_cancelled:
                return
            self.post_message(self.Ran(found))

    @on(Ran)
    def _run_made(self, event: Ran) -> None:
        if isinstance(event.schedule, str):
            self._failed.append(event.schedule)
        else:
            self._schedules.append(event.schedule)
        self._list()

    def on_resize(self) -> None:
        self._list()

    # Results so far

    def _table(self) -> list[str]:
        found = ranked(self._schedules, self._job.rank)
        return text.table(rows(found, self._first, not self.is_wide))

    def _list(self) -> None:
        """Sort the list by the results; until the user moves the highlight, it is on the best policy."""
        if not self._schedules:
            return
        policies, chosen = self.query_one("#policies", OptionList), self._chosen
        self._listed = [tried.policy for tried in ranked(self._schedules, self._job.rank)]
        with self.prevent(OptionList.OptionHighlighted):
            policies.clear_options()
            policies.add_options(Option(Content(printable(row))) for row in self._table()[1:])
            policies.highlighted = self._listed.index(chosen) if chosen in self._listed else 0
        self.query_one("#head", Page).show(self._head)
        self.query_one("#words", Page).show(self._summary_lines)

    def _head(self, width: int) -> Iterator[Line]:
        yield from wrapped(printable(asked(self._workload, self._job.rank)), width)
        yield line("")
        if self._schedules:
            yield line(Span(printable(self._table()[0]), "dim"))

    def _summary_lines(self, width: int) -> Iterator[Line]:
        known, of = len(self._schedules) + len(self._failed), len(self._policies)
        yield line("")
        if self._schedules and self._schedules[0].policy == self._first:
            found = ranked(self._schedules, self._job.rank)
            told = printable(in_words(self._job, found, self._first))
            yield from wrapped(f"So far: {told}" if known < of else told, width)
        for failed in self._failed:
            yield from wrapped(printable(failed), width, "bad")
        if known < of:
            yield line(Span(f"{known} of {of} policies simulated from the start …", "dim"))

    # The answer

    @on(OptionList.OptionHighlighted, "#policies")
    def _row_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if is_listed(event):
            self._chosen = self._listed[event.option_index]

    @on(OptionList.OptionSelected, "#policies")
    def _row_selected(self, event: OptionList.OptionSelected) -> None:
        if is_listed(event):
            self.dismiss(self._policies[self._listed[event.option_index]])
