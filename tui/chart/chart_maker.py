"""Maker of the charts of one run, which uses again what it drew and computed for earlier frames."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial, reduce
from itertools import pairwise
from math import ceil, floor, inf, nextafter
from operator import or_
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.decisions.decisions import Backfill, Keep, Reserve, Suspend
from sim.decisions.matrix import ReserveRow
from sim.decisions.sentences import words_of
from sim.decisions.wording import Hole, Window
from sim.engine.snapshot import Queued, Snapshot
from sim.history.past import Past
from sim.history.stretch import KINDS, SUSPENDING, Stretch
from sim.history.times import EventTimes, Floats
from sim.life.job_state import NONE_CANCELLED
from sim.policies import Policy
from sim.support.formatting import name, span
from sim.workload.model import Job, Workload
from sim.workload.outages import Outage
from tui.chart.axis import CLOCK, Axis, ByEvent, Steps
from tui.chart.colours import Colours
from tui.chart.lanes import Lanes, are_seen, by_turns
from tui.chart.node_rows import NodeRows, placed_names, with_bands
from tui.chart.owners import ByOwner, Partitioned, gap_of
from tui.chart.partition_names import lane_names
from tui.chart.planned import plan_boxes, planned_times
from tui.chart.raster import FREE, Frame, Raster, Shares, rasterise
from tui.chart.scale import Camera, ChartView
from tui.chart.scene import Box, ChartScene, Drawing, Mark, Suspension
from tui.chart.tiles import Tiles


class ChartMaker:
    """Maker of the charts of one history; each branch of a run has its own."""

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.colours = Colours(workload)
        self.steps = Steps()
        self._lanes = Lanes(workload.procs)
        self._nodes = None if workload.shape is None else NodeRows(workload, workload.shape)
        self._promises = Promises()
        self._tiles = Tiles()
        self._shares: dict[tuple[int, ...], Shares] = {}

    def parted(self, time: float) -> ChartMaker:
        """Return a maker for a branch with the same past up to `time`, whose drawings are used again."""
        made = ChartMaker(self.workload)
        made.colours, made._shares = self.colours, self._shares
        made.steps = Steps(self.steps.kind)
        ends = {CLOCK.kind: time, self.steps.kind: len(self.steps.known(time)) - 1}
        made._tiles = self._tiles.until(lambda layout: floor(ends.get(layout[2], 0) / layout[0]))
        return made

    def make(
        self,
        history: Past,
        snapshot: Snapshot,
        clock: float,
        camera: Camera,
        mode: str = "job",
        budget_seconds: float = 0.02,
        marks: Sequence[Mark] = (),
        selected: int | None = None,
        axis: Axis | None = None,
    ) -> ChartScene:
        """Return the chart at `clock`; columns beyond the time budget are left out, and `pending` is then True."""
        deadline = perf_counter() + budget_seconds
        if axis is None:
            axis = self.axis_by_event(history, snapshot, clock) if camera.by_event else CLOCK
        view = camera.view(axis.place(clock), axis)
        lanes = self._lanes_of(history, snapshot, clock, camera.by_rows, view.seconds)
        if lanes is not None:
            view = replace(view, lanes=lanes.count, stride=lanes.stride)
        partitioned = None if lanes is not None else _partitioned(snapshot, view, clock, camera.by_rows)
        has_memory, memory, by_use = False, None, None
        use = None if self._nodes is None else self._nodes.current(snapshot)
        if self._nodes is not None and use is not None:
            partitioned = with_bands(self._nodes.band_cores, view, clock) if camera.memory else None
            has_memory = partitioned is not None
            by_use = None if has_memory else self._nodes.by_use(view, clock, use, camera.by_rows)
            partitioned = by_use[0] if by_use else partitioned
            view = view if partitioned else self._nodes.cut(view)
        if partitioned is not None:
            view = partitioned.view(view)
        by_owner = partitioned and ByOwner(partitioned, history, view.axis, view.per_column, view.first, view.columns)
        plan = plan_boxes(snapshot, view, clock, turn_of(snapshot.rules), self.workload.shape)
        raster, pending = self._raster(history, view, clock, plan, lanes, deadline, partitioned)
        start, end = history.event_times()
        names, useless = lane_names(snapshot) if by_owner is not None else (), None
        unused: tuple[int, ...] = ()
        if self._nodes is not None and use is not None:
            names = by_use[1] if by_use else ()
            seen = self._nodes.seen(history, view, clock, use)
            useless = self._nodes.useless(seen, view, by_owner)
            memory = self._nodes.memory(seen, view) if has_memory else None
            unused = self._nodes.unused(use)
        return ChartScene(
            view=view,
            clock=clock,
            since=snapshot.time,
            raster=raster,
            plan=plan,
            owners=None if self._nodes else self._owners(history, snapshot, view, clock, by_owner),
            homes=_homes(snapshot.division, view, by_owner),
            by_owner=by_owner,
            lane_names=names,
            names=() if self._nodes is None else _names_in(self._nodes.names, by_owner, has_memory),
            memory=memory,
            band_cores=() if self._nodes is None else self._nodes.band_cores,
            useless=useless,
            unused=unused,
            missing=missing_in(view, snapshot.outages, by_owner) if lanes is None else None,
            outages=snapshot.outages,
            division=snapshot.division,
            marks=(*marks, *self._promises.marks(history, snapshot, clock, selected)),
            hole=hole_of(snapshot) if not snapshot.owners else None,
            mode=mode,
            hues=self._hues(raster, lambda ranks: self.hues_of(history, ranks, mode, clock, (start, end))),
            legend=self.colours.legend(mode, snapshot.queues),
            workload=self.workload,
            start=start,
            end=end,
            cancelled=history.cancelled(),
            lanes=() if lanes is None else lanes.now(snapshot, clock),
            pending=pending,
            suspensions=_suspensions(history, snapshot, view.start, min(clock, view.end)),
        )

    def draw(
        self,
        history: Past,
        snapshot: Snapshot,
        clock: float,
        window: tuple[float, float],
        column: float,
        mode: str = "job",
        marks: Sequence[Mark] = (),
        title: str = "",
        axis: Axis = CLOCK,
        rows: int | None = None,
    ) -> Drawing:
        """Return the complete chart of a window (begin, end); with `rows` of pixels partitions are lanes."""
        begin, end = window
        first = floor(axis.place(begin) / column)
        last = ceil(axis.place(end) / column)
        view = ChartView(column, first, last - first, snapshot.procs, 0, snapshot.procs, axis=axis)
        seen = history.between(begin, clock)
        ran = list(by_turns(history, seen, begin, clock, view.seconds))
        is_shared = any(stretch.kind == "gang" for stretch in ran)
        lanes = self._read_lanes(history, clock) if is_shared else None
        if lanes is not None:
            view, ran = replace(view, lanes=lanes.count, stride=lanes.stride), lanes.joined(seen)
        partitioned = None
        if lanes is None and rows is not None:
            partitioned = _partitioned(snapshot, replace(view, rows=rows), clock, None)
        by_owner = partitioned and ByOwner(partitioned, history, axis, column, first, last - first, exact=True)
        plan, trails = (
            plan_boxes(snapshot, view, clock, turn_of(snapshot.rules), self.workload.shape),
            history.pauses(begin, clock),
        )
        if partitioned is not None and by_owner is not None:
            view, ran, trails = partitioned.view(view), list(by_owner.spread(ran)), list(by_owner.spread(trails))
        ordered = lanes or by_owner
        if ordered is not None:
            plan = tuple(Box(s.rank, s.start, s.end or clock, s.processors, s.kind) for s in _ahead(plan, ordered))
        times = history.starts(len(self.workload)), history.ends(len(self.workload))
        return Drawing(
            view=view,
            clock=clock,
            plan=plan,
            marks=(*marks, *self._promises.marks(history, snapshot, clock, None)),
            mode=mode,
            hues=self.hues_of(history, range(len(self.workload)), mode, clock, times),
            legend=self.colours.legend(mode, snapshot.queues),
            workload=self.workload,
            start=times[0],
            end=times[1],
            cancelled=history.cancelled(),
            title=title,
            begin=begin,
            until=end,
            history=history,
            ran=tuple(ran),
            trails=tuple(trails) if lanes is None else (),
            cut=tuple(
                stretch for stretch in ran if stretch.is_cut and stretch.end is not None and stretch.end <= clock
            ),
            lanes=() if lanes is None else lanes.now(snapshot, clock),
            division=snapshot.division,
            outages=snapshot.outages if lanes is None else (),
            suspensions=_suspensions(history, snapshot, begin, min(clock, end)),
            by_owner=by_owner,
            lane_names=lane_names(snapshot) if snapshot.owners else (),
            names=() if self._nodes is None else self._nodes.names,
            useless_spans=()
            if self._nodes is None
            else tuple(self._nodes.useless_spans(history, snapshot, view, clock)),
        )

    def axis_by_event(self, history: Past, snapshot: Snapshot, clock: float) -> Axis:
        return axis_by_event(self.steps.kind, self.steps.of(history, clock), [snapshot], clock)

    def hues_of(
        self,
        history: Past,
        ranks: Sequence[int],
        mode: str,
        clock: float,
        times: tuple[EventTimes, EventTimes] | None = None,
    ) -> NDArray[np.uint8]:
        """Return the hues of jobs for panels that name them; `times` are all starts and ends, if known."""
        start, end = times or history.event_times()
        cancelled = history.cancelled() if self.workload.follows else NONE_CANCELLED
        owner = partial(_owner_of, history)
        return self.colours.of(mode, np.array(ranks, np.intp), start, end, clock, owner, cancelled)

    # The picture

    def _raster(
        self, history: Past, view: ChartView, clock: float, plan: Sequence[Box], lanes: Lanes | None, deadline: float,
        partitioned: Partitioned | None,
    ) -> tuple[Raster, bool]:  # fmt: skip
        """Return the pixels of the chart, the past from tiles, and True if some are not drawn yet."""
        edges = view.edges()
        if (shares := self._shares.get(edges)) is None:
            shares = self._shares[edges] = Shares(edges)
            if len(self._shares) > 8:
                del self._shares[next(iter(self._shares))]
        axis, last = view.axis, view.first + view.columns
        now = floor(axis.place(clock) / view.per_column)
        finished = min(max(floor(axis.settled(clock) / view.per_column), view.first), last)

        begun = max(min(now + 1, last) - finished, 0)
        under: list[Raster] = []

        def draw(first: int, columns: int) -> Raster:
            """Return the pixels of finished columns; append those of a column of now that comes next to `under`."""
            more = begun if first + columns == finished else 0
            frame = Frame(view.per_column, first, columns + more, edges, axis)
            order = partitioned and ByOwner(partitioned, history, axis, view.per_column, first, columns + more)
            pixels = self._past(history, frame, clock, shares, lanes or order).pixels
            under.extend([Raster(pixels[:, columns:])] if more else [])
            return Raster(pixels[:, :columns])

        layout = view.per_column, edges, axis.kind, view.order
        budget = max(deadline - perf_counter(), 0.001)
        past, pending = self._tiles.window(layout, view.bands, view.first, finished, draw, budget)
        if last <= finished:
            return past, pending
        beyond = partitioned and ByOwner(partitioned, history, axis, view.per_column, finished, last - finished)
        ahead = _ahead(plan, lanes or beyond)
        raster = rasterise(ahead, Frame(view.per_column, finished, last - finished, edges, axis), inf, shares)
        if begun:
            if not under:
                draw(finished, 0)
            raster.pixels[:, :begun] = under[0].above(Raster(raster.pixels[:, :begun])).pixels
        return past.before(raster), pending

    def _past(self, history: Past, frame: Frame, clock: float, shares: Shares, lanes: Lanes | ByOwner | None) -> Raster:
        """Return the pixels of the columns of `frame`, which are in the past or contain the time `clock`."""
        start, end = (frame.axis.time(at * frame.per_column) for at in (frame.first, frame.first + frame.columns))
        end = min(end, nextafter(clock, inf))
        stretches = history.between(start, end)
        if not stretches:
            held = Raster.blank(len(frame.edges) - 1, frame.columns, FREE)
        else:
            if not isinstance(lanes, Lanes):
                stretches = list(by_turns(history, stretches, start, end, frame.axis.seconds(frame.per_column)))
            shown = stretches if lanes is None else list(lanes.spread(stretches))
            held = rasterise(shown, frame, clock, shares, _ended_stretches(shown, clock))
        pauses = history.pauses(start, end)
        if lanes is not None:
            pauses = list(lanes.spread(pauses))
        return held.above(rasterise(pauses, frame, clock, shares)) if pauses else held

    def _lanes_of(
        self, history: Past, snapshot: Snapshot, clock: float, by_rows: bool | None, column: float
    ) -> Lanes | None:
        turn = turn_of(snapshot.rules)
        if turn is None or not (by_rows if by_rows is not None else not are_seen(turn, column)):
            return None
        return self._read_lanes(history, clock)

    def _read_lanes(self, history: Past, clock: float) -> Lanes | None:
        self._lanes.read(history, clock)
        return self._lanes if self._lanes.count > 1 else None

    # Meaning

    def _hues(self, raster: Raster, hues_of: Callable[[list[int]], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        seen = np.zeros(len(self.workload) + 2, np.bool_)
        seen[raster.rank] = True
        ranks = np.flatnonzero(seen[:-2])
        hues = np.zeros(len(self.workload), np.uint8)
        hues[ranks] = hues_of(ranks.tolist())
        return hues

    def _owners(
        self, history: Past, snapshot: Snapshot, view: ChartView, clock: float, by_owner: ByOwner | None
    ) -> NDArray[np.int8] | None:
        """Return, for each band and column, the partition that owns most of it, or None."""
        if by_owner is not None:
            return _in_order(by_owner, [order.owners for order in by_owner.orders], view)
        divisions = history.owners_between(view.start, min(view.end, nextafter(clock, inf)))
        if not divisions and not snapshot.owners:
            return None
        edges = view.edges()
        owners = np.full((view.bands, view.columns), -1, np.int8)
        last = {max(view.column_of(since), 0): division for since, division in divisions}
        for column, division in {**last, max(view.column_of(clock), 0): snapshot.owners}.items():
            if column < view.columns:
                owners[:, column:] = np.array(_owners_of(division, edges), np.int8)[:, None]
        return owners


def _partitioned(snapshot: Snapshot, view: ChartView, clock: float, by_owner: bool | None) -> Partitioned | None:
    """Return the owners for lanes; None for processors by number, or fewer than two partitions."""
    parts = len(snapshot.owners)
    if by_owner is False or parts < 2:
        return None
    gap = gap_of(view.high - view.low, view.rows, parts)
    return Partitioned(snapshot.division, snapshot.owners, clock, snapshot.procs, gap)


def _in_order(by_owner: ByOwner, divisions: Sequence[tuple[int, ...]], view: ChartView) -> NDArray[np.int8]:
    """Return, for each band and column, the partition that has most of the band in that order; -1 for none."""
    edges, found = view.edges(), np.full((view.bands, view.columns), -1, np.int8)
    for (columns, order), division in zip(by_owner.runs(view.columns), divisions, strict=True):
        found[:, columns] = np.array(_owners_of(order.lifted_all(division), edges), np.int8)[:, None]
    return found


def _homes(division: tuple[int, ...], view: ChartView, by_owner: ByOwner | None) -> NDArray[np.int8] | None:
    if not division:
        return None
    if by_owner is not None:
        return _in_order(by_owner, [division] * len(by_owner.orders), view)
    homes = np.array(_owners_of(division, view.edges()), np.int8)
    return np.repeat(homes[:, None], view.columns, axis=1)


def missing_in(view: ChartView, outages: Sequence[Outage], by_owner: ByOwner | None) -> NDArray[np.bool_] | None:
    """Return True for bands and columns that are mostly unavailable, in the chart's order, or None."""
    if by_owner is None or not outages:
        return _missing(view, outages)
    found = np.zeros((view.bands, view.columns), np.bool_)
    for columns, order in by_owner.runs(view.columns):
        there = [outage._replace(processors=order.lifted(outage.processors)) for outage in outages]
        if (missing := _missing(view, there)) is not None:
            found[:, columns] = missing[:, columns]
    return found if found.any() else None


def _missing(view: ChartView, outages: Sequence[Outage]) -> NDArray[np.bool_] | None:
    """Return True for bands mostly unavailable at a column's middle, or None."""
    seen = [outage for outage in outages if outage.begins < view.end and outage.ends > view.start]
    if not seen:
        return None
    edges = view.edges()
    bands = [(((1 << high) - (1 << low)), (high - low) / 2) for high, low in pairwise(edges)]
    found = np.zeros((view.bands, view.columns), np.bool_)
    times = np.array([view.time_at(column + 0.5) for column in range(view.columns)])
    for changes in {tuple(outage.begins <= time < outage.ends for outage in seen) for time in times.tolist()}:
        gone = reduce(or_, (o.processors for o, there in zip(seen, changes, strict=True) if there), 0)
        if gone:
            both = [(times >= o.begins) & (times < o.ends) for o in seen]
            columns = np.all([row == there for row, there in zip(both, changes, strict=True)], axis=0)
            found |= np.outer([(gone & band).bit_count() > half for band, half in bands], columns)
    return found if found.any() else None


def _names_in(
    names: tuple[tuple[int, str], ...], by_owner: ByOwner | None, has_memory: bool
) -> tuple[tuple[int, str], ...]:
    """Return nodes' names with their lowest positions; none in lanes of nodes by use."""
    if by_owner is None or not has_memory:
        return names if by_owner is None else ()
    return placed_names(names, by_owner)


def _ahead(plan: Iterable[Box], lanes: Lanes | ByOwner | None) -> list[Stretch]:
    boxes = [Stretch(box.rank, box.start, box.end, box.kind, box.processors, box.rows) for box in plan]
    if isinstance(lanes, ByOwner):
        return list(lanes.spread(boxes))
    return boxes if lanes is None else [s._replace(kind="expected") for s in lanes.spread(boxes)]


def _suspensions(history: Past, snapshot: Snapshot, begin: float, end: float) -> tuple[Suspension, ...]:
    return suspensions_between(history, begin, end) if snapshot.totals.preemptions else ()


def _ended_stretches(stretches: Sequence[Stretch], clock: float) -> tuple[Stretch, ...]:
    return tuple(s for s in stretches if s.end is not None and s.end <= clock and (s.is_cut or s.is_suspended))


def _owner_of(history: Past, rank: int) -> int | None:
    if (begun := history.beginning(rank)) is None or not begun[1]:
        return None
    shared = [(owned & begun[0].processors).bit_count() for owned in begun[1]]
    return shared.index(max(shared))


@lru_cache(256)
def _owners_of(division: tuple[int, ...], edges: tuple[int, ...]) -> tuple[int, ...]:
    if not division:
        return (-1,) * (len(edges) - 1)
    shares = np.zeros((len(division), len(edges) - 1))
    owner, band, share = Shares(edges).of(division)
    shares[owner, band] = share
    return tuple(np.where(shares.any(axis=0), np.argmax(shares, axis=0), -1).tolist())


def axis_by_event(kind: Hashable, steps: Floats, snapshots: Sequence[Snapshot], clock: float) -> Axis:
    """Return an axis with a unit for each step and each later planned time; `clock` if there are no steps."""
    steps = steps if len(steps) else np.array([clock])
    ahead = sorted({time for shown in snapshots for time in planned_times(shown) if time > steps[-1]})
    due = max((shown.next_time for shown in snapshots if shown.next_time is not None), default=-inf)
    if due > (ahead or steps)[-1]:  # the clock may come as far as that
        ahead.append(due)
    return ByEvent(kind, steps, ahead)


def turn_of(policy: Policy) -> float | None:
    """Return the seconds of a turn of a matrix row under this policy; None if no rows take turns under it."""
    turns = policy.turns()
    return None if turns is None else turns.slice


_MOST = 12
"""Largest number of visible suspensions that are explained in the chart."""


def suspensions_between(history: Past, begin: float, end: float) -> tuple[Suspension, ...]:
    """Return the suspensions for another job in this time; empty if there are more than `_MOST`."""
    pauses = [pause for pause in history.pauses(begin, nextafter(end, inf)) if pause.start >= begin]
    if len(pauses) > _MOST:
        return ()
    found = ((pause, _suspended_for(history, pause)) for pause in pauses)
    return tuple(Suspension(pause.start, by.rank, pause.rank) for pause, by in found if by is not None)


def _suspended_for(history: Past, pause: Stretch) -> Job | None:
    before = history.between(nextafter(pause.start, -inf), pause.start)
    writing = (each.start for each in before if each.rank == pause.rank and each.kind == KINDS[SUSPENDING])
    decided = next(writing, pause.start)
    step = history.step_at(decided)
    while step is not None and step >= 0 and history.time_of(step) == decided:
        for decision in history.decisions(step):
            if isinstance(decision, Suspend) and decision.job.rank == pause.rank:
                return getattr(decision.because, "by", None)
        step -= 1
    return None


# Marks of promises.


class FirstPromise(NamedTuple):
    """First reservation of a job: made at the time `time`, for a start at the time `at`."""

    time: float
    at: float


class Promises:
    """First reservation of each job, which does not change once it is found."""

    def __init__(self) -> None:
        self._first: dict[int, FirstPromise] = {}

    def marks(self, history: Past, snapshot: Snapshot, clock: float, selected: int | None) -> Iterator[Mark]:
        """Yield marks for the selected job or the head: its first reserved start, and the latest end to pass it."""
        queued = _awaited(snapshot, selected)
        if queued is None or queued.planned is None:
            return
        first = self._first_of(history, queued, clock) if queued.reserved else None
        if first is not None and (first.at != queued.planned or selected is not None):  # else its frame shows it
            yield Mark(first.at, "promise", f"{name(queued.job)} promised", first.time, _slip(queued, first))
        if (closes := _window(snapshot, queued.job.rank)) is not None:
            yield Mark(closes, "window", f"window for {name(queued.job)}")

    def _first_of(self, history: Past, queued: Queued, clock: float) -> FirstPromise | None:
        rank = queued.job.rank
        known = self._first.get(rank)
        if known is None:
            for step, decision in history.decided_about(rank, queued.job.submit):
                if isinstance(decision, Reserve | ReserveRow):
                    known = self._first[rank] = FirstPromise(history.time_of(step), decision.at)
                    break
        return known if known is not None and known.time <= clock else None


def _slip(queued: Queued, first: FirstPromise) -> str:
    slip = (queued.planned or first.at) - first.at
    return "" if not slip else f", now {'+' if slip > 0 else '−'}{span(abs(slip))}"


def _awaited(snapshot: Snapshot, selected: int | None) -> Queued | None:
    place = (0 if snapshot.queue else None) if selected is None else snapshot.queue.place_of(selected)
    return None if place is None else snapshot.queue[place]


def hole_of(snapshot: Snapshot) -> Hole | None:
    return next((shown for shown in _shown_in_step(snapshot) if isinstance(shown, Hole)), None)


def _window(snapshot: Snapshot, rank: int) -> float | None:
    windows = (shown for shown in _shown_in_step(snapshot) if isinstance(shown, Window))
    return next((window.closes for window in windows if window.head.rank == rank), None)


def _shown_in_step(snapshot: Snapshot) -> Iterator[Hole | Window]:
    for decision in snapshot.decisions:
        if isinstance(decision, Backfill | Keep) and (shows := words_of(decision.because).shows):
            yield shows(decision.because)
