"""Helpers of the tests of `sim`: workloads written as lines or drawn at random, and their runs under a policy."""

from collections.abc import Callable
from math import inf
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import strategies as st

from sim.decisions.decisions import Backfill, Decision, Reserve, Start
from sim.decisions.sentences import Reason
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.machine.processors import Placement
from sim.policies import POLICIES, Policy, parse_policy
from sim.policies.orders import ORDERS
from sim.policies.parameters import Parameter, as_typed, parameters_of
from sim.policies.policy import default_order
from sim.workload.model import Field, Overrun, Trace, Workload

_FIELDS = (
    Field.ID, Field.SUBMIT, Field.PROCS_ASKED, Field.RUN, Field.ESTIMATE, Field.QUEUE, Field.WAIT,
)  # fmt: skip


class Lab:
    """Maker and runner of workloads. A job is a line `id submit procs run estimate [queue [recorded wait]]`, times in
    seconds."""

    def workload(self, procs: int, *lines: str, overrun: Overrun = "kill") -> Workload:
        """Return the workload of the jobs in `lines` on a machine of `procs` processors."""
        table = np.full((len(lines), len(Field)), -1.0)
        for row, line in zip(table, lines, strict=True):
            numbers = [float(word) for word in line.split()]
            row[list(_FIELDS[: len(numbers)])] = numbers
        ids = tuple(line.split()[0] for line in lines)
        return Workload.of(Trace("small", "swf", ids, table), procs).with_overruns(overrun)

    def run(
        self, policy: Policy | str, procs: int, *lines: str, until: float = inf, placement: Placement = "lowest"
    ) -> Engine:
        """Simulate the jobs in `lines` with all checks, up to and including the time `until`."""
        made = parse_policy(policy) if isinstance(policy, str) else policy
        engine = Engine(self.workload(procs, *lines), made, placement=placement, watchers=[Checker])
        engine.run(until)
        return engine

    def starts(self, policy: Policy | str, procs: int, *lines: str) -> dict[str, float]:
        engine = self.run(policy, procs, *lines)
        return dict(zip(engine.workload.ids, engine.schedule().start.tolist(), strict=True))

    def start(self, engine: Engine, job: str) -> Start | Backfill:
        """Return the decision that started this job."""
        for decision in self.story(engine, job):
            if isinstance(decision, Start | Backfill):
                return decision
        raise AssertionError(f"job {job} did not start")

    def reservations(self, engine: Engine, job: str) -> list[tuple[float, object]]:
        return [(d.at, d.because) for d in self.story(engine, job) if isinstance(d, Reserve)]

    def story(self, engine: Engine, job: str) -> list[Decision]:
        decisions = (decision for _, decision in engine.history.all_decisions())
        return [d for d in decisions if isinstance(d, Start | Backfill | Reserve) and d.job.id == job]

    def kept(self, engine: Engine, job: str) -> Reason | None:
        return next(queued.why for queued in engine.snapshot().queue if queued.job.id == job)

    def instants(self, engine: Engine) -> list[float]:
        return [engine.history.time_of(step) for step in range(engine.history.steps)]

    def workloads(self, *, exact: bool = False, whole_seconds: bool = False) -> st.SearchStrategy[Workload]:
        return _workloads(exact, whole_seconds)

    def orders(self, *names: str) -> st.SearchStrategy[str]:
        return _orders(names or tuple(sorted(ORDERS.keys() - {""})))

    def specs(self, name: str) -> st.SearchStrategy[str]:
        return _specs(name)


Draw: TypeAlias = Callable[[st.SearchStrategy[Any]], Any]

_WHOLE = st.integers(1, 40)
_PARTS = st.integers(4, 320).map(lambda quarters: quarters / 4)
_ODD = st.floats(0.7, 50).map(lambda x: round(x, 3))


@st.composite
def _workloads(draw: Draw, exact: bool, whole_seconds: bool) -> Workload:
    procs = draw(st.integers(1, 16))
    seconds = _WHOLE if whole_seconds else draw(st.sampled_from([_WHOLE, _WHOLE, _PARTS, _ODD]))
    width = st.one_of(st.integers(1, procs), st.integers(1, min(procs, 2)), st.just(procs))
    gap = st.sampled_from([0, 0, 0, 1, 2, 5, 20]) if whole_seconds else st.sampled_from([0, 0, 0, 1, 2.5, 7.1, 20])
    job = st.tuples(
        gap, width, seconds, st.sampled_from([1, 1, 1.5, 3, 10, 0.5]), st.integers(-1, 2), st.integers(-1, 30)
    )
    jobs = draw(st.lists(job, min_size=draw(st.sampled_from([1, 10, 25])), max_size=40))
    gaps, widths, runs, factors, queues, waits = (np.array(column) for column in zip(*jobs, strict=True))
    runs = runs.astype(float)
    estimates = runs if exact else np.maximum(np.round(runs * factors, 3), 1)
    if whole_seconds:
        estimates = np.ceil(estimates)
    ids = tuple(str(i + 1) for i in range(len(jobs)))
    unknown = np.full(len(jobs), -1)
    return Workload(
        name="random", procs=procs, ids=ids, submit=np.cumsum(gaps.astype(float)), width=widths, runtime=runs,
        estimate=estimates, wait=waits.astype(float), user=unknown, group=unknown, queue=queues, status=unknown,
        high=np.zeros(len(jobs), dtype=bool), reserve=np.full(len(jobs), np.nan),
        killed=np.zeros(len(jobs), dtype=bool),
    ).with_overruns("kill")  # fmt: skip


_FINEST = {"slice": 1.0, "bandwidth": 20.0}
"""For some parameters: the smallest value that is drawn. Finer turns, or slower memory writes, would make half a
million stretches of forty jobs."""


_TEXTS = {
    "classes": ["1000/10000", "none", "5", "3/10/30"],
    "below": ["easy", "selective"],
    "above": ["gang", "relaxed"],
}


def _values(parameter: Parameter) -> st.SearchStrategy[Any]:
    """Draw valid values of a parameter, mostly near the limits of its range."""
    if parameter.name in _TEXTS:
        return st.sampled_from(_TEXTS[parameter.name])
    if parameter.choices:
        return st.sampled_from(parameter.choices)
    if parameter.kind is bool:
        return st.booleans()
    low = parameter.default if parameter.low is None else max(parameter.low, _FINEST.get(parameter.name, parameter.low))
    if not isinstance(low, int | float) or parameter.kind not in (int, float):
        return st.just(parameter.default)
    steps = [low, low + 1, low + 2, low + 5] if parameter.kind is int else [low, low + 0.25, low + 1, low + 3]
    usable = [step for step in steps if parameter.high is None or step <= parameter.high]
    return st.one_of(st.just(parameter.default), st.sampled_from(usable).map(parameter.kind))


def _chosen(draw: Draw, cls: type) -> list[str]:
    drawn = {key: draw(_values(parameter)) for key, parameter in parameters_of(cls).items()}
    return [f"{key}={as_typed(value)}" for key, value in drawn.items() if value is not None]


@st.composite
def _orders(draw: Draw, names: tuple[str, ...]) -> str:
    name = draw(st.sampled_from(names))
    return ",".join([f"order={name}", *_chosen(draw, ORDERS[name])])


@st.composite
def _specs(draw: Draw, name: str) -> str:
    parts = _chosen(draw, POLICIES[name])
    if default_order(POLICIES[name]):
        parts.append(draw(Lab().orders()))
    return f"{name}:{','.join(parts)}"


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()
