"""Dialog that simulates other policies, and the run without each job that blocked the selected one, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, TypeAlias

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import get_current_worker

from sim.comparison.alternatives import WITHOUT, blockers, ranked
from sim.engine.schedule import Schedule
from sim.policies import Policy, parse_policy, written_policy
from sim.support.errors import SchedscopeError
from sim.support.formatting import name, printable
from sim.timeline.branch import Course
from sim.workload.job_changes import JobChanges
from sim.workload.model import Workload
from tui.look import text
from tui.look.sheets import Line, Span, line, wrapped
from tui.panels.alternative_rows import asked, in_words, one_by_one, rows
from tui.screens.dialogs.dialog import Dialog, Page
from tui.widgets.options import Options, is_listed

TRIED = (
    "fcfs", "firstfit", "easy", "easy:tail=sjf", "conservative", "relaxed", "easy++", "lookahead", "slack",
    "multiqueue", "selective", "gang-backfill",
)  # fmt: skip
"""Policies that are tried after the runs without single jobs; fast ones come first."""
_STEPS = 500
"""Number of steps between two checks of whether the dialog has been closed"""


THIS_RUN = "this run"
Alternative: TypeAlias = Policy | JobChanges


class AlternativesDialog(Dialog[Alternative | None]):
    """Dialog that tries other policies, and the run without single jobs; it answers with one of them, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,u", "dismiss", "Close")]

    class Ran(Message):
        """Message that one more policy has been tried: its schedule, or text on why it failed."""

        def __init__(self, schedule: Schedule | str) -> None:
            super().__init__()
            self.schedule = schedule

    def __init__(
        self, workload: Workload, rank: int, policy: Policy, tried: Sequence[str] = TRIED, course: Course | None = None
    ) -> None:
        """Ask about the job of this rank in a run under `policy`; `course`: its other policies, failures, placement."""
        super().__init__()
        self._workload, self._job = workload, workload.jobs[rank]
        self._course = course or Course(policy)
        begins = [self._course.policy, *(each.policy for each in self._course.switches if each.step == 1)][-1]
        is_switched = any(switch.step != 1 for switch in self._course.switches)
        self._first = THIS_RUN if is_switched else written_policy(begins)
        policies = {
            written_policy(each): each for each in (policy if is_switched else begins, *map(parse_policy, tried))
        }
        self._tried: dict[str, Alternative] = {self._first: begins}
        """Policies and changes of jobs that are tried, by their names in the list"""
        self._policies = {spec: each for spec, each in policies.items() if spec != self._first}
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
        first = self._run(self._first, lambda: self._workload, self._course)
        others: dict[str, Alternative] = {}
        if isinstance(first, Schedule) and self._workload.remade is not None:
            others = {WITHOUT + name(job): JobChanges((name(job),)) for job in blockers(first, self._job.rank)}
        self._tried |= others | self._policies
        if first is None:
            return
        self.post_message(self.Ran(first))
        for label, other in [*others.items(), *self._policies.items()]:
            if isinstance(other, JobChanges):
                changed = partial(self._workload.with_changes, self._workload.changes + other)
                found = self._run(label, changed, self._course)
            else:
                found = self._run(label, lambda: self._workload, Course(other, self._course.placement))
            if found is None:
                return
            self.post_message(self.Ran(found))

    def _run(self, label: str, made: Callable[[], Workload], course: Course) -> Schedule | str | None:
        """Return the schedule of a whole run, or why it failed; None if the dialog was closed meanwhile."""
        worker = get_current_worker()
        try:
            branch = course.of(made(), label)
            while not worker.is_cancelled and branch.compute(_STEPS):
                pass
            found: Schedule | str = replace(branch.engine.schedule(), policy=label)
        except SchedscopeError as error:
            found = f"{label}: {error}"
        return None if worker.is_cancelled else found

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
        known, of = len(self._schedules) + len(self._failed), max(len(self._tried), 1 + len(self._policies))
        yield line("")
        if self._schedules and self._schedules[0].policy == self._first:
            found = ranked(self._schedules, self._job.rank)
            told = printable(in_words(self._job, found, self._first))
            yield from wrapped(f"So far: {told}" if known < of else told, width)
            yield from wrapped(printable(one_by_one(self._job, found, self._first)), width)
        for failed in self._failed:
            yield from wrapped(printable(failed), width, "bad")
        if known < of:
            yield line(Span(f"{known} of {of} runs simulated from the start …", "dim"))

    # The answer

    @on(OptionList.OptionHighlighted, "#policies")
    def _row_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if is_listed(event):
            self._chosen = self._listed[event.option_index]

    @on(OptionList.OptionSelected, "#policies")
    def _row_selected(self, event: OptionList.OptionSelected) -> None:
        if is_listed(event):
            self.dismiss(self._tried[self._listed[event.option_index]])
