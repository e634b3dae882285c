"""Library of schedscope: read workloads, simulate schedules step by step, and get the reasons of every decision.

    >>> from sim import Timeline, compare, measure, read, run
    >>> workload = read("z-figure4")  # a file or a sample; with the options of the command line: load=1.2, jobs=1000
    >>> workload
    <Workload z-figure4: 5 jobs, 10 processors>
    >>> easy = run(workload, "easy")
    >>> easy.start  # numpy columns, by rank; all of them together: easy.columns, or easy.to_pandas()
    array([   0.,   10., 1200., 1800.,  600.])
    >>> measure(easy).values["mean_wait"]
    702.0
    >>> [job.job.id for job in compare(run(workload, "fcfs"), easy).gained]
    ['5']

Go to any step of a run, see all that was known then, and try another policy from there:

    >>> timeline = Timeline(workload, "fcfs")
    >>> timeline.seek_time(600)
    True
    >>> [waiting.job.id for waiting in timeline.snapshot().queue]
    ['3', '4', '5']
    >>> timeline.explain("3").sentences[0]  # or print all of it
    'J3 is first in the queue: needs 8 > 6 free.'
    >>> timeline.decisions  # a table, as a schedule and a comparison are: polars.DataFrame(timeline.decisions)
    <Table 2 decisions: step, time, decision, job, sentence>
    >>> timeline.switch("easy:order=sjf")
    <Branch fork 1: easy:order=sjf>

Notebooks show schedules, timelines and comparisons as charts.

A policy is a name, `name:key=value,key=value`, or an object; `POLICIES` lists all names. `life_of` returns the history
of one job with its reasons, and `Engine` makes one step at a time. Every error is a `SchedscopeError` of one line.

It imports numpy and the standard library only; the screens in `tui` are built on it, never the other way round.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sim import compiled

if TYPE_CHECKING:
    from sim.comparison.differences import compare
    from sim.engine.engine import Engine
    from sim.engine.moment import Moment
    from sim.engine.schedule import Schedule
    from sim.life.life import life_of
    from sim.metrics.measure import measure
    from sim.policies import POLICIES, Policy, parse_policy
    from sim.support.errors import SchedscopeError
    from sim.timeline.scenario import Scenario, run
    from sim.timeline.timeline import Timeline
    from sim.workload.model import Workload
    from sim.workload.replay import read

    __version__: str

compiled.use()

_ROOMS = {
    "Engine": "engine.engine",
    "Moment": "engine.moment",
    "POLICIES": "policies",
    "Policy": "policies",
    "Scenario": "timeline.scenario",
    "SchedscopeError": "support.errors",
    "Schedule": "engine.schedule",
    "Timeline": "timeline.timeline",
    "Workload": "workload.model",
    "compare": "comparison.differences",
    "life_of": "life.life",
    "measure": "metrics.measure",
    "parse_policy": "policies",
    "read": "workload.replay",
    "run": "timeline.scenario",
}
"""Module of each public name, imported when one of its names is first used, so that `import sim` is fast."""
__all__ = [
    "POLICIES",
    "Engine",
    "Moment",
    "Policy",
    "Scenario",
    "SchedscopeError",
    "Schedule",
    "Timeline",
    "Workload",
    "__version__",
    "compare",
    "life_of",
    "measure",
    "parse_policy",
    "read",
    "run",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("schedscope")
    if name not in _ROOMS:
        raise AttributeError(f"module 'sim' has no attribute {name!r}")
    from sim.policies.own.consent import open_to_program

    open_to_program()  # only the user's own program gets here, and it names its code itself
    return getattr(import_module(f"sim.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
