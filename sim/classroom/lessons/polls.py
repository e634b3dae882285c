"""Polls of a recorded cluster in a lesson, and the values of the names that the lesson uses at one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from sim.classroom.lessons.names import TERM, LessonValue, Names, Unit
from sim.classroom.lessons.runs import RunMoment
from sim.live.cluster.dates import date
from sim.live.cluster.queue_order import ahead
from sim.live.cluster.reasons import say
from sim.live.cluster.recording import Recording
from sim.live.cluster.room import barred, free_on
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.board import Board, Forecasts
from sim.live.forecast.past import PastJobs
from sim.support.errors import ParameterError, near
from sim.support.formatting import printable, quoted

EVERY = 30.0
"""Smallest number of seconds between two polls whose forecasts are scored, so that a lesson opens soon."""


class Polls:
    """All polls of a recording, with what is known about its jobs in the end."""

    def __init__(self, recording: Recording) -> None:
        self.pictures = tuple(recording.pictures())
        self.last: dict[str, ClusterJob] = {}
        """For each job (by id): its data in the last poll that lists it."""
        for cluster in self.pictures:
            self.last.update((job.id, job) for job in cluster.jobs)
        self.earlier = recording.history()
        """Jobs that ended before the first poll."""
        self.ids = tuple(self.last)
        self.ranks = {id: rank for rank, id in enumerate(self.ids)}
        self._forecasts: dict[int, Forecasts] = {}

    def past(self, at: float) -> PastJobs:
        ended = (job for job in self.last.values() if job.has_ended and (job.end or 0.0) <= at)
        return PastJobs((*self.earlier, *ended))

    def forecast(self, places: Iterable[int]) -> None:
        """Make the forecasts, with their ranges, at the polls with these numbers, from the polls before."""
        board, since, wanted = Board(self.earlier, every=EVERY), 0.0, {*places} - self._forecasts.keys()
        for place, cluster in enumerate(self.pictures[: max(wanted, default=-1) + 1]):
            board.learn(job for job in self.last.values() if job.has_ended and since < (job.end or 0.0) <= cluster.at)
            since = cluster.at
            if place in wanted:
                self._forecasts[place] = board.add(cluster)
            else:
                board.keep(cluster)

    def made(self, place: int) -> Forecasts | None:
        return self._forecasts.get(place)

    def forecasts(self, place: int) -> Forecasts:
        if place not in self._forecasts:
            self.forecast([place])
        return self._forecasts[place]

    def start_after(self, place: int, job: ClusterJob) -> tuple[float, int]:
        """Return (start, poll in which it first runs or has ended) of a waiting job; an error if it never starts."""
        for later, cluster in enumerate(self.pictures[place:], place):
            there = cluster.job_of.get(job.id)
            if there is not None and not there.is_waiting and there.start is not None and there.nodes:
                return there.start, later
        raise ParameterError(f"J{job.id} does not start in the recording after this moment")


class PollSeen(Names):
    """One poll of a recording, with the values of the names that a lesson uses there."""

    def __init__(self, polls: Polls, place: int) -> None:
        self.polls, self.place = polls, place
        self.cluster: Cluster = polls.pictures[place]
        self.moment = self._moment = RunMoment("", place, self.cluster.at)

    def job(self, called: str) -> ClusterJob:
        """Return the job with this id, as it is at the poll; "J17" and "17" both work."""
        id = called.strip().removeprefix("J").removeprefix("j")
        found = self.cluster.job_of.get(id)
        if found is None:
            raise ParameterError(f"no job {quoted(called)} is listed at this moment")
        return found

    def rank(self, called: str) -> int:
        return self.polls.ranks[self.job(called).id]

    def written(self, name: str) -> str:
        """Return the text for a name in braces: a sentence, a date as on the screen, or a number with its unit."""
        found = TERM.fullmatch(name.strip())
        if found is not None and found["job"] is not None and found["name"] in _TEXTS:
            return printable(_TEXTS[found["name"]](self, self.job(found["job"])))
        value = self.value(name)
        return date(value.number, self.cluster.at) if value.unit == "moment" else value.written(0.0)

    def _term(self, text: str) -> LessonValue:
        found = TERM.fullmatch(text.strip())
        if found is None or found["spec"] is not None:
            raise ParameterError(f"{quoted(text)} is no name of a number: J5.wait, J3.cores, waiting")
        name = found["name"]
        if found["job"] is not None:
            if name not in _OF_JOB:
                raise ParameterError(f"of a job there is no {quoted(name)}{near(name, (*_OF_JOB, *_TEXTS))}")
            unit, of = _OF_JOB[name]
            return LessonValue(of(self, self.job(found["job"])), unit)
        if name not in _OF_POLL:
            raise ParameterError(f"there is no number {quoted(name)}{near(name, _OF_POLL)}")
        unit, ask = _OF_POLL[name]
        return LessonValue(ask(self), unit)

    def came(self, job: ClusterJob) -> float:
        return self.polls.start_after(self.place, job)[0]

    def range_of(self, job: ClusterJob) -> tuple[float, float]:
        """Return the (earliest, latest) time of the program's forecast of a job's start."""
        found = self.polls.forecasts(self.place).span(job.id)
        if found is None:
            raise ParameterError(f"there is no forecast for J{job.id}")
        return found.low, found.high

    def by_slurm(self, job: ClusterJob) -> float:
        if job.start is None or not job.is_waiting:
            raise ParameterError(f"Slurm has no date for J{job.id}")
        return job.start


def _span(seen: PollSeen, job: ClusterJob) -> str:
    low, high = seen.range_of(job)
    first, last = date(low, seen.cluster.at), date(high, seen.cluster.at)
    return first if first == last else f"{first} to {last}"


def _useless_cores(cluster: Cluster) -> int:
    return sum(free_on(cluster, cluster.node_of[name]).cores for name in barred(cluster))


_TEXTS: Mapping[str, Callable[[PollSeen, ClusterJob], str]] = {
    "reason": lambda seen, job: say(seen.cluster, job),
    "word": lambda seen, job: job.reason.partition(",")[0],
    "ours": _span,
    "user": lambda seen, job: job.user,
    "name": lambda seen, job: job.name,
    "partition": lambda seen, job: job.partition,
}
"""Texts about a job at a poll: the program's reason, Slurm's word for it, the program's range, user, partition."""
_OF_JOB: Mapping[str, tuple[Unit, Callable[[PollSeen, ClusterJob], float]]] = {
    "cores": ("count", lambda seen, job: job.cpus),
    "nodes": ("count", lambda seen, job: max(job.nodes_wanted, 1)),
    "limit": ("span", lambda seen, job: job.limit or 0.0),
    "memory": ("count", lambda seen, job: job.memory),
    "waited": ("span", lambda seen, job: max(seen.cluster.at - job.submit, 0.0)),
    "ahead": ("count", lambda seen, job: len(ahead(seen.cluster, job))),
    "slurm": ("moment", PollSeen.by_slurm),
    "low": ("moment", lambda seen, job: seen.range_of(job)[0]),
    "high": ("moment", lambda seen, job: seen.range_of(job)[1]),
    "start": ("moment", PollSeen.came),
    "wait": ("span", lambda seen, job: seen.came(job) - job.submit),
    "run": ("span", lambda seen, job: _run(seen.polls.last[job.id])),
}
_OF_POLL: Mapping[str, tuple[Unit, Callable[[PollSeen], float]]] = {
    "now": ("moment", lambda seen: seen.cluster.at),
    "running": ("count", lambda seen: len(seen.cluster.running)),
    "waiting": ("count", lambda seen: len(seen.cluster.queue)),
    "cores": ("count", lambda seen: seen.cluster.cpus),
    "free": ("count", lambda seen: sum(free_on(seen.cluster, n).cores for n in seen.cluster.nodes if not n.is_gone)),
    "useless": ("count", lambda seen: _useless_cores(seen.cluster)),
}


def _run(job: ClusterJob) -> float:
    if job.start is None or job.end is None or not job.has_ended:
        raise ParameterError(f"J{job.id} does not end in the recording")
    return job.end - job.start
