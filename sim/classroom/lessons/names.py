"""Numbers of a run by name, as they are written in braces in a lesson's text, and in its statements that must be true.

J5.start   J3.wait@fcfs   mean_wait@easy with exact   J3.wait@fcfs - J3.wait   now   free   J3.planned

A name stands for a field of a job, a metric of the whole run, or a number at the scene's time. `@SPEC` takes the value
from the run under another policy. All other names are errors, and no code is executed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from math import isclose, isnan
from typing import Literal, NamedTuple

from sim.classroom.lessons.runs import RunMoment, Runs
from sim.engine.snapshot import Running
from sim.history.node_use import barred, use_now
from sim.metrics.catalogue import FRAGMENTATION, METRICS, metric
from sim.support.errors import ParameterError, near
from sim.support.formatting import clock_near, percent, quoted, span
from sim.support.formatting import parse_time as seconds_of
from sim.workload.model import Job
from sim.workload.shape import OPEN

Unit = Literal["moment", "span", "count", "share", "factor", "hours"]
RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "==": lambda one, other: isclose(one, other, rel_tol=1e-9, abs_tol=1e-9), "<=": operator.le, ">=": operator.ge,
    "!=": lambda one, other: not isclose(one, other, rel_tol=1e-9, abs_tol=1e-9), "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_UNITS: Mapping[str, Unit] = {
    "s": "span", "h": "hours", "jobs": "count", "times": "count", "share": "share", "factor": "factor",
}  # fmt: skip
TERM = re.compile(r"(?:J(?P<job>[^\s.@{}]+)\.)?(?P<name>[A-Za-z]\w*)(?:@(?P<spec>\S+(?: with \S+)?))?", re.ASCII)
_CLAIM = re.compile(r"(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)", re.DOTALL)
IN_BRACES = re.compile(r"\{([^{}]*)\}")


class LessonValue(NamedTuple):
    """Number with its unit; the unit determines how the number is written."""

    number: float
    unit: Unit

    def written(self, now: float) -> str:
        """Return the number as text; a point in time is written without the day if it is on that of `now`.

        >>> LessonValue(600, "moment").written(0), LessonValue(590, "span").written(0)
        ('00:10:00', '9m50')
        """
        match self.unit:
            case "moment":
                return clock_near(now)(self.number)
            case "span":
                return span(self.number)
            case "share":
                return percent(self.number)
            case "hours":
                return f"{self.number:,.1f} h"
        return f"{self.number:,.2f}".rstrip("0").rstrip(".")

    def exactly(self, now: float) -> str:
        """Return the number as text as `written` does, but a duration to the second.

        >>> LessonValue(350, "span").exactly(0), LessonValue(5180, "span").exactly(0)
        ('5m50', '1h26m20')
        """
        if self.rounded is None or abs(self.rounded - self.number) < 0.5:
            return self.written(now)
        minutes, seconds = divmod(round(self.number), 60)
        return f"{minutes // 60}h{minutes % 60:02}m{seconds:02}"

    @property
    def rounded(self) -> float | None:
        """Return a duration in seconds as the program writes it, perhaps rounded; None for other units."""
        return seconds_of(span(self.number)) if self.unit == "span" and self.number >= 0 else None


class Names:
    """Values of the names that a lesson uses, at the time of one scene, read from the lesson's runs."""

    def __init__(self, runs: Runs, moment: RunMoment) -> None:
        self._runs, self._moment = runs, moment

    def filled(self, text: str) -> str:
        return IN_BRACES.sub(lambda found: self.written(found[1]), text)

    def written(self, name: str) -> str:
        return self.value(name).written(self._moment.clock)

    def value(self, text: str) -> LessonValue:
        """Return the value of a name, or the sum or difference of several names."""
        first, *others = re.split(r"\s([+-])\s", text.strip())
        value = self._term(first)
        for sign, term in zip(others[::2], others[1::2], strict=True):
            other = self._term(term)
            is_apart = value.unit == other.unit == "moment" and sign == "-"
            number = value.number - other.number if sign == "-" else value.number + other.number
            value = LessonValue(number, "span" if is_apart else value.unit)
        return value

    def claim(self, text: str) -> str | None:
        """Return None if the statement, such as `J5.end <= J3.start`, is true in the run, otherwise what is wrong."""
        found = _CLAIM.fullmatch(text.strip())
        if found is None:
            raise ParameterError(f"{quoted(text)}: expected a claim such as J5.end <= J3.start")
        one, relation, other = self._value_of_side(found[1]), found[2], self._value_of_side(found[3])
        if RELATIONS[relation](one.number, other.number):
            return None
        unit = one if one.unit != "factor" else other
        told = (side._replace(unit=unit.unit).written(self._moment.clock) for side in (one, other))
        return f"{text} does not hold: {f' {relation} '.join(told)}"

    def _value_of_side(self, text: str) -> LessonValue:
        """Return the value of one side of a statement: of names, of a number, or of a duration such as 2h."""
        if re.match(r"[\d-]", text.strip()):
            try:
                return LessonValue(float(text), "factor")
            except ValueError:
                return LessonValue(seconds_of(text), "span")
        return self.value(text)

    def _term(self, text: str) -> LessonValue:
        found = TERM.fullmatch(text.strip())
        if found is None:
            raise ParameterError(f"{quoted(text)} is no name of a number: J5.start, mean_wait, J3.wait@fcfs")
        spec = found["spec"]
        branch = self._moment.branch if spec is None else self._runs.branch(spec)
        if found["job"] is not None:
            value = self._of_job(found["job"], found["name"], branch)
        else:
            value = self._of_run(found["name"], branch, spec is None)
        if isnan(value.number):
            raise ParameterError(f"{quoted(text.strip())}: that never happens in this run")
        return value

    def _of_job(self, called: str, name: str, branch: str) -> LessonValue:
        job = self._runs.workload_of(branch).jobs[self._runs.workload.rank_of(called)]
        if name not in _OF_JOB:
            raise ParameterError(f"of a job there is no {quoted(name)}{near(name, _OF_JOB)}")
        unit, ask = _OF_JOB[name]
        return LessonValue(ask(self, job, branch), unit)

    def _of_run(self, name: str, branch: str, of_moment: bool) -> LessonValue:
        if name in _OF_MOMENT and of_moment:
            unit, ask = _OF_MOMENT[name]
            return LessonValue(ask(self), unit)
        names = [entry.name for entry in (*METRICS, *FRAGMENTATION)]
        if name not in names:
            raise ParameterError(f"there is no number {quoted(name)}{near(name, [*names, *_OF_MOMENT])}")
        number = self._runs.metrics(branch).get(name)
        return LessonValue(float("nan") if number is None else float(number), _UNITS[metric(name).unit])

    @property
    def useless(self) -> int:
        """Return the free cores at the scene's time that no waiting job can use; 0 for equal processors."""
        shape, shown = self._runs.workload.shape, self._runs.at(self._moment)
        if shape is None:
            return 0
        held = ((each.job.rank, each.processors) for each in shown.running)
        use = use_now(shape, held, (job.rank for job in shown.queue.jobs))
        return int(use.free[barred(shape, use) != OPEN, 0].sum())

    # Numbers of a run

    def start(self, job: Job, branch: str) -> float:
        return float(self._runs.schedule(branch).start[job.rank])

    def end(self, job: Job, branch: str) -> float:
        return float(self._runs.schedule(branch).end[job.rank])

    def planned(self, job: Job, branch: str) -> float:
        """Return the job's planned start at the time of the scene; nan (not a number) if it has none."""
        planned = getattr(self._runs.at(self._moment).entry(job.rank), "planned", None)
        return float("nan") if planned is None else planned

    def xfactor(self, job: Job, branch: str) -> float:
        """Return the job's xfactor at the scene's time, with the wait since the last step; nan if it is not there."""
        shown = self._runs.at(self._moment)
        entry, grown = shown.entry(job.rank), (self._moment.clock - (shown.time or 0)) / job.estimate
        if entry is None:
            return float("nan")
        return entry.xfactor + (0 if isinstance(entry, Running) else grown)

    def ran(self, job: Job, branch: str) -> float:
        """Return for how many seconds the job has run at the last step; nan if it does not run."""
        return getattr(self._runs.at(self._moment).entry(job.rank), "ran", float("nan"))

    def suspended(self, job: Job, branch: str) -> float:
        return float(self._runs.schedule(branch).preemptions[job.rank])

    def migrated(self, job: Job, branch: str) -> float:
        return float(self._runs.schedule(branch).migrations[job.rank])


_OF_JOB: Mapping[str, tuple[Unit, Callable[[Names, Job, str], float]]] = {
    "submit": ("moment", lambda names, job, branch: job.submit),
    "start": ("moment", Names.start),
    "end": ("moment", Names.end),
    "wait": ("span", lambda names, job, branch: job.waited(names.start(job, branch))),
    "turnaround": ("span", lambda names, job, branch: names.end(job, branch) - job.submit),
    "run": ("span", lambda names, job, branch: float(names._runs.workload_of(branch).runtime[job.rank])),
    "estimate": ("span", lambda names, job, branch: job.estimate),
    "procs": ("count", lambda names, job, branch: job.procs),
    "planned": ("moment", Names.planned),
    "xfactor": ("factor", Names.xfactor),
    "ran": ("span", Names.ran),
    "suspended": ("count", Names.suspended),
    "migrated": ("count", Names.migrated),
}
_OF_MOMENT: Mapping[str, tuple[Unit, Callable[[Names], float]]] = {
    "now": ("moment", lambda names: names._moment.clock),
    "free": ("count", lambda names: names._runs.at(names._moment).free),
    "useless": ("count", lambda names: names.useless),
    "waiting": ("count", lambda names: len(names._runs.at(names._moment).queue)),
    "running": ("count", lambda names: len(names._runs.at(names._moment).running)),
    "processors": ("count", lambda names: names._runs.workload.procs),
}
