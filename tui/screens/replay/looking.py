"""Controller for what is visible: the selected job, colours, panels and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from sim.support.errors import ParameterError, SchedscopeError
from tui.chart.colours import MODES
from tui.look.calendar import Calendar
from tui.panels.context import order_after_click
from tui.replay.requests import GoTo, Measure, find_job
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.keys import EIGHT, chart_keys, every_key, help_groups, sign
from tui.screens.replay.messages import Remember
from tui.screens.replay.side import SIDE
from tui.screens.replay.state import ON_REQUEST, PANELS
from tui.screens.replay.transport import JUMPS

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from tui.screens.commands import Command
    from tui.screens.replay.screen import ReplayScreen


class Looking:
    def __init__(self, screen: ReplayScreen) -> None:
        self._screen = screen

    # Selection is shared by all

    def select_rank(self, rank: int) -> None:
        self._screen.select(rank)

    def find(self) -> None:
        screen, snapshot = self._screen, self._screen.scene.snapshot if self._screen.scene else None
        there = [each.job.rank for each in (*snapshot.queue, *snapshot.running)] if snapshot else []
        after = min(there, default=0) - 1 if screen.state.selected is None else screen.state.selected
        hint = "a job (J17), a user's next job (ann), or a condition to list its matches: backfill, queue changes"
        prompt = dialogs.Prompt("Find", hint, partial(self._sought, after=after), answers=screen.answers)
        screen.open(prompt, self._show_found)  # type: ignore[misc]  # mypy refuses a union for T | None

    def _sought(self, text: str, after: int) -> int | Stop:
        """Return the rank of the job, or the condition, that was typed; an error is about what it looks like."""
        try:
            return find_job(text, self._screen.jobs, after)
        except SchedscopeError as no_job:
            try:
                return self._screen.parsed_stop(text)
            except SchedscopeError as no_condition:
                if re.fullmatch(r"\s*(j?\d|user\b).*", text, re.IGNORECASE):
                    raise no_job from None
                told = str(no_condition).replace("no condition", "no job, user or condition", 1)
                raise ParameterError(told) from None

    def _show_found(self, found: int | Stop) -> None:
        screen = self._screen
        if isinstance(found, int):
            screen.select(found)
            return
        screen.change(matching=found, hidden=screen.state.hidden - {"matches"})
        if self._is_small:
            screen.change(over="matches")
        screen.focus_on("matches")

    def to_match(self, step: int, rank: int | None) -> None:
        if rank is not None:
            self._screen.select(rank)
        self._screen.go(GoTo(step))

    def why(self) -> None:
        """Select the first or next waiting job; the panel of details says why it waits."""
        screen = self._screen
        if screen.told is None:
            return
        snapshot = screen.told.snapshot
        jobs = [queued.job for queued in snapshot.queue[:200]] + [out.job for out in snapshot.suspended]
        found = (screen.own_rank(job.rank, screen.state.other) for job in jobs)
        waiting = [rank for rank in found if rank is not None]
        if not waiting:
            is_over = snapshot.next_time is None
            on = "← steps back, W goes to the longest wait" if is_over else "→ steps on, ] goes to the next start"
            screen.tell(f"no job waits now: {on}")
            return
        at = waiting.index(screen.state.selected) + 1 if screen.state.selected in waiting else 0
        screen.select(waiting[at % len(waiting)])
        if self._is_small:
            screen.change(over="details")
        self._hide(screen.state.hidden - {"details"})

    def copy(self) -> None:
        self._screen.copy_here()

    # Colours

    def colour(self) -> None:
        options = [(f"{index % 10}", mode, meaning) for index, (mode, meaning) in enumerate(MODES.items(), 1)]
        self._screen.open(ChoiceDialog("Colour jobs by", options, self._screen.state.colour), self.colour_by)

    def colour_by(self, mode: str) -> None:
        self._screen.change(colour=mode)
        self._screen.post_message(Remember(colour_by=mode))

    # The chart

    def pages(self) -> None:
        pages = not self._screen.state.pages
        self._screen.change(pages=pages, said=f"while it plays the chart {'turns pages' if pages else 'scrolls'}")

    def dates(self) -> None:
        screen = self._screen
        calendar = Calendar.of(screen.about.workload.header)
        if calendar is None:
            screen.tell("this trace does not say when it began: moments are days of the trace")
            return
        dates = not screen.state.dates
        said = (
            f"dates in {calendar.name}; t returns to days of the trace" if dates else "days of the trace; t shows dates"
        )
        screen.change(dates=dates, said=said)

    def project(self) -> None:
        self._screen.change(projected=not self._screen.state.projected, over=None, alone=None)

    def measure(self, told: str, span: tuple[float, float] | None, other: bool) -> None:
        """Show text on a measured span; at the drag's end `span` (seconds) adds what happened in it."""
        screen = self._screen
        if span is None:
            screen.tell(told)
            return
        if other != screen.state.other:
            screen.change(other=other, decision=None)
        screen.player.ask(Measure(*span, told))

    # Panels

    @property
    def _is_small(self) -> bool:
        return self._screen.places is not None and self._screen.places.small

    def toggle_panel(self, name: str) -> None:
        if self._is_small and name in SIDE:
            self._open_over(None if self._screen.state.over == name else name)
        else:
            self._hide(self._screen.state.hidden ^ {name})

    def all_panels(self) -> None:
        self._screen.change(over=None, alone=None)
        self._hide(self._screen.state.hidden & ON_REQUEST)

    def _hide(self, hidden: frozenset[str]) -> None:
        """Hide these panels, show all others, and save that, except during a lesson."""
        if hidden != self._screen.state.hidden:
            if self._screen.in_focus in hidden:
                self._screen.focus_on("chart")
            self._screen.change(hidden=hidden)
            if self._screen.state.guide is not None:
                return  # a lesson hides what it does not need
            self._screen.post_message(Remember(panels={name: name not in hidden for name in PANELS}))

    def sort_queue(self, column: str) -> None:
        self._screen.change(order=order_after_click(self._screen.state.order, column))

    def next_panel(self) -> None:
        self._walk_panels(1)

    def previous_panel(self) -> None:
        self._walk_panels(-1)

    def _walk_panels(self, by: int) -> None:
        """Show the panel `by` places further on a small screen, else move the focus."""
        if self._is_small:
            names = [None, *(name for name in SIDE if name in self._screen.available)]
            at = names.index(self._screen.state.over) if self._screen.state.over in names else 0
            self._open_over(names[(at + by) % len(names)])
        else:
            self._screen.move_focus(by)

    def _open_over(self, name: str | None) -> None:
        """Let this panel cover half of a small chart and have the focus; None uncovers the chart."""
        self._screen.change(over=name)
        self._screen.focus_on(name or "chart")

    def maximise(self) -> None:
        if self._screen.state.alone or self._screen.in_focus is None:
            self._screen.change(over=None, alone=None)
        else:
            self._screen.change(alone=self._screen.in_focus)

    def select_phase(self, phase: int) -> None:
        """Show the matrix as after this phase of the last rebuild; at a second call show all phases again."""
        self._screen.change(phase=None if self._screen.state.phase == phase else phase)

    def escape(self) -> None:
        """Cancel slow work, an open panel, a panel's focus, a reload's result or the selection; else pause playback."""
        screen = self._screen
        if screen.player.progress:
            screen.player.halt()
        elif screen.state.alone or screen.state.over:
            screen.change(over=None, alone=None)
            screen.focus_on("chart")
        elif screen.in_focus not in (None, "chart"):
            screen.focus_on("chart")
        elif screen.state.news is not None:
            screen.change(news=None, said="")
        elif screen.state.matching is not None:
            screen.change(matching=None)
        elif screen.state.selected is not None:
            screen.select(None)
        else:
            screen.pause()
            is_beside = screen.shown is not None and screen.shown.beside is not None
            screen.tell("v ends the comparison" if is_beside else "H returns to the samples, F opens another trace")

    # Reading

    def report(self) -> None:
        self._screen.open(dialogs.FidelityReport(self._screen.about.read, self._screen.jobs))

    def help(self) -> None:
        pairs = groupby(chart_keys(), lambda key: re.sub(r"\(-?1\)", "", key.action))
        together = [[*keys] for _, keys in pairs]
        chart = [(" ".join(sign(k.key) for k in keys), ", ".join(k.description for k in keys)) for keys in together]
        groups = help_groups()
        if (guide := self._screen.state.guide) is not None:
            groups.insert(0, (guide.help[0], [*guide.help[1]]))
        where = self._screen.state.over or self._screen.in_focus or "chart"
        self._screen.open(dialogs.HelpScreen([*groups, ("The chart", chart)], where))


def commands() -> Iterator[Command]:
    from tui.screens.commands import Command, choices

    for key in every_key():
        if key.action != "escape":
            title, is_first = key.meaning.rstrip("."), key.action in EIGHT
            yield Command(title, "", key.action, sign(key.keys), key.word, is_first)
    for binding in chart_keys():
        yield Command(f"The chart: {binding.description}", "", binding.action, sign(binding.key))
    for condition, meaning in JUMPS.values():
        yield Command(f"jump to next: {condition}", f"To the next step at which {meaning}.", f"jump_to({condition!r})")
    yield Command("Withdraw the selected job, as if it had never been submitted", "", "withdraw_job", "J w")
    yield Command("Change processors, estimate, run time or submit time of the selected job", "", "change_job", "J c")
    yield Command("Add a job, typed as in a puzzle", "", "add_job", "J a")
    yield Command("Copy the session as one line that can be pasted", "", "copy_session")
    yield from choices(MODES)
