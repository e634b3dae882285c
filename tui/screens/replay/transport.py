"""Controller for time: playing, stepping, jumping. Every public method is an action of the screen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tui.replay.requests import Find, GoTo, GoToEnd, GoToLongest, GoToMostOvertaken, GoToTurn, Move, parse_place
from tui.replay.speed import BY_EVENT, SPEEDS
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.state import first_view

if TYPE_CHECKING:
    from tui.screens.replay.screen import ReplayScreen

JUMPS = {
    "s": ("start", "a job starts"),
    "a": ("arrival", "a job is submitted"),
    "c": ("completion", "a job is done"),
    "b": ("backfill", "a job passes another"),
    "u": ("suspend", "a running job is suspended"),
    "r": ("resume", "a suspended job goes on"),
    "h": ("head slips", "the planned start of the first queued job moves later"),
    "m": ("migrate", "tasks move to other processors"),
    "o": ("borrow", "a partition borrows processors"),
    "w": ("switch", "the policy is switched"),
    "j": ("job", "the selected job starts, is suspended, resumes or ends"),
}
"""For each key that chooses the kind of event to jump to: the stop condition, and words for it"""


class Transport:
    def __init__(self, screen: ReplayScreen) -> None:
        self._screen = screen

    # Playing

    def toggle_play(self) -> None:
        if self._screen.state.playing:
            self._screen.pause()
        else:
            self._play(1)

    def rewind(self) -> None:
        if self._screen.state.playing and self._screen.state.direction < 0:
            self._screen.pause()
        else:
            self._play(-1)

    def _play(self, direction: int) -> None:
        self._screen.change(direction=direction, decision=None, playing=True)

    def speed(self, by: int) -> None:
        self._screen.change(speed=min(max(self._screen.state.speed + by, 0), len(SPEEDS) - 1))

    def by_event(self) -> None:
        """Change between playing by events and by the clock; each keeps its speed."""
        state = self._screen.state
        others = [index for index, speed in enumerate(SPEEDS) if bool(speed.moment) != bool(state.rate.moment)]
        usual = first_view(self._screen.about.workload).speed if state.rate.moment else BY_EVENT
        self._screen.change(speed=state.aside if state.aside in others else usual, aside=state.speed)
        rate = self._screen.state.rate
        what = f"pauses {rate.moment:g} s at each step with a decision" if rate.moment else "goes by the clock"
        self._screen.tell(f"Playing {what}; ↑ ↓ change that.")

    # Stepping

    def step(self, steps: int) -> None:
        self._screen.go(Move(steps))

    def decision(self, by: int) -> None:
        """Select the next or previous decision; after the last one show the step's end, then the next step's first."""
        screen = self._screen
        if screen.told is None:
            return
        snapshot = screen.told.snapshot
        many, is_walked = len(snapshot.decisions), screen.state.walked == snapshot.step
        whole = many if by < 0 or is_walked else -1
        at = whole if screen.state.decision is None else screen.state.decision
        if 0 <= at + by < many:
            screen.pause()
            screen.change(decision=at + by, walked=None)
        elif 0 <= at < at + by == many:
            screen.change(decision=None, walked=snapshot.step)
        else:
            screen.go(Move(by))
            if by > 0 and snapshot.next_time is not None:
                screen.await_decision(0)

    # Jumping

    def jump(self, direction: int) -> None:
        from sim.stops.grammar import parse_stop

        screen, condition = self._screen, self._screen.state.jump
        if screen.state.matching is not None:
            screen.go(Find(screen.state.matching, direction))
            return
        if condition == "job":
            if screen.state.selected is None:
                screen.tell("no job is selected: click one, or / to find one")
                return
            who = screen.jobs.jobs[screen.state.selected].id
            condition = " or ".join(f"job {who} {what}" for what in ("starts", "suspended", "resumes", "ends"))
        screen.go(Find(parse_stop(condition), direction))

    def turn(self, direction: int) -> None:
        """Go to the next or previous turn of a row of the gang-scheduling matrix, also between steps."""
        self._screen.go(GoToTurn(direction))

    def choose_jump(self) -> None:
        options = [(key, condition, meaning) for key, (condition, meaning) in JUMPS.items()]
        self._screen.open(ChoiceDialog("Jump to the next", options), self.jump_to)

    def jump_to(self, condition: str) -> None:
        self._screen.change(jump=condition)
        self.jump(1)

    def go_to(self) -> None:
        hint = "a time (12d 4h, d12 4:30, 4:30 today, a date), a step (#1200), a job (J17: its submission; J17 starts)"
        scene = self._screen.scene
        now = (scene.snapshot.time if scene else None) or 0
        told = self._screen.told
        workload = self._screen.jobs if told is None else self._screen.about.of(told).workload
        place = partial(parse_place, workload=workload, now=now)
        dialog = dialogs.Prompt("Go to", hint, place, answers=self._screen.answers)
        self._screen.open(dialog, self._screen.go)  # type: ignore[misc]  # mypy refuses a union for T | None

    def longest(self) -> None:
        self._screen.go(GoToLongest())

    def most_overtaken(self) -> None:
        self._screen.go(GoToMostOvertaken())

    def go_begin(self) -> None:
        self._screen.go(GoTo(0))

    def go_end(self) -> None:
        self._screen.go(GoToEnd(self._screen.state.stops))
