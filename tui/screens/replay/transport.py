"""Actions that move the replay in time."""

from __future__ import annotations

from textual import on

from tui.panels.strip import time_at
from tui.replay.places import parse_place
from tui.replay.requests import Find, GoTo, GoToEnd, GoToLongest, GoToTime, Move, Order
from tui.replay.speed import SPEEDS
from tui.screens.dialogs.choice import Choice
from tui.screens.dialogs.lazily import prompt
from tui.screens.replay.screen import ReplayBase
from tui.widgets.scrubber import Scrubber

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


class Playing(ReplayBase):
    """Playing, stepping, jumping."""

    def action_toggle_play(self) -> None:
        if self.playing:
            self.pause()
        else:
            self._play(1)

    def action_rewind(self) -> None:
        if self.playing and self.direction < 0:
            self.pause()
        else:
            self._play(-1)

    def _play(self, direction: int) -> None:
        self.direction, self.decision = direction, None
        self.playing = self.player.playing = True
        self.draw()

    def action_speed(self, by: int) -> None:
        self.speed = min(max(self.speed + by, 0), len(SPEEDS) - 1)
        self.draw()

    def action_step(self, steps: int) -> None:
        self.pause()
        self.ask(Move(steps))

    def action_decision(self, by: int) -> None:
        """Through the decisions of this step; beyond the last to the next step, before the first to the one before."""
        if self.scene is None:
            return
        self.pause()
        many = len(self.scene.snapshot.decisions)
        at = self.decision if self.decision is not None else (many if by < 0 else -1)
        if 0 <= at + by < many:
            self.decision = at + by
            self.draw()
        else:
            self.ask(Move(by))

    def action_jump(self, direction: int) -> None:
        """To the next event of the chosen kind."""
        condition = self.jump_kind
        if condition == "job":
            if self.selected is None:
                self.tell("no job is selected: click one, or / to find one")
                return
            who = self.job(self.selected).id
            condition = " or ".join(f"job {who} {what}" for what in ("starts", "suspended", "resumes", "ends"))
        self.pause()
        from sim.stops.stop import parse_stop

        self.ask(Find(parse_stop(condition), direction))

    def action_choose_jump(self) -> None:
        options = [(key, condition, meaning) for key, (condition, meaning) in JUMPS.items()]
        self.app.push_screen(Choice("Jump to the next", options), self._chose_jump)

    def _chose_jump(self, chosen: str | None) -> None:
        if chosen is not None:
            self.jump_kind = chosen
            self.action_jump(1)

    def action_jump_to(self, condition: str) -> None:
        """To the next event of this kind, which is the chosen one from now on."""
        self._chose_jump(condition)

    def action_go_to(self) -> None:
        hint = "a time (12d 4h, 4:30), a step (#1200), a job (J17: its submission; J17 starts)"
        self.app.push_screen(prompt("Go to", hint, self._place, answers=self.answers), self._go_to)

    def _place(self, text: str) -> Order:
        return parse_place(text, self.about.workload)

    def _go_to(self, place: Order | None) -> None:
        if place is not None:
            self.pause()
            self.ask(place)

    def action_longest(self) -> None:
        self.pause()
        self.ask(GoToLongest())

    def action_go_begin(self) -> None:
        self.pause()
        self.ask(GoTo(0))

    def action_go_end(self) -> None:
        self.pause()
        self.ask(GoToEnd())

    def action_escape(self) -> None:
        """What takes long is given up first, then what lies over the chart is closed, then nothing is selected."""
        if self.player.progress:
            self.player.halt()
        elif self.alone or self.over:
            self.close_panel()
        elif self.selected is not None:
            self.select(None)
        else:
            self.pause()

    # Scrubbing on the strip

    @on(Scrubber.Scrubbed)
    def _scrub(self, message: Scrubber.Scrubbed) -> None:
        if self.scene is not None:
            self.pause()
            self.ask(GoToTime(time_at(self.scene.strip, message.column, message.width)))
