"""Timeline of a run: it goes to any step, and switches the policy there in a new branch.

    timeline = Timeline(workload, "easy")
    timeline.seek(1000)
    timeline.snapshot()  # as if the reasons of every step had been recorded
    timeline.switch("conservative")  # a new branch with another policy from here on
    timeline.look_at("main")  # the first branch, which is unchanged

To go back, the timeline restores a checkpoint and repeats the steps after it; nothing is ever undone. The end of a
branch is computed ahead of the cursor, in slices chosen by the caller. Same inputs, same run: the clock decides only
how much is computed at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, takewhile
from math import inf
from time import perf_counter
from types import MappingProxyType

import numpy as np

from sim.code.lines import PassCode
from sim.decisions.decisions import Backfill, Decision, Resume, Start, Suspend
from sim.decisions.sentences import jobs_in, say
from sim.engine.engine import Engine, Watcher
from sim.engine.schedule import Schedule
from sim.engine.snapshot import Snapshot
from sim.history.history import History
from sim.history.past import Past, Switch
from sim.machine.processors import Placement
from sim.policies.policy import Policy
from sim.policies.recorded_rules import under, weighed
from sim.policies.registry import policy_of
from sim.support.errors import ParameterError, near
from sim.support.formatting import shortened
from sim.support.notebook import Table, picture_of
from sim.timeline.branch import Branch, Course
from sim.why.explanation import Explanation, explain
from sim.workload.job_changes import JobChanges
from sim.workload.model import Job, Workload

BUDGET = 128 * 2**20
HELD = 160 * 2**20
"""Size of all histories in bytes above which the least recently used branches are released"""
_BATCH = 64
"""Number of steps that are computed at once at first, and where the steps are slow"""
_MOST_AT_ONCE = 1 << 14
"""Largest number of steps between two readings of the clock in `compute_for`"""

Stop = Callable[[], bool]


class Timeline:
    """Tree of branches, with a cursor at a step of one branch (the current one).

    `switches` are planned switches (time, policy). They are made on the first branch, and on branches forked before
    their time. A switch by the user cancels the later ones on its branch.
    """

    _at_once = _BATCH
    """Number of steps with which the next call of `compute_for` begins, as many as took a part of its time before"""

    def __init__(
        self,
        workload: Workload,
        policy: Policy | str,
        *,
        placement: Placement = "lowest",
        check: bool = False,
        budget: int = BUDGET,
        held: int = HELD,
        switches: Iterable[tuple[float, Policy | str]] = (),
    ) -> None:
        self.budget, self.held = budget, held
        self._given, self._placement = workload, placement
        """Workload from which a policy that takes over later gets its recorded weights"""
        moments = [*switches]
        workload, (self.policy, *later) = under(workload, [policy, *(other for _, other in moments)])
        self._watchers = _checkers() if check else ()
        engine = Engine(workload, self.policy, placement=placement, watchers=self._watchers)
        planned = [Switch(0, time, other) for (time, _), other in zip(moments, later, strict=True)]
        self.branch = Branch("main", engine, switches=planned, begins=self.policy)
        self._branches = {"main": self.branch}
        self._looked_at: list[str] = []
        """Branches, the least recently used first, without those made since the last `let_go`"""
        self._cursor = self._engine_at(0)
        self.progress = 1.0
        """Progress of the seek that is under way, from 0 to 1; 1 if none is under way."""

    @property
    def workload(self) -> Workload:
        return self.branch.engine.workload

    # The branches

    @property
    def branches(self) -> Mapping[str, Branch]:
        return MappingProxyType(self._branches)

    def look_at(self, name: str) -> None:
        """Make the branch `name` the current one, with the cursor at the same step or, at most, its last."""
        if name not in self._branches:
            raise ParameterError(f"no branch {name!r}{near(name, self._branches)}")
        self.branch = self._branches[name]
        self._cursor = self._engine_at(min(self.step, self.branch.computed))

    def fork(self, name: str | None = None) -> Branch:
        """Make a branch with the steps up to the cursor, move to it and return it."""
        if name is None:
            name = next(n for n in map("fork {}".format, range(1, len(self._branches) + 2)) if n not in self._branches)
        if name in self._branches:
            raise ParameterError(f"there is a branch {name!r} already")
        was, frontier = self.branch, self.present(self._watchers)
        self.branch = self._branches[name] = Branch(name, frontier, was, was.planned_after(self.step))
        self._keep_within_budget()
        return self.branch

    def __repr__(self) -> str:
        at = f"step {self.step:,} of {self.computed:,}{'' if self.complete else ' or more'}"
        return f"<Timeline {self.workload.name}: {self.branch.engine.moment.policy} on {self.branch.name}, {at}>"

    def switch(
        self,
        policy: Policy | str,
        at_step: int | None = None,
        *,
        at: float | None = None,
        name: str | None = None,
        then: Iterable[Switch] = (),
    ) -> Branch:
        """Switch the policy at the cursor, or after `at_step` steps, in a new branch.

        The switch is a step of its own, at the time of the step before it or, if `at` is given, at this time before the
        next step. The same policy with other parameters counts as another policy. `then` are switches and failures that
        are planned to follow.
        """
        made = policy_of(weighed(policy, self._given))
        return self._branch_with(lambda branch: branch.switch(made, at, then), at_step, name)

    def take_away(
        self, processors: int, until: float = inf, *, at: float | None = None, name: str | None = None
    ) -> Branch:
        """Let processors (bits) fail until `until` in a new branch, from the cursor or `at` before the next step."""
        return self._branch_with(lambda branch: branch.take_away(processors, until, at), None, name)

    def _branch_with(self, do: Callable[[Branch], None], at_step: int | None, name: str | None) -> Branch:
        was = self.branch, self.step
        if at_step is not None:
            self.seek(at_step)
        branch = self.fork(name)
        try:
            do(branch)
        except Exception:
            del self._branches[branch.name]
            self.branch = was[0]
            self._cursor = self._engine_at(was[1])
            raise
        self.seek(branch.computed)
        return branch

    def remake(self, renewed: Callable[[Policy], Policy], name: str) -> Branch | None:
        """Repeat the current branch in a new one with policies as `renewed`; None if it replaces no policy."""
        made = [switch for switch in self.branch.switches if not switch.by_rule]
        course = [(0, None, self.branch.begins), *((s.step, s.time, s.policy) for s in made if s.breaks is None)]
        if len(course) > 1 and course[1][0] == 1:
            del course[0]  # the first policy has never decided anything
        for number, time, policy in course:
            if (other := renewed(policy)) != policy:
                step, base = max(number - 1, 0), self.branch
                while base.parent is not None and step <= base.forked_at:
                    base = self._branches[base.parent]
                later = [*self._to_come(made, number), *self.branch.planned_after(self.computed)]
                then = [replace(switch, policy=renewed(switch.policy)) for switch in later]
                self.look_at(base.name)
                return self.switch(other, step, at=time, name=name, then=then)
        return None

    def begin(self, workload: Workload, course: Course, name: str) -> Branch:
        """Return a new branch `name` without a parent, for a run of other jobs or of the same with other estimates."""
        made = self._branches[name] = course.of(workload, name, self._watchers)
        return made

    @property
    def course(self) -> Course:
        """Return what repeats the current run from its beginning, all switches and failures planned."""
        made = [switch for switch in self.branch.switches if not switch.by_rule]
        again = [*self._to_come(made, 0), *self.branch.planned_after(self.computed)]
        if made and made[0].step == 1 and made[0].breaks is None:  # it took over before the first policy decided
            again[0] = replace(again[0], step=1)
        return Course(self.branch.begins, self._placement, tuple(again))

    def change_jobs(self, changes: JobChanges) -> Branch:
        """Repeat the current run with jobs changed, from its beginning in a new branch, and move to it.

        Switches and failures happen at the same times.
        """
        if self.workload.estimated != self._given.estimated:
            raise ParameterError("the jobs of a run with other estimates cannot be changed")
        changed, course = self.workload.changes + changes, self.course
        called = shortened("; ".join(changed.words))
        names = chain([called], map(f"{called} ({{}})".format, count(2)))
        return self.begin_changed(changed, next(name for name in names if name not in self._branches), course.switches)

    def begin_changed(self, changes: JobChanges, name: str, switches: Iterable[Switch] = ()) -> Branch:
        """Return a new branch, now the current one, for a run of the trace with exactly these changes of jobs."""
        workload = self._given.with_changes(changes)
        if not len(workload):
            raise ParameterError(f"no job is left to simulate: {changes}")
        begin = float(workload.submit[0])  # a job may be submitted earlier than before
        planned = (replace(each, time=min(each.time, begin)) if each.step == 1 else each for each in switches)
        made = self.begin(workload, Course(self.policy, self._placement, tuple(planned)), name)
        self.look_at(name)
        return made

    def _to_come(self, made: Iterable[Switch], step: int) -> Iterator[Switch]:
        """Yield the switches of `made` after the step `step` as planned ones, so that they can be repeated."""
        for switch in made:
            if switch.step > step:
                is_after = self.branch.is_after(switch)
                yield Switch(0, switch.time, switch.policy, breaks=switch.breaks, is_after=is_after)

    def take_in(self, branch: Branch) -> None:
        self._branches[branch.name] = branch

    def drop(self, name: str) -> bool:
        """Remove a branch and return True; return False for the current one and for parents of others."""
        if name == self.branch.name or any(branch.parent == name for branch in self._branches.values()):
            return False
        del self._branches[name]
        return True

    def present(self, watchers: Sequence[Watcher] = ()) -> Engine:
        """Return a new engine at the cursor, with the history up to there, which the caller may move."""
        engine, branch = self._cursor, self.branch
        past = branch.history.until(engine.step_count, engine.moment.free)
        return branch.engine.at(engine.checkpoint(), past, watchers=watchers)

    def twin(self) -> Timeline:
        """Return another timeline at the same step that shares the present branches, but no later ones."""
        twin = Timeline.__new__(Timeline)
        twin.budget, twin.held, twin._watchers = self.budget, self.held, self._watchers
        twin.policy, twin._given, twin._placement = self.policy, self._given, self._placement
        twin.branch, twin._branches, twin._looked_at = self.branch, dict(self._branches), []
        twin.progress = 1.0
        twin._cursor = twin._engine_at(self.step)
        return twin

    # The frontier

    @property
    def computed(self) -> int:
        return self.branch.computed

    @property
    def complete(self) -> bool:
        return self.branch.complete

    def compute(self, steps: int) -> bool:
        """Compute at most `steps` steps; return False when the run is over.

        If the policy fails, or if jobs are left waiting for ever, an error is raised once, and kept as `branch.error`.
        """
        try:
            return self.branch.compute(steps)
        finally:
            self._keep_within_budget()

    def compute_for(self, seconds: float, clock: Callable[[], float] = perf_counter) -> bool:
        """Compute for about `seconds` seconds; return False when the run is over."""
        begin, steps = clock(), self._at_once
        while self.compute(steps):
            if (gone := clock() - begin) >= seconds:
                self._at_once = max(steps // 4, _BATCH)
                return True
            steps = max(steps // 2, _BATCH) if gone > seconds / 2 else min(2 * steps, _MOST_AT_ONCE)
        return False

    def compute_all(self) -> None:
        while self.compute(_BATCH * _BATCH):
            pass

    # The cursor

    @property
    def step(self) -> int:
        """Return the number of steps up to the cursor; 0 is the beginning."""
        return self._cursor.step_count

    @property
    def history(self) -> History:
        """Return the history of all computed steps of the current branch; `history.as_of(step)` ends at the cursor."""
        return self.branch.history

    def snapshot(self) -> Snapshot:
        """Return the state at the cursor, with reasons as if those of every step up to there had been recorded."""
        shown = self._cursor.snapshot()
        return replace(shown, next_time=self.branch.next_time(self._cursor))

    def snapshot_within(self, decisions: int) -> Snapshot | None:
        """Return the state after `decisions` decisions of the cursor's step; None in a switch or a matrix."""
        engine = self.branch.within(self.step, decisions) if self.step else None
        return None if engine is None else engine.snapshot()

    def code(self) -> PassCode:
        """Return the lines of the policy that ran in the cursor's step, with values and decisions."""
        return self.branch.recorded(self.step)[1] if self.step else PassCode()

    @property
    def is_as_it_was(self) -> bool:
        """Return True if repeating the cursor's step decided the same; else the policy has a hidden state."""
        if not self.step:
            return True
        first, again = self.history.decisions(self.step - 1), self._cursor.moment.decisions
        return _acts_of(first) == _acts_of(again)

    def schedule(self) -> Schedule:
        return self.branch.engine.schedule()

    @property
    def decisions(self) -> Table:
        """Return the decisions up to the cursor as a table, which pandas and polars read."""
        return decision_table(self.history, self.step)

    def explain(self, job: str | int | Job) -> Explanation:
        """Return why a job (id, rank, or the job itself) waits, runs or has ended at the cursor."""
        rank = self.workload.rank_of(job) if isinstance(job, str) else job if isinstance(job, int) else job.rank
        if not 0 <= rank < len(self.workload):
            raise ParameterError(f"no job of rank {rank}: the ranks are 0 to {len(self.workload) - 1:,}")
        return explain(self.workload, self.history.as_of(self.step), self.snapshot(), rank)

    def _repr_svg_(self) -> str | None:
        """Return the chart up to the cursor, and the plan after it, for a notebook; None before the first step."""
        return picture_of(
            lambda: [(self.present(), self.branch.engine.moment.policy)], self.step and len(self.workload)
        )

    def seek(self, step: int, stop: Stop | None = None) -> bool:
        """Move the cursor to after `step` steps, or the end; if `stop` returns True, do not, and return False."""
        self.progress = 0.0
        try:
            return self._seek(max(step, 0), stop)
        finally:
            self.progress = 1.0

    def _seek(self, step: int, stop: Stop | None) -> bool:
        first = self.computed
        while self.computed < step and self.compute(min(_BATCH, step - self.computed)):
            self.progress = (self.computed - first) / (step - first)
            if stop and stop():
                return False
        step = min(step, self.computed)
        if step == self.step:
            return True
        if stop is None or 0 < step - self.step < _BATCH:
            self._cursor = self._engine_at(step, self._cursor)
            return True
        found = self.branch.replay(step, stop=stop, progress=self._note_progress)
        if found is None:
            return False
        self._cursor = found
        return True

    def seek_time(self, time: float, stop: Stop | None = None) -> bool:
        """Move the cursor to after the last step up to `time`; return False if `stop` returned True before."""
        while not self.complete and self.history.last_time <= time:
            self.compute(_BATCH)
            if stop and stop():
                return False
        last = self.history.step_at(time)
        return self.seek(0 if last is None else last + 1, stop)

    def _engine_at(self, step: int, start: Engine | None = None) -> Engine:
        engine = self.branch.replay(step, start)
        assert engine is not None
        return engine

    def _note_progress(self, done: int, of: int) -> None:
        self.progress = done / of

    # Memory

    def let_go(self, kept: Collection[str] = ()) -> None:
        """Release the histories longest unused, except of branches in `kept`, until they take `held` bytes."""
        stay = dict.fromkeys(name for branch in (*kept, self.branch.name) for name in self._lineage(branch))
        others = [name for name in self._branches if name not in self._looked_at]
        others += [name for name in self._looked_at if name not in stay]
        self._looked_at = [*others, *stay]
        for name in others:
            if sum(branch.held for branch in self._branches.values()) <= self.held:
                return
            if name not in stay:
                self._branches[name].let_go(self._watchers)

    def _lineage(self, name: str | None) -> Iterator[str]:
        while name is not None and name in self._branches:
            yield name
            name = self._branches[name].parent

    @property
    def memory(self) -> int:
        return sum(branch.size for branch in self._branches.values())

    def _keep_within_budget(self) -> None:
        """Drop checkpoints until all together are within the limit; the branch with the most bytes comes first."""
        while self.memory > self.budget:
            for branch in sorted(self._branches.values(), key=lambda branch: -branch.size):
                if branch.thin():
                    break
            else:
                return


def _acts_of(decisions: Iterable[Decision]) -> list[tuple[type, int]]:
    acts = (Start, Backfill, Suspend, Resume)
    return [(type(decision), decision.job.rank) for decision in decisions if isinstance(decision, acts)]


def _checkers() -> Sequence[Watcher]:
    from sim.engine.check import Checker

    return [Checker]


DECISIONS = ("step", "time", "decision", "job", "sentence")


def decision_rows(past: Past) -> Iterator[tuple[int, float, str, str, str]]:
    """Yield (step, time, kind, job, sentence) for each decision, in the order in which they were made."""
    for step, decision in past.all_decisions():
        jobs = jobs_in(decision)
        job = jobs[0].id if jobs else ""
        yield step, past.time_of(step), type(decision).__name__.lower(), job, say(decision)


def decision_table(past: Past, steps: int) -> Table:
    rows = list(takewhile(lambda row: row[0] < steps, decision_rows(past)))
    made = zip(*rows, strict=True) if rows else ([] for _ in DECISIONS)
    kinds = (np.int64, np.float64, object, object, object)
    columns = {name: np.array(column, dtype=kind) for name, column, kind in zip(DECISIONS, made, kinds, strict=True)}
    return Table("decisions", columns)
