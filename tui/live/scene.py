"""Everything that widgets need to show an observed cluster at the time of one poll."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sim.live.cluster.changes import PollEvent
from sim.live.cluster.dates import date
from sim.live.cluster.observed import Dated, Observed
from sim.live.cluster.reasons import say
from sim.live.cluster.values import Cluster, ClusterJob
from sim.policies.columns import Column
from sim.stops.grammar import Stop
from sim.support.formatting import count, name, printable
from tui.chart.hover import Spot
from tui.chart.scene import ChartScene, Mark
from tui.live.events import EVENTS
from tui.live.node_lines import state_of, taken_of
from tui.look.calendar import Calendar
from tui.look.palette import Look
from tui.look.sheets import Line, Span
from tui.replay.scene import StripScene

if TYPE_CHECKING:
    from sim.live.forecast.board import Forecasts
    from sim.live.forecast.new_job import Ghost

STRIP = 200
"""Number of values in the strip below the chart; a narrower strip draws fewer."""


@dataclass(frozen=True)
class State:
    """State of the observation, not of the cluster: its pace, errors and progress."""

    title: str = ""
    """Name of the file of a recording; "" for a cluster that is polled now."""
    every: float = 60.0
    due: float | None = None
    """Time of the next poll in seconds since 1970; None for a recording, and before the first poll."""
    trouble: str = ""
    """Error of the controller or of reading a recording; "" for none."""
    since: float = 0.0
    """Time of the last answer or, before there was any, of the first failed poll, in seconds since 1970; valid only
    with `trouble`.
    """
    unrecorded: str = ""
    reading: float | None = None
    """Share of a recording that has been read, from 0 to 1; None if all is, or if the cluster is polled."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Choice of the user: which jobs the list shows, and how."""

    kind: str = "waiting"
    """Name of the list: waiting, running or ended."""
    partition: str = ""
    mine: int = 1
    """0 for the usual order, 1 for the user's own jobs first, 2 for only those."""
    words: str = ""
    """Words that must all stand in a job's row."""
    layouts: Mapping[str, str] = field(default_factory=dict)
    """For each list whose columns or order the user has chosen: its columns as text, `user name -left`."""


@dataclass(frozen=True, eq=False)
class LiveScene:
    """Observed cluster at one time: its state at the poll that is shown, and the chart of its history up to then."""

    cluster: Cluster
    observed: Observed
    """History of all polls, to which a thread adds: readers may ask only ranks and expected starts of a job."""
    clock: float
    """Time shown, in seconds since the origin of the history, which is the midnight before the first poll."""
    picture: int
    pictures: int
    chart: ChartScene | None
    strip: StripScene
    events: tuple[PollEvent, ...] = ()
    state: State = State()
    follows: bool = True
    """True if the newest poll is shown, and then each that follows."""
    numbers: Sequence[tuple[Column, Sequence[tuple[float, float]]]] = ()
    """Numbers that a policy writes about jobs; always empty here."""
    _said: dict[str, str] = field(default_factory=dict, repr=False)
    listed: dict[object, tuple[ClusterJob, ...]] = field(default_factory=dict, repr=False)
    """Lists of jobs that were made for this scene, by what they were made from."""
    forecasts: Forecasts | None = None
    """Forecasts for the poll shown, or one shortly before; None until they are made."""

    @property
    def known(self) -> float:
        return self.strip.known

    @property
    def levels(self) -> tuple[float, int]:
        taken = sum(job.cpus for job in self.cluster.running) / self.cluster.cpus if self.cluster.cpus else 0.0
        return min(taken, 1.0), len(self.cluster.queue)

    def rank(self, job: ClusterJob) -> int:
        """Return the rank of a job in the history (its index there); -1 if the history does not have it any more."""
        return self.observed.ranks.get(job.id, -1)

    def job(self, rank: int | None) -> ClusterJob | None:
        """Return the job as of the poll shown or, if that does not list it, as last seen; None for an unknown rank."""
        if rank is None or not 0 <= rank < len(self.observed.jobs):
            return None
        last = self.observed.jobs[rank]
        return self.cluster.job_of.get(last.id, last) if last.id else None

    def hue(self, rank: int | None) -> int | None:
        if self.chart is None or rank is None or rank >= len(self.chart.hues):
            return None
        return int(self.chart.hues[rank])

    def why(self, job: ClusterJob) -> str:
        """Return one line on why the job waits; if it does not wait, on its state."""
        if job.id not in self._said:
            self._said[job.id] = say(self.cluster, job)
        return self._said[job.id]

    def dates(self, job: ClusterJob) -> tuple[Dated, ...]:
        return self.observed.dates(self.rank(job), self.clock)

    # For the chart

    def planned_start(self, rank: int) -> float | None:
        job = self.job(rank)
        if job is None or not job.is_planned or job.start is None or self.cluster.is_private:
            return None
        return job.start - (self.observed.origin or 0.0)

    def hover(self, rank: int, calendar: Calendar | None = None) -> str:
        job = self.job(rank)
        if job is None:
            return ""
        parts = [f"J{job.id}", job.name, count(job.cpus, "core"), job.user, job.account, job.partition, job.qos]
        return " · ".join(filter(None, map(printable, parts))) + "\n" + self.why(job)

    def hover_free(self, spot: Spot, calendar: Calendar | None = None) -> str:
        row = next((row for row in self.observed.layout.rows if row.low <= spot.processor < row.high), None)
        node = None if row is None else self.cluster.node_of.get(row.node)
        if node is None:
            return ""
        at = date(spot.time + (self.observed.origin or 0.0), self.cluster.at)
        now = f"{taken_of(self.cluster, node)} taken\n{state_of(self.cluster, node)}"
        return f"{printable(node.name)} at {at}: no job here; now {now}"


@dataclass(frozen=True, slots=True)
class LiveContext:
    scene: LiveScene
    look: Look
    selected: int | None = None
    hovered: int | None = None
    listing: Listing = Listing()

    @property
    def unicode(self) -> bool:
        return not self.look.ascii

    @property
    def decision(self) -> int | None:
        return None

    @property
    def whose(self) -> Span | None:
        return None

    def told(self, line: Line, column: int, rank: int | None) -> str:
        return "" if rank is None else self.scene.hover(rank)


def strip_of(observed: Observed, known: float, marks: Sequence[Mark] = ()) -> StripScene:
    """Return the strip up to `known`: share of cores in use and number of waiting jobs."""
    moments, levels = observed.moments, observed.levels
    begin = moments[0] if moments else 0.0
    end = max(known, begin + 1.0)
    places = [observed.picture_at(begin + (column + 1) / STRIP * (end - begin)) for column in range(STRIP)]
    shown = [levels[place] for place in places] if levels else []
    return StripScene(begin, end, end, tuple(s for s, _ in shown), tuple(float(w) for _, w in shown), tuple(marks))


def event_in_words(scene: LiveScene, event: PollEvent) -> str:
    return EVENTS[event.kind].sentence(event, scene.cluster.job_of.get(event.subject))


def job_name(job: ClusterJob) -> str:
    return printable(name(job))


@dataclass(frozen=True)
class LiveState:
    selected: int | None = None
    hovered: int | None = None
    listing: Listing = Listing()
    mode: str = "job"
    jump: str = "event"
    picture: int | None = None
    """Number of the poll that is shown; None to show the newest poll, and each new one when it arrives."""
    stops: tuple[Stop, ...] = ()
    bookmarks: tuple[tuple[int, str], ...] = ()
    ghost: Ghost | None = None
    """Job that does not exist yet, whose frame the chart shows."""
    hidden: frozenset[str] = frozenset()
    over: str | None = None
    alone: bool = False
    said: str = ""
