"""Moving in time: playing, stepping, jumping. Every public method of a controller is an action of the screen."""

from __future__ import annotations

from functools import partial

from tui.replay.places import parse_place
from tui.replay.requests import Find, GoTo, GoToEnd, GoToLongest, Move
from tui.replay.speed import SPEEDS
from tui.screens.dialogs.choice import Choice
from tui.screens.dialogs.on_demand import prompt
from tui.screens.replay.controlled import Desk

JUMPS = {
    "s": ("start", "a job starts"),
    "a": ("arrival", "a job is submitted"),
    "c": ("completion", "a job is done"),
    "b": ("backfill", "a job passes another"),
    "u": ("suspend", "a running job is suspended"),
    "r": ("resume", "a suspended job goes on"),
    "h": ("head slips", "the head of the queue is planned for later"),
    "m": ("migrate", "tasks move to other processors"),
    "o": ("borrow", "a partition borrows processors"),
    "w": ("switch", "the policy is switched"),
    "j": ("job", "the selected job starts, is suspended, resumes or ends"),
}
"""key -> (condition, what it means)."""


class Transport:
    """Moves the replay."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    # Playing

    def toggle_play(self) -> None:
        if self._desk.state.playing:
            self._desk.pause()
        else:
            self._play(1)

    def rewind(self) -> None:
        if self._desk.state.playing and self._desk.state.direction < 0:
            self._desk.pause()
        else:
            self._play(-1)

    def _play(self, direction: int) -> None:
        self._desk.change(direction=direction, decision=None, playing=True)

    def speed(self, by: int) -> None:
        self._desk.change(speed=min(max(self._desk.state.speed + by, 0), len(SPEEDS) - 1))

    # Stepping

    def step(self, steps: int) -> None:
        self._desk.go(Move(steps))

    def decision(self, by: int) -> None:
        """Through the decisions of this step; beyond the last to the next step, before the first to the one before."""
        desk = self._desk
        if desk.scene is None:
            return
        many = len(desk.scene.snapshot.decisions)
        at = desk.state.decision if desk.state.decision is not None else (many if by < 0 else -1)
        if 0 <= at + by < many:
            desk.pause()
            desk.change(decision=at + by)
        else:
            desk.go(Move(by))

    # Jumping

    def jump(self, direction: int) -> None:
        """To the next event of the chosen kind."""
        from sim.stops.stop import parse_stop

        desk, condition = self._desk, self._desk.state.jump
        if condition == "job":
            if desk.state.selected is None:
                desk.tell("no job is selected: click one, or / to find one")
                return
            who = desk.about.workload.jobs[desk.state.selected].id
            condition = " or ".join(f"job {who} {what}" for what in ("starts", "suspended", "resumes", "ends"))
        desk.go(Find(parse_stop(condition), direction))

    def choose_jump(self) -> None:
        options = [(key, condition, meaning) for key, (condition, meaning) in JUMPS.items()]
        self._desk.open(Choice("Jump to the next", options), self.jump_to)

    def jump_to(self, condition: str) -> None:
        """To the next event of this kind, which is the chosen one from now on."""
        self._desk.change(jump=condition)
        self.jump(1)

    def go_to(self) -> None:
        hint = "a time (12d 4h, d12 4:30, 4:30 today, a date), a step (#1200), a job (J17: its submission; J17 starts)"
        scene = self._desk.scene
        now = (scene.snapshot.time if scene else None) or 0
        place = partial(parse_place, workload=self._desk.about.workload, now=now)
        dialog = prompt("Go to", hint, place, answers=self._desk.answers)
        self._desk.open(dialog, self._desk.go)  # type: ignore[misc]  # mypy takes no union for a T in T | None

    def longest(self) -> None:
        self._desk.go(GoToLongest())

    def go_begin(self) -> None:
        self._desk.go(GoTo(0))

    def go_end(self) -> None:
        self._desk.go(GoToEnd())
