"""View of a run: a timeline (the run with its branches) at one time, from which the scene of a frame is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, TypeAlias

from sim.code.lines import PassCode
from sim.code.variables import variables_of
from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.life.job_state import JobReader, JobState
from sim.policies.columns import Column
from sim.session.sources import records_of
from sim.support.errors import SchedscopeError
from sim.timeline.branch import FORGETFUL, Branch
from sim.timeline.timeline import Timeline
from sim.workload.model import Job, Workload
from tui.chart.axis import Axis, Floats
from tui.chart.chart_maker import ChartMaker
from tui.chart.colours import MODES
from tui.chart.scene import Mark
from tui.replay.requests import Veil, Wish
from tui.replay.scene import UNNAMED, MatchesScene, Scene
from tui.replay.strip_maker import StripMaker

if TYPE_CHECKING:
    from sim.stops.grammar import Stop
    from sim.stops.search import Matches

DRAWING = 0.02
"""Seconds that a frame spends on drawing the past; columns still missing are drawn in the next frames."""
PLOT = 50
"""Number of values in each of the small plots of metrics."""
MAKERS = 2
"""Number of branches, the last ones shown, whose drawn columns and curves are kept."""
PRINTED = 100
"""Number of past steps for which the panel can show the lines that the policy printed."""
NAMED = 200
"""Number of waiting jobs, from the head, whose colours are computed; no panel shows more."""


@dataclass
class _Makers:
    """Makers of charts and curves of one branch, and a reader for each selected job."""

    chart: ChartMaker
    strip: StripMaker
    jobs: dict[int, JobReader] = field(default_factory=dict)


class RunView:
    def __init__(self, timeline: Timeline, like: RunView | None = None) -> None:
        """Begin before the first step; what `like` has drawn of the same branches is used again."""
        self.timeline = timeline
        self.clock = self.begin
        """Time shown in seconds: that of the present step or later, but before the next step."""
        self._makers: dict[str, _Makers] = {} if like is None else dict(like._makers)
        self._seen: tuple[str, int, Snapshot] | None = None
        self._numbers: OwnNumbers | None = None
        self._matches: Matches | None = None
        self.doubt: str | None = None
        """Message that the policy may decide differently when a step is repeated, or None."""
        self._recorded: tuple[tuple[str, int], PassCode] | None = None
        self._walked: tuple[tuple[str, int, int], Snapshot | None] | None = None

    @property
    def workload(self) -> Workload:
        return self.timeline.workload

    @property
    def begin(self) -> float:
        """Return the time shown before the first step: that of the first submission, in seconds."""
        return float(self.workload.submit[0]) if len(self.workload) else 0.0

    @property
    def is_computed(self) -> bool:
        return self.timeline.complete

    def go_on(self, seconds: float) -> bool:
        """Compute for about `seconds`, without garbage collection of steps; return False when the run is over."""
        before = self.timeline.computed
        is_on = self.timeline.compute_for(seconds)
        if self.timeline.computed > before:  # else closed screens, too, would be exempt, and stay for ever
            gc.freeze()
        return is_on

    @property
    def _last_time(self) -> float:
        timeline = self.timeline
        return timeline.history.last_time if timeline.computed else self.begin

    def set_clock(self) -> None:
        time = self.snapshot.time
        self.clock = self.begin if time is None else time

    @property
    def snapshot(self) -> Snapshot:
        """Return the state at the present step; it is kept until another step is shown."""
        branch, step = self.timeline.branch.name, self.timeline.step
        if self._seen is None or self._seen[:2] != (branch, step):
            self._seen = branch, step, self._made_snapshot()
            if self.doubt is None and type(self._seen[2].rules).code is not None and not self.timeline.is_as_it_was:
                self.doubt = f"{self._seen[2].policy} {FORGETFUL.format(step)}"
        return self._seen[2]

    def _made_snapshot(self) -> Snapshot:
        snapshot, switches = self.timeline.snapshot(), self.timeline.branch.switches
        if snapshot.step or not switches or switches[0].step > 1:
            return snapshot
        return replace(snapshot, policy=switches[0].spec, rules=switches[0].policy)

    def steps(self) -> Floats:
        history = self.timeline.history.as_of(self.timeline.step)
        return self._makers_of(self.timeline.branch.name).chart.steps.of(history, self.clock)

    def scene(self, wish: Wish, axis: Axis | None = None) -> Scene:
        """Return the scene; a chart by event uses `axis` or, for None, one with the steps of this run."""
        timeline, snapshot = self.timeline, self.veiled(wish.veil)
        makers = self._makers_of(timeline.branch.name)
        past = timeline.history.as_of(timeline.step)
        marks = (*(self._switches() if wish.veil != "policy" else ()), *self._bookmarks(wish), *wish.marks)
        selected = None if wish.veil else wish.selected
        known = (past, self.clock) if wish.veil else (timeline.history, self._last_time)
        mode = wish.colour if wish.colour in MODES else "job"
        named = sorted(set(_named_ranks(snapshot, selected)))
        seen = mode, DRAWING, marks, selected, axis
        chart = makers.chart.make(past, snapshot, self.clock, wish.camera, *seen)
        hues = makers.chart.hues_of(past, named, mode, self.clock, (chart.start, chart.end))
        return Scene(
            snapshot=snapshot,
            clock=self.clock,
            known_steps=timeline.step if wish.veil else timeline.computed,
            complete=timeline.complete and not wish.veil,
            chart=chart,
            strip=makers.strip.strip(*known, wish.strip_columns, marks),
            job=self._job(makers, selected),
            series=makers.strip.series(timeline.history, timeline.step, PLOT),
            branch=timeline.branch.name,
            branches=records_of(timeline),
            course=timeline.course,
            hues=dict(zip(named, hues.tolist(), strict=True)),
            then=self._state_before(wish.decision),
            decisions=snapshot.decisions,
            printed=self._printed_lines(),
            numbers=self._numbers_of(selected),
            matches=None if wish.veil else self._matches_of(wish.matching),
            code=self._code() if wish.code and not wish.veil else None,
            is_veiled=bool(wish.veil),
            names_of_numbers=self._names_of_numbers(),
            names_of_variables=self._names_of_variables(),
        )

    def veiled(self, veil: Veil) -> Snapshot:
        if not veil:
            return self.snapshot
        unplanned = self.snapshot.unplanned()
        return replace(unplanned, policy=UNNAMED) if veil == "policy" else unplanned

    def _names_of_numbers(self) -> frozenset[str] | None:
        last = self.timeline.branch.engine.moment
        columns = (*self.snapshot.columns, *last.columns)
        return None if last.is_led else frozenset(column.name for column in columns)

    def _names_of_variables(self) -> frozenset[str] | None:
        last = self.timeline.branch.engine.moment
        if last.is_led:
            return None
        switched = (switch.policy for switch in self.timeline.branch.switches)
        return frozenset().union(*map(variables_of, {self.timeline.policy, last.rules, *switched}))

    def _numbers_of(self, rank: int | None) -> tuple[tuple[Column, Numbers], ...]:
        if rank is None or not self.snapshot.columns:
            self._numbers = None
            return ()
        branch, job = self.timeline.branch, self.workload.jobs[rank]
        if self._numbers is None or not self._numbers.is_of(branch, job):
            self._numbers = OwnNumbers(branch, job)
        return self._numbers.found

    @property
    def has_read(self) -> bool:
        """Return True if all numbers about the selected job, and all steps that meet a condition, are found."""
        has_numbers = self._numbers is None or self._numbers.has_read(self.timeline.computed)
        return has_numbers and (self._matches is None or self._matches.is_read)

    def read(self, seconds: float) -> None:
        """Find numbers in the notes on the selected job, and steps that meet a condition, for `seconds` each."""
        if self._numbers is not None:
            self._numbers.read(self.timeline.computed, seconds)
        if self._matches is not None:
            self._matches.read(seconds)

    def _matches_of(self, stop: Stop | None) -> MatchesScene | None:
        branch = self.timeline.branch
        if stop is None:
            self._matches = None
            return None
        if self._matches is None or (self._matches.branch, self._matches.stop) != (branch, stop):
            from sim.stops.search import Matches

            self._matches = Matches(branch, stop)
        seen = self._matches
        begins = "" if any(condition.is_event for condition in stop.conditions) else ": when it begins to hold"
        return MatchesScene(f"{stop.text}{begins}", tuple(seen.found), seen.more, seen.share)

    def _state_before(self, decision: int | None) -> Snapshot | None:
        """Return the state before this decision, or None; it is kept until another one is selected."""
        if decision is None:
            return None
        place = self.timeline.branch.name, self.timeline.step, decision
        if self._walked is None or self._walked[0] != place:
            self._walked = place, self.timeline.snapshot_within(decision)
        return self._walked[1]

    def _code(self) -> PassCode:
        place = self.timeline.branch.name, self.timeline.step
        if self._recorded is None or self._recorded[0] != place:
            self._recorded = place, self.timeline.code()
        return self._recorded[1]

    def _printed_lines(self) -> tuple[tuple[int, tuple[str, ...]], ...]:
        step, now = self.timeline.step, self.snapshot.printed
        kept = [entry for entry in self.timeline.branch.printed_until(step, PRINTED) if entry[0] < step]
        return (*kept, (step, now)) if now else tuple(kept)

    def _makers_of(self, branch: str) -> _Makers:
        makers = self._makers.pop(branch, None) or _Makers(self._new_chart(), StripMaker(self.workload))
        self._makers[branch] = makers
        if len(self._makers) > MAKERS:
            del self._makers[next(iter(self._makers))]
        return makers

    def _new_chart(self) -> ChartMaker:
        branch, history = self.timeline.branch, self.timeline.history
        parent = self._makers.get(branch.parent or "")
        if parent is None or not branch.forked_at:
            return ChartMaker(self.workload)
        return parent.chart.parted(history.time_of(branch.forked_at - 1))

    def _job(self, makers: _Makers, rank: int | None) -> JobState | None:
        if rank is None:
            return None
        if rank not in makers.jobs:
            makers.jobs.clear()
            makers.jobs[rank] = JobReader(self.workload, rank)
        return makers.jobs[rank].at(self.timeline.history, self.snapshot)

    def _switches(self) -> Iterator[Mark]:
        if self.workload.changes:
            yield Mark(self.workload.changed_since, "switch", str(self.workload.changes))
        for switch in self.timeline.branch.switches:
            if switch.step == 1:  # the first policy took over from none
                continue
            yield Mark(switch.time, "switch", switch.called)

    def _bookmarks(self, wish: Wish) -> Iterator[Mark]:
        timeline = self.timeline
        for bookmark in wish.bookmarks:
            if bookmark.branch == timeline.branch.name and 0 < bookmark.step <= timeline.computed:
                yield Mark(timeline.history.time_of(bookmark.step - 1), "bookmark", bookmark.name)


def _named_ranks(snapshot: Snapshot, selected: int | None) -> Iterator[int]:
    if selected is not None:
        yield selected
    for shown in (snapshot.running, snapshot.suspended, snapshot.queue[:NAMED]):
        yield from (entry.job.rank for entry in shown)
    yield from (job.rank for job in (*snapshot.arrived, *snapshot.completed))
    for decision in (*snapshot.decisions, *snapshot.rebuild):
        job = getattr(decision, "job", None)
        if job is not None:
            yield job.rank


Numbers: TypeAlias = tuple[tuple[float, float], ...]
"""Pairs (time, value), one for each change of a number"""
MOST = 2000
"""Largest number of values of a column that are kept; if there are more, every second value is dropped."""


class OwnNumbers:
    """Numbers in the policy's notes about a job while it waited; those about its user, over the whole run."""

    def __init__(self, branch: Branch, job: Job) -> None:
        self._branch, self._job = branch, job
        self._has_others = any(column.of != "rank" for column in branch.engine.moment.columns)
        before = None if self._has_others else branch.history.step_at(job.submit)
        self._step = 0 if before is None else before
        self._engine: Engine | None = None
        self._is_over = False
        self._found: dict[Column, list[tuple[float, float]]] = {}

    def is_of(self, branch: Branch, job: Job) -> bool:
        return (self._branch, self._job) == (branch, job)

    def has_read(self, step: int) -> bool:
        return self._is_over or self._step >= step

    def read(self, step: int, seconds: float) -> None:
        """Collect numbers up to step `step`, for about `seconds` of computing time, but at least one step."""
        until = perf_counter() + seconds
        while not self.has_read(step):
            self._step += 1
            try:
                self._engine = self._branch.replay(self._step, self._engine)
            except SchedscopeError:  # reported when that step is shown
                self._engine = None
            if self._engine is None:
                self._is_over = True
                return
            self._look(self._engine)
            if perf_counter() >= until:
                return

    def _look(self, engine: Engine) -> None:
        moment, now = engine.moment, engine.now
        waits = moment.where(self._job.rank) == "queue"
        self._is_over = now >= self._job.submit and not waits and not self._has_others
        for column in moment.columns:
            if (waits or column.of != "rank") and (value := column.value(moment.notes, self._job)) is not None:
                values = self._found.setdefault(column, [])
                values.append((now, value))
                if len(values) > MOST:
                    del values[1:-1:2]

    @property
    def found(self) -> tuple[tuple[Column, Numbers], ...]:
        return tuple((column, tuple(values)) for column, values in self._found.items())
