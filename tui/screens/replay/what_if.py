"""Controller for what-if questions: other policies, branches, stop conditions, comparisons, causes, bookmarks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from sim.policies import POLICIES, Policy, parse_policy, written_policy
from sim.session.session import Bookmark, BranchRecord
from sim.support.errors import ParameterError
from sim.support.formatting import Clock, clock, name, parse_time
from sim.why.last_change import Division, HolderOf, PlanOf
from sim.workload.job_changes import JobChange, JobChanges, parse_job, parse_values, typed_time
from sim.workload.model import Job
from sim.workload.outages import parse_set
from tui.look.calendar import Calendar
from tui.replay import requests as o
from tui.screens import dialogs
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.messages import PolicyChosen

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from tui.screens.replay.screen import ReplayScreen

ANOTHER = "another policy"
NONE_SELECTED = "no job is selected: click one, / finds one, w takes the first that waits"
WITHDRAW, CHANGE, ADD = "withdraw it", "change it", "add a job"
ADD_HINT = "processors x run time / estimate @ submission, like 5x10m@d3 or 4x20m/30m@14:00"
CHANGE_HINT = "new values: procs=4, estimate=2h, run=90m, submit=d3 04:30"
ON, BACK, PLAY = "run there", "go back", "play"
STOP_WAYS = (
    (";", ON, "to the next step at which that is so, as fast as it can be computed"),
    (":", BACK, "to the last step before this one at which that was so"),
    ("space", PLAY, "until that is so"),
)
"""Options offered after stop conditions are set, as (key, value, description)"""


class WhatIf:
    def __init__(self, screen: ReplayScreen) -> None:
        self._screen = screen

    # Policies

    @property
    def _at_begin(self) -> bool:
        return self._screen.scene is None or self._screen.scene.snapshot.step == 0

    def policy(self) -> None:
        screen = self._screen
        if screen.scene is None or self._at_begin:
            dialog = dialogs.PolicyPicker(screen.policy, "Use it", "Which policy?")
        else:
            dialog = dialogs.PolicyPicker(
                screen.policy, "Switch here", f"Which policy from {self._time_text(screen.scene.clock)} on?"
            )
        screen.open(dialog, lambda policy: None if policy == screen.policy else self._use(policy))

    def _time_text(self, moment: float) -> str:
        calendar = Calendar.of(self._screen.about.workload.header) if self._screen.state.dates else None
        return clock(moment) if calendar is None else calendar.moment(moment)

    def use_policy(self, spec: str) -> None:
        self._use(parse_policy(spec))

    def _use(self, policy: Policy, restart: bool = False) -> None:
        self._screen.post_message(PolicyChosen(policy))
        self._screen.change(news=None)
        self._screen.go(o.Restart(policy) if restart or self._at_begin else o.SwitchTo(policy))

    def restart(self) -> None:
        dialog = dialogs.PolicyPicker(self._screen.policy, "Begin again", "Which policy from the beginning?")
        self._screen.open(dialog, lambda policy: self._use(policy, restart=True))

    # Comparing

    def compare(self) -> None:
        screen = self._screen
        if screen.shown is None or self._compares_no_more():
            return
        scene = screen.shown.scene
        others = [branch for branch in scene.branches if branch.name != scene.branch]
        if others:
            options = [*_numbered(others[:8], self._time_text), ("p", ANOTHER, "from here on")]
            screen.open(ChoiceDialog("Compare with", options), self._compare_with)
        else:
            self._pick_partner(from_start=False)

    def compare_from_start(self) -> None:
        if self._screen.shown is not None and not self._compares_no_more():
            self._pick_partner(from_start=True)

    def _compares_no_more(self) -> bool:
        screen = self._screen
        if screen.shown is None or screen.shown.beside is None:
            return False
        screen.ask(o.CompareNoMore())
        screen.change(other=False, said="the comparison is closed: Z brings it back")
        return True

    def _compare_with(self, branch: str) -> None:
        if branch == ANOTHER:
            self._pick_partner(from_start=False)
        else:
            self._put_beside(o.CompareBranch(branch))

    def _put_beside(self, *orders: o.Order) -> None:
        """Open a comparison, with its panel even if that was hidden in an earlier one."""
        self._screen.change(hidden=self._screen.state.hidden - {"versus"})
        self._screen.go(*orders)

    def _pick_partner(self, from_start: bool) -> None:
        since = "from the beginning" if from_start else "from here on"
        title = f"Compare {written_policy(self._screen.policy)} with which policy, {since}?"
        dialog = dialogs.PolicyPicker(self._proposed(), "Compare", title)
        self._screen.open(dialog, lambda policy: self._compare(policy, from_start))

    def _proposed(self) -> Policy:
        running, note = self._screen.policy, self._screen.state.note
        named = re.findall(r"[a-z][a-z+-]*", note.told) if note is not None else []
        names = [name for name in (*named, "easy", "fcfs") if name in POLICIES]
        return parse_policy(next(name for name in names if POLICIES[name] is not type(running)))

    def _compare(self, policy: Policy, from_start: bool) -> None:
        """Compare with a run under this policy, or say that the present run already is that run."""
        screen = self._screen
        switched = screen.scene is not None and bool(screen.scene.snapshot.switches)
        if policy == screen.policy and not (from_start and switched):
            screen.tell(f"this run is already under {written_policy(policy)}: choose another policy to compare with")
        else:
            self._put_beside(o.Compare(policy, from_start))

    def helped(self) -> None:
        screen, scene = self._screen, self._screen.scene
        if scene is None or screen.state.selected is None:
            screen.tell(NONE_SELECTED)
            return
        dialog = dialogs.AlternativesDialog(
            screen.jobs, screen.state.selected, scene.snapshot.rules, course=scene.course
        )  # fmt: skip
        screen.pause()
        screen.change(other=False, decision=None)  # the question and the comparison are of the run on the screen

        def compare(chosen: Policy | JobChanges) -> None:
            if isinstance(chosen, JobChanges):
                self._put_beside(o.ChangeJobs(chosen), o.CompareBranch(scene.branch))
            else:
                self._put_beside(o.Compare(chosen, from_start=True))

        screen.open(dialog, compare)  # type: ignore[misc]  # mypy refuses a union for T | None

    def other_run(self) -> None:
        if self._is_compared():
            self._screen.change(other=not self._screen.state.other, decision=None, said="")

    def gains(self) -> None:
        """Colour jobs by how much earlier or later they start than in the other run; twice, as before."""
        if self._is_compared():
            self._screen.change(colour="job" if self._screen.state.colour == o.VERSUS else o.VERSUS)

    def _is_compared(self) -> bool:
        is_so = self._screen.shown is not None and self._screen.shown.beside is not None
        if not is_so:
            self._screen.tell("no comparison: v compares with another policy")
        return is_so

    def parted(self) -> None:
        """Go to the first difference of the compared runs, or of a reload while its result is shown."""
        news = self._screen.state.news
        self._screen.go(o.GoToParted(remade=news is not None and not news.is_bad))

    def reload(self) -> None:
        if self._screen.files.files:
            self._screen.files.read_again()
        else:
            self._screen.tell("no policy was loaded from a file: p opens one")

    # Causes

    def reverse(self) -> None:
        if (rank := self._screen.selected_in_told) is None:
            self._screen.tell(NONE_SELECTED)
        else:
            self._screen.go(o.Reverse(PlanOf(rank)))

    def reverse_processor(self) -> None:
        if self._screen.state.spot is None:
            self._screen.tell("point at a processor in the chart first")
        else:
            self._screen.go(o.Reverse(HolderOf(self._screen.state.spot.processor)))

    def reverse_boundary(self) -> None:
        self._screen.go(o.Reverse(Division()))

    # Other jobs

    def what_if(self) -> None:
        """Ask what to do with the selected job, or for a job to add if none is selected."""
        screen = self._screen
        if screen.state.selected is None:
            self.add_job()
            return
        who = screen.jobs.jobs[screen.state.selected]
        options = (
            ("w", WITHDRAW, "as if it had never been submitted"),
            ("c", CHANGE, "its processors, estimate, run time or submission"),
            ("a", ADD, "typed as in a puzzle, like 5x10m@d3"),
        )
        ways = {WITHDRAW: self.withdraw_job, CHANGE: self.change_job, ADD: self.add_job}
        screen.open(ChoiceDialog(f"What if {name(who)} had been different?", options), lambda way: ways[way]())

    def withdraw_job(self) -> None:
        if (job := self._job_to_change()) is None:
            return
        try:
            self._change_jobs(JobChanges((name(job),)))
        except ParameterError as error:  # its id cannot be written
            self._screen.tell(str(error))

    def change_job(self) -> None:
        if (job := self._job_to_change()) is None:
            return
        workload, now = self._screen.jobs, self._screen.scene.clock if self._screen.scene else 0.0
        known = {"procs": float(job.procs), "estimate": job.estimate, "submit": job.submit}

        def read(text: str) -> JobChanges:
            new = tuple((field, value) for field, value in parse_values(text, now) if known.get(field) != value)
            if not new:
                raise ParameterError(f"{name(job)} has these values already")
            wide = dict(new).get("procs", 1)
            if wide > workload.procs:
                raise ParameterError(f"the machine has {workload.procs:,} processors, got {wide:,.0f}")
            return JobChanges(change=(JobChange(name(job), new),))

        dialog = dialogs.Prompt(f"Change {name(job)}", CHANGE_HINT, read)
        self._screen.open(dialog, self._change_jobs)

    def add_job(self) -> None:
        screen, workload = self._screen, self._screen.jobs
        now = screen.scene.clock if screen.scene else 0.0
        read = partial(parse_job, procs=workload.procs, now=now)
        half, at = max(workload.procs // 2, 1), typed_time(float(int(max(now, 0.0))))
        dialog = dialogs.Prompt("Add a job", ADD_HINT, read, initial=f"{half}x1h@{at}")
        screen.open(dialog, lambda job: self._change_jobs(JobChanges(add=(job,))))

    def _change_jobs(self, changes: JobChanges) -> None:
        self._screen.go(o.ChangeJobs(changes))

    def _job_to_change(self) -> Job | None:
        rank = self._screen.state.selected
        if rank is None:
            self._screen.tell(NONE_SELECTED)
            return None
        return self._screen.jobs.jobs[rank]

    # Branches

    def break_processors(self) -> None:
        screen = self._screen
        if screen.scene is None or self._at_begin:
            screen.tell("the run has not started: make a step with → first")
            return
        now, procs = screen.scene.clock, screen.scene.snapshot.procs
        hint = "such as 0-63, or 0-63 until 12d4h; without 'until' permanently"

        def broken(text: str) -> o.Break:
            which, until, moment = text.partition("until")
            processors = parse_set(which)
            if processors >> procs:
                raise ParameterError(f"there are processors 0 to {procs - 1:,}, got {processors.bit_length() - 1:,}")
            time = parse_time(moment, now) if until else inf
            if time <= now:
                raise ParameterError(f"they come back after {self._time_text(now)}, got {self._time_text(time)}")
            return o.Break(processors, time)

        screen.open(dialogs.Prompt("Which processors fail here?", hint, broken), screen.go)

    def fork(self) -> None:
        self._screen.go(o.Fork())

    def branches(self) -> None:
        scene = self._screen.scene
        if scene is None or self._screen.shown is self._screen.player.beginning:
            self._screen.tell("the session is being restored: its branches appear when it is there")
            return
        if len(scene.branches) < 2:
            self._screen.tell("only one branch exists: f forks here, p switches the policy in a new branch")
            return
        choice = ChoiceDialog("Look at the branch", _numbered(scene.branches[:9], self._time_text), scene.branch)
        self._screen.open(choice, lambda branch: self._screen.go(o.LookAt(branch)))

    # Conditions to stop at

    def stops(self) -> None:
        hint = "queue > 50 · job 17 starts · job 17 waits because too few free · d12 04:30 · empty: none"
        initial = "; ".join(stop.text for stop in self._screen.state.stops)
        dialog = dialogs.Prompt("Stop when", hint, self._parsed, initial=initial, answers=self._screen.answers)
        self._screen.open(dialog, self._stop_at)

    def _parsed(self, text: str) -> tuple[Stop, ...]:
        return tuple(self._screen.parsed_stop(part) for part in text.split(";") if part.strip())

    def _stop_at(self, stops: tuple[Stop, ...]) -> None:
        said = f"stops when {' or when '.join(stop.text for stop in stops)}" if stops else "no stop conditions"
        self._screen.change(stops=stops, said=said)
        if stops:
            self._screen.open(ChoiceDialog(f"It {said}", STOP_WAYS), self._to_first_stop)

    def _to_first_stop(self, way: str) -> None:
        if way == PLAY:
            self._screen.change(playing=True, direction=1, said="")
        else:
            self.to_stop(1 if way == ON else -1)

    def to_stop(self, direction: int) -> None:
        if self._screen.state.stops:
            self._screen.go(o.GoToStop(self._screen.state.stops, direction))
        else:
            self._screen.tell("no condition to stop at is set: x sets one")

    # The way back

    def take_back(self) -> None:
        self._screen.go(o.TakeBack())

    # Bookmarks

    def bookmark(self) -> None:
        if self._screen.scene is not None:
            initial = f"{len(self._screen.state.bookmarks) + 1}"
            self._screen.open(
                dialogs.Prompt("Bookmark", "a name for this moment", _name, initial=initial), self._remember
            )

    def _remember(self, name: str) -> None:
        screen = self._screen
        if screen.scene is not None:
            others = [mark for mark in screen.state.bookmarks if mark.name != name]
            mark = Bookmark(name, screen.scene.branch, screen.scene.snapshot.step)
            screen.change(bookmarks=(*others, mark))

    def bookmarks(self) -> None:
        marks = {mark.name: mark for mark in self._screen.state.bookmarks[:9]}
        if not marks:
            self._screen.tell("no bookmarks: b remembers this moment")
            return
        told = [(name, f"step {mark.step:,} of {mark.branch}") for name, mark in marks.items()]
        options = [(f"{n}", *both) for n, both in enumerate(told, 1)]
        dialog = ChoiceDialog("Go to the bookmark", options)
        self._screen.open(dialog, lambda name: self._screen.go(o.GoTo(marks[name].step, marks[name].branch)))


def _numbered(branches: Sequence[BranchRecord], at: Clock) -> list[tuple[str, str, str]]:
    return [(f"{n}", branch.name, _how_it_began(branch, at)) for n, branch in enumerate(branches, 1)]


def _how_it_began(branch: BranchRecord, at: Clock) -> str:
    if branch.parent is None:
        return "its own run from the beginning" if branch.changes and branch.name != "main" else "as opened"
    switched = "".join(f", {switch.spec} from {at(switch.time)}" for switch in branch.switches)
    return f"from step {branch.forked:,} of {branch.parent}{switched}"


def _name(text: str) -> str:
    if not text:
        raise ParameterError("a bookmark needs a name")
    return text
