"""Actions that ask what would have been: other policies, branches, conditions to stop at, comparing."""

from __future__ import annotations

import re
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
from tui.screens.dialogs.lazily import policy_picker, prompt
from tui.screens.replay.screen import ReplayBase

if TYPE_CHECKING:
    from sim.stops.stop import Stop

ANOTHER = "another policy"


class Changing(ReplayBase):
    """Policies, branches, stops, bookmarks."""

    # Policies

    def action_policy(self) -> None:
        """Another policy from here on; before the first step, from the beginning."""
        if self.scene is None or self.scene.snapshot.step == 0:
            dialog = policy_picker(self.policy, "Use it", "Which policy?")
        else:
            dialog = policy_picker(self.policy, "Switch here", f"Which policy from {clock(self.scene.clock)} on?")
        self.app.push_screen(dialog, self._switch)

    def _switch(self, policy: Policy | None) -> None:
        if policy is not None and policy != self.policy:
            self._use_policy(policy)

    def action_use_policy(self, spec: str) -> None:
        self._use_policy(parse_policy(spec))

    def _use_policy(self, policy: Policy) -> None:
        self.pause()
        self.schedscope.remember_policy(policy)
        at_begin = self.scene is None or self.scene.snapshot.step == 0
        self.ask(Restart(policy) if at_begin else Switch(policy))

    def action_restart(self) -> None:
        self.app.push_screen(
            policy_picker(self.policy, "Begin again", "Which policy from the beginning?"), self._restart
        )

    def _restart(self, policy: Policy | None) -> None:
        if policy is not None:
            self.pause()
            self.schedscope.remember_policy(policy)
            self.ask(Restart(policy))

    def action_compare(self) -> None:
        """Beside this run another one that parts from it here; pressed again: no more."""
        self._compare(from_start=False)

    def action_compare_from_start(self) -> None:
        self._compare(from_start=True)

    def _compare(self, from_start: bool) -> None:
        if self.shown is None:
            return
        others = [branch for branch in self.shown.scene.branches if branch.name != self.shown.scene.branch]
        if self.shown.beside and not from_start:
            self.ask(CompareNoMore())
        elif others and not from_start:
            options = [(f"{n}", branch.name, _told(branch)) for n, branch in enumerate(others[:8], 1)]
            options.append(("p", ANOTHER, "from here on"))
            self.app.push_screen(Choice("Compare with", options), self._compare_with)
        else:
            self._pick_partner(from_start)

    def _compare_with(self, branch: str | None) -> None:
        if branch == ANOTHER:
            self._pick_partner(from_start=False)
        elif branch is not None:
            self.pause()
            self.ask(CompareBranch(branch))

    def _pick_partner(self, from_start: bool) -> None:
        def chosen(policy: Policy | None) -> None:
            if policy is not None:
                self.pause()
                self.ask(Compare(policy, from_start))

        since = "from the beginning" if from_start else "from here on"
        title = f"Compare {written_policy(self.policy)} with which policy, {since}?"
        self.app.push_screen(policy_picker(self.policy, "Compare", title), chosen)

    def action_parted(self) -> None:
        self.pause()
        self.ask(GoToParted())

    def action_reverse(self) -> None:
        """Back to the last decision that moved the selected job's planned start."""
        if self.selected is None:
            self.tell("no job is selected: click one, / finds one, w takes the first that waits")
            return
        self.pause()
        self.ask(Reverse(PlanOf(self.selected)))

    def action_reverse_processor(self) -> None:
        """Back to when the processor under the pointer changed hands."""
        if self.spot is None:
            self.tell("point at a processor in the chart first")
            return
        self.pause()
        self.ask(Reverse(HolderOf(self.spot.processor)))

    def action_reverse_boundary(self) -> None:
        """Back to when a boundary between partitions moved."""
        self.pause()
        self.ask(Reverse(Division()))

    # Branches

    def action_fork(self) -> None:
        self.pause()
        self.ask(Fork())

    def action_branches(self) -> None:
        if self.scene is None or len(self.scene.branches) < 2:
            self.tell("there is one branch: f forks here, p switches the policy in a new branch")
            return
        options = [(f"{n}", branch.name, _told(branch)) for n, branch in enumerate(self.scene.branches[:9], 1)]
        self.app.push_screen(Choice("Look at the branch", options, self.scene.branch), self._look_at)

    def _look_at(self, branch: str | None) -> None:
        if branch is not None:
            self.pause()
            self.ask(LookAt(branch))

    # Conditions to stop at

    def action_stops(self) -> None:
        hint = "queue > 50 · job 17 starts · head slips · utilisation < 0.6 and queue > 0 · empty: none"
        initial = "; ".join(stop.text for stop in self.stops)
        self.app.push_screen(
            prompt("Stop when", hint, self._stops, initial=initial, answers=self.answers), self._stop_at
        )

    def _stops(self, text: str) -> tuple[Stop, ...]:
        """The conditions that were typed; they may only speak of jobs that there are."""
        from sim.stops.stop import parse_stop

        stops = tuple(parse_stop(part) for part in text.split(";") if part.strip())
        for job in re.findall(r"\bjob\s+([^\s\"()]+)", text):
            parse_job(job, self.about.workload)
        return stops

    def _stop_at(self, stops: tuple[Stop, ...] | None) -> None:
        if stops is None:
            return
        self.stops = stops
        self.wish()
        self.tell(f"stops when {' or when '.join(stop.text for stop in stops)}" if stops else "stops at nothing")

    # Bookmarks

    def action_bookmark(self) -> None:
        if self.scene is not None:
            initial = f"{len(self.bookmarks) + 1}"
            self.app.push_screen(prompt("Bookmark", "a name for this moment", _named, initial=initial), self._bookmark)

    def _bookmark(self, name: str | None) -> None:
        if name and self.scene is not None:
            self.bookmarks[name] = Bookmark(name, self.scene.branch, self.scene.snapshot.step)
            self.wish()

    def action_bookmarks(self) -> None:
        if not self.bookmarks:
            self.tell("no bookmarks: b remembers this moment")
            return
        marks = list(self.bookmarks.values())[:9]
        options = [(f"{n}", mark.name, f"step {mark.step:,} of {mark.branch}") for n, mark in enumerate(marks, 1)]
        self.app.push_screen(Choice("Go to the bookmark", options), self._go_to_bookmark)

    def _go_to_bookmark(self, name: str | None) -> None:
        if name is not None:
            self.pause()
            self.ask(LookAt(self.bookmarks[name].branch))
            self.ask(GoTo(self.bookmarks[name].step))


def _told(branch: BranchRecord) -> str:
    """How the branch came about."""
    if branch.parent is None:
        return "the first"
    switched = "".join(f", {switch.policy} from {clock(switch.time)}" for switch in branch.switches)
    return f"from step {branch.forked:,} of {branch.parent}{switched}"


def _named(text: str) -> str:
    if not text:
        raise ParameterError("a bookmark needs a name")
    return text
