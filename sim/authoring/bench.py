"""Bench for the saved versions of a policy: each is tested, run, and compared with the one before."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sim.authoring import COUNT, SAMPLE_JOBS, Report, examine
from sim.comparison.comparison_sentences import Accounts
from sim.comparison.differences import Versus, versus
from sim.comparison.divergence import Account, Divergence, Side, account, part
from sim.engine.policy_calls import LONGEST_PASS, patience
from sim.metrics.aggregates import Value, aggregates
from sim.metrics.catalogue import metric
from sim.policies.policy import Policy
from sim.timeline.scenario import Scenario
from sim.workload.model import Workload
from sim.workload.replay import read
from sim.workload.samples import SAMPLES

SHOWN = ("mean_wait", "max_wait", "fairness_users")
"""Metrics that are compared on every workload"""
NOTICED = 1.25
"""Ratio from which the times of a pass in two versions count as different; a smaller ratio may be chance."""
_STEPS = 1000


@dataclass(frozen=True)
class BenchRun:
    """Run of a version on one workload, with its metrics."""

    opened: str
    """Words of a command line that open this workload: a trace and options"""
    scenario: Scenario
    side: Side
    values: dict[str, Value]
    has_namesake: bool = False
    """True if another workload has the same name, so that only the number of jobs tells them apart."""

    @property
    def workload(self) -> Workload:
        return self.scenario.workload


@dataclass(frozen=True)
class Version:
    """Saved version of a policy: the report of its tests and, if it passed them, its runs."""

    report: Report
    runs: tuple[BenchRun, ...]

    @property
    def seconds(self) -> float | None:
        """Return the seconds of a pass with the longest measured queue; None if passes were not measured."""
        return None if self.report.growth is None else self.report.growth.points[-1][1]


def workloads_of(traces: Sequence[str] = (), jobs: int | None = None) -> dict[str, Workload]:
    """Return workloads by the arguments that open them: the first `jobs` jobs of samples and of `traces`."""
    cut = "" if jobs is None else f" --jobs {jobs}"
    more = {f"{shlex.quote(trace)}{cut}": read(trace, jobs=jobs) for trace in traces}
    whole = {workload.name for workload in more.values() if len(workload) <= SAMPLE_JOBS}
    names = [sample.name for sample in SAMPLES if sample.name not in whole.intersection(traces)]
    return {f"{name} --jobs {SAMPLE_JOBS}": read(name, jobs=SAMPLE_JOBS) for name in names} | more


def version_of(
    policy: Policy,
    workloads: Mapping[str, Workload],
    *,
    count: int = COUNT,
    seed: int = 0,
    on_try: Callable[[], None] = lambda: None,
) -> Version:
    """Return a version: the report of its tests and, if it passes, its runs; `on_try` may raise an error to end."""
    report = examine(policy, count=count, seed=seed, on_try=on_try)
    if report.failure is not None:
        return Version(report, ())
    names = [workload.name for workload in workloads.values()]
    runs = (
        _run(opened, Scenario(workload, policy), on_try, names.count(workload.name) > 1)
        for opened, workload in workloads.items()
    )
    return Version(report, tuple(runs))


def _run(opened: str, scenario: Scenario, on_try: Callable[[], None], has_namesake: bool) -> BenchRun:
    engine = scenario.begun()
    on_try()
    with patience(LONGEST_PASS):
        while engine.advance(_STEPS):
            on_try()
    side = Side.of(engine)
    return BenchRun(opened, scenario, side, aggregates(side.schedule), has_namesake)


def changes(before: Version, now: Version) -> Iterator[tuple[BenchRun, tuple[Versus, ...]]]:
    """Yield each workload's new run, and pairs of metrics with `better` = 1 if the new version is better."""
    for old, new in zip(before.runs, now.runs, strict=True):
        pairs = (versus(metric(name), old.values[name], new.values[name]) for name in SHOWN)
        yield new, tuple(pairs)


def pass_change(before: Version, now: Version) -> int | None:
    """Return 1 if a pass is noticeably quicker than before, 0 if it is slower, None if neither."""
    old, new = before.seconds, now.seconds
    if not old or not new or max(old, new) < NOTICED * min(old, new):
        return None
    return int(new < old)


def first_difference(before: Version, now: Version) -> tuple[BenchRun, Divergence, Accounts] | None:
    """Return (new run, difference, accounts of both versions) for the first workload with one, or None."""
    for old, new in zip(before.runs, now.runs, strict=True):
        if (parting := part(old.side, new.side)) is not None:
            return new, parting, (_accounts(old, parting), _accounts(new, parting))
    return None


def _accounts(run: BenchRun, parting: Divergence) -> tuple[Account, ...]:
    engine = run.scenario.watched(parting.time)
    return tuple(account(engine, rank, parting.time) for rank in parting.ranks)
