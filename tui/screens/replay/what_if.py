"""Asking what would have been: other policies, branches, conditions to stop at, comparing, causes, bookmarks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sim.errors import ParameterError
from sim.policies import Policy, parse_policy, written_policy
from sim.session.records import Bookmark, BranchRecord
from sim.why.causes import Division, HolderOf, PlanOf
from sim.words import clock
from tui.replay.places import parse_job
from tui.replay.requests import (
    Compare,
    CompareBranch,
    CompareNoMore,
    Fork,
    GoTo,
    GoToParted,
    LookAt,
    Restart,
    Reverse,
    Switch,
)
from tui.screens.dialogs.choice import Choice
from tui.screens.dialogs.on_demand import policy_picker, prompt
from tui.screens.replay.controlled import Desk, PolicyChosen

if TYPE_CHECKING:
    from sim.stops.stop import Stop

ANOTHER = "another policy"


class WhatIf:
    """Policies, branches, stops, bookmarks."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    # Policies

    @property
    def _at_begin(self) -> bool:
        return self._desk.scene is None or self._desk.scene.snapshot.step == 0

    def policy(self) -> None:
        """Another policy from here on; before the first step, from the beginning."""
        desk = self._desk
        if desk.scene is None or self._at_begin:
            dialog = policy_picker(desk.policy, "Use it", "Which policy?")
        else:
            dialog = policy_picker(desk.policy, "Switch here", f"Which policy from {clock(desk.scene.clock)} on?")
        desk.open(dialog, lambda policy: None if policy == desk.policy else self._use(policy))

    def use_policy(self, spec: str) -> None:
        self._use(parse_policy(spec))

    def _use(self, policy: Policy, restart: bool = False) -> None:
        self._desk.post_message(PolicyChosen(policy))
        self._desk.go(Restart(policy) if restart or self._at_begin else Switch(policy))

    def restart(self) -> None:
        dialog = policy_picker(self._desk.policy, "Begin again", "Which policy from the beginning?")
        self._desk.open(dialog, lambda policy: self._use(policy, restart=True))

    # Comparing

    def compare(self) -> None:
        """Beside this run another one that parts from it here; pressed again: no more."""
        desk = self._desk
        if desk.shown is None:
            return
        scene = desk.shown.scene
        others = [branch for branch in scene.branches if branch.name != scene.branch]
        if desk.shown.beside:
            desk.ask(CompareNoMore())
        elif others:
            options = [*_numbered(others[:8]), ("p", ANOTHER, "from here on")]
            desk.open(Choice("Compare with", options), self._compare_with)
        else:
            self._pick_partner(from_start=False)

    def compare_from_start(self) -> None:
        if self._desk.shown is not None:
            self._pick_partner(from_start=True)

    def _compare_with(self, branch: str) -> None:
        if branch == ANOTHER:
            self._pick_partner(from_start=False)
        else:
            self._desk.go(CompareBranch(branch))

    def _pick_partner(self, from_start: bool) -> None:
        since = "from the beginning" if from_start else "from here on"
        title = f"Compare {written_policy(self._desk.policy)} with which policy, {since}?"
        dialog = policy_picker(self._desk.policy, "Compare", title)
        self._desk.open(dialog, lambda policy: self._desk.go(Compare(policy, from_start)))

    def parted(self) -> None:
        self._desk.go(GoToParted())

    # Causes

    def reverse(self) -> None:
        """Back to the last decision that moved the selected job's planned start."""
        if self._desk.state.selected is None:
            self._desk.tell("no job is selected: click one, / finds one, w takes the first that waits")
        else:
            self._desk.go(Reverse(PlanOf(self._desk.state.selected)))

    def reverse_processor(self) -> None:
        """Back to when the processor under the pointer changed hands."""
        if self._desk.state.spot is None:
            self._desk.tell("point at a processor in the chart first")
        else:
            self._desk.go(Reverse(HolderOf(self._desk.state.spot.processor)))

    def reverse_boundary(self) -> None:
        """Back to when a boundary between partitions moved."""
        self._desk.go(Reverse(Division()))

    # Branches

    def fork(self) -> None:
        self._desk.go(Fork())

    def branches(self) -> None:
        scene = self._desk.scene
        if scene is None or len(scene.branches) < 2:
            self._desk.tell("there is one branch: f forks here, p switches the policy in a new branch")
            return
        choice = Choice("Look at the branch", _numbered(scene.branches[:9]), scene.branch)
        self._desk.open(choice, lambda branch: self._desk.go(LookAt(branch)))

    # Conditions to stop at

    def stops(self) -> None:
        hint = "queue > 50 · job 17 starts · head slips · utilisation < 0.6 and queue > 0 · empty: none"
        initial = "; ".join(stop.text for stop in self._desk.state.stops)
        dialog = prompt("Stop when", hint, self._parsed, initial=initial, answers=self._desk.answers)
        self._desk.open(dialog, self._stop_at)

    def _parsed(self, text: str) -> tuple[Stop, ...]:
        """The conditions that were typed; they may only speak of jobs that there are."""
        from sim.stops.stop import parse_stop

        stops = tuple(parse_stop(part) for part in text.split(";") if part.strip())
        for job in re.findall(r"\bjob\s+([^\s\"()]+)", text):
            parse_job(job, self._desk.about.workload)
        return stops

    def _stop_at(self, stops: tuple[Stop, ...]) -> None:
        said = f"stops when {' or when '.join(stop.text for stop in stops)}" if stops else "stops at nothing"
        self._desk.change(stops=stops, said=said)

    # Bookmarks

    def bookmark(self) -> None:
        if self._desk.scene is not None:
            initial = f"{len(self._desk.state.bookmarks) + 1}"
            self._desk.open(prompt("Bookmark", "a name for this moment", _name, initial=initial), self._remember)

    def _remember(self, name: str) -> None:
        desk = self._desk
        if desk.scene is not None:
            others = [mark for mark in desk.state.bookmarks if mark.name != name]
            mark = Bookmark(name, desk.scene.branch, desk.scene.snapshot.step)
            desk.change(bookmarks=(*others, mark))

    def bookmarks(self) -> None:
        marks = {mark.name: mark for mark in self._desk.state.bookmarks[:9]}
        if not marks:
            self._desk.tell("no bookmarks: b remembers this moment")
            return
        told = [(name, f"step {mark.step:,} of {mark.branch}") for name, mark in marks.items()]
        options = [(f"{n}", *both) for n, both in enumerate(told, 1)]

        def go_there(name: str) -> None:
            self._desk.go(LookAt(marks[name].branch), GoTo(marks[name].step))

        self._desk.open(Choice("Go to the bookmark", options), go_there)


def _numbered(branches: Sequence[BranchRecord]) -> list[tuple[str, str, str]]:
    """To choose from, by a digit."""
    return [(f"{n}", branch.name, _told(branch)) for n, branch in enumerate(branches, 1)]


def _told(branch: BranchRecord) -> str:
    """How the branch came about."""
    if branch.parent is None:
        return "the first"
    switched = "".join(f", {switch.policy} from {clock(switch.time)}" for switch in branch.switches)
    return f"from step {branch.forked:,} of {branch.parent}{switched}"


def _name(text: str) -> str:
    if not text:
        raise ParameterError("a bookmark needs a name")
    return text
